"""Newton steps on the non-zero rows, between forward-backward steps that let rows in.

    minimise over B (w, q) and v    Phi(B, v) + sum_k limit_k ||B_k||_2

Where no row is zero the penalty is smooth, so on the rows that a forward-backward step leaves
non-zero the objective has a Hessian, and one Newton step goes further than dozens of plain ones.
It is solved by conjugate gradients: all they ask are products with the Hessian, each as
costly as one gradient on these few rows.

Where columns are nearly copies of each other, most rows that come in have to leave again. Newton
steps are repeated until the rows that are in are nearly solved for, rows leaving on the way, and
only as many new rows are let in as stayed the last time.

The forward-backward steps alone converge, and a Newton step is taken only where it descends, so
the whole converges from anywhere.

References
----------
:cite:`bareilles-2023`
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gradsift.numerics.newton import conjugate_gradients
from gradsift.protocols import Array, IntArray, MeanHessian, Penalty, Restricted
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
from gradsift.solver.problem import row_norms

# ------------------------------------------------ approximate inverses of the Hessian
# On the rows of B that are not zero.
#
# The Hessian is that of Phi plus that of the penalty (`RowBend`). Both inverses here take that of
# Phi for one matrix over columns times one over tasks (`MeanHessian`). `TaskMean` is cheap: it
# has all tasks alike. `MeanInverse` solves what is then left exactly, with w^3 m multiplications
# for w rows and m tasks; on real tables it needs a fifth of the products.

LEAST_BEND = 1e-3
"""Time: added to the matrix over columns, in means of its diagonal: more rows than samples leave it
singular.
"""
LEAST_TASK = 1e-6
"""Time: of the largest bend of a task: kernels have directions in which Phi hardly bends at all."""
NEARLY = 1e-10
"""Rounding: relative slack that keeps the inverse positive under rounding."""
TOGETHER = 50_000
"""Memory: values of the unit directions that are multiplied together (.4 MB)."""


@dataclass(frozen=True)
class RowBend:
    """Second derivative of sum_k limit_k ||B_k|| at non-zero rows: stiff_k (I - u_k u_k').

    u_k is the row's direction and stiff_k = limit_k / ||B_k||: a row turns the harder the smaller
    it is, and grows or shrinks freely.
    """

    unit: Array
    stiff: Array

    @classmethod
    def at(cls, B: Array, limits: Array) -> RowBend:
        sizes = row_norms(B)
        sizes = np.where(sizes > 0.0, sizes, 1.0)[:, None]  # zero only where the limit is zero
        return cls(B / sizes, limits[:, None] / sizes)

    def _along(self, D: Array) -> Array:
        return np.asarray(np.einsum("ij,ij->i", self.unit, D)[:, None])

    def times(self, D: Array) -> Array:
        return self.stiff * D - (self.stiff * self._along(D)) * self.unit

    def solve(self, R: Array, curvature: float) -> Array:
        """(curvature I + this)^-1 R: the Hessian, had Phi the same curvature everywhere."""
        across = 1.0 / (curvature + self.stiff)
        return across * R + ((1.0 / curvature - across) * self._along(R)) * self.unit


@dataclass(frozen=True)
class TaskMean:
    """Approximate inverse Hessian, as if Phi bent alike in all tasks.

    A change of the rows is split: along each row, where the penalty does not bend, and across,
    where row k bends by stiff_k. Each part is solved for as if the other were not there.
    """

    unit: Array
    along: Array  # (w, w) inverses
    across: Array

    @classmethod
    def of(cls, bend: RowBend, mean: MeanHessian) -> TaskMean | None:
        """None where H is rounding only: every pair is predicted so well that none bends Phi."""
        H = lifted(mean.columns)
        if H is None:
            return None
        return cls(
            bend.unit,
            np.linalg.inv(H * (bend.unit @ bend.unit.T)),
            np.linalg.inv(H + np.diag(bend.stiff[:, 0])),
        )

    def _split(self, R: Array) -> tuple[Array, Array]:
        sizes = np.einsum("ij,ij->i", self.unit, R)[:, None]
        return sizes, R - sizes * self.unit

    def solve(self, R: Array) -> Array:
        sizes, across = self._split(R)
        return (self.along @ sizes) * self.unit + self._split(self.across @ across)[1]


def lifted(H: Array) -> Array | None:
    """The matrix over columns, made positive definite; None where it is rounding only."""
    if not (H.diagonal() > 0.0).all():
        return None
    mean = max(float(H.trace()) / len(H), np.finfo(float).tiny)
    return np.asarray(H + LEAST_BEND * mean * np.eye(len(H)))


def inner_products(rows: Array, unit: Array, inverse: Array) -> Array:
    """(w, w) inner products of the unit directions in the inverse without them, a few axes of the
    rows at a time: all together would be w times the coefficients.
    """
    w, root = len(rows), np.sqrt(inverse)
    out = np.zeros((w, w))
    step = max(1, TOGETHER // unit.size)
    for start in range(0, w, step):
        some = slice(start, start + step)
        half = rows[:, some, None, None] * (unit[:, None] * root[None, some, None, :])
        half = half.reshape(w, -1)
        out += half @ half.T
    return out


@dataclass(frozen=True)
class MeanInverse:
    """(H x A + bend)^-1, with H (w, w) over columns and A (m, m) over tasks.

    The bend is stiff x I less one direction per row. Without these directions, one change of axes
    makes everything diagonal: H = Q^-T Q^-1 and diag(stiff) = Q^-T diag(sigma) Q^-1, A = T diag(a)
    T'. The directions, w of them, come back by the Woodbury identity.

    Attributes
    ----------
    rows : (w, w) array
        Q.
    tasks : (m, m) array
        T.
    inverse : (w, m) array
        1 / (sigma_q + a_t).
    unit : (w, c, m) array
        The rows' directions in the axes of the tasks, times the roots of their stiffness.
    coupling : (w, w) array
        Inverse of the small matrix of the identity.
    """

    rows: Array
    tasks: Array
    inverse: Array
    unit: Array
    coupling: Array

    @classmethod
    def of(cls, bend: RowBend, mean: MeanHessian) -> MeanInverse | None:
        """None where H is rounding only: every pair is predicted so well that none bends Phi."""
        H = lifted(mean.columns)
        if H is None:
            return None
        w, m = len(H), len(mean.task_sizes)
        a = np.maximum(mean.task_sizes, LEAST_TASK * mean.task_sizes.max())
        stiff = bend.stiff[:, 0]
        root = np.linalg.inv(np.linalg.cholesky(H))
        sigma, V = np.linalg.eigh((root * stiff) @ root.T)
        rows = root.T @ V
        inverse = 1.0 / (a + np.maximum(sigma, 0.0)[:, None])
        unit = (np.sqrt(stiff)[:, None] * bend.unit).reshape(w, -1, m) @ mean.task_axes
        left = (1.0 + NEARLY) * np.eye(w) - inner_products(rows, unit, inverse)
        coupling = np.linalg.inv(left)
        return cls(rows, mean.task_axes, inverse, unit, coupling)

    def _without(self, R: Array) -> Array:
        """The inverse without the unit directions, in the axes of the tasks: (w, c, m)."""
        w = len(R)
        Z = (self.rows.T @ R.reshape(w, -1)).reshape(R.shape)
        Z *= self.inverse[:, None, :]
        return (self.rows @ Z.reshape(w, -1)).reshape(R.shape)

    def solve(self, R: Array) -> Array:
        w, m = len(R), len(self.tasks)
        first = self._without(R.reshape(w, -1, m) @ self.tasks)
        pull = self.coupling @ np.einsum("kcm,kcm->k", self.unit, first)
        second = self._without(pull[:, None, None] * self.unit)
        return ((first + second) @ self.tasks.T).reshape(R.shape)


# ------------------------------------------------ steps
# Numbers of the route to an answer: its certificate does not depend on them.
FORCING = 0.3
"""Time: a Newton step is solved to this part of its right-hand side: rows may still leave."""
EASY = 8
"""Time: products for one step at first; where all are used, the better preconditioner pays."""
MOST_PRODUCTS = 60
"""Time: products for one step with the better preconditioner."""
TYPICAL = 0.3
"""Time: typical curvature of Phi as a part of the largest one met."""
MOST_DIRECT = 400
"""Time: rows for which small matrices are worth their factorising."""
HALVINGS = 7
"""Time: of a Newton step that leads uphill, before it is given up."""
INSIDE = 0.3
"""Time: part of the duality gap at which rows that are in count as solved for."""
WORTH = 0.05
"""Time: part of the gap on these rows that a step has to gain, for another to follow."""

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
