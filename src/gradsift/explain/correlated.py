"""Columns that could stand in for a selected one: one blockwise pass over the table."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from gradsift._run.passes import each_block
from gradsift._run.threads import one_blas_thread
from gradsift.data import open_source
from gradsift.data.responses import to_floats
from gradsift.protocols import Array, IntArray, Job, Source


@dataclass(frozen=True)
class StandIns:
    """Unselected columns strongly correlated with one selected column.

    Attributes
    ----------
    columns : int array
        Closest first; at most `most` of them.
    correlations : array
        Their correlations, signs kept.
    total : int
        How many there are altogether.
    """

    columns: IntArray
    correlations: Array
    total: int


def as_source(X: Any) -> Source:
    """Columns of an array, a data frame or a source."""
    return X if isinstance(X, Source) else open_source(to_floats(X, "X"))


def unit_columns(X: Array) -> Array:
    """Centred columns of length one; constant columns become zero."""
    Z = X - X.mean(axis=0)
    length = np.linalg.norm(Z, axis=0)
    still = length <= 1e-12 * np.sqrt(len(X)) * np.abs(X).max(axis=0, initial=0.0)
    return Z * np.where(still, 0.0, 1.0 / np.where(still, 1.0, length))


def correlated_stand_ins(
    X: Any, selected: IntArray, *, threshold: float = 0.8, most: int = 1000
) -> list[StandIns]:
    """For each selected column, the unselected columns with absolute correlation >= threshold.

    Parameters
    ----------
    X : (n, p) array, data frame or source
    selected : (a,) int array
    threshold : float, default=0.8
    most : int, default=1000
        List at most this many per column; all are counted.

    Returns
    -------
    stand_ins : list of StandIns, one per selected column

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=(50, 1))
    >>> X = np.hstack([x, -x, np.roll(x, 1)])
    >>> correlated_stand_ins(X, np.array([0]))[0].columns
    array([1])
    """
    source = as_source(X)
    selected = np.asarray(selected, dtype=int)
    if len(selected) == 0:
        return []
    Z = unit_columns(source.columns(selected))

    def job_for(where: slice) -> Job[Close]:
        own = selected[(selected >= where.start) & (selected < where.stop)] - where.start
        return partial(close_columns, Z, own, threshold)

    with one_blas_thread():
        found = [
            (row, column + where.start, value)
            for where, (row, column, value) in each_block(source, job_for)
        ]
    row, column, value = (np.concatenate(part) for part in zip(*found))
    out = []
    for k in range(len(selected)):
        mine = np.flatnonzero(row == k)
        best = mine[np.argsort(-np.abs(value[mine]), kind="stable")][:most]
        out.append(StandIns(column[best], value[best], len(mine)))
    return out


Close = tuple[IntArray, IntArray, Array]


def close_columns(Z: Array, own: IntArray, threshold: float, X: Array) -> Close:
    """Pairs (row of Z', column of X, correlation) above a threshold, but for columns `own`."""
    R = Z.T @ unit_columns(X)
    R[:, own] = 0.0
    row, column = np.nonzero(np.abs(R) >= threshold)
    return row, column, R[row, column]
