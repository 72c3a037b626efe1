"""Cells of a text table become numbers and texts, a block of rows at a time.

Little more is held than the result.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, compress
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from gradsift._run.memory import available_memory
from gradsift.data.missing import MISSING, is_missing, to_number
from gradsift.data.read_options import PLAIN, ReadOptions
from gradsift.data.text import Block, TextTable, read_text
from gradsift.protocols import Array, IntArray

Texts = NDArray[np.object_]
COPIES = 2
"""A table in memory is copied once, when its columns are chosen and encoded."""
MOST_SHARED = 10_000
"""Distinct texts of a column that are kept once however often they come."""
TEXT_BYTES = 60


@dataclass(frozen=True)
class Cells:
    """What a text table holds.

    Attributes
    ----------
    header : tuple of str
        Names of all columns.
    numbers : (n, k) array
        The columns of numbers side by side, NaN where nothing is written.
    texts : dict
        Place in the header -> a column of text, None where nothing is written.
    lines : int array
        The line of each row; of each column where the file has variables in rows.
    """

    header: tuple[str, ...]
    numbers: Array
    texts: dict[int, Texts]
    lines: IntArray


class LateTextError(Exception):
    """Text was met in columns that held numbers in the rows above: read the table again."""

    def __init__(self, columns: frozenset[int]) -> None:
        super().__init__("text below numbers")
        self.columns = columns


class CellNumbers:
    """Cells as numbers.

    Examples
    --------
    >>> values, odd = CellNumbers(ReadOptions()).read(["1.5", " 2", "NA", "<0.1"])
    >>> values.tolist(), odd.tolist()
    ([1.5, 2.0, nan, nan], [3])
    """

    def __init__(self, options: ReadOptions) -> None:
        self.options = options
        self.missing = dict.fromkeys([*MISSING, *options.na], "nan")
        self.some_missing = False
        """Whether the last cells had any: the next ones are alike."""

    def of(self, block: Block, columns: Sequence[int]) -> tuple[Array, IntArray]:
        """(n, k) numbers in some columns of a block, and the places of texts among them."""
        if not self.some_missing and self.options.decimal != ",":
            found = block.plain(columns, float)
            if found is not None:
                without_codes(found, self.options)
                return found, np.zeros(0, dtype=np.intp)
        kept = np.zeros(len(block.table.header), dtype=bool)
        kept[columns] = True
        rows = (compress(cells, kept.tolist()) for cells, _ in block.records)
        values, odd = self.read(list(chain.from_iterable(rows)))
        return values.reshape(len(block.records), -1), odd

    def read(self, cells: list[str]) -> tuple[Array, IntArray]:
        """Numbers, NaN where one is missing or the cell holds text; and the places of the texts."""
        odd, values = np.zeros(0, dtype=np.intp), self._numbers(cells)
        if values is None:
            known = {cell: to_number(cell, self.options) for cell in set(cells)}
            odd = np.flatnonzero([known[cell] is None for cell in cells])
            values = np.array([known[cell] for cell in cells], dtype=np.float64)
        without_codes(values, self.options)
        return values, odd

    def _numbers(self, cells: list[str]) -> Array | None:
        """The same where all cells are numbers or missing, else None."""
        written = "".join(cells)
        if "_" in written:  # Python reads 1_01 as 101
            return None
        if self.options.decimal == ",":
            if "." in written:
                return None
            cells = [cell.replace(",", ".") for cell in cells]
        for known in (cells, map(self.missing.get, cells, cells)):
            with suppress(ValueError):
                values = np.fromiter(map(float, known), np.float64, len(cells))
                self.some_missing = known is not cells
                return values
        return None


def without_codes(values: Array, options: ReadOptions) -> None:
    """NaN, in place, for numbers that stand for a missing value."""
    if options.codes:
        values[np.isin(values, options.codes)] = np.nan


class Budget:
    """Counts what is held, and stops before the memory is used up."""

    def __init__(self, name: str) -> None:
        self.name, self.there, self.held = name, available_memory(), 0

    def take(self, size: int, n_rows: int) -> None:
        self.held += size
        if COPIES * self.held > self.there:
            raise ValueError(
                f"{self.name} does not fit into memory: its first {n_rows:,} rows take "
                f"{self.held / 1e9:.2g} GB as numbers, which are copied once, and "
                f"{self.there / 1e9:.2g} GB are available. Turn it into columns on disk with "
                "`gradsift convert`, or leave columns or rows out."
            )


@dataclass
class Gathered:
    """Rows of numbers and columns of text as they come, and the lines they are from.

    With a scratch file, the numbers are there and not in memory.
    """

    budget: Budget
    options: ReadOptions
    scratch: IO[bytes] | None = None
    numbers: array[float] = field(default_factory=lambda: array("d"))
    lines: array[int] = field(default_factory=lambda: array("q"))

    def add(self, values: Array, lines: Sequence[int]) -> None:
        self.lines.extend(lines)
        if self.scratch is not None:
            self.scratch.write(values.tobytes())
            return
        self.budget.take(values.nbytes, len(self.lines))
        self.numbers.frombytes(values.tobytes())

    def rows(self, n: int) -> Array:
        """The numbers, not copied."""
        if self.scratch is not None:
            self.scratch.flush()
            if self.scratch.tell():
                return np.memmap(self.scratch.name, np.float64, "r").reshape(n, -1)
        if not self.numbers:
            return np.zeros((n, 0))
        return np.frombuffer(self.numbers, dtype=np.float64).reshape(n, -1)

    def texts(self, cells: Iterable[str], shared: dict[str, str | None]) -> list[str | None]:
        """Cells of a column of text, None where nothing is written; a text that comes often is held
        once.
        """
        out, size = list[str | None](), 0
        for cell in cells:
            if cell not in shared:
                size += TEXT_BYTES + len(cell)
                value = None if is_missing(cell, self.options) else cell.strip()
                if len(shared) >= MOST_SHARED:
                    out.append(value)
                    continue
                shared[cell] = value
            out.append(shared[cell])
        self.budget.take(size + 8 * len(out), len(self.lines))
        return out


def as_column(texts: Sequence[str | None]) -> Texts:
    out = np.empty(len(texts), dtype=object)
    out[:] = texts
    return out


def read_table(
    path: Any,
    options: ReadOptions = PLAIN,
    wanted: Collection[str] = (),
    scratch: IO[bytes] | None = None,
) -> tuple[TextTable, Cells, tuple[str, ...]]:
    """The header of a delimited text file, what it holds, and notes on how it was read.

    Parameters
    ----------
    path, options, wanted
        As in `read_text`.
    scratch : file, optional
        An empty file for the numbers, so that the table need not fit into memory.
    """

    def read(as_text: frozenset[int], table: TextTable) -> tuple[TextTable, Cells]:
        if scratch is not None:
            scratch.seek(0)
            scratch.truncate()
        cells = read_transposed if table.options.transpose else partial(read_cells, as_text=as_text)
        return table, cells(table, scratch=scratch)

    try:
        found, notes = read_text(path, partial(read, frozenset()), options, wanted)
    except LateTextError as late:
        found, notes = read_text(path, partial(read, late.columns), options, wanted)
    return *found, notes


def read_cells(
    table: TextTable, as_text: frozenset[int] = frozenset(), scratch: IO[bytes] | None = None
) -> Cells:
    """What a text table holds.

    A column is one of numbers if every cell is a number or missing. The first rows tell which
    columns hold text; where others turn out to, the table must be read again with these in
    `as_text`.
    """
    width = len(table.header)
    found = Gathered(Budget(table.name), table.options, scratch)
    reader = CellNumbers(table.options)
    late, texts = frozenset[int](), dict[int, list[str | None]]()
    shared: dict[int, dict[str, str | None]] = {}
    for block in table.blocks():
        if not found.lines:
            _, odd = reader.of(block, range(width))
            as_text |= frozenset((odd % width).tolist())
            texts, shared = {k: [] for k in sorted(as_text)}, {k: {} for k in as_text}
            numbered = [k for k in range(width) if k not in as_text]
        values, odd = reader.of(block, numbered)
        late |= frozenset(numbered[k % len(numbered)] for k in odd.tolist())
        if late:
            continue
        found.add(values, block.lines)
        for (k, column), cells in zip(texts.items(), block.cells([*texts]) if texts else ()):
            column += found.texts(cells, shared[k])
    if late:
        raise LateTextError(as_text | late)
    if not found.lines:
        raise no_rows(table.name)
    columns = {k: as_column(column) for k, column in texts.items()}
    numbers, places = found.rows(len(found.lines)), np.array(found.lines, dtype=np.intp)
    return Cells(tuple(table.header), numbers, columns, places)


def no_rows(name: str) -> ValueError:
    return ValueError(f"{name} has a header but no rows.")


def read_transposed(table: TextTable, scratch: IO[bytes] | None = None) -> Cells:
    """What a table with variables in rows holds: the transposed of the file."""
    width, reader = len(table.header), CellNumbers(table.options)
    if width < 2:
        raise ValueError(
            f"--transpose: {table.name} has one column, but the names of the variables and at "
            "least one sample are needed."
        )
    found = Gathered(Budget(table.name), table.options, scratch)
    header: list[str] = []
    texts: dict[int, Texts] = {}
    for block in table.blocks():
        values, odd = reader.of(block, range(1, width))
        names = [name.strip() for name in block.cells([0])[0]]
        if "" in names:
            raise ValueError(
                f"{table.name}: line {block.lines[names.index('')]} does not begin with the name "
                "of a variable, which --transpose needs."
            )
        text_rows = np.unique(odd // (width - 1)).tolist()
        for k in text_rows:
            texts[len(header) + k] = as_column(found.texts(block.records[k][0][1:], {}))
        found.add(np.delete(values, text_rows, axis=0), block.lines)
        header += names
    if not header:
        raise no_rows(table.name)
    numbers = found.rows(len(header) - len(texts)).T
    if not numbers.size:
        numbers = np.zeros((width - 1, 0))
    return Cells(tuple(header), numbers, texts, np.array(found.lines, dtype=np.intp))
