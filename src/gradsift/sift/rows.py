"""Rows and their weights: everything below works on rows scaled by the root of their weight.

With rows scaled by sqrt(w_i) a weighted inner product sum_i w_i a_i b_i is a plain one, so that
weights are met once, here and in `features`, and nowhere else. A row of weight zero is dropped.
A weight is a number of samples: two is the row twice, and every formula is continuous in it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gradsift._typing import Array, IntArray
from gradsift.numerics.robust import middle_quantiles


@dataclass(frozen=True)
class Rows:
    """Which rows count, and how much."""

    kept: IntArray | None
    """Indices of the rows with positive weight; None = all."""
    weight: Array | None
    """Weights of the kept rows; None = all one."""
    total: float
    """Sum of the weights: the `n` of every formula."""

    @property
    def root(self) -> Array | float:
        return 1.0 if self.weight is None else np.sqrt(self.weight)

    def count(self, n: int) -> int:
        """How many of n rows are kept."""
        return n if self.kept is None else len(self.kept)

    def take(self, X: Array) -> Array:
        """The kept rows of an array with one row per sample."""
        return X if self.kept is None else X[self.kept]

    def mean(self, X: Array) -> Array:
        """Weighted mean over the first axis."""
        if self.weight is None:
            return np.asarray(X.mean(axis=0))
        return np.asarray(self.weight @ X / self.total)

    def quantiles(self, X: Array, levels: Array) -> Array:
        """Weighted quantiles, (len(levels), ...), of the columns of X."""
        return middle_quantiles(X, levels, self.weight)


def make_rows(n: int, sample_weight: Array | None) -> Rows:
    """Turn `sample_weight` (n,) into `Rows`."""
    if sample_weight is None:
        return Rows(None, None, float(n))
    weight: Array = np.asarray(sample_weight, dtype=np.float64)
    kept = np.flatnonzero(weight > 0)
    if len(kept) == 0:
        raise ValueError("sample_weight is zero for every row: nothing is left to learn from.")
    weight = weight[kept]
    where = None if len(kept) == n else kept
    return Rows(where, None if np.all(weight == 1) else weight, float(weight.sum()))
