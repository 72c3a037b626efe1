"""The intraclass correlation: how alike values of one group are, by analysis of variance."""

from __future__ import annotations

import numpy as np

from gradsift._typing import Array


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
