"""Cells as numbers or texts, and columns of categories as 0/1 columns, one per level."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gradsift._typing import Array
from gradsift.data.cells import Texts
from gradsift.data.missing import is_missing, to_number
from gradsift.data.read_options import PLAIN, ReadOptions

MOST_LEVELS = 20
"""Distinct texts up to which a column is taken for categories unless asked otherwise."""


def to_column(cells: Sequence[Any], options: ReadOptions = PLAIN) -> Array | Texts:
    """Numbers if every cell is one or missing, else text."""
    found = [to_number(cell, options) for cell in cells]
    if any(value is None for value in found):
        return to_text(cells, options)
    return np.array(found, dtype=np.float64)


def to_text(cells: Sequence[Any], options: ReadOptions = PLAIN) -> Texts:
    out = np.empty(len(cells), dtype=object)
    out[:] = [None if is_missing(c, options) else str(c).strip() for c in cells]
    return out


def number_text(value: float) -> str:
    """A number as short as possible, but never that of another.

    Examples
    --------
    >>> number_text(2.0), number_text(0.1), number_text(20231001.0), number_text(np.float32(0.1))
    ('2', '0.1', '20231001', '0.1')
    """
    short = f"{value:g}"
    with np.errstate(over="ignore"):
        if float(short) == value or np.float32(float(short)) == np.float64(value):
            return short
    return next(text for d in (15, 17) if float(text := f"{value:.{d}g}") == value)


def text_levels(values: Iterable[Any]) -> list[str]:
    """Distinct texts, sorted."""
    return sorted({v for v in values if v is not None})


def level_columns(values: Sequence[Any], levels: Sequence[str]) -> Array:
    """One 0/1 column per level, (n, levels); a value that is none of them is 0 everywhere.

    Examples
    --------
    >>> level_columns(["f", "m", None], ("f", "m")).tolist()
    [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]
    """
    place = {level: k for k, level in enumerate(levels)}
    where = np.array([place.get(value, -1) for value in values], dtype=np.intp)
    out = np.zeros((len(where), len(levels)))
    known = np.flatnonzero(where >= 0)
    out[known, where[known]] = 1.0
    return out


def level_name(column: str, level: str) -> str:
    """What the 0/1 column of a level is called."""
    return f"{column}={level}"
