"""
Why must the selection be repeated in every fold?
=================================================

A table of pure noise: nothing can be predicted. Whoever selects columns on all rows, and cross-
validates what comes after, gets a good score all the same.

What you learn: `held_out`, which repeats selection and fit in every fold.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import cross_val_score

from gradsift import GradientSiftRegressor
from gradsift.evaluate import held_out

rng = np.random.default_rng(0)
X, y = rng.normal(size=(60, 1_000)), rng.normal(size=60)

# %%
# Wrong: ten columns chosen with a look at all rows.
chosen = SelectKBest(f_regression, k=10).fit_transform(X, y)
wrong = cross_val_score(LinearRegression(), chosen, y, cv=5).mean()
print(f"selected on all rows, then cross-validated: R2 = {wrong:.2f}")

# %%
# Right: the whole procedure in every fold.
scores = held_out(GradientSiftRegressor(false_positives=5), X, y, cv=5)
right = scores.selected.values["R²"].mean()
print(f"selected in every fold:                     R2 = {right:.2f}")

# %%
fig, ax = plt.subplots(figsize=(5, 2), layout="constrained")
names = ["selected on all rows", "selected in every fold"]
ax.barh(names, [wrong, right], color=["#D55E00", "#0072B2"])
ax.axvline(0, color="#222222", linewidth=0.8)
ax.set_xlabel("cross-validated R2 on pure noise (0 is the mean of y)")
