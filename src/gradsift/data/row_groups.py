"""Rows that belong together: labels of groups, checked and numbered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradsift._run.memory import check_memory
from gradsift._run.passes import each_block
from gradsift.data.arrays import array_like
from gradsift.data.formats.registry import is_storage, open_source
from gradsift.data.missing import known
from gradsift.data.source import ArraySource, SourceView, block_width
from gradsift.protocols import Array, IntArray, Source

How = Literal["mean", "sum"]
PIECES = 4
"""Parts of a block that are summed one after the other, so that this takes little memory.
"""


def group_codes(groups: ArrayLike, n_rows: int, what: str = "groups") -> IntArray:
    """The group of each row as a number from 0, in the order of the labels.

    Parameters
    ----------
    groups : (n_rows,) array of labels, of any type
    n_rows : int
    what : str, default="groups"
        Its name in errors.

    Examples
    --------
    >>> group_codes(["b", "a", "b"], 3).tolist()
    [1, 0, 1]
    """
    labels: Any = np.asarray(array_like(groups, what))
    if labels.ndim != 1 or len(labels) != n_rows:
        raise ValueError(
            f"{what} has shape {labels.shape} but X has {n_rows} rows: need ({n_rows},), the label "
            "of the group that each row belongs to."
        )
    there = known(labels)
    if not there.all():
        raise ValueError(
            f"{what} is missing for {(~there).sum()} of {n_rows} rows, the first in row "
            f"{int(np.argmin(there))}. Give rows that belong to no other a label of their own."
        )
    if labels.dtype == object:
        labels = np.array([str(label) for label in labels])
    return np.unique(labels, return_inverse=True)[1].reshape(-1)


def constant_in_groups(values: NDArray[Any], codes: IntArray) -> bool:
    """Whether a column never changes inside a group.

    Examples
    --------
    >>> constant_in_groups(np.array(["x", "x", "y"]), np.array([0, 0, 1]))
    True
    """
    first = np.unique(codes, return_index=True)[1]
    return bool((values == values[first][codes]).all())


def group_sums(block: Array, codes: IntArray, weight: Array | None = None) -> Array:
    """Sums of the rows of each group, (groups, p); values that are missing count as 0."""
    gaps = np.isnan(block)
    values = np.where(gaps, 0.0, block) if gaps.any() else block
    if weight is not None:
        values = values * weight[:, None]
    order = np.argsort(codes, kind="stable")
    first = np.searchsorted(codes[order], np.arange(int(codes.max()) + 1))
    return np.asarray(np.add.reduceat(values[order], first, axis=0))


def group_means(codes: IntArray, weight: Array | None, block: Array) -> Array:
    """Means of the rows of each group, (groups, p), over what is known; missing where nothing is.

    Examples
    --------
    >>> group_means(np.array([0, 1, 0]), None, np.array([[1.0], [5.0], [3.0]])).tolist()
    [[2.0], [5.0]]
    """
    total = group_sums(block, codes, weight)
    if weight is None and not np.isnan(block).any():
        return total / np.bincount(codes)[:, None]
    count = group_sums((~np.isnan(block)).astype(np.float64), codes, weight)
    return np.where(count > 0.0, total / np.maximum(count, 1e-300), np.nan)


@dataclass(frozen=True)
class GroupMeans(SourceView):
    """The means of groups of rows of another source."""

    codes: IntArray
    weight: Array | None = None

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.codes.max()) + 1, self.base.shape[1]

    def change(self, where: slice | IntArray) -> Callable[[Array], Array]:
        return partial(group_means, self.codes, self.weight)

    @property
    def held_bytes(self) -> int:
        """The share of the other's bytes that so many rows take."""
        return self.base.held_bytes * self.shape[0] // max(1, self.base.shape[0])

    def align_rows(self, values: Array) -> Array:
        return values


def mean_rows(source: Source, codes: IntArray, weight: Array | None = None) -> Source:
    """Means of groups of rows: an array where the data is in memory, a view where it is not."""
    if isinstance(source, ArraySource):
        return ArraySource(group_means(codes, weight, source.X), source.width)
    return GroupMeans(source, codes, weight)


