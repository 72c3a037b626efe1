"""Delimited text: its encoding, its delimiter, its header, and its records.

Rows are read by blocks of lines, so that memory is bounded whatever a file unpacks to. Blocks of
plain numbers go through `numpy.loadtxt`, all others through the csv module of Python. (Whole files
by `polars.read_csv` have no bound on memory.)
"""

from __future__ import annotations

import codecs
import csv
import gzip
import os
import re
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import IO, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from gradsift._run.memory import available_memory
from gradsift.data.read_options import BLANK, PLAIN, ReadOptions

PEEK_BYTES = 1 << 16
MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
DECODERS = ("utf-8-sig", "cp1252", "latin-1")
"""What a file without a mark is tried as, in this order."""
TITLES = {"cp1252": "Windows-1252", "latin-1": "Latin-1"}
CONTROLS = bytes(set(range(32)) - set(b"\t\n\r")) + b"\x7f"
MOST_CONTROLS = 0.05
"""Bytes that text hardly holds, and their part of a file above which it is none."""
BLOCK_CHARACTERS = 1 << 18
"""Lines that are held at a time, by their length; one line at least."""
LINE_SHARE = 1 / 50
"""Part of the memory a line may take as text: as cells it takes up to 40 times that."""
HEAD_LINES, HEAD_CHARACTERS = 50, 1 << 16
"""Lines that tell the delimiter, and characters after which three are enough."""
T = TypeVar("T")

BEWARE = "beware: "
"""How a note begins that must not be overlooked."""
ROW_NAMES = "row"
"""What an unnamed first column (as R and pandas write row names) is called."""
CELL_CHARACTERS = 1 << 20
REMARK = "#"
"""How remarks above the header begin, unless said otherwise."""
MARKED = (",", ";", "\t", "|")
"""Delimiters that are looked for."""
DELIMITERS = {",": "commas", ";": "semicolons", "|": "bars (|)", BLANK: "spaces"}
SEPARATOR = re.compile(r"sep=([,;|\t])", re.IGNORECASE)
"""The first line by which a file names its delimiter for spreadsheets."""
DECIMAL_COMMA = re.compile(r"[+-]?\d+(\.\d{3})*,\d+")
DECIMAL_POINT = re.compile(r"[+-]?\d*\.(\d{1,2}|\d{4,})([eE][+-]?\d+)?")
"""Numbers with one; 1.234 may be a whole number."""
QUOTED = re.compile(r'"[^"]*"')


def read_text(
    path: Any,
    work: Callable[[TextTable], T],
    options: ReadOptions = PLAIN,
    wanted: Collection[str] = (),
) -> tuple[T, tuple[str, ...]]:
    """work(table) on a delimited text file, and notes on how the file was read.

    UTF-8 is expected unless said otherwise, and UTF-16 or UTF-32 where the file begins with their
    mark. A file that turns out to be neither is read again from its beginning as Windows-1252, or
    else Latin-1.

    Parameters
    ----------
    path : path
        Unpacked on the way if its name ends in ``.gz``.
    work : callable
        Gets a `TextTable` whose rows have not been read.
    options : ReadOptions
    wanted : collection of str
        Columns of which the header has one: it may be below other lines.
    """
    name = os.path.basename(os.fspath(path))
    try:
        expected = options.encoding or encoding_of(path, unpacked)
        attempts = (expected, "cp1252", "latin-1") if expected == DECODERS[0] else (expected,)
        for encoding in attempts:
            try:
                with unpacked(path, "rt", encoding=encoding) as file:
                    table = TextTable(file, name, options, wanted)
                    found = work(table)
            except UnicodeDecodeError:
                if encoding == attempts[-1]:
                    raise
                continue
            return found, (*table.notes, *_encoding_notes(name, encoding, expected))
        raise AssertionError("latin-1 decodes everything")
    except UnicodeError as error:
        raise ValueError(
            f"{name} is damaged or cut short, or not encoded as {expected}: {_said(error)}. "
            "If it is encoded otherwise, give --encoding."
        ) from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{name} is damaged or cut short: {_said(error)}.") from error


def _encoding_notes(name: str, encoding: str, expected: str) -> tuple[str, ...]:
    if encoding == expected:
        return () if encoding == DECODERS[0] else (f"{name}: encoded as {encoding}",)
    read_as = f"{name} is not UTF-8: read as {TITLES[encoding]}"
    return (f"{BEWARE}{read_as}; if names look odd, it is another encoding",)


