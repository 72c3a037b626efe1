"""From a frame to what estimators take: which columns, encoded how, and the response."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from gradsift._run.memory import check_memory
from gradsift._run.suggest import did_you_mean
from gradsift.data import ArraySource, NamedSource, checked
from gradsift.data.row_groups import aggregate_response, group_codes, groups_in_memory
from gradsift.numerics.sampling import repeat_words, repeated_rows
from gradsift.protocols import Array, IntArray, Source
from gradsift.tables.columns import (
    MISSING,
    Column,
    TableEncoder,
    as_texts,
    encoded_twice,
    is_missing,
    with_levels,
)
from gradsift.tables.covariate_file import aggregated_given, checked_offset, split_given
from gradsift.tables.frame import Frame, Places, check_columns_exist, make_frame
from gradsift.tables.leakage import Leaks, find_leaks, other_responses, other_times
from gradsift.tables.notes import Note, TableError, counted, is_or_are, listed
from gradsift.tables.out_of_core import COPIES, column_names, in_memory
from gradsift.tables.recipe import Choices, Recipe
from gradsift.tables.response import (
    ResponseColumns,
    Task,
    answer_levels,
    exposures,
    find_event,
    read_task,
)
from gradsift.tables.roles import (
    CENSORED,
    assign_roles,
    block_columns,
    event_columns,
    is_time,
    parse_columns,
)
from gradsift.tables.row_groups import (
    RowGroups,
    aggregated,
    became,
    read_groups,
)
from gradsift.tables.variants import VariantPlaces

MANY_DROPPED = 0.5
"""Part of the rows above which dropping those with missing values calls for a caution."""
FALSE_INDICATORS = 0.01
"""Expected number of columns of which it only seems that missing values go with the target."""
LEAST_MISSING = 0.02
"""Part of the rows in which a column is missing, and known, for that to be asked."""
EXPECTED = ("as asked", "names the rows")
"""Reasons for leaving a column out that are not worth a word."""
INDEPENDENT = ("counts", "ordinal", "survival")
"""Tasks whose likelihood has no groups of rows."""
OUT = ("identifier", "group of rows", "free text", "constant", "another response", "event")
"""Roles of columns that are left out with one note."""


@dataclass(frozen=True)
class Table:
    """What an estimator is fitted to, and what to call it.

    Attributes
    ----------
    X : (n, p) array or Source
    y : (n,) array
        Numbers (regression, counts), labels (classification), places in the order of the answers
        (ordinal), records of `gradsift.responses.survival` (survival), or (n, q) numbers.
    names : sequence of str
        One per column; None = ask the source.
    recipe : Recipe
        How a new table becomes such columns.
    ids : (n,) array of str, or None
    keep : (k,) int array
        Columns never to be penalised.
    notes : tuple of Note
        What was decided on the user's behalf.
    groups : RowGroups, optional
        Which rows belong together.
    covariates : dict, optional
        Name -> (n,) column of numbers or texts that is adjusted for.
    offset : (n,) array, optional
        A known part of the response.
    places : VariantPlaces, optional
        Where the variants of a table of genotypes are.
    exposure : (n,) array, optional
        Of counts: the time or area that they refer to.
    """

    X: Any
    y: NDArray[Any]
    names: Sequence[str] | None
    recipe: Recipe
    ids: NDArray[Any] | None = None
    keep: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    notes: tuple[Note, ...] = ()
    groups: RowGroups | None = None
    covariates: dict[str, Any] | None = None
    offset: Any = None
    places: VariantPlaces | None = None
    exposure: Array | None = None

    @property
    def task(self) -> Task:
        return self.recipe.task

    @property
    def feature_groups(self) -> tuple[str, ...] | None:
        """The column of the user's table behind each column of X; None where they are the same."""
        return self.recipe.feature_groups

    @property
    def sample_params(self) -> dict[str, Any]:
        """What a fit needs to know of the rows: groups, covariates, offset, exposure."""
        labels = None if self.groups is None else self.groups.labels
        given = {
            "groups": labels,
            "covariates": self.covariates,
            "offset": self.offset,
            "exposure": self.exposure,
        }
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
    >>> frame = read_rows(["who", "sex", "dose", "out"], [["a", "f", "1 mg", "yes"],
    ...     ["b", "m", "2 mg", "no"], ["c", "f", "3 mg", "yes"]])
    >>> table = prepare(frame, Choices("out"))
    >>> table.names, table.task
    (('sex=f', 'sex=m', 'dose'), 'classification')
    """
    check_choices(frame, choices)
    parsed, notes = parse_columns(frame, choices.categorical, frame.options.decimal)
    frame, y, said = rows_with_response(frame, parsed, choices)
    columns = choices.response
    task, suggested = read_task(y, columns.task(choices.task), choices.target)
    if task == "survival":
        columns, note = with_event(frame, parsed, y, choices)
        said = [*said, note]
    declared = frame.declared.get(choices.target, ())
    recipe = Recipe(
        columns,
        task,
        missing=choices.missing,
        levels=answer_levels(y, declared, choices.target) if task == "ordinal" else (),
    )
    if frame.stored is not None:
        notes = [*frame.notes, *notes, *said, *suggested]
        return stored_table(frame, frame.stored, parsed, recipe, choices, notes)
    special = find_roles(frame, parsed, y, choices)
    special, leaks = without_leaks(frame, special, y, choices, task)
    out = {name for name, column in special.items() if not column.is_variable}
    encoder = make_encoder(frame, special, [name for name in frame.order if name not in out])
    encoder, marked = with_indicators(encoder, frame, y, choices.missing)
    recipe = replace(
        recipe,
        encoder=encoder,
        id=row_names(frame, special, choices),
        transform=choices.transform if choices.aggregate is None else "",
        untouched=choices.keep,
        missing="mean" if frame.expects_missing and choices.missing == "error" else choices.missing,
        options=frame.options,
    )
    check_encoded_names(encoder, special, choices)
    X, rows, filled = whole_rows(recipe, frame)
    if len(rows) < len(X):
        X, frame, y = X[rows], frame.take(rows), y[rows]
    said = [*doubts(special, choices, task), *frame.notes, *notes, *said, *suggested]
    said += left_out_notes(special)
    said += leak_notes(leaks)
    said += [*encoding_notes(encoder), *filled, *marked]
    said += row_notes(X, y, frame, recipe, choices)
    keep = [k for k, origin in enumerate(encoder.origin_names) if origin in choices.keep]
    ids = None if recipe.id is None else as_texts(frame.column(recipe.id)).astype(str)
    y, exposure = response_of(frame, parsed, recipe)
    table = Table(
        X, y, recipe.names, replace(recipe, transform=choices.transform), ids,
        np.array(keep, dtype=np.intp), tuple(said), exposure=exposure,
    )  # fmt: skip
    return with_groups(table, frame, choices)


def response_of(
    frame: Frame, parsed: dict[str, Column], recipe: Recipe
) -> tuple[NDArray[Any], Array | None]:
    """The response as an estimator takes it, and the exposure of counts."""
    columns, task = recipe.response, recipe.task
    values = {name: response_column(frame, parsed, name, task) for name in columns.names}
    name = columns.exposure
    exposure = None if name is None else exposures(values[name], name)
    return columns.read(values, task, recipe.levels), exposure


def stored_table(
    frame: Frame, source: Source, parsed: dict[str, Column], recipe: Recipe, choices: Choices,
    notes: list[Note],
) -> Table:  # fmt: skip
    """A table whose columns stay on disk, or one row in memory for each of its groups."""
    y, exposure = response_of(frame, parsed, recipe)
    label = choices.id or frame.id
    ids = None if label is None else as_texts(frame.column(label)).astype(str)
    if frame.by_name:
        names = tuple(source.names() or ())
        recipe = replace(recipe, encoder=TableEncoder(names), id=choices.id)
    else:
        recipe = replace(recipe, stored=frame.stored_columns)
    kept = np.zeros(0, dtype=np.intp)
    if choices.keep:
        kept = np.flatnonzero([name in choices.keep for name in column_names(source)])
    table = Table(source, y, None, recipe, ids, kept, tuple(notes), exposure=exposure)
    if choices.aggregate is None:
        return with_groups(table, frame, choices)
    check_can_aggregate(table)
    asked = replace(choices, task=table.task, id=None, drop=(), group=None, aggregate=None)
    return prepare(grouped_frame(table, frame, choices), asked)


def grouped_frame(table: Table, frame: Frame, choices: Choices) -> Frame:
    """One row for each group of a table on disk, in memory."""
    source = checked(table.X, "error" if choices.missing == "error" else "mean")
    groups = read_groups(frame, choices.group or "")
    codes = group_codes(groups.labels, frame.n_rows)
    labels = np.unique(groups.labels).astype(str)
    what = f"{len(labels):,} groups and {source.shape[1]:,} columns"
    check_memory(COPIES * 8.0 * len(labels) * source.shape[1], what, "Leave columns out.")
    classes = table.task == "classification"  # whose numbers have no mean
    y = aggregate_response(table.y.astype(str) if classes else table.y, codes)
    made = make_frame(
        [groups.column, choices.target],
        [labels.astype(object), y.astype(object if classes else float)],
    )
    how: Any = choices.aggregate
    means = NamedSource(ArraySource(groups_in_memory(source, codes, how)), column_names(source))
    given = {name: values for name, values in frame.given.items() if name != groups.column}
    made = replace(
        made,
        id=groups.column,
        expects_missing=source.expects_missing,
        notes=(*table.notes, became(len(codes), len(labels), groups.column, how)),
        options=choices.options,
        given=aggregated_given(given, groups.labels),
    )
    return in_memory(made, means)


def check_choices(frame: Frame, choices: Choices) -> None:
    """Refuse names that the table does not have, and columns with two roles."""
    asked = {choice: set(names) for choice, names in choices.roles.items()}
    targets = choices.response.names
    wanted = [*targets, *chain(*choices.roles.values())]
    if frame.stored is not None:  # whose names were looked at when columns were chosen
        wanted = [name for name in wanted if name not in {*choices.drop, *choices.keep}]
    if choices.group not in (None, *frame.order, *frame.given):
        raise TableError(
            f"the table has no column {choices.group!r}."
            f"{did_you_mean(choices.group or '', frame.order)} If it is in another table on the "
            "same samples, give that as the one of covariates.",
            "group, covariates, covariate_names",
        )
    check_columns_exist(frame.order, [name for name in wanted if name not in frame.given])
    for choice, names in asked.items():
        if twice := [name for name in targets if name in names]:
            raise TableError(f"{twice[0]!r} is the target: it cannot be in {choice} too.")
    alike = {"categorical", "keep", "use"}
    for one, other in combinations(asked, 2):
        both = sorted(asked[one] & asked[other])
        if both and not {one, other} <= alike:
            raise TableError(f"{listed(both)} cannot be in both {one} and {other}.")
    if len(set(targets)) < len(targets):
        raise TableError(
            f"a column is named twice for the response: {listed(targets, 5)}. Name it once."
        )
    if choices.aggregate is not None and choices.group is None:
        raise TableError(
            "one row for each group was asked for: name the column of the groups.", "group"
        )


def rows_with_response(
    frame: Frame, parsed: dict[str, Column], choices: Choices
) -> tuple[Frame, NDArray[Any], list[Note]]:
    """The rows in which the response is known, their targets, and notes on the others."""
    columns = choices.response
    asked = columns.task(choices.task)
    read = {name: response_column(frame, parsed, name, asked) for name in columns.names}
    there, notes = np.ones(frame.n_rows, dtype=bool), list[Note]()
    for name, values in read.items():
        here = ~is_missing(values)
        check_some_known(here, name)
        there &= here
        notes += [] if here.all() else [left_out(here, name)]
    if texts := [n for n in columns.targets if read[n].dtype.kind == "O" and columns.more_targets]:
        raise TableError(
            f"several targets must all be numbers, but {texts[0]!r} holds text: give targets of "
            "classes one at a time.",
            "target",
        )
    y = np.column_stack([read[name] for name in columns.targets])
    y = y if columns.more_targets else read[columns.target]
    if there.all():
        return frame, y, notes
    check_some_known(there, listed(columns.names))
    return frame.take(np.flatnonzero(there)), y[there], notes


def response_column(frame: Frame, parsed: dict[str, Column], name: str, task: str) -> NDArray[Any]:
    """A column of the response: numbers, or texts."""
    column = parsed.get(name, Column(name))
    if column.role == "number" and column.style and task in ("classification", "ordinal"):
        column = Column(name, "category")
    if column.role == "date":
        raise TableError(f"the target {name!r} holds dates: write the days since a start instead.")
    return column.read(frame.column(name))


def left_out(there: NDArray[np.bool_], target: str) -> Note:
    """A note on the rows without a target."""
    return Note("left out", f"{counted(int((~there).sum()), 'row')} without {target!r}", (target,))


def check_some_known(there: NDArray[np.bool_], target: str) -> None:
    if not there.any():
        raise TableError(f"the target {target!r} is missing in all {len(there)} rows.")


def find_roles(
    frame: Frame, parsed: dict[str, Column], y: NDArray[Any], choices: Choices
) -> dict[str, Column]:
    """Every column that is no plain number, with its role, asked for or seen."""
    given = {name: Column(name, "target") for name in choices.response.names}
    given |= {name: Column(name, "dropped") for name in choices.drop}
    if choices.group is not None:
        given[choices.group] = Column(choices.group, "dropped")
    for name, why in ((choices.id, "as asked"), (frame.id, "names the rows")):
        if name is not None and name not in given and name not in choices.use:
            given[name] = Column(name, "identifier", why)
    used = {*choices.use, *choices.keep, *choices.categorical}
    rest = frame.without(given)
    left = {name: column for name, column in parsed.items() if name not in given}
    return given | assign_roles(rest, left, y, choices.target, used)


def without_leaks(
    frame: Frame, special: dict[str, Column], y: NDArray[Any], choices: Choices, task: Task
) -> tuple[dict[str, Column], Leaks]:
    """Leave out columns that reveal the target, and other responses measured with a spectrum."""
    used = {*choices.use, *choices.keep}
    plain = [None if n in special or n in used else n for n in frame.names]
    read = {
        n: c.read(frame.column(n)) for n, c in special.items() if c.is_variable and n not in used
    }
    numbers = {n: v for n, v in read.items() if v.dtype.kind == "f"}
    numbers |= {n: np.where(np.isnat(v), np.nan, v.astype(float)) for n, v in read.items()
                if v.dtype.kind == "M"}  # fmt: skip
    blocks: list[Any] = [(plain, frame.numbers)]
    if numbers:
        blocks.append((list(numbers), np.column_stack(list(numbers.values()))))
    codes = {name: codes_of(values) for name, values in read.items() if values.dtype.kind == "O"}
    leaks, ordered = Leaks(), task not in ("classification", "ordinal")
    for values, name in zip(outcomes(y), choices.response.targets):
        found = find_leaks(blocks, codes, values, name, ordered=ordered)
        perhaps = (*leaks.perhaps, *found.perhaps)
        leaks = Leaks(found.certain | leaks.certain, tuple(dict.fromkeys(perhaps)))
    if task == "survival":
        times = other_times(blocks, y.astype(float), choices.target)
        leaks = replace(leaks, certain=times | leaks.certain)
    aside = {*(n for n, c in special.items() if not c.is_variable), *choices.response.names}
    if leaks.certain and not {*frame.order} - aside - {*leaks.certain}:  # nothing would be left
        leaks = Leaks({}, (*leaks.certain, *leaks.perhaps))
    out = {name: Column(name, "leak", why) for name, why in leaks.certain.items()}
    names = [name for name in frame.names if name not in {*special, *out}]
    if task == "regression" and len(names) >= 30:
        X = (
            frame.numbers
            if len(names) == len(frame.names)
            else frame.without({*special, *out}).numbers
        )
        others = [n for n in other_responses(names, X, choices.target) if n not in used]
        out |= {n: Column(n, "another response", "measured with a spectrum") for n in others}
    return special | out, leaks


def outcomes(y: NDArray[Any]) -> list[NDArray[Any]]:
    """The targets one by one, texts as such."""
    return [y.astype(str) if y.dtype.kind == "O" else y] if y.ndim == 1 else list(y.T)


def codes_of(texts: NDArray[Any]) -> IntArray:
    """Numbers of the distinct texts, -1 where one is missing."""
    there = ~is_missing(texts)
    out = np.full(len(there), -1, dtype=np.intp)
    out[there] = np.unique(texts[there].astype(str), return_inverse=True)[1]
    return out


def make_encoder(frame: Frame, special: dict[str, Column], table: Sequence[str]) -> TableEncoder:
    """Some columns of a frame, with their levels."""
    there = set(table)
    learned = {
        name: with_levels(column, frame.column(name)) if column.is_variable else column
        for name, column in special.items()
        if name in there
    }
    return TableEncoder(tuple(table), learned)


def encode_frame(
    frame: Frame, y: NDArray[Any], missing: str, used: Collection[str] = ()
) -> tuple[TableEncoder, list[Note]]:
    """How a data frame in Python becomes columns of numbers, and what was decided.

    All its columns are in the encoder, also those of which nothing was made.

    Parameters
    ----------
    frame : Frame
    y : (n,) or (n, q) array
        The response, NaN or None where it is missing; it says whether rows of one value belong
        together, and whether missing values are telling.
    missing : {'auto', 'mean', 'indicator', 'error'}
    used : collection of str
        Columns that are variables whatever they look like.
    """
    parsed, notes = parse_columns(frame)
    there = ~(is_missing(y) if y.ndim == 1 else np.isnan(y).any(axis=1))
    some = frame if there.all() else frame.take(np.flatnonzero(there))
    plain = {*frame.names}.difference(parsed)
    special = {
        name: column
        for name, column in assign_roles(some, parsed, y[there], "", used).items()
        if not (column.role == "constant" and name in plain)  # fits know what to do with these
    }
    encoder = make_encoder(frame, special, frame.order)
    encoder, marked = with_indicators(encoder, some, y[there], missing)
    return encoder, [*group_notes(special), *notes, *left_out_notes(special), *marked]


def row_names(frame: Frame, special: dict[str, Column], choices: Choices) -> str | None:
    """The column that names the rows: as asked, as the file has it, or the first identifier."""
    found = [n for n in frame.order if n in special and special[n].role == "identifier"]
    unique = [n for n in found if special[n].why.startswith("another") or n == frame.id]
    return choices.id or frame.id if choices.id or frame.id in found else next(iter(unique), None)


def with_indicators(
    encoder: TableEncoder, frame: Frame, y: NDArray[Any], missing: str
) -> tuple[TableEncoder, list[Note]]:
    """Columns that say where numbers are missing: of all where that is asked for, or where it goes
    with the target.
    """
    if missing not in ("auto", "indicator"):
        return encoder, []
    masks: dict[str, NDArray[np.bool_]] = {}
    plain = [n for n in encoder.table if n not in encoder.special and n in frame.where]
    gaps: NDArray[np.bool_] = np.asarray(np.isnan(frame.numbers).any(axis=0))
    for name in plain:
        if gaps[frame.where[name]]:
            masks[name] = np.isnan(frame.column(name))
    for name, column in encoder.special.items():
        if column.role != "category" and column.is_variable:
            gone = is_missing(column.read(frame.column(name)))
            if gone.any():
                masks[name] = gone
    chosen = list(masks) if missing == "indicator" else follow_target(masks, y)
    special = encoder.special | {
        name: replace(encoder.special.get(name, Column(name)), indicator=True) for name in chosen
    }
    notes = []
    if chosen and missing == "auto":
        said = f"{listed(chosen)}: missing values go with the target, so 0/1 columns mark them"
        notes.append(Note("encoded", said, tuple(chosen), "missing=mean"))
    return replace(encoder, special=special), notes


def follow_target(masks: dict[str, NDArray[np.bool_]], y: NDArray[Any]) -> list[str]:
    """Columns whose missing values go with the target, beyond chance."""
    if not masks:
        return []
    parts = []
    for outcome in outcomes(y):
        values, codes = np.unique(outcome, return_inverse=True)
        classes = outcome.dtype.kind == "U" or len(values) == 2
        levels = np.arange(len(values))
        parts.append(codes[:, None] == levels if classes else codes[:, None])  # else ranks
    targets = np.hstack(parts).astype(float)
    names = [n for n, gone in masks.items() if LEAST_MISSING < gone.mean() < 1 - LEAST_MISSING]
    limit = norm.isf(FALSE_INDICATORS / 2 / max(len(names) * targets.shape[1], 1))
    spread = targets.std(axis=0)
    out = []
    for name in names:
        gone = masks[name] - masks[name].mean()
        r = (
            gone
            @ (targets - targets.mean(axis=0))
            / len(y)
            / np.maximum(spread * gone.std(), 1e-300)
        )
        if np.abs(r).max() * np.sqrt(len(y)) > limit:
            out.append(name)
    return out


def whole_rows(recipe: Recipe, frame: Frame) -> tuple[Array, IntArray, list[Note]]:
    """The encoded columns, the rows that count, and what is said of missing values."""
    X, _ = recipe.columns(frame)
    names, origins = recipe.names, recipe.encoder.origin_names
    counts, gaps = {}, np.zeros(len(X), dtype=bool)
    for k in np.flatnonzero(np.isnan(X).any(axis=0)).tolist():
        gone = np.isnan(X[:, k])
        counts[origins[k]], gaps = int(gone.sum()), gaps | gone
    levels = {f"{c.name}={MISSING}": c.name for c in recipe.encoder.of("category")}
    for k, name in enumerate(names if levels else ()):
        if name in levels:
            counts[levels[name]], gaps = int(X[:, k].sum()), gaps | (X[:, k] > 0)
    rows = np.arange(len(X))
    if not counts:
        return X, rows, []
    worst = sorted(counts, key=lambda name: -counts[name])
    shares = [f"{100 * counts[n] / len(X):.2g}% of {n!r}" for n in worst[:3]]
    more = f" and {counted(len(worst) - 3, 'column')} more" if len(worst) > 3 else ""
    some = ", ".join(shares) + more
    if recipe.missing == "error":
        row = int(np.argmax(gaps))
        first = next((origins[k] for k in np.flatnonzero(np.isnan(X[row]))), worst[0])
        total = sum(counts.values())
        raise TableError(
            f"{counted(total, 'value')} {is_or_are(total)} missing ({some}), the first in column "
            f"{first!r}, {frame.places.of(first, row)}.",
            "missing=auto, missing=drop, drop",
        )
    if recipe.missing != "drop":
        numbers = [
            name
            for name in worst
            if recipe.encoder.special.get(name, Column(name)).role != "category"
        ]
        notes = [Note("filled", f"missing values: {some}", tuple(worst), "missing")]
        return X, rows, notes if numbers else []
    rows = np.flatnonzero(~gaps)
    if len(rows) == 0:
        raise TableError(
            f"none of {len(X)} rows has a value in every column (missing: {some}).",
            "missing=auto, drop",
        )
    lost = len(X) - len(rows)
    kind: Any = "caution" if lost > MANY_DROPPED * len(X) else "left out"
    said = f"{lost:,} of {len(X):,} rows, left out because of missing values ({some})"
    return X, rows, [Note(kind, said, tuple(worst), "missing")]


def doubts(special: dict[str, Column], choices: Choices, task: str) -> list[Note]:
    """Cautions about the whole answer: survival times read as numbers, rows in groups."""
    notes = group_notes(special, task in INDEPENDENT)
    events = [c.name for c in special.values() if c.role == "event"]
    if events and choices.event is None:
        said = (
            f"{choices.target!r} and {events[0]!r} look like survival times, but this run explains "
            f"{choices.target!r} alone. Analyse them as survival times"
        )
        change = survival_choices(events[0], choices)
        notes.insert(0, Note("caution", said, tuple(events), change))
    return notes


def group_notes(special: dict[str, Column], independent: bool = False) -> list[Note]:
    """A note on columns that divide the rows into groups; `independent`: the task assumes
    independent rows.
    """
    groups = [c.name for c in special.values() if c.role == "group of rows"]
    if not groups:
        return []
    said = f"rows with the same value of {listed(groups)} seem to depend on each other"
    if independent:
        said += ", but this task assumes independent rows: confidences are too high"
        return [Note("caution", said, tuple(groups))]
    said += ", which makes confidences too high. Treat them as groups"
    return [Note("caution", said, tuple(groups), f"group={groups[0]}")]


def left_out_notes(special: dict[str, Column]) -> list[Note]:
    """One note on all columns that are left out by what they hold."""
    parts, names = [], list[str]()
    for role in OUT:
        found = [c for c in special.values() if c.role == role and c.why not in EXPECTED]
        if found:
            whys = {column.why for column in found}
            why = f": {found[0].why}" if len(whys) == 1 and found[0].why else ""
            parts.append(f"{listed([c.name for c in found])} ({role}{why})")
            names += [column.name for column in found]
    return [Note("left out", "; ".join(parts), tuple(names), "use")] if parts else []


def with_event(
    frame: Frame, parsed: dict[str, Column], y: NDArray[Any], choices: Choices
) -> tuple[ResponseColumns, Note]:
    """The columns of survival times with the value that means the event, and a note on it. Without
    a column of events all times count as one; refused where another column looks like it.
    """
    time, columns = choices.target, choices.response
    if columns.event is not None:
        value, note = find_event(frame.column(columns.event), columns.event, columns.event_value)
        return replace(columns, event_value=value), note
    known = event_columns(frame, parsed, y, time)
    if others := [name for name in known if name not in (*choices.use, *choices.drop)]:
        raise TableError(
            f"{time!r} and {others[0]!r} look like survival times: name both, or take "
            f"{others[0]!r} for a variable.",
            f"{survival_choices(others[0], choices)}, use={others[0]}",
        )
    said = f"every time in {time!r} counts as an event, as no column says which were censored"
    return columns, Note("caution", said, (time,), "event=COLUMN")


def survival_choices(other: str, choices: Choices) -> str:
    """The choices that make survival times of a target and another column."""
    if is_time(choices.target) or CENSORED.search(other):
        return f"event={other}"
    return f"target={other}, event={choices.target}"


def reveals(names: Sequence[str]) -> str:
    return "it reveals" if len(names) == 1 else "they reveal"


def leak_notes(leaks: Leaks) -> list[Note]:
    """Notes on columns that reveal the target, one for each way in which they do."""
    found: dict[str, list[str]] = {}
    for name, why in leaks.certain.items():
        found.setdefault(why, []).append(name)
    notes = [
        Note("caution", f"{listed(names)} left out, because {reveals(names)} the target: {why}",
             tuple(names), "use")
        for why, names in found.items()
    ]  # fmt: skip
    if leaks.perhaps:
        verb, it = ("determines", "it") if len(leaks.perhaps) == 1 else ("determine", "them")
        said = (
            f"{listed(leaks.perhaps)} {verb} the target exactly, perhaps by chance. Leave {it} out "
            "where the target is measured first"
        )
        notes.append(Note("caution", said, leaks.perhaps, "drop"))
    return notes


def encoding_notes(encoder: TableEncoder) -> list[Note]:
    """One note on columns that are no plain numbers, one on levels that may be the same."""
    parts, names = [], list[str]()
    for role, what in (("category", "categories"), ("ordered category", "ordered categories"),
                       ("date", "dates")):  # fmt: skip
        found = [column.name for column in encoder.of(role)]
        if found:
            parts.append(f"{listed(found, 5)}: {what}")
            names += found
    notes = [Note("encoded", "; ".join(parts), tuple(names), "categorical, drop")] if parts else []
    for column in encoder.of("category"):
        alike: dict[str, list[str]] = {}
        for level in column.levels:
            alike.setdefault(level.casefold(), []).append(level)
        notes += [
            Note("caution", f"{listed(same)} in {column.name!r} differ in capitals only and count "
                 f"as {len(same)} categories. Write them alike if they mean the same",
                 (column.name,))
            for same in alike.values() if len(same) > 1
        ]  # fmt: skip
    return notes


def row_notes(
    X: Array, y: NDArray[Any], frame: Frame, recipe: Recipe, choices: Choices
) -> list[Note]:
    """What looks odd about the rows and the target."""
    target, notes = recipe.target, list[Note]()
    if choices.group is None:
        left = frame.without(set(frame.order) - set(recipe.encoder.table))
        blocks = list(block_columns(left, recipe.encoder.special, y))
        if blocks:
            said = (
                f"the target {target!r} is the same in all rows with the same {listed(blocks)}. If "
                "these are rows of one subject, sample or batch, false variables are selected: "
                "treat them as groups"
            )
            notes.append(Note("caution", said, tuple(blocks), f"group={blocks[0]}"))
        notes += repeat_notes(X, frame.places)
    return notes


def repeat_notes(X: Array, places: Places) -> list[Note]:
    """A note on rows that are measurements of the same sample, or copies."""
    found = repeated_rows(X)
    if not found:
        return []
    pair = [f"sample {k + 1}" for k in found[0][:2]]
    if places.columns is None:
        pair = [places.of("", k) for k in found[0][:2]]
    said = repeat_words(found, pair, len(X)).removesuffix(".")
    return [
        Note("caution", f"{said}. Leave copies out, or name the column of the samples", (), "group")
    ]


def check_encoded_names(
    encoder: TableEncoder, special: dict[str, Column], choices: Choices
) -> None:
    """Some columns are left, each with a name of its own."""
    if not encoder.names:
        notes = [*left_out_notes(special), *doubts(special, choices, choices.task)]
        out = " ".join(note.text for note in notes)
        said = f"the table has no variable to explain the target {choices.target!r} by. {out}"
        raise TableError(said.strip(), "use")
    if twice := encoded_twice(encoder.names):
        pairs = zip(encoder.origin_names, encoder.names, strict=True)
        behind = [origin for origin, name in pairs if name == twice[0]]
        raise TableError(
            f"two encoded columns are called {twice[0]!r}, made from {listed(behind)} (a category "
            "is called COLUMN=CATEGORY). Rename one of these, or leave it out.",
            "drop",
        )


def with_groups(table: Table, frame: Frame, choices: Choices) -> Table:
    """A table with its groups, or one row for each of them, and with its covariates."""
    if choices.aggregate is not None:
        check_can_aggregate(table)
    if choices.group is None:
        return with_given(table, frame.given, choices)
    groups = read_groups(frame, choices.group)
    if choices.aggregate is None:
        return with_given(replace(table, groups=groups), frame.given, choices)
    X, y, ids, note = aggregated(table.X, table.y, groups, choices.aggregate, table.recipe)
    table = replace(table, X=X, y=y, ids=ids, notes=(*table.notes, note))
    given = {name: v for name, v in frame.given.items() if name != choices.group}
    return with_given(table, aggregated_given(given, groups.labels), choices)


def check_can_aggregate(table: Table) -> None:
    """Refuse a response of which a group has neither the mean, the sum nor the label."""
    if table.task not in ("regression", "classification") or table.y.ndim > 1:
        what = "several targets" if table.y.ndim > 1 else table.task
        raise TableError(f"one row of each group cannot be made with {what}.", "aggregate")


def with_given(table: Table, given: dict[str, Any], choices: Choices) -> Table:
    """A table with the covariates and the offset that other tables have."""
    covariates, offset = split_given(given, choices)
    if choices.offset is not None:
        if offset is None:
            raise TableError(
                f"the table of covariates has no column {choices.offset!r}.", "offset, covariates"
            )
        offset = checked_offset(offset, choices.offset)
    return replace(table, covariates=covariates, offset=offset)
