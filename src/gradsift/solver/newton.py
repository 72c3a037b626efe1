"""Forward-backward steps find which rows are in; Newton steps on those rows do the rest.

Where no row is zero the penalty is smooth, so on the rows that a forward-backward step leaves
non-zero the objective has a Hessian, and one Newton step goes further than dozens of plain ones
(Bareilles, Iutzeler and Malick, 2023). It is solved by conjugate gradients: all they ask are
products with the Hessian, each as costly as one gradient on these few rows.

The forward-backward steps alone converge, and a Newton step is taken only where it descends, so
the whole converges from anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from gradsift._typing import Array, IntArray, Penalty, Restricted
from gradsift.numerics.newton import conjugate_gradients
from gradsift.solver.forward_backward import (
    RUNG,
    InnerResult,
    InnerSolver,
    Point,
    Slope,
    descend,
    duality_gap,
    objective,
    rung_above,
    slope_at,
)
from gradsift.solver.penalty import row_norms

FORCING = 0.3  # a Newton step is solved to this part of its right-hand side: rows may still leave
MOST_PRODUCTS = 12  # ... or this many products: in 20, rounding grows to what a user would see
TYPICAL = 0.3  # typical curvature of Phi beside the largest one met
MOST_DIRECT = 400  # rows for which two small matrices are worth their factorising
LEAST_BEND = 1e-3  # added to them, in means of their diagonal
VANISHING = 2.0  # forward-backward steps: a row gone after so many is left out of Newton steps
SHORTEST = 1.0 / 128.0  # part of a Newton step below which it is given up


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
    where row k bends by stiff_k. Each part is solved for as if the other were not there; what is
    left between them, and between tasks that differ, conjugate gradients make good.
    """

    unit: Array
    along: Array  # (w, w) inverses
    across: Array

    @classmethod
    def of(cls, bend: RowBend, H: Array) -> TaskMean | None:
        """None where H is rounding only: every pair is predicted so well that none bends Phi."""
        if not (H.diagonal() > 0.0).all():
            return None
        floor = LEAST_BEND * max(float(H.trace()) / len(H), np.finfo(float).tiny) * np.eye(len(H))
        along = np.linalg.inv(H * (bend.unit @ bend.unit.T) + floor)
        across = np.linalg.inv(H + floor + np.diag(bend.stiff[:, 0]))
        return cls(bend.unit, along, across)

    def _split(self, R: Array) -> tuple[Array, Array]:
        sizes = np.einsum("ij,ij->i", self.unit, R)[:, None]
        return sizes, R - sizes * self.unit

    def solve(self, R: Array) -> Array:
        sizes, across = self._split(R)
        return (self.along @ sizes) * self.unit + self._split(self.across @ across)[1]


def manifold_newton(
    phi: Restricted, penalty: Penalty, B: Array, v: Array, alpha: float, settings: InnerSolver
) -> InnerResult:
    """Minimise Phi(B, v) + alpha * penalty(B) until the duality gap is below tol."""
    limits = penalty.limits(alpha)
    here = Point(B, v, phi.image(B, v))
    slope = slope_at(phi, here)
    # curvature along the slope: below the largest, but `descend` finds out
    form = phi.curvature(here.image, phi.image(*slope), *slope)
    if form <= 0.0:  # nothing here can change the predictions
        return InnerResult(B, v, 0)
    rung, n_iter = rung_above(form / _square(slope)), 0
    while n_iter < settings.max_iter:
        # 1) forward-backward step: which rows are in?
        here, _, rung = descend(phi, penalty, here, slope, alpha, rung - 1)
        slope = slope_at(phi, here)
        n_iter += 1
        if duality_gap(phi, limits, here, slope) <= settings.tol or n_iter >= settings.max_iter:
            break
        # 2) Newton step on those that stay, if it descends
        budget = min(MOST_PRODUCTS, settings.max_iter - n_iter)
        here, products = newton_step(phi, limits, here, slope, TYPICAL * RUNG**rung, budget)
        slope = slope_at(phi, here)
        n_iter += products
        if duality_gap(phi, limits, here, slope) <= settings.tol:
            break
    return InnerResult(here.B, here.v, n_iter)


def _square(slope: Slope) -> float:
    return float(np.vdot(slope.B, slope.B) + np.vdot(slope.v, slope.v))


def staying(B: Array, slope: Array, limits: Array, bound: float) -> IntArray:
    """Rows not about to vanish: `VANISHING` forward-backward steps would leave them in.

    Newton steps send the others past zero, all at once, and where columns are correlated what
    stopping them there leaves of the step may lead uphill.
    """
    sizes = row_norms(B)
    pull = limits + np.einsum("ij,ij->i", slope, B) / np.where(sizes > 0.0, sizes, 1.0)
    return np.flatnonzero(((sizes > 0.0) & (sizes * bound > VANISHING * pull)) | (limits <= 0.0))


def newton_step(
    phi: Restricted, limits: Array, at: Point, slope: Slope, curvature: float, budget: int
) -> tuple[Point, int]:
    """The point a Newton step on the rows that stay leads to, and the Hessian products it took."""
    rows = staying(at.B, slope.B, limits, curvature / TYPICAL)
    if len(rows) == 0 and at.v.size == 0:
        return at, 0
    B, split = at.B[rows], len(rows) * at.B.shape[1]
    bend = RowBend.at(B, limits[rows])
    part = phi.take(rows)
    hessian = part.hessian(at.image)
    H = part.mean_hessian(at.image) if 0 < len(rows) <= MOST_DIRECT else None
    mean = None if H is None else TaskMean.of(bend, H)
    solve = partial(bend.solve, curvature=curvature) if mean is None else mean.solve

    def unpack(x: Array) -> tuple[Array, Array]:
        return x[:split].reshape(B.shape), x[split:].reshape(at.v.shape)

    def product(x: Array) -> Array:
        D, dv = unpack(x)
        HD, Hv = hessian(D, dv)
        return np.concatenate([(HD + bend.times(D)).ravel(), Hv.ravel()])

    def precondition(x: Array) -> Array:
        R, r = unpack(x)
        return np.concatenate([solve(R).ravel(), r.ravel() / curvature])

    uphill = slope.B[rows] + limits[rows][:, None] * bend.unit
    downhill = -np.concatenate([uphill.ravel(), slope.v.ravel()])
    step, products = conjugate_gradients(product, downhill, precondition, FORCING, budget)
    D, dv = unpack(step)

    before, length = objective(phi, limits, at), 1.0
    slack = np.finfo(float).eps * abs(before)  # near the optimum a descent drowns in rounding
    while length >= SHORTEST:
        moved = B + length * D
        # a row that would turn round passes zero on the way, and stays there
        turned = (np.einsum("ij,ij->i", bend.unit, moved) <= 0.0) & (limits[rows] > 0.0)
        moved[turned] = 0.0
        new_B, new_v = at.B.copy(), at.v + length * dv
        new_B[rows] = moved
        new = Point(new_B, new_v, phi.image(new_B, new_v))
        if objective(phi, limits, new) <= before + slack:
            return new, products
        length *= 0.5
    return at, products
