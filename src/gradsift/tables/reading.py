"""Files to frames: CSV and TSV (also gzipped), Excel, NumPy archives, Parquet, Arrow, Feather."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from gradsift._run.extras import require
from gradsift._run.memory import check_memory
from gradsift._typing import Array
from gradsift.data.cells import Texts
from gradsift.data.damaged import reading
from gradsift.data.formats.arrow import was_text
from gradsift.data.text import Row, check_names, named, read_text
from gradsift.data.unpacking import check_archive
from gradsift.tables.frame import Frame, frame_of, make_frame, read_again, to_column, to_text


def read_frame(path: Path) -> Frame:
    """The table in a file, in memory.

    Parameters
    ----------
    path : Path

    Returns
    -------
    frame : Frame

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "table.csv"
    ...     _ = path.write_text("id,age,dose\\na,31,0.5\\nb,,1.5\\n")
    ...     frame = read_frame(path)
    >>> frame.names, frame.numbers.tolist()
    (('age', 'dose'), [[31.0, 0.5], [nan, 1.5]])
    >>> list(frame.texts)
    ['id']
    """
    reader = reader_for(path)
    if reader is None:
        raise ValueError(
            f"cannot tell the format of {path.name!r}: expected a name ending in "
            f"{', '.join(sorted(READERS))} (CSV and TSV also with .gz)."
        )
    if not path.exists():
        raise FileNotFoundError(f"no such file: {path}")
    return reader(path)


def reader_for(path: Path) -> Callable[[Path], Frame] | None:
    """The function that reads such a file into memory, if any."""
    name = path.name.lower().removesuffix(".gz")
    return READERS.get(Path(name).suffix)


def read_csv(path: Path) -> Frame:
    """A delimited text file with a header."""

    def read(as_text: frozenset[int]) -> Frame:
        frame, notes = read_text(
            path, lambda text: frame_of(text.header, text.rows(), as_text, path.name)
        )
        return replace(frame, notes=notes)

    return read_again(read)


WORKBOOK = "an Excel workbook"
WORKBOOK_COPIES = 5
"""Memory per byte of a workbook's XML: its shared texts are all held as Python objects."""


def read_excel(path: Path) -> Frame:
    """The first sheet of a workbook."""
    openpyxl = require("openpyxl", "cli", "reading Excel files")
    check_archive(path, WORKBOOK, WORKBOOK_COPIES)

    def read(as_text: frozenset[int]) -> Frame:
        with reading(path, WORKBOOK), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # styles and extensions that do not matter here
            book = openpyxl.load_workbook(path, read_only=True, data_only=True)
        try:
            if not book.worksheets:
                raise ValueError(f"{path.name} has no sheet with cells, only charts.")
            rows = _sheet_rows(book.worksheets[0], path)
            first = next(rows, None)
            if first is None:
                raise ValueError(f"the first sheet of {path.name} is empty.")
            header = named(["" if cell is None else str(cell) for cell in first[1]], path.name)
            return frame_of(header, rows, as_text, path.name)
        finally:
            book.close()

    return read_again(read)


def _sheet_rows(sheet: Any, path: Path) -> Iterator[Row]:
    """Rows of a sheet, all as wide as the first, which is the header.

    Empty rows inside the table are rows without a value; those above and below it are none.
    """
    rows = sheet.iter_rows(values_only=True)
    width = blank = 0
    for line in count(1):
        with reading(path, WORKBOOK):
            cells = next(rows, None)
        if cells is None:
            return
        if not any(cell is not None for cell in cells):
            blank += 1 if width else 0
            continue
        for above in range(blank, 0, -1):
            yield line - above, (None,) * width, True
        blank, width = 0, width or len(cells)
        if any(cell is not None for cell in cells[width:]):
            raise ValueError(
                f"{path.name}: line {line} has {len(cells)} cells but the header names {width} "
                "columns."
            )
        yield line, (*cells[:width], *(None,) * (width - len(cells))), True


