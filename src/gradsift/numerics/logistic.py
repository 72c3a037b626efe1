"""Ridge-penalised logistic regression in features, for two classes and for more.

Two classes, t in {0, 1}, margin u = b + beta'phi:

    minimise  sum_i w_i [log(1 + exp(u_i)) - t_i u_i] + lambda/2 ||beta||^2.

Several classes, one score per class, u_c = b_c + beta_c'phi:

    minimise  sum_i w_i [log sum_c exp(u_ic) - u_i,t(i)] + lambda/2 sum_c ||beta_c||^2.

Both by Newton's method with step halving. The intercepts are free up to a ridge of 1e-6, which
keeps them finite when a class never occurs. Here Phi carries a last column of ones for them.
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
MAX_NEWTON = 50
MAX_CG = 30
FORCING = 0.01  # a Newton step is solved to this part of its right-hand side
MAX_HALVINGS = 30
MOST_FACTORED = 500
"""Coefficients per class up to which a factor of the curvature is worth its cost."""
MIN_CURVATURE = 1e-6
"""Floor of p (1 - p): keeps the Newton matrix regular where the classes are separated."""


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
) -> Array:
    """Several classes; T (n, C) one-hot; returns beta (r + 1, C) with scores that sum to zero;
    `offset` (n, C) is a known part of the scores.

    Newton steps by conjugate gradients, preconditioned by the mean curvature, which all classes
    share: by its Cholesky factor, so that a step costs about as much as for two classes, or by its
    diagonal, where that factor would cost more than it saves.
    """
    C = T.shape[1]
    ridge = _ridge(Phi.shape[1], penalty)[:, None]
    tol = 1e-7 * weights.sum()

    def objective(beta: Array, U: Array) -> float:
        return float(weights @ MORE.value(U.T, T.T) + 0.5 * (ridge * beta * beta).sum())

    beta = start - start.mean(1, keepdims=True)
    U = Phi @ beta if offset is None else Phi @ beta + offset
    value = objective(beta, U)
    for _ in range(MAX_NEWTON):
        P = softmax(U.T)
        slope = Phi.T @ (weights * MORE.slope(U.T, T.T)).T + ridge * beta
        mean_curvature = np.maximum((P * (1.0 - P)).mean(0) * C / (C - 1.0), MIN_CURVATURE)
        precondition = _approximate_inverse(Phi, weights * mean_curvature, ridge[:, 0])
        bend = MORE.hessian(U.T, T.T)

        def curvature(V: Array, bend: Callable[[Array], Array] = bend) -> Array:
            return Phi.T @ (weights * bend((Phi @ V).T)).T + ridge * V

        step, _ = conjugate_gradients(curvature, slope, precondition, FORCING, MAX_CG)
        decrease = float((slope * step).sum())
        if decrease < tol:
            break
        beta, U, value = _descend(objective, (beta, U, value), (step, Phi @ step), decrease)
    return np.asarray(beta - beta.mean(1, keepdims=True))
