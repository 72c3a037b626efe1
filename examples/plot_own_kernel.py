"""
How do I use a kernel of my own?
================================

In the paper's estimator every partial derivative is a function in the space of a kernel. A kernel
is any function of the inner products and the squared distances of samples. A rational quadratic
kernel sums bumps of many widths.

What you learn: how to pass a kernel, and how kernels change a gradient.
"""

import matplotlib.pyplot as plt
import numpy as np

from gradsift import NearestNeighbors, SparseGradientRegressor


def rational_quadratic(products):
    """Values of the kernel, one for each pair of samples."""
    return 1 / (1 + products.sqdist / 2)


rng = np.random.default_rng(0)
X = rng.uniform(-2, 2, size=(150, 4))
y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.05 * rng.normal(size=150)

# %%
near = NearestNeighbors(10)
models = {
    "affine": SparseGradientRegressor(kernel="affine", weights=near),
    "mine": SparseGradientRegressor(kernel=rational_quadratic, weights=near, alpha=1e-3),
}
truth = 2 * np.cos(2 * X[:, 0])
for name, model in models.items():
    slope = model.fit(X, y).gradient(X)[:, 0]
    print(f"{name:7s} correlation with the true slope {np.corrcoef(slope, truth)[0, 1]:.2f}")

# %%
# An affine kernel gives a slope that is a straight line in the columns; the true slope is a cosine.
order = np.argsort(X[:, 0])
fig, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
ax.plot(X[order, 0], truth[order], color="#222222", label="truth")
for (name, model), colour in zip(models.items(), ("#D55E00", "#0072B2")):
    ax.scatter(X[:, 0], model.gradient(X)[:, 0], s=10, color=colour, label=name)
ax.set(xlabel="x0", ylabel="slope of y along x0")
ax.legend(frameon=False)
