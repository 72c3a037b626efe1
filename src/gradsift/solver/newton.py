"""Forward-backward steps let rows in; Newton steps on the rows that are in do the rest.

Where no row is zero the penalty is smooth, so on the rows that a forward-backward step leaves
non-zero the objective has a Hessian, and one Newton step goes further than dozens of plain ones
(Bareilles, Iutzeler and Malick, 2023). It is solved by conjugate gradients: all they ask are
products with the Hessian, each as costly as one gradient on these few rows.

Where columns are nearly copies of each other, most rows that come in have to leave again. Newton
steps are repeated until the rows that are in are nearly solved for, rows leaving on the way, and
only as many new rows are let in as stayed the last time.

The forward-backward steps alone converge, and a Newton step is taken only where it descends, so
the whole converges from anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gradsift._typing import Array, IntArray, Penalty, Restricted
from gradsift.numerics.newton import conjugate_gradients
from gradsift.solver.forward_backward import (
    STEP_RATIO,
    InnerResult,
    InnerSolver,
    Point,
    Slope,
    descend,
    duality_gap,
    objective,
    slope_at,
    step_above,
)
from gradsift.solver.penalty import row_norms
from gradsift.solver.preconditioner import MeanInverse, RowBend, TaskMean

FORCING = 0.3  # a Newton step is solved to this part of its right-hand side: rows may still leave
EASY = 8  # ... or this many products; with that many, the better preconditioner is worth its cost
MOST_PRODUCTS = 60  # ... with which as many may be needed
TYPICAL = 0.3  # typical curvature of Phi beside the largest one met
MOST_DIRECT = 400  # rows for which small matrices are worth their factorising
HALVINGS = 7  # of a Newton step that leads uphill, before it is given up
INSIDE = 0.3  # part of the duality gap at which rows that are in count as solved for
WORTH = 0.05  # part of the gap on these rows that a Newton step has to gain, for another to follow


Mask: TypeAlias = NDArray[np.bool_]


class Standing(NamedTuple):
    """A point, its slope, its objective, and how far it can be from the optimum."""

    point: Point
    slope: Slope
    objective: float
    gap: float

    @classmethod
    def at(cls, phi: Restricted, limits: Array, point: Point) -> Standing:
        slope, value = slope_at(phi, point), objective(phi, limits, point)
        return cls(point, slope, value, duality_gap(phi, limits, point, slope, value))


def manifold_newton(
    phi: Restricted, penalty: Penalty, B: Array, v: Array, alpha: float, settings: InnerSolver
) -> InnerResult:
    """Minimise Phi(B, v) + alpha * penalty(B) until the duality gap is below tol."""
    limits = penalty.limits(alpha)
    now = Standing.at(phi, limits, Point(B, v, phi.image(B, v)))
    # curvature along the slope: below the largest, but `descend` finds out
    form = phi.curvature(now.point.image, phi.image(*now.slope), *now.slope)
    if form <= 0.0:  # nothing here can change the predictions
        return InnerResult(B, v, 0)
    step, n_iter, room = step_above(form / _square(now.slope)), 0, len(B)
    hard = False
    while n_iter < settings.max_iter:
        # 1) forward-backward step: which rows are in?
        before = rows_in(now.point.B, limits)
        slope = slope_of(now.slope, admitted(now.slope.B, limits, before, room))
        point, _, step = descend(phi, penalty, now.point, slope, alpha, step - 1)
        now = Standing.at(phi, limits, point)
        came = rows_in(point.B, limits) & ~before
        # 2) Newton steps on those
        start = Progress(now, n_iter + 1, hard)
        now, n_iter, hard = newton_steps(
            phi, limits, start, TYPICAL * STEP_RATIO**step, settings.tol, settings.max_iter
        )
        if now.gap <= settings.tol:
            break
        stayed = int((came & rows_in(now.point.B, limits)).sum())
        room = 2 * room if stayed == came.sum() else max(1, stayed)
    return InnerResult(now.point.B, now.point.v, n_iter)


def _square(slope: Slope) -> float:
    return float(np.vdot(slope.B, slope.B) + np.vdot(slope.v, slope.v))


def rows_in(B: Array, limits: Array) -> Mask:
    """Rows that are not zero, or are never penalised."""
    return np.asarray((row_norms(B) > 0.0) | (limits <= 0.0))


def admitted(slope: Array, limits: Array, inside: Mask, room: int) -> Mask:
    """The non-zero rows, and the `room` others whose gradients exceed their limits most."""
    excess = np.where(inside, 0.0, row_norms(slope) - limits)
    worst = np.argsort(-excess, kind="stable")[:room]
    out = inside.copy()
    out[worst[excess[worst] > 0.0]] = True
    return out


def slope_of(slope: Slope, rows: Mask) -> Slope:
    """The slope in these rows alone."""
    return Slope(np.where(rows[:, None], slope.B, 0.0), slope.v)


class Progress(NamedTuple):
    """Where Newton steps lead, the products they took, and whether they were hard to solve for."""

    now: Standing
    products: int
    hard: bool


def newton_steps(
    phi: Restricted, limits: Array, start: Progress, curvature: float, tol: float, most: int
) -> Progress:
    """Newton steps on the non-zero rows, until most of the duality gap is due to the others."""
    now, products, hard = start
    while now.gap > tol and products < most:
        budget = min(MOST_PRODUCTS if hard else EASY, most - products)
        point, used = newton_step(phi, limits, now, curvature, budget, hard=hard)
        products, hard = products + max(1, used), hard or used >= EASY
        if point is now.point:
            break
        last, now = now, Standing.at(phi, limits, point)
        if now.gap > tol and not worth_another(phi, limits, last, now):
            break
    return Progress(now, products, hard)


def worth_another(phi: Restricted, limits: Array, last: Standing, now: Standing) -> bool:
    """Whether the non-zero rows still cause enough of the gap, and the last step reduced it."""
    inside = rows_in(now.point.B, limits)
    slope = slope_of(now.slope, inside)
    left = duality_gap(phi, limits, now.point, slope, now.objective)
    fewer = inside.sum() < rows_in(last.point.B, limits).sum()
    gained = last.objective - now.objective > WORTH * left
    return bool(left > INSIDE * now.gap and (fewer or gained))


def newton_step(
    phi: Restricted, limits: Array, now: Standing, curvature: float, budget: int, *, hard: bool
) -> tuple[Point, int]:
    """The point a Newton step leads to, and the Hessian products it took."""
    at, slope = now.point, now.slope
    rows = np.flatnonzero(rows_in(at.B, limits))
    if len(rows) == 0 and at.v.size == 0:
        return at, 0
    B, split = at.B[rows], len(rows) * at.B.shape[1]
    bend = RowBend.at(B, limits[rows])
    part = phi.take(rows)
    hessian = part.hessian(at.image)
    solve, solve_v = preconditioners(part, at.image, bend, curvature, hard)

    def unpack(x: Array) -> tuple[Array, Array]:
        return x[:split].reshape(B.shape), x[split:].reshape(at.v.shape)

    def product(x: Array) -> Array:
        D, dv = unpack(x)
        HD, Hv = hessian(D, dv)
        return np.concatenate([(HD + bend.times(D)).ravel(), Hv.ravel()])

    def precondition(x: Array) -> Array:
        R, r = unpack(x)
        return np.concatenate([solve(R).ravel(), solve_v(r).ravel()])

    uphill = slope.B[rows] + limits[rows][:, None] * bend.unit
    downhill = -np.concatenate([uphill.ravel(), slope.v.ravel()])
    step, products = conjugate_gradients(product, downhill, precondition, FORCING, budget)
    return along_step(phi, limits, now, Step(rows, *unpack(step))), products


Solve = Callable[[Array], Array]


def preconditioners(
    part: Restricted, image: Array, bend: RowBend, curvature: float, hard: bool
) -> tuple[Solve, Solve]:
    """Approximate inverses of the Hessian in the rows and in v."""
    solve: Solve = partial(bend.solve, curvature=curvature)
    mean = part.mean_hessian(image) if 0 < len(bend.unit) <= MOST_DIRECT else None
    kind = MeanInverse if hard else TaskMean
    inverse = None if mean is None else kind.of(bend, mean)
    offset = part.offset_hessian(image)
    return (
        solve if inverse is None else inverse.solve,
        (lambda r: r / curvature) if offset is None else partial(np.matmul, np.linalg.inv(offset)),
    )


class Step(NamedTuple):
    """A change of some rows, and of v."""

    rows: IntArray
    B: Array
    v: Array


def along_step(phi: Restricted, limits: Array, now: Standing, step: Step) -> Point:
    """The furthest point tried along a step that is no higher than where it starts.

    A row that would turn round passes zero on the way, and stays there. Where columns are
    correlated a step sends many rows past zero, and what stopping them all leaves of it may lead
    uphill: then the whole step ends where half of them have stopped, a quarter, and so on.
    """
    at = now.point
    slack = np.finfo(float).eps * abs(now.objective)  # in the end a descent drowns in rounding
    ends = turning(at.B[step.rows], step.B, limits[step.rows])
    for length in lengths(np.sort(ends[ends < 1.0])):
        B, v = at.B.copy(), at.v + length * step.v
        B[step.rows] = np.where((ends <= length)[:, None], 0.0, B[step.rows] + length * step.B)
        new = Point(B, v, phi.image(B, v))
        if objective(phi, limits, new) <= now.objective + slack:
            return new
    return at


def turning(B: Array, D: Array, limits: Array) -> Array:
    """The part of a step D at which each penalised row of B turns round; inf = never."""
    towards = -np.einsum("ij,ij->i", B, D)
    turns = (towards > 0.0) & (limits > 0.0)
    return np.where(turns, np.einsum("ij,ij->i", B, B) / np.where(turns, towards, 1.0), np.inf)


def lengths(stops: Array) -> Iterator[float]:
    """A whole step, then up to half of its sorted stops, a quarter, ..., the first; then less.

    Examples
    --------
    >>> list(lengths(np.array([0.1, 0.2, 0.4, 0.8])))[:4]
    [1.0, 0.2, 0.1, 0.05]
    """
    yield 1.0
    count = len(stops) // 2
    while count > 0:
        yield float(stops[count - 1])
        count //= 2
    first = float(stops[0]) if len(stops) else 1.0
    if len(stops) == 1:
        yield first
    for k in range(1, HALVINGS + 1):
        yield first * 0.5**k
