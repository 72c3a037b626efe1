"""Arrow tables, Parquet and Feather files, data sets of several: only the columns asked for."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradsift._run.extras import require
from gradsift._run.suggest import did_you_mean
from gradsift.data.missing import as_response
from gradsift.data.read_errors import file_name, reading
from gradsift.data.source import block_width, positions, windows
from gradsift.exceptions import SkippedColumnsWarning
from gradsift.protocols import Array, IntArray, Source

ARROW = "a Parquet or Arrow table"


@dataclass(frozen=True)
class ArrowSource(Source):
    """Numeric columns of an Arrow data set, by projection; nulls are missing values."""

    dataset: Any
    labels: tuple[str, ...]
    n_rows: int

    @property
    def shape(self) -> tuple[int, int]:
        return self.n_rows, len(self.labels)

    def names(self, index: IntArray | None = None) -> list[str]:
        return list(self.labels) if index is None else [self.labels[k] for k in index]

    def columns(self, index: IntArray) -> Array:
        chosen = [self.labels[k] for k in index]
        out = np.empty((self.n_rows, len(chosen)), order="F")
        if chosen:
            field = require("pyarrow.dataset", "big", "reading this format").field
            # a field of its own name, because a plain string with a dot means a nested column
            wanted = {str(i): field(c) for i, c in enumerate(chosen)}
            with reading("the table", ARROW):
                found = self.dataset.to_table(columns=wanted)
                for k, column in enumerate(found.itercolumns()):
                    out[:, k] = as_floats(column)
        return out

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        n, p = self.shape
        for where in windows(p, block_width(n)):
            yield where, self.columns(positions(where))


def as_floats(column: Any) -> Array:
    """A chunked column as float64, null as NaN."""
    pa = require("pyarrow", "big", "reading this format")
    values = column.cast(pa.float64()) if not pa.types.is_float64(column.type) else column
    return np.asarray(values.to_numpy(), dtype=np.float64)


def open_dataset(X: Any) -> Any:
    """The data set behind a path or several, or around a table."""
    datasets = require("pyarrow.dataset", "big", "reading this format")
    if isinstance(X, (str, os.PathLike)):
        path = os.fspath(X)
        feather = path.lower().rstrip("/").endswith((".feather", ".arrow"))
        if not os.path.exists(path):
            raise FileNotFoundError(f"no such file or folder: {path!r}.")
        with reading(path, ARROW):
            found = datasets.dataset(path, format="feather" if feather else "parquet")
        if not found.files:
            raise ValueError(f"the folder {file_name(path)} holds no table.")
        return found
    if isinstance(X, datasets.Dataset):
        return X
    return datasets.dataset(X)  # a table, or record batches


def is_number(kind: Any) -> bool:
    """Whether an Arrow type is one of numbers or truth values."""
    types = require("pyarrow", "big", "reading this format").types
    number = types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)
    return bool(number or types.is_boolean(kind))


def holds_text(X: Any) -> bool:
    """Whether X is an Arrow table in memory with a column that is not of numbers."""
    return hasattr(X, "column_names") and not all(map(is_number, X.schema.types))


def open(X: Any, *, exclude: Sequence[str] = ()) -> Source:
    """From a path, a pyarrow table or a pyarrow data set: its numeric columns but `exclude`."""
    table = open_dataset(X)
    repeated = [n for n, count in Counter(table.schema.names).items() if count > 1]
    if repeated:
        raise ValueError(f"column names are not unique: {repeated[:5]}. Rename the columns.")
    unknown = [name for name in exclude if name not in table.schema.names]
    if unknown:
        raise ValueError(
            f"no column is called {unknown[0]!r}, so it cannot be left out."
            f"{did_you_mean(unknown[0], table.schema.names)}"
        )
    kept: list[str] = []
    skipped: list[str] = []
    for field in table.schema:
        if field.name in exclude:
            continue
        (kept if is_number(field.type) else skipped).append(field.name)
    if skipped:
        warnings.warn(
            f"left out {len(skipped)} column(s) that hold no numbers: {skipped[:5]}"
            f"{' and others' if len(skipped) > 5 else ''}.",
            SkippedColumnsWarning,
            stacklevel=3,
        )
    labels = tuple(kept)
    with reading(X, ARROW):
        n_rows = table.count_rows()
    return ArrowSource(table, labels, n_rows)


def read_target(X: Any, name: str) -> Any:
    """One column, of any type."""
    table = open_dataset(X)
    if name not in table.schema.names:
        raise ValueError(
            f"y={name!r}: the table has no such column.{did_you_mean(name, table.schema.names)}"
        )
    field = require("pyarrow.dataset", "big", "reading this format").field
    with reading(X, ARROW):
        return as_response(table.to_table(columns={"y": field(name)})["y"].to_numpy())
