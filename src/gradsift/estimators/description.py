"""A fitted model described as plain data: what reports and pages read of any estimator."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from gradsift._run.printable import printable
from gradsift.tables.columns import TableEncoder

MOST = 10
"""Selected variables that a notebook names."""


def short_form(model: Any) -> str:
    """A fitted estimator in a notebook: its answer, or the selected variables where it has none; ''
    before `fit`, and without a ranking. Column names are data: they are escaped.
    """
    try:
        check_is_fitted(model, "ranking_")
    except NotFittedError:
        return ""
    if (answer := getattr(model, "answer_", None)) is not None:
        return str(answer._repr_html_())
    support = model.get_support(indices=True)
    order = support[np.argsort(model.ranking_[support], kind="stable")]
    names = getattr(model, "feature_names_in_", None)
    shown = [f"x{k}" if names is None else str(names[k]) for k in order[:MOST]]
    shown += [f"{len(order) - MOST:,} more"] if len(order) > MOST else []
    which = f": {escape(', '.join(map(printable, shown)))}" if shown else ""
    return f"<p><b>{len(support):,} of {model.n_features_in_:,} variables selected</b>{which}</p>"


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
    has_offset : bool
        Whether a known part of the response was given.
    encoder : TableEncoder or None
        How a table with categories became columns of numbers; None where it was numbers.
    ensemble : EnsemblePart or None
        What else predictions may be made with, besides the selected variables.
    optimality : Optimality or None
        The certificate of the answer, where there is one.
    """

    kind: str
    classes: tuple[str, ...]
    n_features: int
    n_selected: int
    covariates: tuple[str, ...] = ()
    has_offset: bool = False
    encoder: TableEncoder | None = None
    ensemble: EnsemblePart | None = None
    optimality: Optimality | None = None

    @property
    def labels(self) -> bool:
        """Whether the response is classes."""
        return len(self.classes) > 0

    @property
    def at_the_mean(self) -> dict[str, Any]:
        """Parameters of `predict` for predictions from the columns of the table alone."""
        params: dict[str, Any] = {"covariates": "mean"} if self.covariates else {}
        return params | ({"offset": 0.0} if self.has_offset else {})
