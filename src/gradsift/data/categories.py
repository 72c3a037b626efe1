"""Cells as numbers or texts, and columns of categories as 0/1 columns, one per level."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradsift.data.arrays import array_like
from gradsift.data.cells import Texts
from gradsift.data.missing import is_missing, is_null, to_number
from gradsift.data.read_options import PLAIN, ReadOptions
from gradsift.protocols import Array

NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]*)?(e[+-]?[0-9]+)?", re.IGNORECASE)
WHOLE = re.compile("0|-?[1-9][0-9]{0,17}")
"""A whole number as it is written, no other way and within 64 bits."""
PLAIN_KINDS = "biuf"
"""Kinds of arrays of numbers and truth values."""
DECLARED = ("category", "categorical", "enum", "dictionary")
"""How data types of categories begin, in pandas, polars and Arrow."""


def table_columns(X: Any) -> Iterator[tuple[str, Any]]:
    """Names and columns of a data frame (pandas, polars, Arrow) or an array.

    Examples
    --------
    >>> [(name, values.tolist()) for name, values in table_columns(np.eye(2))]
    [('x0', [1.0, 0.0]), ('x1', [0.0, 1.0])]
    """
    if hasattr(X, "columns"):
        for k, name in enumerate(getattr(X, "column_names", X.columns)):
            yield str(name), X.iloc[:, k] if hasattr(X, "iloc") else X[name]
    else:
        yield from ((f"x{k}", values) for k, values in enumerate(np.asarray(array_like(X)).T))


def kind_of(values: Any) -> str:
    """What a column of a data frame declares itself to be, in lower case."""
    return str(getattr(values, "dtype", getattr(values, "type", ""))).lower()


def holds_times(cells: NDArray[Any]) -> bool:
    """Whether cells are dates or times as such, not texts of them.

    Examples
    --------
    >>> holds_times(np.array(["2026-01-31"])), holds_times(np.array(["2026-01-31"], dtype="M8[D]"))
    (False, True)
    """
    objects = cells.dtype.kind == "O"
    there = [v for v in cells.ravel().tolist() if not is_null(v)] if objects else []
    objects = bool(there) and all(
        hasattr(v, "isoformat") or hasattr(v, "total_seconds") for v in there
    )
    return objects or cells.dtype.kind in "mM"


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


LEAST_LONG = 1e15
"""Whole numbers from this size on are written with an exponent."""


def number_text(value: float) -> str:
    """A number as short as possible, but never that of another.

    Examples
    --------
    >>> number_text(2.0), number_text(0.1), number_text(1e6), number_text(np.float32(0.1))
    ('2', '0.1', '1000000', '0.1')
    """
    if abs(value) < LEAST_LONG and value == round(value):
        return f"{value + 0.0:.0f}"
    short = f"{value:g}"
    with np.errstate(over="ignore"):
        if float(short) == value or np.float32(float(short)) == np.float64(value):
            return short
    return next(text for d in (15, 17) if float(text := f"{value:.{d}g}") == value)


def as_levels(values: object) -> list[str | None]:
    """A column of categories as texts, None where it is missing; whole numbers without a point.

    Examples
    --------
    >>> as_levels([" a", 2.0, None])
    ['a', '2', None]
    """
    return [None if is_null(v) else level_text(v) for v in np.asarray(values).tolist()]


def level_text(value: object) -> str:
    if isinstance(value, float):
        return number_text(value)
    return value.strip() if isinstance(value, str) else str(value)


def whole_labels(labels: NDArray[Any]) -> NDArray[Any]:
    """Labels as whole numbers, so that they have the order of these, if all are written as such;
    else as they are.

    Examples
    --------
    >>> whole_labels(np.array(["10", "-2"])).tolist(), whole_labels(np.array(["10", "02"])).tolist()
    ([10, -2], ['10', '02'])
    """
    kinds, codes = np.unique(labels, return_inverse=True)
    if len(kinds) == 0 or not all(map(WHOLE.fullmatch, kinds.tolist())):
        return labels
    return kinds.astype(np.int64)[codes]


def text_levels(values: Iterable[Any]) -> list[str]:
    """Distinct texts, sorted: numbers by what they are worth, then all others.

    Examples
    --------
    >>> text_levels(["10", None, "b", "2", "0.5", "a", "2"])
    ['0.5', '2', '10', 'a', 'b']
    """
    return sorted({v for v in values if v is not None}, key=by_number)


def by_number(text: str) -> tuple[bool, float, str]:
    """What texts are sorted by, so that 10 comes after 2."""
    number = NUMBER.fullmatch(text) is not None
    return not number, float(text) if number else 0.0, text


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


def unseen_levels(
    column: str,
    unseen: Sequence[str],
    n_rows: int,
    counted_as: str = "as none of the known categories",
) -> str | None:
    """A sentence on categories that the model has not seen; None where there are none.

    Examples
    --------
    >>> unseen_levels("'site'", ["c"], 3, "as 'a'")
    "1 of 3 rows hold categories of 'site' that the model has not seen ('c'): they count as 'a'"
    """
    if not unseen:
        return None
    kinds = text_levels(unseen)
    some = ", ".join(map(repr, kinds[:3])) + (", ..." if len(kinds) > 3 else "")
    return (
        f"{len(unseen)} of {n_rows} rows hold categories of {column} that the model has not seen "
        f"({some}): they count {counted_as}"
    )
