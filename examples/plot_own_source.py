"""
Can columns be made while they are read?
========================================

A table need not exist. Here are 5,000 columns of random features of a small table, each computed
when its block is asked for: three of the raw columns, seen through 5,000 random waves.

What you learn: `gradsift.data.Source`, three members that make any storage a table.
"""

import matplotlib.pyplot as plt
import numpy as np

from gradsift import GradientSiftRegressor
from gradsift.data import Source

rng = np.random.default_rng(0)
raw = rng.normal(size=(150, 3))
weights = rng.normal(size=(3, 5_000))
phase = rng.uniform(0, 2 * np.pi, size=5_000)


class Waves(Source):
    """cos(raw . w + phase), a block of columns at a time."""

    shape = (150, 5_000)

    def columns(self, index):
        return np.cos(raw @ weights[:, index] + phase[index])

    def blocks(self):
        for start in range(0, 5_000, 1_000):
            where = slice(start, start + 1_000)
            yield where, self.columns(where)


# %%
# The response is one of the waves.
y = Waves().columns(np.array([1_234]))[:, 0] + 0.2 * rng.normal(size=150)
model = GradientSiftRegressor(interactions=False, predict_with="selected").fit(Waves(), y)
print("best ranked:", np.argsort(model.ranking_)[:3].tolist())
print("selected:", model.get_support(indices=True).tolist())

# %%
fig, ax = plt.subplots(figsize=(4.6, 3.6), layout="constrained")
ax.scatter(Waves().columns(np.array([1_234]))[:, 0], model.predict(Waves()), s=12)
ax.set(xlabel="the wave 1,234", ylabel="prediction")
