"""Cells of a text table become numbers and texts, a block of rows at a time.

Little more is held than the result.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradsift._run.extras import require
from gradsift._run.memory import available_memory, in_own_pages
from gradsift.data.missing import MISSING, is_missing, to_number
from gradsift.data.read_options import PLAIN, ReadOptions
from gradsift.data.text import CellBlock, TextTable
from gradsift.protocols import Array, IntArray

Texts = NDArray[np.object_]
BLOCK_BYTES = 16 << 20
"""Numbers are gathered in blocks of this size, each given back once it is in its place."""
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


def numbers_of(cells: Any, options: ReadOptions = PLAIN) -> tuple[Array, NDArray[np.bool_]]:
    """The numbers in texts, NaN where one is missing, and where there is text instead.

    Parameters
    ----------
    cells : polars Series of texts
    options : ReadOptions

    Examples
    --------
    >>> import polars as pl
    >>> values, odd = numbers_of(pl.Series(["1.5", " 2", "NA", "<0.1"]))
    >>> values.tolist(), odd.tolist()
    ([1.5, 2.0, nan, nan], [False, False, False, True])
    """
    pl = require("polars", "cli", "reading text tables")
    plain = cells
    if not options.plain:
        stripped = cells.str.strip_chars()
        plain = stripped.set(~stripped.str.contains(options.pattern), None)
        for mark, instead in options.marks:
            plain = plain.str.replace_all(mark, instead)
    found = plain.cast(pl.Float64, strict=False)
    left = found.is_null().to_numpy()
    values = np.array(found.to_numpy(), dtype=np.float64)
    odd = np.zeros(len(values), dtype=bool)
    if left.any():
        rest = cells.filter(pl.Series(left)).str.strip_chars()
        there = ~rest.is_in([*MISSING, *options.na]).to_numpy()
        texts = rest.filter(pl.Series(there)).to_list()
        numbers = {text: to_number(text, options) for text in set(texts)}
        where = np.flatnonzero(left)[there]
        known = [numbers[text] for text in texts]
        values[where] = [np.nan if value is None else value for value in known]
        odd[where] = [value is None for value in known]
    without_codes(values, options)
    return values, odd


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


class Gathered:
    """Rows of numbers that become one array, without ever being held twice."""

    def __init__(self, width: int, budget: Budget) -> None:
        self.width, self.budget = width, budget
        self.per_block = max(1, BLOCK_BYTES // (8 * max(width, 1)))
        self.blocks: list[Array] = []
        self.n_rows = 0

    def add(self, rows: Array) -> None:
        done = 0
        while done < len(rows):
            at = self.n_rows % self.per_block
            if at == 0:
                self.budget.take(8 * self.width * self.per_block, self.n_rows)
                self.blocks.append(in_own_pages((self.per_block, self.width), np.float64))
            count = min(self.per_block - at, len(rows) - done)
            self.blocks[-1][at : at + count] = rows[done : done + count]
            self.n_rows, done = self.n_rows + count, done + count

    def whole(self) -> Array:
        if len(self.blocks) <= 1:
            return self.blocks[0][: self.n_rows].copy() if self.blocks else np.zeros((0, 0))
        out = in_own_pages((self.n_rows, self.width), np.float64)
        self.blocks.reverse()
        for start in range(0, self.n_rows, self.per_block):
            stop = min(start + self.per_block, self.n_rows)
            out[start:stop] = self.blocks.pop()[: stop - start]
        return out


class Written:
    """A column of text: every distinct text is kept once, None where nothing is written."""

    def __init__(self, budget: Budget, options: ReadOptions) -> None:
        self.values: list[str | None] = []
        self.budget, self.options = budget, options
        self.shared: dict[str, str | None] = {}

    def add(self, cells: Sequence[str]) -> None:
        size = 8 * len(cells)
        for cell in cells:
            if cell in self.shared:
                self.values.append(self.shared[cell])
                continue
            value = None if is_missing(cell, self.options) else cell.strip()
            size += TEXT_BYTES + len(cell)
            if len(self.shared) < MOST_SHARED:
                self.shared[cell] = value
            self.values.append(value)
        self.budget.take(size, len(self.values))

    def whole(self) -> Texts:
        out = np.empty(len(self.values), dtype=object)
        out[:] = self.values
        return out


def read_cells(table: TextTable, as_text: frozenset[int] = frozenset()) -> Cells | frozenset[int]:
    """What a text table holds, or the columns of text if some are met far down only.

    A column is one of numbers if every cell is a number or missing. The first block tells which
    columns hold text; where others turn out to, the table must be read again with all of them in
    `as_text`.

    Parameters
    ----------
    table : TextTable
    as_text : set of int
        Columns of text.
    """
    if table.options.transpose:
        return read_transposed(table)
    width, budget = len(table.header), Budget(table.name)
    late: frozenset[int] = frozenset()
    numbers: Gathered | None = None
    texts: dict[int, Written] = {}
    lines = []
    for block in table.blocks():
        n = len(block.lines)
        values, odd = _numbers_but(block, width, as_text, table.options)
        found = frozenset(np.flatnonzero(odd.any(axis=0)).tolist())
        if numbers is None:
            as_text |= found
            numbers = Gathered(width - len(as_text), budget)
            texts = {k: Written(budget, table.options) for k in sorted(as_text)}
        late |= found - as_text
        lines.append(block.lines)
        if late:
            continue
        kept = np.ones(width, dtype=bool)
        kept[list(as_text)] = False
        numbers.add(values[:, kept])
        for k, column in texts.items() if n else ():
            column.add(block.cells.gather_every(width, k).to_list())
    if late:
        return as_text | late
    if numbers is None or numbers.n_rows == 0:
        raise no_rows(table.name)
    whole = {k: column.whole() for k, column in texts.items()}
    return Cells(tuple(table.header), numbers.whole(), whole, np.concatenate(lines))


def no_rows(name: str) -> ValueError:
    return ValueError(f"{name} has a header but no rows.")


def _numbers_but(
    block: CellBlock, width: int, as_text: frozenset[int], options: ReadOptions
) -> tuple[Array, NDArray[np.bool_]]:
    """(n, width) numbers and where there is text; columns of text are left alone."""
    n = len(block.lines)
    if not as_text or n == 0:
        values, odd = numbers_of(block.cells, options)
        return values.reshape(n, width), odd.reshape(n, width)
    pl = require("polars", "cli", "reading text tables")
    kept = np.ones(width, dtype=bool)
    kept[list(as_text)] = False
    values, odd = np.full((n, width), np.nan), np.zeros((n, width), dtype=bool)
    if kept.any():
        found, text = numbers_of(block.cells.filter(pl.Series(np.tile(kept, n))), options)
        values[:, kept], odd[:, kept] = found.reshape(n, -1), text.reshape(n, -1)
    return values, odd


def variable_rows(table: TextTable) -> Iterator[tuple[CellBlock, list[str], Array, list[int]]]:
    """Blocks of a table with variables in rows: their names, numbers, and which rows hold text."""
    width = len(table.header)
    if width < 2:
        raise ValueError(
            f"--transpose: {table.name} has one column, but the names of the variables and at "
            "least one sample are needed."
        )
    for block in table.blocks():
        n = len(block.lines)
        if n == 0:
            continue
        values, odd = _numbers_but(block, width, frozenset([0]), table.options)
        names = [cell.strip() for cell in block.cells.gather_every(width, 0).to_list()]
        for name, line in zip(names, block.lines):
            if not name:
                raise ValueError(
                    f"{table.name}: line {line} does not begin with the name of a variable, which "
                    "--transpose needs."
                )
        yield block, names, values[:, 1:], np.flatnonzero(odd.any(axis=1)).tolist()


def read_transposed(table: TextTable) -> Cells:
    """What a table with variables in rows holds: the transposed of the file."""
    width, budget = len(table.header), Budget(table.name)
    numbers = Gathered(width - 1, budget)
    header: list[str] = []
    texts: dict[int, Texts] = {}
    lines = []
    for block, names, values, text_rows in variable_rows(table):
        for k in text_rows:
            column = Written(budget, table.options)
            column.add(block.cells.slice(k * width + 1, width - 1).to_list())
            texts[len(header) + k] = column.whole()
        numbers.add(np.delete(values, text_rows, axis=0))
        header += names
        lines.append(block.lines)
    if not header:
        raise no_rows(table.name)
    whole = numbers.whole().T if numbers.n_rows else np.zeros((width - 1, 0))
    return Cells(tuple(header), whole, texts, np.concatenate(lines))
