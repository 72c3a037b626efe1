"""Scores on held-out rows: of the selected variables, of all columns, and of baselines.

Cross-validation of the whole procedure: in each fold the estimator selects and fits on the other
rows, and the same held-out rows are predicted from the selected variables alone, together with
predictors on all columns, by ridge or logistic regression on all columns, from covariates alone,
and by a constant. Predictions are (m,) numbers or (m, c) probabilities of all classes, of the m
held-out rows of a fold.
"""

from __future__ import annotations

import warnings
from copy import copy
from dataclasses import dataclass, replace
from html import escape
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import LinAlgWarning
from sklearn.base import BaseEstimator, clone

from gradsift._run.processes import Batch
from gradsift._run.threads import same_bits
from gradsift.data.row_groups import group_codes
from gradsift.data.slices import check_rows, take_rows
from gradsift.estimators.splits import CV, SampleParams, Split, scored_splits
from gradsift.evaluate.scores import LOSSES, Scores, gather
from gradsift.evaluate.truth import WORDS, Kind, Truth
from gradsift.exceptions import (
    DependentRowsWarning,
    ExtrapolationWarning,
    FewGroupsWarning,
    NothingSelectedWarning,
    RareClassWarning,
)
from gradsift.protocols import Array, IntArray, Source, TableLike
from gradsift.responses.ordinal import OrderedLabels

SELECTED, TOGETHER, SIMPLE, BASELINE = "selected", "together", "simple", "baseline"
COVARIATES = "covariates"
NO_PARAMS = SampleParams()
SAID_ONCE = (NothingSelectedWarning, RareClassWarning, FewGroupsWarning, DependentRowsWarning)
"""Warnings of a fit to all rows, which folds do not repeat."""


@dataclass(frozen=True, eq=False, repr=False)
class HeldOut:
    """Scores on rows that neither selection nor fit has seen, all from the same folds.

    R² is one less the squared error over the variance of the response between rows that do not
    belong together, the same in every fold. So it estimates the R² on many fresh rows, or on fresh
    groups where there are groups, and not that about the mean of the few rows of a fold.

    Attributes
    ----------
    selected : Scores
        Of the variables that were selected in each fold, alone.
    together : Scores or None
        Of the same averaged with predictors on all columns; None where no fold gave them a part.
    simple : Scores or None
        Of `tool` on all columns; None with ``simple=False``.
    baseline : Scores
        Of the mean of y, or of the shares of the classes, in the other folds.
    n_folds : int
    ensemble_share : float
        The part of the predictors on all columns in `together`, mean over the folds.
    positive : str or None
        The class whose average precision is given: the rarer of two.
    kind : str
        'numbers', 'several outcomes', 'classes', 'ordered classes', 'counts' or 'survival times'.
    covariates : Scores or None
        Of the covariates and the offset alone, where there are some: what the selected variables
        add is the difference.
    """

    selected: Scores
    together: Scores | None
    simple: Scores | None
    baseline: Scores
    n_folds: int
    ensemble_share: float = 0.0
    positive: str | None = None
    covariates: Scores | None = None
    kind: Kind = "numbers"

    @property
    def tool(self) -> str:
        """The model on all columns: 'ridge regression', 'logistic regression' and so on, tuned by
        cross-validation.
        """
        return WORDS[self.kind].tool

    @property
    def metric(self) -> str:
        """The score to quote: 'R²', 'accuracy', 'deviance explained' or 'concordance'."""
        return WORDS[self.kind].metric

    @property
    def loss(self) -> str:
        """The score to compare by, such as 'RMSE' or 'log loss'."""
        return WORDS[self.kind].loss

    @property
    def mean(self) -> float:
        """What the selected variables alone reach, in `metric`."""
        return self.selected.mean(self.metric)

    @property
    def better_than_nothing(self) -> bool:
        """Whether the selected variables lose less than the baseline does."""
        one, other = self.selected.mean(self.loss), self.baseline.mean(self.loss)
        return one < other if self.loss in LOSSES else one > other

    def ways(self, target: str = "y") -> list[tuple[str, str, Scores]]:
        """Attribute, name and scores of every way to predict that was scored.

        Parameters
        ----------
        target : str
            What to call the response.
        """
        guess = WORDS[self.kind].guess.format(target)
        names = {
            SELECTED: "selected variables",
            TOGETHER: "all columns together",
            SIMPLE: self.tool,
            COVARIATES: "covariates alone",
            BASELINE: guess,
        }
        found = [(way, name, getattr(self, way)) for way, name in names.items()]
        return [(way, name, scores) for way, name, scores in found if scores is not None]

    def __repr__(self) -> str:
        head, *rows = self._cells()
        widths = [max(map(len, column)) for column in zip(head, *rows)]
        lines = [f"held-out rows, {self.n_folds} folds: mean ± standard deviation over folds"]
        for name, *cells in [head, *rows]:
            right = (cell.rjust(width) for cell, width in zip(cells, widths[1:]))
            lines.append("  ".join([name.ljust(widths[0]), *right]))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        lines = [
            f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>"
            for row in self._cells()
        ]
        head = lines[0].replace("td>", "th>")
        caption = f"held-out rows, {self.n_folds} folds: mean ± standard deviation over folds"
        return f"<table><caption>{caption}</caption>{head}{''.join(lines[1:])}</table>"

    def _cells(self) -> list[list[str]]:
        """A line of names of scores, and a line for each way to predict."""
        metrics = list(self.selected.values)
        body = [[name, *map(scores.cell, metrics)] for _, name, scores in self.ways()]
        return [["", *metrics], *body]


