"""OPG, the outer product of gradients: a local linear fit at every sample (Xia et al.)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from gradsift._run.threads import one_blas_thread, same_bits
from gradsift._typing import Array, IntArray, Source
from gradsift.data import (
    Scaling,
    measure_scaling,
    open_source,
    standardised,
    take_rows,
)
from gradsift.estimators._base import GradientEstimator, all_or_nothing, check_n_components
from gradsift.estimators._validation import check_fit_X, check_new_X, check_numbers, check_weights
from gradsift.numerics.directions import find_directions
from gradsift.numerics.distances import products, squared_distances
from gradsift.numerics.ranking import rank_variables
from gradsift.pairwise.field import TaylorPredictor, taylor_average
from gradsift.pairwise.local_linear import local_gradients
from gradsift.pairwise.weights import as_weights, base_rule, normalise, pair_weights
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


class OuterProductGradient(RegressorMixin, GradientEstimator):
    """Outer product of gradients: an independent local linear fit at every sample.

    The special case of sparse gradient learning with K = delta and alpha = 0. Dense, and defined
    only while there are fewer columns than neighbours; beyond that the smallest slopes are taken.

    Parameters
    ----------
    weights : str or object, default='gaussian'
        As in `SparseGradientRegressor`.
    fit_intercept : bool, default=False
        Fit the local level too (Xia et al.); False anchors each fit at its own y (the paper's
        special case).
    standardize : bool, default=True
    n_components : int or 'auto', default='auto'

    Attributes
    ----------
    feature_importances_ : (p,) array
        Root mean square of the partial derivatives over the samples.
    ranking_, components_, eigenvalues_, mean_, scale_, field_
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

    field_: NearestField

    def __init__(
        self,
        *,
        weights: Any = "gaussian",
        fit_intercept: bool = False,
        standardize: bool = True,
        n_components: int | Literal["auto"] = "auto",
    ) -> None:
        self.weights = weights
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.n_components = n_components

    @all_or_nothing
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
        X, y = check_fit_X(self, X, y, y_numeric=True)
        kept, sample_weight = check_weights(sample_weight, X)
        source, y = take_rows(X, kept), check_numbers(y[kept])
        n, p = source.shape
        weight = np.ones(n) if sample_weight is None else sample_weight
        share = weight / weight.sum()
        with one_blas_thread():
            scaling = measure_scaling(source, share, standardize=self.standardize)
            scaled = standardised(source, scaling)
            Z = scaled.columns(np.arange(p))  # a local fit in every column: dense by nature
            sqdist = products(scaled).sqdist
            W = normalise(
                pair_weights(base_rule(as_weights(self.weights)), sqdist, p, sample_weight), share
            )
            F = local_gradients(Z, y, W, intercept=self.fit_intercept)
            weighted = np.sqrt(share)[:, None] * F
            directions = find_directions(np.arange(p), weighted.T, p, self.n_components)
            self._predictor: TaylorPredictor = taylor_average(Z, y[None], F[None], share)
        self.field_ = NearestField(scaling, Z, F)
        importances = row_norms(weighted.T)
        return self._store(
            importances, rank_variables(importances, importances), directions, scaling
        )

    @same_bits
    def predict(self, X: Any) -> Array:
        """Average the Taylor expansions around the training samples.

        Parameters
        ----------
        X : (n, p) array or data frame

        Returns
        -------
        y : (n,) array
        """
        check_is_fitted(self)
        source = standardised(check_new_X(self, X), self._scaling)
        return self._predictor(source.columns(np.arange(source.shape[1])))[0]
