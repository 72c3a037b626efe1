"""The paper's estimators with alpha chosen by held-out prediction.

Each fold has its own standardisation, bandwidths and alpha_max. Its path of penalties is the same
grid of fractions of alpha_max. Scores are (n_alphas, n_folds), penalties decreasing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import Any, Literal, Self

import numpy as np
from joblib import Parallel, cpu_count, delayed, effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, RegressorMixin

from gradsift._run.progress import Steps, follow
from gradsift._run.threads import one_blas_thread, same_bits
from gradsift.data.row_groups import group_codes
from gradsift.estimators.base import (
    ClassWeight,
    LabelPredictions,
    NumberPredictions,
    pair_sample,
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
    HeldOutLoss,
    PairSample,
    PredictWith,
    choose_alpha,
    finish,
    fold_scores,
    settle_path,
    start,
)
from gradsift.protocols import Array, IntArray, TableLike
from gradsift.solver.path import PathResult, check_alphas, fit_path, geometric_grid

Rule = Literal["min", "1se"]
"""Choose the alpha with the best held-out score, or the largest within a standard error of it."""

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

    def few(self, path: PathResult, penalised: NDArray[np.bool_]) -> IntArray:
        """Places of the penalties that select no more than `max_features` penalised variables."""
        most = np.inf if self.max_features is None else self.max_features
        counts = np.array([penalised[support].sum() for support in path.supports])
        return np.flatnonzero(counts <= most)


def as_grid(alphas: ArrayLike | AlphaGrid) -> AlphaGrid:
    """The grid from a number of penalties, from the penalties, or itself."""
    if isinstance(alphas, AlphaGrid):
        return alphas
    if isinstance(alphas, Integral):
        return AlphaGrid(n_alphas=int(alphas))
    return AlphaGrid(alphas=alphas)


def choose(
    estimator: SparseGradientRegressorCV | SparseGradientClassifierCV,
    sample: PairSample,
    groups: ArrayLike | None,
) -> dict[str, Any]:
    """The attributes of the fit at the alpha that predicts held-out rows best."""
    settings, grid = estimator._settings(sample), as_grid(estimator.alphas)
    if estimator.selection not in ("min", "1se"):
        raise ValueError(f"selection={estimator.selection!r}: use 'min' or '1se'.")
    check_max_features(grid.max_features)
    with one_blas_thread():
        folds = make_folds(estimator.cv, sample, groups)
        started = start(sample, settings.problem)
        problem, solver, k = started.assembly.problem, settings.solver, len(folds)
        alphas = grid(started.null.alpha)
        of_fold = partial(
            fold_scores, sample.X, sample.response, started.assembly.settings, alphas=grid,
            solver=solver, sample_weight=sample.weight, score=HeldOutLoss(settings.predict_with),
        )  # fmt: skip
        with follow(settings.verbose, (k + 1) * len(alphas), len(alphas)) as steps:
            scores = np.column_stack(
                score_folds(of_fold, folds, len(alphas), estimator.n_jobs, steps)
            )
            path = fit_path(problem, alphas, solver, null=started.null, progress=steps)
        few = grid.few(path, problem.penalty.limits(1.0) > 0)
        best = few[choose_alpha(scores[few], estimator.selection)] if len(few) else 0
        fit = finish(started, path.solutions[best], settings)
        settled = settle_path(started, path, solver)
    warn_of_fit(estimator, fit)
    return {
        **sparse_attributes(fit),
        "alphas_": alphas,
        "cv_scores_": scores,
        "alpha_min_": float(alphas[choose_alpha(scores, "min")]),
        "alpha_1se_": float(alphas[choose_alpha(scores, "1se")]),
        "path_": settled,
        "n_iter_": max(1, int(settled.n_iter.sum())),
    }


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
        Minus the mean squared error of held-out rows.
    alpha_min_, alpha_1se_ : float
        What each rule of `selection` chooses.
    path_ : PathResult
        The path on all samples.
    feature_importances_, ranking_, components_, eigenvalues_, dimension_, alpha_, alpha_max_, \
dual_gap_, kkt_violation_, objective_, n_iter_, mean_, scale_, ranges_, \
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
    alphas, selection, n_jobs, solver
        As in `SparseGradientRegressorCV`.
    penalties, class_weight, predict_with, kernel, weights, standardize, n_components, missing
        As in `SparseGradientClassifier`.

    Attributes
    ----------
    cv_scores_ : (n_alphas, n_folds) array
        Minus the mean log loss of held-out rows.
    alphas_, alpha_min_, alpha_1se_, path_
        As in `SparseGradientRegressorCV`.
    classes_, class_weight_, feature_importances_, ranking_, components_, eigenvalues_, \
dimension_, alpha_, alpha_max_, dual_gap_, kkt_violation_, objective_, n_iter_, \
mean_, scale_, ranges_, field_, predictor_
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
