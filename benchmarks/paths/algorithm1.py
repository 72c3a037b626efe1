"""Algorithm 1 as the paper prints it, in plain NumPy: n^4 numbers, a fixed step, all variables.

Its tens of thousands of steps, each over n^4 numbers, take hours at n = 72. So steps of the printed
form are timed, and counted with `descend`: the same iterates, to rounding, by matrix products and
on the rows that can leave zero, which a bound tells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import count

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

    def pull(self, residual: Array) -> Array:
        """M (n, n) with gradient X' M: (S' - diag(S 1)) K^(1/2), S = 2 / n^2 w r."""
        S = (2.0 / len(self.y) ** 2) * self.W * residual
        return (S.T - np.diag(S.sum(axis=1))) @ self.root

    def columns(self, index: Array) -> PairProblem:
        return replace(self, X=np.ascontiguousarray(self.X[:, index]))

    def objective(self, C: Array, residual: Array, alpha: float) -> float:
        fit = (self.W * residual**2).sum() / len(self.y) ** 2
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
    """The same gradient by two matrix products."""
    return lambda C: problem.X.T @ problem.pull(problem.residual(C))


def step_length(slope: Callable[[Array], Array], shape: tuple[int, int]) -> float:
    """1 / (largest curvature): the paper leaves it open."""
    zero = slope(np.zeros(shape))
    step = zero
    for _ in range(20):
        step = slope(step / np.linalg.norm(step)) - zero
    return 1.0 / (1.05 * float(np.linalg.norm(step)))


def shrink(C: Array, by: float) -> Array:
    """Step 2(d): rows shorter by `by`, or zero."""
    norms = np.linalg.norm(C, axis=1, keepdims=True)
    return C * np.maximum(0.0, 1.0 - by / np.maximum(norms, 1e-300))


def step(C: Array, slope: Callable[[Array], Array], alpha: float, delta: float) -> Array:
    """Steps 2(c) and 2(d)."""
    return shrink(C - delta * slope(C), alpha * delta)


@dataclass(frozen=True)
class Descent:
    """Where Algorithm 1 stands: its non-zero rows, steps taken, objective."""

    rows: Array
    values: Array
    n_steps: int
    objective: float


def descend(
    problem: PairProblem, alpha: float, delta: float, *, every: int = 10, watched: int = 400
) -> Iterator[Descent]:
    """The iterates of `step` from zero, one of `every`.

    A zero row k stays zero while ||X_k' M|| <= alpha. From a pass over all rows at some earlier M0
    on, ||X_k' M|| <= ||X_k' M0|| + ||X_k|| ||M - M0||: while M is closer to M0 than the least room
    of a row left out, the rows left out are zero in the iterates over all rows too. Else, and every
    250 steps, all rows are looked at again, and the `watched` rows with the least room taken in.
    """
    lengths = np.maximum(np.linalg.norm(problem.X, axis=0), 1e-300)
    rows, room = np.arange(0), -1.0
    part, C, M0 = problem.columns(rows), np.zeros((0, len(problem.y))), None
    for n_steps in count():
        residual = part.residual(C)
        if n_steps % every == 0:
            kept = C.any(axis=1)
            value = problem.objective(C, residual, alpha)
            yield Descent(rows[kept], C[kept], n_steps, value)
        M = problem.pull(residual)
        if M0 is None or n_steps % 250 == 0 or np.linalg.norm(M - M0) >= room:
            rooms = (alpha - np.linalg.norm(problem.X.T @ M, axis=1)) / lengths
            rooms[rows[C.any(axis=1)]] = -np.inf
            taken = max(watched, 2 * int((rooms <= 0.0).sum()))
            order = np.argsort(rooms, kind="stable")
            inside, room = np.sort(order[:taken]), float(rooms[order[taken:]].min(initial=np.inf))
            dense = np.zeros((len(lengths), C.shape[1]))
            dense[rows] = C
            rows, C, M0, part = inside, dense[inside], M, problem.columns(inside)
        C = shrink(C - delta * (part.X.T @ M), alpha * delta)
