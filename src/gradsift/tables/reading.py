"""Files to frames: CSV and TSV (also gzipped), Excel, NumPy archives, Parquet, Arrow, Feather."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import ZipFile

import numpy as np

from gradsift._run.extras import require
from gradsift._run.memory import check_memory
from gradsift.data.categories import number_text, to_column, to_text
from gradsift.data.cells import Cells, Texts, no_rows, read_table, without_codes
from gradsift.data.converting import counts_rows
from gradsift.data.formats.arrow import open_dataset
from gradsift.data.formats.registry import SUFFIXES, format_module
from gradsift.data.read_errors import check_archive, reading
from gradsift.data.read_options import PLAIN, ReadOptions
from gradsift.data.text import (
    BEWARE,
    ROW_NAMES,
    check_names,
    checked_names,
    names_apart,
    one_line,
)
from gradsift.protocols import Array
from gradsift.tables.frame import Frame, Places, make_frame
from gradsift.tables.notes import Note, TableError, listed

Reader = Callable[..., Frame]


def read_frame(path: Path, options: ReadOptions = PLAIN, wanted: Collection[str] = ()) -> Frame:
    """The table in a file, in memory.

    Parameters
    ----------
    path : Path
    options : ReadOptions
        How the table is written.
    wanted : collection of str
        Columns that the right sheet of a workbook has, and the header.

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
        raise TableError(f"{path.name} is no table: expected text, a workbook, Parquet or .npz.")
    if not path.exists():
        raise FileNotFoundError(f"no such file: {path}")
    check_transposed(path, options)
    return with_options(reader(path, options, wanted), options)


@contextmanager
def standard_input(path: Path) -> Iterator[Path]:
    """The path of a table; '-' is standard input, which is kept in a file meanwhile."""
    if str(path) != "-":
        yield path
        return
    with TemporaryDirectory() as folder:
        kept = Path(folder) / "standard-input.csv"
        with kept.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        yield kept


def reader_for(path: Path) -> Reader | None:
    """The function that reads such a file, or folder of them, into memory, if any."""
    if path.is_dir():
        return read_arrow if format_module(path) == "arrow" else None
    suffix = Path(path.name.lower().removesuffix(".gz")).suffix
    return None if suffix in SUFFIXES and suffix not in READERS else READERS.get(suffix, read_csv)


def with_options(frame: Frame, options: ReadOptions) -> Frame:
    """A frame as read with these options: numbers that stand for missing values are missing."""
    without_codes(frame.numbers, options)
    mark = frame.options.decimal or options.decimal
    return replace(frame, options=replace(options, decimal=mark))


def check_transposed(path: Path, options: ReadOptions) -> None:
    """Refuse --transpose where rows and columns have fixed places."""
    if options.transpose and not can_be_transposed(path):
        raise TableError(
            f"variables can be in rows of text tables and workbooks, not of {path.name}.",
            "transpose",
        )


def can_be_transposed(path: Path) -> bool:
    """Whether a file may have its variables in rows."""
    return reader_for(path) in (read_csv, read_workbook)


def read_csv(path: Path, options: ReadOptions, wanted: Collection[str] = ()) -> Frame:
    """A delimited text file with a header."""
    table, found, notes = read_table(path, options, wanted)
    header, options = found.header, replace(options, decimal=table.options.decimal)
    if options.transpose:
        return _transposed(found, table.header[1:], path.name, notes)
    texts = {header[k]: column for k, column in found.texts.items()}
    names = tuple(title for title in header if title not in texts)
    frame = Frame(
        names, found.numbers, texts, header, as_notes(notes),
        places=Places(found.lines), options=options,
    )  # fmt: skip
    return with_index(frame) if table.row_names else frame


def as_notes(said: Sequence[str]) -> tuple[Note, ...]:
    """What the reader of text files says; cautions begin with a word."""
    return tuple(
        Note("caution", text.removeprefix(BEWARE), (), "encoding")
        if text.startswith(BEWARE)
        else Note("read", text, (), "delimiter, encoding")
        for text in said
    )


