"""What was found: the one record that page, summary.json, terminal and notebook are made from."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

import gradsift
from gradsift.data.slices import take_rows
from gradsift.estimators import ModelDescription
from gradsift.estimators.splits import SampleParams
from gradsift.evaluate import HeldOut, Scores, Stability, score_model
from gradsift.explain import (
    FindingSummary,
    VariableSummary,
    best_unselected,
    summarise_findings,
    summarise_variables,
    variable_names,
)
from gradsift.protocols import Source
from gradsift.report._categories import (
    LevelEffect,
    encoded_view,
    importance_together,
    level_effect,
    merge_groups,
    name_categories,
)
from gradsift.report._suspicion import giveaways
from gradsift.tables.variants import VariantPlaces

MOST_LISTED = 20_000
"""Unselected variables named, best ranked first."""
MOST_CHECKED = 100
"""Selected variables looked at for whether one alone reproduces the target."""
MOST_PICKED = 10
"""Variables shown that the half samples picked most often."""


def versions() -> dict[str, str]:
    """Versions of what the numbers depend on.

    Returns
    -------
    versions : dict
        Name of the package, version.
    """
    found = {"gradsift": gradsift.__version__, "python": platform.python_version()}
    for package in ("numpy", "scipy", "scikit-learn"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


@dataclass(frozen=True, eq=False)
class Findings:
    """A fitted model, what is known about it, and how it came to be.

    Parameters
    ----------
    model : fitted estimator
        Any estimator of this package.
    X : (n, p) array, data frame or Source
        Samples to judge the effects at and to draw: the training table, or some of its rows.
    y : (n,) array
        Their responses or labels.
    names : sequence of str, optional
        Column names; None = as the model knows them.
    groups : sequence of str, optional
        The variable behind each column, where several columns (the 0/1 columns of a category) are
        one variable: it counts once and is shown once.
    covariates : sequence of int
        Columns that were kept because they were asked for: never counted nor shown as findings.
    sample_params : SampleParams
        Covariates and offset of the rows of X, where the model was fitted with some.
    places : VariantPlaces, optional
        Where the variants of a table of genotypes are.
    target : str, default='y'
        What the response is called.
    source : str, optional
        The file the table came from.
    n_samples : int, optional
        Rows the model was fitted to, where X is only a part of them.
    unseen : (n,) bool array, optional
        Which rows of X the fit has not seen; None = X are rows of the fit.
    sample_names : sequence of str, optional
        One per row of X.
    stability : Stability, optional
        From `gradsift.evaluate.stability`.
    held_out : HeldOut, optional
        From `gradsift.evaluate.held_out`.
    command : str, optional
        The command or code that does it again.
    settings : mapping
        What was asked for.
    versions : mapping, optional
        Versions of the software used; None = what is installed here.
    seed : int, optional
    fingerprint : str, optional
        Digest of the data.
    seconds : float, optional
        How long the fit took.
    created : str, optional
        When, as text.
    converged : bool
        Whether every fit reached its tolerance.
    notes : sequence of str
        What was decided on the user's behalf.
    warnings : sequence of str
        What the run complained about.

    Examples
    --------
    >>> import numpy as np
    >>> from gradsift import GradientSiftRegressor
    >>> X = np.random.default_rng(0).normal(size=(80, 4))
    >>> y = X[:, 1] ** 2
    >>> found = Findings(GradientSiftRegressor().fit(X, y), X, y)
    >>> [(row.name, row.effect.words) for row in found.variables]
    [('x1', 'U-shaped')]
    """

    model: Any
    X: Any
    y: Any
    names: Sequence[str] | None = None
    groups: Sequence[str] | None = None
    covariates: Sequence[int] = ()
    sample_params: SampleParams = field(default_factory=SampleParams)
    places: VariantPlaces | None = None
    target: str = "y"
    source: str | None = None
    n_samples: int | None = None
    unseen: Any = None
    sample_names: Sequence[str] | None = None
    stability: Stability | None = None
    held_out: HeldOut | None = None
    command: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=versions)
    seed: int | None = None
    fingerprint: str | None = None
    seconds: float | None = None
    created: str | None = None
    converged: bool = True
    notes: Sequence[str] = ()
    warnings: Sequence[str] = ()

    def __post_init__(self) -> None:
        known = encoded_view(self.model, self.X, self.groups, self.stability)
        for name, value in known.items():
            object.__setattr__(self, name, value)
        if self.stability is not None and self.groups is not None:
            variables = np.unique(self.groups, return_inverse=True)[1]
            object.__setattr__(self, "stability", replace(self.stability, variables=variables))

    @cached_property
    def described(self) -> ModelDescription:
        """What the model says it is."""
        description: ModelDescription = self.model.describe()
        return description

    @cached_property
    def variables(self) -> list[VariableSummary]:
        """What is known about each selected variable, best ranked first."""
        found = summarise_variables(
            self.model,
            self.X,
            self.adjusted_y,
            names=self.names,
            findings=self.described.findings or (),
            stability=self.stability,
        )
        rows = [row for row in found if row.column not in self.covariates]
        if self.groups is None:
            return rows
        together = partial(importance_together, self.model, self.X)
        return merge_groups(rows, self.groups, self.stability, together)

    @cached_property
    def found(self) -> list[FindingSummary] | None:
        """Sets of variables of which one acts, most certain first; None where nobody looked."""
        if self.described.findings is None:
            return None
        found = summarise_findings(
            self.model,
            self.described.findings,
            self.X,
            self.variable_of,
            significance=self.described.significance,
            stability=self.stability,
        )
        if self.groups is None:
            return found
        # findings of two levels of a category are one, the most certain
        once = {frozenset(row.names): row for row in reversed(found)}
        return name_categories(sorted(once.values(), key=lambda row: -row.confidence), self.groups)

    @cached_property
    def finding_numbers(self) -> dict[str, int]:
        """Variable -> number of its finding, 1 = most certain."""
        out: dict[str, int] = {}
        for number, finding in enumerate(self.found or [], start=1):
            for name in finding.names:
                out.setdefault(name, number)
        return out

    @cached_property
    def level_effects(self) -> dict[int, LevelEffect]:
        """How the levels of each selected category compare, by the column of its row."""
        if self.groups is None or isinstance(self.X, Source):
            return {}
        labels, out = np.asarray(self.groups), {}
        for row in self.variables:
            columns = np.flatnonzero(labels == row.name).tolist()
            if len(columns) > 1:
                levels = [self.all_names[k].removeprefix(f"{row.name}=") for k in columns]
                out[row.column] = level_effect(
                    self.model, self.X, columns, levels, self.described.classes
                )
        return out

    @cached_property
    def giveaways(self) -> list[str]:
        """Names of selected variables that alone reproduce the target."""
        rows = {row.column: row.name for row in self.variables[:MOST_CHECKED]}
        found = giveaways(self.X, self.y, list(rows), self.labels) if rows else []
        return [rows[k] for k in found]

    @cached_property
    def picked(self) -> list[tuple[str, int, bool]]:
        """(name, in how many half samples, whether selected) of what these picked most often."""
        if self.stability is None:
            return []
        counts: Counter[str] = Counter()
        for columns in self.stability.selections:
            free = [k for k in columns.tolist() if k not in self.covariates]
            counts.update(set(map(self.variable_of, free)))
        chosen = {row.name for row in self.variables}
        best = sorted(counts.items(), key=lambda item: (-item[1], item[0] not in chosen, item[0]))
        return [(name, count, name in chosen) for name, count in best[:MOST_PICKED]]

    def variable_of(self, column: int) -> str:
        """The name of the variable that a column belongs to."""
        if self.groups is not None:
            return str(self.groups[column])
        return self.all_names[column]

    @cached_property
    def new_scores(self) -> Scores | None:
        """Scores on the rows of X that the fit has not seen; None where there are none."""
        rows = np.flatnonzero(False if self.unseen is None else self.unseen)
        if len(rows) == 0:
            return None
        X, y = take_rows(self.X, rows), np.asarray(self.y)[rows]
        return score_model(self.model, X, y, **self.sample_params.take(rows).for_predict)

    @cached_property
    def adjusted_y(self) -> Any:
        """The response, of numbers less the part of covariates and offset."""
        given = self.sample_params.for_predict
        if self.labels or not given:
            return self.y
        return np.asarray(self.y) - self.model.known_part(len(self.y), **given)[:, 0]

    @cached_property
    def variant_places(self) -> dict[str, tuple[str, ...]]:
        """Name -> (chromosome, position, allele counted, other allele) of selected variants."""
        return {} if self.places is None else self.places.of([row.name for row in self.variables])

    @cached_property
    def all_names(self) -> Sequence[str]:
        """The name of every column."""
        return variable_names(self.model, self.names)

    @cached_property
    def score(self) -> float:
        """Accuracy or R² on the rows of X; NaN where numbers have nothing to explain."""
        if not self.labels and np.ptp(np.asarray(self.y, dtype=float)) == 0.0:
            return float("nan")
        return float(self.model.score(self.X, self.y, **self.sample_params.for_predict))

    @property
    def rows(self) -> int:
        """Rows of the fit."""
        return len(self.y) if self.n_samples is None else self.n_samples

    @cached_property
    def columns(self) -> int:
        """Variables there were to choose from: categories count once, covariates and columns that
        never change not at all.
        """
        out = {*self.constant, *self.covariates}
        if self.groups is None:
            return self.described.n_features - len(out)
        kept = {self.groups[k] for k in self.covariates}
        return len({label for k, label in enumerate(self.groups) if k not in out} - kept)

    @cached_property
    def constant(self) -> list[int]:
        """Columns that never change in the rows of the fit, where others do: they standardise to
        zero. Those that are always kept are not among them.
        """
        fitted = getattr(self.model, "field_", None) or self.model.predictor_
        scale = fitted.scaling.scale
        never = np.isinf(scale) & ~self.model.get_support()
        return [] if np.isinf(scale).all() else np.flatnonzero(never).tolist()

    @cached_property
    def n_selected(self) -> int:
        """How many of them were selected."""
        columns = self.model.get_support(indices=True).tolist()
        if self.groups is None:
            return len(set(columns) - set(self.covariates))
        kept = {self.groups[k] for k in self.covariates}
        return len({self.groups[k] for k in columns} - kept)

    @property
    def covariate_names(self) -> list[str]:
        """What was kept because it was asked for."""
        return list(dict.fromkeys(map(self.variable_of, self.covariates)))

    @property
    def adjusted_for(self) -> list[str]:
        """Covariates that were given beside the table."""
        return list(self.described.covariates)

    @property
    def labels(self) -> bool:
        """Whether the response is one of classes."""
        return self.described.labels

    @property
    def metric(self) -> str:
        """What `score` is called."""
        return "accuracy" if self.labels else "R²"

    @cached_property
    def others(self) -> list[tuple[int, str]]:
        """(rank, name) of variables that were not selected, best first."""
        ranking = self.model.ranking_
        out: dict[str, int] = {}
        never = set(self.constant)
        for k in best_unselected(self.model, MOST_LISTED).tolist():
            if k in never:
                continue
            out.setdefault(self.variable_of(k), int(ranking[k]))
        if self.groups is None:
            return [(rank, name) for name, rank in out.items()]
        chosen = {row.name for row in self.variables}
        return [*enumerate((n for n in out if n not in chosen), start=len(chosen) + 1)]

    def runners_up(self, most: int = 3) -> list[str]:
        """Names of the best ranked variables that were not selected."""
        return [name for _, name in self.others[:most]]

    def _repr_html_(self) -> str:
        from gradsift.report._notebook import short_form

        return short_form(self)
