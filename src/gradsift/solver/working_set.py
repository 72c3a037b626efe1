"""The outer loop: solve on few columns, check on all, admit the worst offenders, repeat."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gradsift._threads import map_blocks
from gradsift._typing import Array, IntArray
from gradsift.penalty import row_norms
from gradsift.solver.inner import InnerSolver, feasibility, forward_backward
from gradsift.solver.problem import Certificate, Problem, Rows, Solution, Status
from gradsift.solver.ridge import minimise_smooth

MIN_ROOM = 64  # columns a working set may take in at a time, at least


@dataclass(frozen=True)
class Units:
    """What gaps and violations are measured in: the null objective and alpha_max."""

    value: float
    slope: float

    @classmethod
    def of(cls, value: float, slope: float) -> Units:
        tiny = float(np.finfo(float).tiny)
        return cls(max(value, tiny), max(slope, tiny))


@dataclass(frozen=True)
class Solver:
    """Settings of the working-set solver.

    Parameters
    ----------
    tol : float
        Relative duality gap, over all variables, at which to stop.
    max_iter : int
        Most forward-backward steps, summed over working sets.
    working_set : bool
        False: every step runs over all columns, as the paper prints its algorithm.
    accelerate : bool
        False: plain forward-backward steps, as the paper prints them.
    """

    tol: float = 1e-4
    max_iter: int = 20_000
    working_set: bool = True
    accelerate: bool = True


def gradient_norms(problem: Problem, M: Array) -> Array:
    """||X_k' M|| for every column: the one pass over the data that certifies an answer."""

    def norms(item: tuple[slice, Array]) -> tuple[slice, Array]:
        where, block = item
        return where, row_norms(block.T @ M)

    out = np.empty(problem.n_features)
    for where, values in map_blocks(norms, problem.source.blocks()):
        out[where] = values
    return out


def null_solution(problem: Problem) -> Solution:
    """The answer at alpha_max: only unpenalised rows and v, both at their optimum."""
    datafit, penalty = problem.datafit, problem.penalty
    limits = penalty.limits(1.0)
    penalised = limits > 0.0
    free = np.flatnonzero(~penalised)
    X = problem.source.columns(free)
    zero = np.zeros((len(free), datafit.n_tasks))
    B, v = minimise_smooth(datafit.restrict(X), zero, datafit.start(), 0.0)
    rows, U = Rows(free, B), X @ B
    M, _ = _derivative(problem, U, v, rows)
    norms = gradient_norms(problem, M)
    alpha = float((norms[penalised] / limits[penalised]).max(initial=0.0))
    value = datafit.value(datafit.predict(U, v), v) + _term_value(problem, U, rows)
    proof, norms = certify(problem, alpha, rows, U, v, Units.of(value, alpha))
    return Solution(alpha, rows, v, norms, proof, Status.CONVERGED, 0)


def _term_value(problem: Problem, U: Array, rows: Rows) -> float:
    term = problem.datafit.term(U, rows.values)
    return 0.0 if term is None else term[0]


def _derivative(problem: Problem, U: Array, v: Array, rows: Rows) -> tuple[Array, Array]:
    """M with gradient X' M for rows at zero, and what the active rows' gradients have besides."""
    datafit = problem.datafit
    M, _ = datafit.gradient(datafit.predict(U, v), v)
    term = datafit.term(U, rows.values)
    return (M, np.zeros_like(rows.values)) if term is None else (M + term[1], term[2])


