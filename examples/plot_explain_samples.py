"""
Why is this patient's value high?
=================================

A gradient is an explanation: how much the response would change with each column, at this sample.
The slope times the distance from the average sample is a contribution, which can be drawn like
SHAP values. They are read off the fitted model, with no sampling.

What you learn: `gradient(..., as_frame=True)`, and a bridge to the pictures of the `shap`
package.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

from gradsift import GradientSiftRegressor

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
model = GradientSiftRegressor().fit(X, y)
slope = model.gradient(X, as_frame=True)
print(slope.describe().loc[["mean", "std"]].round(2))

# %%
# One patient: progression changes by so much for one unit more of each.
print(X.loc[3, slope.columns].to_dict())
print(slope.loc[3].round(2).to_dict())

# %%
# All patients: slope times distance from the average. Colour is the value of the column.
away = X[slope.columns] - X[slope.columns].mean()
contribution = slope * away
order = contribution.abs().mean().sort_values().index
rng = np.random.default_rng(0)
fig, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
for row, name in enumerate(order):
    shade = (away[name] / away[name].std()).clip(-2, 2)
    jitter = row + rng.uniform(-0.25, 0.25, size=len(X))
    dots = ax.scatter(contribution[name], jitter, c=shade, cmap="PuOr_r", s=8)
ax.set_yticks(range(len(order)), order)
ax.axvline(0, color="#767676", linewidth=0.8)
ax.set_xlabel("slope times distance from the average")
fig.colorbar(dots, label="value (standard deviations)")

# %%
# With the `shap` package installed, its pictures take the same numbers. These contributions are
# linear ones: they do not add up to the prediction where the response bends.
try:
    import shap
except ImportError:
    print("shap is not installed: pip install shap")
else:
    shap.Explanation(contribution.to_numpy(), data=X[slope.columns].to_numpy(),
                     feature_names=list(slope.columns))  # fmt: skip
