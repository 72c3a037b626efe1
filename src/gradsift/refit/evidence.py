"""Marginal likelihood of a Gaussian process, its gradient, and its maximiser.

Model for one response column (several columns share the kernel, the noise ratio and hence the
Cholesky factor): y ~ N(0, s (K + eta W^-1)), where row i counts w_i times, i.e. its noise variance
is s eta / w_i. With S = W^(1/2), B = S K S + eta I, N = sum w, z = S y,

    -2 log p(y) = N log(2 pi s) + z'B^-1 z / s + log|B| + (N - n) log eta

which is the likelihood of the table in which row i is written out w_i times (Sylvester's identity
takes the determinant there to the one here). The scale is profiled out: s = z'B^-1 z / N.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple

import numpy as np
from scipy.linalg.blas import dsyrk
from scipy.linalg.lapack import dlauum, dpotrf, dpotrs, dtrtri
from scipy.optimize import OptimizeResult, minimize

from gradsift._typing import Array
from gradsift.numerics.ard_kernels import ArdKernel, DotProduct, Evaluator

NOISE_BOUNDS = (np.log(1e-5), np.log(1e2))
"""Box of log eta. The floor keeps B positive definite in double precision without any jitter."""
LINEAR_NOISE_BOUNDS = (np.log(1e-10), NOISE_BOUNDS[1])
"""The same for the linear kernel, which needs no B. An exact sum of nearly dependent columns has
large slopes and no noise: under the other floor, kernels that bend would explain it better.
"""

UNUSABLE = 1e10
"""Value reported where B cannot be factorised; its zero gradient makes a line search step back."""


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows an evidence is computed on: X (n, d), centred responses Y (n, q), weights w (n,)."""

    X: Array
    Y: Array
    weights: Array

    @property
    def root(self) -> Array | None:
        """Square roots of the weights, or None if all are one."""
        return None if np.all(self.weights == 1.0) else np.sqrt(self.weights)


@dataclass(frozen=True, eq=False)
class EvidenceFit:
    """A kernel at the maximum of its evidence.

    `loss` is the smallest -log p(Y) - log prior(theta), scales profiled out, summed over columns.
    """

    kernel: ArdKernel
    noise_ratio: float
    loss: float
    n_evaluations: int


def negative_log_evidence(
    theta: Array, kernel: ArdKernel, rows: Rows, evaluate: Evaluator
) -> tuple[float, Array]:
    """-log p(Y) - log prior, and its gradient in theta = (kernel.theta, log eta).

    `evaluate` is the kernel's evaluator on these rows.
    """
    n, q = rows.Y.shape
    total = float(rows.weights.sum())
    root = rows.root
    kernel = kernel.with_theta(theta[:-1])
    eta = float(np.exp(theta[-1]))
    K, pullback = evaluate(theta[:-1])
    # K is symmetric, and its transpose lies in memory as LAPACK wants it
    B = K.T.copy(order="F") if root is None else root[:, None] * K.T * root
    B.flat[:: n + 1] += eta
    factor, failed = dpotrf(B, lower=1, clean=1, overwrite_a=1)
    if failed:
        return UNUSABLE, np.zeros_like(theta)
    Z = rows.Y if root is None else root[:, None] * rows.Y
    A = dpotrs(factor, Z, lower=1)[0]
    quadratic = (Z * A).sum(0)
    scale = quadratic / total
    determinant = 2.0 * float(np.log(factor.diagonal()).sum())
    determinant += (total - n) * theta[-1]
    value = 0.5 * (total * (np.log(2.0 * np.pi * scale) + 1.0).sum() + q * determinant)

    # d value / dB = (q B^-1 - sum_c a_c a_c' / s_c) / 2. Only its lower triangle is formed; every
    # pair i > j counts twice, and the kernels' pullbacks take any matrix.
    M = dlauum(lower_inverse(factor), lower=1, overwrite_c=1)[0]
    M = dsyrk(-1.0, A / np.sqrt(scale), beta=float(q), c=M, lower=1, overwrite_c=1)
    by_noise = 0.5 * eta * float(M.trace()) + 0.5 * q * (total - n)
    M.flat[:: n + 1] *= 0.5
    if root is not None:
        M *= root[:, None]
        M *= root
    slope = np.append(pullback(M), by_noise)

    log_prior, prior_slope = kernel.log_prior()
    slope[:-1] -= prior_slope
    return value - log_prior, slope


