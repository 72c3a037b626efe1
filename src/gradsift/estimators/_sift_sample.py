"""The rows of a sift, and what those that belong together are worth."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gradsift._typing import Array, IntArray, Source
from gradsift.data.row_groups import constant_in_groups, mean_rows

if TYPE_CHECKING:
    from gradsift.estimators._sift_parts import Labels, Numbers


class SiftSample(NamedTuple):
    """A checked table: rows that count, their response, their weights, their groups."""

    X: Source
    target: Numbers | Labels
    weight: Array | None
    groups: IntArray | None = None

    @property
    def one_per_group(self) -> bool:
        """Whether the response never changes inside a group: then the groups are the rows."""
        return self.groups is not None and constant_in_groups(self.target.values, self.groups)

    def independent(self) -> SiftSample:
        """The rows that the sift compares: themselves, or the means of their groups."""
        if self.groups is None or not self.one_per_group:
            return self
        first = np.unique(self.groups, return_index=True)[1]
        X = mean_rows(self.X, self.groups, self.weight)
        return SiftSample(X, self.target.take(first), None)


def worth_of_rows(
    weight: Array | None, groups: IntArray | None, correlation: float
) -> Array | None:
    """Numbers of samples that rows are worth to the refit: m rows of a group whose noise has this
    correlation are worth m / (1 + (m - 1) correlation).
    """
    if groups is None:
        return weight
    counts = np.ones(len(groups)) if weight is None else weight
    size = np.bincount(groups, counts)[groups]
    return np.asarray(counts / (1.0 + np.maximum(size - 1.0, 0.0) * correlation))
