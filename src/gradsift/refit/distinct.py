"""Rows that say the same are one row that counts more.

Repeating a row and doubling its weight are one and the same problem, and so is any order of the
rows. Merging equal rows, in a fixed order, makes that true to the last bit: an optimiser does not
get to amplify differences that rounding made. It also saves work on discrete columns.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gradsift._typing import Array, IntArray


class Distinct(NamedTuple):
    """Merged rows, and for each given row the number of the one it went into (-1: weight zero)."""

    X: Array
    y: Array
    weights: Array
    member: IntArray


def merge_rows(X: Array, y: Array, sample_weight: Array | None) -> Distinct:
    """X (n, d), y (n,) and weights (n,), or None for ones; rows of weight zero drop out."""
    given = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    present = np.flatnonzero(given > 0.0)
    rows = np.column_stack([X[present], y[present]])
    distinct, inverse = np.unique(rows, axis=0, return_inverse=True)
    inverse = inverse.reshape(-1)
    member = np.full(len(X), -1)
    member[present] = inverse
    weights = np.bincount(inverse, weights=given[present], minlength=len(distinct)).astype(float)
    return Distinct(distinct[:, :-1], distinct[:, -1], weights, member)