AT_ONCE = 64
"""Rows up to which LAPACK inverts a triangle at once; its way is slow for larger ones."""


def lower_inverse(L: Array) -> Array:
    """The inverse of a lower triangular matrix, in halves: most of the work is two products."""
    n = len(L)
    if n <= AT_ONCE:
        return np.asarray(dtrtri(L, lower=1)[0])
    half = n // 2
    out = np.zeros((n, n), order="F")
    first = out[:half, :half] = lower_inverse(L[:half, :half])
    second = out[half:, half:] = lower_inverse(L[half:, half:])
    out[half:, :half] = -(second @ (L[half:, :half] @ first))
    return out


@dataclass(frozen=True, eq=False)
class LinearEvidence:
    """The evidence of the linear kernel as a function of the noise alone.

    The kernel has d directions: with the eigenvalues e of S K S, the response along its
    eigenvectors and the rest of it, a value costs d numbers.
    """

    eigenvalues: Array
    """(d,)"""
    along: Array
    """(d, q) squares of the weighted response along the eigenvectors."""
    rest: Array
    """(q,) what lies in none of them."""
    n: int
    total: float

    def __call__(self, theta: Array) -> tuple[float, Array]:
        """-log p(Y) and its slope, as `negative_log_evidence` at theta = (log eta,)."""
        eta, q = float(np.exp(theta[0])), len(self.rest)
        inside, outside = self.eigenvalues + eta, self.n - len(self.eigenvalues)
        quadratic = (self.along / inside[:, None]).sum(0) + self.rest / eta
        scale = quadratic / self.total
        determinant = float(np.log(inside).sum()) + (outside + self.total - self.n) * theta[0]
        value = 0.5 * (self.total * (np.log(2.0 * np.pi * scale) + 1.0).sum() + q * determinant)
        squares = (self.along / inside[:, None] ** 2).sum(0) + self.rest / eta**2
        slope = q * (float((eta / inside).sum()) + outside + self.total - self.n)
        slope -= eta * float((squares / scale).sum())
        return float(value), np.array([0.5 * slope])


def linear_evidence(kernel: DotProduct, rows: Rows) -> LinearEvidence:
    """The evidence of the linear kernel on some rows."""
    root = np.sqrt(rows.weights)[:, None]
    Z = root * rows.Y
    U, sizes, _ = np.linalg.svd(root * rows.X, full_matrices=False)
    along = U.T @ Z
    rest = np.square(Z - U @ along).sum(0)
    total = float(rows.weights.sum())
    return LinearEvidence(sizes**2 / kernel.dimension, np.square(along), rest, len(Z), total)


class Hope(NamedTuple):
    """A fit is given up if its loss is above `least` after `trial` iterations."""

    trial: int
    least: float


def objective(kernel: ArdKernel, rows: Rows) -> Callable[[Array], tuple[float, Array]]:
    """`negative_log_evidence` on some rows, as a function of theta."""
    if isinstance(kernel, DotProduct):
        return linear_evidence(kernel, rows)
    evaluate = kernel.evaluator(rows.X)
    return lambda theta: negative_log_evidence(theta, kernel, rows, evaluate)


def maximise_evidence(
    kernel: ArdKernel,
    rows: Rows,
    log_noise: float,
    *,
    max_iter: int = 40,
    tol: float = 1e-5,
    hope: Hope | None = None,
) -> EvidenceFit:
    """Hyperparameters of largest (penalised) evidence, by L-BFGS from the kernel's own theta."""
    linear = isinstance(kernel, DotProduct)
    bounds = [*kernel.bounds, LINEAR_NOISE_BOUNDS if linear else NOISE_BOUNDS]
    low, high = np.array(bounds).T
    start = np.clip(np.append(kernel.theta, log_noise), low, high)
    iterations = count(1)

    def stop_without_hope(intermediate_result: OptimizeResult) -> None:
        if hope and next(iterations) == hope.trial and intermediate_result.fun > hope.least:
            raise StopIteration

    found = minimize(
        objective(kernel, rows),
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        callback=stop_without_hope,
        options={"maxiter": max_iter, "ftol": tol},
    )
    theta = np.asarray(found.x)
    return EvidenceFit(
        kernel=kernel.with_theta(theta[:-1]),
        noise_ratio=float(np.exp(theta[-1])),
        loss=float(found.fun),
        n_evaluations=int(found.nfev),
    )
