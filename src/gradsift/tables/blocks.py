"""Rows that belong together: given by a column, or suspected."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradsift.data.categories import whole_labels
from gradsift.data.missing import known
from gradsift.data.odd_cells import as_argument
from gradsift.data.row_groups import aggregate, constant_in_groups, group_codes
from gradsift.data.text import BEWARE
from gradsift.numerics.repeated_rows import repeat_words, repeated_rows
from gradsift.protocols import Array
from gradsift.tables.frame import Frame, Places, counted, listed
from gradsift.tables.recipe import Choices, Recipe, as_texts, log_columns
from gradsift.tables.suspects import whole_numbers

CHANCE = np.log(1e-6)
"""Log probability below which a target that never changes inside of blocks is no chance."""


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
    labels = as_texts(frame, column)
    there = known(np.array(labels, dtype=object))
    if not there.all():
        place = frame.places.of(column, int(np.argmin(there)))
        raise ValueError(
            f"--group {as_argument(column)}: {counted(int((~there).sum()), 'row')} without a value "
            f"in {column!r}, the first in {place}. Write the group of each row there."
        )
    return RowGroups(column, whole_labels(np.array([str(label) for label in labels])))


def aggregated(
    X: Array, y: Any, groups: RowGroups, how: Any, recipe: Recipe
) -> tuple[Array, Any, NDArray[Any], str]:
    """One row for each group: columns, target, labels, and a note on it. Logarithms are taken of
    what was aggregated.
    """
    labels = recipe.task == "classification"  # numbers of classes have no mean
    table = aggregate(X, y.astype(str) if labels else y, groups.labels, how)
    made, target = table.X, whole_labels(table.y) if labels else table.y
    if recipe.log:
        k = len(recipe.numbers)
        made[:, :k] = log_columns(made[:, :k], recipe.numbers)
    return made, target, table.groups.astype(str), became(len(X), len(made), groups.column, how)


def became(n_rows: int, n_groups: int, column: str, how: str) -> str:
    """A note on rows that were made one of each group."""
    return (
        f"{counted(n_rows, 'row')} became {n_groups:,}, one for each value of {column!r} "
        f"(the {how} of its rows). A new table must be made likewise before it is predicted"
    )


def check_group_given(choices: Choices) -> None:
    """Refuse to make one row of each group where nothing says which these are."""
    if choices.aggregate is not None and choices.group is None:
        raise ValueError("--aggregate makes one row of each group: say which column by --group.")


def without_log(recipe: Recipe) -> Recipe:
    return replace(recipe, log=False)


def block_columns(frame: Frame, y: Any, columns: Sequence[str]) -> tuple[str, ...]:
    """Columns of texts or whole numbers that divide the rows into blocks in which the target
    never changes, more of them than the target has values, and not by chance.

    Examples
    --------
    >>> from gradsift.tables.frame import make_frame
    >>> donor = np.repeat(np.arange(6.0), 10)
    >>> y = np.where(np.isin(donor, [1, 2, 5]), "ill", "well").astype(object)
    >>> block_columns(make_frame(["donor", "y"], [donor, y]), y, ["donor"])
    ('donor',)
    """
    kinds, place = np.unique(np.asarray(y).astype(str), return_inverse=True)
    share = np.bincount(place) / len(place)
    same = float(np.log(np.maximum(share @ share, 1e-300)))
    found = []
    for name, labels in _labels(frame, columns):
        count = len(np.unique(labels))
        if len(kinds) < count <= len(labels) / 2 and (len(labels) - count) * same < CHANCE:
            codes = group_codes(labels, len(labels))
            if constant_in_groups(place, codes):
                found.append(name)
    return tuple(found)


def _labels(frame: Frame, columns: Sequence[str]) -> Iterator[tuple[str, NDArray[Any]]]:
    """The columns of texts and of whole numbers in which nothing is missing."""
    for name in columns:
        if name in frame.texts and None not in frame.texts[name]:
            yield name, frame.texts[name].astype(str)
    yield from whole_numbers(frame, [name for name in columns if name not in frame.texts])


def block_notes(columns: Sequence[str], target: str) -> list[str]:
    """A note on columns that divide the rows into blocks, and the option for them."""
    if not columns:
        return []
    return [
        f"{BEWARE}the target {target!r} never changes among rows that agree in {listed(columns)}. "
        f"If these are rows of one subject, sample or batch, give --group "
        f"{as_argument(columns[0])}: otherwise each row counts as a sample of its own, and more is "
        "selected than is true"
    ]


def repeat_notes(X: Array, places: Places) -> list[str]:
    """A note on rows that are measurements of the same sample, or copies."""
    found = repeated_rows(X)
    if not found:
        return []
    pair = [f"sample {k + 1}" for k in found[0][:2]]
    if places.columns is None:
        pair = [places.of("", k) for k in found[0][:2]]
    return [
        f"{BEWARE}{repeat_words(found, pair, len(X))} If a column says which rows belong together, "
        "give --group COLUMN; leave copies out"
    ]
