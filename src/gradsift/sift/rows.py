"""Rows and their weights: everything below works on rows scaled by the root of their weight.

With rows scaled by sqrt(w_i) a weighted inner product sum_i w_i a_i b_i is a plain one, so that
weights are met once, here and in `features`, and nowhere else. A row of weight zero is dropped.
A weight is a number of samples: two is the row twice, and every formula is continuous in it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gradsift._typing import Array, IntArray

MAD_TO_SD = 1.4826
"""Standard deviation of a normal variable over its median absolute deviation."""


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

    def quantile(self, X: Array, level: float) -> Array:
        """Weighted lower quantile over the first axis (an observed value, so that counts mean
        copies).
        """
        return np.asarray(self.quantiles(X, np.array([level]))[0])

    def quantiles(self, X: Array, levels: Array) -> Array:
        """Weighted lower quantiles, (len(levels), ...), of the columns of X."""
        if self.weight is None:
            n = len(X)
            rank = np.clip(np.ceil(levels * n - 1e-9).astype(int) - 1, 0, n - 1)
            return np.asarray(np.partition(X, np.unique(rank), axis=0)[rank])
        order = np.argsort(X, axis=0, kind="stable")
        below = np.cumsum(self.weight[order], axis=0)
        rank = np.stack([(below < level * self.total - 1e-9).sum(axis=0) for level in levels])
        return np.take_along_axis(np.take_along_axis(X, order, axis=0), rank, axis=0)


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


def winsorise(residual: Array, rows: Rows, width: float) -> Array:
    """Pull residuals beyond `width` robust standard deviations of the median back to that edge.

    `residual` is (n, q), unscaled. A column more than half of whose values agree has no robust
    scale: left as is.
    """
    centre = rows.quantile(residual, 0.5)
    spread = width * MAD_TO_SD * rows.quantile(np.abs(residual - centre), 0.5)
    spread = np.where(spread > 0, spread, np.inf)
    return np.clip(residual, centre - spread, centre + spread)
