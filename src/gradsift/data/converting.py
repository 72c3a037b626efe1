"""A wide CSV, read once, becomes a file that can be read by columns."""

from __future__ import annotations

import gzip
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from gradsift._run.atomic import scratch_beside
from gradsift._typing import Array
from gradsift.data.formats.zarr import NAMES, TARGET
from gradsift.data.opening import needs
from gradsift.data.source import windows

CHUNK_BYTES = 16 << 20
"""Values held at a time: rows on their way in, columns on their way out."""
MISSING = frozenset({"", "na", "nan", "n/a", "null", "none", "."})


@dataclass(frozen=True)
class Converted:
    """What `convert` wrote."""

    path: str
    n_rows: int
    names: tuple[str, ...]
    """Columns of X, the response not among them."""


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
        Text with a header line; ``.gz`` is unpacked on the way.
    out : path
        Ends in ``.zarr`` or ``.parquet``.
    target : str, optional
        The response: any type, kept beside X. ``fit(out, target)`` finds it again.
    drop : list of str
        Columns to leave out, e.g. identifiers.
    separator : str, optional
        None = a tab if the header has one, else a comma.
    dtype : {'float32', 'float64'}, default='float32'

    Returns
    -------
    converted : Converted
        ``path``, ``n_rows`` and ``names``.

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
    with open_text(csv) as lines, scratch_beside(destination) as folder:
        table = Table(lines, os.fspath(csv), target, drop, separator, np.dtype(dtype))
        n = writers[destination.suffix](table, folder)
        os.replace(folder / f"result{destination.suffix}", destination)
    return Converted(str(destination), n, tuple(table.names))


@contextmanager
def open_text(path: Any) -> Iterator[IO[str]]:
    name = os.fspath(path)
    opener = gzip.open if name.endswith(".gz") else open
    with opener(name, "rt", encoding="utf-8-sig", newline=None) as lines:
        yield lines


class Table:
    """The rows of a CSV as numbers, a chunk at a time; the response is put aside."""

    def __init__(
        self,
        lines: IO[str],
        path: str,
        target: str | None,
        drop: Sequence[str],
        separator: str | None,
        dtype: Any,
    ) -> None:
        header = lines.readline().rstrip("\r\n")
        self.separator = separator or ("\t" if "\t" in header else ",")
        self.lines, self.path, self.dtype, self.target = lines, path, dtype, target
        self.header = [unquote(name) for name in header.split(self.separator)]
        repeated = [name for name, count in Counter(self.header).items() if count > 1]
        if repeated:
            raise ValueError(f"column names are not unique: {repeated[:5]}. Rename the columns.")
        absent = [n for n in [*drop, *([target] if target else [])] if n not in self.header]
        if absent:
            raise ValueError(f"{path!r} has no column {absent[0]!r}.")
        left_out = {*drop, target}
        self.out = sorted((k for k, n in enumerate(self.header) if n in left_out), reverse=True)
        self.names = [name for name in self.header if name not in left_out]
        self.at = self.header.index(target) if target else None
        self.response: list[str] = []
        if not self.names:
            raise ValueError(f"{path!r}: no column is left.")

    def chunks(self) -> Iterator[Array]:
        """(rows, p) arrays of at most `CHUNK_BYTES`."""
        most = max(1, CHUNK_BYTES // (self.dtype.itemsize * len(self.names)))
        rows: list[Array] = []
        for number, line in enumerate(self.lines, start=2):
            if line.strip():
                rows.append(self.parse(line, number))
            if len(rows) == most:
                yield np.array(rows)
                rows = []
        if rows:
            yield np.array(rows)

    def parse(self, line: str, number: int) -> Array:
        fields = line.rstrip("\r\n").split(self.separator)
        if len(fields) != len(self.header):
            raise ValueError(
                f"{self.path!r}, line {number}: {len(fields)} fields, but the header has "
                f"{len(self.header)}. Fields that contain the separator are not supported."
            )
        if self.at is not None:
            self.response.append(unquote(fields[self.at]))
        for k in self.out:  # from the back, so that the numbers stay valid
            del fields[k]
        try:
            return np.array([float(f) for f in fields], dtype=self.dtype)
        except ValueError:  # quotes, holes, or text: look at each field
            values = [self.number(f, k, number) for k, f in enumerate(fields)]
            return np.array(values, dtype=self.dtype)

    def number(self, text: str, column: int, line: int) -> float:
        text = unquote(text)
        if text.lower() in MISSING:
            return float("nan")
        try:
            return float(text)
        except ValueError:
            raise ValueError(
                f"{self.path!r}, line {line}: column {self.names[column]!r} holds text "
                f"({text!r}). Leave it out with drop=[{self.names[column]!r}], name it as the "
                "target, or encode it as numbers first."
            ) from None

    def values(self) -> Any:
        """The response: numbers where every entry is one."""
        try:
            return np.array([float(v) for v in self.response])
        except ValueError:
            return np.array(self.response)


def unquote(text: str) -> str:
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] == '"' else text


def write_zarr(table: Table, folder: Path) -> int:
    """Rows to a scratch file, then columns from there: two levels of blocks."""
    zarr = needs("zarr", "big")
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
        stored.attrs[TARGET] = {table.target: table.values().tolist()}
    return n


def write_parquet(table: Table, folder: Path) -> int:
    """Each chunk of rows is a row group, stored by columns inside."""
    pa, pq = needs("pyarrow", "big"), needs("pyarrow.parquet", "big")
    kind = pa.from_numpy_dtype(table.dtype)
    fields = [pa.field(name, kind) for name in table.names]
    if table.target is not None:
        fields.append(pa.field(table.target, pa.string()))
    schema, n = pa.schema(fields), 0
    with pq.ParquetWriter(folder / "result.parquet", schema, write_statistics=False) as writer:
        for chunk in table.chunks():
            columns = [pa.array(column) for column in np.ascontiguousarray(chunk.T)]
            if table.target is not None:
                columns.append(pa.array(table.response[n : n + len(chunk)]))
            writer.write_table(pa.table(columns, schema=schema))
            n += len(chunk)
    if n == 0:
        raise ValueError(f"{table.path!r} has a header but no rows.")
    return n