class Fold(NamedTuple):
    """Predictions at the held-out rows of one fold, by the way they were made."""

    rows: IntArray
    predicted: dict[str, Array]
    ensemble_share: float


def held_out(
    estimator: BaseEstimator,
    X: TableLike,
    y: ArrayLike,
    cv: CV = 5,
    n_jobs: int | None = None,
    *,
    simple: bool = True,
    groups: ArrayLike | None = None,
    covariates: TableLike | None = None,
    offset: ArrayLike | None = None,
    exposure: ArrayLike | None = None,
) -> HeldOut:
    """Cross-validated scores of the whole procedure, selection included in every fold.

    Parameters
    ----------
    estimator : estimator
        Any estimator of this package; clones of it are fitted.
    X : (n, p) array or data frame
    y : (n,) array, or (n, q) of several outcomes
        Survival times are records of both time and event, as `fit` takes them in one; folds have
        events in equal shares.
    cv : int, splitter or iterable, default=5
        A number of folds shuffles the rows first, always in the same way; small tables have fewer
        folds. For rows in the order of time, ``sklearn.model_selection.TimeSeriesSplit()``: every
        fold learns from the rows before those that it predicts, and rows that no fold predicts are
        not scored.
    n_jobs : int, optional
        Processes, this one included; the scores do not depend on it.
    simple : bool, default=True
        Also score ridge or logistic regression on all columns, for comparison.
    groups : (n,) array of labels, optional
        Rows that belong together: every fold holds out whole groups, and so does the
        tuning of every model.
    covariates, offset, exposure : optional
        As in `fit`; they are adjusted for in every fold, and known of the held-out rows.

    Returns
    -------
    held_out : HeldOut

    Examples
    --------
    >>> from gradsift import GradientSiftRegressor
    >>> X = np.random.default_rng(0).normal(size=(90, 10))
    >>> found = held_out(GradientSiftRegressor(), X, X[:, 2] ** 2, cv=3)
    >>> bool(found.mean > 0.9), bool(found.simple.mean("R²") < 0.1)
    (True, True)
    >>> print(found)
    held-out rows, 3 folds: mean ± standard deviation over folds
                                   R²         RMSE          MAE
    selected variables ...
    ridge regression ...
    mean of y ...
    """
    labels: Any = groups  # which `begin_held_out` numbers
    params = SampleParams(labels, covariates, offset, exposure)
    return begin_held_out(estimator, X, y, cv, n_jobs, simple=simple, params=params).result()


@dataclass(frozen=True, eq=False)
class PendingScores:
    """Folds that other processes may have begun, and what their scores need."""

    folds: Batch[Fold]
    truth: Truth
    members: IntArray | None

    def result(self) -> HeldOut:
        """The scores, once all folds are predicted."""
        folds, truth = self.folds.results(), self.truth
        found, positive = score_folds(folds, truth, self.members), truth.positive
        shares = [fold.ensemble_share for fold in folds]
        return HeldOut(
            found[SELECTED],
            found[TOGETHER] if max(shares) > 0 else None,
            found.get(SIMPLE),
            found[BASELINE],
            len(folds),
            float(np.mean(shares)),
            None if positive is None else str(truth.label(positive)),
            found.get(COVARIATES),
            truth.kind,
        )


def begin_held_out(
    estimator: BaseEstimator,
    X: TableLike,
    y: ArrayLike,
    cv: CV = 5,
    n_jobs: int | None = None,
    *,
    simple: bool = True,
    params: SampleParams = NO_PARAMS,
) -> PendingScores:
    """`held_out`, begun in other processes; `result` of what is returned waits for the scores."""
    truth = Truth.of(estimator, y)
    check_rows(X, truth.y)
    members = None if params.groups is None else group_codes(params.groups, len(truth))
    simple = simple and not isinstance(X, Source)
    params = replace(params, groups=members)
    calls = [
        (clone(estimator), X, truth, split, simple, params)
        for split in scored_splits(cv, *truth.strata, members)
    ]
    return PendingScores(Batch.begin(predict_fold, calls, n_jobs), truth, members)