def _said(error: Exception) -> str:
    return " ".join(str(error).split()).rstrip(".")


def unpacked(path: Any, mode: str, **how: Any) -> Any:
    """A file opened for reading, through gzip if its name says so."""
    packed = os.fspath(path).lower().endswith(".gz")
    return gzip.open(path, mode, **how) if packed else open(path, mode, **how)


@dataclass(frozen=True)
class Block:
    """Some rows of a text table.

    Attributes
    ----------
    text : list of str
        The lines on which they begin.
    first : int
        The number of the first line in the file.
    table : TextTable
    """

    text: list[str]
    first: int
    table: TextTable

    @cached_property
    def records(self) -> list[tuple[list[str], int]]:
        """(cells, line) of each row."""
        return list(self.table.records(self.text, self.first))

    @property
    def lines(self) -> list[int]:
        """The lines on which rows begin."""
        if self.is_simple:
            return list(range(self.first, self.first + len(self.text)))
        return [line for _, line in self.records]

    def cells(self, columns: Sequence[int]) -> list[list[str]]:
        """The cells of some columns, column by column."""
        if (found := self.plain(columns, object)) is not None:
            return [list(column) for column in found.T]
        return [[cells[k] for cells, _ in self.records] for k in columns]

    def plain(self, columns: Sequence[int], dtype: type) -> NDArray[Any] | None:
        """(n, k) some columns where each line is a row of plain numbers in these columns (or, as
        `dtype` asks, of texts); None where it is not.
        """
        if not self.is_simple:
            return None
        every = len(columns) == self.table.width
        try:
            found: NDArray[Any] = np.loadtxt(
                self.text, dtype, comments=None, delimiter=self.table.delimiter, ndmin=2,
                usecols=None if every else columns,
            )  # fmt: skip
        except ValueError:
            return None
        return found if len(found) == len(self.text) else None

    @cached_property
    def is_simple(self) -> bool:
        """Whether delimiters alone tell the cells apart, the same number in every line."""
        mark, width = self.table.delimiter, self.table.width
        marked = self.table.options.comment is not None or len(self.table.header) < width
        if marked or mark == BLANK or width == 1:
            return False
        return all(line.count(mark) == width - 1 and '"' not in line for line in self.text)


