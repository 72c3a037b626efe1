"""Quantiles, scale and clipping that a few wild values do not move.

A row of weight w counts as w copies of it. Quantiles are therefore observed values, the lower one
where two would do, or midway between the two: then those of -x are minus those of x.
"""

from __future__ import annotations

import numpy as np

from gradsift.protocols import Array, IntArray

MAD_TO_SD = 1.4826
"""Standard deviation of a normal variable over its median absolute deviation."""

ROUNDING = 1e-12
"""A sum of weights that falls short of a level by less, relative to it, has reached it."""


def lower_quantiles(X: Array, levels: Array, weights: Array) -> Array:
    """Least values of the columns of X that these parts of the weights do not exceed."""
    reached = levels * (1.0 - ROUNDING)
    order = np.argsort(X, axis=0, kind="stable")
    below = np.cumsum(weights[order], axis=0)
    rank = np.stack([(below < level * below[-1]).sum(axis=0) for level in reached])
    return np.take_along_axis(np.take_along_axis(X, order, axis=0), rank, axis=0)


def places(levels: Array, n: int) -> IntArray:
    """Where the lower quantiles of n values are among the sorted ones."""
    return np.asarray(np.clip(np.ceil(levels * (1.0 - ROUNDING) * n) - 1, 0, n - 1), dtype=np.intp)


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
        lower, upper = ordered[places(levels, n)], ordered[n - 1 - places(1.0 - levels, n)]
    else:
        lower = lower_quantiles(X, levels, weights)
        upper = -lower_quantiles(-X, 1.0 - levels, weights)
    return np.asarray(0.5 * (lower + upper))


def median(X: Array, weights: Array | None = None) -> Array:
    """Median of the columns of X, midway between the two middle values where there are two."""
    return np.asarray(middle_quantiles(X, np.array([0.5]), weights)[0])


def scale_about_zero(X: Array, weights: Array | None = None) -> Array:
    """Robust standard deviation of the columns of X about zero: 1.4826 median |x|."""
    return MAD_TO_SD * median(np.abs(X), weights)


def largest_tie(y: Array, weights: Array | None = None) -> float:
    """Part of the rows that the most frequent value of y (n,) takes.

    The median absolute deviation of a response with a large tie (zeros of counts) depends on how a
    fit splits it: a fit to the tie alone has hardly any, and every other row looks like an outlier.

    Examples
    --------
    >>> largest_tie(np.array([0.0, 0.0, 0.0, 7.0]))
    0.75
    """
    _, place = np.unique(y, return_inverse=True)
    counts = np.bincount(place, weights)
    return float(counts.max() / counts.sum())


def winsorise(X: Array, width: float, weights: Array | None = None) -> Array:
    """Values beyond `width` robust standard deviations of the median, pulled back to that edge.

    A column more than half of whose values agree has no robust scale, and is left as it is.
    """
    centre = median(X, weights)
    reach = width * scale_about_zero(X - centre, weights)
    reach = np.where(reach > 0.0, reach, np.inf)
    return np.clip(X, centre - reach, centre + reach)
