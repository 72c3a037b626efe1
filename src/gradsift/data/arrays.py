"""What a user passes as an array: one of known values, not a plan for it, nor behind a mask."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


def refuse_lazy(table: object, what: str = "X") -> None:
    """Refuse a lazy frame of polars, and say what to pass in its place: every column is read many
    times, and its plan would be carried out each time.
    """
    kind = type(table)
    if kind.__module__.split(".")[0] == "polars" and kind.__name__ == "LazyFrame":
        raise TypeError(
            f"{what} is a {kind.__name__}, which holds a plan and no values yet: pass "
            f"{what}.collect()."
        )


def array_like(values: object, what: str = "X") -> Any:
    """What was passed, with missing values in place of masked cells: NaN among numbers, else None.
    NumPy drops a mask without a word, and whatever was under it would count as a value. It also
    takes anything for an array, if only one of a single object: such are refused.

    Examples
    --------
    >>> array_like(np.ma.masked_equal([1, -9999, 3], -9999)).tolist()
    [1.0, nan, 3.0]
    """
    refuse_lazy(values, what)
    if isinstance(values, np.ma.MaskedArray):
        values = without_mask(values)
    if hasattr(values, "columns"):
        return values
    try:
        listed = not isinstance(values, (str, Mapping, set, frozenset, type))
        cells = np.asarray(values if listed else None)
    except ValueError:
        raise ValueError(
            f"{what} holds rows of different lengths, which make no array: give each row the same "
            "number of values."
        ) from None
    if cells.ndim == 0 or cells.dtype.kind == "V":
        kind = "record" if cells.dtype.kind == "V" else type(values).__name__
        raise ValueError(
            f"{what} is of type {kind}: pass an array, a list, or columns of a data frame."
        )
    if cells.dtype.kind == "c":
        raise ValueError(
            f"Complex data not supported: pass the real and imaginary parts of {what} as columns "
            "of their own."
        )
    return values


def without_mask(values: np.ma.MaskedArray[Any, Any]) -> np.ndarray[Any, Any]:
    """The values of a masked array, NaN or None where they are masked."""
    if not np.ma.is_masked(values):
        return np.asarray(values.data)
    kind = values.dtype.kind
    out = values.data.astype(values.dtype if kind in "fc" else float if kind in "biu" else object)
    out[np.ma.getmaskarray(values)] = np.nan if out.dtype.kind in "fc" else None
    return np.asarray(out)