def _transposed(found: Cells, samples: Sequence[str], name: str, notes: tuple[str, ...]) -> Frame:
    """A frame from a file with variables in rows, whose header names the samples."""
    lines: dict[str, int] = {}
    for title, line in zip(found.header, found.lines.tolist()):
        if title in lines:
            raise TableError(
                f"{name}: lines {lines[title]} and {line} both hold the variable {title!r}: give "
                "every row a name of its own."
            )
        lines[title] = line
    label = ROW_NAMES
    while label in lines:
        label += "_"
    texts = {label: to_text(samples)}
    texts |= {found.header[k]: column for k, column in found.texts.items()}
    names = tuple(title for title in found.header if title not in texts)
    order = (label, *found.header)
    said = f"{name}: variables are in rows, {len(samples)} samples in columns"
    every = (*as_notes(notes), Note("read", said, (), "transpose"))
    places = Places(columns={label: 1, **lines})
    return Frame(names, found.numbers, texts, order, every, id=label, places=places)


def with_index(frame: Frame) -> Frame:
    """A frame whose first column has no name in the file, which takes it for the names of the rows.

    So it is if its texts differ, or if it counts the rows.
    """
    first = frame.order[0]
    values = frame.column(first)
    if first in frame.texts:
        names_rows = None not in values and len(set(values)) == frame.n_rows
        return replace(frame, id=first) if names_rows else frame
    if not counts_rows(values):
        return frame
    at = frame.names.index(first)
    return replace(
        frame,
        names=frame.names[:at] + frame.names[at + 1 :],
        numbers=np.delete(frame.numbers, at, axis=1),
        texts={first: to_text([number_text(v) for v in values]), **frame.texts},
        id=first,
    )


WORKBOOK = "a workbook"
WORKBOOK_COPIES = 5
"""Memory per byte of a workbook's XML."""
CELL_BYTES = 64
"""Memory of a cell of a sheet, empty or not: all between the first and the last are held."""
HEADER_ROWS = 30
"""Rows of a sheet in which its header is looked for."""
HEAD_BYTES = 1 << 14
DIMENSION = re.compile(rb'<dimension ref="[A-Z]+\d+:([A-Z]{1,3})(\d{1,7})"')
"""The last cell of a sheet, which stands at its beginning."""


def read_workbook(path: Path, options: ReadOptions, wanted: Collection[str] = ()) -> Frame:
    """One sheet of a workbook: the one asked for; else the largest whose header has a column that
    is wanted, else the first with cells.
    """
    calamine = require("python_calamine", "cli", "reading workbooks")
    if path.suffix.lower() != ".xls":
        check_archive(path, WORKBOOK, WORKBOOK_COPIES)
        check_sheets(path)
    with reading(path, WORKBOOK):
        book = calamine.CalamineWorkbook.from_path(path)
        titles = list(book.sheet_names)
    chosen = _asked_sheet(titles, path.name, options.sheet)
    sheets = {}
    for title in titles if chosen is None else [chosen]:
        with reading(path, WORKBOOK):
            rows = book.get_sheet_by_name(title).to_python(skip_empty_area=False)
        sheets[title] = [[None if cell == "" else cell for cell in row] for row in rows]
    if chosen is None:
        fits = [t for t, rows in sheets.items() if _header_row(rows, wanted) is not None]
        some = [t for t, rows in sheets.items() if any(any(c is not None for c in r) for r in rows)]
        chosen = max(fits, key=lambda t: len(sheets[t])) if fits else next(iter(some or titles))
    notes: tuple[Note, ...] = ()
    if len(titles) > 1 and options.sheet is None:
        notes = (Note("read", f"{path.name}: sheet {chosen!r} of {listed(titles)}", (), "sheet"),)
    return replace(_sheet_frame(path.name, sheets[chosen], options, wanted), notes=notes)


def check_sheets(path: Path) -> None:
    """Refuse a workbook with a cell so far out that all cells before it would fill the memory."""
    with reading(path, WORKBOOK), ZipFile(path) as archive:
        sheets = [n for n in archive.namelist() if re.fullmatch(r"xl/worksheets/[^/]+\.xml", n)]
        for name in sheets:
            with archive.open(name) as file:
                found = DIMENSION.search(file.read(HEAD_BYTES))
            if found is None:
                continue
            letters = [letter - 64 for letter in found[1]]
            width = sum(letter * 26**k for k, letter in enumerate(reversed(letters)))
            check_memory(
                float(CELL_BYTES * width * int(found[2])),
                f"a sheet of {path.name} with {int(found[2]):,} rows and {width:,} columns",
                "Remove cells that are far from the table.",
            )


