"""A path of answers along decreasing alpha, each starting the next.

    B(alpha) = argmin over B (p, q), v    Phi(X B, v) + alpha sum_k omega_k ||B_k||_2

from alpha_max, the smallest alpha at which no penalised row is in, downwards. `fit_path` certifies
every answer; `fit_to` wants one and solves for those in between roughly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from gradsift.protocols import Array, IntArray
from gradsift.solver.problem import Problem, Solution, Status, row_norms
from gradsift.solver.working_set import Solver, after, along, null_solution, solve

Step = Callable[[Solution], None]
"""Called with the answer at every alpha."""


@dataclass(frozen=True)
class PathResult:
    """What `gradient_path` returns: one answer per alpha, largest alpha first.

    Attributes
    ----------
    alphas : (n_alphas,) array
    importances : (n_alphas, p) array
        ||f^k||_K, exact zeros for variables that are out.
    supports : list of int arrays
        Selected variables at each alpha.
    dual_gaps, kkt_violations : (n_alphas,) arrays
        Certificates over all variables: gap relative to the objective of the zero field, violation
        relative to alpha_max.
    n_iter : (n_alphas,) int array
    converged : (n_alphas,) bool array
    alpha_max : float
    """

    alphas: Array
    solutions: tuple[Solution, ...]
    alpha_max: float
    n_features: int

    @property
    def importances(self) -> Array:
        out = np.zeros((len(self.alphas), self.n_features))
        for row, s in zip(out, self.solutions):
            row[s.rows.index] = row_norms(s.rows.values)
        return out

    @property
    def supports(self) -> list[IntArray]:
        return [s.rows.index for s in self.solutions]

    @property
    def dual_gaps(self) -> Array:
        return np.array([s.certificate.gap for s in self.solutions])

    @property
    def kkt_violations(self) -> Array:
        return np.array([s.certificate.violation for s in self.solutions])

    @property
    def n_iter(self) -> IntArray:
        return np.array([s.n_iter for s in self.solutions])

    @property
    def converged(self) -> Array:
        return np.array([s.status is Status.CONVERGED for s in self.solutions])


def geometric_grid(alpha_max: float, n_alphas: int, eps: float) -> Array:
    """n_alphas values from alpha_max down to eps * alpha_max, evenly spaced in the logarithm."""
    if n_alphas < 1:
        raise ValueError(f"n_alphas={n_alphas}: a path needs at least one alpha.")
    if not 0.0 < eps <= 1.0:
        raise ValueError(f"eps={eps}: the smallest alpha is eps * alpha_max, so 0 < eps <= 1.")
    return alpha_max * np.geomspace(1.0, eps, n_alphas)


def check_alphas(alphas: object) -> Array:
    """Penalties as a decreasing array of finite numbers >= 0."""
    grid = np.sort(np.atleast_1d(np.asarray(alphas, dtype=float)))[::-1]
    if grid.ndim != 1 or grid.size == 0 or not np.isfinite(grid).all() or grid[-1] < 0:
        raise ValueError(f"alphas must be a list of finite numbers >= 0; got {alphas!r}.")
    return grid


def fit_path(
    problem: Problem,
    alphas: Array | Callable[[float], Array],
    solver: Solver,
    *,
    null: Solution | None = None,
    progress: Step | None = None,
) -> PathResult:
    """Solve along decreasing alphas (or alphas(alpha_max)), each answer starting the next."""
    null = null_solution(problem) if null is None else null
    grid = check_alphas(alphas(null.alpha) if callable(alphas) else alphas)
    solutions: list[Solution] = []
    before, last = null, null
    for alpha in map(float, grid):
        start = along(last, before, alpha, problem.penalty)
        found = solve(problem, alpha, null=null, start=start, solver=solver)
        before, last = last, found
        solutions.append(found)
        if progress is not None:
            progress(found)
    return PathResult(grid, tuple(solutions), null.alpha, problem.n_features)


def steps_to(alpha: float, alpha_max: float) -> list[float]:
    """alpha_max halved until close to alpha, then alpha itself.

    Examples
    --------
    >>> steps_to(1.0, 9.0)
    [4.5, 2.25, 1.0]
    """
    steps, step = [], alpha_max
    while (step := 0.5 * step) > max(2.0 * alpha, 1e-3 * alpha_max):
        steps.append(step)
    return [*steps, alpha]


def fit_to(
    problem: Problem,
    alpha: float,
    solver: Solver,
    *,
    null: Solution,
    progress: Step | None = None,
) -> Solution:
    """One answer at alpha, reached in halving steps from alpha_max.

    The steps in between need not be exact: they only hand over a good start, and keep the working
    set small. `n_iter` of the answer counts them too.
    """
    n_iter = 0
    last, rough = null, replace(solver, tol=max(solver.tol, 1e-2))
    *between, end = steps_to(alpha, null.alpha)
    for step, settings in [*((step, rough) for step in between), (end, solver)]:
        start = after(last, step, problem.penalty)
        last = solve(problem, step, null=null, start=start, solver=settings)
        n_iter += last.n_iter
        if progress is not None:
            progress(last)
    return replace(last, n_iter=n_iter)