def groups_in_memory(source: Source, codes: IntArray, how: How, out: Array | None = None) -> Array:
    """One row for each group, (groups, p); the source is read once.

    Parameters
    ----------
    source : Source
    codes : (n,) int array
        The group of each row, from 0.
    how : {'mean', 'sum'}
    out : (groups, p) array, optional
        Where to put it.

    Examples
    --------
    >>> X = np.array([[1.0, 0.0], [5.0, 8.0], [3.0, 2.0]])
    >>> groups_in_memory(ArraySource(X), np.array([0, 1, 0]), "sum").tolist()
    [[4.0, 2.0], [5.0, 8.0]]
    """
    if out is None:
        out = np.empty((int(codes.max()) + 1, source.shape[1]))
    if how not in ("mean", "sum"):
        raise ValueError(f"how={how!r}: use 'mean' or 'sum'.")
    job = partial(group_means, codes, None) if how == "mean" else partial(group_sums, codes=codes)
    width = max(1, block_width(source.shape[0]) // PIECES)
    for where, made in each_block(source, lambda _: job, width=width):
        out[:, where] = made
    return out


class Aggregated(NamedTuple):
    """One row for each group."""

    X: Any
    """(groups, p) data frame where one was given, else an array."""
    y: Any
    """(groups,) array"""
    groups: Any
    """(groups,) labels, in order."""


def aggregate(X: Any, y: Any, groups: Any, how: How = "mean") -> Aggregated:
    """Make one row of each group, as in a pseudobulk analysis of cells.

    With few groups, or where the response belongs to the group and not to the row, groups are
    what can be compared: the cells of a donor say much about the donor, and nothing about others.

    Parameters
    ----------
    X : (n, p) array, data frame, source or path
        What `open_source` takes is read once, in blocks: only the groups need to fit into memory.
    y : (n,) array
        Labels must not change inside a group; of numbers that do, the mean is taken.
    groups : (n,) array of labels
        The group of each row.
    how : {'mean', 'sum'}, default='mean'
        'sum' is usual for counts, which are then divided by their total or taken to the log.

    Returns
    -------
    X, y, groups : Aggregated
        A row for each group, in the order of their labels.

    Examples
    --------
    >>> from gradsift import aggregate
    >>> X = np.array([[1.0, 0.0], [3.0, 0.0], [5.0, 8.0]])
    >>> table = aggregate(X, ["ill", "ill", "well"], groups=["ann", "ann", "bob"])
    >>> table.X.tolist(), table.y.tolist(), table.groups.tolist()
    ([[2.0, 0.0], [5.0, 8.0]], ['ill', 'well'], ['ann', 'bob'])
    """
    stored = is_storage(X)
    source = open_source(X if stored else np.asarray(array_like(X)))
    codes = group_codes(groups, source.shape[0])
    first = np.unique(codes, return_index=True)[1]
    what = f"{len(first):,} groups and {source.shape[1]:,} columns"
    check_memory(8.0 * len(first) * source.shape[1], what, "Leave columns out.")
    made, labels = groups_in_memory(source, codes, how), np.asarray(groups)[first]
    response = aggregate_response(np.ravel(array_like(y, "y")), codes)
    return Aggregated(made if stored else like(X, made, labels), response, labels)


def aggregate_response(y: Any, codes: IntArray) -> Any:
    """The response of each group: the same in all its rows, or the mean of numbers."""
    if len(y) != len(codes):
        raise ValueError(f"y has {len(y)} values for {len(codes)} rows.")
    first = np.unique(codes, return_index=True)[1]
    if constant_in_groups(y, codes):
        return y[first]
    if y.dtype.kind not in "fiu":
        row = int(np.flatnonzero(y != y[first][codes])[0])
        raise ValueError(
            f"the label changes inside a group: row {row} has '{y[row]}', row "
            f"{first[codes[row]]} of the same group has '{y[first[codes[row]]]}'. Groups with "
            "several labels cannot be made one row: leave them as they are and fit with groups."
        )
    return group_means(codes, None, y.astype(np.float64)[:, None])[:, 0]


def like(X: Any, values: Array, labels: Any) -> Any:
    """Values as a data frame where X is one."""
    if hasattr(X, "iloc"):
        return type(X)(values, index=labels, columns=X.columns)
    return type(X)(values, schema=list(X.columns)) if hasattr(X, "columns") else values
