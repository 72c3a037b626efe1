"""Tables that are too large for memory, where they lie: rows, columns and groups by passes."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradsift._run.memory import available_memory, check_memory
from gradsift._run.suggest import did_you_mean
from gradsift.data import checked, open_source, read_target, take_rows
from gradsift.data.categories import to_column, to_text
from gradsift.data.formats.registry import holds_target, read_ids, stored_names
from gradsift.data.missing import known
from gradsift.data.row_groups import (
    aggregate_response,
    group_codes,
    groups_in_memory,
)
from gradsift.data.source import ColumnsSource
from gradsift.data.text import ROW_NAMES, names_apart
from gradsift.exceptions import SkippedColumnsWarning
from gradsift.protocols import IntArray, Source
from gradsift.tables.columns import TableEncoder
from gradsift.tables.covariate_file import aggregated_given, choose_rows, response_of_samples
from gradsift.tables.frame import Frame, make_frame
from gradsift.tables.match import INDIVIDUAL, Samples
from gradsift.tables.notes import Note, TableError
from gradsift.tables.prepare import (
    Table,
    can_aggregate,
    check_columns_exist,
    check_some_known,
    left_out,
    prepare,
    with_given,
)
from gradsift.tables.reading import arrow_rows
from gradsift.tables.recipe import Choices, Recipe
from gradsift.tables.response import answer_levels, exposures, find_event, read_task
from gradsift.tables.row_groups import RowGroups, became, check_group_given, read_groups
from gradsift.tables.variants import common_columns, variant_places

IN_MEMORY = 1 << 30
"""Bytes of numbers up to which a table is taken into memory, whatever its format."""
COPIES = 6
"""Of a table: what reading, fitting and folds hold at once."""


def fits_memory(n_rows: int, n_columns: int) -> bool:
    """Whether a table of this size is taken into memory."""
    size = 8 * n_rows * n_columns
    return size <= IN_MEMORY and COPIES * size <= available_memory()


def opened(path: Path, exclude: Sequence[str] = ()) -> tuple[Source, list[Note]]:
    """A source, and what its reader warns of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SkippedColumnsWarning)
        source = open_source(path, exclude=exclude)
    return source, [Note("left out", str(w.message).rstrip(".")) for w in caught]


def stored_frame(path: Path, source: Source, asked: Collection[str]) -> Frame:
    """The columns of a source, and those stored next to them that are asked for, in memory.

    Parameters
    ----------
    path : Path
    source : Source
        Opened from it.
    asked : collection of str
        Names that have a role: of what is stored next to the columns, only these are read.

    Returns
    -------
    frame : Frame
        Columns without a name are called x0, x1, ..., as in Python.
    """
    n, p = source.shape
    numbers = np.empty((n, p))
    for where, block in source.blocks():
        numbers[:, where] = block
    ids, families = read_ids(path)
    texts: dict[str, Any] = {}
    if ids is not None and len(set(ids)) == n:
        texts[ROW_NAMES if families is None else INDIVIDUAL] = to_text(ids)
    stored = {
        name: to_column(np.asarray(read_target(path, name)).tolist())
        for name in stored_names(path)
        if name in asked
    }
    names = source.names() or [f"x{k}" for k in range(p)]
    variables = names_apart(names, {*texts, *stored})
    frame = make_frame(
        [*texts, *variables, *stored], [*texts.values(), *numbers.T, *stored.values()]
    )
    return replace(frame, id=next(iter(texts), None), expects_missing=source.expects_missing)


@dataclass(frozen=True)
class Rows:
    """The rows of a stored table that count.

    Attributes
    ----------
    source : Source
        Of all rows.
    listed : int array
        Rows that the lists of samples and the covariates leave.
    chosen : int array
        Those of them that have a target.
    y : dict
        Name -> values of the columns of their response.
    ids : array of str, or None
        Their names.
    given : dict
        What other files know of them.
    drop : tuple of str
        Columns that are yet to be left out.
    notes : list of Note
    """

    source: Source
    listed: IntArray
    chosen: IntArray
    y: dict[str, Any]
    ids: NDArray[Any] | None
    given: dict[str, Any]
    drop: tuple[str, ...]
    notes: list[Note]


