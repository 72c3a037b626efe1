"""Natural cubic splines: cubic between knots, straight beyond the first and the last."""

from __future__ import annotations

import numpy as np

from gradsift._typing import Array


def natural_splines(z: Array, knots: Array) -> Array:
    """K - 2 natural cubic splines on K knots, (n, K - 2): without constant and line."""
    last = knots[-1]
    cubes = np.maximum(z[:, None] - knots, 0.0) ** 3
    d = (cubes[:, :-1] - cubes[:, -1:]) / (last - knots[:-1])
    return np.asarray(d[:, :-1] - d[:, -1:])
