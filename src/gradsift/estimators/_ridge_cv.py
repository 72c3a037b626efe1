"""GL with its ridge penalty chosen by held-out prediction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from gradsift._run.threads import one_blas_thread, same_bits
from gradsift._typing import Array
from gradsift.estimators._base import GradientEstimator, blank, counted_attributes, keep
from gradsift.estimators._choosing import make_folds
from gradsift.estimators._ridge import ridge_settings
from gradsift.estimators._tasks import (
    NumberPredictions,
    OffsetScores,
    labels_sample,
    numbers_sample,
    sample_class_weights,
)
from gradsift.numerics.ranking import choose_alpha
from gradsift.pairwise.fitting import Sample
from gradsift.pairwise.ridge_fitting import finish_ridge, ridge_fold_scores, start_ridge
from gradsift.solver.path import check_alphas

WIDEST = 1e3
"""Default penalties reach from so many times that of `RidgeGradient*` down to one part of it."""


@dataclass(kw_only=True, eq=False, repr=False)
class RidgeCrossValidated(GradientEstimator):
    """Parameters of both tasks, and the choice from a checked sample."""

    alphas: Any = None
    n_alphas: int = 13
    cv: Any = 5
    selection: Literal["min", "1se"] = "min"
    kernel: Any = "affine"
    weights: Any = "gaussian"
    standardize: bool = True
    n_components: int | Literal["auto"] = "auto"

    def _grid(self) -> Array:
        """Penalties, largest first; multiples of the default where none are given."""
        if self.alphas is None:
            if self.n_alphas < 1:
                raise ValueError(f"n_alphas={self.n_alphas}: at least one alpha is needed.")
            return np.geomspace(WIDEST, 1.0 / WIDEST, self.n_alphas)
        grid = check_alphas(self.alphas)
        if not grid[-1] > 0.0:
            raise ValueError(f"alphas has {grid[-1]}: a ridge penalty is positive.")
        return grid

    def _choose(self, sample: Sample, groups: Any = None) -> dict[str, Any]:
        """The attributes of the fit at the penalty of best held-out score."""
        if self.selection not in ("min", "1se"):
            raise ValueError(f"selection={self.selection!r}: use 'min' or '1se'.")
        problem, grid, relative = ridge_settings(self), self._grid(), self.alphas is None
        with one_blas_thread():
            scores = np.column_stack([
                ridge_fold_scores(sample, problem, fold, grid, relative=relative)
                for fold in make_folds(self.cv, sample, groups)
            ])  # fmt: skip
            started = start_ridge(sample, problem)
            alphas = grid * started.unit if relative else grid
            alpha = float(alphas[choose_alpha(scores, self.selection)])
            fit = finish_ridge(started, alpha, self.n_components)
        chosen = {"alpha_": alpha, "alphas_": alphas, "cv_scores_": scores}
        return {**chosen, "predictor_": fit.predictor, **counted_attributes(fit)}


@dataclass(kw_only=True, eq=False, repr=False)
class RidgeGradientRegressorCV(NumberPredictions, RegressorMixin, RidgeCrossValidated):
    """Gradient learning (GL) for regression, its ridge penalty chosen by cross-validation.

    Parameters
    ----------
    alphas : array, optional
        Penalties to try. None = `n_alphas` multiples, from 1,000 to a thousandth, of the default
        of `RidgeGradientRegressor`; every fold then tries the same multiples of its own.
    n_alphas : int, default=13
    cv : int, splitter, iterable or 'loo', default=5
    selection : {'min', '1se'}, default='min'
        The alpha with the best held-out score, or the largest one within a standard error of it.
    kernel, weights, standardize, n_components
        As in `RidgeGradientRegressor`.

    Attributes
    ----------
    alpha_ : float
        The penalty chosen.
    alphas_ : (n_alphas,) array, decreasing
    cv_scores_ : (n_alphas, n_folds) array
        Minus the mean squared error of the held-out rows.
    feature_importances_, ranking_, components_, eigenvalues_, dimension_, mean_, scale_, ranges_, \
field_, predictor_
        As in `RidgeGradientRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from gradsift import RidgeGradientRegressorCV
    >>> X = np.random.default_rng(0).normal(size=(40, 4))
    >>> model = RidgeGradientRegressorCV(n_alphas=5, cv=3).fit(X, X[:, 0] - 2 * X[:, 1])
    >>> model.cv_scores_.shape
    (5, 3)
    >>> int(model.ranking_.argmin())
    1
    """

    @same_bits
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Choose alpha, then fit the gradient field.

        Parameters
        ----------
        X : (n, p) array or data frame
        y : (n,) array
        sample_weight : (n,) array, optional
            Pair (i, j) counts w_ij times both weights.
        groups : (n,) array of labels, optional
            Rows that belong together: folds hold out whole groups.

        Returns
        -------
        self
        """
        door = blank(self)
        found = self._choose(numbers_sample(door, X, y, sample_weight), groups)
        return keep(self, door, **found)


@dataclass(kw_only=True, eq=False, repr=False)
class RidgeGradientClassifierCV(OffsetScores, ClassifierMixin, RidgeCrossValidated):
    """Gradient learning (GL) for classification, its ridge penalty chosen by cross-validation.

    Parameters
    ----------
    alphas, n_alphas, cv, selection
        As in `RidgeGradientRegressorCV`; folds are stratified.
    alpha_0, class_weight, kernel, weights, standardize, n_components
        As in `RidgeGradientClassifier`.

    Attributes
    ----------
    cv_scores_ : (n_alphas, n_folds) array
        Minus the log loss of the held-out rows.
    alpha_, alphas_
        As in `RidgeGradientRegressorCV`.
    predictor_ : None
        Labels are predicted by the offset function of `field_`.
    classes_, class_weight_, feature_importances_, ranking_, components_, eigenvalues_, \
dimension_, mean_, scale_, ranges_, field_
        As in `RidgeGradientClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from gradsift import RidgeGradientClassifierCV
    >>> X = np.random.default_rng(0).normal(size=(40, 4))
    >>> model = RidgeGradientClassifierCV(n_alphas=3, cv=3).fit(X, X[:, 2] > 0)
    >>> int(model.ranking_.argmin())
    2
    """

    alpha_0: float | None = None
    class_weight: Any = None

    @same_bits
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Choose alpha, then fit the log odds and their gradient.

        Parameters
        ----------
        X : (n, p) array or data frame
        y : (n,) array of labels, of any type
        sample_weight : (n,) array, optional
            Pair (i, j) counts w_ij times both weights.
        groups : (n,) array of labels, optional
            Rows that belong together: folds hold out whole groups.

        Returns
        -------
        self
        """
        door = blank(self)
        classes, sample = labels_sample(door, X, y, sample_weight)
        shifts = sample_class_weights(self.class_weight, classes, sample)
        found = self._choose(sample, groups)
        return keep(self, door, classes_=classes, class_weight_=shifts, **found)
