"""Relatives of the paper's method that keep every variable: GL, OPG, MAVE, SIR, SAVE and pHd.

GL      gradient learning: alpha sum_k ||f^k||_K^2 in place of the group lasso (Mukherjee and Zhou,
        JMLR 7, 2006)
OPG     slopes of a local linear fit around every sample; directions are the eigenvectors of their
        outer product
MAVE    directions and local linear fits in turn (both: Xia, Tong, Li and Zhu, "An adaptive
        estimation of dimension reduction space", JRSS B 64, 2002)

The others are eigenvectors of a symmetric matrix M over whitened columns z:

SIR     sum_h p_h m_h m_h'             slice means (Li, 1991)
SAVE    sum_h p_h (I - V_h)^2          slice covariances (Cook and Weisberg, 1991)
pHd     E[e z z'],  e = y - a - b'z    the mean Hessian, for normal columns (Li, 1992)

with slices h of the response, of weight p_h. They need no local fits, hence are fast; and blind to
some links: SIR to symmetric ones, pHd to straight ones.

Shapes: standardised columns (n, p), slopes (n, p), directions (d, p); fields give (1, n, p), in the
user's units. The local fits themselves are in `local_linear`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from gradsift._run.overflow import refuse_overflow
from gradsift._run.threads import one_blas_thread
from gradsift.data import Scaling, measure_scaling, open_source, standardised
from gradsift.numerics.directions import find_directions, orient
from gradsift.numerics.distances import products, squared_distances
from gradsift.numerics.sampling import orientation
from gradsift.pairwise.assemble import Assembly, Settings, assemble
from gradsift.pairwise.dimension import SPAN, Dimension, choose_dimension, count_directions
from gradsift.pairwise.field import taylor_average, taylor_predictor
from gradsift.pairwise.fit import (
    FittedField,
    PairSample,
    describe,
    rank_variables,
)
from gradsift.pairwise.local_linear import (
    RIDGE,
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
from gradsift.solver import Rows
from gradsift.solver.forward_backward import step_bound
from gradsift.solver.problem import row_norms
from gradsift.solver.ridge import expand, solve_ridge

# GL.


def fit_ridge(
    sample: PairSample, problem: Settings, alpha: float | None, n_components: int | Literal["auto"]
) -> tuple[FittedField, float]:
    """The field at a penalty, and the penalty; None is a default on the problem's own scale."""
    assembly = assemble(sample.X, sample.response, problem, sample.weight)
    source, datafit = assembly.problem.source, assembly.problem.datafit
    inner = products(source).inner
    alpha = default_ridge(assembly, inner) if alpha is None else alpha
    A, v = solve_ridge(datafit, inner, alpha)
    rows = Rows(np.arange(source.shape[1]), expand(source, A)).drop_zeros()
    labels = assembly.response.is_labels
    predictor = None if labels else taylor_predictor(assembly, rows, v)
    nothing_out = np.zeros(assembly.problem.n_features)
    return describe(assembly, rows, v, n_components, nothing_out, predictor), alpha


def default_ridge(assembly: Assembly, inner: Array) -> float:
    """A thousandth of the largest curvature of the data term: scale-free, mild."""
    datafit = assembly.problem.datafit
    values, vectors = np.linalg.eigh(inner)
    T = vectors * np.sqrt(np.maximum(values, 0.0))
    phi, v = datafit.restrict(T), datafit.start()
    zero = np.zeros((T.shape[1], datafit.n_tasks))
    G, g = phi.gradient(phi.image(zero, v), zero, v)
    return 5e-4 * step_bound(phi, G, np.zeros_like(g)) or 1.0


# OPG and MAVE.


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
        return local_planes(at, self.places, self.Y, weight, RIDGE)

    def __call__(self, X: Array) -> Array:
        """(1, n) predictions at standardised samples."""
        return self.planes(X).levels.T

    def gradient(self, X: Source | Array) -> Array:
        """(1, n, p), in the user's units."""
        new = standardised(open_source(X), self.scaling).columns(self.index)
        slopes = self.planes(new).slopes[:, :, 0]
        return self.scaling.derivative(slopes @ self.directions.T)[None]


