"""Files to frames: CSV and TSV (also gzipped), Excel, NumPy archives, Parquet, Arrow, Feather."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from gradsift._typing import Array
from gradsift.tables.frame import Frame, Texts, make_frame, read_rows, reread_as_text, to_text

ROW_NAMES = "row"
"""What an unnamed first column (as R writes row names) is called."""


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
    return reader(path)


def reader_for(path: Path) -> Callable[[Path], Frame] | None:
    """The function that reads such a file into memory, if any."""
    name = path.name.lower().removesuffix(".gz")
    return READERS.get(Path(name).suffix)


@contextmanager
def _opened(path: Path) -> Iterator[io.TextIOBase]:
    opener = gzip.open if path.name.lower().endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8-sig", newline="") as file:
        yield file


def delimiter_of(header: str, path: Path) -> str:
    """Tab for .tsv; else whichever of comma, semicolon and tab the header has most of."""
    if path.name.lower().removesuffix(".gz").endswith(".tsv"):
        return "\t"
    return max(",;\t", key=header.count)


def read_csv(path: Path) -> Frame:
    """A delimited text file with a header."""
    csv.field_size_limit(1 << 30)

    def read(as_text: frozenset[int]) -> Frame:
        with _opened(path) as file:
            first = file.readline()
            if not first.strip():
                raise ValueError(f"{path.name} is empty.")
            delimiter = delimiter_of(first, path)
            header = next(csv.reader([first], delimiter=delimiter))
            # a blank line at the end is no row
            rows = (cells for cells in csv.reader(file, delimiter=delimiter) if cells)
            return read_rows(named(header, path), rows, as_text)

    return reread_as_text(read)


def named(header: Sequence[str], path: Path) -> list[str]:
    """The header, an unnamed first column given a name; refused if it is a row of numbers."""
    names = [str(name).strip() for name in header]
    if names and not names[0]:
        names[0] = ROW_NAMES
    if "" in names:
        raise ValueError(f"column {names.index('') + 1} of {path.name} has no name in the header.")
    if len(names) > 1 and all(_is_number(name) for name in names):
        raise ValueError(
            f"the first line of {path.name} holds numbers ({', '.join(names[:3])}, ...): expected "
            "a header with the names of the columns."
        )
    return names


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def read_excel(path: Path) -> Frame:
    """The first sheet of a workbook."""
    openpyxl = needed("openpyxl", "Excel files")
    book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    try:
        rows = list(book.worksheets[0].iter_rows(values_only=True))
    finally:
        book.close()
    rows = [row for row in rows if any(cell is not None for cell in row)]
    if not rows:
        raise ValueError(f"the first sheet of {path.name} is empty.")
    header = named(["" if cell is None else str(cell) for cell in rows[0]], path)
    return reread_as_text(lambda as_text: read_rows(header, rows[1:], as_text))


def read_arrow(path: Path) -> Frame:
    """A Parquet, Arrow or Feather file."""
    if path.suffix.lower() == ".parquet":
        table = needed("pyarrow.parquet", "Parquet files").read_table(path)
    else:
        table = needed("pyarrow.feather", "Arrow files").read_table(path)
    columns = [_arrow_column(column, name) for name, column in zip(table.column_names, table)]
    return make_frame(table.column_names, columns)


def _arrow_column(column: Any, name: str) -> Array | Texts:
    types = needed("pyarrow.types", "Arrow files")
    if types.is_integer(column.type) or types.is_floating(column.type):
        return np.asarray(column.cast("float64").to_numpy(zero_copy_only=False), dtype=float)
    if types.is_boolean(column.type):
        return np.array([np.nan if v is None else float(v) for v in column.to_pylist()])
    if types.is_null(column.type):
        return np.full(len(column), np.nan)
    return to_text(column.to_pylist())


def read_npz(path: Path) -> Frame:
    """A NumPy archive: the matrix `X` (or the only one), names beside it, and (n,) arrays.

    `X_train` is taken where there is no `X`. Names are `feature_names`, or else the first array of
    texts with one entry per column.
    """
    with np.load(path, allow_pickle=False) as archive:
        arrays = {key: archive[key] for key in archive.files}
    key = next((k for k in ("X", "X_train") if k in arrays), None)
    matrices = [k for k, a in arrays.items() if a.ndim == 2]
    if key is None and len(matrices) == 1:
        key = matrices[0]
    if key is None:
        raise ValueError(
            f"{path.name} holds {', '.join(sorted(arrays)) or 'nothing'}: expected a matrix X."
        )
    X = np.asarray(arrays[key], dtype=float)
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
        to_text(a.tolist()) if a.dtype.kind == "U" or "_id" in f"_{k}" else a.astype(float)
        for k, a in own.items()
    ]
    labels = texts.get("class_names")
    classes = {}
    if labels is not None:
        classes = {k: tuple(str(v) for v in labels) for k in own if k in ("y", "y_train")}
    unique = _apart(features, set(own))
    return make_frame([*unique, *own], [*X.T, *columns], classes)


def _apart(names: Sequence[str], taken: set[str]) -> list[str]:
    """Names of probes may repeat (several per gene): number the repeats."""
    seen: dict[str, int] = dict.fromkeys(taken, 1)
    out = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        out.append(name if seen[name] == 1 else f"{name}.{seen[name]}")
    return out


def needed(module: str, what: str) -> Any:
    """An optional library, or an error that says how to get it."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.split(".")[0]
        raise ImportError(f"reading {what} needs {package}: pip install 'gradsift[cli]'") from error


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
