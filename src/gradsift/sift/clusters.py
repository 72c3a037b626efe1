"""Rows that belong together: the visits of a subject, the cells of a donor, the sibs of a family.

Rows of one cluster share what was not measured. A random intercept is the simplest form of that:
the noise of two rows of a cluster has correlation rho. The map

    (W a)_i = a_i - theta_c mean_c(a),    theta_c = 1 - sqrt((1 - rho) / (1 - rho + m_c rho)),

for row i of cluster c with m_c rows, makes such noise independent again. It is applied to the
response and to every feature, so that least squares on mapped rows is generalised least squares on
the rows themselves. The constant becomes 1 - theta_c, and is projected out in place of the mean.
Any other dependence inside of clusters is left to `design_effects`.

Kept rows are sorted so that those of a cluster are neighbours, and clusters of equal length too.
A row of weight w is w rows of its cluster.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from gradsift._typing import Array, IntArray
from gradsift.numerics.intraclass import intraclass_correlation
from gradsift.sift.settings import DEFAULT, SiftSettings


@dataclass(frozen=True)
class Clusters:
    """Which of the sorted rows belong together, and how alike their noise is.

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
        """How many clusters of equal size are worth as much."""
        return float(self.size.sum() ** 2 / (self.size**2).sum())

    @cached_property
    def theta(self) -> Array:
        """(G,) part of the mean of a cluster that its rows lose."""
        own = 1.0 - self.correlation
        return np.asarray(1.0 - np.sqrt(own / (own + self.size * self.correlation)))

    @cached_property
    def constant(self) -> Array:
        """(n,) what becomes of the constant 1."""
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
        """The rows that `mapped` makes A of."""
        return A + self.spread(self.theta / (1.0 - self.theta) * self.means(A))

    def without_constant(self, A: Array) -> Array:
        """Mapped rows with the mapped constant projected out."""
        along = self.weight * self.constant
        part = A @ along / float(along @ self.constant)
        return np.asarray(A - np.multiply.outer(part, self.constant))

    def centred(self, A: Array) -> Array:
        """W A without the constant: what takes the place of rows less their mean."""
        return self.without_constant(self.mapped(A))

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


def sort_clusters(labels: Array) -> tuple[IntArray, IntArray]:
    """The order of rows that makes neighbours of those with equal labels, short clusters first, and
    the length of each cluster.
    """
    _, first, code, count = np.unique(
        labels, return_index=True, return_inverse=True, return_counts=True
    )
    code = code.reshape(-1)
    order = np.lexsort((np.arange(len(code)), first[code], count[code]))
    return order, np.sort(count)
