"""Relatives of the paper's method that select no variables: GL, OPG, MAVE, SIR, SAVE and pHd.

Each estimator checks its sample, calls its method in `gradsift.pairwise.dense`, and keeps the
results as attributes. GL, gradient learning with a ridge penalty (Mukherjee and Zhou, JMLR 7,
2006), is what the paper compares its method with.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from numbers import Real
from typing import ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin, RegressorMixin

from gradsift._run.threads import one_blas_thread, same_bits
from gradsift.estimators.base import (
    ClassWeight,
    GradientEstimator,
    LabelPredictions,
    NumberPredictions,
    direction_attributes,
    field_attributes,
    pair_sample,
    take_over,
)
from gradsift.estimators.docstrings import completed, documented
from gradsift.estimators.sparse import SparseGradientClassifier, SparseGradientRegressor
from gradsift.estimators.validation import check_n_components, is_whole_number
from gradsift.numerics.directions import Directions
from gradsift.pairwise.assemble import Settings
from gradsift.pairwise.dense import (
    fit_inverse,
    fit_opg,
    fit_ridge,
    fit_smooth,
    mean_hessian,
    slice_covariances,
    slice_means,
)
from gradsift.pairwise.fit import PairSample
from gradsift.pairwise.weights import fixed_rule
from gradsift.protocols import Array, TableLike


@dataclass(kw_only=True, eq=False, repr=False)
class DenseEstimator(GradientEstimator):
    """An estimator that selects no variables: the parameters of all of them, and `_find`, which
    computes the attributes.
    """

    n_components: int | Literal["auto"] = "auto"
    standardize: bool = True

    def _find(self, sample: PairSample) -> dict[str, object]:
        raise NotImplementedError

    @same_bits
    @documented("Fit the model.")
    def fit(self, X: TableLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        check_n_components(self.n_components)
        sample, learned = pair_sample(self, X, y, sample_weight)
        return take_over(self, learned | self._find(sample), sample.every_row)


def find_ridge(
    estimator: RidgeGradientRegressor | RidgeGradientClassifier, sample: PairSample
) -> dict[str, object]:
    """The fitted attributes of GL."""
    alpha = estimator.alpha
    if alpha is not None and not (isinstance(alpha, Real) and 0.0 < float(alpha) < np.inf):
        raise ValueError(f"alpha={alpha!r}: the ridge penalty is a positive number or None.")
    fixed_rule(estimator.weights, type(estimator).__name__)
    problem = Settings(
        kernel=estimator.kernel,
        weights=estimator.weights,
        standardize=estimator.standardize,
        alpha_0=getattr(estimator, "alpha_0", None),
    )
    with one_blas_thread():
        given = None if alpha is None else float(alpha)
        fit, alpha = fit_ridge(sample, problem, given, estimator.n_components)
    return {"alpha_": alpha, **field_attributes(fit)}


@completed(SparseGradientRegressor)
@dataclass(eq=False, repr=False)
class RidgeGradientRegressor(NumberPredictions, RegressorMixin, DenseEstimator):
    """Gradient learning (GL; Mukherjee & Zhou) for regression: it selects no variables.

    Minimises 1/n^2 sum_ij w_ij (y_i - y_j + f(x_i) . (x_j - x_i))^2 + alpha sum_k ||f^k||_K^2, a
    linear system with as many equations as samples, for any number of columns. Its directions are
    the paper's ESFs.

    Parameters
    ----------
    alpha : float, optional
        Ridge penalty. None = a thousandth of the data term's largest curvature (halved: the
        penalty's own curvature is 2 alpha).
    weights : str or object, default='gaussian'
        As in `SparseGradientRegressor`, but for 'adaptive': nothing is selected.
    kernel, standardize, n_components
        As in `SparseGradientRegressor`.

    Attributes
    ----------
    feature_importances_ : (p,) array
        ||f^k||_K, in standardised columns; no exact zeros but for constant columns.
    ranking_, components_, eigenvalues_, dimension_, alpha_, mean_, scale_, ranges_, field_, \
