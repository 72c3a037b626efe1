"""A wide text table, read once, becomes a file that can be read by columns."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any

import numpy as np

from gradsift._run.atomic import scratch_next_to
from gradsift._run.extras import require
from gradsift.data.cells import CellNumbers, no_rows, variable_rows
from gradsift.data.formats.arrow import WAS_TEXT
from gradsift.data.formats.zarr import COMPLETE, IDS, NAMES, TARGET
from gradsift.data.missing import is_missing, to_number
from gradsift.data.read_options import PLAIN, ReadOptions
from gradsift.data.source import windows
from gradsift.data.text import Block, TextTable, check_names, read_text
from gradsift.protocols import Array

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
    with scratch_next_to(destination) as folder:

        def gather(text: TextTable) -> Gathering:
            with (folder / "numbers").open("wb") as scratch:
                return gathered(text, Roles(target, frozenset(drop), id), np.dtype(dtype), scratch)

        found, notes = read_text(csv, gather, options)
        mapped = np.memmap(folder / "numbers", dtype=dtype, mode="r", shape=found.shape)
        X = mapped.T if options.transpose else mapped
        result = folder / f"result{destination.suffix}"
        writers[destination.suffix](result, X, found, target, response_values(found, options))
        os.replace(result, destination)
    return Converted(str(destination), len(X), tuple(found.names), (*notes, *found.notes))


@dataclass(frozen=True)
class Roles:
    """Columns that are no variables."""

    target: str | None
    drop: frozenset[str]
    id: str | None

    def check(self, header: Sequence[str], file: str) -> None:
        there = set(header)
        asked = [*sorted(self.drop), *(n for n in (self.target, self.id) if n is not None)]
        absent = [name for name in asked if name not in there]
        if absent:
            raise ValueError(f"{file!r} has no column {absent[0]!r}.")

    @property
    def aside(self) -> set[str | None]:
        return {*self.drop, self.target, self.id}


@dataclass
class Gathering:
    """What is kept of a text table, but for its numbers, which are in a scratch file.

    Attributes
    ----------
    shape : (int, int)
        Of the numbers as they were written, rows of the file first.
    names : list of str
        Variables.
    response, ids : list of str
        As they are written.
    """

    shape: tuple[int, int] = (0, 0)
    names: list[str] = field(default_factory=list)
    response: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def holds_text(file: str, name: str, cell: str, line: int) -> ValueError:
    return ValueError(
        f"{file!r}, line {line}: column {name!r} holds text ({cell.strip()!r}). Name texts that "
        "mean missing (na), leave the column out (drop), or say that it names the rows (id)."
    )


def gathered(text: TextTable, roles: Roles, dtype: Any, scratch: IO[bytes]) -> Gathering:
    """Numbers to a scratch file, all else in memory; refused where variables hold text."""
    found = Gathering()
    chunks = _variables(text, roles, found) if text.options.transpose else _rows(text, roles, found)
    n = 0
    for chunk in chunks:
        scratch.write(chunk.astype(dtype).tobytes())
        n += len(chunk)
    if n == 0:
        raise no_rows(text.name)
    scratch.flush()
    found.shape = (n, len(text.header) - 1 if text.options.transpose else len(found.names))
    return found


def _rows(text: TextTable, roles: Roles, found: Gathering) -> Iterator[Array]:
    """Blocks of rows, variables side by side."""
    header, reader = text.header, CellNumbers(text.options)
    roles.check(header, text.name)
    for block in text.blocks():
        if not found.names:
            roles = replace(roles, id=roles.id or _row_names(text, block, roles))
            kept = [k for k, name in enumerate(header) if name not in roles.aside]
            found.names = [header[k] for k in kept]
            if not found.names:
                raise ValueError(f"{text.name!r}: no column is left.")
        found.response += _column(block, header, roles.target)
        found.ids += _column(block, header, roles.id)
        values, odd = reader.of(block, kept)
        for place in odd[:1].tolist():
            row, k = divmod(place, len(kept))
            cells, line = block.records[row]
            raise holds_text(text.name, header[kept[k]], cells[kept[k]], line)
        yield values
    if roles.id is not None and len(set(found.ids)) < len(found.ids):
        raise ValueError(
            f"{text.name!r}: column {roles.id!r} holds text that does not name the rows, because "
            "some is repeated: leave it out (drop), or encode it as numbers first."
        )
    if roles.id is not None:
        found.notes.append(f"{roles.id!r} names the rows (its texts all differ)")


def _column(block: Block, header: Sequence[str], name: str | None) -> list[str]:
    if name is None:
        return []
    return [cell.strip() for cell in block.cells([header.index(name)])[0]]


def _row_names(text: TextTable, block: Block, roles: Roles) -> str | None:
    """The first column, if it has texts with letters, all different, in the first rows."""
    first = text.header[0]
    if first in roles.aside:
        return None
    cells = _column(block, text.header, first)
    if text.row_names and cells[:2] in (["0", "1"], ["1", "2"]):
        return first
    named = all(
        to_number(cell, text.options) is None and any(map(str.isalpha, cell)) for cell in cells
    )
    return first if named and len(set(cells)) == len(cells) else None


def _variables(text: TextTable, roles: Roles, found: Gathering) -> Iterator[Array]:
    """Blocks of a table with variables in rows: one row each, samples side by side."""
    others = set()
    found.ids = list(text.header[1:])
    for block, names, values, text_rows in variable_rows(text):
        kept = []
        for k, name in enumerate(names):
            if name in roles.aside:
                others.add(name)
                if name == roles.target:
                    found.response = [cell.strip() for cell in block.records[k][0][1:]]
                continue
            if k in text_rows:
                cells, line = block.records[k]
                odd = next(cell for cell in cells[1:] if to_number(cell, text.options) is None)
                raise holds_text(text.name, name, odd, line)
            kept.append(k)
            found.names.append(name)
        yield values[kept]
    check_names(found.names)
    roles.check([*found.names, *others], text.name)


def response_values(found: Gathering, options: ReadOptions) -> list[Any]:
    """The response: numbers where every entry is one; None where it is missing."""
    written = [None if is_missing(v, options) else v for v in found.response]
    numbers = [None if v is None else to_number(v, options) for v in written]
    numeric = all(v is None or x is not None for v, x in zip(written, numbers))
    if numeric:
        return [None if x is None or x in options.codes else x for x in numbers]
    return list(written)


def write_zarr(path: Path, X: Array, found: Gathering, target: str | None, y: list[Any]) -> None:
    """Whole columns, a chunk of them at a time."""
    zarr = require("zarr", "big", "writing Zarr")
    n, p = X.shape
    width = min(p, max(1, CHUNK_BYTES // (X.dtype.itemsize * n)))
    stored = zarr.create_array(
        str(path), shape=(n, p), chunks=(n, width), dtype=X.dtype,
        config={"write_empty_chunks": True},
    )  # fmt: skip
    for where in windows(p, width):
        stored[:, where] = X[:, where]
    stored.attrs[COMPLETE] = True
    stored.attrs[NAMES] = found.names
    if found.ids:
        stored.attrs[IDS] = found.ids
    if target is not None:
        stored.attrs[TARGET] = {target: y}


def write_parquet(path: Path, X: Array, found: Gathering, target: str | None, y: list[Any]) -> None:
    """Each chunk of rows is a row group, stored by columns inside."""
    pa = require("pyarrow", "big", "writing Parquet")
    pq = require("pyarrow.parquet", "big", "writing Parquet")
    kind = pa.from_numpy_dtype(X.dtype)
    fields = [pa.field(name, kind) for name in found.names]
    if target is not None:
        fields.append(pa.field(target, pa.string(), metadata=WAS_TEXT))
    schema = pa.schema(fields)
    texts = [v if v is None or isinstance(v, str) else repr(v) for v in y]
    with pq.ParquetWriter(path, schema, write_statistics=False) as writer:
        for rows in windows(len(X), max(1, CHUNK_BYTES // (X.dtype.itemsize * X.shape[1]))):
            columns = [pa.array(column) for column in np.ascontiguousarray(X[rows].T)]
            if target is not None:
                columns.append(pa.array(texts[rows], pa.string()))
            writer.write_table(pa.table(columns, schema=schema))
