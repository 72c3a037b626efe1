"""
Do q-values keep their word?
============================

A list with a false discovery rate of 10 % should hold about a tenth of false columns. Here the
truth is known: eight of 200 correlated columns act. Six tables are drawn, and the false and true
columns on the list are counted at every level.

What you learn: `significance`, and how to read a q-value.
"""

import matplotlib.pyplot as plt
import numpy as np

from gradsift import GradientSiftRegressor, significance

levels = np.array([0.01, 0.05, 0.1, 0.2, 0.3])
true = np.arange(0, 200, 25)
false_share, found_share = [], []
for seed in range(6):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(150, 200))
    for k in range(1, 200):  # neighbours are correlated by 0.5
        X[:, k] = 0.5 * X[:, k - 1] + np.sqrt(0.75) * X[:, k]
    y = X[:, true] @ np.linspace(0.4, 1.0, 8) + rng.normal(size=150)
    q = significance(GradientSiftRegressor(interactions=False), X, y).q_values
    listed = q[:, None] <= levels
    hits = listed[true].sum(axis=0)
    false_share.append((listed.sum(axis=0) - hits) / np.maximum(listed.sum(axis=0), 1))
    found_share.append(hits / len(true))

# %%
for level, wrong, hit in zip(levels, np.mean(false_share, axis=0), np.mean(found_share, axis=0)):
    print(f"q <= {level:.2f}: {wrong:.2f} of the list false, {hit:.2f} of the true columns found")

# %%
# Below the dotted line the promise is kept. Six tables are few: each point has an error of some
# hundredths.
fig, ax = plt.subplots(figsize=(5, 4), layout="constrained")
ax.plot(levels, levels, ":", color="#767676", label="the promise")
ax.plot(levels, np.mean(false_share, axis=0), "o-", color="#D55E00", label="false, of the list")
ax.plot(levels, np.mean(found_share, axis=0), "s-", color="#0072B2", label="found, of the true")
ax.set(xlabel="q-value", ylabel="share", ylim=(0, 1.02))
ax.legend(frameon=False)
