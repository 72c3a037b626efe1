"""A fitted model described as plain data: what reports and pages read of any estimator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from gradsift.data.mixed import TableEncoder
from gradsift.inference import Significance
from gradsift.inference.findings import Finding
from gradsift.inference.marginal_tests import RATE, Association
from gradsift.protocols import Array

# A fitted estimator in a notebook: the finding first, scikit-learn's diagram below it.


MOST = 10
# colours of the page around it, whatever its theme
CELL = "text-align:left;padding:2px 12px 2px 0;border:0"


def short_form(model: Any) -> str:
    """The selected variables as a small HTML table; '' before `fit`, and without a ranking.

    Column names are data: they are escaped.
    """
    try:
        check_is_fitted(model, "ranking_")
    except NotFittedError:
        return ""
    support = model.get_support(indices=True)
    order = support[np.argsort(model.ranking_[support], kind="stable")]
    names = getattr(model, "feature_names_in_", None)
    sizes = model.feature_importances_
    head = (
        f"<b>{len(support):,} of {model.n_features_in_:,} variables selected</b>, "
        f"{model.n_components_} direction{'' if model.n_components_ == 1 else 's'}"
    )
    association = getattr(model, "association_", None)  # methods of the paper have none
    if association is not None:
        head += f", {len(association.associated()):,} associated one by one (FDR {RATE:.0%})"
    largest = float(sizes.max(initial=0.0)) or 1.0
    rows = "".join(
        _row(
            int(model.ranking_[k]),
            f"x{k}" if names is None else str(names[k]),
            float(sizes[k]),
            float(sizes[k]) / largest,
        )
        for k in order[:MOST]
    )
    hidden = len(order) - MOST
    more = f"<div>and {hidden:,} more</div>" if hidden > 0 else ""
    table = (
        f'<table style="border-collapse:collapse;margin:6px 0;font-size:inherit">{rows}</table>'
        if rows
        else ""
    )
    return (
        '<div style="font-family:system-ui,sans-serif;font-size:13px;line-height:1.5;'
        f'margin-bottom:8px"><div>{head}</div>{table}{more}</div>'
    )


def _row(rank: int, name: str, size: float, share: float) -> str:
    bar = (
        f'<div style="width:{100 * share:.0f}px;height:6px;border-radius:3px;'
        'background:#0072B2"></div>'
    )
    return (
        f'<tr><td style="{CELL}">{rank}</td><td style="{CELL}"><b>{escape(name)}</b></td>'
        f'<td style="{CELL}">{size:.3g}</td><td style="{CELL}">{bar}</td></tr>'
    )


@dataclass(frozen=True)
class Optimality:
    """The proof of optimality that the paper's estimators come with.

    Attributes
    ----------
    alpha, alpha_max : float
        The penalty used, and the smallest one at which nothing is selected.
    dual_gap, kkt_violation : float
        Relative duality gap; largest violation of the optimality conditions by any variable.
    tol : float
        The duality gap that was asked for.
    """

    alpha: float
    alpha_max: float
    dual_gap: float
    kkt_violation: float
    tol: float

    @property
    def reached(self) -> bool:
        """Whether the duality gap is as small as asked for."""
        return self.dual_gap <= self.tol


@dataclass(frozen=True, eq=False)
class PenaltyChoice:
    """How the penalty was chosen by held-out rows.

    Attributes
    ----------
    alpha : float
    alphas : (n_alphas,) array
        Those tried, decreasing.
    losses : (n_alphas, n_folds) array
        Held-out losses; less is better.
    rule : str
        'min' or '1se'.
    measure : str
        What the losses are: 'mean squared error', 'log loss', or the negative of a score asked for.
    """

    alpha: float
    alphas: Array
    losses: Array
    rule: str
    measure: str

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return int(self.losses.shape[1])

    @property
    def mean_losses(self) -> Array:
        """Mean loss over the folds, one per penalty."""
        return np.asarray(self.losses.mean(axis=1))

    @property
    def chosen_loss(self) -> float:
        """Mean loss at the penalty that was chosen."""
        return float(self.mean_losses[int(np.abs(self.alphas - self.alpha).argmin())])


@dataclass(frozen=True)
class MemberPart:
    """A predictor on all columns, which predictions may be averaged with.

    Attributes
    ----------
    kind : str
        'ridge' (on the columns that stand out), 'kernel ridge' or 'Laplace kernel ridge' (on all
        that vary).
    share : float
        Its part in the average.
    n_columns : int
        Columns it uses.
    """

    kind: str
    share: float
    n_columns: int


@dataclass(frozen=True)
class EnsemblePart:
    """Everything that predictions of the selected variables may be averaged with.

    Attributes
    ----------
    members : tuple of MemberPart
    used : bool
        Whether `predict` takes the average, or the selected variables alone.
    """

    members: tuple[MemberPart, ...]
    used: bool

    @property
    def share(self) -> float:
        """The part of all members; the selected variables have the rest."""
        return sum(member.share for member in self.members)


@dataclass(frozen=True, eq=False)
class ModelDescription:
    """A fitted model as data.

    Attributes
    ----------
    kind : str
        Name of the estimator.
    classes : tuple of str
        Names of the classes; empty for numbers.
    n_features, n_selected : int
        Columns of the table, and those that were selected.
    covariates : tuple of str
        Names of the covariates that were adjusted for.
    covariates_explain : float
        Share of the variance of the response that they explain alone.
    has_offset : bool
        Whether a known part of the response was given.
    feature_groups : tuple of str or None
        The variable behind each column, where several columns make up one.
    variable_importances : (p,) array or None
        Importance of the variable that each column belongs to; None where each column is one.
    encoder : TableEncoder or None
        How a table with categories became columns of numbers; None where it was numbers.
    interactions : tuple of (int, int)
        Pairs of columns whose product the model found in the response, strongest first.
    false_positives : float or None
        Expected number of false variables on pure noise; None where the method has no such level.
    findings : sequence of Finding or None
        Sets of columns of which one acts, most probable first; None where they were not computed.
    confidence : (p,) array or None
        Confidence of every column.
    association : Association or None
        Marginal tests: which columns are associated with the response, each by itself; None where
        there are none.
    significance : Significance or None
        Tests of the columns, where there were any.
    false_discovery_rate : float or None
        The false discovery rate of the selection; None where variables were not selected by tests.
    ensemble : EnsemblePart or None
        What else predictions may be made with, besides the selected variables.
    optimality : Optimality or None
        The certificate of the answer, where there is one.
    penalty_choice : PenaltyChoice or None
        How the penalty was chosen, where it was by held-out rows.
    """

    kind: str
    classes: tuple[str, ...]
    n_features: int
    n_selected: int
    covariates: tuple[str, ...] = ()
    covariates_explain: float = 0.0
    has_offset: bool = False
    feature_groups: tuple[str, ...] | None = None
    variable_importances: Array | None = None
    encoder: TableEncoder | None = None
    interactions: tuple[tuple[int, int], ...] = ()
    false_positives: float | None = None
    findings: Sequence[Finding] | None = None
    confidence: Array | None = None
    association: Association | None = None
    significance: Significance | None = None
    false_discovery_rate: float | None = None
    ensemble: EnsemblePart | None = None
    optimality: Optimality | None = None
    penalty_choice: PenaltyChoice | None = None

    @property
    def labels(self) -> bool:
        """Whether the response is classes."""
        return len(self.classes) > 0

    @property
    def at_the_mean(self) -> dict[str, Any]:
        """Parameters of `predict` for predictions from the columns of the table alone."""
        params: dict[str, Any] = {"covariates": "mean"} if self.covariates else {}
        return params | ({"offset": 0.0} if self.has_offset else {})
