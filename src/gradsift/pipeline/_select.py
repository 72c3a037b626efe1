"""The main job: from a table to a fitted model and how sure one can be of it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, Literal, TypedDict, Unpack

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import TimeSeriesSplit

from gradsift import (
    AlphaGrid,
    GradientSiftClassifier,
    GradientSiftRegressor,
    Penalties,
    SiftOptions,
    SparseGradientClassifierCV,
    SparseGradientRegressorCV,
)
from gradsift._run.progress import Say, progress_to, silent
from gradsift.data import FilledSource, fill_holes
from gradsift.data.row_groups import constant_in_groups, group_codes
from gradsift.estimators.inference import with_findings
from gradsift.estimators.splits import SampleParams
from gradsift.evaluate import held_out, stability
from gradsift.exceptions import NothingSelectedWarning, RepeatedRowsWarning
from gradsift.explain import names_of_best
from gradsift.protocols import Source
from gradsift.report import Findings
from gradsift.report.text import join
from gradsift.tables import BEWARE, Table
from gradsift.tables.suspects import constant_words

Stage = Callable[[Findings], dict[str, Any]]
"""Findings so far -> fields of `Findings` that a stage adds."""
Method = Literal["sift", "sparse-gradient"]
MOST_REPEATED = 5_000_000
"""Numbers in a table up to which the fit is repeated on half samples, unless asked otherwise."""


@dataclass(frozen=True)
class Settings:
    """How to select.

    Parameters
    ----------
    method : {'sift', 'sparse-gradient'}
        `GradientSift*`, or the paper's estimator with alpha by cross-validation.
    false_positives : float
        Expected number of false variables (sift).
    false_discovery_rate : float, optional
        Select by tests, with about this share of false variables at most (sift).
    interactions : bool
        Look for products of two variables (sift).
    cv : int
        Folds; 0 = none (sift only).
    selection : {'min', '1se'}
        Which alpha (sparse-gradient).
    max_features : int, optional
        Select no more than this many; categories count once, columns that are kept not at all.
    predict_with : {'selected', 'auto'}
        What the model predicts with (sift): the selected variables alone, or their average with
        predictors on all columns, where these have a part.
    repeats : int, optional
        Half samples to repeat the selection on; None = 10, or none for large tables.
    seed : int
    n_jobs : int
    time_order : bool
        Rows are in the order of time: every fold learns from the rows before those held out.
    """

    method: Method = "sift"
    false_positives: float = 0.3
    false_discovery_rate: float | None = None
    interactions: bool = True
    cv: int = 5
    selection: Literal["min", "1se"] = "min"
    max_features: int | None = None
    predict_with: Literal["selected", "auto"] = "selected"
    repeats: int | None = None
    seed: int = 0
    n_jobs: int = 1
    time_order: bool = False


def make_estimator(table: Table, settings: Settings) -> Any:
    """The whole procedure that the settings ask for as one estimator, not fitted.

    Filling missing values, whole categories and the limit to the selection are part of its fit.
    Clones of it are fitted to all rows, to folds and to half samples, and nothing else is.
    """
    labels = table.recipe.task == "classification"
    missing: Literal["error", "mean"] = "mean" if table.recipe.missing == "mean" else "error"
    if settings.method == "sift":
        sift = GradientSiftClassifier if labels else GradientSiftRegressor
        return sift(
            settings.false_positives,
            false_discovery_rate=settings.false_discovery_rate,
            interactions=settings.interactions,
            always_keep=table.keep.tolist() or None,
            feature_groups=table.recipe.origins if table.recipe.levels else None,
            predict_with="auto",  # so that both ways to predict can be scored
            missing=missing,
            options=SiftOptions(max_features=settings.max_features, seed=settings.seed),
        )
    if settings.method != "sparse-gradient":
        raise ValueError(f"--method {settings.method}: use sift or sparse-gradient.")
    if table.covariates is not None or table.offset is not None:
        raise ValueError(
            "--covariates works with --method sift; for sparse-gradient, put such columns into the "
            "table and name them with --keep."
        )
    if settings.cv < 2:
        raise ValueError("--method sparse-gradient chooses its penalty by --cv of at least 2.")
    factor = None
    if len(table.keep):
        factor = np.ones(table.X.shape[1])
        factor[table.keep] = 0.0
    sparse = SparseGradientClassifierCV if labels else SparseGradientRegressorCV
    return sparse(
        cv=settings.cv,
        selection=settings.selection,
        alphas=AlphaGrid(max_features=settings.max_features),
        penalties=Penalties(penalty_factor=factor),
        missing=missing,
        n_jobs=settings.n_jobs,
    )


class Origin(TypedDict, total=False):
    """Where a table came from, and how it was run: goes into `Findings` as it is."""

    source: str
    command: str
    fingerprint: str
    created: str


def select(
    table: Table, settings: Settings, say: Say = silent, **origin: Unpack[Origin]
) -> Findings:
    """Fit, and find out how sure one can be.

    Parameters
    ----------
    table : Table
        From `gradsift.tables.open_table`.
    settings : Settings
    say : callable, optional
        Told what is being done.
    **origin : str
        `source`, `command`, `fingerprint` and `created`, as in `Findings`.

    Returns
    -------
    findings : Findings

    Examples
    --------
    >>> from gradsift.tables import Choices, prepare
    >>> from gradsift.tables.frame import make_frame
    >>> X = np.random.default_rng(0).normal(size=(80, 4))
    >>> frame = make_frame(["a", "b", "c", "d", "y"], [*X.T, X[:, 1] ** 2])
    >>> found = select(prepare(frame, Choices("y")), Settings(cv=0, repeats=0))
    >>> [(row.name, row.effect.words) for row in found.variables]
    [('b', 'U-shaped')]
    """
    *_, findings = select_in_stages(table, settings, say, **origin)
    return findings


def select_in_stages(
    table: Table, settings: Settings, say: Say = silent, **origin: Unpack[Origin]
) -> Iterator[Findings]:
    """The findings after each stage of `select`, so that they can be written before the next one
    begins: the fit, the findings, held-out folds, half samples.
    """
    settings, notes = affordable(table, settings)
    procedure = make_estimator(table, settings)
    caught: list[warnings.WarningMessage] = []
    with gathered(caught):
        model, seconds = fit_to_all(procedure, table, settings, say)
    findings = Findings(
        model,
        without_holes(model, table.X),
        table.y,
        names=known_names(model, table),
        groups=table.recipe.origins if table.recipe.levels else None,
        covariates=tuple(table.keep.tolist()),
        sample_params=SampleParams(None, table.covariates, table.offset),
        places=table.places,
        target=table.recipe.target,
        sample_names=None if table.ids is None else table.ids.tolist(),
        settings=vars(settings),
        seed=settings.seed,
        seconds=seconds,
        notes=(
            *table.notes,
            *group_notes(table),
            *notes,
            *stored_constants(model, table),
            *pair_notes(model),
        ),
        **complaints(caught, table),
        **origin,
    )
    stages = later_stages(procedure, table, settings, say)
    for done, stage in enumerate(stages.values()):
        to_come = f"{BEWARE}written before the run ended, without {join(list(stages)[done:])}"
        yield replace(findings, notes=(*findings.notes, to_come))
        with gathered(caught):
            found = stage(findings)
        findings = replace(findings, **found, **complaints(caught, table))
    yield findings


def fit_to_all(procedure: Any, table: Table, settings: Settings, say: Say) -> tuple[Any, float]:
    """The procedure fitted to all rows, and the seconds that took."""
    n, p = table.X.shape
    say(f"sifting {p:,} columns of {n:,} rows")
    start = perf_counter()
    model = clone(procedure)
    with progress_to(say):
        model.fit(table.X, table.y, **table.told)
    if settings.method == "sift":
        model.set_params(predict_with=settings.predict_with)
    return model, perf_counter() - start


def later_stages(procedure: Any, table: Table, settings: Settings, say: Say) -> dict[str, Stage]:
    """What is to be found out after the fit, where it is asked for: in words, and how."""
    X, y, n_jobs = table.X, table.y, settings.n_jobs

    def confidence(findings: Findings) -> dict[str, Any]:
        start = perf_counter()
        with progress_to(say):
            model = with_findings(findings.model, X, y, **table.told)
        return {"model": model, "seconds": (findings.seconds or 0.0) + perf_counter() - start}

    def scores(_: Findings) -> dict[str, Any]:
        say(f"scoring {settings.cv} held-out folds")
        folds = TimeSeriesSplit(settings.cv) if settings.time_order else settings.cv
        return {"held_out": held_out(procedure, X, y, cv=folds, n_jobs=n_jobs, **table.told)}

    def halves(_: Findings) -> dict[str, Any]:
        repeats = settings.repeats or 0
        say(f"selecting again on {repeats} half samples")
        found = stability(procedure, X, y, repeats, settings.seed, n_jobs=n_jobs, **table.told)
        return {"stability": found}

    stages: dict[str, tuple[Any, Stage]] = {
        "the confidence of findings": (knows_findings(table, settings), confidence),
        "held-out scores": (settings.cv, scores),
        "half samples": (settings.repeats, halves),
    }
    return {name: stage for name, (wanted, stage) in stages.items() if wanted}


@contextmanager
def gathered(caught: list[warnings.WarningMessage]) -> Iterator[None]:
    """Warnings go into a list instead of to stderr."""
    with warnings.catch_warnings(record=True) as met:
        warnings.simplefilter("always")
        yield
    caught += met


def group_notes(table: Table) -> list[str]:
    """What was made of rows that belong together."""
    if table.groups is None:
        return []
    if same_in_groups(table):
        how = "the target never changes inside of one, so that their means were compared"
    else:
        how = "levels allow for what rows of a group have in common"
    return [
        f"{len(table.y):,} rows belong to {table.groups.count:,} groups ({table.groups.column}): "
        f"{how}, and folds and half samples are of whole groups"
    ]


def stored_constants(model: Any, table: Table) -> list[str]:
    """A note on columns that never change, of a table that only the fit has read through."""
    count = int(np.isinf(model.scale_).sum()) if isinstance(table.X, Source) else 0
    return [constant_words(count)] if count else []


def pair_notes(model: Any) -> list[str]:
    """Which products of two columns were tested, where it was not those of all."""
    paired, p = getattr(model, "n_paired_columns_", 0), len(model.scale_)
    if not 0 < paired < p:
        return []
    return [
        f"products of two columns were looked for among the {paired:,} most promising of {p:,} "
        "columns only: those of all would take too long"
    ]


def complaints(caught: Sequence[warnings.WarningMessage], table: Table) -> dict[str, Any]:
    """What the findings repeat of warnings: once each, and nothing that they say anyway."""
    # that nothing was selected is the first thing the findings say, and a table that is in memory
    # has a note on rows that repeat others
    said = {NothingSelectedWarning, *(() if isinstance(table.X, Source) else {RepeatedRowsWarning})}
    told = [w for w in caught if issubclass(w.category, UserWarning) and w.category not in said]
    slow = any(issubclass(w.category, ConvergenceWarning) for w in caught)
    return {"converged": not slow, "warnings": tuple(dict.fromkeys(str(w.message) for w in told))}


def known_names(model: Any, table: Table) -> Any:
    """The names of the columns; of a table read column by column, those that will be shown."""
    if table.names is None and isinstance(table.X, Source):
        return names_of_best(model, table.X)
    return table.names


def knows_findings(table: Table, settings: Settings) -> bool:
    """Whether findings can be looked for: not with a response that differs inside of groups, and
    not with an offset of labels.
    """
    if settings.method != "sift":
        return False
    if table.offset is not None and table.recipe.task != "regression":
        return False
    return table.groups is None or same_in_groups(table)


def same_in_groups(table: Table) -> bool:
    """Whether the response never changes inside of a group of rows."""
    assert table.groups is not None
    return constant_in_groups(table.y, group_codes(table.groups.labels, len(table.y)))


def affordable(table: Table, settings: Settings) -> tuple[Settings, list[str]]:
    """The settings with what this table allows of folds and half samples, and notes."""
    n, p = table.X.shape
    cv, repeats, notes = settings.cv, settings.repeats, []
    if repeats is None:
        repeats = 0 if isinstance(table.X, Source) or n * p > MOST_REPEATED else 10
    if settings.method == "sift" and not knows_findings(table, settings):
        why = (
            "the target differs inside of groups: --aggregate mean makes one row of each group"
            if table.groups is not None
            else "labels have an offset: give it among the covariates instead"
        )
        notes.append(f"findings were not looked for, because {why}")
    if isinstance(table.X, Source) and (cv or repeats):
        notes.append(
            f"{BEWARE}the table is too large to be taken into memory and was read column by "
            "column: no held-out score and no half samples"
        )
        cv = repeats = 0
    return replace(settings, cv=cv, repeats=repeats), notes


def without_holes(model: Any, X: Any) -> Any:
    """The table as the fit saw it: column means in place of missing values."""
    if isinstance(X, Source):
        return FilledSource(X, model.mean_)
    return fill_holes(X, model.mean_)
