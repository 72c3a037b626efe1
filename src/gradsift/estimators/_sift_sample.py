"""The rows of a sift, and how many independent rows those of a group are worth."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gradsift._typing import Array, IntArray, Source
from gradsift.data.row_groups import constant_in_groups, group_means, mean_rows
from gradsift.numerics.intraclass import intraclass_correlation

if TYPE_CHECKING:
    from gradsift.estimators._sift_target import Labels, Numbers


class SiftSample(NamedTuple):
    """A checked table: rows that count, their response, weights, groups and covariates."""

    X: Source
    target: Numbers | Labels
    weight: Array | None
    groups: IntArray | None = None
    covariates: Array | None = None
    """(n, k) columns of mean zero that are adjusted for."""

    @property
    def one_per_group(self) -> bool:
        """Whether the response never changes inside a group: then the groups are the rows."""
        return self.groups is not None and constant_in_groups(self.target.values, self.groups)

    @property
    def extra(self) -> list[int]:
        """Numbers of the columns of covariates, which come after those of the table."""
        p = self.X.shape[1]
        return list(range(p, p + (0 if self.covariates is None else self.covariates.shape[1])))

    def independent(self) -> SiftSample:
        """The rows that the sift compares: themselves, or the means of their groups."""
        if self.groups is None or not self.one_per_group:
            return self
        first = np.unique(self.groups, return_index=True)[1]
        X = mean_rows(self.X, self.groups, self.weight)
        C = self.covariates
        means = None if C is None else group_means(self.groups, self.weight, C)
        return SiftSample(X, self.target.take(first), None, None, means)


def likeness(Z: Array, groups: IntArray, weight: Array | None = None) -> float:
    """Mean intraclass correlation of columns (n, k), of rows that count so many times."""
    labels = np.unique(groups, return_inverse=True)[1]  # of many rows, some groups were not drawn
    counts = np.ones(len(groups)) if weight is None else weight
    size = np.bincount(labels, counts).astype(float)
    count, total = len(size), float(size.sum())
    if total <= count or count < 2 or Z.shape[1] == 0:
        return 0.0
    means = np.stack([np.bincount(labels, counts * z) for z in Z.T], axis=1) / size[:, None]
    between = size @ np.square(means - counts @ Z / total) / (count - 1)
    within = counts @ np.square(Z - means[labels]) / (total - count)
    return float(intraclass_correlation(between, within, size).mean())


def worth_of_rows(weight: Array | None, groups: IntArray, correlation: float) -> Array:
    """Weights of rows in the refit: m rows of a group count as m / (1 + (m - 1) correlation), with
    the product of the intraclass correlations of the noise and of the columns (Moulton's factor).
    Rows whose columns change inside a group therefore count for more.
    """
    counts = np.ones(len(groups)) if weight is None else weight
    size = np.bincount(groups, counts)[groups]
    return np.asarray(counts / (1.0 + np.maximum(size - 1.0, 0.0) * correlation))
