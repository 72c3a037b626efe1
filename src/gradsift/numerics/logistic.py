"""Ridge-penalised logistic regression in features, for two classes and for more.

Two classes, t in {0, 1}, margin u = b + beta'phi:

    minimise  sum_i w_i [log(1 + exp(u_i)) - t_i u_i] + lambda/2 ||beta||^2.

Several classes, one score per class, u_c = b_c + beta_c'phi:

    minimise  sum_i w_i [log sum_c exp(u_ic) - u_i,t(i)] + lambda/2 sum_c ||beta_c||^2.

Coefficients that are not `free` stay at zero: without those of the first class, the log odds
against it are penalised in place of the scores; score tests (Rao 1948) ask for that. All by
Newton's method with step halving. The intercepts are free up to a ridge of 1e-6, which keeps them
finite when a class never occurs. Here Phi (n, r + 1) carries a last column of ones for them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs, dtrtrs

from gradsift.numerics.losses import Logistic, Multinomial, softmax
from gradsift.numerics.newton import conjugate_gradients
from gradsift.protocols import Array

INTERCEPT_RIDGE = 1e-6
"""Rounding: ridge of the intercepts, so small that it only keeps them finite when a class never
occurs.
"""
MAX_NEWTON = 50
"""Time: Newton steps at most; a dozen are enough."""
MAX_CG = 30
"""Time: products with the curvature in a Newton step at most."""
FORCING = 0.01
"""Time: a Newton step is solved to this part of its right-hand side; the steps converge all the
same.
"""
EXACT, MAX_EXACT = 1e-5, 500
"""Rounding: the same two for the variances of score tests, which follow the square of the first."""
MAX_HALVINGS = 30
"""Rounding: halvings of a step, after which it is nothing."""
MOST_FACTORED = 500
"""Time: coefficients per class up to which a factor of the curvature is worth its cost."""
MOST_INVERTED = 3_000
"""Memory: coefficients of all classes up to which their information is inverted (72 MB)."""
MIN_CURVATURE = 1e-6
"""Rounding: floor of p (1 - p), which keeps the Newton matrix regular where the classes are
separated.
"""


SETTLED = 1e-12
"""Rounding: Newton steps of models for score tests that promise less, for each sample, are not
made.
"""

TWO, MORE = Logistic(), Multinomial()

Map = Callable[[Array], Array]
"""From products with a curvature (..., r + 1, C) to coefficients."""


@dataclass(frozen=True, eq=False)
class LogisticFit:
    """beta (r + 1, 1), last row the intercept, and what the leave-one-out loss needs."""

    beta: Array
    Phi: Array
    signs: Array
    weights: Array
    margins: Array
    factor: Array

    @cached_property
    def loo_loss(self) -> float:
        """Weighted mean log loss of each row under the fit without it, one Newton step away.

        Leaving out one copy of row i moves its margin by h (p - t) / (1 - p (1 - p) h), where
        h = phi_i' H^-1 phi_i and H is the curvature of the whole objective.
        """
        Phi, u, signs, weights = self.Phi, self.margins, self.signs, self.weights
        copies = np.minimum(weights, 1.0)
        whitened = dtrtrs(self.factor, Phi.T, lower=1)[0]
        leverage = copies * np.einsum("ri,ri->i", whitened, whitened)
        kept = np.maximum(1.0 - TWO.mean_bend(u[None], signs) * leverage, 1e-3)
        left = u + leverage * TWO.slope(u[None], signs)[0] / kept
        return float(weights @ TWO.value(left[None], signs) / weights.sum())


def with_ones(Phi: Array) -> Array:
    """Phi with the column of the intercept."""
    return np.column_stack([Phi, np.ones(len(Phi))])


def _ridge(r: int, penalty: float) -> Array:
    return np.append(np.full(r - 1, penalty), INTERCEPT_RIDGE)


def _curvature_factor(Phi: Array, curvature: Array, ridge: Array) -> Array:
    """Cholesky factor of Phi' diag(curvature) Phi + diag(ridge)."""
    scaled = Phi * np.sqrt(curvature)[:, None]
    H = np.asfortranarray(scaled.T @ scaled)  # of one array with itself: half of the work
    H.flat[:: len(ridge) + 1] += ridge
    factor, failed = dpotrf(H, lower=1, overwrite_a=1)
    if failed:
        raise np.linalg.LinAlgError("the curvature of the logistic loss is not positive definite")
    return np.asarray(factor)


def _approximate_inverse(Phi: Array, curvature: Array, ridge: Array) -> Map:
    """The map R -> H^-1 R of H = Phi' diag(curvature) Phi + diag(ridge), or of its diagonal."""
    if Phi.shape[1] > MOST_FACTORED:
        diagonal = curvature @ (Phi * Phi) + ridge
        return lambda R: R / diagonal[:, None]
    factor = _curvature_factor(Phi, curvature, ridge)

    def solved(R: Array) -> Array:
        columns = np.moveaxis(R, -2, 0)
        X = dpotrs(factor, columns.reshape(len(factor), -1), lower=1)[0]
        return np.moveaxis(X.reshape(columns.shape), 0, -2)

    return solved


