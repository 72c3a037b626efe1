"""Cubic splines, with free ends or straight beyond the first and the last knot (natural)."""

from __future__ import annotations

import numpy as np
from scipy.interpolate import BSpline

from gradsift._typing import Array


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
