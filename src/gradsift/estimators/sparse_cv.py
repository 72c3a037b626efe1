"""The paper's estimators with alpha chosen by held-out prediction.

Every fold standardises, measures bandwidths and follows the path of penalties by itself, on the
same parts of its own alpha_max. Scores are (n_alphas, n_folds), penalties decreasing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import Literal, Self, TypeAlias

import numpy as np
from joblib import Parallel, cpu_count, delayed, effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import get_scorer

from gradsift._run.progress import Steps, follow
from gradsift._run.threads import one_blas_thread, same_bits
from gradsift.data.row_groups import group_codes
from gradsift.estimators.base import (
    ClassWeight,
    LabelPredictions,
    NumberPredictions,
    most_likely,
    pair_sample,
    probabilities,
    take_over,
)
from gradsift.estimators.docstrings import completed, documented
from gradsift.estimators.sparse import (
    LABELS_OR_NUMBERS,
    SparseGradient,
    SparseGradientClassifier,
    SparseGradientRegressor,
    sparse_attributes,
    warn_of_fit,
)
from gradsift.estimators.splits import CV, row_splits
from gradsift.estimators.validation import check_max_features
from gradsift.pairwise.fit import (
    Fold,
    HeldOut,
    HeldOutLoss,
    PairSample,
    PredictWith,
    Score,
    SparseSettings,
    Started,
    choose_alpha,
    finish,
    fold_scores,
    predict_held_out,
    settle_path,
    start,
)
from gradsift.protocols import Array, TableLike
from gradsift.solver.path import PathResult, check_alphas, fit_path, geometric_grid

Scorer: TypeAlias = str | Callable[..., float]
Rule = Literal["min", "1se"]
"""Choose the alpha with the best held-out score, or the largest within a standard error of it."""

# Scores of held-out rows: the loss, or any scorer of scikit-learn.


@dataclass(frozen=True)
class Scoring:
    """A scorer of scikit-learn for what the estimator would predict.

    Attributes
    ----------
    scoring : str or callable
    classes : array or None
        Labels of the classes; None = numbers.
    """

    scoring: Scorer
    classes: Array | None
    predict_with: PredictWith

    def __call__(self, fold: HeldOut) -> float:
        guess, rows = predict_held_out(fold, self.predict_with), fold.truth.values.shape[1]
        model: BaseEstimator
        if self.classes is None:
            model, y = GivenNumbers(guess[0]), fold.truth.values[0]
        else:
            model, y = GivenScores(guess, self.classes), self.classes[fold.truth.codes()]
        scorer = get_scorer(self.scoring) if isinstance(self.scoring, str) else self.scoring
        score = float(scorer(model, np.arange(rows, dtype=float)[:, None], y))
        if not np.isfinite(score):
            raise ValueError(
                f"scoring={self.scoring!r} gives {score} on a fold of {rows} row(s). Use larger "
                "folds, or a score that one row has, e.g. 'neg_mean_squared_error' or 'accuracy'."
            )
        return score


class GivenNumbers(RegressorMixin, BaseEstimator):
    """Predictions that were made already, for row numbers."""

    def __init__(self, values: Array) -> None:
        self.values = values

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, X: Array) -> Array:
        return self.values[X[:, 0].astype(int)]


class GivenScores(ClassifierMixin, BaseEstimator):
    """Scores (c, n) that were made already, for row numbers."""

    def __init__(self, scores: Array, classes: Array) -> None:
        self.scores = scores
        self.classes = classes

    @property
    def classes_(self) -> Array:
        return self.classes

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def decision_function(self, X: Array) -> Array:
        scores = self.scores[:, X[:, 0].astype(int)].T
        return scores[:, 0] if len(self.classes) == 2 else scores

    def predict_proba(self, X: Array) -> Array:
        return probabilities(self.decision_function(X))

    def predict(self, X: Array) -> Array:
        return most_likely(self.decision_function(X), self.classes)


# Choosing alpha by held-out prediction: folds, their scores, and the path on all samples.


@dataclass(frozen=True, eq=False)
class AlphaGrid:
    """Penalties to choose from.

    Parameters
    ----------
    n_alphas : int, default=50
        How many, from ``alpha_max_`` down to `eps` times it. Every fold tries the same parts of
        its own largest penalty.
    eps : float, default=0.01
    alphas : array, optional
        The penalties themselves, the same in every fold.
    max_features : int, optional
        Choose only among those that select no more than this many penalised variables.
    """

    n_alphas: int = 50
    eps: float = 0.01
    alphas: ArrayLike | None = None
    max_features: int | None = None

    def __call__(self, alpha_max: float) -> Array:
        """The penalties for a problem, largest first."""
        if self.alphas is None:
            return geometric_grid(alpha_max, self.n_alphas, self.eps)
        return check_alphas(self.alphas)


def as_grid(alphas: ArrayLike | AlphaGrid) -> AlphaGrid:
    """The grid from a number of penalties, from the penalties, or itself."""
    if isinstance(alphas, AlphaGrid):
        return alphas
    if isinstance(alphas, Integral):
        return AlphaGrid(n_alphas=int(alphas))
    return AlphaGrid(alphas=alphas)


@dataclass(frozen=True)
class Choice:
    """Held-out scores along a grid of alphas, and what each rule chooses."""

    alphas: Array
    scores: Array
    path: PathResult
    settled: PathResult

    def best(
        self, rule: Rule, penalised: NDArray[np.bool_] | None = None, most: int | None = None
    ) -> int:
        """The place of the alpha that a rule chooses, among those that select no more than `most`
        penalised variables.
        """
        if penalised is None or most is None:
            return choose_alpha(self.scores, rule)
        counts = np.array([penalised[support].sum() for support in self.path.supports])
        few = np.flatnonzero(counts <= most)
        return int(few[choose_alpha(self.scores[few], rule)]) if len(few) else 0

    def attributes(self) -> dict[str, object]:
        """The attributes that the estimators below have on top."""
        return {
            "alphas_": self.alphas,
            "cv_scores_": self.scores,
            "alpha_min_": float(self.alphas[self.best("min")]),
            "alpha_1se_": float(self.alphas[self.best("1se")]),
            "path_": self.settled,
            "n_iter_": max(1, int(self.settled.n_iter.sum())),
        }


def choose(
    estimator: SparseGradientRegressorCV | SparseGradientClassifierCV,
    sample: PairSample,
    groups: ArrayLike | None,
) -> dict[str, object]:
    """The attributes of the fit at the alpha that predicts held-out rows best."""
    settings, grid = estimator._settings(sample), as_grid(estimator.alphas)
    if estimator.selection not in ("min", "1se"):
        raise ValueError(f"selection={estimator.selection!r}: use 'min' or '1se'.")
    check_max_features(grid.max_features)
    score: Score = HeldOutLoss(settings.predict_with)
    if estimator.scoring is not None:
        score = Scoring(estimator.scoring, sample.classes, settings.predict_with)
    with one_blas_thread():
        folds = make_folds(estimator.cv, sample, groups)
        started = start(sample, settings.problem)
        choice = cross_validate(estimator, started, sample, settings, score, folds)
        penalised = started.assembly.problem.penalty.limits(1.0) > 0
        best = choice.best(estimator.selection, penalised, grid.max_features)
        fit = finish(started, choice.path.solutions[best], settings)
    warn_of_fit(estimator, fit)
    return sparse_attributes(fit) | choice.attributes()


def cross_validate(
    estimator: SparseGradientRegressorCV | SparseGradientClassifierCV,
    started: Started,
    sample: PairSample,
    settings: SparseSettings,
    score: Score,
    folds: list[Fold],
) -> Choice:
    """Scores of every fold, then the path on all samples."""
    (assembly, null), solver, grid = started, settings.solver, as_grid(estimator.alphas)
    alphas = grid(null.alpha)
    of_fold = partial(
        fold_scores, sample.X, sample.response, assembly.settings, alphas=grid,
        solver=solver, sample_weight=sample.weight, score=score,
    )  # fmt: skip
    k = len(alphas)
    with follow(settings.verbose, (len(folds) + 1) * k, k) as steps:
        scores = np.column_stack(score_folds(of_fold, folds, k, estimator.n_jobs, steps))
        path = fit_path(assembly.problem, alphas, solver, null=null, progress=steps)
    return Choice(alphas, scores, path, settle_path(started, path, solver))


def score_folds(
    score: Callable[..., Array],
    folds: list[Fold],
    k: int,
    n_jobs: int | None,
    steps: Steps | None,
) -> list[Array]:
    """Scores of every fold along k alphas, folds in order."""
    if (at_once := effective_n_jobs(n_jobs)) == 1:
        found = (score(fold, progress=steps) for fold in folds)
    else:  # other processes cannot say how far they are: a fold counts when it is done
        most = max(1, cpu_count() // at_once)
        found = Parallel(n_jobs=n_jobs, return_as="generator")(
            delayed(score)(fold, most_threads=most) for fold in folds
        )
    scores: list[Array] = []
    for i, of_fold in enumerate(found):
        scores.append(of_fold)
        if steps is not None:
            steps.upto((i + 1) * k)
    return scores


def make_folds(cv: CV, sample: PairSample, groups: ArrayLike | None = None) -> list[Fold]:
    """Folds as scikit-learn makes them, stratified for labels; 'loo' leaves one out at a time.

    The splitter sees the rows as the user numbered them; rows of weight zero drop out afterwards.
    The only row of a class is never held out: without it, the class is not known.
    """
    codes = np.zeros(sample.n_rows, dtype=int)
    codes[sample.kept] = sample.response.codes()
    members = None if groups is None else group_codes(groups, sample.n_rows)
    position = np.full(sample.n_rows, -1)
    position[sample.kept] = np.arange(len(sample.kept))
    labels, known = sample.response.is_labels, codes[sample.kept]
    only = np.flatnonzero(np.bincount(known)[known] == 1) if labels else np.zeros(0, dtype=int)
    folds: list[Fold] = []
    for split in row_splits(cv, codes, labels, members):
        train, test = (position[part][position[part] >= 0] for part in split)
        if len(only):
            train, test = np.union1d(train, only), np.setdiff1d(test, only)
        fold = Fold(train, test)
        lost = np.setdiff1d(known, known[fold.train])
        if len(lost):
            raise ValueError(
                f"fold {len(folds)} of cv leaves {len(lost)} class(es) out of its training part. "
                "Use fewer folds, a stratified splitter, or more samples of the rare class."
            )
        if len(fold.test):
            folds.append(fold)
    if not folds:
        raise ValueError("no row can be held out to choose alpha by: give alpha instead.")
    return folds


@completed(SparseGradientRegressor)
@dataclass(kw_only=True, eq=False, repr=False)
class SparseGradientRegressorCV(NumberPredictions, RegressorMixin, SparseGradient):
    """Sparse gradient learning for regression, alpha chosen by cross-validation.

    Parameters
    ----------
    alphas : int, array or AlphaGrid, default=50
        Penalties to try: their number, for a grid from ``alpha_max_`` down to a hundredth of it,
        where every fold tries the same parts of its own largest penalty; the penalties; or
        ``AlphaGrid(n_alphas, eps, max_features=...)``.
    cv : int, splitter, iterable or 'loo', default=5
        Folds; 'loo' leaves one sample out at a time.
    selection : {'min', '1se'}, default='min'
        The alpha with the best held-out score, or the largest one within a standard error of it.
    scoring : str or callable, optional
        A score of scikit-learn for the held-out rows. None = minus the mean loss (squared error).
    n_jobs : int, optional
        Folds fitted at a time, in processes that share the cores; the scores do not depend on it.
    solver : SolverSettings, optional
        ``SolverSettings(method, tol, max_iter, verbose)``.
    kernel, weights, standardize, n_components, penalties, predict_with, missing
        As in `SparseGradientRegressor`.

    Attributes
    ----------
    alphas_ : (n_alphas,) array, decreasing
    cv_scores_ : (n_alphas, n_folds) array
        Held-out scores, by default the negative mean squared error; larger is better.
    alpha_min_, alpha_1se_ : float
        What each rule of `selection` chooses.
    path_ : PathResult
        The path on all samples.
    feature_importances_, ranking_, components_, eigenvalues_, dimension_, alpha_, alpha_max_, \
