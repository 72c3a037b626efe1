"""Forward-backward splitting on the columns in hand, plain (the paper's) or accelerated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gradsift._typing import Array, Penalty, Restricted
from gradsift.penalty import row_norms

RUNG = 1.1  # step lengths are powers of this
CHECK_EVERY = 10  # steps between two looks at the duality gap


class InnerResult(NamedTuple):
    B: Array
    v: Array
    n_iter: int


class Feasibility(NamedTuple):
    """How a dual point is made feasible, and what that leaves unpaid."""

    shrink: float
    residual: float


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


def _rung_above(curvature: float) -> int:
    return int(np.ceil(np.log(curvature) / np.log(RUNG)))


@dataclass(frozen=True)
class InnerSolver:
    """Settings of the inner solver.

    Parameters
    ----------
    tol : float
        Duality gap on the columns in hand, in absolute units, at which to stop.
    max_iter : int
    accelerate : bool
    """

    tol: float
    max_iter: int
    accelerate: bool = True


def forward_backward(
    phi: Restricted, penalty: Penalty, B: Array, v: Array, alpha: float, settings: InnerSolver
) -> InnerResult:
    """Minimise Phi(B, v) + alpha * penalty(B) until the duality gap is below tol.

    Each step is a gradient step on Phi followed by the penalty's prox. With `accelerate`, steps
    start from an extrapolated point (Nesterov), restarted whenever the momentum points uphill
    (O'Donoghue and Candes, 2015). The step is 1 / bound, where bound is at least the curvature met
    along the step, so it never is longer than a descent step may be; each step first tries one rung
    longer. Bounds on a ladder of fixed values keep rounding out of the step lengths, and so out of
    the iterates: runs that differ in the last bit stay together.
    """
    limits = penalty.limits(alpha)
    image = phi.image(B, v)
    G, g = phi.gradient(image, B, v)
    largest = step_bound(phi, G, g)
    if largest <= 0.0:  # nothing here can change the predictions
        return InnerResult(B, v, 0)
    rung = _rung_above(largest)

    momentum = 1.0
    Bz, vz, image_z = B, v, image
    for n_iter in range(1, settings.max_iter + 1):
        # 1) forward-backward step from the extrapolated point z
        rung -= 1
        while True:
            bound = RUNG**rung
            B_new = penalty.prox(Bz - G / bound, alpha / bound)
            v_new = vz - g / bound
            image_new = phi.image(B_new, v_new)
            dB, dv = B_new - Bz, v_new - vz
            size = float(np.vdot(dB, dB) + np.vdot(dv, dv))
            form = phi.curvature(image_z, image_new - image_z, dB, dv)
            if form <= bound * size * (1.0 + 1e-9):
                break
            rung = max(rung + 1, _rung_above(form / size))

        # 2) stop when the gap on these columns is closed
        if n_iter % CHECK_EVERY == 0 or n_iter == 1:
            norms = row_norms(phi.gradient(image_new, B_new, v_new)[0])
            sizes = row_norms(B_new)
            dual = feasibility(limits, norms, sizes)
            primal = phi.value(image_new, B_new, v_new) + float(limits @ sizes)
            bound_below = phi.dual_value(image_new, B_new, v_new, dual.shrink) - dual.residual
            if primal - bound_below <= settings.tol:
                return InnerResult(B_new, v_new, n_iter)

        # 3) extrapolate, unless the momentum points uphill
        beta = 0.0
        if settings.accelerate:
            if np.vdot(Bz - B_new, B_new - B) + np.vdot(vz - v_new, v_new - v) > 0.0:
                momentum = 1.0
            following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
            beta = (momentum - 1.0) / following
            momentum = following
        Bz = B_new + beta * (B_new - B)
        vz = v_new + beta * (v_new - v)
        image_z = image_new + beta * (image_new - image)
        B, v, image = B_new, v_new, image_new
        G, g = phi.gradient(image_z, Bz, vz)
    return InnerResult(B, v, settings.max_iter)
