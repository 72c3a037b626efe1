"""Forward-backward splitting, as the paper prints it, and what every inner solver is made of.

    minimise over B (w, q) and v    Phi(B, v) + sum_k limit_k ||B_k||_2

for w columns, with Phi a `Restricted` data term. Each step is a gradient step on Phi and the
proximal operator of the penalty (:cite:`beck-2009`, without their momentum). `newton` shares what
is here: steps no longer than descent allows, and the duality gap that stops them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gradsift.protocols import Array, Penalty, Restricted
from gradsift.solver.problem import row_norms

STEP_RATIO = 1.1
"""Time: step lengths are powers of this: a grid, on which `step` numbers them."""
CHECK_EVERY = 10
"""Time: steps between two computations of the duality gap, each of which costs a gradient."""


class InnerResult(NamedTuple):
    B: Array
    v: Array
    n_iter: int


class Point(NamedTuple):
    """Where an inner solver stands, with the image of it."""

    B: Array
    v: Array
    image: Array


class Slope(NamedTuple):
    """The gradient of Phi in B and in v."""

    B: Array
    v: Array


class Feasibility(NamedTuple):
    """How a dual point is made feasible, and what that leaves unpaid."""

    shrink: float
    residual: float


@dataclass(frozen=True)
class InnerSolver:
    """Settings of the inner solver.

    Parameters
    ----------
    tol : float
        Duality gap on the columns in hand, in absolute units, at which to stop.
    max_iter : int
        Most gradients (or as costly products) to compute.
    """

    tol: float
    max_iter: int


def feasibility(limits: Array, norms: Array, sizes: Array) -> Feasibility:
    """From every row's limit, gradient norm and size ||B_k||.

    The slopes, shrunk until no variable's gradient exceeds its limit, are dual feasible. An
    unpenalised variable has limit zero, which no shrinking reaches: its Fenchel residual
    ||gradient|| ||B_k|| is subtracted from the dual instead, so the gap still closes only at the
    optimum.
    """
    free = limits <= 0.0
    ratio = norms[~free] / limits[~free]
    return Feasibility(min(1.0, 1.0 / ratio.max(initial=1.0)), float(norms[free] @ sizes[free]))


def objective(phi: Restricted, limits: Array, at: Point) -> float:
    return phi.value(at.image, at.B, at.v) + float(limits @ row_norms(at.B))


def duality_gap(
    phi: Restricted, limits: Array, at: Point, slope: Slope, value: float | None = None
) -> float:
    """How far `at` can be from the optimum on these columns; `value` is its objective, if known.

    With a slope that is zero in some rows: from the optimum with these rows as they are.
    """
    dual = feasibility(limits, row_norms(slope.B), row_norms(at.B))
    bound_below = phi.dual_value(at.image, at.B, at.v, dual.shrink) - dual.residual
    return (objective(phi, limits, at) if value is None else value) - bound_below


def slope_at(phi: Restricted, at: Point) -> Slope:
    return Slope(*phi.gradient(at.image, at.B, at.v))


def step_bound(phi: Restricted, B: Array, v: Array, n_iter: int = 12) -> float:
    """Largest curvature of Phi near zero, by power iteration from the direction (B, v).

    Starting from a gradient keeps every later step equivariant: rotating the factor or repeating a
    row with half its weight rotates the iterates and changes no norm.
    """
    largest, tiny = 0.0, 1e-3
    no_B, no_v = np.zeros_like(B), np.zeros_like(v)
    at_zero = phi.image(no_B, no_v)
    G0, g0 = phi.gradient(at_zero, no_B, no_v)
    for _ in range(n_iter):
        size = float(np.sqrt(np.vdot(B, B) + np.vdot(v, v)))
        if size == 0.0:
            break
        B, v = tiny / size * B, tiny / size * v
        image = phi.image(B, v)
        largest = max(largest, phi.curvature(at_zero, image, B, v) / tiny**2)
        G, g = phi.gradient(image, B, v)
        B, v = G - G0, g - g0
    return 1.05 * largest


def step_above(curvature: float) -> int:
    """Number of the longest step on the grid that suits a curvature."""
    return int(np.ceil(np.log(curvature) / np.log(STEP_RATIO)))


def curvature_along(form: float, dB: Array, dv: Array) -> float:
    """The quadratic form of a step over the step's squared length; 0 where nothing moves.

    The length is measured in units of its largest part: squares of small steps would vanish.
    """
    unit = np.float64(max(np.abs(dB).max(initial=0.0), np.abs(dv).max(initial=0.0)))
    if unit == 0.0 or form <= 0.0:
        return 0.0
    length = unit * np.sqrt(np.sum((dB / unit) ** 2) + np.sum((dv / unit) ** 2))
    return float((np.sqrt(form) / length) ** 2)


class Descent(NamedTuple):
    """Where a forward-backward step leads, its number on the grid of lengths, and the number that
    suits the curvature it met.
    """

    to: Point
    step: int
    met: int


def descend(
    phi: Restricted, penalty: Penalty, start: Point, slope: Slope, alpha: float, step: int
) -> Descent:
    """A gradient step on Phi followed by the penalty's prox.

    The step is 1 / bound, where bound is at least the curvature met along the step, so it never is
    longer than a descent step may be. Bounds on a grid of fixed values (`step` is the first to be
    tried) keep rounding out of the step lengths, and so out of the iterates: runs that differ in
    the last bit stay together.
    """
    while True:
        bound = STEP_RATIO**step
        B = penalty.prox(start.B - slope.B / bound, alpha / bound)
        v = start.v - slope.v / bound
        image = phi.image(B, v)
        dB, dv = B - start.B, v - start.v
        met = curvature_along(phi.curvature(start.image, image - start.image, dB, dv), dB, dv)
        if met <= bound * (1.0 + 1e-9):
            step_met = step_above(met) if met > 0.0 else step - 1
            return Descent(Point(B, v, image), step, min(step_met, step))
        step = max(step + 1, step_above(met))


def forward_backward(
    phi: Restricted, penalty: Penalty, B: Array, v: Array, alpha: float, settings: InnerSolver
) -> InnerResult:
    """Minimise Phi(B, v) + alpha * penalty(B) until the duality gap is below tol.

    Each step first tries the next longer one.
    """
    limits = penalty.limits(alpha)
    here = Point(B, v, phi.image(B, v))
    slope = slope_at(phi, here)
    largest = step_bound(phi, *slope)
    if largest <= 0.0:  # nothing here can change the predictions
        return InnerResult(B, v, 0)
    step = step_above(largest)
    for n_iter in range(1, settings.max_iter + 1):
        here, step, _ = descend(phi, penalty, here, slope, alpha, step - 1)
        slope = slope_at(phi, here)
        look = n_iter % CHECK_EVERY == 0 or n_iter == 1
        if look and duality_gap(phi, limits, here, slope) <= settings.tol:
            return InnerResult(here.B, here.v, n_iter)
    return InnerResult(here.B, here.v, settings.max_iter)
