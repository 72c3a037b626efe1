"""Tests of what one column adds to an explanation: linear, quadratic, local, and in products.

An explanation is a design D of n rows; what it leaves of a response is `Left`. A feature is made
orthogonal to D and to the features tested before it, and its squared length along the residual is
an F statistic. Far in its tail the F test is too liberal for features or residuals that are
concentrated on a few rows. There, the saddlepoint approximation of `gradsift.sift.exchangeable`
gives the p-value.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import betaincc, expit

from gradsift._typing import Array, IntArray
from gradsift.numerics.logistic import fit_binary, with_ones
from gradsift.sift.exchangeable import worth_of
from gradsift.sift.levels import chi2_log_sf
from gradsift.sift.settings import SiftSettings
from gradsift.trust.background import Relationship, WhiteRows, white_rows

LEAST_FEATURE = 0.03
"""A feature of which less than this part is left beside the design is not tested."""
LEAST_LEFT = 1e-4
"""Part of the variance that a residual of numbers counts at least: a perfect fit is no evidence
against anything else. Labels have a variance of their own, which is never taken to be less.
"""
SUSPECT = np.log(0.005)
"""F tests below this are checked for rows that are merely exchangeable."""
LEAST_P = 1e-300
"""p-values of F tests are no smaller."""
LABEL_RIDGE = 1.0
"""Penalty of the squared log odds per standard deviation of a term: keeps them finite where the
classes are separated, as a normal prior of unit variance does.
"""
LEAST_CHANCE = 1e-4
"""Chances of a label are no closer to 0 and 1."""
MOST_PARTNERS = 20
"""Partners whose products are tested exactly, the most promising of each piece."""
PIECE = 512
"""Partners at a time."""


@dataclass(frozen=True)
class Left:
    """What an explanation leaves of one response.

    Attributes
    ----------
    D : (n, df) array
        Orthonormal design of the explanation, its rows scaled.
    r : (n,) array
        Residual, orthogonal to D, rows scaled.
    scale : (n,) array
        What rows of features are multiplied by to match: roots of weights, times the standard
        deviation of a label.
    weight : (n,) array
        Weights of the rows.
    least : float
        Sum of squares that the residual counts at least.
    searched : float
        Degrees of freedom that the search for the explanation took.
    white : WhiteRows or None
        The random background, where it has a share.
    """

    D: Array
    r: Array
    scale: Array
    weight: Array
    least: float
    searched: float
    white: WhiteRows | None

    def beyond(self, A: Array) -> Array:
        """Features A (n, m), unscaled, beside the design, scaled."""
        A = A * self.scale[:, None]
        return np.asarray(A - self.D @ (self.D.T @ A))

    def rotated(self, A: Array) -> Array:
        """Rows in which the residual is white."""
        return A if self.white is None else self.white.rotated(A)

    @property
    def df(self) -> float:
        """Degrees of freedom of the residual."""
        return float(self.weight.sum()) - self.D.shape[1] - self.searched


def orthonormal(A: Array) -> Array:
    """Basis of the columns of A."""
    if A.shape[1] == 0:
        return A
    U, s, _ = np.linalg.svd(A, full_matrices=False)
    return np.asarray(U[:, s > 1e-6 * max(float(s[0]), 1e-300)])


def left_of_numbers(
    Y: Array, terms: Array, weight: Array, searched: float, K: Relationship | None
) -> Left:
    """What a linear fit on terms (n, df) leaves of numbers Y (n,), rows unscaled."""
    scale = np.sqrt(weight)
    D = orthonormal(with_ones(terms) * scale[:, None])
    y = Y * scale
    r = y - D @ (D.T @ y)
    centred = y - scale * (weight @ Y / weight.sum())
    least = LEAST_LEFT * float(centred @ centred)
    white = white_rows(r, D, K, float(weight.sum()) - len(weight))
    return Left(D, r, scale, weight, least, searched, white)


def left_of_labels(
    labels: Array, terms: Array, weight: Array, searched: float, K: Relationship | None
) -> Left:
    """What a logistic fit on terms (n, df) leaves of labels (n,) in {0, 1}: the score residuals,
    each in units of its own standard deviation.
    """
    chance = logistic_chances(labels, terms, weight)
    sd = np.sqrt(chance * (1.0 - chance))
    scale = np.sqrt(weight) * sd
    D = orthonormal(with_ones(terms) * scale[:, None])
    r = np.sqrt(weight) * (labels - chance) / sd
    r = r - D @ (D.T @ r)
    K = None if K is None else K.scaled(sd)
    least = float(weight.sum()) - D.shape[1]
    white = white_rows(r, D, K, float(weight.sum()) - len(weight))
    return Left(D, r, scale, weight, least, searched, white)


def logistic_chances(labels: Array, terms: Array, weight: Array) -> Array:
    """Chances of label 1 by logistic regression on terms (n, df), bounded away from 0 and 1."""
    Phi = with_ones(terms)
    fit = fit_binary(Phi, labels, weight, LABEL_RIDGE, np.zeros(Phi.shape[1]))
    return np.clip(expit((Phi @ fit.beta)[:, 0]), LEAST_CHANCE, 1.0 - LEAST_CHANCE)


def own_tests(left: Left, Z: Array, settings: SiftSettings) -> list[float]:
    """log p of the linear, quadratic and local features Z (2 + J, n) of a column, unscaled; each
    beside those before it.
    """
    R = left.rotated(left.r)
    A = left.beyond(Z.T)
    white = left.rotated(A)
    done = np.zeros((len(R), 0))
    out = []
    for part in settings.parts:
        F = white[:, part] - done @ (done.T @ white[:, part])
        use = np.linalg.norm(A[:, part], axis=0) > LEAST_FEATURE * np.linalg.norm(left.scale)
        B = orthonormal(F[:, use])
        out.append(far_tail(left, A[:, part][:, use], B, R))
        done = np.column_stack([done, B])
    return out


def far_tail(left: Left, A: Array, B: Array, R: Array) -> float:
    """log p of an orthonormal basis B along white residuals R; A is what it is made of."""
    m = B.shape[1]
    df = left.df - m
    if m < 1 or df < 2:
        return 0.0
    along = float(np.square(B.T @ R).sum())
    size = float(left.r @ left.r)
    total = float(R @ R) * max(1.0, left.least / max(size, 1e-300))
    share = min(along / total, 1.0 - 1e-15)
    log_p = float(np.log(np.maximum(betaincc(m / 2, df / 2, share), LEAST_P)))
    if log_p > SUSPECT:
        return log_p
    gain = -(df + m) * float(np.log1p(-share))
    basis = orthonormal(A)
    a = basis @ (basis.T @ left.r) / left.scale
    r = left.r / left.scale
    mass = left.scale**2
    worth = worth_of(a[:, None], r[:, None], mass * (left.weight.sum() / mass.sum()), gain)
    return max(log_p, float(chi2_log_sf(np.array(gain * worth), m)))


def product_tests(left: Left, x: Array, X: Array) -> Array:
    """Squared z of the products of a column x (n,) with others X (n, k), beyond x_l and x_l^2 and
    beside the design: normalised by themselves, (k,).

    Partners whose first, rough z is not among the best get that one.
    """
    out = np.empty(X.shape[1])
    for start in range(0, X.shape[1], PIECE):
        piece = slice(start, start + PIECE)
        H = partner_products(x, X[:, piece], left.weight) * left.scale[:, None]
        z2 = self_normalised(H, left)
        best = np.argsort(-z2, kind="stable")[:MOST_PARTNERS]
        exact = H[:, best] - left.D @ (left.D.T @ H[:, best])
        z2[best] = self_normalised(exact, left)
        out[piece] = z2
    return out


def partner_products(x: Array, X: Array, weight: Array) -> Array:
    """x times each column of X, made orthogonal to that column and to its square, (n, k)."""
    X = X.astype(np.float64)
    H = X * x[:, None]
    total = weight.sum()
    square = X * X
    square -= weight @ square / total
    square -= X * ((weight @ (square * X)) / total)
    for Z in (X, square):
        size = np.maximum(weight @ (Z * Z), 1e-300)
        H -= Z * ((weight @ (Z * H)) / size)
    return np.asarray(H - weight @ H / total)


def self_normalised(H: Array, left: Left) -> Array:
    """(H'r)^2 over the sum of squares of its terms, of each column of H, rows scaled."""
    top = H.T @ left.r
    below = np.square(H).T @ (np.square(left.r) / left.weight)
    return np.asarray(top * top / np.maximum(below, 1e-12))


def best_product(z2: Array, columns: IntArray, known: list[int], p: int) -> float:
    """log p of the largest z^2: times p partners, or times those that are known."""
    if len(z2) == 0:
        return 0.0
    every = float(chi2_log_sf(z2.max(), 1)) + np.log(p)
    beside = np.isin(columns, known)
    some = 0.0
    if beside.any():
        some = float(chi2_log_sf(z2[beside].max(), 1)) + np.log(beside.sum())
    return float(min(every, some, 0.0))
