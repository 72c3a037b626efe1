"""GL, gradient learning with a ridge penalty: dense fields, the paper's comparison."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Literal, Self

from sklearn.base import ClassifierMixin, RegressorMixin

from gradsift._run.threads import same_bits
from gradsift.estimators._base import (
    GradientEstimator,
    blank,
    check_n_components,
    counted_attributes,
    keep,
)
from gradsift.estimators._tasks import (
    NumberPredictions,
    OffsetScores,
    labels_sample,
    numbers_sample,
    sample_class_weights,
)
from gradsift.pairwise.assemble import Settings
from gradsift.pairwise.fitting import Sample
from gradsift.pairwise.ridge_fitting import RidgeFit, fit_ridge
from gradsift.pairwise.weights import fixed_rule


def ridge_settings(estimator: Any) -> Settings:
    """The problem that an estimator's parameters ask for, checked."""
    check_n_components(estimator.n_components)
    fixed_rule(estimator.weights, type(estimator).__name__)
    return Settings(
        kernel=estimator.kernel,
        weights=estimator.weights,
        standardize=estimator.standardize,
        alpha_0=getattr(estimator, "alpha_0", None),
    )


@dataclass(eq=False, repr=False)
class RidgeGradient(GradientEstimator):
    """Parameters of both tasks, and the fit from a checked sample."""

    alpha: float | None = None
    _: KW_ONLY
    kernel: Any = "affine"
    weights: Any = "gaussian"
    standardize: bool = True
    n_components: int | Literal["auto"] = "auto"

    def _fit_sample(self, sample: Sample) -> RidgeFit:
        return fit_ridge(sample, ridge_settings(self), self.alpha, self.n_components)


@dataclass(eq=False, repr=False)
class RidgeGradientRegressor(NumberPredictions, RegressorMixin, RidgeGradient):
    """Gradient learning (GL; Mukherjee & Zhou) for regression: every variable stays in.

    Minimises 1/n^2 sum_ij w_ij (y_i - y_j + f(x_i) . (x_j - x_i))^2 + alpha sum_k ||f^k||_K^2, a
    linear system of the size of the samples, whatever the number of columns. Its directions are the
    paper's ESFs.

    Parameters
    ----------
    alpha : float, optional
        Ridge penalty. None = a thousandth of the data term's largest curvature (halved: the
        penalty's own curvature is 2 alpha).
    kernel, weights, standardize, n_components
        As in `SparseGradientRegressor`; weights cannot be 'adaptive', as nothing is selected.

    Attributes
    ----------
    feature_importances_, ranking_, components_, eigenvalues_, dimension_, alpha_, mean_, \
scale_, ranges_, field_, predictor_
        As in `SparseGradientRegressor`; no exact zeros but for constant columns.

    Examples
    --------
    >>> import numpy as np
    >>> from gradsift import RidgeGradientRegressor
    >>> X = np.random.default_rng(0).normal(size=(50, 4))
    >>> model = RidgeGradientRegressor().fit(X, X[:, 0] - 2 * X[:, 1])
    >>> model.ranking_[:2].tolist()
    [2, 1]
    """

    @same_bits
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the gradient field.

        Parameters
        ----------
        X : (n, p) array or data frame
        y : (n,) array
        sample_weight : (n,) array, optional
            Pair (i, j) counts w_ij times both weights.

        Returns
        -------
        self
        """
        door = blank(self)
        fit = self._fit_sample(numbers_sample(door, X, y, sample_weight))
        found = {"alpha_": fit.alpha, "predictor_": fit.predictor, **counted_attributes(fit)}
        return keep(self, door, **found)


@dataclass(eq=False, repr=False)
class RidgeGradientClassifier(OffsetScores, ClassifierMixin, RidgeGradient):
    """Gradient learning (GL) for classification: logistic loss, ridge penalty, dense fields.

    Parameters
    ----------
    alpha : float, optional
        Ridge penalty. None = a thousandth of the data term's largest curvature (halved).
    alpha_0, class_weight, kernel, weights, standardize, n_components
        As in `SparseGradientClassifier`; weights cannot be 'adaptive', as nothing is selected.

    Attributes
    ----------
    classes_, class_weight_, feature_importances_, ranking_, components_, eigenvalues_, \
dimension_, alpha_, mean_, scale_, ranges_, field_
        As in `SparseGradientClassifier`; no exact zeros but for constant columns.

    Examples
    --------
    >>> import numpy as np
    >>> from gradsift import RidgeGradientClassifier
    >>> X = np.random.default_rng(0).normal(size=(50, 4))
    >>> model = RidgeGradientClassifier().fit(X, X[:, 2] > 0)
    >>> int(model.ranking_.argmin())
    2
    """

    alpha_0: float | None = field(default=None, kw_only=True)
    class_weight: Any = field(default=None, kw_only=True)

    @same_bits
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the log odds and their gradient.

        Parameters
        ----------
        X : (n, p) array or data frame
        y : (n,) array of labels, of any type
        sample_weight : (n,) array, optional
            Pair (i, j) counts w_ij times both weights.

        Returns
        -------
        self
        """
        door = blank(self)
        classes, sample = labels_sample(door, X, y, sample_weight)
        shifts = sample_class_weights(self.class_weight, classes, sample)
        fit = self._fit_sample(sample)
        found = {"classes_": classes, "class_weight_": shifts, "alpha_": fit.alpha}
        return keep(self, door, **found, **counted_attributes(fit))
