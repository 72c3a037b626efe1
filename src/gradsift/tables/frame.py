"""A table in memory, as files hold it: columns of numbers and columns of text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradsift._typing import Array, IntArray

Texts = NDArray[np.object_]
MISSING = frozenset({"", "NA", "N/A", "NaN", "nan", "NULL", "null", "None", "?", "-", "."})
CHUNK_CELLS = 5_000_000  # cells of text held at a time


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
    """

    names: tuple[str, ...]
    numbers: Array
    texts: dict[str, Texts]
    order: tuple[str, ...]
    class_names: dict[str, tuple[str, ...]]

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
        return Frame(self.names, self.numbers[rows], texts, self.order, self.class_names)


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
    numbers = np.column_stack(list(kept.values())) if kept else np.zeros((n, 0))
    return Frame(tuple(kept), numbers, texts, tuple(order), class_names or {})


def check_names(names: Sequence[str]) -> None:
    """Refuse a header in which two columns share a name."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        some = ", ".join(repr(name) for name in twice[:5])
        raise ValueError(
            f"the header names {some} more than once: give every column a name of its own."
        )


class TextMetError(ValueError):
    """A column taken for numbers holds text further down."""

    def __init__(self, column: int) -> None:
        super().__init__(str(column))
        self.column = column


def read_rows(
    header: Sequence[str], rows: Iterable[Sequence[Any]], as_text: frozenset[int] = frozenset()
) -> Frame:
    """A frame from rows of cells (text, numbers or None), parsed some thousand rows at a time.

    A column is one of numbers if every cell is a number or empty. `TextMetError` names a column
    that looked so in earlier rows and is not: read again with it in `as_text`.
    """
    width = len(header)
    per_chunk = max(100, CHUNK_CELLS // max(width, 1))
    found: list[list[Array | Texts]] = []
    source, line = iter(rows), 1
    while chunk := list(islice(source, per_chunk)):
        for cells in chunk:
            line += 1
            if len(cells) != width:
                raise ValueError(
                    f"line {line} has {len(cells)} cells but the header names {width} columns."
                )
        parsed = [
            to_text(cells) if k in as_text else to_column(cells)
            for k, cells in enumerate(zip(*chunk))
        ]
        if found:
            for k, (before, now) in enumerate(zip(found[0], parsed)):
                if before.dtype.kind != now.dtype.kind:
                    raise TextMetError(k)
        found.append(parsed)
    if not found:
        raise ValueError("the table has a header but no rows.")
    return make_frame(header, [np.concatenate(parts) for parts in zip(*found)])


def to_column(cells: Sequence[Any]) -> Array | Texts:
    """Numbers if every cell is one or empty, else text."""
    try:
        return np.array(cells, dtype=np.float64)
    except (TypeError, ValueError):
        pass
    try:
        return np.array([np.nan if is_missing(c) else c for c in cells], dtype=np.float64)
    except (TypeError, ValueError):
        return to_text(cells)


def to_text(cells: Sequence[Any]) -> Texts:
    out = np.empty(len(cells), dtype=object)
    out[:] = [None if is_missing(c) else str(c).strip() for c in cells]
    return out


def is_missing(cell: Any) -> bool:
    return cell is None or (isinstance(cell, str) and cell.strip() in MISSING)


def reread_as_text(read: Any) -> Frame:
    """read(as_text), again with every column that turns out to be text."""
    as_text: frozenset[int] = frozenset()
    while True:
        try:
            frame: Frame = read(as_text)
            return frame
        except TextMetError as met:
            as_text |= {met.column}


def text_levels(values: Iterable[Any]) -> list[str]:
    """Distinct texts, sorted."""
    return sorted({v for v in values if v is not None})
