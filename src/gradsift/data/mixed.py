"""Tables of numbers, truth values and categories side by side, as columns of numbers.

A column of L categories becomes L columns of 0 and 1, a column of numbers stays one. Where missing
values are to count, a column that has some gets another: 1 where the value is missing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradsift.data.categories import (
    DECLARED,
    MOST_LEVELS,
    PLAIN_KINDS,
    as_levels,
    holds_times,
    kind_of,
    level_columns,
    level_name,
    numbers_or_levels,
    table_columns,
    text_levels,
    unseen_levels,
)
from gradsift.data.missing import NUMBERS, is_hole, is_missing, to_number
from gradsift.data.odd_cells import is_dates, odd_cells
from gradsift.protocols import Array, IntArray

MOST_DECLARED = 0.25
"""Levels of a column that its data frame declares to be categorical, as a part of the rows."""
DATES = ("date", "time", "duration", "period", "interval")


@dataclass(frozen=True)
class MixedColumn:
    """How one column of a table becomes columns of numbers.

    Attributes
    ----------
    name : str
    levels : tuple of str
        The categories of the column; empty for numbers.
    indicator : bool
        Whether another column says where the value is missing.
    """

    name: str
    levels: tuple[str, ...] = ()
    indicator: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """What the encoded columns are called."""
        own = tuple(level_name(self.name, level) for level in self.levels) or (self.name,)
        return (*own, f"{self.name} is missing") if self.indicator else own

    def texts(self, values: Any) -> list[str | None]:
        """Categories as texts, None where one is missing. A text that stands for a missing value,
        such as 'NA', is one unless it is a category.
        """
        found = as_levels(values)
        return [None if v not in self.levels and is_missing(v) else v for v in found]

    def encode(self, values: Any) -> Array:
        """The encoded columns, (n, len(names)); NaN where a number is missing."""
        if self.levels:
            texts = self.texts(values)
            out, holes = level_columns(texts, self.levels), np.array([v is None for v in texts])
        else:
            out = as_numbers(self.name, values)[:, None]
            holes = np.isnan(out[:, 0])
        return np.column_stack([out, holes]) if self.indicator else out

    def unseen(self, values: Any) -> str | None:
        """A sentence on categories that the fit has not seen."""
        if not self.levels:
            return None
        return unseen_levels(repr(self.name), self.texts(values), self.levels)


@dataclass(frozen=True)
class TableEncoder:
    """How a mixed table becomes columns of numbers: plain data, learnt from the rows of a fit."""

    columns: tuple[MixedColumn, ...]

    @property
    def names(self) -> list[str]:
        """Names of the encoded columns."""
        return [name for column in self.columns for name in column.names]

    @property
    def origins(self) -> IntArray:
        """The column of the table behind each encoded column."""
        counts = [len(column.names) for column in self.columns]
        return np.repeat(np.arange(len(counts)), counts)

    def encode(self, X: Any) -> Array:
        """The encoded columns of a table with the columns of the fit, in their order."""
        made = zip(self.columns, table_columns(X), strict=True)
        parts = [column.encode(values) for column, (_, values) in made]
        return np.concatenate(parts, axis=1)

    def without_category(self, X: Any) -> dict[str, int]:
        """Columns of categories with rows that have none -> the first such row."""
        made = zip(self.columns, table_columns(X), strict=True)
        texts = {c.name: c.texts(values) for c, (_, values) in made if c.levels}
        return {name: found.index(None) for name, found in texts.items() if None in found}

    def unseen(self, X: Any) -> list[str]:
        """A sentence for each column with categories that the fit has not seen."""
        made = zip(self.columns, table_columns(X), strict=True)
        return [text for column, (_, values) in made if (text := column.unseen(values))]


def is_mixed(X: object) -> bool:
    """Whether a data frame has a column that is not plainly one of numbers."""
    if not hasattr(X, "columns") or callable(X.columns):
        return False
    return any(
        kind_of(values).startswith(DECLARED) or np.asarray(values).dtype.kind not in PLAIN_KINDS
        for _, values in table_columns(X)
    )


def as_numbers(name: str, values: Any) -> Array:
    """A column of numbers or truth values; NaN where it is missing."""
    cells = np.asarray(values)
    found = numbers_or_levels(cells)
    if found.dtype.kind == "O":
        row = next(k for k, v in enumerate(cells) if not (isinstance(v, NUMBERS) or is_missing(v)))
        raise ValueError(
            f"column {name!r} should hold numbers but holds {cells[row]!r} (row {row}). Give it "
            "values like those of the fit."
        )
    return np.asarray(found, dtype=np.float64)


def make_encoder(X: Any, missing: str) -> TableEncoder | None:
    """How a table becomes columns of numbers; None where it is numbers already.

    Parameters
    ----------
    X : data frame or array
    missing : {'error', 'mean', 'indicator'}
        'indicator': columns with missing values get another that says where.
    """
    count = missing == "indicator"
    if not count and not is_mixed(X):
        return None
    made = [make_column(name, values, count) for name, values in table_columns(X)]
    plain = not is_mixed(X) and not any(column.indicator for column in made)
    return None if plain else TableEncoder(tuple(made))


def make_column(name: str, values: Any, count_missing: bool) -> MixedColumn:
    """What a column is taken for; refused where it can be of no use."""
    kind, cells = kind_of(values), np.asarray(values)
    if kind.startswith(DATES) or holds_dates(cells):
        raise ValueError(
            f"column {name!r} holds dates or times. Drop it, or turn it into numbers first, "
            "e.g. days since a start."
        )
    found = numbers_or_levels(values)
    if found.dtype.kind == "f":
        return MixedColumn(name, (), count_missing and bool(np.isnan(found).any()))
    texts: list[str | None] = found.tolist()
    most = max(MOST_LEVELS, int(MOST_DECLARED * len(texts)))
    if not kind.startswith(DECLARED):
        check_texts(name, cells, texts)
        most = MOST_LEVELS
    levels = text_levels(texts)
    if len(levels) > most:
        raise ValueError(too_many(name, levels, len(texts), most))
    return MixedColumn(name, tuple(levels), count_missing and None in texts)


def check_texts(name: str, cells: NDArray[Any], texts: list[str | None]) -> None:
    """Refuse a column of texts that are meant as numbers or something else."""
    other = [type(v).__name__ for v in cells.tolist() if not (isinstance(v, str) or is_hole(v))]
    strange = sorted({kind for kind in other if kind not in ("int", "float", "bool", "Decimal")})
    if strange:
        raise ValueError(
            f"column {name!r} holds {', '.join(strange[:3])}: a column is one of numbers, truth "
            "values or texts. Drop it, or turn it into one of these."
        )
    if odd := odd_cells(name, texts, "row {}".format):
        some = ", ".join(f"{cell!r} ({place})" for place, cell in odd.odd[:3])
        raise ValueError(
            f"column {name!r} holds numbers, but {odd.n_odd} of its {odd.n_cells} cells are not "
            f"written as one: {some}. Put numbers or NaN in their place, or say that it holds "
            "categories with astype('category')."
        )


def holds_dates(cells: NDArray[Any]) -> bool:
    """Whether cells, or the texts in them, are dates."""
    there = [v for v in cells.tolist() if not is_hole(v)] if cells.dtype.kind == "O" else []
    texts = bool(there) and all(isinstance(v, str) for v in there)
    return is_dates(sorted(set(there))) if texts else holds_times(cells)


def too_many(name: str, levels: list[str], n_rows: int, most: int) -> str:
    """The message on a column with too many categories."""
    if all(to_number(level) is not None for level in levels):
        return (
            f"column {name!r} holds {len(levels)} different numbers written as text in {n_rows} "
            f"rows, and texts are categories, of which {most} can be told apart. Turn it into "
            "numbers, such as with pandas.to_numeric."
        )
    return (
        f"column {name!r} holds {len(levels)} different texts in {n_rows} rows "
        f"({', '.join(map(repr, levels[:2]))}, ...), more than the {most} that are taken for "
        "categories. Drop it if it names the rows, give it to fit(groups=...) if rows with the "
        "same text belong together, merge rare categories, or turn it into numbers. A column that "
        f"is declared categorical (astype('category')) may have up to {MOST_DECLARED:.0%} as many "
        "categories as there are rows."
    )
