"""
Why is this patient's value high?
=================================

A gradient is an explanation: how much the response would change with each column, at this sample.
The slope times the distance from the average sample is a contribution, which can be drawn like
SHAP values. Both are read off the fitted model, with no sampling.

What you learn: `gradient(..., as_frame=True)`, and a bridge to the pictures of the `shap` package.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from gradsift import GradientSiftRegressor

rng = np.random.default_rng(1)
X = pd.DataFrame(rng.normal(size=(300, 40)), columns=[f"other{k}" for k in range(40)])
X.insert(0, "dose", rng.uniform(0, 10, size=300))
X.insert(1, "weight", rng.normal(70, 12, size=300))
X.insert(2, "age", rng.uniform(20, 80, size=300))
y = 30 * X["dose"] / (2 + X["dose"]) - 0.02 * (X["age"] - 50) * (X["weight"] - 70)
y += 2 * rng.normal(size=300)
model = GradientSiftRegressor().fit(X, y)
slope = model.gradient(X, as_frame=True)
print("selected:", list(slope))

# %%
# Two patients, one with a low and one with a high dose. The drug saturates: more of it does much
# for the first and little for the second. Only the gradient at the patient can say so.
low, high = X["dose"].sub(1).abs().idxmin(), X["dose"].sub(9).abs().idxmin()
for name, patient in (("low dose", low), ("high dose", high)):
    print(f"{name}: values {X.loc[patient, slope.columns].round(1).to_dict()}")
    print(f"{' ' * len(name)}  slopes {slope.loc[patient].round(2).to_dict()}")

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
    explained = shap.Explanation(contribution.to_numpy(), data=X[slope.columns].to_numpy(),
                                 feature_names=list(slope.columns))  # fmt: skip
    shap.plots.beeswarm(explained, show=False)
