"""One row per selected variable: what a report, a CSV file or a terminal shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gradsift._run.threads import same_bits
from gradsift._typing import Array, IntArray
from gradsift.data.slices import take_columns
from gradsift.explain.correlated import StandIns, correlated_stand_ins
from gradsift.explain.dependence import acting_together, effect_dependence
from gradsift.explain.effects import Effect, describe_effect
from gradsift.explain.names import variable_names
from gradsift.trust.resampling import Stability

MOST_DESCRIBED = 500  # dense relatives of the method select everything: describe the best ranked
MOST_NAMED = 10  # stand-ins named
NEGLIGIBLE = 0.01  # an effect below this share of the largest one counts as flat
MOST_HINTED = 30  # variables whose pairs are looked at


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
    frequency : float or None
        Share of the half samples that selected it; None where stability was not computed.
    family_frequency : float or None
        The same for the variable or any of its stand-ins: near-copies take turns.
    effect : Effect
    output : str or None
        The class whose log odds the effect is about; None for numbers.
    stand_ins : StandIns
        Unselected columns that could take its place.
    stand_in_names : tuple of str
        Of the closest ten.
    partners : tuple of str
        Variables it acts together with.
    partner_columns : tuple of int
    """

    rank: int
    column: int
    name: str
    importance: float
    frequency: float | None
    family_frequency: float | None
    effect: Effect
    output: str | None
    stand_ins: StandIns
    stand_in_names: tuple[str, ...]
    partners: tuple[str, ...]
    partner_columns: tuple[int, ...]


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


def strongest_output(G: Array) -> Array:
    """For each column, which output has the largest mean squared gradient; G is (c, n, a)."""
    return np.asarray(np.square(G).mean(axis=1).argmax(axis=0))


def standard(X: Array) -> tuple[Array, Array]:
    """(centred columns of unit variance, their standard deviations); constant columns are zero."""
    scale = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(scale > 0, scale, 1.0), scale


@same_bits
def summarise_variables(
    model: Any,
    X: Any,
    *,
    names: Sequence[str] | None = None,
    stability: Stability | None = None,
    threshold: float = 0.8,
) -> list[VariableSummary]:
    """Everything the table of selected variables shows, best ranked first.

    Parameters
    ----------
    model : fitted estimator
        Any estimator of this package.
    X : (n, p) array or data frame
        Samples to judge the effects at: the training table, or some of its rows.
    names : sequence of str, optional
        Column names; None = as the model knows them.
    stability : Stability, optional
        From `gradsift.trust.stability`.
    threshold : float, default=0.8
        An unselected column with at least this correlation is called a stand-in.

    Returns
    -------
    rows : list of VariableSummary

    Examples
    --------
    >>> from gradsift import GradientSiftRegressor
    >>> X = np.random.default_rng(0).normal(size=(150, 20))
    >>> y = X[:, 3] * X[:, 7] + 2 * X[:, 11]
    >>> model = GradientSiftRegressor().fit(X, y)
    >>> for row in summarise_variables(model, X):
    ...     print(row.rank, row.name, row.effect.words, row.partners)
    1 x11 increasing, straight ()
    2 x3 through interactions ('x7',)
    3 x7 through interactions ('x3',)
    """
    names = variable_names(model, names)
    columns = best_selected(model, MOST_DESCRIBED)
    if len(columns) == 0:
        return []
    values = take_columns(X, columns)
    Z, scale = standard(values)
    G = gradient_columns(model, X, columns)
    output = strongest_output(G)
    G = G[output, :, np.arange(len(columns))].T
    sizes = scale * np.sqrt(np.square(G).mean(axis=0))
    floor = NEGLIGIBLE * sizes.max() / np.where(scale > 0, scale, 1.0)
    partners = _partners(model, columns, Z, G * scale)
    relatives = correlated_stand_ins(X, columns, threshold=threshold)
    labels, alone = output_names(model), len(columns) == 1
    again = None if stability is None else stability.frequencies
    return [
        VariableSummary(
            rank=int(model.ranking_[k]),
            column=int(k),
            name=names[k],
            importance=float(model.feature_importances_[k]),
            frequency=None if again is None else float(again[k]),
            family_frequency=None
            if stability is None
            else stability.frequency_of_any(np.append(relatives[j].columns, k)),
            effect=describe_effect(values[:, j], G[:, j], floor=float(floor[j]), alone=alone),
            output=labels[output[j]],
            stand_ins=relatives[j],
            stand_in_names=tuple(names[c] for c in relatives[j].columns[:MOST_NAMED]),
            partners=tuple(names[c] for c in partners.get(int(k), [])),
            partner_columns=tuple(partners.get(int(k), [])),
        )
        for j, k in enumerate(columns)
    ]


def _partners(model: Any, columns: IntArray, Z: Array, G: Array) -> dict[int, list[int]]:
    """Products the sift found, then what the gradients of the best ranked variables hint at."""
    pairs = [(pair.first, pair.second) for pair in getattr(model, "interactions_", [])]
    best = columns[:MOST_HINTED]
    hints = acting_together(effect_dependence(Z[:, : len(best)], G[:, : len(best)]))
    pairs += [(int(best[a]), int(best[b])) for a, b in hints]
    out: dict[int, list[int]] = {}
    for a, b in dict.fromkeys(tuple(sorted(pair)) for pair in pairs):
        out.setdefault(a, []).append(b)
        out.setdefault(b, []).append(a)
    return out


def gradient_covariance(model: Any, X: Any, columns: IntArray) -> Array:
    """The S-EGCM of a fitted model on a few of its selected columns.

    Parameters
    ----------
    model : fitted estimator
    X : (n, p) array or data frame
        Samples to average over, for models whose S-EGCM is a mean over samples (GradientSift*,
        OuterProductGradient); the others hold theirs exactly.
    columns : (a,) int array
        Selected columns.

    Returns
    -------
    covariance : (a, a) array
        Its diagonal holds the squared importances.
    """
    coefficients = getattr(model.field_, "B", None)
    if coefficients is not None:
        position = np.searchsorted(model.field_.index, columns)
        B = coefficients[position].reshape(len(columns), -1)
        return np.asarray(B @ B.T)
    G = gradient_columns(model, X, columns) * model.scale_[columns]
    return np.asarray(np.einsum("cna,cnb->ab", G, G, optimize=True) / G.shape[1])