def open_large(path: Path, choices: Choices, target_from: Path | None) -> Table:
    """A table that is too large for memory, or one row for each of its groups.

    Parameters
    ----------
    path : Path
    choices : Choices
    target_from : Path, optional
        Another table with the target.

    Returns
    -------
    table : Table
        Its X is a source; where groups were made one row each, an array.
    """
    check_group_given(choices)
    rows = _rows(path, choices, target_from)
    groups = None
    if choices.group is not None:
        groups = _stored_groups(path, choices.group, rows.given, rows.chosen)
    made = groups if choices.aggregate is not None else None
    _check_applies(path, choices, made is not None)
    left = _columns(rows, choices)
    columns, target = choices.response, choices.target
    if columns.more_targets:
        raise TableError(f"{path.name} is too large for memory, and has one target only.", "target")
    task, said = read_task(rows.y[target], columns.task(choices.task), target)
    if columns.event is not None:
        value, note = find_event(rows.y[columns.event], columns.event, columns.event_value)
        columns, said = replace(columns, event_value=value), [*said, note]
    levels = answer_levels(rows.y[target], (), target) if task == "ordinal" else ()
    notes = (*rows.notes, *left.notes, *said)
    by_name = holds_target(path)  # a new table may hold other columns
    recipe = Recipe(
        columns,
        task,
        TableEncoder(tuple(left.source.names() or ()) if by_name else ()),
        choices.id if by_name else None,
        missing=choices.missing,
        levels=levels,
        stored=None if by_name else left.numbers,
    )
    y = columns.read(rows.y, task, levels, {})
    table = Table(left.source, y, None, recipe, rows.ids, left.keep, notes, groups)
    if columns.exposure is not None:
        table = replace(table, exposure=exposures(rows.y[columns.exposure], columns.exposure))
    if made is not None and not can_aggregate(table):
        raise TableError(f"one row of each group cannot be made with {task}.", "aggregate")
    if made is None:
        table = with_given(table, rows.given, choices)
    else:
        table = _aggregated(table, made, rows.given, choices)
    return replace(table, places=variant_places(path))


def _rows(path: Path, choices: Choices, target_from: Path | None) -> Rows:
    """The rows that count, and their targets."""
    own = own_columns(path)
    response = choices.response.names
    aside = [choices.id, choices.group, *(() if target_from else response), *choices.drop]
    source, notes = opened(path, [name for name in own if name in aside])
    ids, families = storage_ids(path, choices)
    samples = Samples(path.name, source.shape[0], ids, families, choices.id, stored=True)
    if target_from is not None:
        found, said = response_of_samples(samples, target_from, choices)
        notes += said
    else:
        found = {name: read_target(path, name) for name in response}
    if lost := [name for name in response if name not in found]:
        raise TableError(f"the table of targets has no column {lost[0]!r}.")
    y = {name: to_column(np.asarray(values).tolist()) for name, values in found.items()}
    if wrong := [len(values) for values in y.values() if len(values) != source.shape[0]]:
        raise TableError(f"{wrong[0]} targets were found for {source.shape[0]} rows.")
    listed, given, said = choose_rows(samples, choices)
    there = np.all([known(values[listed]) for values in y.values()], axis=0)
    check_some_known(there, choices.target)
    notes += [*said, *([] if there.all() else [left_out(there, choices.target)])]
    rows = listed[there]
    names = None if ids is None else np.array([str(name) for name in ids])[rows]
    given = {name: values[there] for name, values in given.items()}
    drop = tuple(name for name in choices.drop if name not in own)
    y = {name: values[rows] for name, values in y.items()}
    return Rows(source, listed, rows, y, names, given, drop, notes)


class Columns(NamedTuple):
    """The columns that are left of the rows that count."""

    source: Source
    numbers: IntArray | None
    """Their numbers in the file; None = all."""
    keep: IntArray
    """Those never to be penalised, by their number among them."""
    notes: list[Note]


def _columns(rows: Rows, choices: Choices) -> Columns:
    """What `drop`, `maf` and `max_missing` leave, and where `keep` is among it."""
    source, p, notes = rows.source, rows.source.shape[1], list[Note]()
    chosen, none = take_rows(source, rows.chosen), np.zeros(0, dtype=np.intp)
    special = {*choices.keep, *rows.drop}
    if not special and not choices.filters:
        return Columns(chosen, None, none, notes)
    left, variables, keep = np.ones(p, dtype=bool), None, np.zeros(p, dtype=bool)
    if special:
        names = source.names() or [f"x{k}" for k in range(p)]
        check_columns_exist(names, [*choices.keep, *rows.drop])
        left = np.array([name not in rows.drop for name in names])
        keep = np.array([name in choices.keep for name in names])
        variables = left & ~keep
    if choices.filters:
        common, notes = common_columns(take_rows(source, rows.listed), choices, variables)
        left &= common
    if not left.any():
        raise TableError(f"no column is left next to the target {choices.target!r}.")
    numbers = np.flatnonzero(left)
    return Columns(ColumnsSource(chosen, numbers), numbers, np.flatnonzero(keep[numbers]), notes)


