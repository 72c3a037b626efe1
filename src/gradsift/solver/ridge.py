"""Gradient learning without sparsity: Phi(X B, v) + alpha ||B||_F^2, solved in n dimensions.

The gradient of Phi in B is X' M, so the minimiser is B = X' A for some A (n x q): with a factor
X X' = T T' (n x t) and B = X' T^(+)' C, both U = X B = T C and ||B|| = ||C|| need only C (t x q).
Neither p nor n^2 x n^2 systems appear, whatever the number of columns.

Phi is any `Datafit`, so Newton steps are needed; the ridges of `gradsift.refit` are least squares
in closed form. With Phi of squared pair differences this is gradient learning (GL).

References
----------
:cite:`mukherjee-zhou-2006`
"""

from __future__ import annotations

from functools import partial

import numpy as np

from gradsift._run.overflow import refuse_overflow
from gradsift._run.passes import each_block
from gradsift.numerics.newton import minimise
from gradsift.protocols import Array, Datafit, Restricted, Source
from gradsift.solver.problem import Ridge

RIDGE = Ridge()


@refuse_overflow
def solve_ridge(datafit: Datafit, products: Array, alpha: float) -> tuple[Array, Array]:
    """(A, v): the minimiser is B = X' A; `products` is X X' (n, n)."""
    values, vectors = np.linalg.eigh(products)
    keep = values > 1e-12 * max(values[-1], 0.0)
    if not keep.any():
        return np.zeros((len(products), datafit.n_tasks)), datafit.start()
    T = vectors[:, keep] * np.sqrt(values[keep])
    zero = np.zeros((T.shape[1], datafit.n_tasks))
    C, v = minimise_smooth(datafit.restrict(T), zero, datafit.start(), alpha)
    return (vectors[:, keep] / np.sqrt(values[keep])) @ C, v


def minimise_smooth(
    phi: Restricted, B: Array, v: Array, alpha: float, max_gradients: int | None = None
) -> tuple[Array, Array]:
    """Minimiser (B, v) of Phi(B, v) + alpha ||B||^2, from the point given.

    With `max_gradients`, what is reached by then: without a penalty there may be no minimiser.
    """
    shape, size = B.shape, B.size

    def split(x: Array) -> tuple[Array, Array]:
        return x[:size].reshape(shape), x[size:].reshape(v.shape)

    def gradient_at(image: Array, B: Array, v: Array) -> Array:
        G, g = phi.gradient(image, B, v)
        return np.concatenate([(G + RIDGE.gradient(B, alpha)).ravel(), g.ravel()])

    def gradient(x: Array) -> Array:
        B, v = split(x)
        return gradient_at(phi.image(B, v), B, v)

    def value_and_gradient(x: Array) -> tuple[float, Array]:
        B, v = split(x)
        image = phi.image(B, v)
        value = phi.value(image, B, v) + RIDGE.value(B, alpha)
        return value, gradient_at(image, B, v)

    start = np.concatenate([B.ravel(), v.ravel()])
    x, _ = minimise(value_and_gradient, gradient, start, max_gradients=max_gradients)
    return split(x)


def expand(source: Source, A: Array) -> Array:
    """B = X' A, (p, q), block by block."""
    B = np.empty((source.shape[1], A.shape[1]))
    for where, found in each_block(source, lambda _: partial(transposed_product, A)):
        B[where] = found
    return B


def transposed_product(A: Array, block: Array) -> Array:
    return np.asarray(block.T @ A)
