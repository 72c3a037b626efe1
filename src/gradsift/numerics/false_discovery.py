"""From p-values to q-values."""

from __future__ import annotations

import numpy as np

from gradsift._typing import Array


def benjamini_hochberg(log_p: Array, n_tests: float | None = None) -> Array:
    """q-values from log p-values; `n_tests` counts tests with p = 1 that are not listed."""
    m = max(len(log_p) if n_tests is None else n_tests, 1)
    order = np.argsort(log_p, kind="stable")
    steps = log_p[order] + np.log(m) - np.log(np.arange(1, len(log_p) + 1))
    out = np.empty(len(log_p))
    out[order] = np.exp(np.minimum(np.minimum.accumulate(steps[::-1])[::-1], 0.0))
    return out
