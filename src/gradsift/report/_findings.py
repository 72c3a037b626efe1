"""What was found: the one record that page, summary.json, terminal and notebook are made from."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import gradsift
from gradsift.estimators import ModelDescription
from gradsift.explain import (
    VariableSummary,
    best_unselected,
    summarise_variables,
    variable_names,
)
from gradsift.trust import HeldOut, Stability


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
    target : str, default='y'
        What the response is called.
    source : str, optional
        The file the table came from.
    n_samples : int, optional
        Rows the model was fitted to, where X is only a part of them.
    sample_names : sequence of str, optional
        One per row of X.
    stability : Stability, optional
        From `gradsift.trust.stability`.
    held_out : HeldOut, optional
        From `gradsift.trust.held_out`.
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
    target: str = "y"
    source: str | None = None
    n_samples: int | None = None
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

    @cached_property
    def described(self) -> ModelDescription:
        """What the model says it is."""
        description: ModelDescription = self.model.describe()
        return description

    @cached_property
    def variables(self) -> list[VariableSummary]:
        """What is known about each selected variable, best ranked first."""
        return summarise_variables(self.model, self.X, names=self.names, stability=self.stability)

    @cached_property
    def all_names(self) -> Sequence[str]:
        """The name of every column."""
        return variable_names(self.model, self.names)

    @cached_property
    def score(self) -> float:
        """Accuracy or R² on the rows of X."""
        return float(self.model.score(self.X, self.y))

    @property
    def rows(self) -> int:
        """Rows of the fit."""
        return len(self.y) if self.n_samples is None else self.n_samples

    @property
    def columns(self) -> int:
        """Columns there were to choose from."""
        return self.described.n_features

    @property
    def n_selected(self) -> int:
        """How many of them were selected."""
        return self.described.n_selected

    @property
    def labels(self) -> bool:
        """Whether the response is one of classes."""
        return self.described.labels

    @property
    def metric(self) -> str:
        """What `score` is called."""
        return "accuracy" if self.labels else "R²"

    def runners_up(self, most: int = 3) -> list[str]:
        """Names of the best ranked columns that were not selected."""
        return [self.all_names[k] for k in best_unselected(self.model, most).tolist()]

    def _repr_html_(self) -> str:
        from gradsift.report._notebook import short_form

        return short_form(self)
