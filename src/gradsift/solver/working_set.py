"""The outer loop: solve on few columns, check on all, admit the worst offenders, repeat.

    minimise over B (p, q) and v    Phi(X B, v) + alpha sum_k omega_k ||B_k||_2

on a working set of w of the p columns; one pass over all columns then gives every ||X_k' M||, M
(n, q) the gradient of Phi in X B, and with them the duality gap of the whole problem. Which columns
to begin with is guessed by the sequential strong rule, or along the path; working sets grow as
in celer.

References
----------
:cite:`tibshirani-2012`, :cite:`massias-2018`
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from gradsift._run.overflow import refuse_overflow
from gradsift._run.passes import each_block
from gradsift.protocols import Array, IntArray, Penalty
from gradsift.solver.forward_backward import (
    InnerSolver,
    feasibility,
    forward_backward,
)
from gradsift.solver.newton import manifold_newton
from gradsift.solver.problem import (
    PIECE_BYTES,
    Certificate,
    Problem,
    Rows,
    Solution,
    Status,
    row_norms,
)
from gradsift.solver.ridge import minimise_smooth

# ------------------------------------------------ where to begin at a new alpha
STRAY = 0.25
"""Time: how far a gradient may stray from a prediction, in falls of its limit."""


class Start(NamedTuple):
    """Rows and v to begin with, and how large each variable's gradient may be at the new alpha.

    None of it need be right: the full pass afterwards makes sure. It only saves steps.
    """

    rows: Rows
    v: Array
    reach: Array


def after(last: Solution, alpha: float, penalty: Penalty) -> Start:
    """From one answer, by the sequential strong rule: a gradient grows no faster than alpha falls.

    So a variable whose gradient is below 2 alpha - alpha_before will likely stay out.
    """
    return Start(last.rows, last.v, last.norms + _fall(last, alpha, penalty))


def along(last: Solution, before: Solution, alpha: float, penalty: Penalty) -> Start:
    """On the line through the last two answers of a path."""
    if not before.alpha > last.alpha > alpha:
        return after(last, alpha, penalty)
    ahead = (last.alpha - alpha) / (before.alpha - last.alpha)
    index, old = last.rows.index, last.rows.values
    values = old + ahead * (old - before.rows.restrict(index))
    values[np.einsum("ij,ij->i", values, old) < 0.0] = 0.0  # it would leave on the way
    return Start(
        Rows(index, values),
        last.v + ahead * (last.v - before.v),
        last.norms + ahead * (last.norms - before.norms) + STRAY * _fall(last, alpha, penalty),
    )


def _fall(last: Solution, alpha: float, penalty: Penalty) -> Array:
    """How far each variable's limit falls."""
    return penalty.limits(last.alpha) - penalty.limits(alpha)


# ------------------------------------------------ solving
LEAST_GRADIENTS = 2000
"""Time: gradients that unpenalised columns may take, however few they are."""
MIN_ROOM = 64
"""Time: columns a working set may take in at a time, at least."""


