"""OPG, the outer product of gradients: a local linear fit at every sample (Xia et al.)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import RegressorMixin

from gradsift._run.overflow import refuse_overflow
from gradsift._run.threads import one_blas_thread, same_bits
from gradsift._typing import Array, IntArray, Source
from gradsift.data import (
    Scaling,
    measure_scaling,
    open_source,
    standardised,
)
from gradsift.estimators._base import (
    GradientEstimator,
    blank,
    check_n_components,
    counted_attributes,
    keep,
)
from gradsift.estimators._tasks import NumberPredictions, numbers_sample
from gradsift.numerics.directions import Directions
from gradsift.numerics.distances import products, squared_distances
from gradsift.numerics.ranking import rank_variables
from gradsift.pairwise.dimension import Counted, Dimension, count_directions
from gradsift.pairwise.field import TaylorPredictor, taylor_average
from gradsift.pairwise.fitting import Sample
from gradsift.pairwise.local_linear import local_gradients, refine_gradients
from gradsift.pairwise.weights import fixed_rule, normalise, pair_weights
from gradsift.solver.penalty import row_norms


@dataclass(frozen=True)
class NearestField:
    """A gradient known at the training samples: a new sample gets that of the nearest one."""

    scaling: Scaling
    X: Array
    field: Array

    @property
    def index(self) -> IntArray:
        return np.arange(self.field.shape[1])

    def gradient(self, X: Source | Array) -> Array:
        source = standardised(open_source(X), self.scaling)
        D = squared_distances(source.columns(self.index), self.X)
        return self.scaling.derivative(self.field[D.argmin(axis=1)])[None]


@dataclass(frozen=True)
class LocalFit:
    """A local linear fit at every sample, and what follows from it."""

    field: NearestField
    predictor: TaylorPredictor
    importances: Array
    ranking: IntArray
    directions: Directions
    dimension: Dimension | None

    @property
    def scaling(self) -> Scaling:
        return self.field.scaling


@refuse_overflow
def fit_local(
    sample: Sample,
    weights: Any,
    standardize: bool,
    intercept: bool,
    refined: bool,
    n_components: int | Literal["auto"],
) -> LocalFit:
    """Slopes of a weighted linear fit around every sample."""
    n, p = sample.X.shape
    y = sample.response.values[0]
    weight = np.ones(n) if sample.weight is None else sample.weight
    share = weight / weight.sum()
    with one_blas_thread():
        scaling = measure_scaling(sample.X, share, standardize=standardize)
        scaled = standardised(sample.X, scaling)
        Z = scaled.columns(np.arange(p))  # a local fit in every column: dense by nature
        rule = fixed_rule(weights, "OuterProductGradient")
        W = normalise(pair_weights(rule, products(scaled).sqdist, p, sample.weight), share)
        F = local_gradients(Z, y, W, intercept=intercept)
        if refined:
            first = directions_of(scaled, y, share, F, n_components).directions
            F = refine_gradients(Z, y, share, F, max(1, len(first.components)))
        weighted = np.sqrt(share)[:, None] * F
        counted = count_directions(scaled, y[None], share, np.arange(p), weighted.T, n_components)
        predictor = taylor_average(Z, y[None], F[None], share)
    largest = np.abs(weighted).max(axis=0)
    # in units of the largest slope: squares of tiny ones vanish, and a column would seem out
    importances = largest * row_norms((weighted / np.where(largest > 0.0, largest, 1.0)).T)
    ranking = rank_variables(importances, importances)
    return LocalFit(NearestField(scaling, Z, F), predictor, importances, ranking, *counted)


def directions_of(
    source: Source, y: Array, share: Array, F: Array, n_components: int | Literal["auto"]
) -> Counted:
    """Eigenvectors of the outer product of slopes F (n, p)."""
    weighted = np.sqrt(share)[:, None] * F
    return count_directions(source, y[None], share, np.arange(F.shape[1]), weighted.T, n_components)


@dataclass(kw_only=True, eq=False, repr=False)
class OuterProductGradient(NumberPredictions, RegressorMixin, GradientEstimator):
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
        until these stay. Reaches directions of oscillating links that plain OPG misses.
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
    """

    weights: Any = "gaussian"
    fit_intercept: bool = False
    refined: bool = False
    standardize: bool = True
    n_components: int | Literal["auto"] = "auto"

    @same_bits
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the local slopes.

        Parameters
        ----------
        X : (n, p) array or data frame
        y : (n,) array
        sample_weight : (n,) array, optional

        Returns
        -------
        self
        """
        check_n_components(self.n_components)
        door = blank(self)
        sample = numbers_sample(door, X, y, sample_weight)
        fit = fit_local(
            sample,
            self.weights,
            self.standardize,
            self.fit_intercept,
            self.refined,
            self.n_components,
        )
        return keep(self, door, predictor_=fit.predictor, **counted_attributes(fit))
