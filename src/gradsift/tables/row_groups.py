"""Groups of rows, named by a column of the table, and one row for each group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradsift.data.categories import whole_labels
from gradsift.data.missing import known
from gradsift.data.row_groups import aggregate
from gradsift.protocols import Array
from gradsift.tables.columns import as_texts
from gradsift.tables.frame import Frame
from gradsift.tables.notes import Note, TableError, counted
from gradsift.tables.recipe import Recipe


@dataclass(frozen=True)
class RowGroups:
    """The rows that belong together, by the column that says so."""

    column: str
    labels: NDArray[Any]

    @property
    def count(self) -> int:
        return len(np.unique(self.labels))


def read_groups(frame: Frame, column: str) -> RowGroups:
    """The labels in a column, none of which may be missing; groups are in their order."""
    labels = as_texts(frame.column(column))
    there = known(labels)
    if not there.all():
        place = frame.places.of(column, int(np.argmin(there)))
        raise TableError(
            f"{counted(int((~there).sum()), 'row')} without a group in {column!r}, the first in "
            f"{place}. Write the group of each row there.",
            "group",
        )
    return RowGroups(column, whole_labels(labels.astype(str)))


def aggregated(
    X: Array, y: Any, groups: RowGroups, how: Any, recipe: Recipe
) -> tuple[Array, Any, NDArray[Any], Note]:
    """One row for each group: columns, target, labels, and a note on it. Logarithms are taken of
    what was aggregated.
    """
    labels = recipe.task == "classification"  # numbers of classes have no mean
    table = aggregate(X, y.astype(str) if labels else y, groups.labels, how)
    made, target = table.X, whole_labels(table.y) if labels else table.y
    recipe.transform_columns(made)
    return made, target, table.groups.astype(str), became(len(X), len(made), groups.column, how)


def became(n_rows: int, n_groups: int, column: str, how: str) -> Note:
    """A note on rows that were made one of each group."""
    said = (
        f"{counted(n_rows, 'row')} became {n_groups:,}, one for each value of {column!r} "
        f"(the {how} of its rows). Prepare a new table in the same way before predicting it"
    )
    return Note("read", said, (column,), "aggregate")
