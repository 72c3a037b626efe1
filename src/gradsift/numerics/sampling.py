"""An order of rows that depends on what they hold alone, and folds and samples along an order.

A fit must not depend on how a table was written down, so nothing here draws at random without a
fixed seed, and folds and subsamples follow an order of the rows that no permutation of rows or
columns changes. Rows are X (n, p) with responses Y (n, q) and weights (n,).
"""

from __future__ import annotations

import numpy as np

from gradsift.protocols import Array, IntArray

SAME = 1e-9
"""Rounding: sums that differ by a smaller part of their size are equal: the rest is rounding."""


def canonical_order(Y: Array, weights: Array, along: Array) -> IntArray:
    """The order of rows along their responses Y (n, q), the same however the table is written down:
    for every order of rows, of columns and of classes, and for all signs of columns and responses.

    Numbers (q = 1) are turned so that the third moment is positive. Classes (q > 1) come in the
    order of their weights. Equal responses, and classes of equal weight, are in the order of the
    lengths of the rows of `along`, the sum of `gram_products` over all columns.
    """
    size = np.square(along).sum(axis=1)
    size = np.round(size / max(float(size.max(initial=0.0)), 1e-300), 9)
    if Y.shape[1] == 1:
        return np.lexsort((size, orientation(Y[:, 0], weights, size) * Y[:, 0]))
    place = np.unique(Y, axis=0, return_inverse=True)[1].reshape(-1)
    total = np.bincount(place, weights)
    mean = np.bincount(place, weights * size) / total
    rank = np.argsort(np.lexsort((np.round(mean, 9), np.round(total / total.sum(), 9))))
    return np.lexsort((size, rank[place]))


def gram_products(X: Array, Y: Array, weights: Array) -> Array:
    """X X' W Y for centred responses, (n, q): another order or other signs of the columns of X
    (n, p) change nothing, a constant column of zeros adds nothing.
    """
    Y = Y - weights @ Y / weights.sum()
    return np.asarray(X @ (X.T @ (weights[:, None] * Y)))


def orientation(y: Array, weights: Array, size: Array | float = 0.0) -> float:
    """The sign s for which s y (n,) has a positive third moment or, where that is zero, a positive
    covariance with `size`.

    Examples
    --------
    >>> orientation(np.array([0.0, 0.0, 1.0]), np.ones(3))
    1.0
    >>> orientation(np.array([0.0, 1.0, 1.0]), np.ones(3))
    -1.0
    """
    y = y - weights @ y / weights.sum()
    for factor in (y * y, size):
        terms = weights * y * factor
        if abs(terms.sum()) > SAME * np.abs(terms).sum():
            return float(np.sign(terms.sum()))
    return 1.0


def folds_along(count: int, n_folds: int, rounds: int = 1) -> IntArray:
    """(rounds, count) folds of rows in some order: each `n_folds` in a row are in different ones.

    The first round goes from fold to fold, further ones do so in random orders of the folds.
    """
    out = np.tile(np.arange(n_folds), (rounds, -(-count // n_folds), 1))
    out[1:] = np.random.default_rng(0).permuted(out[1:], axis=2)
    return np.asarray(out.reshape(rounds, -1)[:, :count])


def evenly_spaced(n: int, count: int) -> IntArray:
    """At most `count` of the numbers 0 .. n - 1, from the first to the last, evenly spaced.

    Examples
    --------
    >>> evenly_spaced(9, 3).tolist(), evenly_spaced(2, 3).tolist()
    ([0, 4, 8], [0, 1])
    """
    if count >= n:
        return np.arange(n)
    return np.linspace(0, n - 1, count).round().astype(int)


def spread_along(order: IntArray, count: int) -> IntArray:
    """At most `count` rows evenly spaced along an order of them (by response, say); ascending."""
    return np.sort(order[evenly_spaced(len(order), count)])


def drawn_rows(n: int, count: int) -> IntArray:
    """At most `count` of n rows, drawn with a fixed seed; ascending."""
    if count >= n:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, count, replace=False))
