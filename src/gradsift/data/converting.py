"""A wide CSV, read once, becomes a file that can be read by columns."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from gradsift._run.atomic import scratch_beside
from gradsift._run.extras import require
from gradsift._typing import Array
from gradsift.data.cells import numbers_of
from gradsift.data.formats.arrow import WAS_TEXT
from gradsift.data.formats.zarr import NAMES, TARGET
from gradsift.data.missing import is_missing, to_number
from gradsift.data.source import windows
from gradsift.data.text import TextTable, read_text

CHUNK_BYTES = 16 << 20
"""Values held at a time: rows on their way in, columns on their way out."""


@dataclass(frozen=True)
class Converted:
    """What `convert` wrote."""

    path: str
    n_rows: int
    names: tuple[str, ...]
    """Columns of X, the response not among them."""
    notes: tuple[str, ...] = ()
    """What was decided while reading."""


def convert(
    csv: Any,
    out: Any,
    *,
    target: str | None = None,
    drop: Sequence[str] = (),
    separator: str | None = None,
    dtype: str = "float32",
) -> Converted:
    """Turn a wide CSV or TSV into a column-chunked Zarr array or a Parquet file, streaming.

    The text is read once, row by row; the table is never held. Nothing is left behind when it
    fails: the result appears under its name when it is complete.

    Parameters
    ----------
    csv : path
        Text with a header; ``.gz`` is unpacked on the way.
    out : path
        Ends in ``.zarr`` or ``.parquet``.
    target : str, optional
        The response: any type, kept beside X. ``fit(out, target)`` finds it again.
    drop : list of str
        Columns to leave out, e.g. identifiers.
    separator : str, optional
        None = a tab for ``.tsv``; else the one of comma, semicolon and tab the header has most of.
    dtype : {'float32', 'float64'}, default='float32'

    Returns
    -------
    converted : Converted
        ``path``, ``n_rows``, ``names`` and ``notes``.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from gradsift.data import open_source
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "t.csv").write_text("id,a,b,y\\np1,1,2,yes\\np2,,5,no\\n")
    >>> done = convert(folder / "t.csv", folder / "t.zarr", target="y", drop=["id"])
    >>> done.names, open_source(done.path).columns(np.array([1])).ravel().tolist()
    (('a', 'b'), [2.0, 5.0])
    """
    destination = Path(os.fspath(out))
    writers: dict[str, Callable[..., int]] = {".zarr": write_zarr, ".parquet": write_parquet}
    if destination.suffix not in writers:
        raise ValueError(f"out={str(out)!r}: expected a path ending in .zarr or .parquet.")
    if dtype not in ("float32", "float64"):
        raise ValueError(f"dtype={dtype!r}: use 'float32' or 'float64'.")
    if destination.exists():
        raise FileExistsError(f"{str(out)!r} exists already: remove it or choose another name.")
    if target is not None and target in drop:
        raise ValueError(f"{target!r} is the target and among the columns to drop: choose one.")
    with scratch_beside(destination) as folder:

        def write(text: TextTable) -> tuple[int, tuple[str, ...]]:
            table = Table(text, target, drop, np.dtype(dtype))
            return writers[destination.suffix](table, folder), tuple(table.names)

        (n, names), notes = read_text(csv, write, separator)
        os.replace(folder / f"result{destination.suffix}", destination)
    return Converted(str(destination), n, names, notes)


class Table:
    """The rows of a text file as numbers, a chunk at a time; the response is put aside."""

    def __init__(
        self, text: TextTable, target: str | None, drop: Sequence[str], dtype: Any
    ) -> None:
        self.text, self.path, self.dtype, self.target = text, text.name, dtype, target
        header = text.header
        absent = [n for n in [*drop, *([target] if target else [])] if n not in header]
        if absent:
            raise ValueError(f"{self.path!r} has no column {absent[0]!r}.")
        left_out = {*drop, target}
        self.kept = [k for k, name in enumerate(header) if name not in left_out]
        self.names = [header[k] for k in self.kept]
        self.at = header.index(target) if target else None
        self.response: list[str | None] = []
        if not self.names:
            raise ValueError(f"{self.path!r}: no column is left.")

    def chunks(self) -> Iterator[Array]:
        """(rows, p) arrays of at most `CHUNK_BYTES`."""
        most = max(1, CHUNK_BYTES // (self.dtype.itemsize * len(self.names)))
        rows: list[Array] = []
        every = len(self.kept) == len(self.text.header)
        for line, cells, underscore in self.text.rows():
            if self.at is not None:
                said = cells[self.at]
                self.response.append(None if is_missing(said) else said.strip())
            chosen = cells if every else [cells[k] for k in self.kept]
            row, texts = numbers_of(chosen, underscore)
            if texts:
                self.refuse(self.names[texts[0]], chosen[texts[0]], line)
            rows.append(row.astype(self.dtype))
            if len(rows) == most:
                yield np.array(rows)
                rows = []
        if rows:
            yield np.array(rows)

    def refuse(self, name: str, text: str, line: int) -> NoReturn:
        raise ValueError(
            f"{self.path!r}, line {line}: column {name!r} holds text ({text.strip()!r}). Leave it "
            f"out with drop=[{name!r}], name it as the target, or encode it as numbers first."
        )

    def values(self) -> list[Any]:
        """The response: numbers where every entry is one; None where it is missing."""
        found = [None if v is None else to_number(v) for v in self.response]
        numeric = all(v is None or f is not None for v, f in zip(self.response, found))
        return found if numeric else list(self.response)


def write_zarr(table: Table, folder: Path) -> int:
    """Rows to a scratch file, then columns from there: two levels of blocks."""
    zarr = require("zarr", "big", "writing Zarr")
    rows = folder / "rows"
    n, p = 0, len(table.names)
    with rows.open("wb") as scratch:
        for chunk in table.chunks():
            scratch.write(chunk.tobytes())
            n += len(chunk)
    if n == 0:
        raise ValueError(f"{table.path!r} has a header but no rows.")
    width = min(p, max(1, CHUNK_BYTES // (table.dtype.itemsize * n)))
    stored = zarr.create_array(
        str(folder / "result.zarr"), shape=(n, p), chunks=(n, width), dtype=table.dtype
    )
    mapped = np.memmap(rows, dtype=table.dtype, mode="r", shape=(n, p))
    for where in windows(p, width):
        stored[:, where] = mapped[:, where]
    stored.attrs[NAMES] = table.names
    if table.target is not None:
        stored.attrs[TARGET] = {table.target: table.values()}
    return n


def write_parquet(table: Table, folder: Path) -> int:
    """Each chunk of rows is a row group, stored by columns inside."""
    pa = require("pyarrow", "big", "writing Parquet")
    pq = require("pyarrow.parquet", "big", "writing Parquet")
    kind = pa.from_numpy_dtype(table.dtype)
    fields = [pa.field(name, kind) for name in table.names]
    if table.target is not None:
        fields.append(pa.field(table.target, pa.string(), metadata=WAS_TEXT))
    schema, n = pa.schema(fields), 0
    with pq.ParquetWriter(folder / "result.parquet", schema, write_statistics=False) as writer:
        for chunk in table.chunks():
            columns = [pa.array(column) for column in np.ascontiguousarray(chunk.T)]
            if table.target is not None:
                columns.append(pa.array(table.response[n : n + len(chunk)], pa.string()))
            writer.write_table(pa.table(columns, schema=schema))
            n += len(chunk)
    if n == 0:
        raise ValueError(f"{table.path!r} has a header but no rows.")
    return n
