"""A wide text table, read once, becomes a file that can be read by columns."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradsift._run.atomic import scratch_next_to
from gradsift._run.extras import require
from gradsift._run.suggest import did_you_mean
from gradsift.data.categories import number_text
from gradsift.data.cells import Cells, read_table
from gradsift.data.formats.zarr import COMPLETE, IDS, NAMES, TARGET
from gradsift.data.missing import to_number
from gradsift.data.read_options import PLAIN, ReadOptions
from gradsift.data.source import windows
from gradsift.data.text import TextTable, check_names
from gradsift.protocols import Array, IntArray

CHUNK_BYTES = 16 << 20
"""Values held at a time: rows on their way in, columns on their way out."""
PACKAGES = {".zarr": "zarr", ".parquet": "pyarrow"}


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
    id: str | None = None,
    options: ReadOptions = PLAIN,
    dtype: str = "float32",
) -> Converted:
    """Turn a wide CSV or TSV into a column-chunked Zarr array or a Parquet file, streaming.

    The text is read once, a block of rows at a time; the table is never held. Nothing is left
    behind when it fails: the result appears under its name when it is complete.

    Parameters
    ----------
    csv : path
        Text with a header; ``.gz`` is unpacked on the way.
    out : path
        Ends in ``.zarr`` or ``.parquet``.
    target : str, optional
        The response: any type, kept next to X. ``fit(out, target)`` finds it again.
    drop : list of str
        Columns to leave out.
    id : str, optional
        The column that names the rows; without it, the first column if it holds texts, all
        different. Zarr keeps the names next to X.
    options : ReadOptions
        How the table is written: delimiter, decimal mark, variables in rows, ...
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
    >>> done = convert(folder / "t.csv", folder / "t.zarr", target="y")
    >>> done.names, open_source(done.path).columns(np.array([1])).ravel().tolist()
    (('a', 'b'), [2.0, 5.0])
    """
    destination = Path(os.fspath(out))
    writers: dict[str, Callable[..., None]] = {".zarr": write_zarr, ".parquet": write_parquet}
    if destination.suffix not in writers:
        raise ValueError(f"out={str(out)!r}: expected a path ending in .zarr or .parquet.")
    require(PACKAGES[destination.suffix], "big", f"writing {destination.suffix}")
    if dtype not in ("float32", "float64"):
        raise ValueError(f"dtype={dtype!r}: use 'float32' or 'float64'.")
    if destination.exists():
        raise FileExistsError(f"{str(out)!r} exists already: remove it or choose another name.")
    if target is not None and target in drop:
        raise ValueError(f"{target!r} is the target and among the columns to drop: choose one.")
    with (
        scratch_next_to(destination) as folder,
        (folder / "numbers").open("wb") as scratch,
    ):
        table, cells, notes = read_table(csv, options, scratch=scratch)
        if id is None and not options.transpose and names_rows(table, cells):
            id = cells.header[0] if cells.header[0] not in (target, *drop) else None
        found = columns_of(table, cells, target, drop, id)
        if options.transpose:
            found = replace(found, ids=table.header[1:])
        result = folder / f"result{destination.suffix}"
        writers[destination.suffix](result, found, np.dtype(dtype))
        os.replace(result, destination)
    if found.id is not None:
        notes = (*notes, f"{found.id!r} names the rows")
    return Converted(str(destination), len(found.X), found.names, notes)


@dataclass(frozen=True)
class Columns:
    """What a text table holds, by the roles of its columns.

    Attributes
    ----------
    X : (n, k) array
        All columns of numbers, as they are on disk.
    kept : int array
        Those of them that are variables.
    names : tuple of str
        Of the variables.
    target : str, optional
    y : (n,) array, optional
        Numbers, or texts; NaN or None where they are missing.
    id : str, optional
        The column that names the rows.
    ids : sequence of str, optional
    """

    X: Array
    kept: IntArray
    names: tuple[str, ...]
    target: str | None
    y: NDArray[Any] | None
    id: str | None
    ids: Sequence[str] | None


def columns_of(
    table: TextTable, cells: Cells, target: str | None, drop: Sequence[str], id: str | None
) -> Columns:
    """The columns of a text table by their roles; refused where a variable holds text."""
    header, texts, file = cells.header, cells.texts, table.name
    check_names(header)
    asked = [*drop, *(name for name in (target, id) if name is not None)]
    if absent := [name for name in asked if name not in header]:
        raise ValueError(f"{file!r} has no column {absent[0]!r}.{did_you_mean(absent[0], header)}")
    numbered = {k: j for j, k in enumerate(k for k in range(len(header)) if k not in texts)}

    def column(name: str) -> NDArray[Any]:
        k = header.index(name)
        return texts[k] if k in texts else np.asarray(cells.numbers[:, numbered[k]])

    aside = {target, id, *drop}
    if odd := [k for k in texts if header[k] not in aside]:
        raise holds_text(table, cells, odd[0])
    kept = [k for k in numbered if header[k] not in aside]
    if not kept:
        raise ValueError(f"{file!r}: no column is left.")
    return Columns(
        cells.numbers,
        np.array([numbered[k] for k in kept], dtype=np.intp),
        tuple(header[k] for k in kept),
        target,
        None if target is None else column(target),
        id,
        None if id is None else [v if isinstance(v, str) else number_text(v) for v in column(id)],
    )


def names_rows(table: TextTable, cells: Cells) -> bool:
    """Whether the first column names the rows: by texts with letters that differ, or, where it has
    no name itself, by numbers that count them.
    """
    if 0 not in cells.texts:
        return table.row_names and counts_rows(cells.numbers[:, 0])
    first = cells.texts[0].tolist()
    named = all(
        v and to_number(v, table.options) is None and any(map(str.isalpha, v)) for v in first
    )
    return named and len(set(first)) == len(first)


def counts_rows(values: Array) -> bool:
    """Whether numbers are 0, 1, 2, ... or 1, 2, 3, ..."""
    return bool(len(values) and values[0] in (0, 1) and (np.diff(values) == 1).all())


def holds_text(table: TextTable, cells: Cells, k: int) -> ValueError:
    """A column that is no variable, with its first cell that is no number."""
    column, options = cells.texts[k].tolist(), table.options
    row = next(i for i, v in enumerate(column) if to_number(v, options) is None)
    line = cells.lines[k if options.transpose else row]
    return ValueError(
        f"{table.name!r}, line {line}: column {cells.header[k]!r} holds text ({column[row]!r}). "
        "Name texts that mean missing (na), leave the column out (drop), or say that it names the "
        "rows (id)."
    )


def write_zarr(path: Path, found: Columns, dtype: np.dtype[Any]) -> None:
    """Whole columns, a chunk of them at a time."""
    zarr = require("zarr", "big", "writing Zarr")
    n, p = len(found.X), len(found.kept)
    width = min(p, max(1, CHUNK_BYTES // (dtype.itemsize * n)))
    stored = zarr.create_array(
        str(path), shape=(n, p), chunks=(n, width), dtype=dtype,
        config={"write_empty_chunks": True},
    )  # fmt: skip
    for where in windows(p, width):
        stored[:, where] = found.X[:, found.kept[where]].astype(dtype)
    stored.attrs[COMPLETE] = True
    stored.attrs[NAMES] = list(found.names)
    if found.ids is not None:
        stored.attrs[IDS] = list(found.ids)
    if found.y is not None:
        y = [None if value != value else value for value in found.y.tolist()]
        stored.attrs[TARGET] = {found.target: y}


def write_parquet(path: Path, found: Columns, dtype: np.dtype[Any]) -> None:
    """Each chunk of rows is a row group, stored by columns inside."""
    pa = require("pyarrow", "big", "writing Parquet")
    pq = require("pyarrow.parquet", "big", "writing Parquet")
    fields = [pa.field(name, pa.from_numpy_dtype(dtype)) for name in found.names]
    if found.y is not None:
        kind = pa.string() if found.y.dtype.kind == "O" else pa.float64()
        fields.append(pa.field(found.target, kind))
    schema, n = pa.schema(fields), len(found.X)
    with pq.ParquetWriter(path, schema, write_statistics=False) as writer:
        for rows in windows(n, max(1, CHUNK_BYTES // (dtype.itemsize * len(found.kept)))):
            block = found.X[rows][:, found.kept].astype(dtype)
            columns = [pa.array(column) for column in np.ascontiguousarray(block.T)]
            if found.y is not None:
                columns.append(pa.array(found.y[rows], kind, from_pandas=True))
            writer.write_table(pa.table(columns, schema=schema))
