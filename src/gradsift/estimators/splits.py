"""Splits of rows into training and held-out parts: folds and half samples, of rows or of groups.

A split is a pair of int arrays of row numbers: rows to fit to, and rows held out.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.model_selection import (
    BaseCrossValidator,
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    StratifiedGroupKFold,
    StratifiedKFold,
    check_cv,
)
from sklearn.utils import check_random_state
from sklearn.utils.validation import has_fit_parameter

from gradsift.data.slices import take_rows
from gradsift.protocols import Array, IntArray, TableLike

Split = tuple[IntArray, IntArray]
"""Rows to learn from, rows held out."""
CV: TypeAlias = int | str | Iterable[Split] | BaseCrossValidator | None
"""A number of folds, 'loo', splits, or a splitter of scikit-learn."""
MIN_SAMPLES = 3
"""Words: rows that a fit needs; fewer are refused."""


def row_splits(
    cv: CV,
    y: Array | IntArray,
    labels: bool,
    groups: IntArray | None = None,
    *,
    shuffle: bool = False,
) -> Iterator[Split]:
    """Folds as scikit-learn makes them.

    Parameters
    ----------
    cv : int, splitter, iterable or 'loo'
        A number of folds: they are stratified for labels, and hold whole groups where there are
        some; fewer where there are fewer rows, groups or rows of the largest class. 'loo' leaves
        out one row, or one group, at a time.
    y : (n,) array
    labels : bool
        Whether y holds labels.
    groups : (n,) int array, optional
        Rows with the same number stay on the same side of a fold.
    shuffle : bool, default=False
        Whether folds of a given number are shuffled, always in the same way.

    Examples
    --------
    >>> groups = np.array([0, 0, 1, 1, 2, 2])
    >>> for train, test in row_splits(3, np.arange(6.0), False, groups):
    ...     print(test.tolist())
    [4, 5]
    [2, 3]
    [0, 1]
    """
    if isinstance(cv, str) and cv != "loo":
        raise ValueError(f"cv={cv!r}: use a number of folds, a splitter or 'loo'.")
    if isinstance(cv, str):
        cv = LeaveOneOut() if groups is None else LeaveOneGroupOut()
    elif cv is None or isinstance(cv, (int, np.integer)):
        cv = numbered_folds(5 if cv is None else int(cv), y, labels, groups, shuffle)
    splitter = check_cv(cv, y, classifier=labels)
    if groups is None:
        return iter(list(splitter.split(np.zeros((len(y), 1)), y)))
    with warnings.catch_warnings():
        # a splitter that does not look at groups may still keep them whole
        warnings.filterwarnings("ignore", "The groups parameter is ignored", UserWarning)
        splits = list(splitter.split(np.zeros((len(y), 1)), y, groups))
    return check_whole(splits, groups, cv)


def numbered_folds(
    count: int, y: Array | IntArray, labels: bool, groups: IntArray | None, shuffle: bool
) -> BaseCrossValidator:
    """So many folds; no more than there are rows, groups or rows of the largest class."""
    if count < 2:
        raise ValueError(f"cv={count}: at least 2 folds are needed.")
    most = len(y) if groups is None else int(groups.max()) + 1
    if labels:
        most = min(most, int(np.unique(y, return_counts=True)[1].max()))
    if most < 2:
        what = "every class has one row" if labels and groups is None else "there is one group"
        raise ValueError(f"no row can be held out of {len(y)}: {what}.")
    count = min(count, most)
    order: dict[str, Any] = {"shuffle": True, "random_state": 0} if shuffle else {}
    if groups is None:
        return (StratifiedKFold if labels else KFold)(count, **order)
    return StratifiedGroupKFold(count, **order) if labels else GroupKFold(count)


def check_whole(splits: Iterable[Split], groups: IntArray, cv: CV) -> Iterator[Split]:
    """The splits, none of which may have rows of a group on both sides."""
    for i, (train, test) in enumerate(splits):
        both = np.intersect1d(groups[train], groups[test])
        if len(both):
            row = int(np.flatnonzero(groups == both[0])[0])
            raise ValueError(
                f"cv={cv} puts rows of {len(both)} group(s) on both sides of fold {i}, such as "
                f"that of row {row}. Use a number of folds, or a splitter of groups such as "
                "GroupKFold."
            )
        yield train, test


def scored_splits(cv: CV, y: Array, labels: bool, groups: IntArray | None) -> list[Split]:
    """Shuffled folds to score in. Refused where one has too few rows, or rows of one value or
    class only, to learn from.
    """
    splits = list(row_splits(cv, y, labels, groups, shuffle=True))
    for i, (train, _) in enumerate(splits):
        learns = f"of {len(y)} rows, fold {i} learns from {len(train)}"
        if len(train) < MIN_SAMPLES:
            raise ValueError(f"{learns}, and a fit needs {MIN_SAMPLES}: no row can be held out.")
        if (y[train] == y[train][0]).all():
            raise ValueError(
                f"{learns} rows of one {'class' if labels else 'value'} only. A number of folds, "
                "which shuffles rows, needs two rows of another; where rows are in the order of "
                "time, use fewer splits, or begin later."
            )
    return splits


def half_samples(
    y: Array, labels: bool, count: int, random_state: int | None, groups: IntArray | None = None
) -> list[IntArray]:
    """Rows of `count` subsamples of half the rows, or of half the groups as a whole; drawn within
    classes where there are labels, a group being of its most frequent class. Refused where half
    are too few to fit to.
    """
    rng = check_random_state(random_state)
    strata = np.unique(y, return_inverse=True)[1] if labels else np.zeros(len(y), dtype=int)
    if groups is not None:
        counts = np.zeros((int(groups.max()) + 1, int(strata.max()) + 1))
        np.add.at(counts, (groups, strata), 1.0)
        strata = counts.argmax(axis=1)
    out = []
    for _ in range(count):
        parts = []
        for stratum in range(strata.max() + 1):
            units = rng.permutation(np.flatnonzero(strata == stratum))
            parts.append(units[: (len(units) + 1) // 2])
        drawn = np.sort(np.concatenate(parts))
        out.append(drawn if groups is None else np.flatnonzero(np.isin(groups, drawn)))
        if len(out[-1]) < MIN_SAMPLES:
            raise ValueError(
                f"half of {len(y)} rows are {len(out[-1])}, and a fit needs {MIN_SAMPLES}: there "
                "are no half samples to repeat the selection on."
            )
    return out


@dataclass(frozen=True)
class SampleParams:
    """What is known of each row in addition to its columns and its response.

    Attributes
    ----------
    groups : (n,) int array, optional
        Rows that belong together.
    covariates : array, data frame or dict of columns, optional
    offset : (n,) or (n, c) array, optional
    exposure : (n,) array, optional
        Of counts.
    """

    groups: IntArray | None = None
    covariates: TableLike | None = None
    offset: Any = None
    exposure: Any = None

    def take(self, rows: IntArray) -> SampleParams:
        """The same of some rows."""
        groups = None if self.groups is None else self.groups[rows]
        offset = self.offset if np.ndim(self.offset) == 0 else np.asarray(self.offset)[rows]
        C = self.covariates
        if isinstance(C, dict):
            C = {name: take_rows(values, rows) for name, values in C.items()}
        elif C is not None:
            C = take_rows(C, rows)
        exposure = None if self.exposure is None else np.asarray(self.exposure)[rows]
        return SampleParams(groups, C, offset, exposure)

    @property
    def for_predict(self) -> dict[str, Any]:
        """Keyword arguments of `predict`."""
        given = {"covariates": self.covariates, "offset": self.offset, "exposure": self.exposure}
        return {name: values for name, values in given.items() if values is not None}

    def for_fit(self, estimator: BaseEstimator) -> dict[str, Any]:
        """Keyword arguments of `fit`: groups only if it takes them."""
        params = self.for_predict
        for name in params:
            if not has_fit_parameter(estimator, name):
                raise ValueError(f"{type(estimator).__name__} takes no {name}.")
        if self.groups is not None and has_fit_parameter(estimator, "groups"):
            params["groups"] = self.groups
        return params
