"""Rows and columns of a table, whatever holds it."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradsift._typing import Array, IntArray, Source
from gradsift.data import source
from gradsift.data.lazy import refuse_lazy


def take_rows(X: Any, rows: IntArray) -> Any:
    """Rows of an array or a data frame (pandas, polars); names of columns are kept."""
    if isinstance(X, Source):
        return source.take_rows(X, rows)
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    refuse_lazy(X)
    return X[rows] if hasattr(X, "columns") else np.asarray(X)[rows]


def take_columns(X: Any, columns: IntArray) -> Array:
    """A few columns of an array or a data frame as numbers."""
    if isinstance(X, Source):
        return X.columns(columns)
    refuse_lazy(X)
    values = X.iloc[:, columns] if hasattr(X, "iloc") else np.asarray(X)[:, columns]
    return np.asarray(values, dtype=float)
