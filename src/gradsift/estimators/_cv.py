"""The paper's estimators with alpha chosen by held-out prediction."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal, Self

from sklearn.base import ClassifierMixin, RegressorMixin, is_classifier

from gradsift._run.threads import same_bits
from gradsift.estimators._base import blank, keep, warn_unless_converged
from gradsift.estimators._callbacks import CallbackSupportMixin, with_callbacks
from gradsift.estimators._choosing import Choice, CVSettings, fit_cross_validated
from gradsift.estimators._description import PenaltyChoice
from gradsift.estimators._sparse import (
    SparseGradient,
    sparse_attributes,
    unlabeled_mark,
    warn_of_numbers,
)
from gradsift.estimators._tasks import (
    IndexScores,
    NumberPredictions,
    labels_sample,
    numbers_sample,
    sample_class_weights,
)
from gradsift.pairwise.fitting import PredictWith, Sample, SparseFit


@dataclass(kw_only=True, eq=False, repr=False)
class CrossValidated(CallbackSupportMixin, SparseGradient):
    """The parameters that say how alpha is chosen."""

    alphas: Any = None
    n_alphas: int = 50
    eps: float = 0.01
    cv: Any = 5
    selection: Literal["min", "1se"] = "min"
    max_features: int | None = None
    scoring: Any = None
    judge: Any = None
    judge_on: Literal["selected", "directions"] = "selected"
    n_jobs: int | None = None
    checkpoint: Any = None

    def _particulars(self) -> dict[str, Any]:
        measure = "log loss" if is_classifier(self) else "mean squared error"
        if self.scoring is not None or self.judge is not None:
            measure = f"negative score ({self.scoring or 'of the judge'})"
        choice = PenaltyChoice(
            float(self.alpha_), self.alphas_, -self.cv_scores_, self.selection, measure
        )
        return {**super()._particulars(), "penalty_choice": choice}

    def _fit_sample(
        self, sample: Sample, classes: Any = None, groups: Any = None
    ) -> tuple[SparseFit, Choice]:
        how = CVSettings(**{f.name: getattr(self, f.name) for f in fields(CVSettings)})
        return fit_cross_validated(self, sample, self._settings(sample), how, classes, groups)


@dataclass(kw_only=True, eq=False, repr=False)
class SparseGradientRegressorCV(NumberPredictions, RegressorMixin, CrossValidated):
    """Sparse gradient learning for regression, alpha chosen by cross-validation.

    Parameters
    ----------
    alphas : (n_alphas,) array, optional
        Penalties to try. None = `n_alphas` values from ``alpha_max_`` down to `eps` times it; every
        fold then tries the same parts of its own largest penalty.
    n_alphas : int, default=50
    eps : float, default=0.01
    cv : int, splitter, iterable or 'loo', default=5
        Folds; 'loo' leaves one sample out at a time.
    selection : {'min', '1se'}, default='min'
        The alpha with the best held-out score, or the largest one within a standard error of it.
    max_features : int, optional
        Choose only among the alphas that select no more than this many penalised variables.
    scoring : str or callable, optional
        A score of scikit-learn for the held-out rows. None = minus the mean loss (squared error),
        or the `score` of `judge`.
    judge : estimator, optional
        Fitted in every fold on what was selected, and scored in place of the estimator's own
        predictions: e.g. a linear support vector machine, the paper's criterion.
    judge_on : {'selected', 'directions'}, default='selected'
        Whether `judge` sees the selected columns or their projections on the sparse directions;
        with ``n_components='auto'`` these are counted in every fold at every alpha, which takes
        its time.
    n_jobs : int, optional
        Folds fitted at a time, in processes that share the cores; the scores do not depend on it.
    checkpoint : path, optional
        A folder in which every answer and the scores of every fold are kept as soon as they are
        there. The same fit after a kill goes on from it, to the same bits.
    kernel, weights, standardize, n_components, penalty_factor, loss, penalty, curl, smoothness, \
solver, tol, max_iter, predict_with, missing, verbose
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
    >>> model = SparseGradientRegressorCV(n_alphas=10, cv=3, selection="1se").fit(X, y)
    >>> model.cv_scores_.shape
    (10, 3)
    >>> bool(model.alpha_1se_ >= model.alpha_min_)
    True
    """

    predict_with: PredictWith = "directions"

    @with_callbacks
    @same_bits
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        X_unlabeled: Any = None,
        groups: Any = None,
    ) -> Self:
        """Choose alpha, then fit the gradient field.

        Parameters
        ----------
        X : (n, p) array or data frame
        y : (n,) array
        sample_weight : (n,) array, optional
            Pair (i, j) counts w_ij times both weights.
        X_unlabeled : (u, p) array or data frame, optional
            Samples without a response; they shape the field through `smoothness`.
        groups : (n,) array of labels, optional
            Rows that belong together, such as the visits of a subject: folds hold out whole
            groups.

        Returns
        -------
        self
        """
        door = blank(self)
        sample = numbers_sample(door, X, y, sample_weight, X_unlabeled)
        fit, choice = self._fit_sample(sample, groups=groups)
        warn_of_numbers(fit, self.max_iter)
        found = sparse_attributes(fit) | choice.attributes()
        return keep(self, door, predictor_=fit.predictor, **found)


@dataclass(kw_only=True, eq=False, repr=False)
class SparseGradientClassifierCV(IndexScores, ClassifierMixin, CrossValidated):
    """Sparse gradient learning for classification, alpha chosen by cross-validation.

    Parameters
    ----------
    alphas, n_alphas, eps, cv, selection, max_features, scoring, judge, judge_on, n_jobs, \
checkpoint
        As in `SparseGradientRegressorCV`; folds are stratified.
    alpha_0, class_weight, predict_with, kernel, weights, standardize, n_components, \
penalty_factor, loss, penalty, curl, smoothness, solver, tol, max_iter, missing, verbose
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
    >>> model = SparseGradientClassifierCV(n_alphas=8, cv="loo").fit(X, y)
    >>> model.cv_scores_.shape
    (8, 40)
    >>> int(model.ranking_.argmin())
    2
    """

    alpha_0: float | None = None
    class_weight: Any = None
    predict_with: PredictWith = "offset"

    @with_callbacks
    @same_bits
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        X_unlabeled: Any = None,
        groups: Any = None,
    ) -> Self:
        """Choose alpha, then fit the log odds and their gradient.

        Parameters
        ----------
        X : (n, p) array or data frame
        y : (n,) array of labels, of any type
            With `smoothness` above 0, numeric labels of -1 mark unlabelled rows, as in
            scikit-learn's semi-supervised estimators.
        sample_weight : (n,) array, optional
        X_unlabeled : (u, p) array or data frame, optional
            More samples without a label.
        groups : (n,) array of labels, optional
            Rows that belong together: folds hold out whole groups.

        Returns
        -------
        self
        """
        door, mark = blank(self), unlabeled_mark(self.smoothness)
        classes, sample = labels_sample(door, X, y, sample_weight, X_unlabeled, mark)
        shifts = sample_class_weights(self.class_weight, classes, sample)
        fit, choice = self._fit_sample(sample, classes, groups)
        warn_unless_converged(fit.solution, self.max_iter)
        found = {"predictor_": fit.predictor, **sparse_attributes(fit)} | choice.attributes()
        return keep(self, door, classes_=classes, class_weight_=shifts, **found)
