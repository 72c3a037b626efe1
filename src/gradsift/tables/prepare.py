"""From a frame to what estimators take: which columns, encoded how, and the response."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from gradsift._typing import Array, IntArray
from gradsift.data.missing import known
from gradsift.data.source import block_width, windows
from gradsift.tables.checks import (
    check_columns_exist,
    check_encoded_names,
    check_no_numbers,
    check_roles,
    leak_notes,
)
from gradsift.tables.frame import Frame, listed, text_levels
from gradsift.tables.leaks import find_leaks

Task = Literal["regression", "classification"]
MOST_LEVELS = 20
"""Distinct texts up to which a column is taken for categories unless asked otherwise."""
MOST_CLASSES = 10
"""Distinct whole numbers up to which a target is taken for class numbers."""


@dataclass(frozen=True)
class Choices:
    """What the user asked for.

    Parameters
    ----------
    target : str
    task : {'auto', 'regression', 'classification'}
    drop, categorical, keep : tuples of str
        Columns to leave out; to take for categories; never to be penalised.
    id : str, optional
        Column that names the rows.
    log : bool
        Take log2(1 + x) of the columns of numbers.
    missing : {'error', 'mean', 'drop'}
        Refuse missing values, let the estimator impute column means, or drop such rows.
    """

    target: str
    task: str = "auto"
    drop: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    id: str | None = None
    log: bool = False
    missing: str = "error"

    @property
    def roles(self) -> dict[str, tuple[str, ...]]:
        """The columns given to each option."""
        return {
            "--drop": self.drop,
            "--id": () if self.id is None else (self.id,),
            "--categorical": self.categorical,
            "--keep": self.keep,
        }


@dataclass(frozen=True)
class Recipe:
    """How a table becomes columns: enough to do the same to a new one. Plain data only.

    Attributes
    ----------
    numbers : tuple of str
        Columns of numbers, in order.
    levels : dict
        Column of categories -> its levels; each is a column of 0 and 1.
    classes : tuple of str
        Class names, for labels given as numbers: one per distinct number, in their order.
    """

    target: str
    task: Task
    numbers: tuple[str, ...]
    levels: dict[str, tuple[str, ...]]
    id: str | None = None
    log: bool = False
    missing: str = "error"
    classes: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Columns after encoding."""
        encoded = (f"{c}={level}" for c, levels in self.levels.items() for level in levels)
        return (*self.numbers, *encoded)

    @property
    def origins(self) -> tuple[str, ...]:
        """The column of the table behind each of `names`."""
        encoded = (column for column, levels in self.levels.items() for _ in levels)
        return (*self.numbers, *encoded)

    def unseen(self, frame: Frame) -> list[str]:
        """A sentence for each column of categories that holds others than those of the fit."""
        out = []
        for name, levels in self.levels.items():
            values = as_texts(frame, name) if name in frame.order else []
            new = [v for v in values if v is not None and v not in levels]
            if new:
                out.append(
                    f"{len(new)} of {len(values)} rows hold categories of {name!r} that the model "
                    f"has not seen ({listed(sorted(set(new)))}): they count as none of those known"
                )
        return out

    def columns(self, frame: Frame) -> Array:
        """The encoded columns of a frame, (n, len(names))."""
        there = set(frame.order)
        lost = [name for name in (*self.numbers, *self.levels) if name not in there]
        if lost:
            raise ValueError(f"the table lacks {listed(lost)}, which the model uses.")
        where = {name: k for k, name in enumerate(frame.names)}
        texts = [name for name in self.numbers if name not in where]
        if texts:
            found = next(v for v in frame.texts[texts[0]] if v is not None)
            raise ValueError(f"column {texts[0]!r} should hold numbers but holds {found!r}.")
        X = np.empty((frame.n_rows, len(self.names)))
        k = len(self.numbers)
        chosen = [where[name] for name in self.numbers]
        for rows in windows(frame.n_rows, block_width(max(k, 1))):  # no second copy of all
            X[rows, :k] = frame.numbers[rows, chosen]
        if self.log:
            X[:, :k] = log_columns(X[:, :k], self.numbers)
        for name, levels in self.levels.items():
            values = np.array(as_texts(frame, name), dtype=object)
            for level in levels:
                X[:, k] = values == level
                k += 1
        return X


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
    """

    X: Any
    y: NDArray[Any]
    names: Sequence[str] | None
    recipe: Recipe
    ids: NDArray[Any] | None = None
    keep: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    notes: tuple[str, ...] = ()


def as_texts(frame: Frame, name: str) -> list[Any]:
    """A column as texts; whole numbers without a decimal point."""
    if name in frame.texts:
        return list(frame.texts[name])
    values = frame.column(name)
    return [None if np.isnan(v) else number_text(v) for v in values]


def number_text(value: float) -> str:
    """A number as short as possible, but never that of another.

    Examples
    --------
    >>> number_text(2.0), number_text(0.1), number_text(20231001.0), number_text(np.float32(0.1))
    ('2', '0.1', '20231001', '0.1')
    """
    short = f"{value:g}"
    with np.errstate(over="ignore"):
        if float(short) == value or np.float32(float(short)) == np.float64(value):
            return short
    return next(text for d in (15, 17) if float(text := f"{value:.{d}g}") == value)


def log_columns(X: Array, names: Sequence[str]) -> Array:
    """log2(1 + x), refused for negative values."""
    bad = np.flatnonzero((X < 0).any(axis=0))
    if len(bad):
        raise ValueError(
            f"--log needs values of at least 0, but {listed([names[int(k)] for k in bad])} hold "
            f"negative ones (e.g. {np.nanmin(X[:, bad[0]]):g})."
        )
    return np.log2(1.0 + X)


def guess_task(y: Array | NDArray[Any], asked: str) -> tuple[Task, str]:
    """The task, and a word on why."""
    if asked in ("regression", "classification"):
        return asked, ""  # type: ignore[return-value]
    if asked != "auto":
        raise ValueError(f"--task {asked}: use auto, regression or classification.")
    distinct = text_levels(y) if y.dtype.kind == "O" else np.unique(y)
    if y.dtype.kind == "O":
        return "classification", f"the target holds {len(distinct)} names"
    whole = bool((np.asarray(distinct) == np.round(np.asarray(distinct, dtype=float))).all())
    if len(distinct) == 2:
        return "classification", "the target has two values"
    if whole and len(distinct) <= min(MOST_CLASSES, len(y) / 5):
        return "classification", f"the target has {len(distinct)} distinct whole numbers"
    return "regression", f"the target has {len(distinct)} distinct numbers"


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
    check_columns_exist(frame.order, [choices.target, *chain(*asked.values())])
    check_roles(choices.target, {option: set(names) for option, names in asked.items()})
    notes = list(frame.notes)
    there = known(frame.column(choices.target))
    check_some_known(there, choices.target)
    if not there.all():
        notes.append(left_out(there, choices.target))
        frame = frame.take(np.flatnonzero(there))
    y = frame.column(choices.target)
    task, why = guess_task(y, choices.task)
    if why:
        notes.append(f"task: {task}, because {why} (--task overrides)")

    id_column, levels = _text_columns(frame, choices, notes)
    out = {choices.target, id_column, *choices.drop, *levels}
    numbers = tuple(name for name in frame.names if name not in out)
    recipe = Recipe(
        choices.target,
        task,
        numbers,
        levels,
        id_column,
        choices.log,
        choices.missing,
        frame.class_names.get(choices.target, ()) if task == "classification" else (),
    )
    check_encoded_names(recipe.names, recipe.origins, choices.target)
    X = recipe.columns(frame)
    if choices.missing == "drop":
        whole = ~np.isnan(X).any(axis=1)
        if not whole.all():
            notes.append(f"{(~whole).sum()} rows with missing values were left out")
            X, frame, y = X[whole], frame.take(np.flatnonzero(whole)), y[whole]
    answer = response(y, recipe)
    ordered = task == "regression"
    leaks = find_leaks(y, X, recipe.origins, frame.column, tuple(levels), ordered=ordered)
    notes += leak_notes(choices.target, leaks, len(y))
    names, origins = recipe.names, recipe.origins
    keep = np.array(
        [k for k, origin in enumerate(origins) if origin in choices.keep], dtype=np.intp
    )
    ids = None if id_column is None else np.array([str(v) for v in as_texts(frame, id_column)])
    return Table(X, answer, names, recipe, ids, keep, tuple(notes))


def left_out(there: NDArray[np.bool_], target: str) -> str:
    """A note on the rows without a target."""
    return f"{(~there).sum()} rows without {target!r} were left out"


def check_some_known(there: NDArray[np.bool_], target: str) -> None:
    if not there.any():
        raise ValueError(f"the target {target!r} is missing in all {len(there)} rows.")


def response(y: Array | NDArray[Any], recipe: Recipe) -> NDArray[Any]:
    """The target as an estimator takes it: numbers, or labels as text."""
    if recipe.task == "regression":
        if y.dtype.kind == "O":
            raise ValueError(f"the target {recipe.target!r} holds text: it cannot be regressed on.")
        return y
    if y.dtype.kind == "O":
        return y.astype(str)
    values, codes = np.unique(y, return_inverse=True)
    if len(recipe.classes) == len(values):
        return np.array(recipe.classes)[codes]
    return np.array([number_text(v) for v in y])


def _text_columns(
    frame: Frame, choices: Choices, notes: list[str]
) -> tuple[str | None, dict[str, tuple[str, ...]]]:
    """The column that names rows, and the categories, asked for or plain to see."""
    id_column = choices.id
    aside = {choices.target, *choices.drop}
    levels = {name: tuple(text_levels(as_texts(frame, name))) for name in choices.categorical}
    for name, values in frame.texts.items():
        if name in aside or name in levels or name == id_column:
            continue
        found = text_levels(values)
        if len(found) > min(MOST_LEVELS, frame.n_rows - 1):
            check_no_numbers(name, values)
        if id_column is None and len(found) == frame.n_rows:
            id_column = name
            notes.append(f"{name!r} names the rows (every entry differs)")
        elif len(found) <= MOST_LEVELS:
            levels[name] = tuple(found)
            notes.append(f"{name!r} holds text: taken for {len(found)} categories")
        else:
            some = listed(found, 2)
            raise ValueError(
                f"column {name!r} holds {len(found)} different texts ({some}): give "
                f"--drop {name}, --id {name} or --categorical {name}."
            )
    return id_column, {k: v for k, v in levels.items() if v}
