"""Kernel functions g_c(x) = sum_p a_pc k(x, p) of few columns: features, ridge, values, gradients.

A kernel matrix over at most a thousand rows is factorised once by pivoted Cholesky, k(P, P) = L L'
with P the pivots (r, d) (Fine and Scheinberg, Efficient SVM training using low-rank kernel
representations, JMLR 2001). Rows that add nothing beyond rounding are left out, so smooth kernels
and repeated rows give few points. The features

    phi(x) = L^-1 k(P, x),        phi(x)'phi(z) = k(x, z)  on the chosen rows,

turn every kernel problem into a ridge problem, ||g||_k = ||beta|| for g = beta'phi, with
coefficients a = L^-T beta back on the points. The posterior mean of a Gaussian process with rows
counted w_i times is g = beta'phi, where beta (r, q) minimises

    sum_i w_i (y_i - beta'phi(x_i))^2 + eta ||beta||^2.

With the pivots of all rows as points this is exact; with landmarks it is the subset-of-regressors
approximation (Quinonero-Candela and Rasmussen, JMLR 2005). Rows are met in blocks: memory is
(block x r) + (r x r).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpotrf, dpotrs, dpstrf, dtrtrs

from gradsift.numerics.ard_kernels import ArdKernel
from gradsift.protocols import Array


@dataclass(frozen=True, eq=False)
class RefitRows:
    """The rows an evidence is computed on: X (n, d), centred responses Y (n, q), weights w (n,)."""

    X: Array
    Y: Array
    weights: Array

    @property
    def root(self) -> Array | None:
        """Square roots of the weights, or None if all are one."""
        return None if np.all(self.weights == 1.0) else np.sqrt(self.weights)


@dataclass(frozen=True, eq=False)
class Ridge:
    """beta (r, q), the profiled prior variances `scale` (q,), and what residuals need."""

    features: Features
    noise_ratio: float
    beta: Array
    scale: Array
    factor: Array


def solve_ridge(features: Features, noise_ratio: float, rows: RefitRows) -> Ridge:
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
    ridge: Ridge, rows: RefitRows, *, leverage: bool = True
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


BLOCK = 2_000
"""Rows evaluated at once: memory is BLOCK x number of points."""

PIVOT_TOLERANCE = 1e-12
"""A point is left out when it adds less than this to the kernel's variance (largest value 1)."""


def row_blocks(n: int) -> Iterator[slice]:
    """Slices of at most BLOCK rows covering 0..n-1."""
    for start in range(0, n, BLOCK):
        yield slice(start, min(start + BLOCK, n))


@dataclass(frozen=True, eq=False)
class Features:
    """The map x -> phi(x) = L^-1 k(P, x) for `points` P (r, d) and `factor` L (r, r)."""

    kernel: ArdKernel
    points: Array
    factor: Array

    def __call__(self, X: Array) -> Array:
        """phi at the rows of X: (n, r)."""
        K = self.kernel(self.points, X)
        return np.asarray(solve_triangular(self.factor, K, lower=True, check_finite=False).T)

    def expansion(self, beta: Array) -> Expansion:
        """The functions beta_c'phi, beta (r, q), as sums over the points."""
        coefficients = solve_triangular(self.factor, beta, lower=True, trans=1, check_finite=False)
        return Expansion(self.kernel, self.points, coefficients)


def pivoted_features(kernel: ArdKernel, X: Array) -> Features:
    """Features that reproduce k on the rows of X; the points are the pivots."""
    K = np.asfortranarray(kernel(X, X))
    largest = float(K.diagonal().max())
    L, pivots, rank, _ = dpstrf(K, tol=PIVOT_TOLERANCE * largest, lower=1, overwrite_a=1)
    keep = pivots[:rank] - 1
    return Features(kernel, X[keep], np.tril(L[:rank, :rank]))


@dataclass(frozen=True, eq=False)
class Expansion:
    """g_c(x) = sum_p coefficients[p, c] k(x, points[p]); no points at all is the zero function."""

    kernel: ArdKernel | None
    points: Array
    coefficients: Array

    @classmethod
    def zero(cls, d: int, q: int = 1) -> Expansion:
        return cls(None, np.zeros((0, d)), np.zeros((0, q)))

    def value(self, X: Array) -> Array:
        """(n, q)."""
        out = np.zeros((len(X), self.coefficients.shape[1]))
        if self.kernel is not None:
            for block in row_blocks(len(X)):
                out[block] = self.kernel(X[block], self.points) @ self.coefficients
        return out

    def gradient(self, X: Array) -> Array:
        """(q, n, d)."""
        out = np.zeros((self.coefficients.shape[1], *X.shape))
        if self.kernel is not None:
            for block in row_blocks(len(X)):
                for c, a in enumerate(self.coefficients.T):
                    out[c, block] = self.kernel.gradient(X[block], self.points, a)
        return out
