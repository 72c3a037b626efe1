"""A table in memory, as files hold it: columns of numbers and columns of text."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradsift._run.suggest import did_you_mean
from gradsift.data.arrays import array_like, refuse_lazy
from gradsift.data.categories import (
    DECLARED,
    PLAIN_KINDS,
    as_levels,
    holds_times,
    kind_of,
    level_text,
    table_columns,
    to_column,
)
from gradsift.data.cells import Texts
from gradsift.data.missing import NUMBERS, is_missing, is_null, to_number
from gradsift.data.read_options import PLAIN, ReadOptions
from gradsift.data.source import take_rows
from gradsift.data.text import check_names
from gradsift.protocols import Array, IntArray, Source
from gradsift.tables.notes import Note, TableError, listed


@dataclass(frozen=True)
class Places:
    """Where rows, or cells, are in the file.

    Attributes
    ----------
    lines : int array, optional
        The line of each row; None where the file has no lines.
    columns : dict, optional
        For a file with variables in rows: the line of each variable.
    """

    lines: IntArray | None = None
    columns: dict[str, int] | None = None

    def of(self, column: str, row: int) -> str:
        """The place of a cell, next to the name of its column."""
        if self.columns is not None:
            return f"line {self.columns[column]}, sample {row + 1}"
        return f"row {row + 1}" if self.lines is None else f"line {self.lines[row]}"

    def take(self, rows: IntArray) -> Places:
        return self if self.lines is None else replace(self, lines=self.lines[rows])


@dataclass(frozen=True)
class Frame:
    """Columns of numbers side by side, columns of text by name.

    Attributes
    ----------
    names : tuple of str
        Names of the columns of numbers.
    numbers : (n, len(names)) array
        NaN where nothing is written.
    texts : dict
        Name -> (n,) object array of str, None where nothing is written; or dates.
    order : tuple of str
        All names, as the file has them.
    notes : tuple of Note
        What was decided while reading.
    id : str, optional
        The column that the file itself marks as the names of the rows.
    places : Places
        Where the rows are in the file.
    options : ReadOptions
        How the file was read.
    expects_missing : bool
        Whether missing values belong to the format (genotypes), so that they are filled.
    given : dict
        Name -> (n,) column of another table on the same rows, such as covariates.
    stored : Source, optional
        Columns of numbers that stay on disk, next to those above.
    stored_columns : int array, optional
        Their numbers in the file; None = all.
    by_name : bool
        Whether they are found again by their names, as the file holds the response among them.
    declared : dict
        Columns that a data frame declares to be categorical -> their levels in order, lowest
        first; none where they have no order.
    """

    names: tuple[str, ...]
    numbers: Array
    texts: dict[str, Texts]
    order: tuple[str, ...]
    notes: tuple[Note, ...] = ()
    id: str | None = None
    places: Places = field(default_factory=Places)
    options: ReadOptions = PLAIN
    expects_missing: bool = False
    given: dict[str, Any] = field(default_factory=dict)
    stored: Source | None = None
    stored_columns: IntArray | None = None
    by_name: bool = False
    declared: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @cached_property
    def where(self) -> dict[str, int]:
        """Places of the columns of numbers."""
        return {name: k for k, name in enumerate(self.names)}

    @property
    def n_rows(self) -> int:
        return len(self.numbers)

    def column(self, name: str) -> Any:
        """One column, numbers or text."""
        if name in self.texts:
            return self.texts[name]
        if name in self.given and name not in self.where:
            return self.given[name]
        return np.asarray(self.numbers[:, self.where[name]])

    def take(self, rows: IntArray) -> Frame:
        texts = {name: values[rows] for name, values in self.texts.items()}
        given = {name: values[rows] for name, values in self.given.items()}
        return replace(
            self,
            numbers=self.numbers[rows],
            texts=texts,
            places=self.places.take(rows),
            given=given,
            stored=None if self.stored is None else take_rows(self.stored, rows),
        )

    def without(self, names: Collection[str]) -> Frame:
        """The same without some columns; what is known from other tables stays."""
        kept = np.array([name not in names for name in self.names], dtype=bool)
        texts = {name: values for name, values in self.texts.items() if name not in names}
        frame = self if kept.all() else self.only(kept)
        order = tuple(name for name in frame.order if name not in names)
        return replace(frame, texts=texts, order=order)

    def only(self, kept: NDArray[np.bool_]) -> Frame:
        """The same with some of the columns of numbers, by a mask."""
        lost = {name for name, stays in zip(self.names, kept, strict=True) if not stays}
        return replace(
            self,
            names=tuple(name for name in self.names if name not in lost),
            numbers=columns_at(self.numbers, np.flatnonzero(kept)),
            order=tuple(name for name in self.order if name not in lost),
        )


def check_columns_exist(order: Sequence[str], asked: Sequence[str]) -> None:
    """Refuse names that the table does not have."""
    there = set(order)
    lost = [name for name in asked if name not in there]
    if lost:
        hint = did_you_mean(lost[0], order) or f" It has {listed(order, 5)}."
        raise TableError(f"the table has no column {listed(lost)}.{hint}")


def columns_at(X: Array, at: IntArray) -> Array:
    """Some columns in rising order, without a copy where these lie next to each other."""
    if len(at) and at[-1] - at[0] + 1 == len(at):
        return X[:, at[0] : at[-1] + 1]
    out = np.empty((len(X), len(at)))
    for start, stop in runs(at):
        out[:, start:stop] = X[:, at[start] : at[start] + stop - start]
    return out


def runs(*places: IntArray) -> Iterator[tuple[int, int]]:
    """Where numbers that all count up by one begin and end.

    Examples
    --------
    >>> list(runs(np.array([0, 1, 5, 6, 7])))
    [(0, 2), (2, 5)]
    """
    breaks = (np.diff(np.array(places)) != 1).any(axis=0)
    ends = [0, *(np.flatnonzero(breaks) + 1).tolist(), len(places[0])]
    yield from pairwise(ends) if len(places[0]) else ()


def make_frame(
    order: Sequence[str],
    columns: Sequence[Array | Texts],
    n_rows: int = 0,
) -> Frame:
    """A frame from columns in the file's order; `n_rows` where there are none."""
    check_names(order)
    kept: dict[str, Any] = {}
    texts: dict[str, Any] = {}
    for name, column in zip(order, columns):
        (texts if column.dtype.kind in "OM" else kept)[name] = column
    n = len(columns[0]) if len(columns) else n_rows
    numbers = np.empty((n, len(kept)))
    for k, column in enumerate(kept.values()):
        numbers[:, k] = column
    return Frame(tuple(kept), numbers, texts, tuple(order))


