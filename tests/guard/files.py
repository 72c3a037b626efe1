"""Strategies for tables in files: text in many dialects, workbooks, columns, archives, damage."""

from __future__ import annotations

import csv
import gzip
import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
from hypothesis import strategies as st

from gradsift.data.missing import MISSING

Cell = float | str | None
LETTERS = st.characters(
    codec="utf-8", exclude_categories=["Cs", "Cc", "Zl", "Zp"], exclude_characters="\ufeff"
)
PLAIN = st.sampled_from("abcXYZ019 _.-,;:'\"=+@|#%äß日🙂\u00a0")
NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**9), 10**9).map(float)
EXCEL_NUMBERS = st.floats(-1e300, 1e300, allow_subnormal=False)
"""16 digits are written to a workbook, which turn the largest number into infinity."""
FILES = [".csv", ".csv", ".csv", ".tsv", ".txt", ".csv.gz", ".xlsx", ".parquet", ".feather", ".npz"]


@dataclass(frozen=True)
class FileTable:
    """A table and how it is written: columns of numbers, of text, and holes in both."""

    names: tuple[str, ...]
    columns: tuple[tuple[Cell, ...], ...]
    suffix: str = ".csv"
    delimiter: str = ","
    line_end: str = "\n"
    quoting: int = csv.QUOTE_MINIMAL
    encoding: str = "utf-8"
    hole: str = ""

    def is_text(self, column: int) -> bool:
        return any(isinstance(cell, str) for cell in self.columns[column])

    def write(self, folder: Path) -> Path:
        path = folder / f"table{self.suffix}"
        WRITERS[self.suffix](self, path)
        return path


LETTER = st.sampled_from("kK")  # begins neither a number nor a formula
names = st.builds(str.__add__, LETTER, st.text(PLAIN | LETTERS, max_size=8)).map(str.strip)
texts = st.builds(str.__add__, LETTER, st.text(PLAIN | LETTERS, max_size=6))


@st.composite
def file_tables(draw: Any, suffixes: list[str] = FILES, text: bool = True) -> FileTable:
    suffix = draw(st.sampled_from(suffixes))
    p, n = draw(st.integers(1, 5)), draw(st.integers(1, 6))
    header = draw(st.lists(names, min_size=p, max_size=p, unique=True))
    columns = []
    for _ in range(p):
        numbers = suffix == ".npz" or not text or draw(st.booleans())
        known = texts if not numbers else EXCEL_NUMBERS if suffix == ".xlsx" else NUMBERS
        columns.append(tuple(draw(st.lists(known | st.none(), min_size=n, max_size=n))))
    written_as_text = suffix not in (".xlsx", ".parquet", ".feather", ".npz")
    if not written_as_text:
        return FileTable(tuple(header), tuple(columns), suffix)
    if p == 1:  # a mark in the only name would be as good a separator as any
        header = [re.sub(r"[;|\s]", "", name) for name in header]
    # where the header has no separator, nothing tells a reader which one to take
    separators = "\t" if suffix == ".tsv" else ",;\t" if p > 1 else ","
    return FileTable(
        tuple(header),
        tuple(columns),
        suffix,
        draw(st.sampled_from(separators)),
        draw(st.sampled_from(["\n", "\r\n"])),
        draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])),
        draw(st.sampled_from(["utf-8", "utf-8", "utf-8-sig", "utf-16", "latin-1"])),
        draw(st.sampled_from(sorted(MISSING))),
    )


# ------------------------------------------------------------------ writing


def write_text(table: FileTable, path: Path) -> None:
    out = io.StringIO(newline="")
    writer = csv.writer(
        out, delimiter=table.delimiter, lineterminator=table.line_end, quoting=table.quoting
    )
    writer.writerow(table.names)
    for row in zip(*table.columns):
        writer.writerow([table.hole if cell is None else cell for cell in row])
    data = out.getvalue().encode(table.encoding, errors="replace")
    path.write_bytes(gzip.compress(data) if path.name.endswith(".gz") else data)


def write_excel(table: FileTable, path: Path) -> None:
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet()
    sheet.append(list(table.names))
    for row in zip(*table.columns):
        sheet.append(list(row))
    book.save(path)


def as_arrow(table: FileTable) -> pa.Table:
    kinds = [pa.string() if table.is_text(k) else pa.float64() for k in range(len(table.names))]
    columns = [pa.array(list(c), kind) for c, kind in zip(table.columns, kinds)]
    return pa.table(columns, names=list(table.names))


def write_npz(table: FileTable, path: Path) -> None:
    X = np.array(table.columns, dtype=float).T
    np.savez(path, X=X, feature_names=np.array(table.names, dtype=str))


WRITERS: dict[str, Callable[[FileTable, Path], None]] = {
    ".csv": write_text,
    ".tsv": write_text,
    ".txt": write_text,
    ".csv.gz": write_text,
    ".xlsx": write_excel,
    ".parquet": lambda table, path: pq.write_table(as_arrow(table), path),
    ".feather": lambda table, path: pa.feather.write_feather(as_arrow(table), str(path)),
    ".npz": write_npz,
}


# ------------------------------------------------------------------ damage


@dataclass(frozen=True)
class Damage:
    """A good file, then cut, overwritten, or replaced."""

    table: FileTable
    kind: str
    where: float
    junk: bytes = b""

    def write(self, folder: Path) -> Path:
        path = self.table.write(folder)
        data = path.read_bytes()
        at = int(self.where * len(data))
        if self.kind == "cut":
            data = data[:at]
        elif self.kind == "overwritten":
            data = data[:at] + self.junk + data[at + len(self.junk) :]
        elif self.kind == "inserted":
            data = data[:at] + self.junk + data[at:]
        else:
            data = self.junk
        path.write_bytes(data)
        return path


damages = st.builds(
    Damage,
    file_tables(),
    st.sampled_from(["cut", "overwritten", "inserted", "replaced"]),
    st.floats(0, 1),
    st.binary(max_size=12),
)