def _asked_sheet(titles: Sequence[str], name: str, asked: str | None) -> str | None:
    if not titles:
        raise TableError(f"{name} has no sheet with cells.")
    if asked is None or asked in titles:
        return asked
    if asked.isdecimal() and 1 <= int(asked) <= len(titles):
        return titles[int(asked) - 1]
    raise TableError(f"{name} has no sheet {asked!r}: it has {listed(titles, 10)}.", "sheet")


def _header_row(rows: Sequence[Sequence[Any]], wanted: Collection[str]) -> int | None:
    """The first rows that name a column that is wanted."""
    names = {str(name) for name in wanted}
    for k, row in enumerate(rows[:HEADER_ROWS]):
        if names & {_cell_name(cell) for cell in row if cell is not None}:
            return k
    return None


def _sheet_frame(
    name: str, rows: list[list[Any]], options: ReadOptions, wanted: Collection[str]
) -> Frame:
    """The table in a sheet; empty rows inside of it are rows without a value."""
    full = [k for k, row in enumerate(rows) if any(cell is not None for cell in row)]
    if not full:
        raise TableError(f"the sheet of {name} is empty.", "sheet")
    top = None if options.transpose else _header_row(rows, wanted)
    lines = list(range(full[0] if top is None else top, full[-1] + 1))
    if len(lines) == 1:
        raise no_rows(name)
    cells = list(zip(*(rows[k] for k in lines)))
    numbers = [k + 1 for k in lines]
    if options.transpose:
        cells = [tuple(rows[k]) for k in lines]
        numbers = list(range(1, len(cells[0]) + 1))
    named = _named_columns(cells)
    columns = [_sheet_column(column[1:], options) for column in named.values()]
    titles = checked_names(list(named), name)
    frame = make_frame(titles, columns)
    if options.transpose:
        places = Places(columns=dict(zip(named, (k + 1 for k in lines))))
    else:
        places = Places(np.array(numbers[1:]))
    frame = replace(frame, places=places)
    return with_index(frame) if cells[0][0] is None or options.transpose else frame


def _sheet_column(cells: Sequence[Any], options: ReadOptions) -> Any:
    """Numbers, dates or texts of a column of a sheet."""
    there = [cell for cell in cells if cell is not None]
    if there and all(isinstance(cell, date) for cell in there):
        return np.array([np.datetime64("NaT") if c is None else c for c in cells], "datetime64[s]")
    return to_column([_whole(cell) for cell in cells], options)


def _whole(cell: object) -> object:
    """A cell; workbooks hold whole numbers as floats, which are made integers."""
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15:
        return int(cell)
    return cell


def _cell_name(cell: object) -> str:
    """The name that a cell of the header gives: 1450, not 1450.0, as in a text file."""
    return one_line(str(_whole(cell)))


def _named_columns(columns: Sequence[Sequence[Any]]) -> dict[str, Any]:
    """Name -> column with its name on top; columns with neither name nor cells are left out."""
    kept, titles = [], []
    for k, column in enumerate(columns):
        title = "" if column[0] is None else _cell_name(column[0])
        if title or any(cell is not None for cell in column[1:]):
            titles.append(title or (ROW_NAMES if k == 0 else f"column {k + 1}"))
            kept.append(column)
    return dict(zip(names_apart(titles), kept, strict=True))


def arrow_kind(path: Path) -> str:
    feather = path.suffix.lower() in (".feather", ".arrow")
    return "an Arrow (Feather) file" if feather else "a Parquet file"


def arrow_rows(path: Path) -> tuple[Any, int]:
    """The data set in a Parquet, Arrow or Feather file or folder, and how many rows it has."""
    with reading(path, arrow_kind(path)):
        stored = open_dataset(path)
        return stored, stored.count_rows()


