"""
What can be said when columns are near-copies of each other?
============================================================

Twenty blocks of five columns; the columns of a block are nearly the same. One column of two
blocks acts. No method can tell it from its four copies, so that a list of selected columns claims
too much.

What you learn: findings, that is sets of columns of which one acts, with a confidence each.
"""

import matplotlib.pyplot as plt
import numpy as np

from gradsift import GradientSiftRegressor

rng = np.random.default_rng(0)
block = np.repeat(np.arange(20), 5)
X = rng.normal(size=(120, 20))[:, block] + 0.05 * rng.normal(size=(120, 100))
y = X[:, 12] ** 2 + 1.5 * X[:, 41] + rng.normal(size=120)
print("columns 12 (block 2) and 41 (block 8) act")

# %%
model = GradientSiftRegressor(inference=True).fit(X, y)
print("selected:", model.get_support(indices=True).tolist())
for finding in model.findings_:
    members = ", ".join(f"{k} ({w:.0%})" for k, w in zip(finding.columns, finding.members))
    print(f"{finding.confidence:.0%} {finding.shape}: {members}")

# %%
# Bars are the confidence that each column acts, orange where the block acts. It is shared by
# the columns of a block, and adds up to about one where the block acts.
fig, ax = plt.subplots(figsize=(8, 2.8), layout="constrained")
colours = np.where(np.isin(block, [2, 8]), "#D55E00", "#767676")
ax.bar(np.arange(100), model.confidence_, color=colours)
ax.set(xlabel="column", ylabel="confidence")
ax.annotate("block 2", (12, 0.9), ha="center", color="#D55E00")
ax.annotate("block 8", (42, 0.9), ha="center", color="#D55E00")
ax.set_ylim(0, 1)
