"""
What happens when cells are taken for patients?
===============================================

Thirty donors, half of them ill, 40 cells of each, 200 genes. Every donor has levels of their own,
and no gene has anything to do with the disease, but one. The cells of a donor are not
independent: 1,200 rows are thirty people.

What you learn: `groups=`.
"""

import matplotlib.pyplot as plt
import numpy as np

from gradsift import GradientSiftClassifier

rng = np.random.default_rng(0)
donor = np.repeat(np.arange(30), 40)
ill = np.arange(30) % 2 == 1
level = rng.normal(size=(30, 200))
level[:, 5] += np.where(ill, 2.5, 0.0)
X = level[donor] + rng.normal(size=(1200, 200))
y = np.where(ill[donor], "ill", "well")

# %%
# Cells as if they were people. Gene 5 is the only true one.
settings = {"interactions": False, "predict_with": "selected"}
by_cell = GradientSiftClassifier(**settings).fit(X, y)
print("cells as rows:", by_cell.get_support().sum(), "genes selected, one of them true")

# %%
by_donor = GradientSiftClassifier(**settings).fit(X, y, groups=donor)
print("donors as rows: selected", by_donor.get_support(indices=True).tolist())

# %%
# Why: a false gene looks convincing cell by cell, and is nothing donor by donor.
false = next(k for k in by_cell.get_support(indices=True) if k != 5)
fig, axes = plt.subplots(1, 2, figsize=(9, 3.4), sharey=True, layout="constrained")
for ax, gene in zip(axes, (5, false)):
    for shift, group in enumerate((~ill, ill)):
        rows = np.isin(donor, np.flatnonzero(group))
        jitter = shift + rng.uniform(-0.3, 0.3, size=rows.sum())
        ax.scatter(jitter, X[rows, gene], s=3, color="#c8c8c8")
        means = [X[donor == d, gene].mean() for d in np.flatnonzero(group)]
        ax.scatter(shift + rng.uniform(-0.1, 0.1, size=15), means, s=28, color="#D55E00")
    ax.set_xticks([0, 1], ["well", "ill"])
    ax.set_title(f"gene {gene}: cells (grey), means of donors")
