"""What counts as missing: one list of texts and one question, asked of every source."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradsift.data.read_options import PLAIN, ReadOptions

MISSING = frozenset(
    {"", "NA", "na", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NAN", "NaT", "NULL", "null"}
    | {"None", "?", "-", ".", "#DIV/0!", "#VALUE!", "#REF!", "#NUM!", "#NAME?", "#NULL!", "#WERT!"}
)
"""Texts that stand for a missing value, whatever the file; spaces around them do not count.

`none` is not among them: it names a category in many tables (treatment: none, low, high).
"""
NUMBERS = (bool, int, float, Decimal, np.bool_, np.number)


def is_null(value: object) -> bool:
    """Whether a value in memory is missing: None, NaN, NaT or a data frame's NA."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except TypeError:  # NA of pandas is neither true nor false
        return True
    except ValueError:  # an array: something is there
        return False


def is_missing(value: object, options: ReadOptions = PLAIN) -> bool:
    """Whether a value read from a file is missing: None or NaN, or a text that stands for one."""
    if isinstance(value, str):
        text = value.strip()
        return text in MISSING or text in options.na
    return is_null(value)


def to_number(cell: object, options: ReadOptions = PLAIN) -> float | None:
    """The number in a cell, NaN where it is missing, None where it is text.

    Examples
    --------
    >>> to_number(" 1e3"), to_number("?"), to_number("1_01"), to_number("high")
    (1000.0, nan, None, None)
    """
    if isinstance(cell, str):
        text = cell.strip()
        missing = text in MISSING or text in options.na
        return float("nan") if missing else options.number(text)
    if isinstance(cell, NUMBERS):
        return float(cell)
    return float("nan") if is_null(cell) else None


def known(values: object, *, texts: bool = True) -> NDArray[np.bool_]:
    """Where values are not missing.

    Parameters
    ----------
    values : (n,) array or sequence
    texts : bool
        Whether texts such as 'NA' count as missing: so in files, not in arrays a user passes.
    """
    values = np.asarray(values)
    if values.dtype.kind in "fc":
        return ~np.isnan(values)
    if values.dtype.kind in "mM":
        return ~np.isnat(values)
    if values.dtype.kind in "OUST" and (texts or values.dtype.kind == "O"):
        missing = is_missing if texts else is_null
        flat = [not missing(value) for value in values.ravel().tolist()]
        return np.array(flat, dtype=bool).reshape(values.shape)
    return np.ones(values.shape, dtype=bool)


def as_response(values: object) -> NDArray[Any]:
    """A response read from a file: unchanged if complete; else NaN or None marks missing values.

    Examples
    --------
    >>> as_response(np.array([1, None, 3], dtype=object)).tolist()
    [1.0, nan, 3.0]
    >>> as_response(np.array(["a", "NA", "b"], dtype=object)).tolist()
    ['a', None, 'b']
    """
    values = np.asarray(values)
    there = known(values)
    if values.dtype.kind == "O" and there.any():
        found = values[there].tolist()
        if all(isinstance(value, NUMBERS) for value in found):
            whole = there.all() and not any(isinstance(value, Decimal) for value in found)
            return np.array(found) if whole else _with_missing(found, there)
    if there.all() or values.dtype.kind in "fc":
        return values
    out = values.astype(object)
    out[~there] = None
    return out


def _with_missing(found: list[Any], there: NDArray[np.bool_]) -> NDArray[np.float64]:
    out = np.full(there.shape, np.nan)
    out[there] = np.array(found, dtype=np.float64)
    return out