predictor_
        As in `SparseGradientRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from gradsift import RidgeGradientRegressor
    >>> X = np.random.default_rng(0).normal(size=(50, 4))
    >>> model = RidgeGradientRegressor().fit(X, X[:, 0] - 2 * X[:, 1])
    >>> model.ranking_[:2].tolist()
    [2, 1]

    References
    ----------
    :cite:`mukherjee-zhou-2006`
    """

    alpha: float | None = None
    _: KW_ONLY
    kernel: object = "affine"
    weights: object = "gaussian"

    def _find(self, sample: PairSample) -> dict[str, object]:
        return find_ridge(self, sample)


@completed(RidgeGradientRegressor, SparseGradientClassifier)
@dataclass(eq=False, repr=False)
class RidgeGradientClassifier(LabelPredictions, ClassifierMixin, DenseEstimator):
    """Gradient learning (GL) for classification: logistic loss, ridge penalty, dense fields.

    Parameters
    ----------
    alpha : float, optional
        Ridge penalty. None = a thousandth of the data term's largest curvature (halved).
    alpha_0 : float, optional
        As in `Penalties`: the penalty on the offset function.
    weights, kernel, standardize, n_components
        As in `RidgeGradientRegressor`.
    class_weight
        As in `SparseGradientClassifier`.

    Attributes
    ----------
    predictor_ : None
        Labels are predicted by the offset function of `field_`.
    classes_, class_weight_
        As in `SparseGradientClassifier`.
    feature_importances_, ranking_, components_, eigenvalues_, dimension_, alpha_, mean_, \
scale_, ranges_, field_
        As in `RidgeGradientRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from gradsift import RidgeGradientClassifier
    >>> X = np.random.default_rng(0).normal(size=(50, 4))
    >>> model = RidgeGradientClassifier().fit(X, X[:, 2] > 0)
    >>> int(model.ranking_.argmin())
    2

    References
    ----------
    :cite:`mukherjee-wu-2006`
    """

    alpha: float | None = None
    _: KW_ONLY
    kernel: object = "affine"
    weights: object = "gaussian"
    alpha_0: float | None = None
    class_weight: ClassWeight = None

    def _find(self, sample: PairSample) -> dict[str, object]:
        return find_ridge(self, sample)


# Local linear fits: OPG and MAVE (Xia, Tong, Li and Zhu, 2002).


@completed(SparseGradientRegressor)
@dataclass(kw_only=True, eq=False, repr=False)
class OuterProductGradient(NumberPredictions, RegressorMixin, DenseEstimator):
    """Outer product of gradients: an independent local linear fit at every sample.

    The special case of sparse gradient learning with K = delta and alpha = 0. Dense, and defined
    only while there are fewer columns than neighbours; beyond that the smallest slopes are taken.

    Parameters
    ----------
    weights : str or object, default='gaussian'
        As in `SparseGradientRegressor`, but for 'adaptive'.
    fit_intercept : bool, default=False
        Fit the local level too (Xia et al.); False anchors each fit at its own y (the paper's
        special case).
    refined : bool, default=False
        Refined OPG: fit the slopes again with neighbours in the `n_components` directions found,
        until these no longer change. Finds directions of oscillating links that plain OPG misses.
    standardize : bool, default=True
    n_components : int or 'auto', default='auto'
        As in `SparseGradientRegressor`; 'auto' is settled before the refinement.

    Attributes
    ----------
    feature_importances_ : (p,) array
        Root mean square of the partial derivatives over the samples.
    ranking_, components_, eigenvalues_, dimension_, mean_, scale_, ranges_, field_, predictor_
        As in `SparseGradientRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from gradsift import OuterProductGradient
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> model = OuterProductGradient(n_components=1).fit(X, np.tanh(X[:, 0] + X[:, 1]))
    >>> np.abs(model.components_).round(1)
    array([[0.7, 0.7, 0. ]])

    References
    ----------
    :cite:`xia-2002`
    """

    weights: object = "gaussian"
    fit_intercept: bool = False
    refined: bool = False

    def _find(self, sample: PairSample) -> dict[str, object]:
        fit = fit_opg(
            sample, self.weights, self.standardize, self.fit_intercept, self.refined,
            self.n_components,
        )  # fmt: skip
        return field_attributes(fit)


@completed(SparseGradientRegressor)
@dataclass(kw_only=True, eq=False, repr=False)
class MinimumAverageVariance(NumberPredictions, RegressorMixin, DenseEstimator):
    """MAVE (Xia, Tong, Li and Zhu, 2002): the directions along which a local linear fit is best.

    Directions and local fits are computed alternately. Neighbours are samples whose projections on
    the directions are near, so that many columns do no harm, with which OPG's neighbours are all
    far away. No variables are selected. Where columns are more than half of the samples, their
    leading principal components take their place. Time and memory grow with the square of the
    number of samples.

    Parameters
    ----------
    n_components : int or 'auto', default='auto'
        Number of directions; 'auto' chooses it by held-out predictions along the directions.
    standardize : bool, default=True

    Attributes
    ----------
    feature_importances_ : (p,) array
        Root mean square of the partial derivatives over the samples, in standardised columns.
    ranking_, components_, eigenvalues_, dimension_, mean_, scale_, ranges_, field_, predictor_
        As in `SparseGradientRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from gradsift import MinimumAverageVariance
    >>> X = np.random.default_rng(0).normal(size=(200, 4))
    >>> y = np.sin(2 * (X[:, 0] + X[:, 1]) / np.sqrt(2))
    >>> model = MinimumAverageVariance(n_components=1).fit(X, y)
    >>> np.abs(model.components_).round(1)
    array([[0.7, 0.7, 0. , 0. ]])
    >>> bool(model.score(X, y) > 0.9)
    True

    References
    ----------
    :cite:`xia-2002`
    """

    def _find(self, sample: PairSample) -> dict[str, object]:
        fit = fit_smooth(sample, self.standardize, self.n_components)
        return field_attributes(fit)


# Classical sufficient dimension reduction: SIR, SAVE and pHd.


class InverseRegression(DenseEstimator):
    """The fit of SIR, SAVE and pHd."""

    has_gradient: ClassVar[bool] = False
    _matrix: ClassVar[Callable[..., Array]]

    def _find(self, sample: PairSample) -> dict[str, object]:
        n_slices = getattr(self, "n_slices", 2)
        if not is_whole_number(n_slices) or n_slices < 2:
            raise ValueError(f"n_slices={n_slices!r}: use a whole number >= 2.")
        matrix = type(self)._matrix
        fit = fit_inverse(sample, matrix, n_slices, self.standardize, self.n_components)
        directions = Directions(fit.components, fit.eigenvalues)
        return direction_attributes(directions, fit.scaling) | {"dimension_": fit.dimension}


@dataclass(kw_only=True, eq=False, repr=False)
class SlicedInverseRegression(InverseRegression):
    """SIR (Li, 1991): directions along which the mean of the columns moves with the response.

    The response is cut into slices; the leading directions of the slice means, in whitened columns,
    are those of the response where columns are elliptically distributed. A link that is symmetric
    about the centre does not change the means, and is not found: see
    `SlicedAverageVariance`. Where columns are more than half the samples, their leading principal
    components, half as many as samples, take their place.

    Parameters
    ----------
    n_slices : int, default=10
        Slices of equal weight along the response; a response with no more distinct values than
        that (class numbers, say) has one slice for each.
    n_components : int or 'auto', default='auto'
        Number of directions; 'auto' chooses it by held-out predictions along the directions.
    standardize : bool, default=True
        Report directions in columns of unit variance.

    Attributes
    ----------
    components_ : (n_components_, p) array
        Orthonormal; the first k span what the k leading directions span.
    eigenvalues_ : array
        Of the covariance of the slice means, largest first.
    dimension_ : Dimension or None
        The evidence on the number of directions, with ``n_components='auto'``.
    mean_, scale_ : (p,) arrays
        The standardising.
    ranges_ : (2, m) array
        Smallest and largest values of the columns with a part in a direction.

    Examples
    --------
    >>> import numpy as np
    >>> from gradsift import SlicedInverseRegression
    >>> X = np.random.default_rng(0).normal(size=(300, 4))
    >>> model = SlicedInverseRegression(n_components=1).fit(X, np.exp(X[:, 0] + X[:, 1]))
    >>> np.abs(model.components_).round(1)
    array([[0.7, 0.7, 0. , 0. ]])

    References
    ----------
    :cite:`li-1991`
    """

    n_slices: int = 10

    _matrix = staticmethod(slice_means)


@completed(SlicedInverseRegression)
@dataclass(kw_only=True, eq=False, repr=False)
class SlicedAverageVariance(InverseRegression):
    """SAVE (Cook and Weisberg, 1991): directions along which the spread of the columns changes.

    As `SlicedInverseRegression`, from the covariances within the slices: symmetric links are found
    too, at the price of more samples.

    Parameters
    ----------
    n_slices : int, default=5
        As in `SlicedInverseRegression`; fewer, because each holds a whole covariance.
    n_components, standardize
        As in `SlicedInverseRegression`.

    Attributes
    ----------
    components_, eigenvalues_, dimension_, mean_, scale_, ranges_
        As in `SlicedInverseRegression`.

    Examples
    --------
    >>> import numpy as np
    >>> from gradsift import SlicedAverageVariance
    >>> X = np.random.default_rng(0).normal(size=(500, 4))
    >>> model = SlicedAverageVariance(n_components=1).fit(X, X[:, 1] ** 2)
    >>> int(np.abs(model.components_).argmax())
    1

    References
    ----------
    :cite:`cook-1991`
    """

    n_slices: int = 5

    _matrix = staticmethod(slice_covariances)


@completed(SlicedInverseRegression)
@dataclass(kw_only=True, eq=False, repr=False)
class PrincipalHessianDirections(InverseRegression):
    """pHd (Li, 1992): directions along which the response bends.

    Eigenvectors of the mean Hessian of the residual of a linear fit, which for normal columns is a
    moment of the data (Stein's lemma). Straight directions are not found.

    Parameters
    ----------
    n_components, standardize
        As in `SlicedInverseRegression`.

    Attributes
    ----------
    components_, dimension_, mean_, scale_, ranges_
        As in `SlicedInverseRegression`.
    eigenvalues_ : array
        Of the mean Hessian, largest size first; negative where the response bends down.

    Examples
    --------
    >>> import numpy as np
    >>> from gradsift import PrincipalHessianDirections
    >>> X = np.random.default_rng(0).normal(size=(500, 4))
    >>> model = PrincipalHessianDirections(n_components=1).fit(X, X[:, 1] ** 2)
    >>> int(np.abs(model.components_).argmax())
    1

    References
    ----------
    :cite:`li-1992`
    """

    _matrix = staticmethod(mean_hessian)
