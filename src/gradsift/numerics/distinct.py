"""Rows that say the same are one row that counts more.

Repeating a row and doubling its weight are one and the same problem, and so is any order of the
rows. Merging equal rows, in a fixed order, makes that true to the last bit: an optimiser does not
get to amplify differences that rounding made. It also saves work on discrete columns.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gradsift._typing import Array, IntArray
from gradsift.numerics.sampling import canonical_order, gram_products


class Distinct(NamedTuple):
    """Merged rows in their canonical order, and for each given row the number of the one it went
    into (-1: weight zero).
    """

    X: Array
    Y: Array
    weights: Array
    member: IntArray


def merge_rows(X: Array, Y: Array, sample_weight: Array | None) -> Distinct:
    """X (n, d), Y (n, q) and weights (n,), or None for ones; rows of weight zero drop out."""
    given = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    present, d = np.flatnonzero(given > 0.0), X.shape[1]
    rows = np.column_stack([X[present], Y[present]])
    distinct, inverse = np.unique(rows, axis=0, return_inverse=True)
    inverse = inverse.reshape(-1)
    weights = np.bincount(inverse, weights=given[present], minlength=len(distinct)).astype(float)
    X, Y = distinct[:, :d], distinct[:, d:]
    order = canonical_order(Y, weights, gram_products(X, Y, weights))
    member = np.full(len(given), -1)
    member[present] = np.argsort(order)[inverse]
    return Distinct(X[order], Y[order], weights[order], member)
