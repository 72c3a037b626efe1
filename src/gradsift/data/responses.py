"""Numbers and labels that users pass, one or more for each row."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradsift.data.arrays import array_like
from gradsift.data.categories import holds_times
from gradsift.data.missing import is_null, known
from gradsift.protocols import Array


def refuse_times(values: object, what: str) -> None:
    """Refuse an array of dates or times, which NumPy would turn into numbers of some unit."""
    if isinstance(values, np.ndarray) and holds_times(values):
        raise ValueError(
            f"{what} holds dates or times: turn it into numbers first, such as days since a start."
        )


def to_floats(values: object, what: str) -> Array:
    """Numbers as float64, refused where a value is none. A single number is an array of none.

    Examples
    --------
    >>> to_floats([1, None], "y").tolist()
    [1.0, nan]
    """
    cells = np.asarray(values if isinstance(values, Real) else array_like(values, what))
    refuse_times(cells, what)
    try:
        return np.asarray(cells, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        row, cell = odd_cell(cells)
        raise ValueError(
            f"{what} holds values that are not numbers, or too large for one: {cell!r:.60} in row "
            f"{row}."
        ) from None


def odd_cell(cells: NDArray[Any]) -> tuple[int, Any]:
    """The first row with a cell that is no number, and that cell; (-1, None) where there is none.

    Examples
    --------
    >>> odd_cell(np.array([2.5, None, "3", "three"], dtype=object))
    (3, 'three')
    """
    for row, group in enumerate(cells.reshape(len(cells), -1).tolist()):
        for cell in group:
            try:
                nested = isinstance(cell, np.ndarray)
                float(0.0 if is_null(cell) else cell)
            except (TypeError, ValueError, OverflowError):
                nested = True
            if nested:
                return row, cell
    return -1, None


def other_kind(cells: NDArray[Any]) -> int:
    """The first row that is no text where others are, or that is no number; -1 without one."""
    texts = [isinstance(cell, str) for cell in cells.tolist()]
    if len(set(texts)) > 1:
        return texts.index(not texts[0])
    return -1 if all(texts) else odd_cell(cells)[0]


def check_all_known(y: Any) -> Any:
    """Responses as they are, refused where one is missing (None, NaN, NaT, NA, or masked), or where
    they are no column of numbers or of texts.
    """
    if y is None or isinstance(y, str):
        what = "the target y is None" if y is None else f"y={y!r} names a column and X has none"
        raise ValueError(f"this call requires y to be passed, but {what}: pass one value per row.")
    y = array_like(y, "y")
    plain = isinstance(getattr(y, "dtype", None), np.dtype)
    cells = np.asarray(y, dtype=None if plain else object)
    if cells.ndim > 2 or (cells.ndim == 2 and cells.shape[1] != 1):
        raise ValueError(
            f"y should be a 1d array, got an array of shape {cells.shape} instead: fit one "
            "model to each column, as MultiOutputClassifier and MultiOutputRegressor of "
            "scikit-learn do."
        )
    cells = cells.ravel()
    there = known(cells, texts=False)
    if not there.all():
        raise ValueError(
            f"Input y contains NaN: {(~there).sum()} of the {len(there)} values of y are missing, "
            f"the first in row {int(np.argmin(there))}. Leave those rows out of X and y, e.g. "
            "X[known], y[known] with known = pandas.notna(y)."
        )
    refuse_times(cells, "y")
    row = other_kind(cells) if cells.dtype.kind == "O" else -1
    if row >= 0:
        raise ValueError(
            f"y holds {cells[row]!r:.60} in row {row}: a response is all numbers or all texts."
        )
    return y.astype(object) if cells.dtype.kind == "T" else y
