"""Products that only the link makes.

Least squares on labels fits probabilities. Where the log odds are a sum of effects, probabilities
are not: they flatten out, and what a sum of effects misses looks like a product of two columns. A
product is an interaction of the columns if the log odds need it, too. That is asked by a score test
beside a (multinomial) logistic model of everything else in the support.
"""

from __future__ import annotations

import numpy as np

from gradsift._typing import Array
from gradsift.numerics.losses import log_sum_exp, softmax
from gradsift.sift.groups import Groups, Support
from gradsift.sift.response import Response

MOST_STEPS = 50
SETTLED = 1e-8
"""A Newton step that promises less, relative to the rows, is the last."""


def interactions_of(groups: Groups, support: Support, response: Response) -> list[int]:
    """Products of a support that are not made by the link; all of them for numbers."""
    products = [g for g in support if g >= groups.first_product]
    T = indicators(response.Y)
    if T is None:
        return products
    weight = np.ones(len(T)) if groups.rows.weight is None else groups.rows.weight
    out = []
    for g in products:
        rest = tuple(h for h in support if h != g)
        D = np.vstack([np.ones(len(T)), groups.stack(rest) / groups.rows.root])
        z = groups.stack((g,))[0] / groups.rows.root
        if score_statistic(D, z, T, weight, groups.settings.ridge) >= groups.level[g]:
            out.append(g)
    return out


def indicators(Y: Array) -> Array | None:
    """0/1 columns (n, C) of the C classes that contrasts (n, C - 1) stand for; None for numbers."""
    values, place = np.unique(Y.round(9), axis=0, return_inverse=True)
    if len(values) != Y.shape[1] + 1:
        return None
    return np.eye(len(values))[place.reshape(-1)]


def score_statistic(D: Array, z: Array, T: Array, weight: Array, ridge: float) -> float:
    """Score statistic, chi-square(C - 1) if log odds do not need z (n,) beside features D (m, n).

    The first row of D is the constant. T (n, C) are the indicators of the classes.
    """
    P = logistic_probabilities(D, T, weight, ridge)
    E = np.vstack([D, z])
    H = information(E, P, weight)
    q, m = T.shape[1] - 1, len(D)
    H[: m * q, : m * q] += ridge * weight.sum() * np.eye(m * q)
    old, new = slice(0, m * q), slice(m * q, None)
    V = H[new, new] - H[new, old] @ np.linalg.solve(H[old, old], H[old, new])
    s = (weight * z) @ (T - P)[:, 1:]
    return float(s @ np.linalg.solve(V + 1e-12 * np.eye(q), s))


def logistic_probabilities(D: Array, T: Array, weight: Array, ridge: float) -> Array:
    """Fitted probabilities (n, C) of a multinomial logistic model on features D (m, n), the first
    of which, the constant, is not penalised.
    """
    m, q = len(D), T.shape[1] - 1
    penalty = np.full((m, q), ridge * weight.sum())
    penalty[0] = 0.0

    def odds(B: Array) -> Array:
        return np.column_stack([np.zeros(len(T)), D.T @ B])

    def objective(B: Array) -> float:
        U = odds(B)
        loss = weight @ (log_sum_exp(U.T) - (T * U).sum(axis=1))
        return float(loss + (penalty * B * B).sum() / 2)

    B = np.zeros((m, q))
    value = objective(B)
    for _ in range(MOST_STEPS):
        P = softmax(odds(B).T).T
        grad = (D * weight) @ (P - T)[:, 1:] + penalty * B
        H = information(D, P, weight) + np.diag(penalty.reshape(-1) + 1e-9)
        step = -np.linalg.solve(H, grad.reshape(-1)).reshape(m, q)
        size = 1.0
        while size > SETTLED and not (new := objective(B + size * step)) < value:
            size /= 2
        if size <= SETTLED:
            break
        B, before, value = B + size * step, value, new
        if before - value < SETTLED * weight.sum():
            break
    return softmax(odds(B).T).T


def information(D: Array, P: Array, weight: Array) -> Array:
    """Information (m q, m q) of coefficients (m, q) in row order, classes but the first."""
    m, q = len(D), P.shape[1] - 1
    out = np.empty((m, q, m, q))
    for c in range(q):
        for d in range(q):
            bend = weight * P[:, c + 1] * ((c == d) - P[:, d + 1])
            out[:, c, :, d] = (D * bend) @ D.T
    return out.reshape(m * q, m * q)
