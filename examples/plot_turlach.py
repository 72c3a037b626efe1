"""
Can it find a variable that is uncorrelated with the response?
==============================================================

Turlach's example, which the paper uses. Five of 200 columns act, and the first of them by a
parabola around the middle of its range: its correlation with the response is near zero, so that a
linear method cannot see it.

What you learn: how to fit, which columns were selected, and what each of them does.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LassoCV

from gradsift import GradientSiftRegressor
from gradsift.data.simulate import turlach
from gradsift.displays import GradientFieldDisplay

X, y, support = turlach(n_features=200, random_state=0)
print("columns that act:", support)
print("correlation of the first with y:", np.corrcoef(X[:, 0], y)[0, 1].round(2))

# %%
# A lasso selects by linear effects. Tuned for prediction, it takes many columns, and not the first:
lasso = LassoCV(cv=5, random_state=0).fit(X, y)
print("lasso selects", np.flatnonzero(lasso.coef_).tolist())

# %%
# GradientSift looks for curved effects too:
model = GradientSiftRegressor().fit(X, y)
print("GradientSift selects", model.get_support(indices=True).tolist())

# %%
# What the first two do: the slope at every sample. That of a parabola goes from below zero to
# above it, that of a line is the same everywhere.
fig, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
for ax, name in zip(axes, ["x0", "x1"]):
    GradientFieldDisplay.from_estimator(model, X, name, ax=ax)
