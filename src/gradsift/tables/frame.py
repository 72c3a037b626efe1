"""A table in memory, as files hold it: columns of numbers and columns of text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradsift._typing import Array, IntArray
from gradsift.data.cells import Cells, TextMetError, Texts, parse
from gradsift.data.missing import is_missing, to_number
from gradsift.data.text import Row, check_names


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
        Name -> (n,) object array of str, None where nothing is written.
    order : tuple of str
        All names, as the file has them.
    class_names : dict
        Column -> names of the classes its numbers stand for, in order, where the file tells.
    notes : tuple of str
        What was decided while reading.
    """

    names: tuple[str, ...]
    numbers: Array
    texts: dict[str, Texts]
    order: tuple[str, ...]
    class_names: dict[str, tuple[str, ...]]
    notes: tuple[str, ...] = ()

    @property
    def n_rows(self) -> int:
        return len(self.numbers)

    def column(self, name: str) -> Any:
        """One column, numbers or text."""
        if name in self.texts:
            return self.texts[name]
        return np.asarray(self.numbers[:, self.names.index(name)])

    def take(self, rows: IntArray) -> Frame:
        texts = {name: values[rows] for name, values in self.texts.items()}
        return replace(self, numbers=self.numbers[rows], texts=texts)


def make_frame(
    order: Sequence[str],
    columns: Sequence[Array | Texts],
    class_names: dict[str, tuple[str, ...]] | None = None,
) -> Frame:
    """A frame from columns in the file's order."""
    check_names(order)
    kept: dict[str, Any] = {}
    texts: dict[str, Any] = {}
    for name, column in zip(order, columns):
        (texts if column.dtype.kind == "O" else kept)[name] = column
    n = len(columns[0]) if len(columns) else 0
    numbers = np.empty((n, len(kept)))
    for k, column in enumerate(kept.values()):
        numbers[:, k] = column
    return Frame(tuple(kept), numbers, texts, tuple(order), class_names or {})


def read_rows(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> Frame:
    """A frame from rows of cells: text, numbers or None.

    A column is one of numbers if every cell is a number or missing.
    """
    held = [(line, cells, True) for line, cells in enumerate(rows, start=2)]
    for line, cells, _ in held:
        if len(cells) != len(header):
            raise ValueError(
                f"line {line} has {len(cells)} cells but the header names {len(header)} columns."
            )
    return read_again(lambda as_text: frame_of(header, held, as_text))


def frame_of(
    header: Sequence[str], rows: Iterable[Row], as_text: frozenset[int], name: str = "the table"
) -> Frame:
    """A frame from rows that are read once; `TextMetError` asks for another reading."""
    check_names(header)
    cells: Cells = parse(len(header), rows, as_text, name)
    texts = {header[k]: column for k, column in cells.texts.items()}
    names = tuple(title for title in header if title not in texts)
    return Frame(names, cells.numbers, texts, tuple(header), {})


def read_again(read: Callable[[frozenset[int]], Frame]) -> Frame:
    """read(columns of text), a second time where text is met far down."""
    as_text: frozenset[int] = frozenset()
    while True:
        try:
            return read(as_text)
        except TextMetError as met:
            as_text |= met.columns


def to_column(cells: Sequence[Any]) -> Array | Texts:
    """Numbers if every cell is one or missing, else text."""
    found = [to_number(cell) for cell in cells]
    if any(value is None for value in found):
        return to_text(cells)
    return np.array(found, dtype=np.float64)


def to_text(cells: Sequence[Any]) -> Texts:
    out = np.empty(len(cells), dtype=object)
    out[:] = [None if is_missing(c) else str(c).strip() for c in cells]
    return out


def listed(names: Sequence[str], most: int = 3) -> str:
    """'a', 'b', 'c' and 4 more."""
    shown = ", ".join(repr(name) for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")


def text_levels(values: Iterable[Any]) -> list[str]:
    """Distinct texts, sorted."""
    return sorted({v for v in values if v is not None})
