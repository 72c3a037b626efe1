"""Local linear fits: slopes in all columns (OPG), and smooth functions of a few coordinates.

Slopes are least squares without a ridge, hence no part of `numerics.ridge`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from gradsift.data.source import BLOCK_BYTES
from gradsift.numerics.distances import squared_distances
from gradsift.numerics.sampling import merge_rows
from gradsift.protocols import Array


def local_gradients(
    X: Array, y: Array, W: Array | sparse.csr_array[Any], *, intercept: bool = False
) -> Array:
    """Slopes of weighted linear fits around every sample, (n, p).

    At sample i: minimise over g (and a) sum_j w_ij (y_j - a - g . (x_j - x_i))^2, with a = y_i
    without `intercept`: that is sparse gradient learning with K = delta and alpha = 0. Where fewer
    neighbours than columns leave it underdetermined, the smallest slope is taken.
    """
    n, p = X.shape
    out = np.empty((n, p))
    for i in range(n):
        if sparse.issparse(W):
            seen = W.indices[W.indptr[i] : W.indptr[i + 1]]  # type: ignore[union-attr]
            w = W.data[W.indptr[i] : W.indptr[i + 1]]  # type: ignore[union-attr]
        else:
            w = W[i]
            seen = np.flatnonzero(w > 1e-14 * w.max())
            w = w[seen]
        root = np.sqrt(w)
        design = (X[seen] - X[i]) * root[:, None]
        if intercept:
            design = np.column_stack([design, root])
            slope = np.linalg.lstsq(design, root * y[seen], rcond=None)[0][:p]
        else:
            slope = np.linalg.lstsq(design, root * (y[seen] - y[i]), rcond=None)[0]
        # a column that does not vary here has no slope: exactly none, whatever the rounding
        out[i] = np.where(design[:, :p].any(axis=0), slope, 0.0)
    return out


ROUNDS = 10
"""Time: of refined OPG and of MAVE, at most: most settle in three to six."""
SETTLED = 1e-5
"""Time: squared sine between old and new directions, per direction, at which the rounds end."""
RIDGE = 1e-3
"""On slopes, in units of the variance of the coordinates, and on the directions of MAVE, in units
of the mean curvature: a few samples, or columns that hardly vary, have no say on them.
"""


def refine_gradients(X: Array, y: Array, share: Array, F: Array, d: int) -> Array:
    """Refined OPG :cite:`xia-2002`: slopes (n, p) fitted again, near in the leading d directions.

    Neighbours in all columns are far apart once there are many. Each round measures distances in
    the d directions of the slopes before, in units of their standard deviation, with the bandwidth
    n^(-1/(d + 4)).
    """
    root = np.sqrt(share)[:, None]
    # copies of a row are one row that counts more: they make nothing known in more detail
    width = normal_bandwidth(merge_rows(X, y[:, None], share).weights, d)
    last = np.linalg.svd(root * F, full_matrices=False)[2][:d]
    for _ in range(ROUNDS):
        T = X @ last.T
        T /= np.sqrt(share @ (T - share @ T) ** 2) + np.finfo(float).tiny
        F = local_gradients(X, y, near_weights(T, T, share, width), intercept=True)
        new = np.linalg.svd(root * F, full_matrices=False)[2][:d]
        turned = 1.0 - float(np.linalg.norm(new @ last.T) ** 2) / len(new)
        last = new
        if turned <= SETTLED:
            break
    return F


def normal_bandwidth(share: Array, d: int) -> float:
    """The normal reference rule n^(-1/(d + 4)) for d coordinates of unit variance.

    n is 1 / sum share^2, the effective number of rows, none of which may be a copy of another.
    """
    return float((share @ share) ** (1.0 / (d + 4)))


BANDWIDTHS = (np.inf, 2.0, 1.0, 0.5, 0.35, 0.25)
"""Of a smooth function, in standard deviations of its coordinates; infinite = a plane."""


class Planes(NamedTuple):
    """Local linear fits around k places: levels there (k, c) and slopes (k, d, c)."""

    levels: Array
    slopes: Array


def local_planes(at: Array, places: Array, Y: Array, weight: Array, ridge: float) -> Planes:
    """Weighted linear fits of Y (n, c) on coordinates `places` (n, d), one around each of `at`.

    Minimises sum_j w_j |Y_j - a - (places_j - at) b|^2 + ridge |b|^2 over a and b; the weights
    (k, n) of each fit sum to one. All by moments, so that no (k, n, d) array is needed.
    """
    (n, d), c = places.shape, Y.shape[1]
    middle, base = places.mean(axis=0), Y.mean(axis=0)
    P, Y = places - middle, Y - base
    pairs = (P[:, :, None] * P[:, None, :]).reshape(n, d * d)
    across = (P[:, :, None] * Y[:, None, :]).reshape(n, d * c)
    moments = weight @ np.hstack([P, Y, pairs, across])
    centre, level, second, mixed = np.split(moments, [d, d + c, d + c + d * d], axis=1)
    k = len(at)
    bend = second.reshape(k, d, d) - centre[:, :, None] * centre[:, None, :]
    lean = mixed.reshape(k, d, c) - centre[:, :, None] * level[:, None, :]
    ridge += np.finfo(float).tiny
    slopes = lean / (bend + ridge) if d == 1 else np.linalg.solve(bend + ridge * np.eye(d), lean)
    step = at - middle - centre
    return Planes(base + level + np.einsum("kd,kdc->kc", step, slopes), slopes)


def near_weights(at: Array, places: Array, share: Array, scale: float) -> Array:
    """Gaussian weights of samples around each of `at`, (k, n), rows that sum to one."""
    away = squared_distances(at, places)
    # relative to the nearest sample: far from all data the weights must not vanish together
    away -= away.min(axis=1, keepdims=True)
    weight = share * np.exp(away / (-2.0 * scale**2))
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))


def smooth(at: Array, places: Array, Y: Array, share: Array, scale: float) -> Array:
    """A local linear fit of Y (n, c) at each of `at`, (k, c); `scale` is its bandwidth."""
    weight = near_weights(at, places, share, scale)
    return local_planes(at, places, Y, weight, slope_ridge(places, share)).levels


def smooth_left_out(at: Array, places: Array, Y: Array, share: Array, scales: Array) -> Array:
    """The same with sample i left out of the fit at place i of `at`, (n, d): (scales, n, c)."""
    n, c = Y.shape
    away = squared_distances(at, places)
    np.fill_diagonal(away, np.inf)
    away -= away.min(axis=1, keepdims=True)
    np.fill_diagonal(away, 0.0)
    others, ridge = share * (1.0 - np.eye(n)), slope_ridge(places, share)
    out = np.empty((len(scales), n, c))
    together = max(1, BLOCK_BYTES // away.nbytes)
    for first in range(0, len(scales), together):
        part = scales[first : first + together]
        weight = (others * np.exp(away / (-2.0 * part[:, None, None] ** 2))).reshape(-1, n)
        weight /= weight.sum(axis=1, keepdims=True)
        again = np.tile(at, (len(part), 1))
        levels = local_planes(again, places, Y, weight, ridge).levels
        out[first : first + together] = levels.reshape(-1, n, c)
    return out


def slope_ridge(places: Array, share: Array) -> float:
    """Penalty on the slopes of a smooth function of these coordinates."""
    return RIDGE * spread_of(places, share) ** 2


def spread_of(places: Array, share: Array) -> float:
    """Root of the total variance of some coordinates."""
    share = share / share.sum()
    return float(np.sqrt(share @ ((places - share @ places) ** 2).sum(axis=1)))


class Smoothed(NamedTuple):
    """A bandwidth, its leave-one-out error (mean square), and the fits of samples left out."""

    scale: float
    error: float
    left_out: Array


def best_bandwidth(places: Array, Y: Array, share: Array) -> Smoothed:
    """The bandwidth with the smallest leave-one-out error."""
    scales = spread_of(places, share) * np.array(BANDWIDTHS)
    left_out = smooth_left_out(places, places, Y, share, scales)
    errors = ((Y - left_out) ** 2).sum(axis=2) @ share
    best = int(np.argmin(errors))
    return Smoothed(float(scales[best]), float(errors[best]), left_out[best])


EDGE = 0.05
"""Part of the samples beyond each end of `inside`."""


def inside(at: Array, places: Array) -> Array:
    """Coordinates moved to where most samples are: a local slope out there is one of a few."""
    ordered, out = np.sort(places, axis=0), int(EDGE * len(places))
    return np.minimum(np.maximum(at, ordered[out]), ordered[-1 - out])


# MAVE, minimum average variance estimation (Xia, Tong, Li and Zhu, 2002).
#
#     minimise over G (p, d), levels a_i, slopes b_i
#         sum_ij share_i w_ij |y_j - a_i - b_i'G'(x_j - x_i)|^2
#
# with weights w_ij from distances in the d coordinates G'x themselves. In turn: the weights and
# local planes for G, then G for these planes, which is one least squares problem in its p d
# numbers. Where an independent local fit (OPG) needs more neighbours than columns at every
# sample, this needs more samples than numbers in G once.
#
# Columns are whitened first: the coordinates then have unit variance whatever G, one bandwidth
# serves all, and directions are found in the metric of the data.


ROWS_PER_COLUMN = 2
"""Samples for each whitened column at least. With as many columns as samples any response is fitted
without an error, and no direction is better than another.
"""


class Whitened(NamedTuple):
    """Columns turned and scaled to unit covariance.

    Attributes
    ----------
    Z : (n, r) array
        (X - mean) @ turn.
    turn : (p, r) array
        From directions in the new columns to directions in the old: beta = turn @ gamma.
    back : (r, p) array
        And back: gamma = back @ beta, where beta matters at all.
    """

    Z: Array
    turn: Array
    back: Array


def whiten(X: Array, share: Array) -> Whitened:
    """Whiten columns X (n, p) under the weights `share`, which sum to one.

    Where columns are more than half of the samples, their leading principal components, half as
    many as samples, take their place.
    """
    centred = X - share @ X
    _, s, Q = np.linalg.svd(np.sqrt(share)[:, None] * centred, full_matrices=False)
    lead = s > 1e-6 * s.max(initial=0.0)
    most = max(1, len(X) // ROWS_PER_COLUMN)
    s, Q = s[lead][:most], Q[lead][:most]
    turn = Q.T / s
    return Whitened(centred @ turn, turn, s[:, None] * Q)


class Mave(NamedTuple):
    """Directions `gamma` (r, d), orthonormal in whitened columns, and the local planes on them."""

    gamma: Array
    planes: Planes

    def slopes(self, share: Array) -> Array:
        """Root of the outer product of the gradients, (r, d): its left singular vectors and values
        are the directions in order, and their sizes.
        """
        slopes = self.planes.slopes
        outer = np.einsum("n,nkc,nlc->kl", share, slopes, slopes)
        values, vectors = np.linalg.eigh(outer)
        return self.gamma @ (vectors * np.sqrt(np.maximum(values, 0.0)))


def fit_mave(Z: Array, Y: Array, share: Array, start: Array) -> Mave:
    """Directions in whitened columns Z (n, r) for responses Y (n, c), from `start` (r, d)."""
    gamma = np.linalg.qr(start)[0]
    for _ in range(ROUNDS if gamma.size else 0):
        weight, planes = planes_along(Z @ gamma, Y, share)
        new = np.linalg.qr(directions_for(Z, Y, share, weight, planes))[0]
        turned = 1.0 - float(np.linalg.norm(new.T @ gamma) ** 2) / gamma.shape[1]
        gamma = new
        if turned <= SETTLED:
            break
    return Mave(gamma, planes_along(Z @ gamma, Y, share)[1])


def planes_along(T: Array, Y: Array, share: Array) -> tuple[Array, Planes]:
    """Weights and local planes around every sample in coordinates T (n, d) of unit variance."""
    weight = near_weights(T, T, share, normal_bandwidth(share, T.shape[1]))
    return weight, local_planes(T, T, Y, weight, RIDGE)


def directions_for(Z: Array, Y: Array, share: Array, weight: Array, planes: Planes) -> Array:
    """The G (r, d) that suits the planes best: normal equations in its r d numbers.

    With A_ij = share_i w_ij and q_i = b_ik b_il, the block (k, l) of their matrix is
    sum_ij A_ij q_i (z_j - z_i)(z_j - z_i)', four products of n x r matrices.
    """
    r, (levels, slopes) = Z.shape[1], planes
    d = slopes.shape[1]
    A = share[:, None] * weight
    near_Z, near_Y = A @ Z, A @ Y
    matrix, right = np.empty((d, r, d, r)), np.empty((d, r))
    for k in range(d):
        b = slopes[:, k]
        out, level = (b * near_Y).sum(axis=1), (b * levels).sum(axis=1)
        right[k] = Z.T @ (((A.T @ b) * Y).sum(axis=1) - A.T @ level - out + share * level)
        for m in range(k + 1):
            q = (b * slopes[:, m]).sum(axis=1)
            across = Z.T @ (q[:, None] * near_Z)
            block = Z.T @ ((A.T @ q + share * q)[:, None] * Z) - across - across.T
            matrix[k, :, m, :] = matrix[m, :, k, :] = block
    flat = matrix.reshape(d * r, d * r)
    ridge = RIDGE * float(np.trace(flat)) / (d * r) + np.finfo(float).tiny
    found = np.linalg.solve(flat + ridge * np.eye(d * r), right.ravel())
    return np.asarray(found.reshape(d, r).T)
