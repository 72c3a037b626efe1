"""The main job: from a table to a fitted model and how sure one can be of it."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any, Literal

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from gradsift import (
    GradientSiftClassifier,
    GradientSiftRegressor,
    SparseGradientClassifierCV,
    SparseGradientRegressorCV,
)
from gradsift._typing import Source
from gradsift.data import FilledSource, fill_holes
from gradsift.explain import VariableSummary, names_of_best, summarise_variables
from gradsift.tables import Table
from gradsift.trust import HeldOut, Stability, held_out, stability

Method = Literal["sift", "sparse-gradient"]
MOST_REPEATED = 5_000_000
"""Numbers in a table up to which the fit is repeated on half samples unless asked otherwise."""
TIGHTER = 10.0
MOST_TIGHTENED = 12


@dataclass(frozen=True)
class Settings:
    """How to select.

    Parameters
    ----------
    method : {'sift', 'sparse-gradient'}
        `GradientSift*`, or the paper's estimator with alpha by cross-validation.
    false_positives : float
        Expected number of false variables (sift).
    interactions : bool
        Look for products of two variables (sift).
    cv : int
        Folds; 0 = none (sift only).
    selection : {'min', '1se'}
        Which alpha (sparse-gradient).
    max_features : int, optional
        Select no more than this many.
    repeats : int, optional
        Half samples to repeat the selection on; None = 10, or none for large tables.
    seed : int
    n_jobs : int
    """

    method: Method = "sift"
    false_positives: float = 0.3
    interactions: bool = True
    cv: int = 5
    selection: Literal["min", "1se"] = "min"
    max_features: int | None = None
    repeats: int | None = None
    seed: int = 0
    n_jobs: int = 1


@dataclass(frozen=True)
class Answer:
    """What was found, and how sure.

    Attributes
    ----------
    model : fitted estimator
    variables : list of VariableSummary
    seconds : float
        Time taken by the fit alone.
    warnings : tuple of str
    converged : bool
    """

    model: Any
    table: Table
    settings: Settings
    variables: list[VariableSummary]
    held_out: HeldOut | None
    stability: Stability | None
    seconds: float
    warnings: tuple[str, ...] = ()
    converged: bool = True
    notes: tuple[str, ...] = field(default=())


def make_estimator(table: Table, settings: Settings) -> Any:
    """The estimator the settings ask for, not fitted."""
    labels = table.recipe.task == "classification"
    missing: Literal["error", "mean"] = "mean" if table.recipe.missing == "mean" else "error"
    if settings.method == "sift":
        sift = GradientSiftClassifier if labels else GradientSiftRegressor
        return sift(
            settings.false_positives,
            interactions=settings.interactions,
            always_keep=table.keep.tolist() or None,
            missing=missing,
            random_state=settings.seed,
        )
    if settings.method != "sparse-gradient":
        raise ValueError(f"--method {settings.method}: use sift or sparse-gradient.")
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
        penalty_factor=factor,
        missing=missing,
        n_jobs=settings.n_jobs,
    )


def fit_at_most(estimator: Any, table: Table, most: int | None) -> Any:
    """Fit; where more than `most` variables are selected, again at stricter levels.

    The sift gets a smaller `false_positives`, the paper's estimator the smallest alpha of its path
    that selects few enough.
    """
    model = estimator.fit(table.X, table.y)
    if most is None:
        return model
    most = max(most, len(table.keep))
    tightened = 0
    while model.get_support().sum() > most:
        if hasattr(model, "path_"):
            few = [a for a, s in zip(model.alphas_, model.path_.supports) if len(s) <= most]
            if not few or tightened:
                break
            model = type(model)(**{**model.get_params(), "alphas": [min(few)]})
        else:
            if tightened == MOST_TIGHTENED:
                break
            model = model.set_params(false_positives=model.false_positives / TIGHTER)
        model.fit(table.X, table.y)
        tightened += 1
    return model


def with_whole_categories(model: Any, table: Table) -> Any:
    """A column of categories is in or out as a whole: where one level is selected, all are kept.

    The sift is fitted again with them; the paper's estimator selects levels one by one.
    """
    if not table.recipe.levels or not hasattr(model, "always_keep"):
        return model
    origins = np.array(table.recipe.origins)
    chosen = [c for c in table.recipe.levels if model.get_support()[origins == c].any()]
    levels = np.isin(origins, chosen)
    if not (levels & ~model.get_support()).any():
        return model
    keep = np.union1d(table.keep, np.flatnonzero(levels))
    return model.set_params(always_keep=keep.tolist()).fit(table.X, table.y)


def select(table: Table, settings: Settings, say: Callable[[str], None] | None = None) -> Answer:
    """Fit, describe, and find out how sure one can be.

    Parameters
    ----------
    table : Table
        From `gradsift.tables.open_table`.
    settings : Settings
    say : callable, optional
        Told what is being done.

    Returns
    -------
    answer : Answer

    Examples
    --------
    >>> from gradsift.tables import Choices, prepare
    >>> from gradsift.tables.frame import make_frame
    >>> X = np.random.default_rng(0).normal(size=(80, 4))
    >>> frame = make_frame(["a", "b", "c", "d", "y"], [*X.T, X[:, 1] ** 2])
    >>> answer = select(prepare(frame, Choices("y")), Settings(cv=0, repeats=0))
    >>> [(row.name, row.effect.words) for row in answer.variables]
    [('b', 'U-shaped')]
    """
    say = say or (lambda _: None)
    X, y = table.X, table.y
    n, p = X.shape
    notes: list[str] = []
    repeats = settings.repeats
    if repeats is None:
        repeats = 10 if n * p <= MOST_REPEATED else 0
    cv = settings.cv
    if isinstance(X, Source) and (cv or repeats):
        notes.append("read column by column: no held-out score, no half samples")
        cv = repeats = 0
    outside = steady = None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        say(f"sifting {p:,} columns of {n:,} rows")
        start = perf_counter()
        estimator = make_estimator(table, settings)
        with heard(say):
            model = fit_at_most(estimator.set_params(verbose=1), table, settings.max_features)
            model = with_whole_categories(model, table)
        model.set_params(verbose=0)
        seconds = perf_counter() - start
        count = int(model.get_support().sum())
        if settings.max_features is not None and count > settings.max_features:
            notes.append(f"{count} variables stay selected at every level tried")
        if cv:
            say(f"scoring {cv} held-out folds")
            outside = held_out(model, X, y, cv=cv, n_jobs=settings.n_jobs)
        if repeats:
            say(f"selecting again on {repeats} half samples")
            steady = stability(
                at_its_level(model), X, y, repeats, settings.seed, n_jobs=settings.n_jobs
            )
        say("describing what the variables do")
        if table.names is None and isinstance(X, Source):
            table = replace(table, names=names_of_best(model, X))
        table = replace(table, X=without_holes(model, X))
        variables = summarise_variables(model, table.X, y, names=table.names, stability=steady)
    said = [w for w in caught if issubclass(w.category, UserWarning)]
    return Answer(
        model,
        table,
        replace(settings, repeats=repeats),
        variables,
        outside,
        steady,
        seconds,
        tuple(dict.fromkeys(str(w.message) for w in said)),
        not any(issubclass(w.category, ConvergenceWarning) for w in caught),
        (*table.notes, *notes),
    )


@contextmanager
def heard(say: Callable[[str], None]) -> Iterator[None]:
    """What a verbose fit tells its log goes to `say`."""
    log = logging.getLogger("gradsift")
    handler = logging.Handler()
    handler.emit = lambda record: say(record.getMessage())  # type: ignore[method-assign]
    level, passed_on = log.level, log.propagate
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    log.propagate = False
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(level)
        log.propagate = passed_on


def without_holes(model: Any, X: Any) -> Any:
    """The table as the fit saw it: column means in place of missing values."""
    if isinstance(X, Source):
        return FilledSource(X, model.mean_)
    return fill_holes(X, model.mean_)


def at_its_level(model: Any) -> Any:
    """The estimator to repeat: with the penalty that was chosen, not chosen anew."""
    if not hasattr(model, "cv_scores_"):
        return model
    return type(model)(**{**model.get_params(), "alphas": [model.alpha_], "cv": 2})
