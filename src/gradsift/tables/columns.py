"""The columns of a user's table, and how they become columns of numbers: plain data.

The same map encodes the rows of a fit and new rows, for tables in files, data frames in Python and
covariates. A column of L categories becomes L columns of 0 and 1, a date the days since the first
one and the parts of the calendar that differ from that, an ordered category its rank. All columns
that one column became are one variable. Identifiers and free text have no column in the design
matrix.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from gradsift.data.categories import level_columns, number_text, text_levels, unseen_levels
from gradsift.protocols import Array, IntArray
from gradsift.tables.frame import Frame, as_frame, runs
from gradsift.tables.notes import Note, counted, listed
from gradsift.tables.parse import COMPACT, NumberStyle, days, read_dates, read_numbers

Role = Literal[
    "number", "category", "ordered category", "date",
    "identifier", "group of rows", "free text", "constant", "leak", "another response", "event",
    "dropped", "target",
]  # fmt: skip
VARIABLES = ("number", "category", "ordered category", "date")
"""Roles of columns that are variables."""
MISSING, OTHER = "(missing)", "(other)"
"""Levels of rows without a category, and of rare categories joined."""
MOST_LEVELS = 30
"""Levels of a category; beyond, the rarest are joined."""
LEAST_ROWS = 5
"""Rows of a level that is kept where others are joined."""
DAY = 86_400.0


@dataclass(frozen=True)
class Column:
    """The role of a column of the user's table, and how it becomes numbers.

    Attributes
    ----------
    name : str
    role : str
    why : str
        What speaks for the role, for a note.
    style : NumberStyle, optional
        How numbers are written, where the column holds texts.
    format : str
        Of dates, where the column holds texts; '%Y%m%d' where it holds numbers.
    levels : tuple of str
        Of a category, in order; those of an ordered one from the lowest to the highest.
    parts : tuple of str
        Of a date: 'days', 'month', 'weekday', 'hour'.
    start : str
        The date from which days are counted.
    indicator : bool
        Whether another column is 1 where the value is missing.
    """

    name: str
    role: Role = "number"
    why: str = ""
    style: NumberStyle | None = None
    format: str = ""
    levels: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    start: str = ""
    indicator: bool = False

    @property
    def categories(self) -> tuple[str, ...]:
        """The levels that have a column of 0 and 1 each."""
        return self.levels if self.role == "category" else ()

    @property
    def is_variable(self) -> bool:
        return self.role in VARIABLES

    @property
    def encoded(self) -> tuple[str, ...]:
        """Names of its columns in the design matrix."""
        own: tuple[str, ...] = ()
        if self.role == "category":
            own = tuple(f"{self.name}={level}" for level in self.levels)
        elif self.role == "date":
            own = tuple(f"{self.name}: {part}" for part in self.parts)
        elif self.is_variable:
            own = (self.name,)
        return (*own, f"{self.name} is missing") if self.indicator else own

    def read(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values as the role has them: numbers, dates or texts; NaN, NaT or None where missing."""
        kind = values.dtype.kind
        if self.role == "number":
            if kind == "O":
                return read_numbers(values, self.style or NumberStyle())
            return np.full(len(values), np.nan) if kind == "M" else values
        if self.role == "date":
            if kind == "M":
                return values
            if kind == "f":
                return days(values)
            if self.format == COMPACT:
                return days(read_numbers(values, NumberStyle()))
            return read_dates(values, self.format)
        return as_texts(values)

    def encode(self, values: NDArray[Any]) -> tuple[Array, list[Note]]:
        """(n, len(encoded)) columns, NaN where a number is missing; and what is odd about rows."""
        read = self.read(values)
        notes, lost = [], int((is_missing(read) & ~is_missing(values)).sum())
        if lost:
            what = "dates" if self.role == "date" else "numbers"
            said = f"{counted(lost, 'cell')} of {self.name!r} cannot be read as {what}: filled"
            notes.append(Note("new rows", said, (self.name,)))
        if self.role == "category":
            made, unseen = self._levels(read.tolist())
        elif self.role == "ordered category":
            rank = {level: float(k) for k, level in enumerate(self.levels)}
            made = np.array([[rank.get(text, np.nan)] for text in read.tolist()])
            unseen = [text for text in read.tolist() if text is not None and text not in rank]
        else:
            made = self._parts(read) if self.role == "date" else read[:, None].astype(np.float64)
            unseen = []
        counted_as = (
            "as a missing value" if self.role != "category" else "as none of the known categories"
        )
        if said_unseen := unseen_levels(repr(self.name), unseen, len(values), counted_as):
            notes.append(Note("new rows", said_unseen, (self.name,)))
        if self.indicator:
            made = np.column_stack([made, is_missing(read)])
        return made, notes

    def _levels(self, texts: list[str | None]) -> tuple[Array, list[str]]:
        """The 0/1 columns of a category, and texts that belong to none of them."""
        known = set(self.levels)
        if OTHER in known:
            texts = [OTHER if t is not None and t not in known else t for t in texts]
        unseen = [text for text in texts if text is not None and text not in known]
        return level_columns([MISSING if t is None else t for t in texts], self.levels), unseen

    def _parts(self, dates: NDArray[np.datetime64]) -> Array:
        """The columns of a date."""
        gone = np.isnat(dates)
        day = dates.astype("datetime64[D]")
        made = {
            "days": lambda: (dates - np.datetime64(self.start, "s")).astype(np.float64) / DAY,
            "month": lambda: dates.astype("datetime64[M]").astype(np.float64) % 12 + 1,
            "weekday": lambda: (day.astype(np.float64) + 3) % 7 + 1,
            "hour": lambda: (dates - day).astype("timedelta64[h]").astype(np.float64),
        }
        columns = [np.where(gone, np.nan, made[part]()) for part in self.parts]
        return np.column_stack(columns)


