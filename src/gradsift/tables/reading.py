"""Files to frames: CSV and TSV (also gzipped), Excel, NumPy archives, Parquet, Arrow, Feather."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from gradsift._run.extras import require
from gradsift._run.memory import check_memory
from gradsift.data.categories import number_text, to_column, to_text
from gradsift.data.cells import Cells, Texts, no_rows, read_cells, without_codes
from gradsift.data.damaged import reading
from gradsift.data.formats.arrow import open_dataset, was_text
from gradsift.data.opening import format_module
from gradsift.data.read_options import PLAIN, ReadOptions
from gradsift.data.text import (
    ROW_NAMES,
    TextTable,
    check_names,
    checked_names,
    one_line,
    read_text,
)
from gradsift.data.unpacking import check_archive
from gradsift.protocols import Array
from gradsift.tables.frame import Frame, Places, listed, make_frame, names_apart, read_rows

Reader = Callable[[Path, ReadOptions], Frame]


def read_frame(path: Path, options: ReadOptions = PLAIN) -> Frame:
    """The table in a file, in memory.

    Parameters
    ----------
    path : Path
    options : ReadOptions
        How the table is written.

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
            f"{', '.join(sorted(READERS))} (text also with .gz)."
        )
    if not path.exists():
        raise FileNotFoundError(f"no such file: {path}")
    check_transposed(path, options)
    return with_options(reader(path, options), options)


def reader_for(path: Path) -> Reader | None:
    """The function that reads such a file, or folder of them, into memory, if any."""
    if path.is_dir():
        return read_arrow if format_module(path) == "arrow" else None
    name = path.name.lower().removesuffix(".gz")
    return READERS.get(Path(name).suffix)


def with_options(frame: Frame, options: ReadOptions) -> Frame:
    """A frame as read with these options: numbers that stand for missing values are missing."""
    without_codes(frame.numbers, options)
    return replace(frame, options=options)


def check_transposed(path: Path, options: ReadOptions) -> None:
    """Refuse --transpose where rows and columns have fixed places."""
    if options.transpose and not can_be_transposed(path):
        raise ValueError(f"--transpose reads text tables and workbooks, not {path.name}.")


def can_be_transposed(path: Path) -> bool:
    """Whether a file may have its variables in rows."""
    return reader_for(path) in (read_csv, read_excel)


def read_csv(path: Path, options: ReadOptions) -> Frame:
    """A delimited text file with a header."""
    if find_spec("polars") is None and not options.transpose:
        return _read_by_python(path, options)
    as_text: frozenset[int] = frozenset()
    found: Cells | frozenset[int] = as_text

    def read(table: TextTable) -> tuple[TextTable, Cells | frozenset[int]]:
        return table, read_cells(table, as_text)

    while isinstance(found, frozenset):  # text was met far down
        as_text = found
        (table, found), notes = read_text(path, read, options)
    header = found.header
    if options.transpose:
        return _transposed(found, table.header[1:], path.name, notes)
    texts = {header[k]: column for k, column in found.texts.items()}
    names = tuple(title for title in header if title not in texts)
    frame = Frame(names, found.numbers, texts, header, {}, notes, places=Places(found.lines))
    return with_index(frame) if table.row_names else frame


def _read_by_python(path: Path, options: ReadOptions) -> Frame:
    """The same without polars, some ten times slower: what a browser can have."""
    (table, found), notes = read_text(path, lambda table: (table, [*table.rows()]), options)
    if not found:
        raise no_rows(path.name)
    cells, lines = zip(*found)
    frame = read_rows(table.header, cells, options)
    frame = replace(frame, notes=notes, places=Places(np.array(lines)))
    return with_index(frame) if table.row_names else frame


