"""Delimited text, line by line: its encoding, its separator, its header, its rows of cells."""

from __future__ import annotations

import codecs
import csv
import gzip
import os
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import IO, Any, TypeVar

from gradsift._run.memory import available_memory

Row = tuple[int, Sequence[Any], bool]
"""Number of the line, cells, and whether a cell may hold an underscore."""
T = TypeVar("T")

ROW_NAMES = "row"
"""What an unnamed first column (as R writes row names) is called."""
PEEK_BYTES = 1 << 16
CELL_CHARACTERS = 1 << 20
LINE_SHARE = 1 / 50
"""Part of the memory a line may take as text: as cells it takes up to 40 times that."""
MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
CONTROLS = bytes(set(range(32)) - set(b"\t\n\r")) + b"\x7f"
MOST_CONTROLS = 0.05
"""Bytes that text hardly holds, and their part of a file above which it is none."""


def read_text(
    path: Any, work: Callable[[TextTable], T], separator: str | None = None
) -> tuple[T, tuple[str, ...]]:
    """work(table) on a delimited text file, and notes on how the file was read.

    UTF-8 is expected, and UTF-16 or UTF-32 where the file begins with their mark. A file that turns
    out to be neither is read again from its beginning as Windows-1252, or else Latin-1.

    Parameters
    ----------
    path : path
        Unpacked on the way if its name ends in ``.gz``.
    work : callable
        Gets a `TextTable` whose rows have not been read.
    separator : str, optional
        None = a tab for ``.tsv``; else the one of comma, semicolon and tab the header has most of.
    """
    name = os.path.basename(os.fspath(path))
    try:
        encoding = encoding_of(path)
        for attempt in (encoding, "cp1252", "latin-1"):
            try:
                with _opened(path, "rt", encoding=attempt, newline="") as file:
                    found = work(TextTable(file, name, separator))
            except UnicodeDecodeError:
                if encoding != "utf-8-sig":
                    raise
                continue
            return found, () if attempt == encoding else (_read_as(name, attempt),)
        raise AssertionError("latin-1 decodes everything")
    except (EOFError, zlib.error, gzip.BadGzipFile, UnicodeError) as error:
        raise ValueError(f"{name} is damaged or cut short: {_said(error)}.") from error


def _read_as(name: str, encoding: str) -> str:
    title = {"cp1252": "Windows-1252", "latin-1": "Latin-1"}[encoding]
    return f"{name} is not UTF-8: read as {title}; if names look odd, save it as UTF-8 first"


def _said(error: Exception) -> str:
    return " ".join(str(error).split()).rstrip(".")


def _opened(path: Any, mode: str, **how: Any) -> Any:
    packed = os.fspath(path).lower().endswith(".gz")
    return gzip.open(path, mode, **how) if packed else open(path, mode, **how)


def encoding_of(path: Any) -> str:
    """The encoding that the first bytes tell; files that are no text are refused."""
    with _opened(path, "rb") as file:
        start = file.read(PEEK_BYTES)
    for mark, encoding in MARKS:
        if start.startswith(mark):
            return encoding
    strange = len(start) - len(start.translate(None, CONTROLS))
    if b"\0" in start or strange > MOST_CONTROLS * len(start):
        name = os.path.basename(os.fspath(path))
        raise ValueError(
            f"{name} holds binary data, not text. If it is another format, give it the suffix of "
            "that format; if it is UTF-16 text without a mark, save it as UTF-8."
        )
    return "utf-8-sig"


