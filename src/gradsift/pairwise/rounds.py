"""Rounds around the solver, each a certified group lasso of its own.

- *Adaptive weights*: distances in the variables that were selected, until the selection stays.
- *Concave penalties* alpha sum_k omega_k P(||f^k||): the line that touches P at the last answer is
  a group lasso with the factors omega_k P'(||f^k||), and lies above P, so that every round lowers
  the objective (local linear approximation; Zou and Li, 2008).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from gradsift._typing import Array
from gradsift.pairwise.assemble import Assembly
from gradsift.pairwise.contracts import penalty_factors
from gradsift.pairwise.weights import Adaptive, as_weights
from gradsift.solver import Solution, Solver, null_solution
from gradsift.solver.path import PathResult, fit_to
from gradsift.solver.penalty import GroupLasso, row_norms

CONCAVE_ROUNDS = 20
SETTLED = 1e-3  # change of a penalty factor below which a concave penalty has settled


class Started(NamedTuple):
    """An assembled problem and its answer at alpha_max, where nothing is selected."""

    assembly: Assembly
    null: Solution


def begin(assembly: Assembly) -> Started:
    """Find where the path of a problem begins."""
    return Started(assembly, null_solution(assembly.problem))


@dataclass(frozen=True)
class Rounds:
    """What is done after the first answer.

    Rounds that measure distances again have the same part of their alpha_max as the first answer
    had of its own: weights over fewer variables are sharper, and lower alpha_max.
    """

    solver: Solver

    def settle(self, started: Started, solution: Solution) -> tuple[Started, Solution]:
        """The last round, with the problem it solved; the first answer where there are none."""
        started, solution = self._adapt(started, solution)
        return self._reweight(started, solution)

    def _descend(self, started: Started, alpha: float) -> Solution:
        return fit_to(started.assembly.problem, alpha, self.solver, null=started.null)

    def _adapt(self, started: Started, solution: Solution) -> tuple[Started, Solution]:
        """A selected set that was there before ends the rounds."""
        rule = as_weights(started.assembly.settings.weights)
        seen = [solution.rows.index]
        for _ in range(rule.max_rounds if isinstance(rule, Adaptive) else 0):
            if len(seen[-1]) == 0:
                break
            part = solution.alpha / started.null.alpha if started.null.alpha > 0.0 else 0.0
            started = begin(started.assembly.measured_in(seen[-1]))
            solution = self._descend(started, part * started.null.alpha)
            if any(np.array_equal(solution.rows.index, index) for index in seen):
                break
            seen.append(solution.rows.index)
        return started, solution

    def _reweight(self, started: Started, solution: Solution) -> tuple[Started, Solution]:
        """The answer at alpha_max stays that of the group lasso: nothing is selected there."""
        assembly, null = started
        penalty, alpha = assembly.settings.penalty, solution.alpha
        omega = assembly.problem.penalty.limits(1.0)
        last = np.ones_like(omega)
        for _ in range(0 if penalty is None else CONCAVE_ROUNDS):
            assert penalty is not None
            factors = penalty_factors(penalty, sizes_of(solution, len(omega)), alpha)
            if np.abs(factors - last).max() <= SETTLED:
                break
            problem = replace(assembly.problem, penalty=GroupLasso(factors * omega))
            assembly = replace(assembly, problem=problem)
            solution, last = self._descend(begin(assembly), alpha), factors
        return Started(assembly, null), solution


def settle_path(started: Started, path: PathResult, rounds: Rounds) -> PathResult:
    """A path with the last round of every answer in place of the first."""
    settled = tuple(rounds.settle(started, first)[1] for first in path.solutions)
    return replace(path, solutions=settled)


def sizes_of(solution: Solution, n_features: int) -> Array:
    """||f^k||_K of every variable."""
    sizes = np.zeros(n_features)
    sizes[solution.rows.index] = row_norms(solution.rows.values)
    return sizes
