"""MAVE as an estimator: directions, the response along them, and its gradient."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import RegressorMixin

from gradsift._run.overflow import refuse_overflow
from gradsift._run.threads import one_blas_thread, same_bits
from gradsift._typing import Array, IntArray, Source
from gradsift.data import Scaling, open_source, standardised
from gradsift.estimators._base import (
    GradientEstimator,
    blank,
    check_n_components,
    counted_attributes,
    keep,
)
from gradsift.estimators._tasks import NumberPredictions, numbers_sample
from gradsift.numerics.directions import Directions, find_directions
from gradsift.numerics.ranking import rank_variables
from gradsift.pairwise.dimension import SPAN, Dimension, choose_dimension
from gradsift.pairwise.fitting import Sample
from gradsift.pairwise.local_linear import (
    SLOPE_RIDGE,
    Planes,
    best_bandwidth,
    local_gradients,
    local_planes,
    near_weights,
    normal_bandwidth,
)
from gradsift.pairwise.mave import fit_mave, whiten
from gradsift.solver.penalty import row_norms


@dataclass(frozen=True)
class SmoothField:
    """A local linear function of a few coordinates: its value and its gradient at any sample.

    Attributes
    ----------
    scaling : Scaling
        From the user's columns to those of the fit.
    directions : (p, d) array
        Coordinates are (x - middle) @ directions, x standardised.
    places : (n, d) array
        Those of the training samples, with response `Y` (n, 1) and weights `share`.
    scale : float
        Bandwidth.
    """

    scaling: Scaling
    directions: Array
    middle: Array
    places: Array
    Y: Array
    share: Array
    scale: float

    @property
    def index(self) -> IntArray:
        return np.arange(len(self.directions))

    def planes(self, X: Array) -> Planes:
        """Local fits around standardised samples."""
        at = (X - self.middle) @ self.directions
        weight = near_weights(at, self.places, self.share, self.scale)
        return local_planes(at, self.places, self.Y, weight, SLOPE_RIDGE)

    def __call__(self, X: Array) -> Array:
        """(1, n) predictions at standardised samples."""
        return self.planes(X).levels.T

    def gradient(self, X: Source | Array) -> Array:
        """(1, n, p), in the user's units."""
        new = standardised(open_source(X), self.scaling).columns(self.index)
        slopes = self.planes(new).slopes[:, :, 0]
        return self.scaling.derivative(slopes @ self.directions.T)[None]


@dataclass(frozen=True)
class SmoothFit:
    """What MAVE found."""

    field: SmoothField
    importances: Array
    ranking: IntArray
    directions: Directions
    dimension: Dimension | None

    @property
    def scaling(self) -> Scaling:
        return self.field.scaling


@refuse_overflow
def fit_smooth(sample: Sample, standardize: bool, n_components: int | Literal["auto"]) -> SmoothFit:
    """MAVE from the directions of local slopes in whitened columns (OPG)."""
    p = sample.X.shape[1]
    with one_blas_thread():
        scaling, X, y, share = sample.distinct(standardize)
        Z, turn, _ = whiten(X, share)
        level = float(share @ y)
        unit = float(np.sqrt(share @ (y - level) ** 2)) or 1.0
        Y = ((y - level) / unit)[:, None]
        r = Z.shape[1]  # 0 where no column varies
        width = np.sqrt(max(1, r)) * normal_bandwidth(share, r)
        start = np.sqrt(share)[:, None] * local_gradients(
            Z, Y[:, 0], near_weights(Z, Z, share, width), intercept=True
        )
        leading = np.linalg.svd(start, full_matrices=False)[2].T
        dimension = None
        if n_components == "auto":
            dimension = choose_dimension(Z @ leading[:, :SPAN], Y, share)
        d = min(r, int(n_components) if dimension is None else dimension.chosen)
        found = fit_mave(Z, Y, share, leading[:, :d])
        places, beta = Z @ found.gamma, turn @ found.gamma
        scale = best_bandwidth(places, Y, share)[0] if d else np.inf
        field = SmoothField(scaling, beta, share @ X, places, level + unit * Y, share, scale)
        rows = unit * turn @ found.slopes(share)
        directions = find_directions(np.arange(p), rows, p, max(1, d))
    importances = row_norms(rows)
    ranking = rank_variables(importances, importances)
    return SmoothFit(field, importances, ranking, directions, dimension)


@dataclass(kw_only=True, eq=False, repr=False)
class MinimumAverageVariance(NumberPredictions, RegressorMixin, GradientEstimator):
    """MAVE (Xia, Tong, Li and Zhu, 2002): the directions along which a local linear fit is best.

    Directions and local fits are found in turn: neighbours are near in the directions themselves,
    so that many columns do no harm where OPG's neighbours are all far away. Every variable stays
    in. Where columns are more than half of the samples, their leading principal components take
    their place. Time and memory grow with the square of the
    number of samples.

    Parameters
    ----------
    n_components : int or 'auto', default='auto'
        Number of directions; 'auto' keeps as many as held-out prediction along them asks for.
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
    """

    n_components: int | Literal["auto"] = "auto"
    standardize: bool = True

    @same_bits
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the directions, and the response along them.

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
        fit = fit_smooth(sample, self.standardize, self.n_components)
        return keep(self, door, predictor_=fit.field, **counted_attributes(fit))