class TextTable:
    """A header, and rows to be read once.

    Parameters
    ----------
    file : text file
        Opened with ``newline=""``.
    name : str
        The name of the file, for messages.
    separator : str, optional
    """

    def __init__(self, file: IO[str], name: str, separator: str | None = None) -> None:
        self.name = name
        self._file = file
        self._most = int(min(available_memory() * LINE_SHARE, 1 << 31))
        self._line = self._skipped = self._quotes = self._before = 0
        self._underscore = False
        head = self._head()
        self.separator = separator or separator_of("".join(head), name)
        csv.field_size_limit(max(CELL_CHARACTERS, csv.field_size_limit()))
        self._reader = csv.reader(
            chain(head, self._lines()), delimiter=self.separator, skipinitialspace=True
        )
        cells = next(self._cells())
        if self._open_quote():
            raise self._never_closed(self._before + 1)
        self.header = named(cells, name)

    def _head(self) -> list[str]:
        """The lines of the header: more than one where a quoted name holds a line break."""
        lines = self._lines()
        head = [next((line for line in lines if line.strip()), "")]
        if not head[0]:
            raise ValueError(f"{self.name} is empty.")
        self._skipped = self._line - 1
        size = 0
        while self._quotes % 2 and size < CELL_CHARACTERS and (line := next(lines, "")):
            head.append(line)
            size += len(line)
        return head

    def _lines(self) -> Iterator[str]:
        while line := self._file.readline(self._most):
            if len(line) == self._most and not line.endswith("\n"):
                raise ValueError(
                    f"{self.name}, line {self._line + 1} is longer than {self._most:,} "
                    "characters, more than the memory available can take: it is no table."
                )
            self._line += 1
            if '"' in line:
                self._quotes += line.count('"')
            if "_" in line:
                self._underscore = True
            yield line

    def _cells(self) -> Iterator[list[str]]:
        while True:
            self._before = self._reader.line_num + self._skipped
            try:
                cells = next(self._reader, None)
            except csv.Error as error:
                line = self._before + 1
                if "field limit" in str(error):
                    raise ValueError(
                        f"{self.name}, line {line} begins a cell of more than "
                        f"{csv.field_size_limit():,} characters: is a closing quote missing?"
                    ) from error
                raise ValueError(f"{self.name}, line {line}: {_said(error)}.") from error
            if cells is None:
                return
            if cells:  # a blank line is no row
                yield cells

    def _open_quote(self) -> bool:
        """Whether the row in hand may have run on to the end because a quote is not closed."""
        lines = self._reader.line_num + self._skipped - self._before
        return self._quotes % 2 == 1 and lines > 1

    def _never_closed(self, line: int) -> ValueError:
        return ValueError(
            f"{self.name}, line {line} opens a quote that is never closed: the file is damaged or "
            "cut short."
        )

    def rows(self) -> Iterator[Row]:
        """(line, cells, whether there may be an underscore) of every row below the header."""
        width = len(self.header)
        opened_at = 0
        self._quotes, self._underscore = 0, False
        for cells in self._cells():
            line = self._before + 1
            opened_at = line if self._open_quote() else 0
            if len(cells) != width:
                if opened_at:
                    raise self._never_closed(line)
                raise ValueError(
                    f"{self.name}: line {line} has {len(cells)} cells but the header names "
                    f"{width} columns."
                )
            yield line, cells, self._underscore
            self._quotes, self._underscore = 0, False
        if opened_at:
            raise self._never_closed(opened_at)


def separator_of(header: str, name: str) -> str:
    """Tab for .tsv; else whichever of comma, semicolon and tab the header has most of."""
    if Path(name.lower().removesuffix(".gz")).suffix == ".tsv":
        return "\t"
    bare = re.sub(r'"[^"]*"', "", header)
    return max(",;\t", key=bare.count)


def named(header: Sequence[Any], file: str) -> list[str]:
    """The header, an unnamed first column given a name; refused if it is a row of numbers."""
    names = [re.sub(r"\s*[\r\n]+\s*", " ", str(name).strip()) for name in header]
    if names and not names[0]:
        names[0] = ROW_NAMES
    if "" in names:
        raise ValueError(f"column {names.index('') + 1} of {file} has no name in the header.")
    if len(names) > 1 and all(_is_number(name) for name in names):
        raise ValueError(
            f"the first line of {file} holds numbers ({', '.join(names[:3])}, ...): expected "
            "a header with the names of the columns."
        )
    check_names(names)
    return names


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def check_names(names: Sequence[str]) -> None:
    """Refuse a header in which two columns share a name."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        some = ", ".join(repr(name) for name in twice[:5])
        raise ValueError(
            f"the header names {some} more than once: give every column a name of its own."
        )