def _descend(
    objective: Callable[[Array, Array], float],
    current: tuple[Array, Array, float],
    direction: tuple[Array, Array],
    decrease: float,
) -> tuple[Array, Array, float]:
    """Newton step, halved until the objective falls; (coefficients, margins, value) in and out."""
    (beta, u, value), (step, move) = current, direction
    for halvings in range(MAX_HALVINGS):
        size = 0.5**halvings
        trial = beta - size * step, u - size * move
        trial_value = objective(*trial)
        if trial_value <= value - 1e-4 * size * decrease:
            return *trial, trial_value
    return current


def fit_binary(
    Phi: Array,
    t: Array,
    weights: Array,
    penalty: float,
    start: Array,
    offset: Array | None = None,
) -> LogisticFit:
    """Two classes by Newton's method from `start` (r + 1,); `offset` (n,) is a known part of the
    margins.
    """
    ridge = _ridge(Phi.shape[1], penalty)
    tol = 1e-7 * weights.sum()
    signs = 2.0 * t[None] - 1.0

    def objective(beta: Array, u: Array) -> float:
        return float(weights @ TWO.value(u[None], signs) + 0.5 * ridge @ (beta * beta))

    beta: Array = start
    u: Array = Phi @ start if offset is None else Phi @ start + offset
    value = objective(beta, u)
    for _ in range(MAX_NEWTON):
        bend = np.maximum(TWO.mean_bend(u[None], signs), MIN_CURVATURE)
        factor = _curvature_factor(Phi, weights * bend, ridge)
        slope = Phi.T @ (weights * TWO.slope(u[None], signs)[0]) + ridge * beta
        step = dpotrs(factor, slope, lower=1)[0]
        decrease = float(slope @ step)
        if decrease < tol:
            break
        beta, u, value = _descend(objective, (beta, u, value), (step, Phi @ step), decrease)
    return LogisticFit(beta[:, None], Phi, signs, weights, u, factor)


def fit_multinomial(
    Phi: Array,
    T: Array,
    weights: Array,
    penalty: float,
    start: Array,
    offset: Array | None = None,
    *,
    free: Array | None = None,
    inverse: Map | None = None,
    tol: float = 1e-7,
) -> Array:
    """Several classes; T (n, C) one-hot; returns beta (r + 1, C) with scores that sum to zero;
    `offset` (n, C) is a known part of the scores. Where `free` (r + 1, C) is 0 and not 1,
    coefficients stay at zero, and scores do not sum to zero. A step that promises less than `tol`
    for each sample is not made.

    Newton steps by conjugate gradients, preconditioned by the mean curvature, which all classes
    share: by its Cholesky factor, so that a step costs about as much as for two classes, or by its
    diagonal, where that factor would cost more than it saves; or by `inverse`, if it is given.
    """
    ridge = _ridge(Phi.shape[1], penalty)[:, None]

    def objective(beta: Array, U: Array) -> float:
        return float(weights @ MORE.value(U.T, T.T) + 0.5 * (ridge * beta * beta).sum())

    beta = start - start.mean(1, keepdims=True) if free is None else start * free
    U = Phi @ beta if offset is None else Phi @ beta + offset
    value = objective(beta, U)
    for _ in range(MAX_NEWTON):
        slope = Phi.T @ (weights * MORE.slope(U.T, T.T)).T + ridge * beta
        if free is not None:
            slope *= free
        information = Information.at(Phi, softmax(U.T), weights, ridge, free, inverse)
        step = information.solve(slope, FORCING, MAX_CG)
        decrease = float((slope * step).sum())
        if decrease < tol * weights.sum():
            break
        now = beta
        beta, U, value = _descend(objective, (beta, U, value), (step, Phi @ step), decrease)
        if beta is now:  # no part of the step lowers the objective: rounding
            break
    return np.asarray(beta - beta.mean(1, keepdims=True)) if free is None else beta