dual_gap_, kkt_violation_, objective_, n_iter_, covariance_, dual_coef_, mean_, scale_, ranges_, \
field_, predictor_
        As in `SparseGradientRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from gradsift import SparseGradientRegressorCV
    >>> X = np.random.default_rng(0).uniform(size=(60, 6))
    >>> y = X[:, 0] ** 2 + X[:, 1]
    >>> model = SparseGradientRegressorCV(alphas=10, cv=3, selection="1se").fit(X, y)
    >>> model.cv_scores_.shape
    (10, 3)
    >>> bool(model.alpha_1se_ >= model.alpha_min_)
    True

    References
    ----------
    :cite:`ye-2012`
    """

    alphas: ArrayLike | AlphaGrid = 50
    cv: CV = 5
    selection: Rule = "min"
    scoring: Scorer | None = None
    n_jobs: int | None = None
    predict_with: PredictWith = "directions"

    @same_bits
    @documented("Choose alpha, then fit the gradient field.")
    def fit(
        self,
        X: TableLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        X_unlabeled: TableLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        sample, learned = pair_sample(self, X, y, sample_weight, X_unlabeled, self._mark)
        return take_over(self, learned | choose(self, sample, groups), sample.every_row)


@completed(SparseGradientRegressorCV, SparseGradientClassifier)
@dataclass(kw_only=True, eq=False, repr=False)
class SparseGradientClassifierCV(LabelPredictions, ClassifierMixin, SparseGradient):
    """Sparse gradient learning for classification, alpha chosen by cross-validation.

    Parameters
    ----------
    cv : int, splitter, iterable or 'loo', default=5
        Folds, stratified by class; 'loo' leaves one sample out at a time.
    alphas, selection, scoring, n_jobs, solver
        As in `SparseGradientRegressorCV`.
    penalties, class_weight, predict_with, kernel, weights, standardize, n_components, missing
        As in `SparseGradientClassifier`.

    Attributes
    ----------
    cv_scores_ : (n_alphas, n_folds) array
        Held-out scores, by default the negative log loss; larger is better.
    alphas_, alpha_min_, alpha_1se_, path_
        As in `SparseGradientRegressorCV`.
    classes_, class_weight_, feature_importances_, ranking_, components_, eigenvalues_, \
dimension_, alpha_, alpha_max_, dual_gap_, kkt_violation_, objective_, n_iter_, covariance_, \
dual_coef_, mean_, scale_, ranges_, field_, predictor_
        As in `SparseGradientClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from gradsift import SparseGradientClassifierCV
    >>> X = np.random.default_rng(0).normal(size=(40, 5))
    >>> y = X[:, 2] > 0
    >>> model = SparseGradientClassifierCV(alphas=8, cv="loo").fit(X, y)
    >>> model.cv_scores_.shape
    (8, 40)
    >>> int(model.ranking_.argmin())
    2

    References
    ----------
    :cite:`ye-2012`
    """

    alphas: ArrayLike | AlphaGrid = 50
    cv: CV = 5
    selection: Rule = "min"
    scoring: Scorer | None = None
    n_jobs: int | None = None
    class_weight: ClassWeight = None
    predict_with: PredictWith = "offset"

    @same_bits
    @documented("Choose alpha, then fit the log odds and their gradient.", y=LABELS_OR_NUMBERS)
    def fit(
        self,
        X: TableLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        X_unlabeled: TableLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        sample, learned = pair_sample(self, X, y, sample_weight, X_unlabeled, self._mark)
        return take_over(self, learned | choose(self, sample, groups), sample.every_row)
