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
from sklearn.base import BaseEstimator, clone, is_classifier

from gradsift._run.processes import Batch
from gradsift._run.threads import same_bits
from gradsift.data.responses import check_all_known, to_floats
from gradsift.data.row_groups import group_codes
from gradsift.data.slices import check_rows, take_rows
from gradsift.estimators.splits import CV, SampleParams, Split, scored_splits
from gradsift.evaluate.baselines import baseline_model, predict_from_covariates
from gradsift.evaluate.scores import (
    Scores,
    confusion,
    fresh_variance,
    gather,
    score_labels,
    score_numbers,
)
from gradsift.exceptions import (
    DependentRowsWarning,
    ExtrapolationWarning,
    FewGroupsWarning,
    NothingSelectedWarning,
    RareClassWarning,
)
from gradsift.protocols import Array, IntArray, Source, TableLike

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
        Of `tool` on all columns; None where it was not asked for.
    baseline : Scores
        Of the mean of y, or of the shares of the classes, in the other folds.
    tool : str
        'ridge regression' or 'logistic regression', tuned by cross-validation.
    n_folds : int
    ensemble_share : float
        The part of the predictors on all columns in `together`, mean over the folds.
    classes : tuple of str
        Empty for numbers.
    positive : str or None
        The class whose average precision is given: the rarer of two.
    covariates : Scores or None
        Of the covariates and the offset alone, where there are some: what the selected variables
        add is the difference.
    """

    selected: Scores
    together: Scores | None
    simple: Scores | None
    baseline: Scores
    tool: str
    n_folds: int
    ensemble_share: float = 0.0
    classes: tuple[str, ...] = ()
    positive: str | None = None
    covariates: Scores | None = None

    @property
    def metric(self) -> str:
        """The score to quote: 'R²' or 'accuracy'."""
        return "accuracy" if self.classes else "R²"

    @property
    def loss(self) -> str:
        """The score to compare by: 'RMSE' or 'log loss'."""
        return "log loss" if self.classes else "RMSE"

    @property
    def mean(self) -> float:
        """What the selected variables alone reach, in `metric`."""
        return self.selected.mean(self.metric)

    @property
    def better_than_nothing(self) -> bool:
        """Whether the selected variables lose less than the baseline does."""
        return self.selected.mean(self.loss) < self.baseline.mean(self.loss)

    def ways(self, target: str = "y") -> list[tuple[str, str, Scores]]:
        """Attribute, name and scores of every way to predict that was scored.

        Parameters
        ----------
        target : str
            What to call the response.
        """
        guess = "most frequent class" if self.classes else f"mean of {target}"
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
) -> HeldOut:
    """Cross-validated scores of the whole procedure, selection included in every fold.

    Parameters
    ----------
    estimator : estimator
        Any estimator of this package; clones of it are fitted.
    X : (n, p) array or data frame
    y : (n,) array
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
        Rows that belong together: every fold holds out whole groups, and so does the tuning of
        whatever is fitted.
    covariates, offset : optional
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
    params = SampleParams(labels, covariates, offset)
    return begin_held_out(estimator, X, y, cv, n_jobs, simple=simple, params=params).result()


@dataclass(frozen=True, eq=False)
class PendingScores:
    """Folds that other processes may have begun, and what their scores need."""

    folds: Batch[Fold]
    y: Array
    classes: Array | None
    members: IntArray | None

    def result(self) -> HeldOut:
        """The scores, once all folds are predicted."""
        folds, classes = self.folds.results(), self.classes
        found, positive = score_folds(folds, self.y, classes, self.members)
        shares = [fold.ensemble_share for fold in folds]
        return HeldOut(
            found[SELECTED],
            found[TOGETHER] if max(shares) > 0 else None,
            found.get(SIMPLE),
            found[BASELINE],
            "ridge regression" if classes is None else "logistic regression",
            len(folds),
            float(np.mean(shares)),
            () if classes is None else tuple(map(str, classes)),
            None if positive is None or classes is None else str(classes[positive]),
            found.get(COVARIATES),
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
    y = np.ravel(check_all_known(y))
    check_rows(X, y)
    labels = is_classifier(estimator)
    members = None if params.groups is None else group_codes(params.groups, len(y))
    classes = np.unique(y) if labels else None
    simple = simple and not isinstance(X, Source)
    params = replace(params, groups=members)
    calls = [
        (clone(estimator), X, y, split, classes, simple, params)
        for split in scored_splits(cv, y, labels, members)
    ]
    return PendingScores(Batch.begin(predict_fold, calls, n_jobs), y, classes, members)


def predict_fold(
    estimator: BaseEstimator,
    X: TableLike,
    y: Array,
    split: Split,
    classes: Array | None,
    simple: bool,
    params: SampleParams,
) -> Fold:
    """Fit to some rows, predict the others in every way."""
    train, test = split
    known, new = take_rows(X, train), take_rows(X, test)
    inside, outside = params.take(train), params.take(test)
    with warnings.catch_warnings():
        for said in SAID_ONCE:
            warnings.simplefilter("ignore", said)
        model = estimator.fit_for("predictions", known, y[train], **inside.for_fit(estimator))
    out = {
        way: predictions(fitted, new, classes, outside)
        for way, fitted in ways_to_predict(model).items()
    }
    if simple:
        old, unseen = encoded(model, known, inside), encoded(model, new, outside)
        out[SIMPLE] = predict_baseline(old, y[train], unseen, classes, inside.groups)
    if params.for_predict:
        C, D = encoded(model, None, inside), encoded(model, None, outside)
        out[COVARIATES] = predict_from_covariates(
            C, y[train], inside.offset, D, outside.offset, classes
        )
    out[BASELINE] = constant(y[train], len(test), classes)
    ensemble = model.describe().ensemble
    return Fold(test, out, 0.0 if ensemble is None else ensemble.share)


def encoded(model: BaseEstimator, X: TableLike, params: SampleParams) -> Array:
    """Columns of a table (None = no table) and of covariates as a fitted model encodes them."""
    parts = []
    if X is not None:
        encoder = model.describe().encoder
        parts.append(np.asarray(X if encoder is None else encoder.encode(X), dtype=float))
    if params.covariates is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ExtrapolationWarning)
            parts.append(model.covariates_.encode(params.covariates))
    return np.column_stack(parts) if parts else np.zeros((len(params.offset), 0))