def read_arrow(path: Path) -> Frame:
    """A Parquet, Arrow or Feather file."""
    parquet = path.suffix.lower() == ".parquet"
    what = "a Parquet file" if parquet else "an Arrow (Feather) file"
    module = require(
        "pyarrow.parquet" if parquet else "pyarrow.feather", "cli", "reading Arrow files"
    )
    datasets = require("pyarrow.dataset", "cli", "reading Arrow files")
    with reading(path, what):
        stored = datasets.dataset(path, format="parquet" if parquet else "feather")
        n, names = stored.count_rows(), stored.schema.names
    check_names(names)
    check_memory(
        2.0 * 8 * n * len(names),
        f"the {n:,} rows and {len(names):,} columns of {path.name}",
        "Leave rows or columns out.",
    )
    with reading(path, what):
        table = module.read_table(path)
        columns = [_arrow_column(column, field) for column, field in zip(table, table.schema)]
    return make_frame(names, columns)


def _arrow_column(column: Any, field: Any) -> Array | Texts:
    types = require("pyarrow.types", "cli", "reading Arrow files")
    kind = column.type
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return np.asarray(column.cast("float64").to_numpy(zero_copy_only=False), dtype=float)
    if types.is_boolean(kind):
        return np.array([np.nan if v is None else float(v) for v in column.to_pylist()])
    if types.is_null(kind):
        return np.full(len(column), np.nan)
    cells = column.to_pylist()
    return to_column(cells) if was_text(field) else to_text(cells)


ARCHIVE_COPIES = 2


def read_npz(path: Path) -> Frame:
    """A NumPy archive: the matrix `X` (or the only one), names beside it, and (n,) arrays.

    `X_train` is taken where there is no `X`. Names are `feature_names`, or else the first array of
    texts with one entry per column.
    """
    check_archive(path, "a NumPy archive", ARCHIVE_COPIES)
    with reading(path, "a NumPy archive"), np.load(path, allow_pickle=False) as archive:
        arrays = {key: as_unicode(archive[key]) for key in archive.files}
    key = next((k for k in ("X", "X_train") if k in arrays), None)
    matrices = [k for k, a in arrays.items() if a.ndim == 2]
    if key is None and len(matrices) == 1:
        key = matrices[0]
    if key is None:
        raise ValueError(
            f"{path.name} holds {', '.join(sorted(arrays)) or 'nothing'}: expected a matrix X."
        )
    found = arrays[key]
    if found.ndim != 2 or found.dtype.kind not in "biuf":
        raise ValueError(
            f"{key} in {path.name} has shape {found.shape} and type {found.dtype}: expected "
            "numbers in two dimensions, one row per sample."
        )
    X = np.asarray(found, dtype=float)
    n, p = X.shape
    texts = {k: a for k, a in arrays.items() if a.ndim == 1 and a.dtype.kind == "U"}
    names = texts.get("feature_names")
    if names is None or len(names) != p:
        names = next((a for a in texts.values() if len(a) == p), None)
    features = [f"x{k + 1}" for k in range(p)] if names is None else [str(v) for v in names]
    # a train part goes with train responses; every other array of n entries is a column
    suffix = "_train" if key == "X_train" else ""
    beside = {k: a for k, a in arrays.items() if a.ndim == 1 and len(a) == n and k.endswith(suffix)}
    own = {k: a for k, a in beside.items() if k not in ("feature_names", "class_names")}
    columns: list[Array | Texts] = [
        to_text(a.tolist()) if "_id" in f"_{k}" or a.dtype.kind not in "biuf" else a.astype(float)
        for k, a in own.items()
    ]
    labels = texts.get("class_names")
    classes = {}
    if labels is not None:
        classes = {k: tuple(str(v) for v in labels) for k in own if k in ("y", "y_train")}
    unique = _apart(features, set(own))
    return make_frame([*unique, *own], [*X.T, *columns], classes)


def as_unicode(array: Any) -> Any:
    """Texts stored as bytes are taken for Latin-1, which contains ASCII."""
    return np.char.decode(array, "latin-1") if array.dtype.kind == "S" else array


def _apart(names: Sequence[str], taken: set[str]) -> list[str]:
    """Names of probes may repeat (several per gene): number the repeats."""
    seen: dict[str, int] = dict.fromkeys(taken, 1)
    out = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        out.append(name if seen[name] == 1 else f"{name}.{seen[name]}")
    return out


READERS: dict[str, Callable[[Path], Frame]] = {
    ".csv": read_csv,
    ".tsv": read_csv,
    ".txt": read_csv,
    ".xlsx": read_excel,
    ".npz": read_npz,
    ".parquet": read_arrow,
    ".feather": read_arrow,
    ".arrow": read_arrow,
}
