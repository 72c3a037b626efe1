"""Small statistics: q-values, correlations within groups and along rows, splines, quantiles.

- q-values of p-values (m,), by the step-up procedure of :cite:`benjamini-1995`;
- the intraclass correlation of groups of rows, by analysis of variance;
- autocorrelations of columns X (n, m) along the order of their rows;
- bases of cubic splines (n, K) of a column;
- quantiles, robust scale and clipping of columns with weights of rows (n,).
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


# ------------------------------------------------ quantiles, scale and clipping
# A few wild values do not move them. A row of weight w counts as w copies of it. Quantiles are
# therefore observed values, the lower one where two would do, or midway between the two: then those
# of -x are minus those of x.

MAD_TO_SD = 1.4826
"""Theory: standard deviation of a normal variable over its median absolute deviation."""

ROUNDING = 1e-12
"""Rounding: a sum of weights that falls short of a level by less, relative to it, has reached it.
"""


def lower_quantiles(X: Array, levels: Array, weights: Array) -> Array:
    """Least values of the columns of X that these parts of the weights do not exceed."""
    reached = levels * (1.0 - ROUNDING)
    order = np.argsort(X, axis=0, kind="stable")
    below = np.cumsum(weights[order], axis=0)
    rank = np.stack([(below < level * below[-1]).sum(axis=0) for level in reached])
    return np.take_along_axis(np.take_along_axis(X, order, axis=0), rank, axis=0)


def middle_quantiles(X: Array, levels: Array, weights: Array | None = None) -> Array:
    """Midway between lower and upper quantile: those of -X are minus those of X.

    The two differ only where a level falls between two observed values.

    Examples
    --------
    >>> middle_quantiles(np.array([3.0, 1.0, 2.0, 4.0]), np.array([0.5, 0.6])).tolist()
    [2.5, 3.0]
    """
    if weights is None:
        n, ordered = len(X), np.sort(X, axis=0)
        at = np.stack([levels, 1.0 - levels]) * (1.0 - ROUNDING) * n
        low, high = np.clip(np.ceil(at) - 1, 0, n - 1).astype(np.intp)
        lower, upper = ordered[low], ordered[n - 1 - high]
    else:
        lower = lower_quantiles(X, levels, weights)
        upper = -lower_quantiles(-X, 1.0 - levels, weights)
    return np.asarray(0.5 * (lower + upper))


def median(X: Array, weights: Array | None = None) -> Array:
    """Median of the columns of X, midway between the two middle values where there are two."""
    return np.asarray(middle_quantiles(X, np.array([0.5]), weights)[0])


def scale_about_zero(X: Array, weights: Array | None = None) -> Array:
    """Robust standard deviation of the columns of X about zero: 1.4826 median |x|."""
    return MAD_TO_SD * np.asarray(middle_quantiles(np.abs(X), np.array([0.5]), weights)[0])


MOST_TIED = 0.25
"""Part of the rows that one value of a response may take; beyond it, no residual is cut off, and no
row loses weight.
"""


def has_robust_scale(y: Array, weights: Array | None = None) -> bool:
    """Whether no value of a response y (n,) takes more than `MOST_TIED` of the rows.

    The median absolute deviation of a response with a large tie (zeros of counts) depends on how a
    fit splits it: a fit to the tie alone has hardly any, and every other row looks like an outlier.

    Examples
    --------
    >>> has_robust_scale(np.array([0.0, 0.0, 0.0, 7.0])), has_robust_scale(np.arange(4.0))
    (False, True)
    """
    _, place = np.unique(y, return_inverse=True)
    counts = np.bincount(place, weights)
    return bool(counts.max() / counts.sum() <= MOST_TIED)


def winsorise(X: Array, width: float, weights: Array | None = None) -> Array:
    """Values beyond `width` robust standard deviations of the median, pulled back to that edge.

    A column more than half of whose values agree has no robust scale, and is left as it is.
    """
    half = np.array([0.5])
    centre = middle_quantiles(X, half, weights)[0]
    reach = width * (MAD_TO_SD * middle_quantiles(np.abs(X - centre), half, weights)[0])
    reach = np.where(reach > 0.0, reach, np.inf)
    return np.clip(X, centre - reach, centre + reach)
