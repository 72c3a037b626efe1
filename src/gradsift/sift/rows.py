"""Rows, their weights and clusters: all steps of the sift use rows scaled by roots of weights.

With rows scaled by sqrt(w_i) a weighted inner product sum_i w_i a_i b_i is a plain one, so that
weights occur here and in `features`, and nowhere else. A row of weight zero is dropped.
A weight is a number of samples: two is the row twice, and every formula is continuous in it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from gradsift.numerics.statistics import intraclass_correlation, middle_quantiles
from gradsift.protocols import Array, IntArray
from gradsift.sift.settings import DEFAULT, SiftSettings

# Rows that belong together: the visits of a subject, the cells of a donor, the sibs of a family.
#
# Rows of one cluster share what was not measured. A random intercept is the simplest form of
# that: the noise of two rows of a cluster has correlation rho. The map
#
#     (W a)_i = a_i - theta_c mean_c(a),    theta_c = 1 - sqrt((1 - rho) / (1 - rho + m_c rho)),
#
# for row i of cluster c with m_c rows, makes such noise independent again (Fuller and Battese
# 1973). It is applied to the response and to every feature, so that least squares on mapped rows is
# generalised least squares on the rows themselves. The constant becomes 1 - theta_c, and is
# projected out in place of the mean. Any other dependence inside of clusters is left to
# `design_effects`.
#
# Kept rows are sorted so that those of a cluster are neighbours, and clusters of equal length
# too. A row of weight w is w rows of its cluster.


@dataclass(frozen=True)
class Clusters:
    """Clusters of rows that belong together, and the intraclass correlation of their noise.

    Arrays of rows have the rows along their last axis.
    """

    length: IntArray
    """(G,) rows of each cluster, increasing."""
    weight: Array
    """(n,) numbers of samples."""
    correlation: float = 0.0
    """Correlation of the noise of two rows of a cluster."""

    @cached_property
    def first(self) -> IntArray:
        """(G,) first row of each cluster."""
        return np.cumsum(self.length) - self.length

    @cached_property
    def size(self) -> Array:
        """(G,) samples of each cluster."""
        return self.sums(self.weight)

    @cached_property
    def effective(self) -> float:
        """Effective number of clusters: that of clusters of equal size."""
        return float(self.size.sum() ** 2 / (self.size**2).sum())

    @cached_property
    def theta(self) -> Array:
        """(G,) share of the mean of a cluster that is subtracted from its rows."""
        own = 1.0 - self.correlation
        return np.asarray(1.0 - np.sqrt(own / (own + self.size * self.correlation)))

    @cached_property
    def constant(self) -> Array:
        """(n,) the constant 1, mapped."""
        return self.spread(1.0 - self.theta)

    def spread(self, values: Array) -> Array:
        """A value per cluster, (.., G), for each of its rows, (.., n)."""
        return np.repeat(values, self.length, axis=-1)

    def sums(self, A: Array) -> Array:
        """Sums over the rows of each cluster, (.., G)."""
        return np.asarray(np.add.reduceat(A, self.first, axis=-1))

    def means(self, A: Array) -> Array:
        """Means over the samples of each cluster, (.., G)."""
        return self.sums(A * self.weight) / self.size

    def mapped(self, A: Array) -> Array:
        """W A; W is its own adjoint in the inner product that weighs samples."""
        if self.correlation == 0.0:
            return A
        return A - self.spread(self.theta * self.means(A))

    def unmapped(self, A: Array) -> Array:
        """The inverse of `mapped`."""
        return A + self.spread(self.theta / (1.0 - self.theta) * self.means(A))

    def without_constant(self, A: Array) -> Array:
        """Mapped rows with the mapped constant projected out."""
        along = self.weight * self.constant
        part = A @ along / float(along @ self.constant)
        return np.asarray(A - np.multiply.outer(part, self.constant))

    def centred(self, A: Array) -> Array:
        """W A without the mapped constant, in place of rows less their mean."""
        return self.without_constant(self.mapped(A))

    def products(self, S: Array, at: IntArray, V: Array, sums: Array) -> tuple[Array, Array]:
        """Inner products of `centred` A (m, n), from its values S (m, k) at the rows `at`; it is
        zero at others.

        Parameters
        ----------
        S : (m, k) array
        at : (k,) int array
            Increasing.
        V : (n, q) array
        sums : (q, G) array
            Of V over the rows of each cluster.

        Returns
        -------
        (m, m), (m, q) array
            Of the centred rows with each other, by weight, and with V.
        """
        weighted = S * self.weight[at]
        ends = np.searchsorted(at, np.append(self.first, len(self.weight)))
        padded = np.pad(weighted, ((0, 0), (0, 1)))
        in_cluster = np.add.reduceat(padded, ends[:-1], axis=1)
        in_cluster[:, ends[:-1] == ends[1:]] = 0.0
        rest = 1.0 - self.theta
        part = in_cluster @ rest**2 / float((self.size * rest) @ rest)
        less = self.theta / self.size * in_cluster + np.multiply.outer(part, rest)
        cross = in_cluster @ less.T
        among = weighted @ S.T - cross - cross.T + (less * self.size) @ less.T
        return among, S @ V[at] - less @ sums.T

    def correlated(self, Y: Array, settings: SiftSettings = DEFAULT) -> Clusters:
        """The same clusters with the correlation of noise Y (n, q)."""
        found = within_correlation(Y.T, self)
        return replace(self, correlation=min(found, settings.most_correlation))

    @cached_property
    def runs(self) -> list[tuple[slice, int, int]]:
        """Clusters of equal length: (their rows, how many, length)."""
        lengths, count = np.unique(self.length, return_counts=True)
        ends = np.cumsum(lengths * count)
        return [
            (slice(int(end - m * g), int(end)), int(g), int(m))
            for end, g, m in zip(ends, count, lengths, strict=True)
        ]


def within_correlation(Y: Array, clusters: Clusters) -> float:
    """Intraclass correlation of responses Y (q, n) together."""
    size, total = clusters.size, float(clusters.size.sum())
    count = len(size)
    if total <= count:
        return 0.0  # one sample per cluster says nothing
    means = clusters.means(Y)
    middle = means @ size / total
    between = ((means - middle[:, None]) ** 2 @ size).sum() / (count - 1)
    within = ((Y - clusters.spread(means)) ** 2 @ clusters.weight).sum() / (total - count)
    return float(intraclass_correlation(between, within, size))


@dataclass(frozen=True)
class Rows:
    """The rows of positive weight, their weights and clusters."""

    kept: IntArray | None
    """Indices of the rows with positive weight, those of a cluster together; None = all."""
    weight: Array | None
    """Weights of the kept rows; None = all one."""
    total: float
    """Sum of the weights: the `n` of every formula."""
    clusters: Clusters | None = None
    """Which kept rows belong together; None = each is independent of the others."""
    informative: float | None = None
    """How many rows the response is informative about, where they are fewer: of survival times the
    number of events. It bounds the size of a support.
    """

    @property
    def count(self) -> int:
        """How many rows are kept."""
        return int(self.total) if self.weight is None else len(self.weight)

    @property
    def weights(self) -> Array:
        """(n,) weights of the kept rows."""
        return np.ones(self.count) if self.weight is None else self.weight

    @property
    def root(self) -> Array | float:
        """Roots of the weights, (n,); 1 where all are one."""
        return 1.0 if self.weight is None else np.sqrt(self.weight)

    @property
    def column_root(self) -> Array | float:
        """The same as a column, (n, 1)."""
        return 1.0 if self.weight is None else np.sqrt(self.weight)[:, None]

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


def make_rows(n: int, sample_weight: Array | None, groups: IntArray | None = None) -> Rows:
    """Turn `sample_weight` (n,) and labels of rows that belong together (n,) into `Rows`."""
    if sample_weight is None and groups is None:
        return Rows(None, None, float(n))
    weight: Array = np.asarray(np.ones(n) if sample_weight is None else sample_weight, np.float64)
    kept = np.flatnonzero(weight > 0)
    if len(kept) == 0:
        raise ValueError("sample_weight is zero for every row: nothing is left to learn from.")
    clusters = None
    if groups is not None:
        # rows with equal labels become neighbours, short clusters first
        _, first, code, count = np.unique(
            groups[kept], return_index=True, return_inverse=True, return_counts=True
        )
        code = code.reshape(-1)
        kept = kept[np.lexsort((np.arange(len(code)), first[code], count[code]))]
        clusters = Clusters(np.sort(count), weight[kept])
    weight = weight[kept]
    where = None if len(kept) == n and clusters is None else kept
    plain = None if np.all(weight == 1) else weight
    return Rows(where, plain, float(weight.sum()), clusters)
