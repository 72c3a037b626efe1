"""
How do I use a loss of my own?
==============================

The paper's estimator takes any convex, smooth loss. The pseudo-Huber loss is a square near zero
and a straight line far out, so that a wild response pulls no more than a bad one.

What you learn: the six functions of a loss, and that the certificate comes with it.
"""

from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np

from gradsift import SparseGradientRegressor


@dataclass(frozen=True)
class PseudoHuber:
    d: float = 1.0

    def value(self, e, t):
        return (2 * self.d**2 * (np.sqrt(1 + ((e - t) / self.d) ** 2) - 1)).sum(axis=0)

    def slope(self, e, t):
        return 2 * (e - t) / np.sqrt(1 + ((e - t) / self.d) ** 2)

    def curvature(self, e, t, step):
        return (2 * step**2).sum(axis=0)

    def conjugate(self, g, t):
        inside = np.maximum(4 * self.d**2 - g**2, 0)
        return (g * t + 2 * self.d**2 - self.d * np.sqrt(inside)).sum(axis=0)

    def hessian(self, e, t):
        bend = 2 * (1 + ((e - t) / self.d) ** 2) ** -1.5
        return lambda step: bend * step

    def mean_bend(self, e, t):
        return (2 * (1 + ((e - t) / self.d) ** 2) ** -1.5).mean(axis=0)


# %%
# Columns 3 and 7 act. One response in ten is wild.
rng = np.random.default_rng(0)
X = rng.normal(size=(100, 20))
y = X[:, 3] - 2 * X[:, 7]
y[:10] += 40 * rng.normal(size=10)
models = {
    "square": SparseGradientRegressor().fit(X, y),
    "pseudo-Huber": SparseGradientRegressor(loss=PseudoHuber()).fit(X, y),
}
for name, model in models.items():
    best = np.argsort(model.ranking_)[:2].tolist()
    print(f"{name:13s} two best {best}, duality gap {model.dual_gap_:.0e}")

# %%
fig, axes = plt.subplots(1, 2, figsize=(8, 2.8), layout="constrained")
for ax, (name, model) in zip(axes, models.items()):
    colours = np.where(np.isin(np.arange(20), [3, 7]), "#D55E00", "#c8c8c8")
    ax.bar(np.arange(20), model.feature_importances_, color=colours)
    ax.set(title=name, xlabel="column", ylabel="importance")
