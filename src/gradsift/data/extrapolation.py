"""New values far outside those a model was fitted to, in the columns that it uses."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from gradsift.data.source import windows
from gradsift.protocols import Array, IntArray, Source

FAR = 1.0
"""Widths of the range at fit, beyond its ends: held-out rows seldom go there, and predictions of
those that do are off.
"""
FEW = 16
"""Columns up to which that holds; of m columns, sqrt(m / FEW) times as far: one of many has less of
a say in a prediction, and some of many go far out in any table.
"""
SHOWN = 5
WIDTH = 256


def column_ranges(source: Source, index: IntArray) -> Array:
    """(2, m) smallest and largest values of some columns, NaN where all are missing."""
    parts = [[np.fmin.reduce(X), np.fmax.reduce(X)] for _, X in pieces(source, index)]
    return np.concatenate(parts, axis=1) if parts else np.zeros((2, 0))


def far_note(
    source: Source, index: IntArray, ranges: Array, label: Callable[[IntArray], list[str]]
) -> str | None:
    """A sentence on the rows of a source with values far outside the ranges of some columns."""
    width = FAR * max(1.0, (len(index) / FEW) ** 0.5)
    rows = np.zeros(source.shape[0], dtype=bool)
    found: list[int] = []
    for where, X in pieces(source, index):
        low, high = ranges[:, where]
        with np.errstate(over="ignore", invalid="ignore"):
            # a column that never changed has no say
            margin = np.where(high > low, width * (high - low), np.inf)
            far = (low - margin > X) | (high + margin < X)
        rows |= far.any(axis=1)
        found += (where.start + np.flatnonzero(far.any(axis=0))).tolist()
    if not found:
        return None
    some = np.array(found[:SHOWN])
    names = [
        f"{name} (fitted to {low:.4g} to {high:.4g})"
        for name, low, high in zip(label(index[some]), *ranges[:, some])
    ]
    return (
        f"{rows.sum()} of {len(rows)} rows are far outside the rows that the model was fitted to, "
        f"in {', '.join(names)}{', ...' if len(found) > SHOWN else ''}: predictions there are "
        "extrapolations, and may be absurd. Check units and typing errors."
    )


def pieces(source: Source, index: IntArray) -> Iterator[tuple[slice, Array]]:
    """A few columns at a time."""
    for where in windows(len(index), WIDTH):
        yield where, source.columns(index[where])
