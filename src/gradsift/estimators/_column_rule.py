"""Which columns go together, and how many may be selected: applied to what a sift found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradsift._typing import Array, IntArray
from gradsift.data.missing import is_hole
from gradsift.estimators._validation import check_columns
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
    origins : (p,) int array or None
        The column of the table that each encoded one comes from; None = each is its own.
    """

    groups: IntArray | None
    keep: IntArray
    most: int | None
    origins: IntArray | None = None

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


def several_of_each(labels: IntArray) -> list[IntArray]:
    """Places of the labels that come several times, one array for each of them."""
    order = np.argsort(labels, kind="stable")
    variables = np.split(order, np.flatnonzero(np.diff(labels[order])) + 1)
    return [places for places in variables if len(places) > 1]


def check_feature_groups(
    feature_groups: Any, n_features: int, names: Array | None
) -> tuple[str, ...] | None:
    """The variable behind each column: a group of columns, or the column itself."""
    if feature_groups is None:
        return None
    own = [f"x{k}" for k in range(n_features)] if names is None else [str(name) for name in names]
    if not isinstance(feature_groups, Mapping):
        labels = np.asarray(feature_groups, dtype=object)
        if labels.shape != (n_features,):
            raise ValueError(
                f"feature_groups has shape {labels.shape}: give one label for each of the "
                f"{n_features} columns, or a dict from names of groups to lists of columns."
            )
        return tuple(own[k] if is_hole(v) else str(v) for k, v in enumerate(labels.tolist()))
    taken: dict[int, str] = {}
    for group, columns in feature_groups.items():
        where = f"feature_groups[{group!r}]"
        for k in check_columns(columns, n_features, names, where).tolist():
            if k in taken:
                raise ValueError(
                    f"column {own[k]!r} is in the groups {taken[k]!r} and {str(group)!r} of "
                    "feature_groups: a column is part of one variable."
                )
            taken[k] = str(group)
    alone = {own[k] for k in range(n_features) if k not in taken}
    if both := sorted(alone.intersection(taken.values())):
        raise ValueError(
            f"feature_groups names a group {both[0]!r}, as a column outside of it is called. Give "
            "the group another name."
        )
    return tuple(taken.get(k, own[k]) for k in range(n_features))


def check_max_features(max_features: Any) -> None:
    """Refuse anything but None and whole numbers from 1 on."""
    if max_features is not None and (
        isinstance(max_features, bool)
        or not isinstance(max_features, (int, np.integer))
        or max_features < 1
    ):
        raise ValueError(f"max_features={max_features!r}: use a whole number >= 1, or None.")
