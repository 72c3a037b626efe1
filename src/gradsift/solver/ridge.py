"""Gradient learning without sparsity: Phi(X B, v) + alpha ||B||_F^2, solved in n dimensions.

The gradient of Phi in B is X' M, so the minimiser is B = X' A for some A (n x q): with a factor
X X' = T T' (n x t) and B = X' T^(+)' C, both U = X B = T C and ||B|| = ||C|| need only C (t x q).
Neither p nor n^2 x n^2 systems appear, whatever the number of columns.
"""

from __future__ import annotations

import numpy as np

from gradsift._typing import Array, Datafit, Source
from gradsift.solver.newton import minimise


def solve_ridge(datafit: Datafit, products: Array, alpha: float) -> tuple[Array, Array]:
    """(A, v): the minimiser is B = X' A; `products` is X X' (n, n)."""
    values, vectors = np.linalg.eigh(products)
    keep = values > 1e-12 * max(values[-1], 0.0)
    if not keep.any():
        return np.zeros((len(products), datafit.n_tasks)), datafit.start()
    T = vectors[:, keep] * np.sqrt(values[keep])
    C, v = minimise_smooth(datafit, T, alpha)
    return (vectors[:, keep] / np.sqrt(values[keep])) @ C, v


def minimise_smooth(datafit: Datafit, X: Array, alpha: float) -> tuple[Array, Array]:
    """Minimiser (B, v) of Phi(X B, v) + alpha ||B||^2 over a few columns."""
    shape, v0 = (X.shape[1], datafit.n_tasks), datafit.start()
    size = shape[0] * shape[1]

    def split(x: Array) -> tuple[Array, Array]:
        return x[:size].reshape(shape), x[size:].reshape(v0.shape)

    def predict(x: Array) -> tuple[Array, Array, Array]:
        B, v = split(x)
        return datafit.predict(X @ B, v), B, v

    def gradient_at(E: Array, B: Array, v: Array) -> Array:
        M, g = datafit.gradient(E, v)
        return np.concatenate([(X.T @ M + 2.0 * alpha * B).ravel(), g.ravel()])

    def value_and_gradient(x: Array) -> tuple[float, Array]:
        E, B, v = predict(x)
        return datafit.value(E, v) + alpha * float(np.vdot(B, B)), gradient_at(E, B, v)

    def gradient(x: Array) -> Array:
        return gradient_at(*predict(x))

    x, _ = minimise(value_and_gradient, gradient, np.zeros(size + v0.size))
    return split(x)


def expand(source: Source, A: Array) -> Array:
    """B = X' A, (p, q), block by block."""
    B = np.empty((source.shape[1], A.shape[1]))
    for where, block in source.blocks():
        B[where] = block.T @ A
    return B
