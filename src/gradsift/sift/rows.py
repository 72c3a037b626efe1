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
from gradsift.sift.clusters import Clusters, sort_clusters


@dataclass(frozen=True)
class Rows:
    """Which rows count, and how much."""

    kept: IntArray | None
    """Indices of the rows with positive weight, those of a cluster together; None = all."""
    weight: Array | None
    """Weights of the kept rows; None = all one."""
    total: float
    """Sum of the weights: the `n` of every formula."""
    clusters: Clusters | None = None
    """Which kept rows belong together; None = each is independent of the others."""

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

    def centred(self, X: Array) -> Array:
        """Kept rows (first axis) less their mean; rows of a cluster made independent."""
        if self.clusters is None:
            return X - self.mean(X)
        return self.clusters.centred(X.T).T

    def recentred(self, X: Array) -> Array:
        """The same for rows that are independent already."""
        if self.clusters is None:
            return X - self.mean(X)
        return self.clusters.without_constant(X.T).T

    def in_order(self, R: Array) -> Array:
        """Values of kept rows as they were before `centred`, in the order of the table."""
        if self.clusters is None or self.kept is None:
            return R
        return self.clusters.unmapped(R.T).T[np.argsort(self.kept)]

    def quantiles(self, X: Array, levels: Array) -> Array:
        """Weighted quantiles, (len(levels), ...), of the columns of X."""
        return middle_quantiles(X, levels, self.weight)


def make_rows(n: int, sample_weight: Array | None, groups: Array | None = None) -> Rows:
    """Turn `sample_weight` (n,) and labels of rows that belong together (n,) into `Rows`."""
    if sample_weight is None and groups is None:
        return Rows(None, None, float(n))
    weight: Array = np.asarray(np.ones(n) if sample_weight is None else sample_weight, np.float64)
    kept = np.flatnonzero(weight > 0)
    if len(kept) == 0:
        raise ValueError("sample_weight is zero for every row: nothing is left to learn from.")
    clusters = None
    if groups is not None:
        order, length = sort_clusters(groups[kept])
        kept = kept[order]
        clusters = Clusters(length, weight[kept])
    weight = weight[kept]
    where = None if len(kept) == n and clusters is None else kept
    plain = None if np.all(weight == 1) else weight
    return Rows(where, plain, float(weight.sum()), clusters)
