"""Directions from the columns given the response: SIR, SAVE and pHd.

Each is a symmetric matrix M over whitened columns z whose eigenvectors are the directions:

    SIR   sum_h p_h m_h m_h'             slice means (Li, 1991)
    SAVE  sum_h p_h (I - V_h)^2          slice covariances (Cook and Weisberg, 1991)
    pHd   E[e z z'],  e = y - a - b'z    the mean Hessian, for normal columns (Li, 1992)

with slices h of the response, of weight p_h. No local fits, hence fast; and blind to some links:
SIR to symmetric ones, pHd to straight ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np

from gradsift._run.overflow import refuse_overflow
from gradsift._run.threads import one_blas_thread
from gradsift.data import Scaling
from gradsift.numerics.directions import orient
from gradsift.numerics.sampling import orientation
from gradsift.pairwise.dimension import SPAN, Dimension, choose_dimension
from gradsift.pairwise.fit import PairSample
from gradsift.pairwise.local_linear import whiten
from gradsift.protocols import Array, IntArray

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
