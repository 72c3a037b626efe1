"""Ridge-penalised logistic regression in features, for two classes and for more.

Two classes, t in {0, 1}, margin u = b + beta'phi:

    minimise  sum_i w_i [log(1 + exp(u_i)) - t_i u_i] + lambda/2 ||beta||^2.

Several classes, one score per class, u_c = b_c + beta_c'phi:

    minimise  sum_i w_i [log sum_c exp(u_ic) - u_i,t(i)] + lambda/2 sum_c ||beta_c||^2.

With `reference`, the log odds against the first class are penalised in place of the scores; score
tests (Rao 1948) ask for that. All by Newton's method with step halving. The intercepts are free up
to a ridge of 1e-6, which keeps them finite when a class never occurs. Here Phi (n, r + 1) carries a
last column of ones for them.
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
EXACT, MAX_EXACT = 1e-6, 500
"""Rounding: the same two for score tests, whose statistics follow the coefficients to first order.
"""
MAX_HALVINGS = 30
"""Rounding: halvings of a step, after which it is nothing."""
MOST_FACTORED = 500
"""Time: coefficients per class up to which a factor of the curvature is worth its cost."""
MIN_CURVATURE = 1e-6
"""Rounding: floor of p (1 - p), which keeps the Newton matrix regular where the classes are
separated.
"""


TWO, MORE = Logistic(), Multinomial()


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


def _approximate_inverse(Phi: Array, curvature: Array, ridge: Array) -> Callable[[Array], Array]:
    """The map R -> H^-1 R of H = Phi' diag(curvature) Phi + diag(ridge), or of its diagonal."""
    if Phi.shape[1] > MOST_FACTORED:
        diagonal = curvature @ (Phi * Phi) + ridge
        return lambda R: R / diagonal[:, None]
    factor = _curvature_factor(Phi, curvature, ridge)
    return lambda R: np.asarray(dpotrs(factor, R, lower=1)[0])


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
    reference: bool = False,
    tol: float = 1e-7,
) -> Array:
    """Several classes; T (n, C) one-hot; returns beta (r + 1, C) with scores that sum to zero;
    `offset` (n, C) is a known part of the scores. With `reference`, the first class has the score
    zero in place of that: the others are log odds against it, and so penalised. A step that
    promises less than `tol` for each sample is not made.

    Newton steps by conjugate gradients, preconditioned by the mean curvature, which all classes
    share: by its Cholesky factor, so that a step costs about as much as for two classes, or by its
    diagonal, where that factor would cost more than it saves.
    """
    ridge = _ridge(Phi.shape[1], penalty)[:, None]

    def objective(beta: Array, U: Array) -> float:
        return float(weights @ MORE.value(U.T, T.T) + 0.5 * (ridge * beta * beta).sum())

    beta = start if reference else start - start.mean(1, keepdims=True)
    U = Phi @ beta if offset is None else Phi @ beta + offset
    value = objective(beta, U)
    for _ in range(MAX_NEWTON):
        slope = Phi.T @ (weights * MORE.slope(U.T, T.T)).T + ridge * beta
        if reference:
            slope[:, 0] = 0.0
        information = Information.at(Phi, softmax(U.T), weights, ridge, reference)
        forcing, most = (EXACT, MAX_EXACT) if reference else (FORCING, MAX_CG)
        step = information.solve(slope, forcing, most)
        decrease = float((slope * step).sum())
        if decrease < tol * weights.sum():
            break
        now = beta
        beta, U, value = _descend(objective, (beta, U, value), (step, Phi @ step), decrease)
        if beta is now:  # no part of the step lowers the objective: rounding
            break
    return beta if reference else np.asarray(beta - beta.mean(1, keepdims=True))


@dataclass(frozen=True)
class Information:
    """The curvature of the penalised loss at scores with probabilities P (C, n)."""

    Phi: Array
    P: Array
    weights: Array
    ridge: Array
    reference: bool
    inverse: Callable[[Array], Array]
    """Approximately, from the curvature times coefficients back to these."""

    @classmethod
    def at(cls, Phi: Array, P: Array, weights: Array, ridge: Array, reference: bool) -> Information:
        C = len(P)
        mean_curvature = np.maximum((P * (1.0 - P)).mean(0) * C / (C - 1.0), MIN_CURVATURE)
        inverse = _approximate_inverse(Phi, weights * mean_curvature, ridge[:, 0])
        return cls(Phi, P, weights, ridge, reference, inverse)

    def product(self, V: Array) -> Array:
        """The curvature times coefficients V (r + 1, C)."""
        D, P = (self.Phi @ V).T, self.P
        bent = self.weights * (P * (D - (P * D).sum(axis=0)))
        out = self.Phi.T @ bent.T + self.ridge * V
        if self.reference:
            out[:, 0] = 0.0
        return np.asarray(out)

    def solve(self, R: Array, forcing: float, most: int) -> Array:
        return conjugate_gradients(self.product, R, self.inverse, forcing, most)[0]


def score_statistic(
    Phi: Array, T: Array, weights: Array, penalty: float, beta: Array, z: Array, offset: Array
) -> float:
    """Rao's score statistic of a further feature z (n,) in the log odds against the first class,
    chi-square(C - 1) if these do not need it; `beta` as from `fit_multinomial` with `reference`.
    """
    P = softmax((Phi @ beta + offset).T)
    C = len(P)
    ridge = _ridge(Phi.shape[1], penalty)[:, None]
    information = Information.at(Phi, P, weights, ridge, True)
    s = (T.T - P)[1:] @ (weights * z)
    V = np.empty((C - 1, C - 1))
    for c in range(1, C):
        # how the scores of all classes bend along z in the log odds of class c
        bend = weights * z * P * ((np.arange(C) == c)[:, None] - P[c])
        cross = Phi.T @ bend.T
        cross[:, 0] = 0.0
        through = (Phi @ information.solve(cross, EXACT, MAX_EXACT)).T
        explained = (P * through - P * (P * through).sum(axis=0)) @ (weights * z)
        V[c - 1] = (bend @ z - explained)[1:]
    return float(s @ np.linalg.solve(V + 1e-12 * np.eye(C - 1), s))
