"""Delimited text: its encoding, its delimiter, its header, and its cells in blocks of rows.

Cells between delimiters are split by polars, records with quotes by the csv module of Python. Both
are fed blocks of lines, so that memory is bounded by the size of a block whatever the file unpacks
to. (`polars.read_csv` on such blocks takes ten times as long on tables of many columns; on whole
files it has no bound on memory.)
"""

from __future__ import annotations

import codecs
import csv
import gzip
import os
import re
import zlib
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import IO, Any, TypeVar

import numpy as np

from gradsift._run.extras import require
from gradsift._run.memory import available_memory
from gradsift.data.read_options import BLANK, PLAIN, ReadOptions
from gradsift.protocols import IntArray

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
CHUNK = 1 << 20
"""Characters read at a time."""
LINE_SHARE = 1 / 50
"""Part of the memory a line may take as text: as cells it takes up to 40 times that."""
HEAD_LINES, HEAD_CHARACTERS = 50, 1 << 16
"""Lines that tell the delimiter, and characters after which fewer are enough."""
T = TypeVar("T")

BEWARE = "beware: "
"""How a note begins that must not be overlooked."""
ROW_NAMES = "row"
"""What an unnamed first column (as R and pandas write row names) is called."""
CELL_CHARACTERS = 1 << 20
REMARK = "#"
"""How remarks above the header begin, unless said otherwise."""
DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars (|)"}
SEPARATOR = re.compile(r"sep=([,;|\t])", re.IGNORECASE)
"""The first line by which spreadsheets are told the delimiter."""
QUOTED = re.compile(r'"[^"]*"')


@dataclass(frozen=True)
class CellBlock:
    """Some rows of a text table.

    Attributes
    ----------
    cells : polars Series of (n * width) texts
        Row after row.
    lines : (n,) int array
        The line of the file on which each row begins.
    """

    cells: Any
    lines: IntArray


