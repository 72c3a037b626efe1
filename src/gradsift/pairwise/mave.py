"""MAVE, minimum average variance estimation (Xia, Tong, Li and Zhu, 2002).

    minimise over G (p, d), levels a_i, slopes b_i
        sum_ij share_i w_ij |y_j - a_i - b_i'G'(x_j - x_i)|^2

with weights w_ij from distances in the d coordinates G'x themselves. In turn: the weights and local
planes for G, then G for these planes, which is one least squares problem in its p d numbers. Where
an independent local fit (OPG) needs more neighbours than columns at every sample, this needs more
samples than numbers in G once.

Columns are whitened first: the coordinates then have unit variance whatever G, one bandwidth serves
all, and directions are found in the metric of the data.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gradsift._typing import Array
from gradsift.pairwise.local_linear import Planes, local_planes, near_weights, normal_bandwidth

ROUNDS = 10
"""Turns at most: most settle in three to six."""
SETTLED = 1e-5
"""Squared sine between the old and the new directions, per direction, at which they have."""
RIDGE = 1e-3
"""On G, in units of the mean curvature: without it, columns that hardly vary decide."""

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


def fit_mave(Z: Array, Y: Array, share: Array, start: Array, rounds: int = ROUNDS) -> Mave:
    """Directions in whitened columns Z (n, r) for responses Y (n, c), from `start` (r, d)."""
    gamma = np.linalg.qr(start)[0]
    for _ in range(rounds if gamma.size else 0):
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