def _aggregated(
    table: Table,
    groups: RowGroups,
    given: dict[str, Any],
    choices: Choices,
) -> Table:
    """One row for each group: a table like any other."""
    how: Any = choices.aggregate
    codes = group_codes(groups.labels, len(table.y))
    labels = np.unique(groups.labels).astype(str)
    source = checked(table.X, "error" if table.recipe.missing == "error" else "mean")
    labels_given = table.recipe.task == "classification"  # numbers of classes have no mean
    y = aggregate_response(table.y.astype(str) if labels_given else table.y, codes)
    given = {name: values for name, values in given.items() if name != groups.column}
    given = aggregated_given(given, groups.labels)
    notes = (*table.notes, became(len(codes), len(labels), groups.column, how))
    what = f"{len(labels):,} groups and {source.shape[1]:,} columns"
    check_memory(COPIES * 8.0 * len(labels) * source.shape[1], what, "Leave columns out.")
    frame = _grouped_frame(source, codes, how, {groups.column: labels}, {choices.target: y})
    frame = replace(frame, notes=notes, options=choices.options, given=given)
    asked = replace(choices, task=table.recipe.task, id=None, drop=(), group=None, aggregate=None)
    return prepare(frame, asked)


def _grouped_frame(
    source: Source, codes: IntArray, how: Any, labels: dict[str, Any], target: dict[str, Any]
) -> Frame:
    """One row for each group, with their labels as names of the rows, and the target."""
    ((group, texts),), ((name, y),) = labels.items(), target.items()
    p, is_text = source.shape[1], y.dtype.kind != "f"
    columns = names_apart(source.names() or [f"x{k}" for k in range(p)], {group, name})
    numbers = np.empty((len(texts), p if is_text else p + 1))
    groups_in_memory(source, codes, how, numbers[:, :p])
    found = {group: texts.astype(object)}
    if is_text:
        found[name] = y.astype(object)
    else:
        numbers[:, p] = y
    return Frame(
        tuple(columns if is_text else [*columns, name]),
        numbers,
        found,
        (group, *columns, name),
        {},
        id=group,
        expects_missing=source.expects_missing,
    )


def own_columns(path: Path) -> list[str]:
    """All columns of a stored table that holds more than variables; none of another."""
    return list(arrow_rows(path)[0].schema.names) if holds_target(path) else []


def _stored_groups(path: Path, group: str, given: dict[str, Any], rows: IntArray) -> RowGroups:
    """Which rows of a stored table belong together."""
    values = given.get(group)
    if values is None:
        there = own_columns(path) or stored_names(path)
        if group not in there:
            raise TableError(
                f"{path.name} has no column {group!r}{did_you_mean(group, there) or '.'} If it is "
                "in another table on the same samples, give that as the one of covariates.",
                "group, covariates, covariate_names",
            )
        values = to_column(np.asarray(read_target(path, group)).tolist())[rows]
    labels = Frame((), np.zeros((len(rows), 0)), {}, (), {}, given={group: values})
    return read_groups(labels, group)


def _check_applies(path: Path, choices: Choices, grouped: bool) -> None:
    """Refuse what only works on a table in memory, as one row for each group is."""
    asked: dict[str, Any] = {
        "categorical": choices.categorical,
        choices.transform: bool(choices.transform) and not grouped,
        "transpose": choices.options.transpose,
        "id": None if holds_target(path) else choices.id,
        "missing=drop": choices.missing == "drop",
        "missing=indicator": choices.missing == "indicator",
    }
    for choice, given in asked.items():
        if given:
            raise TableError(
                f"{path.name} is too large to be taken into memory and is read column by column, "
                f"where {choice} does not work."
            )


def storage_ids(path: Path, choices: Choices) -> tuple[Any, Any]:
    """Identifiers of the samples in storage, and PLINK's families; None where there are none."""
    if holds_target(path):
        return (read_target(path, choices.id).tolist() if choices.id else None), None
    return read_ids(path)