def read_text(
    path: Any, work: Callable[[TextTable], T], options: ReadOptions = PLAIN
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
    """
    name = os.path.basename(os.fspath(path))
    try:
        expected = options.encoding or encoding_of(path, unpacked)
        attempts = (expected, "cp1252", "latin-1") if expected == DECODERS[0] else (expected,)
        for encoding in attempts:
            try:
                with unpacked(path, "rt", encoding=encoding) as file:
                    table = TextTable(file, name, options)
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


class TextTable:
    """A header, and rows of cells to be read once.

    Parameters
    ----------
    file : text file
    name : str
        The name of the file, for messages.
    options : ReadOptions

    Attributes
    ----------
    header : list of str
        Names of the columns.
    row_names : bool
        Whether the first column has no name in the file, as where R or pandas write row names.
    notes : list of str
        What was found out.
    """

    def __init__(self, file: IO[str], name: str, options: ReadOptions = PLAIN) -> None:
        self.name, self.options = name, options
        self.notes: list[str] = []
        csv.field_size_limit(max(CELL_CHARACTERS, csv.field_size_limit()))
        self._lines = Lines(file, name)
        self._remark = options.comment
        self._skip_remarks()
        head = self._lines.peek()
        options = self.options
        self.delimiter = options.delimiter or delimiter_of(head, name, options)
        if options.delimiter is None and self.delimiter not in (BLANK, ",", "\t"):
            self.notes.append(f"{name}: cells are separated by {DELIMITERS[self.delimiter]}")
        elif options.delimiter is None and self.delimiter == BLANK:
            self.notes.append(f"{name}: cells are separated by spaces")
        self._header_line = self._lines.number + 1
        first, _ = next(self._records([str(self._lines.line())], self._header_line))
        self._settle(first)

    def _skip_remarks(self) -> None:
        """Go to the header, past blank lines and remarks."""
        mark, count = self._remark or REMARK, 0
        while head := self._lines.peek():
            if count == 0 and (given := SEPARATOR.fullmatch(head[0].strip("\r\n"))):
                self.options = self.options.given(delimiter=self.options.delimiter or given[1])
            elif head[0].startswith(mark):
                if self._remark is None and _names_columns(head, self.options):
                    break
                count += 1
            elif head[0].strip():
                break
            self._lines.line()
        if not head:
            raise ValueError(f"{self.name} is empty.")
        if count and self._remark is None:
            self.notes.append(f"{count} lines that begin with {mark} above the header are remarks")

    def _settle(self, header: list[str]) -> None:
        """Names, and what the first rows have that the header has not."""
        if self._remark is None and header[0].startswith(REMARK):
            header = [header[0].removeprefix(REMARK), *header[1:]]
        width = len(header)
        rows = [cells for cells, _ in self._records(self._lines.peek(), 0, known=False)]
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

    def _records(
        self, lines: Sequence[str], first: int, known: bool = True
    ) -> Iterator[tuple[list[str], int]]:
        """(cells, line) of each record that begins in these lines; it may end below them."""
        over = False

        def feed() -> Iterator[str]:
            nonlocal over
            for line in lines:
                yield f"{self._spaced(line)}\n"
            while known and (below := self._lines.line()) is not None:
                yield f"{self._spaced(below)}\n"
            over = True

        reader = csv.reader(feed(), delimiter=self.delimiter, skipinitialspace=True)
        while (start := reader.line_num) < len(lines):
            try:
                cells = next(reader)
            except csv.Error as error:
                raise self._no_record(error, first + start) from error
            if over:  # a record asked for lines beyond the end
                if known:
                    raise ValueError(
                        f"{self.name}, line {first + start} opens a quote that is never closed: "
                        "the file is damaged or cut short."
                    )
                return
            if not self._is_blank(lines[start]):
                yield cells, first + start

    def _no_record(self, error: csv.Error, line: int) -> ValueError:
        if "field limit" in str(error):
            return ValueError(
                f"{self.name}, line {line} begins a cell of more than {csv.field_size_limit():,} "
                "characters: is a closing quote missing?"
            )
        return ValueError(f"{self.name}, line {line}: {_said(error)}.")

    def _spaced(self, line: str) -> str:
        return " ".join(line.split()) if self.delimiter == BLANK else line

    def _is_blank(self, line: str) -> bool:
        """Whether a line is no row: nothing is written, or a remark."""
        if self._remark is not None and line.startswith(self._remark):
            return True
        return not line.strip() and self.delimiter not in line.strip(" ")

    def blocks(self) -> Iterator[CellBlock]:
        """The rows below the header."""
        while lines := self._lines.block():
            first = self._lines.number - len(lines) + 1
            quoted = any('"' in line for line in lines)
            yield (self._quoted if quoted else self._split)(lines, first)

    def rows(self) -> Iterator[tuple[list[str], int]]:
        """(cells, line) of each row below the header, by Python alone: for where there is no
        polars.
        """
        named = [k for k in range(self.width) if k not in self._unnamed]
        while lines := self._lines.block():
            for cells, line in self._records(lines, self._lines.number - len(lines) + 1):
                if len(cells) != self.width:
                    raise self._ragged(line, len(cells))
                for k in self._unnamed:
                    if cells[k].strip():
                        raise self._nameless(k, cells[k], line)
                yield [cells[k] for k in named], line

    def _split(self, lines: Sequence[str], first: int) -> CellBlock:
        """Cells of lines without quotes."""
        pl = require("polars", "cli", "reading text tables")
        rows = [(first + k, self._spaced(v)) for k, v in enumerate(lines) if not self._is_blank(v)]
        cells = pl.Series([row for _, row in rows], dtype=pl.String).str.split(self.delimiter)
        counts = cells.list.len().to_numpy()
        for k in np.flatnonzero(counts != self.width)[:1]:
            raise self._ragged(rows[k][0], int(counts[k]))
        return self._named(cells.explode(), [line for line, _ in rows])

    def _quoted(self, lines: Sequence[str], first: int) -> CellBlock:
        """Cells of lines of which some hold quotes."""
        pl = require("polars", "cli", "reading text tables")
        rows, numbers = [], []
        for cells, line in self._records(lines, first):
            if len(cells) != self.width:
                raise self._ragged(line, len(cells))
            rows.append(cells)
            numbers.append(line)
        return self._named(pl.Series(list(chain.from_iterable(rows)), dtype=pl.String), numbers)

    def _named(self, cells: Any, lines: list[int]) -> CellBlock:
        """The cells of columns with a name; the others must be empty."""
        for k in self._unnamed if lines else ():
            for row, cell in enumerate(cells.gather_every(self.width, k).to_list()):
                if cell.strip():
                    raise self._nameless(k, cell, lines[row])
        if self._unnamed and lines:
            pl = require("polars", "cli", "reading text tables")
            kept = np.ones(self.width, dtype=bool)
            kept[self._unnamed] = False
            cells = cells.filter(pl.Series(np.tile(kept, len(lines))))
        return CellBlock(cells, np.array(lines, dtype=np.intp))

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
    marks = [m for m in DELIMITERS if m not in (options.decimal, options.thousands)]
    counts = {mark: [line.count(mark) for line in bare] for mark in marks}
    even = {m: c[-1] for m, c in counts.items() if c and c[0] > 0 and _even(c)}
    if even:  # a comma as regular as another mark is one inside names and numbers
        return max(even, key=lambda mark: (even[mark], mark != ","))
    spaced = {len(line.split()) for line in bare}
    if len(spaced) == 1 and spaced != {1} and not any(c and c[0] for c in counts.values()):
        return BLANK
    return max(marks, key=lambda mark: counts[mark][0] if bare else 0)


def _even(counts: Sequence[int]) -> bool:
    """Whether all rows have as many delimiters, and the header too or one less."""
    rows = set(counts[1:]) or {counts[0]}
    return len(rows) == 1 and min(rows) - counts[0] in (0, 1)


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


class Lines:
    """The lines of a text file, without their ends, read in chunks."""

    def __init__(self, file: IO[str], name: str) -> None:
        self.name, self.number = name, 0  # of lines handed out
        self._file = file
        self._most = int(min(available_memory() * LINE_SHARE, 1 << 31))
        self._held: deque[str] = deque()
        self._begun: list[str] = []
        self._over = False

    def _more(self) -> bool:
        """Hold at least one line more, unless the file is at its end."""
        while not self._over:
            piece = self._file.read(min(CHUNK, self._most))
            self._over = not piece
            *whole, rest = ("".join(self._begun) + piece).split("\n") if "\n" in piece else [piece]
            if whole:
                self._begun = []
            self._begun.append(rest)
            if self._over:
                last = "".join(self._begun)
                whole = [last] if last else []
            self._held.extend(whole)
            if sum(map(len, self._begun)) >= self._most:
                raise ValueError(
                    f"{self.name}, line {self.number + len(self._held) + 1} is longer than "
                    f"{self._most:,} characters, more than the memory available can take: it is "
                    "no table."
                )
            if whole:
                return True
        return False

    def peek(self) -> list[str]:
        """The next lines, as many as tell how the table is written; they stay to be read."""
        while len(self._held) < HEAD_LINES and (
            len(self._held) < 3 or sum(map(len, self._held)) < HEAD_CHARACTERS
        ):
            if not self._more():
                break
        return list(self._held)[:HEAD_LINES]

    def line(self) -> str | None:
        """The next line, None at the end."""
        if not self._held and not self._more():
            return None
        self.number += 1
        return self._held.popleft()

    def block(self) -> list[str]:
        """All lines in hand, or those of the next chunk; none at the end."""
        if not self._held:
            self._more()
        out = list(self._held)
        self._held.clear()
        self.number += len(out)
        return out


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
