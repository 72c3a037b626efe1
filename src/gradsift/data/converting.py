"""A wide text table, read once, becomes a file that can be read by columns."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any

import numpy as np

from gradsift._run.atomic import scratch_beside
from gradsift._run.extras import require
from gradsift.data.cells import no_rows, numbers_of, variable_rows
from gradsift.data.formats.arrow import WAS_TEXT
from gradsift.data.formats.zarr import COMPLETE, IDS, NAMES, TARGET
from gradsift.data.missing import is_missing, to_number
from gradsift.data.number_advice import OddCells, as_argument, fitting_flags, odd_cells, told
from gradsift.data.read_options import PLAIN, ReadOptions
from gradsift.data.source import windows
from gradsift.data.text import CellBlock, TextTable, check_names, read_text
from gradsift.protocols import Array

CHUNK_BYTES = 16 << 20
"""Values held at a time: rows on their way in, columns on their way out."""
ENOUGH = 100_000
"""Cells that are no numbers after which no more is read for the message."""
PACKAGES = {".zarr": "zarr", ".parquet": "pyarrow"}
MOST_KEPT = 20
"""Cells that are no numbers, kept for the message."""


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
        The response: any type, kept beside X. ``fit(out, target)`` finds it again.
    drop : list of str
        Columns to leave out.
    id : str, optional
        The column that names the rows; without it, the first column if it holds texts, all
        different. Zarr keeps the names beside X.
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
    with scratch_beside(destination) as folder:

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
    """What is kept of a text table beside its numbers, which are in a scratch file.

    Attributes
    ----------
    shape : (int, int)
        Of the numbers as they were written, rows of the file first.
    names : list of str
        Variables.
    response, ids : list of str
        As they are written.
    odd : dict
        Variable -> [(place, cell)] of some cells that are no numbers; `counts` has their number.
    """

    shape: tuple[int, int] = (0, 0)
    names: list[str] = field(default_factory=list)
    response: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    odd: dict[str, list[tuple[str, str]]] = field(default_factory=lambda: defaultdict(list))
    counts: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    def met(self, name: str, place: str, cell: str) -> None:
        """Take note of a cell that is no number."""
        self.counts[name] += 1
        if len(self.odd[name]) < MOST_KEPT:
            self.odd[name].append((place, cell))

    def problem(self, name: str, n_rows: int) -> OddCells | str:
        """What is wrong with a variable that holds text."""
        count, cells = self.counts[name], list({c: (p, c) for p, c in self.odd[name]}.values())
        if 2 * count <= n_rows or fitting_flags([cell for _, cell in cells]):
            return OddCells(name, n_rows, (), cells, count)
        place, cell = cells[0]
        it = as_argument(name)
        return (
            f"column {name!r} holds text ({cell!r}, {place}): give --drop {it}, --id {it} or "
            f"--target {it}, or encode it as numbers first."
        )


def gathered(text: TextTable, roles: Roles, dtype: Any, scratch: IO[bytes]) -> Gathering:
    """Numbers to a scratch file, all else in memory; refused where variables hold text."""
    found = Gathering()
    chunks = _variables(text, roles, found) if text.options.transpose else _rows(text, roles, found)
    n = 0
    for chunk in chunks:
        if not found.odd:  # once there is text, the rest is read for the message only
            scratch.write(chunk.astype(dtype).tobytes())
        n += len(chunk)
        if sum(found.counts.values()) > ENOUGH:
            break
    if n == 0:
        raise no_rows(text.name)
    scratch.flush()
    if found.odd:
        n_cells = len(text.header) - 1 if text.options.transpose else n
        problems = [(name, found.problem(name, n_cells)) for name in found.odd]
        raise ValueError(
            f"{text.name!r}: {told(problems, *([f'--drop {as_argument(n)}'] for n in found.odd))}"
        )
    found.shape = (n, len(text.header) - 1 if text.options.transpose else len(found.names))
    return found


def _rows(text: TextTable, roles: Roles, found: Gathering) -> Iterator[Array]:
    """Blocks of rows, variables side by side."""
    pl = require("polars", "cli", "reading text tables")
    header, width = text.header, len(text.header)
    roles.check(header, text.name)
    kept = np.zeros(width, dtype=bool)
    for block in text.blocks():
        n = len(block.lines)
        if n == 0:
            continue
        if not found.names:
            roles = replace(roles, id=roles.id or _row_names(text, block, roles))
            kept[:] = [name not in roles.aside for name in header]
            found.names = [name for name in header if name not in roles.aside]
            if not found.names:
                raise ValueError(f"{text.name!r}: no column is left.")
        found.response += _column(block, header, roles.target)
        found.ids += _column(block, header, roles.id)
        cells = block.cells.filter(pl.Series(np.tile(kept, n)))
        values, odd = numbers_of(cells, text.options)
        for k in np.flatnonzero(odd):
            row, at = divmod(int(k), len(found.names))
            found.met(found.names[at], f"line {block.lines[row]}", cells[int(k)].strip())
        yield values.reshape(n, -1)
    if roles.id is not None and len(set(found.ids)) < len(found.ids):
        it = as_argument(roles.id)
        raise ValueError(
            f"{text.name!r}: column {roles.id!r} holds text that does not name the rows, because "
            f"some is repeated: give --drop {it} or --target {it}, or encode it as numbers first."
        )
    if roles.id is not None:
        found.notes.append(f"{roles.id!r} names the rows (its texts all differ)")


def _column(block: CellBlock, header: Sequence[str], name: str | None) -> list[str]:
    if name is None:
        return []
    cells = block.cells.gather_every(len(header), header.index(name)).to_list()
    return [cell.strip() for cell in cells]


def _row_names(text: TextTable, block: CellBlock, roles: Roles) -> str | None:
    """The first column, if it has texts that are no numbers, all different, in the first rows."""
    first = text.header[0]
    if first in roles.aside:
        return None
    cells = _column(block, text.header, first)
    if text.row_names and cells[:2] in (["0", "1"], ["1", "2"]):
        return first
    texts = [to_number(cell, text.options) is None for cell in cells]
    odd = odd_cells(first, cells, str, text.options)
    return first if all(texts) and odd is None and len(set(cells)) == len(cells) else None


def _variables(text: TextTable, roles: Roles, found: Gathering) -> Iterator[Array]:
    """Blocks of a table with variables in rows: one row each, samples side by side."""
    width, others = len(text.header), set()
    found.ids = list(text.header[1:])
    for block, names, values, text_rows in variable_rows(text):
        kept = []
        for k, name in enumerate(names):
            if name in roles.aside:
                others.add(name)
                if name == roles.target:
                    cells = block.cells.slice(k * width + 1, width - 1).to_list()
                    found.response = [cell.strip() for cell in cells]
                continue
            kept.append(k)
            found.names.append(name)
            for cell in (
                block.cells.slice(k * width + 1, width - 1).to_list() if k in text_rows else ()
            ):
                if to_number(cell, text.options) is None:
                    found.met(name, f"line {block.lines[k]}", cell.strip())
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
