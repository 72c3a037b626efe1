"""Algorithm 1 as the paper prints it, in plain NumPy: n^4 numbers, a fixed step, all variables.

Its thousands of steps, each over n^4 numbers, take the better part of an hour at n = 72. So steps
of the printed form are timed, and the number of steps is counted with `short_slope`, which is the
same gradient by two matrix products: the same iterates, to rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from paths.problems import Array


@dataclass(frozen=True)
class PairProblem:
    """What Algorithm 1 is given: data, K^(1/2) (n, n) and pair weights W (n, n)."""

    X: Array
    y: Array
    root: Array
    W: Array

    @classmethod
    def of(cls, X: Array, y: Array, K: Array, W: Array) -> PairProblem:
        values, vectors = np.linalg.eigh(K)
        return cls(X, y, (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T, W)

    def residual(self, C: Array) -> Array:
        """r_ij = y_i - y_j + (x_j - x_i)' C k_i."""
        P = (self.X @ C @ self.root).T
        return self.y[:, None] - self.y[None, :] + P - P.diagonal()[:, None]

    def objective(self, C: Array, alpha: float) -> float:
        fit = (self.W * self.residual(C) ** 2).sum() / len(self.y) ** 2
        return float(fit + alpha * np.linalg.norm(C, axis=1).sum())


def printed_slope(problem: PairProblem) -> Callable[[Array], Array]:
    """Steps 1, 2(a) and 2(b) of the paper: all G_ij at once, then U sum_ij r_ij G_ij."""
    n = len(problem.y)
    U, size, Vt = np.linalg.svd((problem.X - problem.X[-1]).T, full_matrices=False)
    beta = (size[:, None] * Vt).T  # row i is x_i - x_n in the basis U
    D = beta[None, :, :] - beta[:, None, :]
    G = problem.W[:, :, None, None] * D[:, :, :, None] * problem.root[:, None, None, :]
    return lambda C: U @ ((2.0 / n**2) * np.tensordot(problem.residual(C), G, axes=2))


def short_slope(problem: PairProblem) -> Callable[[Array], Array]:
    """The same gradient, X' (S' - diag(S 1)) K^(1/2) with S = 2 / n^2 w r."""
    n = len(problem.y)

    def slope(C: Array) -> Array:
        S = (2.0 / n**2) * problem.W * problem.residual(C)
        return problem.X.T @ ((S.T - np.diag(S.sum(axis=1))) @ problem.root)

    return slope


def step_length(slope: Callable[[Array], Array], shape: tuple[int, int]) -> float:
    """1 / (largest curvature): the paper leaves it open."""
    zero = slope(np.zeros(shape))
    step = zero
    for _ in range(20):
        step = slope(step / np.linalg.norm(step)) - zero
    return 1.0 / (1.05 * float(np.linalg.norm(step)))


def step(C: Array, slope: Callable[[Array], Array], alpha: float, delta: float) -> Array:
    """Steps 2(c) and 2(d)."""
    C = C - delta * slope(C)
    norms = np.linalg.norm(C, axis=1, keepdims=True)
    return C * np.maximum(0.0, 1.0 - alpha * delta / np.maximum(norms, 1e-300))
