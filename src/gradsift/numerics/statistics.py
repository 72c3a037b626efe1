"""Small statistics: q-values, correlations within groups and along rows, splines.

- q-values of p-values (m,), by the step-up procedure of [1]_;
- the intraclass correlation of groups of rows, by analysis of variance;
- autocorrelations of columns X (n, m) along the order of their rows;
- bases of cubic splines (n, K) of a column.

References
----------
.. [1] Y. Benjamini and Y. Hochberg (1995). Controlling the false discovery rate: a practical and
   powerful approach to multiple testing. Journal of the Royal Statistical Society B 57, 289-300.
"""

from __future__ import annotations

import numpy as np
from scipy.interpolate import BSpline

from gradsift.protocols import Array, IntArray


# ------------------------------------------------ q-values and groups
def benjamini_hochberg(log_p: Array, n_tests: float | None = None) -> Array:
    """q-values from log p-values; `n_tests` counts tests with p = 1 that are not listed."""
    m = max(len(log_p) if n_tests is None else n_tests, 1)
    order = np.argsort(log_p, kind="stable")
    steps = log_p[order] + np.log(m) - np.log(np.arange(1, len(log_p) + 1))
    out = np.empty(len(log_p))
    out[order] = np.exp(np.minimum(np.minimum.accumulate(steps[::-1])[::-1], 0.0))
    return out


def intraclass_correlation(between: Array, within: Array, size: Array) -> Array:
    """Correlation of two values of a group, in [0, 1].

    Parameters
    ----------
    between, within : arrays of one shape
        Mean squares between the groups (count - 1 degrees of freedom) and within them (total size
        less count).
    size : (count,) array
        Sizes of the groups, at least two of them.

    Examples
    --------
    >>> between, within = np.array([5.0, 1.0]), np.array([1.0, 1.0])
    >>> intraclass_correlation(between, within, np.array([2, 2])).tolist()
    [0.6666666666666666, 0.0]
    """
    total = float(size.sum())
    usual = (total - float(size @ size) / total) / (len(size) - 1)
    shared = np.maximum(between - within, 0.0) / usual
    return np.asarray(shared / np.maximum(shared + within, 1e-300))


# ------------------------------------------------ dependence of neighbouring rows
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


# ------------------------------------------------ cubic splines
# With free ends, or straight beyond the first and the last knot (natural).
def natural_splines(z: Array, knots: Array) -> Array:
    """K - 2 natural cubic splines on K knots, (n, K - 2): without constant and line."""
    last = knots[-1]
    cubes = np.maximum(z[:, None] - knots, 0.0) ** 3
    d = (cubes[:, :-1] - cubes[:, -1:]) / (last - knots[:-1])
    return np.asarray(d[:, :-1] - d[:, -1:])


def cubic_splines(z: Array, knots: Array) -> Array:
    """K + 2 cubic B-splines on K knots, (n, K + 2), of values from the first to the last of them.

    They sum to one, and some sum of them is a line.

    Examples
    --------
    >>> cubic_splines(np.array([0.0, 0.5, 1.0]), np.array([0.0, 1.0])).round(3).tolist()
    [[1.0, 0.0, 0.0, 0.0], [0.125, 0.375, 0.375, 0.125], [0.0, 0.0, 0.0, 1.0]]
    """
    ends = np.repeat(knots[[0, -1]], 3)
    return np.asarray(BSpline.design_matrix(z, np.r_[ends[:3], knots, ends[3:]], 3).toarray())
