"""One row per selected variable: what a report, a CSV file or a terminal shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gradsift._run.extras import require
from gradsift._run.threads import same_bits
from gradsift.data.responses import check_all_known
from gradsift.data.slices import check_rows, take_columns
from gradsift.evaluate.stability import Stability
from gradsift.explain.correlated import StandIns, correlated_stand_ins
from gradsift.explain.effects import Curve, Effect
from gradsift.explain.names import variable_names
from gradsift.explain.partial import partial_effects
from gradsift.inference.findings import Finding
from gradsift.pairwise.field import KernelField
from gradsift.protocols import Array, IntArray

MOST_DESCRIBED = 100  # dense relatives of the method select everything: describe the best ranked
MOST_NAMED = 10  # stand-ins named
MOST_CLASSES = 3  # classes named that a variable has the same effect on


@dataclass(frozen=True)
class VariableSummary:
    """What is known about one selected variable.

    Attributes
    ----------
    rank : int
        1 = best, over all variables.
    column : int
        Column number in the table.
    name : str
    importance : float
    came_back : float or None
        Share of the half samples that selected it or another column of its finding: near-copies
        take turns. None where stability was not computed.
    by_chance : float or None
        The same for as many columns drawn at random.
    effect : Effect
    output : str or None
        The class whose log odds `effect` is about, the one the variable matters to most; None for
        numbers.
    effects : tuple of (str or None, Effect)
        The effect on every output: one for numbers, the second of two classes, or all of several.
    stand_ins : StandIns
        Unselected columns that could take its place.
    stand_in_names : tuple of str
        Of the closest ten.
    partners : tuple of str
        Variables it acts together with.
    partner_columns : tuple of int
    partner_curves : tuple of (Curve, Curve)
        For each partner, the curve of this variable where the partner is at its lower and at its
        upper quartile.
    """

    rank: int
    column: int
    name: str
    importance: float
    came_back: float | None
    by_chance: float | None
    effect: Effect
    output: str | None
    effects: tuple[tuple[str | None, Effect], ...]
    stand_ins: StandIns
    stand_in_names: tuple[str, ...]
    partners: tuple[str, ...]
    partner_columns: tuple[int, ...]
    partner_curves: tuple[tuple[Curve, Curve], ...]

    @property
    def words(self) -> str:
        """What it does, in a few words; for labels, to the odds of which class."""
        if self.output is None:
            return self.effect.words
        said: dict[str, list[str]] = {}
        for output, effect in self.effects:
            said.setdefault(effect.words, []).append(str(output))
        unclear = said.pop("not clear", [])
        parts = [f"{short_list(classes)}: {words}" for words, classes in said.items()]
        if unclear and parts:
            parts.append(f"not clear for {short_list(unclear)}")
        return f"odds of {'; '.join(parts)}" if parts else "not clear"


class VariableSummaries(list[VariableSummary]):
    """The summaries of the selected variables, best ranked first: a list that can be a table."""

    def to_frame(self) -> Any:
        """A pandas data frame, one row per variable.

        Returns
        -------
        table : DataFrame
            With the columns rank, name, column, importance, effect, change, change_low,
            change_high (of the response over ``effect.span``, with its 95 % interval), partners,
            stand_ins and came_back.
        """
        pandas = require("pandas", "genomics", "a data frame")
        return pandas.DataFrame([self._record(row) for row in self], columns=list(FRAME))

    @staticmethod
    def _record(row: VariableSummary) -> tuple[Any, ...]:
        return (
            row.rank, row.name, row.column, row.importance, row.words, *row.effect.change,
            ", ".join(row.partners), ", ".join(row.stand_in_names), row.came_back,
        )  # fmt: skip


FRAME = (
    "rank", "name", "column", "importance", "effect", "change", "change_low", "change_high",
    "partners", "stand_ins", "came_back",
)  # fmt: skip
"""Columns of the data frame."""


def short_list(classes: list[str]) -> str:
    """The first classes, and how many more.

    Examples
    --------
    >>> short_list(list("abcdef"))
    'a, b, c and 3 more'
    """
    hidden = len(classes) - MOST_CLASSES
    if hidden <= 0:
        return ", ".join(classes)
    return f"{', '.join(classes[:MOST_CLASSES])} and {hidden} more"


def best_selected(model: Any, most: int | None = None) -> IntArray:
    """Selected columns, best ranked first, at most `most` of them.

    Parameters
    ----------
    model : fitted estimator
    most : int, optional

    Returns
    -------
    columns : int array
    """
    check_is_fitted(model)
    support = model.get_support(indices=True)
    return np.asarray(support[np.argsort(model.ranking_[support], kind="stable")][:most])


def best_unselected(model: Any, most: int) -> IntArray:
    """Columns that were not selected, best ranked first, at most `most` of them.

    Parameters
    ----------
    model : fitted estimator
    most : int

    Returns
    -------
    columns : int array
    """
    check_is_fitted(model)
    support = model.get_support()
    # ranks are 1 .. p: the ones asked for lie among the first, whatever the number of columns
    near = np.flatnonzero(~support & (model.ranking_ <= most + support.sum()))
    return np.asarray(near[np.argsort(model.ranking_[near], kind="stable")][:most])


def gradient_columns(model: Any, X: Any, columns: IntArray) -> Array:
    """The gradient at the rows of X along a few columns.

    Parameters
    ----------
    model : fitted estimator
    X : (n, p) array or data frame
    columns : (a,) int array

    Returns
    -------
    gradient : (outputs, n, a) array
        One output, or one per class where there are more than two.
    """
    parts = model.gradient(X, sparse=True)
    return np.stack(
        [part[:, columns].toarray() for part in (parts if isinstance(parts, list) else [parts])]
    )


def output_names(model: Any) -> list[str | None]:
    """What each output of the gradient is about: None for numbers, else the name of a class.

    Parameters
    ----------
    model : fitted estimator

    Returns
    -------
    names : list of str or None
    """
    classes = getattr(model, "classes_", None)
    if classes is None:
        return [None]
    return [str(c) for c in (classes[1:] if len(classes) == 2 else classes)]


@same_bits
def summarise_variables(
    model: Any,
    X: Any,
    y: Any,
    *,
    names: Sequence[str] | None = None,
    findings: Sequence[Finding] = (),
    stability: Stability | None = None,
    threshold: float = 0.8,
) -> VariableSummaries:
    """Everything the table of selected variables shows, best ranked first.

    Parameters
    ----------
    model : fitted estimator
        Any estimator of this package.
    X : (n, p) array or data frame
        Samples to judge the effects at: the training table, or some of its rows.
    y : (n,) array
        Their responses or labels.
    names : sequence of str, optional
        Column names; None = as the model knows them.
    findings : sequence of Finding
        Columns that take each other's place; those in none have their stand-ins for a finding.
    stability : Stability, optional
        From `gradsift.evaluate.stability`.
    threshold : float, default=0.8
        An unselected column with at least this correlation is called a stand-in.

    Returns
    -------
    rows : VariableSummaries
        A list of VariableSummary; ``rows.to_frame()`` is a pandas data frame.

    Examples
    --------
    >>> from gradsift import GradientSiftRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(150, 20))
    >>> y = X[:, 3] * X[:, 7] + 2 * X[:, 11] + 0.5 * rng.normal(size=150)
    >>> model = GradientSiftRegressor().fit(X, y)
    >>> for row in summarise_variables(model, X, y):
    ...     print(row.rank, row.name, row.words, row.partners)
    1 x11 increasing, straight ()
    2 x3 through interactions ('x7',)
    3 x7 through interactions ('x3',)
    """
    names = variable_names(model, names)
    columns = best_selected(model, MOST_DESCRIBED)
    if len(columns) == 0:
        return VariableSummaries()
    y = np.ravel(check_all_known(y))
    check_rows(X, y)
    values = take_columns(X, columns)
    found = partial_effects(values, y, getattr(model, "classes_", None))
    relatives = correlated_stand_ins(X, columns, threshold=threshold)
    labels = output_names(model)
    rows = VariableSummaries()
    for j, k in enumerate(columns.tolist()):
        partners, leading = found.partners(j), found.leading(j)
        again = came_back(stability, finding_of(k, findings, relatives[j]))
        rows.append(
            VariableSummary(
                rank=int(model.ranking_[k]),
                column=k,
                name=names[k],
                importance=float(model.feature_importances_[k]),
                came_back=again[0],
                by_chance=again[1],
                effect=found.effects[j][leading],
                output=labels[leading],
                effects=tuple(zip(labels, found.effects[j])),
                stand_ins=relatives[j],
                stand_in_names=tuple(names[c] for c in relatives[j].columns[:MOST_NAMED]),
                partners=tuple(names[columns[i]] for i in partners),
                partner_columns=tuple(int(columns[i]) for i in partners),
                partner_curves=tuple(found.curves_beside(j, i, leading) for i in partners),
            )
        )
    return rows


def finding_of(column: int, findings: Sequence[Finding], stand_ins: StandIns) -> IntArray:
    """The columns that could take the place of one, itself included."""
    known = (f.columns for f in findings if column in f.columns)
    return next(known, np.append(stand_ins.columns, column))


def came_back(stability: Stability | None, columns: IntArray) -> tuple[float | None, float | None]:
    """Share of the half samples that selected some of these columns, and some of as many random
    variables as they belong to.
    """
    if stability is None:
        return None, None
    count = len(stability.variables_of(columns))
    return stability.frequency_of_any(columns), stability.chance_of_any(count)


def gradient_covariance(model: Any, X: Any, columns: IntArray) -> Array:
    """Covariance of the partial derivatives along a few selected columns (in the paper: S-EGCM).

    Parameters
    ----------
    model : fitted estimator
    X : (n, p) array or data frame
        Samples to average over, for models whose covariance is a mean over samples (GradientSift*,
        OuterProductGradient); the others hold theirs exactly.
    columns : (a,) int array
        Selected columns.

    Returns
    -------
    covariance : (a, a) array
        Its diagonal holds the squared importances.
    """
    field = getattr(model, "field_", None)  # none of a sift
    if isinstance(field, KernelField):
        B = field.B[np.searchsorted(field.index, columns)].reshape(len(columns), -1)
        return np.asarray(B @ B.T)
    G = gradient_columns(model, X, columns) * model.scale_[columns]
    return np.asarray(np.einsum("cna,cnb->ab", G, G, optimize=True) / G.shape[1])
