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

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs
from scipy.special import expit, logsumexp

from gradsift._typing import Array

INTERCEPT_RIDGE = 1e-6
MAX_NEWTON = 50
MAX_CG = 30
MAX_HALVINGS = 30
MIN_CURVATURE = 1e-6
"""Floor of p (1 - p): keeps the Newton matrix regular where the classes are separated."""


@dataclass(frozen=True, eq=False)
class LogisticFit:
    """beta (r + 1, q), last row the intercepts, and the weighted mean leave-one-out log loss."""

    beta: Array
    loo_loss: float


def with_ones(Phi: Array) -> Array:
    """Phi with the column of the intercept."""
    return np.column_stack([Phi, np.ones(len(Phi))])


def _ridge(r: int, penalty: float) -> Array:
    return np.append(np.full(r - 1, penalty), INTERCEPT_RIDGE)


def _curvature_factor(Phi: Array, curvature: Array, ridge: Array) -> Array:
    """Cholesky factor of Phi' diag(curvature) Phi + diag(ridge)."""
    H = np.asfortranarray((Phi * curvature[:, None]).T @ Phi)
    H.flat[:: len(ridge) + 1] += ridge
    factor, failed = dpotrf(H, lower=1, overwrite_a=1)
    if failed:
        raise np.linalg.LinAlgError("the curvature of the logistic loss is not positive definite")
    return factor


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


def fit_binary(Phi: Array, t: Array, weights: Array, penalty: float, start: Array) -> LogisticFit:
    """Two classes by Newton's method from `start` (r + 1,)."""
    ridge = _ridge(Phi.shape[1], penalty)
    tol = 1e-7 * weights.sum()

    def objective(beta: Array, u: Array) -> float:
        return float(weights @ (np.logaddexp(0.0, u) - t * u) + 0.5 * ridge @ (beta * beta))

    beta: Array = start
    u: Array = Phi @ start
    value = objective(beta, u)
    for _ in range(MAX_NEWTON):
        p = expit(u)
        factor = _curvature_factor(Phi, weights * np.maximum(p * (1.0 - p), MIN_CURVATURE), ridge)
        slope = Phi.T @ (weights * (p - t)) + ridge * beta
        step = dpotrs(factor, slope, lower=1)[0]
        decrease = float(slope @ step)
        if decrease < tol:
            break
        beta, u, value = _descend(objective, (beta, u, value), (step, Phi @ step), decrease)
    return LogisticFit(beta[:, None], _leave_one_out_loss(Phi, t, weights, u, factor))


def _leave_one_out_loss(Phi: Array, t: Array, weights: Array, u: Array, factor: Array) -> float:
    """Log loss of each row under the fit without it, one Newton step away from the full fit.

    Leaving out one copy of row i moves its margin by h (p - t) / (1 - p (1 - p) h), where
    h = phi_i' H^-1 phi_i and H is the curvature of the whole objective.
    """
    p = expit(u)
    copies = np.minimum(weights, 1.0)
    leverage = copies * (Phi * dpotrs(factor, Phi.T, lower=1)[0].T).sum(1)
    left = u + leverage * (p - t) / np.maximum(1.0 - p * (1.0 - p) * leverage, 1e-3)
    losses = np.logaddexp(0.0, left) - t * left
    return float(weights @ losses / weights.sum())


def fit_multinomial(Phi: Array, T: Array, weights: Array, penalty: float, start: Array) -> Array:
    """Several classes; T (n, C) one-hot; returns beta (r + 1, C) with scores that sum to zero.

    Newton steps by conjugate gradients, preconditioned by one Cholesky factor of the mean
    curvature, which all classes share: a step costs about as much as for two classes.
    """
    C = T.shape[1]
    ridge = _ridge(Phi.shape[1], penalty)[:, None]
    tol = 1e-7 * weights.sum()
    w = weights[:, None]

    def objective(beta: Array, U: Array) -> float:
        fit = logsumexp(U, axis=1) - (T * U).sum(1)
        return float(weights @ fit + 0.5 * (ridge * beta * beta).sum())

    beta = start - start.mean(1, keepdims=True)
    U = Phi @ beta
    value = objective(beta, U)
    for _ in range(MAX_NEWTON):
        P = np.exp(U - logsumexp(U, axis=1, keepdims=True))
        slope = Phi.T @ (w * (P - T)) + ridge * beta
        mean_curvature = np.maximum((P * (1.0 - P)).mean(1) * C / (C - 1.0), MIN_CURVATURE)
        factor = _curvature_factor(Phi, weights * mean_curvature, ridge[:, 0])

        def curvature(V: Array, P: Array = P) -> Array:
            S = P * (Phi @ V)
            S -= P * S.sum(1, keepdims=True)
            return Phi.T @ (w * S) + ridge * V

        step = _conjugate_gradients(curvature, slope, factor)
        decrease = float((slope * step).sum())
        if decrease < tol:
            break
        beta, U, value = _descend(objective, (beta, U, value), (step, Phi @ step), decrease)
    return beta - beta.mean(1, keepdims=True)


def _conjugate_gradients(curvature: Callable[[Array], Array], slope: Array, factor: Array) -> Array:
    """Solve curvature(step) = slope to 1 % in the preconditioned norm: enough for Newton steps."""
    step, residual = np.zeros_like(slope), slope
    scaled = dpotrs(factor, residual, lower=1)[0]
    direction, energy = scaled, float((residual * scaled).sum())
    goal = 1e-4 * energy
    for _ in range(MAX_CG):
        if energy <= goal:
            break
        image = curvature(direction)
        length = energy / float((direction * image).sum())
        step, residual = step + length * direction, residual - length * image
        scaled = dpotrs(factor, residual, lower=1)[0]
        previous, energy = energy, float((residual * scaled).sum())
        direction = scaled + (energy / previous) * direction
    return step
