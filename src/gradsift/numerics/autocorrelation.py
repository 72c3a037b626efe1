"""Do neighbouring rows depend on each other? Autocorrelations along the order of the rows."""

from __future__ import annotations

import numpy as np

from gradsift._typing import Array, IntArray


def autocorrelations(X: Array, n_lags: int) -> Array:
    """Autocorrelations (n_lags, m) of columns X (n, m) at lags 1, 2, ...; constant columns have
    none.

    Examples
    --------
    >>> autocorrelations(np.array([[1.0], [-1.0], [1.0], [-1.0]]), 2).ravel().tolist()
    [-0.75, 0.5]
    """
    Z = X - X.mean(axis=0)
    total = np.square(Z).sum(axis=0)
    total = np.where(total > 1e-12 * len(Z), total, np.inf)
    return np.stack([(Z[k:] * Z[:-k]).sum(axis=0) / total for k in range(1, n_lags + 1)])


def within_classes(X: Array, codes: IntArray) -> Array:
    """Columns less their means among the rows of the same number."""
    size = np.maximum(np.bincount(codes), 1)
    means = np.stack([np.bincount(codes, x) for x in X.T], axis=1) / size[:, None]
    return np.asarray(X - means[codes])


def rank_classes(y: Array, count: int) -> IntArray:
    """Rows by their response, from the least to the largest, in `count` classes of equal size;
    equal responses are in the same class.
    """
    edges = np.quantile(y, np.arange(1, count) / count)
    return np.asarray(np.searchsorted(edges, y, side="left"))