@refuse_overflow
def fit_opg(
    sample: PairSample,
    weights: object,
    standardize: bool,
    intercept: bool,
    refined: bool,
    n_components: int | Literal["auto"],
) -> FittedField:
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
            first, _ = count_directions(scaled, y[None], share, np.arange(p), slopes, n_components)
            F = refine_gradients(Z, y, share, F, max(1, len(first.components)))
        weighted = np.sqrt(share)[:, None] * F
        counted = count_directions(scaled, y[None], share, np.arange(p), weighted.T, n_components)
        predictor = taylor_average(Z, y[None], F[None], share)
    largest = np.abs(weighted).max(axis=0)
    # in units of the largest slope: squares of tiny ones vanish, and a column would seem out
    importances = largest * row_norms((weighted / np.where(largest > 0.0, largest, 1.0)).T)
    ranking = rank_variables(importances, importances)
    return FittedField(NearestField(scaling, Z, F), predictor, importances, ranking, *counted)


@refuse_overflow
def fit_smooth(
    sample: PairSample, standardize: bool, n_components: int | Literal["auto"]
) -> FittedField:
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
    return FittedField(field, field, importances, ranking, directions, dimension)


# SIR, SAVE and pHd.

Inverse = Callable[[Array, Array, Array, int], Array]
"""From whitened columns (n, r), response (n,), shares and number of slices to M (r, r)."""


def cut_slices(y: Array, share: Array, n_slices: int) -> IntArray:
    """The slice of every sample: distinct values where they are few, else equal weights along y.

    Equal values are in one slice.
    """
    # of -y, which says the same, the slices are the same too
    values, where = np.unique(orientation(y, share) * y, return_inverse=True)
    if len(values) <= n_slices:
        return where.ravel()
    weight = np.bincount(where.ravel(), weights=share)
    middle = np.cumsum(weight) - 0.5 * weight
    # an edge is an edge, whatever the rounding of the weights
    along = np.round(middle / weight.sum() * n_slices, 9)
    slice_of = np.minimum(along.astype(np.intp), n_slices - 1)
    return np.unique(slice_of, return_inverse=True)[1].ravel()[where.ravel()]


def slice_means(Z: Array, y: Array, share: Array, n_slices: int) -> Array:
    """SIR's matrix: the covariance of the slice means."""
    slices = cut_slices(y, share, n_slices)
    weight = np.bincount(slices, weights=share)
    sums = np.zeros((len(weight), Z.shape[1]))
    np.add.at(sums, slices, share[:, None] * Z)
    return np.asarray(sums.T @ (sums / weight[:, None]))


def slice_covariances(Z: Array, y: Array, share: Array, n_slices: int) -> Array:
    """SAVE's matrix: how far the covariance within slices is from that of all samples."""
    slices = cut_slices(y, share, n_slices)
    identity = np.eye(Z.shape[1])
    total = np.zeros_like(identity)
    for h in range(slices.max(initial=-1) + 1):
        inside = slices == h
        weight = share[inside]
        centred = Z[inside] - weight @ Z[inside] / weight.sum()
        gap = identity - centred.T * weight @ centred / weight.sum()
        total += weight.sum() * gap @ gap
    return total


def mean_hessian(Z: Array, y: Array, share: Array, n_slices: int = 0) -> Array:
    """The matrix of pHd, from what a linear fit leaves (`n_slices` has no part in it)."""
    centred = y - share @ y
    residual = centred - Z @ (Z.T @ (share * centred))  # Z is whitened: its own least squares
    return np.asarray(Z.T * (share * residual) @ Z)


def leading_eigenvectors(M: Array) -> tuple[Array, Array]:
    """Eigenvalues by size, largest first, and their eigenvectors as columns."""
    values, vectors = np.linalg.eigh(0.5 * (M + M.T))
    order = np.argsort(-np.abs(values), kind="stable")
    return values[order], vectors[:, order]


def orthonormal(directions: Array) -> Array:
    """Rows that span, for every k, what the first k columns of `directions` (p, r) span."""
    return np.asarray(np.linalg.qr(directions)[0].T)


class InverseFit(NamedTuple):
    """Orthonormal directions (d, p) in standardised columns, and the eigenvalues of M."""

    components: Array
    eigenvalues: Array
    dimension: Dimension | None
    scaling: Scaling


@refuse_overflow
def fit_inverse(
    sample: PairSample,
    matrix: Inverse,
    n_slices: int,
    standardize: bool,
    n_components: int | Literal["auto"],
) -> InverseFit:
    """Directions by one of the matrices above, as many as asked for."""
    with one_blas_thread():
        scaling, X, y, share = sample.distinct(standardize)
        Z, turn, _ = whiten(X, share)
        values, gamma = leading_eigenvectors(matrix(Z, y, share, n_slices))
        rows = orient(orthonormal(turn @ gamma[:, :SPAN]))
        dimension = None
        if n_components == "auto":
            dimension = choose_dimension(X @ rows.T, y[:, None], share)
        count = n_components if dimension is None else dimension.chosen
    return InverseFit(rows[: int(count)], values, dimension, scaling)
