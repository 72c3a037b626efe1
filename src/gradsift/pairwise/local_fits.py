"""Dense gradient fields and directions by local linear fits: OPG and MAVE.

OPG (outer product of gradients) takes the slopes of an independent local linear fit around every
sample; its directions are the eigenvectors of their outer product. MAVE (minimum average variance
estimation) finds directions and local fits in turn. Both are from Xia, Tong, Li and Zhu, "An
adaptive estimation of dimension reduction space", JRSS B 64 (2002).

Shapes: standardised columns (n, p), slopes (n, p), directions (d, p); fields give (1, n, p), in the
user's units. The fits themselves are in `local_linear`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from gradsift._run.overflow import refuse_overflow
from gradsift._run.threads import one_blas_thread
from gradsift.data import Scaling, measure_scaling, open_source, standardised
from gradsift.numerics.directions import Directions, find_directions
from gradsift.numerics.distances import products, squared_distances
from gradsift.pairwise.dimension import SPAN, Dimension, choose_dimension, count_directions
from gradsift.pairwise.field import TaylorPredictor, taylor_average
from gradsift.pairwise.fit import PairSample, rank_variables
from gradsift.pairwise.local_linear import (
    SLOPE_RIDGE,
    Planes,
    best_bandwidth,
    fit_mave,
    local_gradients,
    local_planes,
    near_weights,
    normal_bandwidth,
    refine_gradients,
    whiten,
)
from gradsift.pairwise.weights import fixed_rule, normalise, pair_weights
from gradsift.protocols import Array, IntArray, Source
from gradsift.solver.problem import row_norms


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
class LocalFit:
    """A local linear fit at every sample, and what follows from it."""

    field: NearestField | SmoothField
    predictor: TaylorPredictor | SmoothField
    importances: Array
    ranking: IntArray
    directions: Directions
    dimension: Dimension | None

    @property
    def scaling(self) -> Scaling:
        return self.field.scaling


@refuse_overflow
def fit_opg(
    sample: PairSample,
    weights: Any,
    standardize: bool,
    intercept: bool,
    refined: bool,
    n_components: int | Literal["auto"],
) -> LocalFit:
    """OPG: slopes of a weighted linear fit around every sample, and their outer product."""
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
            slopes = (np.sqrt(share)[:, None] * F).T
            first = count_directions(
                scaled, y[None], share, np.arange(p), slopes, n_components
            ).directions
            F = refine_gradients(Z, y, share, F, max(1, len(first.components)))
        weighted = np.sqrt(share)[:, None] * F
        counted = count_directions(scaled, y[None], share, np.arange(p), weighted.T, n_components)
        predictor = taylor_average(Z, y[None], F[None], share)
    largest = np.abs(weighted).max(axis=0)
    # in units of the largest slope: squares of tiny ones vanish, and a column would seem out
    importances = largest * row_norms((weighted / np.where(largest > 0.0, largest, 1.0)).T)
    ranking = rank_variables(importances, importances)
    return LocalFit(NearestField(scaling, Z, F), predictor, importances, ranking, *counted)


@refuse_overflow
def fit_smooth(
    sample: PairSample, standardize: bool, n_components: int | Literal["auto"]
) -> LocalFit:
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
    return LocalFit(field, field, importances, ranking, directions, dimension)