def predict_fold(
    estimator: BaseEstimator,
    X: TableLike,
    truth: Truth,
    split: Split,
    simple: bool,
    params: SampleParams,
) -> Fold:
    """Fit to some rows, predict the others in every way."""
    train, test = split
    known, new = take_rows(X, train), take_rows(X, test)
    inside, outside, learned = params.take(train), params.take(test), truth.take(train)
    with warnings.catch_warnings():
        for said in SAID_ONCE:
            warnings.simplefilter("ignore", said)
        model = estimator.fit_for("predictions", known, learned.y, **inside.for_fit(estimator))
    out = {
        way: predictions(fitted, new, truth, outside)
        for way, fitted in ways_to_predict(model).items()
    }
    if simple:
        old, unseen = encoded(model, known, inside), encoded(model, new, outside)
        out[SIMPLE] = predict_baseline(learned, old, unseen, inside, outside)
    if params.covariates is not None or params.offset is not None:
        C, D = encoded(model, None, inside), encoded(model, None, outside)
        out[COVARIATES] = learned.of_covariates(C, D, inside, outside)
    out[BASELINE] = learned.constant(inside, outside, len(test))
    return Fold(test, out, sum(getattr(model.predictor_, "shares", ())))


def encoded(model: BaseEstimator, X: TableLike, params: SampleParams) -> Array:
    """Columns of a table (None = no table) and of covariates as a fitted model encodes them."""
    parts = []
    if X is not None:
        encoder = getattr(model, "encoder_", None)
        parts.append(np.asarray(X if encoder is None else encoder.encode(X), dtype=float))
    if params.covariates is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ExtrapolationWarning)
            parts.append(model.covariates_.encode(params.covariates))
    return np.column_stack(parts) if parts else np.zeros((len(params.offset), 0))


@same_bits
def predict_baseline(
    learned: Truth, known: Array, new: Array, inside: SampleParams, outside: SampleParams
) -> Array:
    """What a ridge model of all columns predicts for new rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LinAlgWarning)  # at penalties that are not chosen
        # names of attributes that LogisticRegressionCV is about to change; none is used
        warnings.simplefilter("ignore", FutureWarning)
        return learned.of_ridge(known, new, inside, outside)


def ways_to_predict(model: BaseEstimator) -> dict[str, Any]:
    """The fitted model, predicting from the selected variables alone and with all it has."""
    if "predict_with" not in model.get_params(deep=False):
        return {SELECTED: model, TOGETHER: model}
    return {
        SELECTED: copy(model).set_params(predict_with="selected"),
        TOGETHER: copy(model).set_params(predict_with="auto"),
    }


def predictions(
    model: BaseEstimator,
    X: TableLike,
    truth: Truth,
    params: SampleParams,
    names: Array | None = None,
) -> Array:
    """Numbers, or probabilities of all classes: zero for those that the model has not met. `names`
    are those of its classes, where they are not its own.
    """
    with warnings.catch_warnings():
        # a category may be in one fold only, and a row far outside the others is what is scored
        warnings.simplefilter("ignore", ExtrapolationWarning)
        if truth.classes is None:
            return np.asarray(model.predict(X, **params.for_predict), dtype=float)
        likely = model.predict_proba(X, **params.for_predict)
        return truth.in_all_classes(likely, model.classes_ if names is None else names)


def score_folds(folds: list[Fold], truth: Truth, groups: IntArray | None) -> dict[str, Scores]:
    """The scores of every way to predict. R² has the same variance below it in all folds."""
    sizes = [len(fold.rows) for fold in folds]
    truth = truth.with_variance(np.unique(np.concatenate([fold.rows for fold in folds])), groups)
    found = {}
    for way in folds[0].predicted:
        scores = [
            truth.take(fold.rows).scores(fold.predicted[way], fold.predicted[BASELINE])
            for fold in folds
        ]
        found[way] = gather(scores, sizes)
    return found


def score_model(
    model: BaseEstimator,
    X: TableLike,
    y: ArrayLike,
    *,
    covariates: TableLike | None = None,
    offset: ArrayLike | None = None,
    exposure: ArrayLike | None = None,
) -> Scores:
    """The scores of a fitted model on one set of rows.

    Parameters
    ----------
    model : fitted estimator
    X : (n, p) array or data frame
    y : (n,) array, or (n, q) of several outcomes
        Survival times are records of both time and event. Labels that the model does not know
        count as wrong.
    covariates, offset, exposure : optional
        Of these rows, where the model was fitted with some.

    Returns
    -------
    scores : Scores
    """
    params = SampleParams(None, covariates, offset, exposure)
    truth = Truth.of(model, y)
    check_rows(X, truth.y)
    known: Any = getattr(model, "classes_", None)
    if truth.kind == "classes":
        labels = np.asarray(truth.y).astype(str)
        classes = np.union1d(np.asarray(known).astype(str), labels)
        truth, known = replace(truth, y=labels, classes=classes), np.asarray(known).astype(str)
    elif truth.kind == "ordered classes":
        rank = {label: k for k, label in enumerate(known.tolist())}
        codes = np.array([rank[label] for label in np.asarray(truth.y).tolist()])
        truth = replace(truth, y=OrderedLabels(codes, known), classes=known)
    predicted = predictions(model, X, truth, params, known)
    constant = truth.constant(params, params, len(truth)) if truth.kind == "counts" else predicted
    return gather([truth.scores(predicted, constant)])