def read_arrow(path: Path, options: ReadOptions, wanted: Collection[str] = ()) -> Frame:
    """A Parquet, Arrow or Feather file, or a folder of them."""
    stored, n = arrow_rows(path)
    names = stored.schema.names
    check_names(names)
    check_memory(
        2.0 * 8 * n * len(names),
        f"the {n:,} rows and {len(names):,} columns of {path.name}",
        "Leave rows or columns out.",
    )
    with reading(path, arrow_kind(path)):
        return arrow_columns(stored, names, n, options)


def arrow_columns(stored: Any, names: Sequence[str], n_rows: int, options: ReadOptions) -> Frame:
    """Some columns of a data set, in memory."""
    field = require("pyarrow.dataset", "cli", "reading Arrow files").field
    # a field of its own name, because a plain string with a dot means a nested column
    table = stored.to_table(columns={str(k): field(name) for k, name in enumerate(names)})
    columns = [_arrow_column(column, options) for column in table.itercolumns()]
    return make_frame(names, columns, n_rows=n_rows)


def _arrow_column(column: Any, options: ReadOptions) -> Array | Texts:
    types = require("pyarrow.types", "cli", "reading Arrow files")
    kind = column.type
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return np.asarray(column.cast("float64").to_numpy(zero_copy_only=False), dtype=float)
    if types.is_boolean(kind):
        return np.array([np.nan if v is None else float(v) for v in column.to_pylist()])
    if types.is_null(kind):
        return np.full(len(column), np.nan)
    return to_text(column.to_pylist(), options)


ARCHIVE_COPIES = 2


def read_npz(path: Path, options: ReadOptions, wanted: Collection[str] = ()) -> Frame:
    """A NumPy archive: the matrix `X` (or the only one), names next to it, and (n,) arrays.

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
        raise TableError(
            f"{path.name} holds {', '.join(sorted(arrays)) or 'nothing'}: expected a matrix X."
        )
    found = arrays[key]
    if found.ndim != 2 or found.dtype.kind not in "biuf":
        raise TableError(
            f"{key} in {path.name} has shape {found.shape} and type {found.dtype}: expected "
            "numbers in two dimensions, one row per sample."
        )
    X = np.asarray(found, dtype=float)
    n, p = X.shape
    named = [k for k, a in arrays.items() if a.shape == (p,) and a.dtype.kind == "U"]
    names = next((k for k in ("feature_names", *named) if k in named), None)
    features = [f"x{k + 1}" for k in range(p)] if names is None else arrays[names].tolist()
    # a train part goes with train responses; every other array of n entries is a column
    suffix = "_train" if key == "X_train" else ""
    stored = {k: a for k, a in arrays.items() if a.ndim == 1 and len(a) == n and k.endswith(suffix)}
    own = {k: a for k, a in stored.items() if k not in ("feature_names", "class_names")}
    columns: list[Array | Texts] = [
        to_text(a.tolist(), options)
        if "_id" in f"_{k}" or a.dtype.kind not in "biuf"
        else a.astype(float)
        for k, a in own.items()
    ]
    unique = names_apart(features, set(own))
    frame = make_frame([*unique, *own], [*X.T, *columns])
    ids = [k for k, column in zip(own, columns) if "_id" in f"_{k}" and len(set(column)) == n]
    return replace(frame, id=ids[0] if ids else None)


def as_unicode(array: Any) -> Any:
    """Texts stored as bytes are taken for Latin-1, which contains ASCII."""
    return np.char.decode(array, "latin-1") if array.dtype.kind == "S" else array


TEXT = (
    ".csv", ".tsv", ".txt", ".tab", ".dat", ".phe", ".phen", ".pheno", ".psam", ".cov", ".covar",
    ".eigenvec",
)  # fmt: skip
READERS: dict[str, Reader] = {
    **dict.fromkeys(TEXT, read_csv),
    **dict.fromkeys((".xlsx", ".xlsm", ".xls", ".xlsb", ".ods"), read_workbook),
    ".npz": read_npz,
    ".parquet": read_arrow,
    ".feather": read_arrow,
    ".arrow": read_arrow,
}
