"""The main job: from a table to a fitted model and its answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, Literal
from warnings import WarningMessage

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import TimeSeriesSplit

from gradsift import SiftOptions
from gradsift._run.progress import Say, progress_to, silent
from gradsift.answer import Answer, Note, explain
from gradsift.data import ScaledSource, fill_missing, identity_scaling
from gradsift.data.row_groups import constant_in_groups, group_codes
from gradsift.estimators.inference import with_findings
from gradsift.estimators.names import names_of_best, variable_names
from gradsift.estimators.splits import SampleParams
from gradsift.estimators.survival import SIFTS
from gradsift.evaluate.held_out import PendingScores, begin_held_out
from gradsift.pipeline._notes import (
    alarm_notes,
    fit_notes,
    gathered,
    hazard_notes,
    table_notes,
    warning_notes,
)
from gradsift.pipeline._scores import association_sheet, prediction_of, test_sheet
from gradsift.protocols import Array, Source
from gradsift.responses.ordinal import OrderedLabels
from gradsift.tables import Recipe, Table


@dataclass(frozen=True)
class Settings:
    """How to select.

    Parameters
    ----------
    false_positives : float
        Expected number of false variables.
    false_discovery_rate : float, optional
        Select by tests, with about this share of false variables at most.
    interactions : bool
        Look for products of two variables.
    cv : int
        Folds; 0 = none.
    max_features : int, optional
        Select no more than this many; categories count once, columns that are kept not at all.
    predict_with : {'selected', 'auto'}
        What the model predicts with: the selected variables alone, or their average with
        predictors on all columns, where these have a part.
    associated : bool
        Also list the variables that are associated with the target one by one.
    seed : int
    n_jobs : int
    time_order : bool
        Rows are in the order of time: every fold learns from the rows before those held out.
    """

    false_positives: float = 0.3
    false_discovery_rate: float | None = None
    interactions: bool = True
    cv: int = 5
    max_features: int | None = None
    predict_with: Literal["selected", "auto"] = "selected"
    associated: bool = False
    seed: int = 0
    n_jobs: int = 1
    time_order: bool = False


def make_estimator(table: Table, settings: Settings) -> Any:
    """The whole procedure that the settings ask for as one estimator, not fitted.

    Filling missing values, whole categories and the limit to the selection are part of its fit.
    Clones of it are fitted to all rows and to folds, and nothing else is.
    """
    check_response(table)
    return SIFTS[table.task](
        settings.false_positives,
        false_discovery_rate=settings.false_discovery_rate,
        interactions=settings.interactions,
        always_keep=table.keep.tolist() or None,
        feature_groups=table.feature_groups,
        # both ways are scored; a table read column by column is not, and needs fewer passes
        predict_with=settings.predict_with if isinstance(table.X, Source) else "auto",
        missing="error" if table.recipe.missing in ("error", "drop") else "mean",
        options=SiftOptions(max_features=settings.max_features, seed=settings.seed),
    )


def check_response(table: Table) -> None:
    """Refuse what the response of a table does not go with."""
    if table.y.ndim > 1 and table.offset is not None:
        raise ValueError("--offset is a known part of one target: give it with one --target only.")
    if table.groups is not None and table.task not in ("regression", "classification"):
        what = {"counts": "counts", "ordinal": "ordered answers", "survival": "survival times"}
        raise ValueError(
            f"{what[table.task]} assume independent rows and cannot have groups. Make one row of "
            "each group first, or give the groups among the covariates."
        )


def response_of(y: Any, recipe: Recipe) -> Any:
    """The response of a table as estimators take it: ordered answers by their names."""
    if recipe.task != "ordinal":
        return y
    return OrderedLabels(np.asarray(y).astype(np.intp), np.array(recipe.levels))


def explained(recipe: Recipe) -> str | tuple[str, ...]:
    """What an answer is about: the target, several ones, or the event that times end in."""
    columns = recipe.response
    if columns.more_targets:
        return columns.targets
    if columns.event is None:
        return "the event" if recipe.task == "survival" else columns.target
    said = columns.event_value.replace(".", "").lower()
    plain = said.isdigit() or said in ("", "true", "yes")
    return columns.event if plain else f"{columns.event} {columns.event_value}"


@dataclass(frozen=True)
class Selection:
    """A fitted model with its answer, so far.

    Attributes
    ----------
    model : fitted estimator
    answer : Answer
    seconds : float
        Of the fit.
    """

    model: Any
    answer: Answer
    seconds: float


def select(
    table: Table, settings: Settings, say: Say = silent, made: dict[str, str] | None = None
) -> Selection:
    """Fit, say what was found, and how well it predicts.

    Parameters
    ----------
    table : Table
        From `gradsift.tables.open_table`.
    settings : Settings
    say : callable, optional
        Called with what is being done.
    made : dict, optional
        How the run came about, such as `source` (the file), `command` and `created`.

    Returns
    -------
    selection : Selection

    Examples
    --------
    >>> from gradsift.tables import Choices, prepare
    >>> from gradsift.tables.frame import make_frame
    >>> X = np.random.default_rng(0).normal(size=(80, 4))
    >>> frame = make_frame(["a", "b", "c", "d", "y"], [*X.T, X[:, 1] ** 2])
    >>> found = select(prepare(frame, Choices("y")), Settings(cv=0))
    >>> print(found.answer.headline)
    b goes with y.
    """
    *_, selection = select_in_stages(table, settings, say, made)
    return selection


def select_in_stages(
    table: Table, settings: Settings, say: Say = silent, made: dict[str, str] | None = None
) -> Iterator[Selection]:
    """The selection after each stage, so that it can be written before the next one begins: the
    fit with its findings, then the scores of held-out folds.
    """
    settings, limits = affordable(table, settings)
    procedure = make_estimator(table, settings)
    warned: list[WarningMessage] = []
    with gathered(warned):
        folds = begin_folds(procedure, table, settings)
        model, seconds = fit_to_all(procedure, table, settings, say)
        answer = answer_of(model, table, settings, made or {}, seconds)
    notes = (*table_notes(table), *limits, *fit_notes(model, table))
    if table.task == "survival" and not isinstance(table.X, Source):
        notes += tuple(hazard_notes(model, table))
    found = Selection(model, replace(answer, notes=notes), seconds)
    if folds is not None:
        unfinished = "This was written before the run ended, without held-out scores."
        yield finished(found, table, warned, Note(unfinished, caution=True))
        say(f"scoring {settings.cv} held-out folds")
        with gathered(warned):
            prediction = prediction_of(folds.result(), answer.target, answer.outcomes)
        found = replace(found, answer=replace(found.answer, prediction=prediction))
    yield finished(found, table, warned)


def finished(
    found: Selection, table: Table, warned: Sequence[WarningMessage], *more: Note
) -> Selection:
    """The selection with the notes of warnings and alarms; cautions come first."""
    answer = found.answer
    notes = (
        *more,
        *alarm_notes(answer),
        *warning_notes(warned, table),
        *answer.notes,
    )
    once = {note.text: note for note in sorted(notes, key=lambda note: not note.caution)}
    return replace(found, answer=replace(answer, notes=tuple(once.values())))


def answer_of(
    model: BaseEstimator, table: Table, settings: Settings, made: dict[str, str], seconds: float
) -> Answer:
    """The answer of the fit, with tests and associations where they were asked for."""
    names = column_names(model, table)
    answer = table_answer(model, table.recipe, table.X, table.y, names, table.sample_params)
    sheets = [test_sheet(model, answer, names)] if settings.false_discovery_rate else []
    sheets += [association_sheet(model, names)] if settings.associated else []
    how = {name: str(value) for name, value in vars(settings).items() if value is not None}
    how |= {"seconds of the fit": f"{seconds:.2f}"}
    given = {name: text for name, text in made.items() if name != "source"}
    return replace(
        answer,
        sheets=tuple(sheet for sheet in sheets if sheet is not None),
        source=made.get("source", ""),
        made=tuple((given | how).items()),
    )


def table_answer(
    model: BaseEstimator,
    recipe: Recipe,
    X: Array | Source,
    y: Any,
    names: Sequence[str],
    params: dict[str, Any],
) -> Answer:
    """The answer of a model on the encoded columns of a table."""
    return explain(
        model,
        without_missing(model, X),
        response_of(y, recipe),
        names=names,
        feature_groups=recipe.feature_groups,
        levels=recipe.encoder.ordered,
        target=explained(recipe),
        **params,
    )


def fit_to_all(procedure: Any, table: Table, settings: Settings, say: Say) -> tuple[Any, float]:
    """The procedure fitted to all rows, with findings where there can be some; the seconds."""
    n, p = table.X.shape
    say(f"selecting among {p:,} columns of {n:,} rows")
    start = perf_counter()
    model = clone(procedure)
    with progress_to(say):
        y = response_of(table.y, table.recipe)
        model.fit(table.X, y, **table.sample_params)
        model.set_params(predict_with=settings.predict_with)
        if knows_findings(table):
            model = with_findings(model, table.X, y, **table.sample_params)
    return model, perf_counter() - start


def begin_folds(procedure: Any, table: Table, settings: Settings) -> PendingScores | None:
    """Held-out folds of the procedure, where they are asked for; other processes, where there are
    some, fit them while this one fits to all rows.
    """
    if not settings.cv:
        return None
    folds = TimeSeriesSplit(settings.cv) if settings.time_order else settings.cv
    y, params = response_of(table.y, table.recipe), SampleParams(**table.sample_params)
    return begin_held_out(procedure, table.X, y, folds, settings.n_jobs, params=params)


def column_names(model: BaseEstimator, table: Table) -> Sequence[str]:
    """The names of the columns; of a table read column by column, those that will be shown."""
    if table.names is None and isinstance(table.X, Source):
        return names_of_best(model, table.X)
    return variable_names(model, table.names)


def knows_findings(table: Table) -> bool:
    """Whether findings can be looked for: not with a response that differs inside of groups, and
    not with an offset of labels.
    """
    if table.offset is not None and table.task == "classification":
        return False
    return table.groups is None or constant_in_groups(
        table.y, group_codes(table.groups.labels, len(table.y))
    )


def affordable(table: Table, settings: Settings) -> tuple[Settings, list[Note]]:
    """The settings with what this table allows of folds, and notes."""
    notes = []
    if not knows_findings(table):
        why = (
            "the target differs inside of groups; --aggregate mean makes one row of each group"
            if table.groups is not None
            else "labels have an offset; give it among the covariates instead"
        )
        notes.append(Note(f"Confidence was not computed, because {why}.", caution=True))
    if isinstance(table.X, Source) and settings.cv:
        text = (
            "The table does not fit into memory and was read column by column: there are no "
            "held-out scores. Score the model on other rows with gradsift report."
        )
        notes.append(Note(text, caution=True))
        settings = replace(settings, cv=0)
    return settings, notes


def without_missing(model: BaseEstimator, X: Array | Source) -> Array | Source:
    """The table as the fit saw it: column means in place of missing values."""
    if isinstance(X, Source):
        return ScaledSource(X, identity_scaling(X.shape[1], model.mean_))
    return fill_missing(X, model.mean_)
