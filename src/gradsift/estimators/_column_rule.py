"""Which columns go together, and how many may be selected: applied to what a sift found."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradsift._typing import IntArray
from gradsift.sift import SiftResult


@dataclass(frozen=True, eq=False)
class ColumnRule:
    """Whole groups of columns, at most so many of them beside those that are always kept.

    Attributes
    ----------
    groups : (p,) int array or None
        Columns with the same number are in or out together and count once; None = each its own.
    keep : int array
        Columns that are always in, and do not count.
    most : int or None
        Groups that may be selected.
    """

    groups: IntArray | None
    keep: IntArray
    most: int | None

    def settle(self, found: SiftResult) -> SiftResult:
        """The same result with whole groups, the best ranked ones where there are too many."""
        if self.groups is None and self.most is None:
            return found
        selected = self.choose(found.selected, found.ranking)
        kept = set(selected.tolist())
        tested = dict(zip(found.selected.tolist(), found.chi_square_tails.tolist()))
        return replace(
            found,
            selected=selected,
            interactions=tuple(pair for pair in found.interactions if kept.issuperset(pair[:2])),
            groups=tuple(term for term in found.groups if kept.issuperset(term.variables)),
            # columns that only come along were not tested
            chi_square_tails=np.array([tested.get(k, np.nan) for k in selected.tolist()]),
        )

    def choose(self, selected: IntArray, ranking: IntArray | None = None) -> IntArray:
        """Column numbers, sorted; without a `ranking`, as many as there are."""
        if self.groups is None:
            free = np.setdiff1d(selected, self.keep)
            if ranking is not None:
                free = free[np.argsort(ranking[free], kind="stable")][: self.most]
            return np.union1d(free, self.keep).astype(np.intp)
        always = np.unique(self.groups[self.keep])
        free = selected[~np.isin(self.groups[selected], always)]
        if ranking is not None:
            free = free[np.argsort(ranking[free], kind="stable")]
        order = list(dict.fromkeys(self.groups[free].tolist()))[: self.most]
        return np.flatnonzero(np.isin(self.groups, [*order, *always.tolist()]))


def check_column_rule(
    column_groups: Any, keep: IntArray, max_features: int | None, n_features: int
) -> ColumnRule:
    """The rule that an estimator's parameters ask for."""
    check_max_features(max_features)
    if column_groups is None:
        return ColumnRule(None, keep, max_features)
    labels = np.asarray(column_groups)
    if labels.shape != (n_features,):
        raise ValueError(
            f"column_groups has shape {labels.shape}: give one label for each of the "
            f"{n_features} columns."
        )
    return ColumnRule(np.unique(labels, return_inverse=True)[1], keep, max_features)


def check_max_features(max_features: Any) -> None:
    """Refuse anything but None and whole numbers from 1 on."""
    if max_features is not None and (
        isinstance(max_features, bool)
        or not isinstance(max_features, (int, np.integer))
        or max_features < 1
    ):
        raise ValueError(f"max_features={max_features!r}: use a whole number >= 1, or None.")