def certify(
    problem: Problem, alpha: float, rows: Rows, U: Array, v: Array, units: Units
) -> tuple[Certificate, Array]:
    """Certificate over all variables, and the norms of all their gradients: one pass over X."""
    datafit, penalty = problem.datafit, problem.penalty
    limits = penalty.limits(alpha)
    M, besides = _derivative(problem, U, v, rows)
    norms = gradient_norms(problem, M)
    gradient = problem.source.columns(rows.index).T @ M + besides
    norms[rows.index] = row_norms(gradient)
    off = np.maximum(norms - limits, 0.0)
    off[rows.index] = penalty.take(rows.index).violation(rows.values, gradient, alpha)
    sizes = np.zeros(problem.n_features)
    sizes[rows.index] = row_norms(rows.values)

    E = datafit.predict(U, v)
    extra = _term_value(problem, U, rows)
    feasible = feasibility(limits, norms, sizes)
    primal = datafit.value(E, v) + extra + float(limits @ sizes)
    dual = datafit.dual_value(E, v, feasible.shrink) - feasible.residual
    dual -= feasible.shrink**2 * extra  # conjugate of a homogeneous quadratic
    worst = max(float(off.max(initial=0.0)), float(np.linalg.norm(datafit.gradient(E, v)[1])))
    gap = max(0.0, primal - dual) / units.value
    return Certificate(primal, dual, gap, worst / units.slope), norms


def solve(
    problem: Problem,
    alpha: float,
    *,
    null: Solution,
    start: Solution | None = None,
    solver: Solver | None = None,
) -> Solution:
    """The minimiser at alpha, with its certificate.

    Parameters
    ----------
    null : Solution
        `null_solution(problem)`: the answer from alpha_max upwards, and the units of the
        certificate.
    start : Solution, optional
        Warm start, usually the answer at the next larger alpha of a path.
    """
    solver = solver or Solver()
    if alpha >= null.alpha:
        return replace(null, alpha=alpha)
    start = start or null
    datafit, penalty = problem.datafit, problem.penalty
    units = Units.of(null.certificate.primal, null.alpha)
    limits = penalty.limits(alpha)
    rows, v, norms, n_iter = start.rows, start.v, start.norms, 0
    if solver.working_set:
        # Sequential strong rule: a gradient moves about as fast as alpha does, so a variable below
        # 2 alpha - alpha_before will likely stay out. The full pass afterwards makes sure.
        likely = np.flatnonzero(norms >= 2.0 * limits - penalty.limits(start.alpha))
        room = max(MIN_ROOM, 2 * len(rows.index))
        index = np.union1d(rows.index, worst_offenders(norms, limits, likely, room))
    else:
        index = np.arange(problem.n_features)
    inner_tol = 0.5 * solver.tol
    while True:
        # 1) solve on the working set
        X = problem.source.columns(index)
        settings = InnerSolver(inner_tol * units.value, solver.max_iter - n_iter, solver.accelerate)
        inner = forward_backward(
            datafit.restrict(X), penalty.take(index), rows.restrict(index), v, alpha, settings
        )
        rows, v, n_iter = Rows(index, inner.B).drop_zeros(), inner.v, n_iter + inner.n_iter
        # 2) one pass over all columns: is it optimal everywhere?
        proof, norms = certify(problem, alpha, rows, X @ inner.B, v, units)
        status = None
        if proof.gap <= solver.tol:
            status = Status.CONVERGED
        elif n_iter >= solver.max_iter:
            status = Status.MAX_ITER
        elif inner_tol < np.finfo(float).eps:
            status = Status.STALLED
        if status is not None:
            return Solution(alpha, rows, v, norms, proof, status, n_iter)
        # 3) admit the worst offenders, as many again as there are; with none, look closer inside
        outside = np.setdiff1d(np.flatnonzero(norms > limits), index)
        inner_tol *= 1.0 if len(outside) else 0.1
        room = max(MIN_ROOM, len(index))
        index = np.union1d(index, worst_offenders(norms, limits, outside, room))


def worst_offenders(norms: Array, limits: Array, among: IntArray, count: int) -> IntArray:
    """The `count` of these variables whose gradient exceeds its limit most (or comes closest)."""
    if len(among) <= count:
        return among
    excess = norms[among] - limits[among]
    return among[np.argpartition(-excess, count)[:count]]