class TextTable:
    """A header, and records of cells to be read once.

    Parameters
    ----------
    file : text file
    name : str
        The name of the file, for messages.
    options : ReadOptions
    wanted : collection of str
        As in `read_text`.

    Attributes
    ----------
    header : list of str
        Names of the columns.
    row_names : bool
        Whether the first column has no name in the file, as where R or pandas write row names.
    options : ReadOptions
        As given, with what the file itself tells.
    notes : list of str
        What was found out.
    """

    def __init__(
        self,
        file: IO[str],
        name: str,
        options: ReadOptions = PLAIN,
        wanted: Collection[str] = (),
    ) -> None:
        self.name, self.options = name, options
        self.notes: list[str] = []
        csv.field_size_limit(max(CELL_CHARACTERS, csv.field_size_limit()))
        self._remark = options.comment
        lines = lines_of(file, name)
        head, number = self._begin(lines, wanted)
        options = self.options
        self.delimiter = options.delimiter or delimiter_of(
            [line.rstrip("\n") for line in head], name, options
        )
        if options.delimiter is None and self.delimiter not in (",", "\t"):
            self.notes.append(f"{name}: cells are separated by {DELIMITERS[self.delimiter]}")
        rows = [cells for cells, _ in self._split(head, number)][1:]
        self._lines, self._next = chain(head, lines), number
        header, self._header_line = next(self._split([next(self._taken())], number, self._taken()))
        self._settle(header, rows)
        if options.decimal is None and self.delimiter != "," and has_decimal_commas(rows):
            self.options = replace(self.options, decimal=",")
            self.notes.append(f"{name}: numbers have decimal commas")

    def _begin(self, lines: Iterator[str], wanted: Collection[str]) -> tuple[list[str], int]:
        """The first lines from the header on, past blank lines and remarks; and the number of the
        first of them.
        """
        mark, count, number = self._remark or REMARK, 0, 1
        line, below = next(lines, ""), next(lines, "")
        while line:
            if number == 1 and (given := SEPARATOR.fullmatch(line.strip("\r\n"))):
                self.options = self.options.given(delimiter=self.options.delimiter or given[1])
            elif line.startswith(mark):
                if self._remark is None and _names_columns([line, below], self.options):
                    break
                count += 1
            elif line.strip():
                break
            line, below, number = below, next(lines, ""), number + 1
        if not line:
            raise ValueError(f"{self.name} is empty.")
        if count and self._remark is None:
            self.notes.append(f"{count} lines that begin with {mark} above the header are remarks")
        head = [line, below]
        while len(head) < HEAD_LINES and (len(head) < 3 or sum(map(len, head)) < HEAD_CHARACTERS):
            head.append(next(lines, ""))
        head = [line for line in head if line]
        titles = lines_above(head, self.options, wanted)
        if titles:
            said = " ".join(head[0].strip(" ,;|\t\r\n").split())
            self.notes.append(f"{self.name}: {said!r} above the header is no part of the table")
        return head[titles:], number + titles

    def _settle(self, header: list[str], rows: Sequence[Sequence[str]]) -> None:
        """Names, and what the first rows have that the header has not."""
        if self._remark is None and header[0].startswith(REMARK):
            header = [header[0].removeprefix(REMARK), *header[1:]]
        width = len(header)
        beyond = bool(rows) and all(len(cells) == width + 1 for cells in rows)
        if beyond and all(not cells[-1].strip() for cells in rows):
            header = [*header, ""]  # a delimiter at the end of every row
        elif beyond and width > 1:
            header = ["", *header]  # as R writes row names
        names = [one_line(name) for name in header]
        if all(re.fullmatch(r"'[^']+'", name) for name in names):
            names = [name[1:-1] for name in names]
        self.row_names = not names[0]
        names[0] = names[0] or ROW_NAMES
        self.width = len(names)
        self._unnamed = [k for k, name in enumerate(names) if not name]
        found = checked_names([name for name in names if name], self.name)
        self.header = names_apart(found)
        if twice := [name for name, count in Counter(found).items() if count > 1]:
            some = ", ".join(map(repr, twice[:3]))
            self.notes.append(f"{self.name}: columns that share a name are numbered ({some})")

    def _taken(self) -> Iterator[str]:
        """The lines of the file from here on, counted."""
        for line in self._lines:
            self._next += 1
            yield line

    def _split(
        self, lines: Sequence[str], first: int, below: Iterator[str] | None = None
    ) -> Iterator[tuple[list[str], int]]:
        """(cells, line) of each record that begins in these lines, the first of them with its
        number in the file; it may end `below`, or is cut off there if these are None.
        """
        over = False

        def feed() -> Iterator[str]:
            nonlocal over
            for line in chain(lines, below or ()):
                yield self._tidy(line)
            over = True

        reader = csv.reader(feed(), delimiter=self.delimiter, skipinitialspace=True)
        while (start := reader.line_num) < len(lines):
            try:
                cells = next(reader)
            except csv.Error as error:
                raise self._no_record(error, first + start) from error
            if over and below is None:
                return
            if over:  # a record asked for lines beyond the end
                raise ValueError(
                    f"{self.name}, line {first + start} opens a quote that is never closed: the "
                    "file is damaged or cut short."
                )
            if cells:
                yield cells, first + start

    def _tidy(self, line: str) -> str:
        """A line as the csv module takes it; an empty one where it is no row."""
        if self._remark is not None and line.startswith(self._remark):
            return "\n"
        if self.delimiter == BLANK:
            return " ".join(line.split()) + "\n"
        return "\n" if line.isspace() and self.delimiter not in line.strip(" ") else line

    def _no_record(self, error: csv.Error, line: int) -> ValueError:
        if "field limit" in str(error):
            return ValueError(
                f"{self.name}, line {line} begins a cell of more than {csv.field_size_limit():,} "
                "characters: is a closing quote missing?"
            )
        return ValueError(f"{self.name}, line {line}: {_said(error)}.")

    def records(self, lines: Sequence[str], first: int) -> Iterator[tuple[list[str], int]]:
        """(cells, line) of the rows that begin in these lines; cells of columns with a name."""
        named = [k for k in range(self.width) if k not in self._unnamed]
        for cells, line in self._split(lines, first, self._taken()):
            if len(cells) != self.width:
                raise self._ragged(line, len(cells))
            for k in self._unnamed:
                if cells[k].strip():
                    raise self._nameless(k, cells[k], line)
            yield [cells[k] for k in named] if self._unnamed else cells, line

    def blocks(self) -> Iterator[Block]:
        """The rows below the header."""
        while True:
            first, text, size = self._next, list[str](), 0
            for line in self._taken():
                text.append(line)
                if (size := size + len(line)) >= BLOCK_CHARACTERS:
                    break
            if not text:
                return
            block = Block(text, first, self)
            if block.is_simple or block.records:  # which may end in lines below
                yield block

    def _nameless(self, k: int, cell: str, line: int) -> ValueError:
        return ValueError(
            f"column {k + 1} of {self.name} has no name in the header (line {self._header_line}) "
            f"but holds {cell.strip()!r} in line {line}: give it a name."
        )

    def _ragged(self, line: int, found: int) -> ValueError:
        return ValueError(
            f"{self.name}: line {line} has {found} cells but the header names {self.width} columns "
            f"(line {self._header_line}). If something else separates the cells (commas may be "
            "decimal marks), give --delimiter; if the line is a remark, give --comment with how it "
            "begins."
        )


