"""From a frame to what estimators take: which columns, encoded how, and the response."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradsift.data.categories import number_text, whole_labels
from gradsift.data.missing import known
from gradsift.data.odd_cells import as_argument
from gradsift.data.text import BEWARE
from gradsift.protocols import Array, IntArray
from gradsift.tables.beside import aggregated_beside, checked_offset, split_beside
from gradsift.tables.blocks import (
    RowGroups,
    aggregated,
    block_columns,
    block_notes,
    check_group_given,
    read_groups,
    repeat_notes,
    without_log,
)
from gradsift.tables.checks import (
    check_columns_exist,
    check_encoded_names,
    check_roles,
    leak_notes,
)
from gradsift.tables.frame import Frame, counted, is_or_are, listed
from gradsift.tables.leaks import find_leaks
from gradsift.tables.recipe import Choices, Recipe, as_texts
from gradsift.tables.suspects import (
    code_notes,
    constant_notes,
    date_notes,
    identifier_notes,
)
from gradsift.tables.task import order_note, read_target_as
from gradsift.tables.text_columns import text_columns
from gradsift.tables.variants import VariantPlaces

MANY_DROPPED = 0.5
"""Part of the rows above which dropping those with missing values calls for a warning."""


@dataclass(frozen=True)
class Table:
    """What an estimator is fitted to, and what to call it.

    Attributes
    ----------
    X : (n, p) array or Source
    y : (n,) array
    names : sequence of str
        One per column; None = ask the source.
    ids : (n,) array of str, or None
    keep : (k,) int array
        Columns never to be penalised.
    notes : tuple of str
        What was decided on the user's behalf.
    groups : RowGroups, optional
        Which rows belong together.
    covariates : dict, optional
        Name -> (n,) column of numbers or texts that is adjusted for.
    offset : (n,) array, optional
        A known part of the response.
    places : VariantPlaces, optional
        Where the variants of a table of genotypes are.
    """

    X: Any
    y: NDArray[Any]
    names: Sequence[str] | None
    recipe: Recipe
    ids: NDArray[Any] | None = None
    keep: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    notes: tuple[str, ...] = ()
    groups: RowGroups | None = None
    covariates: dict[str, Any] | None = None
    offset: Any = None
    places: VariantPlaces | None = None

    @property
    def told(self) -> dict[str, Any]:
        """What fits, folds and half samples are told about the rows."""
        labels = None if self.groups is None else self.groups.labels
        given = {"groups": labels, "covariates": self.covariates, "offset": self.offset}
        return {name: values for name, values in given.items() if values is not None}


def prepare(frame: Frame, choices: Choices) -> Table:
    """Decide columns, encoding, task and rows.

    Parameters
    ----------
    frame : Frame
    choices : Choices

    Returns
    -------
    table : Table

    Examples
    --------
    >>> from gradsift.tables.frame import read_rows
    >>> frame = read_rows(["who", "sex", "dose", "out"], [["a", "f", "1", "yes"],
    ...     ["b", "m", "2", "no"], ["c", "f", "3", "yes"]])
    >>> table = prepare(frame, Choices(target="out", id="who"))
    >>> table.names, table.recipe.task
    (('dose', 'sex=f', 'sex=m'), 'classification')
    """
    asked = choices.roles
    wanted = [choices.target, *chain(*asked.values())]
    check_columns_exist(frame.order, [name for name in wanted if name not in frame.beside])
    check_roles(choices.target, {option: set(names) for option, names in asked.items()})
    check_group_given(choices)
    notes = list(frame.notes)
    found = text_columns(frame, choices)
    there = known(frame.column(choices.target))
    check_some_known(there, choices.target)
    if not there.all():
        notes.append(left_out(there, choices.target))
        frame = frame.take(np.flatnonzero(there))
    y = frame.column(choices.target)
    reading = read_target_as(y, choices.task, choices.target)
    notes += [note for note in (reading.note, *found.notes) if note]

    out = {choices.target, choices.group, found.id, frame.id, *choices.drop, *found.levels}
    numbers = _with_values(frame, [name for name in frame.names if name not in out], notes)
    recipe = Recipe(
        choices.target,
        reading.task,
        numbers,
        found.levels_of(frame),
        found.id,
        choices.log,
        "mean" if frame.expects_missing and choices.missing == "error" else choices.missing,
        class_names(y, frame.class_names.get(choices.target, ())),
        frame.options,
    )
    check_encoded_names(recipe.names, recipe.origins, choices.target)
    X, frame = _whole_rows(
        recipe if choices.aggregate is None else without_log(recipe), frame, notes
    )
    y = frame.column(choices.target)
    notes += _warnings(X, y, frame, recipe, choices.group)
    if reading.whole and (advice := order_note(y, X, recipe.names, choices.target)):
        notes.append(advice)
    keep = np.array(
        [k for k, origin in enumerate(recipe.origins) if origin in choices.keep], dtype=np.intp
    )
    ids = None if found.id is None else np.array([str(v) for v in as_texts(frame, found.id)])
    table = Table(X, response(y, recipe), recipe.names, recipe, ids, keep, tuple(notes))
    return _grouped(table, frame, choices)


def _grouped(table: Table, frame: Frame, choices: Choices) -> Table:
    """A table with its groups, or one row for each of them, and with what is known beside it."""
    if choices.group is None:
        return with_beside(table, frame.beside, choices)
    groups = read_groups(frame, choices.group)
    if choices.aggregate is None:
        return with_beside(replace(table, groups=groups), frame.beside, choices)
    X, y, ids, note = aggregated(table.X, table.y, groups, choices.aggregate, table.recipe)
    table = replace(table, X=X, y=y, ids=ids, notes=(*table.notes, note))
    beside = {name: v for name, v in frame.beside.items() if name != choices.group}
    return with_beside(table, aggregated_beside(beside, groups.labels), choices)


def with_beside(table: Table, beside: dict[str, Any], choices: Choices) -> Table:
    """A table with the covariates and the offset among what is known beside it."""
    covariates, offset = split_beside(beside, choices)
    if choices.offset is not None:
        if offset is None:
            raise ValueError(
                f"--offset {as_argument(choices.offset)}: the table of covariates (--covariates) "
                "has no such column."
            )
        offset = checked_offset(offset, choices.offset)
    return replace(table, covariates=covariates, offset=offset)


def _with_values(frame: Frame, numbers: Sequence[str], notes: list[str]) -> tuple[str, ...]:
    """The columns in which something is written."""
    where = {name: k for k, name in enumerate(frame.names)}
    empty: NDArray[np.bool_] = np.asarray(np.isnan(frame.numbers).all(axis=0))
    out = [name for name in numbers if empty[where[name]]]
    if out:
        notes.append(
            f"{listed(out)} {'is' if len(out) == 1 else 'are'} empty in every row: left out"
        )
    return tuple(name for name in numbers if not empty[where[name]])


def _whole_rows(recipe: Recipe, frame: Frame, notes: list[str]) -> tuple[Array, Frame]:
    """The columns, without rows that are to be dropped; and what is said of missing values."""
    X = recipe.columns(frame)
    holes = np.isnan(X)
    if not holes.any():
        return X, frame
    counts = holes.sum(axis=0)
    total, worst = int(counts.sum()), sorted(np.flatnonzero(counts), key=lambda k: -counts[k])
    some = ", ".join(f"{int(counts[k])} in {recipe.names[k]!r}" for k in worst[:3])
    some += f" and {counted(len(worst) - 3, 'column')} more" if len(worst) > 3 else ""
    drop = f"--drop {as_argument(recipe.origins[worst[0]])}"
    if recipe.missing == "error":
        row, k = (int(i) for i in np.argwhere(holes)[0])
        raise ValueError(
            f"{counted(total, 'value')} {is_or_are(total)} missing ({some}), the first in column "
            f"{recipe.names[k]!r}, {frame.places.of(recipe.origins[k], row)}. Give --missing mean "
            f"to fill with the means of the columns, --missing drop to leave out "
            f"{counted(int(holes.any(axis=1).sum()), 'row')}, or {drop}."
        )
    if recipe.missing == "mean":
        notes.append(
            f"{counted(total, 'missing value')} ({some}) {is_or_are(total)} filled with the mean "
            "of their column"
        )
        return X, frame
    whole = ~holes.any(axis=1)
    if not whole.any():
        raise ValueError(
            f"--missing drop would drop all {len(X)} rows: none has a value in every column "
            f"(missing: {some}). Give --missing mean, or {drop}."
        )
    dropped = int((~whole).sum())
    many = BEWARE if dropped > MANY_DROPPED * len(X) else ""
    was = "was" if dropped == 1 else "were"
    notes.append(f"{many}{dropped:,} of {len(X):,} rows {was} left out for missing values ({some})")
    return X[whole], frame.take(np.flatnonzero(whole))


def _warnings(X: Array, y: Any, frame: Frame, recipe: Recipe, group: str | None) -> list[str]:
    """Copies of the target are refused; what looks wrong otherwise is said."""
    ordered, levels = recipe.task == "regression", tuple(recipe.levels)
    response(y, recipe)
    leaks = find_leaks(y, X, recipe.origins, frame.column, levels, ordered=ordered)
    suspects = [name for name in (*recipe.numbers, *levels) if name not in leaks.finer]
    blocks = () if group is not None else block_columns(frame, y, suspects)
    return [
        *constant_notes(X, recipe.origins),
        *leak_notes(recipe.target, leaks, len(y)),
        *identifier_notes(frame, recipe.numbers),
        *date_notes(frame, recipe.numbers, levels),
        *block_notes(blocks, recipe.target),
        *(repeat_notes(X, frame.places) if group is None else []),
        *code_notes(y, recipe.target),
    ]


def left_out(there: NDArray[np.bool_], target: str) -> str:
    """A note on the rows without a target."""
    count = int((~there).sum())
    was = "was" if count == 1 else "were"
    return f"{counted(count, 'row')} without {target!r} {was} left out"


def check_some_known(there: NDArray[np.bool_], target: str) -> None:
    if not there.any():
        raise ValueError(f"the target {target!r} is missing in all {len(there)} rows.")


def response(y: Array | NDArray[Any], recipe: Recipe) -> NDArray[Any]:
    """The target as an estimator takes it: numbers, or labels as texts; as whole numbers where all
    are, because classes are in the order of their labels.
    """
    if recipe.task == "regression":
        if y.dtype.kind == "O":
            raise ValueError(f"the target {recipe.target!r} holds text: it cannot be regressed on.")
        return y
    if y.dtype.kind == "O":
        return whole_labels(y.astype(str))
    values, codes = np.unique(y, return_inverse=True)
    names = [recipe.classes.get(number_text(v), number_text(v)) for v in values]
    return whole_labels(np.array(names))[codes]


def class_names(y: Array | NDArray[Any], names: Sequence[str]) -> dict[str, str]:
    """What each number of a target stands for, if there are as many names as numbers."""
    if y.dtype.kind == "O" or not names:
        return {}
    values = np.unique(y)
    if len(values) != len(names):
        return {}
    return dict(zip(map(number_text, values), names))