def as_frame(X: Any, names: Sequence[str] = ()) -> Frame:
    """The columns of a data frame (pandas, polars, Arrow), of an array, or of a dict of columns;
    `names` are those of the columns of an array.

    Texts all of which are plain numbers, as ``astype(str)`` writes them, are categories: who wants
    numbers has them. Durations are days.

    Examples
    --------
    >>> frame = as_frame({"dose": [1.5, None], "ward": ["2", "10"], "when": ["1 mg", "NA"]})
    >>> frame.names, list(frame.texts), frame.declared
    (('dose',), ['ward', 'when'], {'ward': ()})
    """
    refuse_lazy(X)
    items = list(X.items() if isinstance(X, dict) else table_columns(X))
    if names and not isinstance(X, dict) and not hasattr(X, "columns"):
        items = [(name, values) for name, (_, values) in zip(names, items, strict=True)]
    order, columns, declared = list[str](), [], dict[str, tuple[str, ...]]()
    for name, values in items:
        column = column_of(str(name), values)
        order.append(str(name))
        columns.append(column)
        if kind_of(values).startswith(DECLARED):
            declared[str(name)] = ordered_levels(values)
        elif column.dtype.kind == "O" and are_plain_numbers(column):
            declared[str(name)] = ()
    return replace(make_frame(order, columns), declared=declared)