@dataclass(frozen=True)
class Information:
    """The curvature of the penalised loss at scores with probabilities P (C, n), in the
    coefficients that are `free`.
    """

    Phi: Array
    P: Array
    weights: Array
    ridge: Array
    free: Array | None
    inverse: Map
    """Approximately, from the curvature times coefficients back to these."""

    @classmethod
    def at(
        cls,
        Phi: Array,
        P: Array,
        weights: Array,
        ridge: Array,
        free: Array | None,
        inverse: Map | None = None,
    ) -> Information:
        if inverse is None:
            C = len(P)
            curvature = np.maximum((P * (1.0 - P)).mean(0) * C / (C - 1.0), MIN_CURVATURE)
            shared = _approximate_inverse(Phi, weights * curvature, ridge[:, 0])
            inverse = shared if free is None else lambda R: free * shared(R)
        return cls(Phi, P, weights, ridge, free, inverse)

    def unpenalised(self, V: Array) -> Array:
        """The curvature of the loss times coefficients V (..., r + 1, C), all of them."""
        D, P = np.swapaxes(self.Phi @ V, -1, -2), self.P
        bent = self.weights * (P * (D - (P * D).sum(axis=-2, keepdims=True)))
        return np.asarray(self.Phi.T @ np.swapaxes(bent, -1, -2))

    def product(self, V: Array) -> Array:
        """The curvature times free coefficients V (..., r + 1, C)."""
        out = self.unpenalised(V) + self.ridge * V
        return out if self.free is None else np.asarray(out * self.free)

    def solve(self, R: Array, forcing: float, most: int) -> Array:
        return conjugate_gradients(self.product, R, self.inverse, forcing, most)[0]


@dataclass(frozen=True)
class ReducedModels:
    """Logistic models without one feature each, in log odds against the first class. They start
    from the whole model, whose inverse information is close to that of a reduced one.
    """

    Phi: Array
    T: Array
    weights: Array
    penalty: float
    offset: Array
    whole: Array
    """(r + 1, C) coefficients of the whole model."""
    inverse: Array | None
    """Of its information, (C - 1) (r + 1) numbers square, class by class; None where it would be
    too large.
    """

    @classmethod
    def of(
        cls, Phi: Array, T: Array, weights: Array, penalty: float, offset: Array
    ) -> ReducedModels:
        start = np.zeros((Phi.shape[1], T.shape[1]))
        free = _log_odds(start)
        whole = fit_multinomial(Phi, T, weights, penalty, start, offset, free=free, tol=SETTLED)
        inverse = None
        if free.sum() <= MOST_INVERTED:
            P = softmax((Phi @ whole + offset).T)
            inverse = _inverse_information(Phi, P, weights, _ridge(len(free), penalty))
        return cls(Phi, T, weights, penalty, offset, whole, inverse)

    def score_statistic(self, place: int) -> float:
        """Rao's score statistic of feature number `place` given all others, chi-square(C - 1) if
        the log odds do not need it.
        """
        Phi, T, weights, known = self.Phi, self.T, self.weights, self.offset
        ridge, C = _ridge(Phi.shape[1], self.penalty), T.shape[1]
        free = _log_odds(self.whole)
        free[place] = 0.0
        start, inverse = self.whole, None
        if self.inverse is not None:
            inverse = _without(self.inverse, free, place)
        beta = fit_multinomial(
            Phi, T, weights, self.penalty, start, known, free=free, inverse=inverse, tol=SETTLED
        )
        P = softmax((Phi @ beta + known).T)
        information = Information.at(Phi, P, weights, ridge[:, None], free, inverse)
        one = np.zeros((C - 1, *free.shape))
        one[np.arange(C - 1), place, np.arange(1, C)] = 1.0
        bent = information.unpenalised(one)
        cross = bent * free
        through = information.solve(cross, EXACT, MAX_EXACT)
        V = bent[:, place, 1:] - np.einsum("crk,drk->cd", cross, through)
        s = (T.T - P)[1:] @ (weights * Phi[:, place])
        return float(s @ np.linalg.solve(V + 1e-12 * np.eye(C - 1), s))


def _log_odds(beta: Array) -> Array:
    """Which coefficients (r + 1, C) are free: not those of the first class."""
    free = np.ones_like(beta)
    free[:, 0] = 0.0
    return free


def _inverse_information(Phi: Array, P: Array, weights: Array, ridge: Array) -> Array:
    """Inverse of the information of log odds against the first class, class by class."""
    C, m = len(P), Phi.shape[1]
    parts = np.zeros((C - 1, m, C - 1, m))
    for c in range(1, C):
        for d in range(1, c + 1):
            parts[c - 1, :, d - 1] = (Phi.T * (weights * P[c] * ((c == d) - P[d]))) @ Phi
            parts[d - 1, :, c - 1] = parts[c - 1, :, d - 1].T
    H = parts.reshape((C - 1) * m, -1)
    H.flat[:: len(H) + 1] += np.tile(ridge, C - 1)
    return np.linalg.inv(H)


def _without(G: Array, free: Array, place: int) -> Map:
    """The map R -> X by an inverse G, where the coefficients of a feature stay at zero."""
    at = np.arange(place, len(G), len(free))
    columns = G[:, at]
    own = np.linalg.inv(columns[at])

    def solved(R: Array) -> Array:
        r = np.swapaxes(R[..., 1:], -1, -2).reshape(-1, len(G))
        x = r @ G - (r @ columns) @ own @ columns.T
        out = np.zeros_like(R)
        out[..., 1:] = np.swapaxes(x.reshape(*R.shape[:-2], -1, len(free)), -1, -2)
        return out * free

    return solved