@dataclass(frozen=True)
class Units:
    """What gaps and violations are measured in: objective and largest slope of the zero field."""

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
        Most inner iterations, summed over working sets.
    plain : bool
        Forward-backward steps over all columns, as the paper prints its algorithm, in place of
        Newton steps between them over working sets.
    """

    tol: float = 1e-4
    max_iter: int = 20_000
    plain: bool = False


class FullPass(NamedTuple):
    """What one pass over all columns says about an answer (rows, v)."""

    E: Array  # pair predictions
    extra: float  # value of the quadratic added to Phi
    norms: Array  # ||gradient_k|| of every variable
    gradient: Array  # of the stored rows
    g: Array  # in v


def full_pass(
    problem: Problem, rows: Rows, U: Array, v: Array, limits: Array | None = None
) -> FullPass:
    """Gradients of all variables at an answer with U = X B: the one pass over X it needs.

    With `limits`, gradients that are clearly below theirs are known to six digits only.
    """
    datafit = problem.datafit
    E = datafit.predict(U, v)
    M, g = datafit.gradient(E, v)
    extra, slope = datafit.term(rows.values)
    norms = gradient_norms(problem, M) if limits is None else screened_norms(problem, M, limits)
    gradient = problem.source.columns(rows.index).T @ M + slope
    norms[rows.index] = row_norms(gradient)
    return FullPass(E, extra, norms, gradient, g)


def gradient_norms(problem: Problem, M: Array) -> Array:
    """||X_k' M|| for every column."""
    n, p = problem.source.shape
    out = np.empty(p)
    norms = partial(product_norms, M)
    for where, found in each_block(
        problem.source, lambda _: norms, width=max(1, PIECE_BYTES // (8 * n))
    ):
        out[where] = found
    return out


def screened_norms(problem: Problem, M: Array, limits: Array) -> Array:
    """The same, exact only where a norm may reach its limit; see `gradsift.solver.problem`."""
    if problem.screen is None:
        return gradient_norms(problem, M)
    norms, close = problem.screen.norms(M, limits)
    norms[close] = product_norms(M, problem.source.columns(close))
    return norms


def exact_norms(problem: Problem, answer: Solution) -> Array:
    """||gradient_k|| of every variable at an answer, to all digits: a pass of its own."""
    rows = answer.rows
    U = problem.source.columns(rows.index) @ rows.values
    return full_pass(problem, rows, U, answer.v).norms


def product_norms(M: Array, block: Array) -> Array:
    return row_norms(block.T @ M)


def certify(
    problem: Problem, alpha: float, rows: Rows, v: Array, seen: FullPass, units: Units
) -> Certificate:
    """Certificate over all variables, from the pass that looked at them."""
    datafit, penalty = problem.datafit, problem.penalty
    limits = penalty.limits(alpha)
    off = np.maximum(seen.norms - limits, 0.0)
    off[rows.index] = penalty.take(rows.index).violation(rows.values, seen.gradient, alpha)
    worst = max(float(off.max(initial=0.0)), float(np.linalg.norm(seen.g)))

    sizes = np.zeros(problem.n_features)
    sizes[rows.index] = row_norms(rows.values)
    feasible = feasibility(limits, seen.norms, sizes)
    primal = datafit.value(seen.E, v) + seen.extra + float(limits @ sizes)
    dual = datafit.dual_value(seen.E, v, feasible.shrink) - feasible.residual
    dual -= feasible.shrink**2 * seen.extra  # conjugate of a homogeneous quadratic
    gap = max(0.0, primal - dual) / units.value
    return Certificate(primal, dual, gap, worst / units.slope)


@refuse_overflow
def null_solution(problem: Problem) -> Solution:
    """The answer at alpha_max: only unpenalised rows and v, both at their optimum."""
    datafit = problem.datafit
    limits = problem.penalty.limits(1.0)
    penalised = limits > 0.0
    free = np.flatnonzero(~penalised)
    X = problem.source.columns(free)
    zero = np.zeros((len(free), datafit.n_tasks))
    # a quadratic takes as many gradients as unknowns; separable classes would take any number
    most = max(LEAST_GRADIENTS, 4 * zero.size)
    B, v = minimise_smooth(datafit.restrict(X), zero, datafit.start(), 0.0, most)
    rows = Rows(free, B).drop_zeros()
    seen = full_pass(problem, rows, X @ B, v)
    alpha = float((seen.norms[penalised] / limits[penalised]).max(initial=0.0))
    value = datafit.value(seen.E, v) + seen.extra
    proof = certify(problem, alpha, rows, v, seen, units_of(problem, value, v, alpha))
    return Solution(alpha, rows, v, seen.norms, proof, Status.CONVERGED, 0)


def units_of(problem: Problem, null_value: float, v: Array, alpha_max: float) -> Units:
    """Objective and slope of the zero field, with `v` at the null answer.

    Those are the null objective and alpha_max, unless some variables are free: these may fit so
    well that nothing is left to measure in.
    """
    if (problem.penalty.limits(1.0) > 0.0).all():
        return Units.of(null_value, alpha_max)
    n, tasks = problem.source.shape[0], problem.datafit.n_tasks
    field = np.zeros((n, tasks))
    value = problem.datafit.value(problem.datafit.predict(field, v), v)
    if alpha_max > 0.0:
        return Units.of(value, alpha_max)
    nothing = Rows(np.zeros(0, dtype=np.intp), np.zeros((0, tasks)))
    return Units.of(value, float(full_pass(problem, nothing, field, v).norms.max()))


@refuse_overflow
def solve(
    problem: Problem,
    alpha: float,
    *,
    null: Solution,
    start: Start | None = None,
    solver: Solver | None = None,
) -> Solution:
    """The minimiser at alpha, with its certificate.

    Parameters
    ----------
    null : Solution
        `null_solution(problem)`: the answer from alpha_max upwards, and the units of the
        certificate.
    start : Start, optional
        Where to begin, see `gradsift.solver.working_set`; None = from `null`.
    """
    solver = solver or Solver()
    if alpha >= null.alpha:
        # classes that a free column separates: the null answer itself may be out of reach
        reached = null.certificate.gap <= solver.tol
        return replace(null, alpha=alpha, status=Status.CONVERGED if reached else Status.STALLED)
    penalty = problem.penalty
    units = units_of(problem, null.certificate.primal, null.v, null.alpha)
    limits = penalty.limits(alpha)
    rows, v, reach = start or after(null, alpha, penalty)
    if solver.plain:
        index, inner_solver = np.arange(problem.n_features), forward_backward
    else:
        room = max(MIN_ROOM, 2 * len(rows.index))
        likely = worst_offenders(reach, limits, np.flatnonzero(reach >= limits), room)
        index, inner_solver = np.union1d(rows.index, likely), manifold_newton
    inner_tol, n_iter = 0.5 * solver.tol, 0
    while True:
        # 1) solve on the working set
        X = problem.source.columns(index)
        settings = InnerSolver(inner_tol * units.value, solver.max_iter - n_iter)
        inner = inner_solver(
            problem.datafit.restrict(X), penalty.take(index), rows.restrict(index), v, alpha,
            settings,
        )  # fmt: skip
        rows, v, n_iter = Rows(index, inner.B).drop_zeros(), inner.v, n_iter + inner.n_iter
        # 2) one pass over all columns: is it optimal everywhere?
        seen = full_pass(problem, rows, X @ inner.B, v, limits)
        proof = certify(problem, alpha, rows, v, seen, units)
        status = None
        if proof.gap <= solver.tol:
            status = Status.CONVERGED
        elif n_iter >= solver.max_iter:
            status = Status.MAX_ITER
        elif inner_tol < np.finfo(float).eps:
            status = Status.STALLED
        if status is not None:
            return Solution(alpha, rows, v, seen.norms, proof, status, n_iter)
        # 3) admit the worst offenders, as many again as there are; with none, look closer inside
        outside = np.setdiff1d(np.flatnonzero(seen.norms > limits), index)
        inner_tol *= 1.0 if len(outside) else 0.1
        room = max(MIN_ROOM, len(index))
        index = np.union1d(index, worst_offenders(seen.norms, limits, outside, room))


def worst_offenders(norms: Array, limits: Array, among: IntArray, count: int) -> IntArray:
    """The `count` of these variables whose gradient exceeds its limit most (or comes closest)."""
    if len(among) <= count:
        return among
    excess = norms[among] - limits[among]
    return among[np.argpartition(-excess, count)[:count]]
