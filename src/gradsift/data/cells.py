"""Rows of cells become numbers and texts, a row at a time: little more is held than the result."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradsift._run.memory import available_memory, in_own_pages
from gradsift._typing import Array
from gradsift.data.missing import is_missing, to_number
from gradsift.data.text import Row

Texts = NDArray[np.object_]
BLOCK_BYTES = 16 << 20
"""Numbers are gathered in blocks of this size, each given back once it is in its place."""
HEAD_CELLS = 100_000
HEAD_ROWS = 100
"""The first rows, up to so many cells, tell which columns hold text."""
COPIES = 2
"""A table in memory is copied once, when its columns are chosen and encoded."""
MOST_SHARED = 10_000
"""Distinct texts of a column that are kept once however often they come."""
TEXT_BYTES = 60


class TextMetError(ValueError):
    """Columns taken for numbers hold text further down."""

    def __init__(self, columns: frozenset[int]) -> None:
        super().__init__(f"columns {sorted(columns)} hold text")
        self.columns = columns


@dataclass(frozen=True)
class Cells:
    """What rows of cells hold: the columns of numbers, side by side, and those of text."""

    numbers: Array
    texts: dict[int, Texts]


def numbers_of(cells: Sequence[Any], underscore: bool) -> tuple[Array, list[int]]:
    """The numbers of a row, NaN where one is missing, and the places where there is text."""
    if not (underscore and any("_" in cell for cell in cells if isinstance(cell, str))):
        try:
            return np.fromiter(map(float, cells), dtype=np.float64, count=len(cells)), []
        except (TypeError, ValueError):  # something is missing, or text
            pass
    found = [to_number(cell) for cell in cells]
    texts = [k for k, value in enumerate(found) if value is None]
    for k in texts:
        found[k] = np.nan
    return np.array(found, dtype=np.float64), texts


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

    def add(self, row: Array) -> None:
        at = self.n_rows % self.per_block
        if at == 0:
            self.budget.take(8 * self.width * self.per_block, self.n_rows)
            self.blocks.append(in_own_pages((self.per_block, self.width), np.float64))
        self.blocks[-1][at] = row
        self.n_rows += 1

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

    def __init__(self, budget: Budget) -> None:
        self.values: list[str | None] = []
        self.budget = budget
        self.shared: dict[str, str] = {}

    def add(self, cell: Any) -> None:
        size = 8
        value = None
        if not is_missing(cell):
            value = str(cell).strip()
            if value in self.shared:
                value = self.shared[value]
            else:
                size += TEXT_BYTES + len(value)
                if len(self.shared) < MOST_SHARED:
                    self.shared[value] = value
        self.budget.take(size, len(self.values))
        self.values.append(value)

    def whole(self) -> Texts:
        out = np.empty(len(self.values), dtype=object)
        out[:] = self.values
        return out


def parse(
    width: int, rows: Iterable[Row], as_text: frozenset[int] = frozenset(), name: str = "the table"
) -> Cells:
    """Numbers and texts of rows of `width` cells.

    A column is one of numbers if every cell is a number or missing. `TextMetError` names all
    columns that look so in the first rows and are not: read again with them in `as_text`.

    Parameters
    ----------
    width : int
    rows : iterable of (line, cells, whether there may be an underscore)
    as_text : set of int
        Columns of text.
    name : str
        Of the file, for messages.
    """
    source = iter(rows)
    first = list(islice(source, max(1, min(HEAD_ROWS, HEAD_CELLS // max(width, 1)))))
    as_text = as_text.union(*(numbers_of(cells, under)[1] for _, cells, under in first))
    budget = Budget(name)
    pick = _picker([k for k in range(width) if k not in as_text])
    numbers = Gathered(width - len(as_text), budget)
    texts = {k: Written(budget) for k in sorted(as_text)}
    later = chain(first, source)
    for _, cells, underscore in later:
        row, found = numbers_of(pick(cells), underscore)
        if found:
            met = pick(range(width))
            raise TextMetError(as_text | {met[k] for k in found} | _rest(pick, met, later))
        numbers.add(row)
        for k, column in texts.items():
            column.add(cells[k])
    if numbers.n_rows == 0:
        raise ValueError(f"{name} has a header but no rows.")
    return Cells(numbers.whole(), {k: column.whole() for k, column in texts.items()})


def _rest(pick: Any, columns: Sequence[int], rows: Iterator[Row]) -> set[int]:
    """The columns of text in the remaining rows, so that a second reading is the last."""
    met: set[int] = set()
    for _, cells, underscore in rows:
        met.update(columns[k] for k in numbers_of(pick(cells), underscore)[1])
    return met


def _picker(columns: list[int]) -> Any:
    """Cells of some columns, as a sequence."""
    if len(columns) > 1:
        return itemgetter(*columns)
    return lambda cells: [cells[k] for k in columns]
