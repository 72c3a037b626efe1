"""
Would other samples have given the same list?
=============================================

The selection is repeated on random halves of the rows. Strong variables come back nearly always,
weak ones sometimes; near-copies take turns, so that their block must be counted, not the column.

What you learn: `stability`, and why a low share is a reason to look and no proof of chance.
"""

import matplotlib.pyplot as plt
import numpy as np

from gradsift import GradientSiftRegressor
from gradsift.evaluate import stability

rng = np.random.default_rng(0)
X = rng.normal(size=(160, 60))
X[:, 1] = X[:, 0] + 0.1 * rng.normal(size=160)  # 0 and 1 are near-copies
y = 1.5 * X[:, 0] + X[:, 20] ** 2 + 0.35 * X[:, 40] + rng.normal(size=160)

# %%
halves = stability(GradientSiftRegressor(interactions=False), X, y, n_subsamples=20, random_state=0)
for name, columns in (("column 0", [0]), ("its copy, 1", [1]), ("0 or 1", [0, 1]),
                      ("column 20", [20]), ("column 40, weak", [40])):  # fmt: skip
    again = np.mean([np.isin(columns, chosen).any() for chosen in halves.selections])
    print(f"{name:16s} {again:.0%} of the halves")

# %%
fig, ax = plt.subplots(figsize=(8, 2.6), layout="constrained")
colours = np.where(np.isin(np.arange(60), [0, 1, 20, 40]), "#D55E00", "#c8c8c8")
ax.bar(np.arange(60), halves.frequencies, color=colours)
ax.set(xlabel="column", ylabel="share of the halves")
