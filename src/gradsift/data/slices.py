"""Rows and columns of a table, whatever holds it."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradsift.data import source
from gradsift.data.arrays import array_like
from gradsift.data.responses import to_floats
from gradsift.protocols import Array, IntArray, Source


def take_rows(X: Any, rows: IntArray) -> Any:
    """Rows of an array or a data frame (pandas, polars); names of columns are kept."""
    if isinstance(X, Source):
        return source.take_rows(X, rows)
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    X = array_like(X)
    return X[rows] if hasattr(X, "columns") else np.asarray(X)[rows]


def take_columns(X: Any, columns: IntArray) -> Array:
    """A few columns of an array or a data frame as numbers."""
    if isinstance(X, Source):
        return X.columns(columns)
    return to_floats(X.iloc[:, columns] if hasattr(X, "iloc") else np.asarray(X)[:, columns], "X")


def check_rows(X: Any, y: Any) -> None:
    """Refuse a table that has no row for each response."""
    shape = X.shape if hasattr(X, "shape") else np.shape(array_like(X))
    if len(shape) != 2 or shape[0] != len(y):
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: {[*shape[:1], len(y)]}. "
            f"X has shape {tuple(shape)}: need ({len(y)}, p), a row for each value of y."
        )