def lines_of(file: IO[str], name: str) -> Iterator[str]:
    """The lines of a text file, with their ends; one that memory could not take is refused."""
    most = int(min(available_memory() * LINE_SHARE, 1 << 31))
    number = 0
    while line := file.readline(most):
        number += 1
        if len(line) == most and not line.endswith("\n"):
            raise ValueError(
                f"{name}, line {number} is longer than {most:,} characters, more than the memory "
                "available can take: it is no table."
            )
        yield line


def lines_above(lines: Sequence[str], options: ReadOptions, wanted: Collection[str] = ()) -> int:
    """How many lines are above the header: lines of names above the one with a column that is
    wanted, or lines of one cell at most above a line of names.

    Examples
    --------
    >>> lines_above(["Sales of 2023", "", "shop;sales", "a;1", "b;2"], PLAIN)
    2
    >>> lines_above(["blood,blood,result", "Hb,CRP,ill", "1,2,yes"], PLAIN, ["ill"])
    1
    """
    bare = [line.rstrip("\r\n") for line in lines]
    mark = options.delimiter or delimiter_of(bare[len(bare) // 2 :], "", options)
    split = (next(csv.reader([line], delimiter=mark), []) for line in bare)
    rows = [[cell.strip(" \"'") for cell in cells] for cells in split]
    numbers = [any(options.number(cell) is not None for cell in cells) for cells in rows]
    for k in range(numbers.index(True) if True in numbers else len(rows)):
        if set(rows[k][k > 0 :]) & set(wanted):  # with variables in rows it is in the first cell
            return k
    first = next((k for k, cells in enumerate(rows) if sum(map(bool, cells)) > 1), 0)
    widths = [len(cells) for cells in rows[first:] if any(cells)]
    return first if len(widths) > 2 and len(set(widths)) == 1 and not numbers[first] else 0


def has_decimal_commas(rows: Sequence[Sequence[str]]) -> bool:
    """Whether numbers are written as 1,5 somewhere, and nowhere as 1.5.

    Examples
    --------
    >>> has_decimal_commas([["a", "1,5"], ["b", "1.234,5"]]), has_decimal_commas([["1,5", "0.5"]])
    (True, False)
    """
    cells = [cell.strip() for cells in rows for cell in cells]
    if not any(map(DECIMAL_COMMA.fullmatch, cells)):
        return False
    return not any(map(DECIMAL_POINT.fullmatch, cells))


def delimiter_of(lines: Sequence[str], name: str, options: ReadOptions = PLAIN) -> str:
    """Tab for .tsv; else what separates the first lines into the same number of cells, the most.

    Where nothing does, what the header has most of.

    Examples
    --------
    >>> delimiter_of(["name;dose, mg", "a;1,5", "b;2,5"], "t.csv")
    ';'
    """
    if Path(name.lower().removesuffix(".gz")).suffix == ".tsv":
        return "\t"
    bare = [line for line in QUOTED.sub("", "\n".join(lines)).split("\n") if line.strip(" ")]
    if options.comment is not None:
        bare = [line for line in bare if not line.startswith(options.comment)] or bare[:1]
    marks = [mark for mark in MARKED if mark != options.decimal]
    counts = {mark: [line.count(mark) for line in bare] for mark in marks}
    even = {
        mark: c[-1]
        for mark, c in counts.items()  # all rows have as many, the header too or one less
        if c and c[0] > 0 and {*c[1:]} <= {c[-1]} and c[-1] - c[0] in (0, 1)
    }
    if even:  # a comma as regular as another mark is one inside names and numbers
        return max(even, key=lambda mark: (even[mark], mark != ","))
    spaced = {len(line.split()) for line in bare}
    if len(spaced) == 1 and spaced != {1} and not any(c and c[0] for c in counts.values()):
        return BLANK
    return max(marks, key=lambda mark: counts[mark][0] if bare else 0)


def _names_columns(lines: Sequence[str], options: ReadOptions) -> bool:
    """Whether the first of these lines, which begins as remarks do, is the header (as in PLINK)."""
    pair = [line for line in lines[:2] if line.strip()]
    if len(pair) < 2 or pair[0].startswith(2 * REMARK) or pair[1].startswith(REMARK):
        return False
    mark = options.delimiter or delimiter_of(pair, "", options)
    names, cells = (line.split() if mark == BLANK else line.split(mark) for line in pair)
    numbers = [options.number(cell.strip()) is not None for cell in cells]
    named = not pair[0].startswith(f"{REMARK} ")  # such as #SampleID
    return len(names) == len(cells) > 1 and (named or any(numbers))


def checked_names(names: Sequence[str], file: str) -> list[str]:
    """The names of a header; refused where it is a row of numbers."""
    if len(names) > 1 and all(PLAIN.number(name) is not None for name in names):
        raise ValueError(
            f"the first line of {file} holds numbers ({', '.join(names[:3])}, ...): expected "
            "a header with the names of the columns. Add one above it."
        )
    return list(names)


def names_apart(names: Sequence[str], taken: Collection[str] = ()) -> list[str]:
    """Names of probes may repeat (several per gene): number the repeats.

    Examples
    --------
    >>> names_apart(["a", "b", "a"]), names_apart(["y", "a"], taken={"y"})
    (['a', 'b', 'a.2'], ['y.2', 'a'])
    >>> names_apart(["a", "a", "a.2"])
    ['a', 'a.3', 'a.2']
    """
    used, out = {*taken, *names}, []
    seen: dict[str, int] = dict.fromkeys(taken, 1)
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        unique = name if seen[name] == 1 else f"{name}.{seen[name]}"
        while unique != name and unique in used:
            seen[name] += 1
            unique = f"{name}.{seen[name]}"
        used.add(unique)
        out.append(unique)
    return out


def one_line(name: str) -> str:
    """The name of a column without line breaks and blanks around it.

    Examples
    --------
    >>> one_line(" dose \\n (mg) ")
    'dose (mg)'
    """
    return re.sub(r"\s*[\r\n]+\s*", " ", name.strip())


def check_names(names: Sequence[str]) -> None:
    """Refuse a header in which two columns share a name."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        at = [k + 1 for k, name in enumerate(names) if name == twice[0]]
        some = ", ".join(repr(name) for name in twice[:5])
        raise ValueError(
            f"the header names {some} more than once: give every column a name of its own "
            f"({twice[0]!r} is in columns {', '.join(map(str, at[:5]))})."
        )


def encoding_of(path: Any, opened: Callable[..., Any]) -> str:
    """The encoding that the first bytes tell; files that are no text are refused.

    Parameters
    ----------
    path : path
    opened : callable
        From a path and a mode to an open file.
    """
    with opened(path, "rb") as file:
        start = file.read(PEEK_BYTES)
    for mark, encoding in MARKS:
        if start.startswith(mark):
            return encoding
    strange = len(start) - len(start.translate(None, CONTROLS))
    if b"\0" in start or strange > MOST_CONTROLS * len(start):
        name = os.path.basename(os.fspath(path))
        raise ValueError(
            f"{name} holds binary data, not text. If it is another format, give it the suffix of "
            "that format; if it is UTF-16 text without a mark, give --encoding utf-16-le."
        )
    return DECODERS[0]