@same_bits
def predict_baseline(
    known: Array, y: Array, new: Array, classes: Array | None, groups: IntArray | None = None
) -> Array:
    """What ridge or logistic regression on all columns predicts for new rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LinAlgWarning)  # at penalties that are not chosen
        # names of attributes that LogisticRegressionCV is about to change; none is used
        warnings.simplefilter("ignore", FutureWarning)
        model = baseline_model(known, y, classes is not None, groups).fit(known, y)
        return predictions(model, new, classes)


def ways_to_predict(model: BaseEstimator) -> dict[str, Any]:
    """The fitted model, predicting from the selected variables alone and with all it has."""
    if "predict_with" not in model.get_params(deep=False):
        return {SELECTED: model, TOGETHER: model}
    return {
        SELECTED: copy(model).set_params(predict_with="selected"),
        TOGETHER: copy(model).set_params(predict_with="auto"),
    }


def predictions(
    model: BaseEstimator, X: TableLike, classes: Array | None, params: SampleParams = NO_PARAMS
) -> Array:
    """Numbers, or probabilities of all classes: zero for those that the model has not met."""
    with warnings.catch_warnings():
        # a category may be in one fold only, and a row far outside the others is what is scored
        warnings.simplefilter("ignore", ExtrapolationWarning)
        if classes is None:
            return np.asarray(model.predict(X, **params.for_predict), dtype=float)
        known = np.searchsorted(classes, model.classes_)
        likely = model.predict_proba(X, **params.for_predict)
        out = np.zeros((len(likely), len(classes)))
        out[:, known] = likely
    return out


def constant(y: Array, count: int, classes: Array | None) -> Array:
    """The mean, or the share of each class, for every row."""
    if classes is None:
        return np.full(count, float(np.mean(y)))
    return np.tile((y[:, None] == classes).mean(axis=0), (count, 1))


def score_folds(
    folds: list[Fold], y: Array, classes: Array | None, groups: IntArray | None
) -> tuple[dict[str, Scores], int | None]:
    """The scores of every way to predict, and the class whose average precision is given.

    R² has the same variance below it in all folds, that of fresh rows of fresh groups: the rows of
    one fold are few, and those of a few groups vary less about their own mean.
    """
    sizes, ways = [len(fold.rows) for fold in folds], list(folds[0].predicted)
    if classes is None:
        rows = np.unique(np.concatenate([fold.rows for fold in folds]))
        variance = fresh_variance(y[rows], None if groups is None else groups[rows])
        numbers = {
            way: [score_numbers(y[f.rows], f.predicted[way], variance) for f in folds]
            for way in ways
        }
        return {way: gather(numbers[way], (), sizes) for way in ways}, None
    codes = np.searchsorted(classes, y)
    positive = rarer(codes, len(classes))
    found = {}
    for way in ways:
        pairs = [(codes[fold.rows], fold.predicted[way]) for fold in folds]
        labels = [score_labels(*pair, positive) for pair in pairs]
        found[way] = gather(labels, [confusion(*pair) for pair in pairs], sizes)
    return found, positive


def score_model(
    model: BaseEstimator,
    X: TableLike,
    y: ArrayLike,
    *,
    covariates: TableLike | None = None,
    offset: ArrayLike | None = None,
) -> Scores:
    """The scores of a fitted model on one set of rows.

    Parameters
    ----------
    model : fitted estimator
    X : (n, p) array or data frame
    y : (n,) array
        Labels that the model does not know count as wrong.
    covariates, offset : optional
        Of these rows, where the model was fitted with some.

    Returns
    -------
    scores : Scores
    """
    y, params = np.ravel(check_all_known(y)), SampleParams(None, covariates, offset)
    check_rows(X, y)
    if not is_classifier(model):
        return gather([score_numbers(to_floats(y, "y"), predictions(model, X, None, params))])
    classes = np.union1d(model.classes_.astype(str), y.astype(str))
    codes = np.searchsorted(classes, y.astype(str))
    P = np.zeros((len(y), len(classes)))
    P[:, np.searchsorted(classes, model.classes_.astype(str))] = model.predict_proba(
        X, **params.for_predict
    )
    positive = rarer(codes, len(classes))
    return gather([score_labels(codes, P, positive)], [confusion(codes, P)])


def rarer(codes: IntArray, n_classes: int) -> int | None:
    """The rarer of two classes; None where there are more."""
    counts = np.bincount(codes, minlength=n_classes)
    return int(counts[1] <= counts[0]) if n_classes == 2 else None
