"""Posterior mean of the Gaussian process as a ridge problem in features.

With features phi and rows counted w_i times, the posterior mean g = beta'phi minimises

    sum_i w_i (y_i - beta'phi(x_i))^2 + eta ||beta||^2.

With the pivots of all rows as points this is exact; with landmarks it is the subset-of-regressors
approximation. Rows are met in blocks: memory is (block x r) + (r x r).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs, dtrtrs

from gradsift._typing import Array
from gradsift.refit.evidence import Rows
from gradsift.refit.expansion import Features, row_blocks


@dataclass(frozen=True, eq=False)
class Ridge:
    """beta (r, q), the profiled prior variances `scale` (q,), and what residuals need."""

    features: Features
    noise_ratio: float
    beta: Array
    scale: Array
    factor: Array


def solve_ridge(features: Features, noise_ratio: float, rows: Rows) -> Ridge:
    """Solve (Phi'W Phi + eta I) beta = Phi'W Y."""
    r, q = len(features.points), rows.Y.shape[1]
    gram, moment = noise_ratio * np.eye(r), np.zeros((r, q))
    for block in row_blocks(len(rows.X)):
        Phi = features(rows.X[block])
        weighted = Phi * rows.weights[block, None]
        gram += weighted.T @ Phi
        moment += weighted.T @ rows.Y[block]
    factor = dpotrf(gram, lower=1)[0]
    beta = dpotrs(factor, moment, lower=1)[0]
    # z'B^-1 z / N, by the matrix inversion lemma; see evidence.py
    unexplained = rows.weights @ (rows.Y**2) - (moment * beta).sum(0)
    scale = np.maximum(unexplained, 0.0) / (noise_ratio * rows.weights.sum())
    return Ridge(features, noise_ratio, beta, scale, factor)


def residuals_and_leverages(
    ridge: Ridge, rows: Rows, *, leverage: bool = True
) -> tuple[Array, Array]:
    """Residuals r (n, q) and leverages h (n,), h_i = phi_i'(Phi'W Phi + eta I)^-1 phi_i.

    r / (1 - h) is the residual of one copy of row i under the fit without it. r / sqrt(1 - h) is
    the same over its predictive sd, times the sd of the noise: extremes at the rim of the data,
    which nothing else predicts, stay small. `leverage=False` puts h = 0, for many rows.
    """
    residuals = rows.Y - ridge.features.expansion(ridge.beta).value(rows.X)
    leverages = np.zeros(len(rows.X))
    if leverage:
        for block in row_blocks(len(rows.X)):
            half = dtrtrs(ridge.factor, ridge.features(rows.X[block]).T, lower=1)[0]
            # a row of weight below one is left out whole, hence the min
            leverages[block] = (half * half).sum(0) * np.minimum(rows.weights[block], 1.0)
    return residuals, np.minimum(leverages, 1.0 - 1e-6)