def _transposed(found: Cells, samples: Sequence[str], name: str, notes: tuple[str, ...]) -> Frame:
    """A frame from a file with variables in rows, whose header names the samples."""
    lines: dict[str, int] = {}
    for title, line in zip(found.header, found.lines.tolist()):
        if title in lines:
            raise ValueError(
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
    note = f"{name}: variables are in rows, {len(samples)} samples in columns"
    places = Places(columns={label: 1, **lines})
    return Frame(names, found.numbers, texts, order, {}, (*notes, note), id=label, places=places)


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


def counts_rows(values: Array) -> bool:
    """Whether numbers are 0, 1, 2, ... or 1, 2, 3, ..."""
    return bool(len(values) and values[0] in (0, 1) and (np.diff(values) == 1).all())


WORKBOOK = "an Excel workbook"
WORKBOOK_COPIES = 5
"""Memory per byte of a workbook's XML: its shared texts are all held as Python objects."""


def read_excel(path: Path, options: ReadOptions) -> Frame:
    """One sheet of a workbook: the first with cells, unless another is asked for."""
    openpyxl = require("openpyxl", "cli", "reading Excel files")
    check_archive(path, WORKBOOK, WORKBOOK_COPIES)
    with reading(path, WORKBOOK), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # styles and extensions that do not matter here
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    try:
        sheet, notes = _sheet(book, path.name, options.sheet)
        rows = list(_sheet_rows(sheet, path))
    finally:
        book.close()
    if not rows:
        raise ValueError(f"the sheet {sheet.title!r} of {path.name} is empty.")
    if len(rows) == 1:
        raise no_rows(path.name)
    lines, cells = [line for line, _ in rows], list(zip(*(row for _, row in rows)))
    if options.transpose:
        lines, cells = list(range(1, len(cells) + 1)), [row for _, row in rows]
    named = _named_columns(cells, lines, path.name)
    columns = [to_column(column[1:], options) for column in named.values()]
    frame = make_frame(checked_names(list(named), path.name), columns)
    at_lines = dict(zip(named, (line for line, _ in rows))) if options.transpose else None
    places = Places(columns=at_lines) if at_lines else Places(np.array(lines[1:]))
    frame = replace(frame, notes=notes, places=places)
    unnamed = cells[0][0] is None or options.transpose
    return with_index(frame) if unnamed else frame


def _sheet(book: Any, name: str, asked: str | None) -> tuple[Any, tuple[str, ...]]:
    """The sheet asked for, or the first; and a note where there is a choice."""
    sheets = {sheet.title: sheet for sheet in book.worksheets}
    if not sheets:
        raise ValueError(f"{name} has no sheet with cells, only charts.")
    if asked is not None:
        chosen = sheets.get(asked)
        if chosen is None and asked.isdecimal() and 1 <= int(asked) <= len(sheets):
            chosen = book.worksheets[int(asked) - 1]
        if chosen is None:
            raise ValueError(f"--sheet {asked!r}: {name} has {listed(list(sheets), 10)}.")
        return chosen, ()
    first = book.worksheets[0]
    if len(sheets) == 1:
        return first, ()
    return first, (f"{name}: the first of {len(sheets)} sheets, {first.title!r} (--sheet chooses)",)


def _named_columns(
    columns: Sequence[Sequence[Any]], lines: Sequence[int], name: str
) -> dict[str, Sequence[Any]]:
    """Name -> column with its name on top; columns with neither name nor cells are left out."""
    out: dict[str, Sequence[Any]] = {}
    titles = []
    for k, column in enumerate(columns):
        title = "" if column[0] is None else one_line(str(column[0]))
        below = [(line, cell) for line, cell in zip(lines[1:], column[1:]) if cell is not None]
        if not title and k == 0:
            title = ROW_NAMES
        elif not title and below:
            raise ValueError(
                f"column {k + 1} of {name} has no name in the header (line {lines[0]}) but holds "
                f"{str(below[0][1])!r} in line {below[0][0]}: give it a name."
            )
        elif not title:
            continue
        titles.append(title)
        out[title] = column
    check_names(titles)
    return out


def _sheet_rows(sheet: Any, path: Path) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """(line, cells) of a sheet, all as wide as the first, which is the header.

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
            yield line - above, (None,) * width
        blank, width = 0, width or len(cells)
        if any(cell is not None for cell in cells[width:]):
            raise ValueError(
                f"{path.name}: line {line} has {len(cells)} cells but the header names {width} "
                "columns."
            )
        yield line, (*cells[:width], *(None,) * (width - len(cells)))


def arrow_kind(path: Path) -> str:
    feather = path.suffix.lower() in (".feather", ".arrow")
    return "an Arrow (Feather) file" if feather else "a Parquet file"


def arrow_rows(path: Path) -> tuple[Any, int]:
    """The data set in a Parquet, Arrow or Feather file or folder, and how many rows it has."""
    with reading(path, arrow_kind(path)):
        stored = open_dataset(path)
        return stored, stored.count_rows()


def read_arrow(path: Path, options: ReadOptions) -> Frame:
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
        table = stored.to_table()
        columns = [
            _arrow_column(column, field, options) for column, field in zip(table, table.schema)
        ]
    return make_frame(names, columns)


def _arrow_column(column: Any, field: Any, options: ReadOptions) -> Array | Texts:
    types = require("pyarrow.types", "cli", "reading Arrow files")
    kind = column.type
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return np.asarray(column.cast("float64").to_numpy(zero_copy_only=False), dtype=float)
    if types.is_boolean(kind):
        return np.array([np.nan if v is None else float(v) for v in column.to_pylist()])
    if types.is_null(kind):
        return np.full(len(column), np.nan)
    cells = column.to_pylist()
    return to_column(cells, options) if was_text(field) else to_text(cells, options)


ARCHIVE_COPIES = 2


def read_npz(path: Path, options: ReadOptions) -> Frame:
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
        to_text(a.tolist(), options)
        if "_id" in f"_{k}" or a.dtype.kind not in "biuf"
        else a.astype(float)
        for k, a in own.items()
    ]
    labels = texts.get("class_names")
    classes = {}
    if labels is not None:
        classes = {k: tuple(str(v) for v in labels) for k in own if k in ("y", "y_train")}
    unique = names_apart(features, set(own))
    frame = make_frame([*unique, *own], [*X.T, *columns], classes)
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
    ".xlsx": read_excel,
    ".npz": read_npz,
    ".parquet": read_arrow,
    ".feather": read_arrow,
    ".arrow": read_arrow,
}