def is_missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether each number, date or text is missing."""
    if values.dtype.kind == "M":
        return np.asarray(np.isnat(values))
    if values.dtype.kind == "O":
        return np.array([value is None for value in values.tolist()], dtype=bool)
    return np.asarray(np.isnan(values))


def as_texts(values: NDArray[Any]) -> NDArray[Any]:
    """A column as texts, None where it is missing; whole numbers without a decimal point."""
    if values.dtype.kind == "O":
        return values
    write = str if values.dtype.kind == "M" else number_text
    out = np.empty(len(values), dtype=object)
    out[:] = [None if lost else write(v) for lost, v in zip(is_missing(values), values)]
    return out


def with_levels(column: Column, values: NDArray[Any]) -> Column:
    """A category with the levels that it has at the fit, a date with its parts.

    Beyond 30 levels the 29 commonest that have 5 rows at least are kept, and the rest is joined.
    """
    read = column.read(values)
    there = read[~is_missing(read)]
    if column.role == "date":
        return replace(column, parts=date_parts(there), start=str(there.min()))
    if column.role != "category":
        return column
    counts = Counter(there.tolist())
    many = len(counts) > MOST_LEVELS
    kept = common_levels(counts) if many else list(counts)
    extra = [OTHER] * many + [MISSING] * (len(there) < len(read))
    return replace(column, levels=(*text_levels(kept), *extra))


def common_levels(counts: Counter[str]) -> list[str]:
    """The commonest levels, those with enough rows; the commonest alone where none has."""
    best = sorted(counts, key=lambda level: (-counts[level], level))[: MOST_LEVELS - 1]
    return [level for level in best if counts[level] >= LEAST_ROWS] or best


def date_parts(dates: NDArray[np.datetime64]) -> tuple[str, ...]:
    """Days, and the parts of the calendar that can differ from them."""
    day = dates.astype("datetime64[D]")
    span = float((day.max() - day.min()).astype(float))
    parts = ["days"]
    if span > 370 and len(np.unique(dates.astype("datetime64[M]").astype(int) % 12)) > 2:
        parts.append("month")
    if span > 14 and len(np.unique(day)) > 20 and len(np.unique((day.astype(int) + 3) % 7)) > 4:
        parts.append("weekday")
    if len(np.unique((dates - day).astype("timedelta64[h]"))) > 2:
        parts.append("hour")
    return tuple(parts)


@dataclass(frozen=True)
class TableEncoder:
    """Columns of a user's table in their order, and how those that are no plain numbers are read.

    Attributes
    ----------
    table : tuple of str
        All columns.
    special : dict
        Name -> `Column` of all that are not plain numbers.

    Examples
    --------
    >>> from gradsift.tables.frame import make_frame
    >>> column = Column("sex", "category", levels=("f", "m"))
    >>> encoder = TableEncoder(("age", "sex"), {"sex": column})
    >>> sex = np.array(["m", "f"], dtype=object)
    >>> X = encoder.encode(make_frame(["sex", "age"], [sex, np.array([31.0, 42.0])]))
    >>> encoder.names, X.tolist()
    (('age', 'sex=f', 'sex=m'), [[31.0, 0.0, 1.0], [42.0, 1.0, 0.0]])
    """

    table: tuple[str, ...] = ()
    special: dict[str, Column] = field(default_factory=dict)

    @property
    def columns(self) -> list[Column]:
        return [self.special.get(name) or Column(name) for name in self.table]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the encoded columns."""
        special = self.special
        return tuple(
            encoded
            for name in self.table
            for encoded in (special[name].encoded if name in special else (name,))
        )

    @property
    def origins(self) -> IntArray:
        """The number of the table's column behind each encoded column."""
        special = self.special
        counts = [len(special[n].encoded) if n in special else 1 for n in self.table]
        return np.repeat(np.arange(len(counts)), counts)

    @property
    def origin_names(self) -> tuple[str, ...]:
        """The table's column behind each encoded column: what `feature_groups` takes."""
        return tuple(self.table[k] for k in self.origins.tolist())

    @property
    def ordered(self) -> dict[str, tuple[str, ...]]:
        """Name -> levels of the ordered categories, lowest first."""
        return {column.name: column.levels for column in self.of("ordered category")}

    @property
    def is_plain(self) -> bool:
        """Whether every column is one of plain numbers."""
        return not self.special

    @property
    def amounts(self) -> IntArray:
        """Encoded columns that are numbers of the table."""
        named = {n for n, column in self.special.items() if column.role != "number"}
        named |= {f"{name} is missing" for name in self.special}
        pairs = zip(self.origin_names, self.names, strict=True)
        return np.flatnonzero([o not in named and name not in named for o, name in pairs])

    def of(self, *roles: str) -> list[Column]:
        """Columns with one of these roles; columns of plain numbers are never included."""
        return [column for column in self.special.values() if column.role in roles]

    def encode(self, table: Any) -> Array:
        """The encoded columns (n, len(names)) of a data frame, an array or a `Frame`; NaN where a
        number is missing.
        """
        return self.read(table if isinstance(table, Frame) else as_frame(table, self.table))[0]

    def read(
        self, frame: Frame, needed: set[str] | None = None, fill: Array | None = None
    ) -> tuple[Array, list[Note]]:
        """The encoded columns of a frame, and what is odd about its rows.

        Parameters
        ----------
        frame : Frame
            Columns in any order.
        needed : set of str, optional
            The columns that matter; None = all. The others are not read.
        fill : (len(names),) array, optional
            Values of columns that do not matter.

        Returns
        -------
        X : (n, len(names)) array
            NaN where a number is missing, or its whole column.
        notes : list of Note
        """
        there = set(frame.order)
        X = np.empty((frame.n_rows, len(self.names)))
        if needed is not None:
            X[:] = np.nan if fill is None else fill
        where = {name: k for k, name in enumerate(frame.names)}
        notes, lost, plain, at = list[Note](), list[str](), list[tuple[int, int]](), 0
        for name in self.table:
            column = self.special.get(name)
            width = 1 if column is None else len(column.encoded)
            start, at = at, at + width
            if width == 0 or (needed is not None and name not in needed):
                continue
            if name not in there:
                lost.append(name)
                X[:, start:at] = 0.0 if column is not None and column.levels else np.nan
            elif column is None and name in where:
                plain.append((start, where[name]))
            else:
                values = frame.column(name)
                X[:, start:at], said = (column or Column(name)).encode(values)
                notes += said
        to, at_of = np.array(plain, dtype=np.intp).reshape(-1, 2).T
        for start, stop in runs(to, at_of):
            block = frame.numbers[:, at_of[start] : at_of[start] + stop - start]
            X[:, to[start] : to[start] + stop - start] = block
        if lost:
            text = f"the table lacks {listed(lost)}, filled as missing values are"
            notes.append(Note("new rows", text, tuple(lost)))
        return X, notes


def encoded_twice(names: Sequence[str]) -> list[str]:
    """Names that several encoded columns share."""
    return [name for name, count in Counter(names).items() if count > 1]