def column_of(name: str, values: Any) -> Array | Texts:
    """A column of a data frame as numbers, dates or texts; refused where it is nothing of it.

    It holds categories where it is declared to, or where any of its values is a text: numbers that
    are written as text are texts. Texts that stand for a missing value, such as 'NA', are missing
    unless the column is declared.

    Examples
    --------
    >>> column_of("a", [2, "NA", 3.5]), column_of("a", ["2", "NA", "3.5"])
    (array([2. , nan, 3.5]), array(['2', None, '3.5'], dtype=object))
    """
    values = array_like(values)
    declared = kind_of(values).startswith(DECLARED)
    mixed = isinstance(values, (list, tuple))  # a text would make texts of the numbers
    cells = np.array(values, dtype=object) if mixed else np.asarray(values)
    if cells.ndim != 1:
        raise ValueError(
            f"column {name!r} holds several values in each row: make one column of each."
        )
    out = np.empty(len(cells), dtype=object)
    if declared:
        out[:] = as_levels(values)
        return out
    if cells.dtype.kind in PLAIN_KINDS:
        return np.asarray(cells, dtype=np.float64)
    if cells.dtype.kind == "O":
        cells = without_zones(cells)
    if holds_times(cells):
        known = [cell for cell in cells.tolist() if not is_null(cell)]
        if cells.dtype.kind == "m" or (known and hasattr(known[0], "total_seconds")):
            return cells.astype("timedelta64[s]").astype(float) / 86_400.0
        return np.array([np.datetime64("NaT") if is_null(c) else c for c in cells], "M8[s]")
    there = [None if is_missing(cell) else cell for cell in cells.tolist()]
    if all(cell is None or isinstance(cell, NUMBERS) for cell in there):
        return np.array([np.nan if c is None else float(c) for c in there], dtype=np.float64)
    odd = {type(c).__name__ for c in there if not (c is None or isinstance(c, (str, *NUMBERS)))}
    if odd:
        raise ValueError(
            f"column {name!r} holds {', '.join(sorted(odd)[:3])}: a column is one of numbers, "
            "truth values, dates or texts. Drop it, or turn it into one of these."
        )
    out[:] = [None if cell is None else level_text(cell) for cell in there]
    return out


def without_zones(cells: NDArray[Any]) -> NDArray[Any]:
    """Periods as the times at which they begin, and times with a zone as those of Greenwich."""
    out = np.empty(len(cells), dtype=object)
    for k, cell in enumerate(cells):
        start = cell.to_timestamp() if hasattr(cell, "to_timestamp") else cell
        zone = getattr(start, "tzinfo", None)
        aware = zone is not None and not is_null(start)
        out[k] = start.astimezone(UTC).replace(tzinfo=None) if aware else start
    return out


def ordered_levels(values: Any) -> tuple[str, ...]:
    """The levels of a column of ordered categories, lowest first; none where they have no order."""
    categories = getattr(getattr(values, "dtype", None), "categories", None)
    if not getattr(getattr(values, "dtype", None), "ordered", False):
        return ()
    there = set(as_levels(values))
    return tuple(level for level in as_levels(categories) if level is not None and level in there)


def are_plain_numbers(texts: NDArray[Any]) -> bool:
    """Whether all texts are numbers as Python writes them."""
    there = {text for text in texts.tolist() if text is not None}
    return bool(there) and all(to_number(text) is not None for text in there)


def read_rows(
    header: Sequence[str], rows: Iterable[Sequence[Any]], options: ReadOptions = PLAIN
) -> Frame:
    """A frame from rows of cells: text, numbers or None.

    A column is one of numbers if every cell is a number or missing.
    """
    held = list(rows)
    for line, cells in enumerate(held, start=2):
        if len(cells) != len(header):
            raise ValueError(
                f"line {line} has {len(cells)} cells but the header names {len(header)} columns."
            )
    columns = [to_column(cells, options) for cells in zip(*held)] or [np.zeros(0) for _ in header]
    lines = Places(np.arange(2, len(held) + 2))
    return replace(make_frame(header, columns), places=lines, options=options)
