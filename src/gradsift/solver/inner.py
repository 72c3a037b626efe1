"""Forward-backward splitting on the columns in hand, plain (the paper's) or accelerated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gradsift._typing import Array, Datafit, Penalty
from gradsift.penalty import row_norms
from gradsift.solver.problem import Certificate

DECAY = 0.9  # how fast a step length recovers where the curvature has fallen


class InnerResult(NamedTuple):
    B: Array
    v: Array
    E: Array
    step_bound: float
    n_iter: int


@dataclass(frozen=True)
class Units:
    """What gaps and violations are measured in: the null objective and alpha_max."""

    value: float = 1.0
    slope: float = 1.0


def certificate(
    datafit: Datafit,
    penalty: Penalty,
    alpha: float,
    units: Units,
    *,
    E: Array,
    v: Array,
    sizes: Array,
    norms: Array,
    violation: float = 0.0,
) -> Certificate:
    """Primal and dual objective at a point, from every row's ||B_k|| and gradient norm.

    The slopes at E, shrunk until no variable's gradient exceeds its limit, are dual feasible. An
    unpenalised variable has limit zero, which no shrinking reaches: its Fenchel residual
    ||gradient|| ||B_k|| is added instead, so the gap still closes only at the optimum.
    """
    limits = penalty.limits(alpha)
    free = limits <= 0.0
    ratio = norms[~free] / limits[~free]
    shrink = min(1.0, 1.0 / ratio.max(initial=1.0))
    primal = datafit.value(E, v) + float(limits @ sizes)
    dual = datafit.dual_value(E, v, shrink) - float(norms[free] @ sizes[free])
    gap = max(0.0, primal - dual) / units.value
    return Certificate(primal, dual, gap, violation / units.slope)


def step_bound(datafit: Datafit, X: Array, E: Array, B: Array, v: Array, n_iter: int = 12) -> float:
    """Largest curvature of Phi at E, by power iteration from the direction (B, v).

    Starting from a gradient keeps every later step equivariant: rotating the factor or repeating a
    row with half its weight rotates the iterates and changes no norm.
    """
    largest, tiny = 0.0, 1e-3
    M0, g0 = datafit.gradient(E, np.zeros_like(v))
    for _ in range(n_iter):
        size = float(np.sqrt(np.vdot(B, B) + np.vdot(v, v)))
        if size == 0.0:
            break
        B, v = B / size, v / size
        dE = datafit.predict(X @ B, v)
        largest = max(largest, datafit.curvature(E, tiny * dE, tiny * v) / tiny**2)
        M1, g1 = datafit.gradient(E + tiny * dE, tiny * v)
        B, v = X.T @ (M1 - M0), g1 - g0
    return 1.05 * largest


def forward_backward(
    datafit: Datafit,
    penalty: Penalty,
    X: Array,
    B: Array,
    v: Array,
    alpha: float,
    *,
    tol: float,
    units: Units,
    max_iter: int,
    bound: float = 0.0,
    accelerate: bool = True,
    check_every: int = 10,
) -> InnerResult:
    """Solve on the columns X until the relative duality gap is below tol.

    Each step is a gradient step on Phi followed by the penalty's prox. With `accelerate`, steps
    start from an extrapolated point (Nesterov), restarted whenever the momentum points uphill
    (O'Donoghue and Candes, 2015). `bound` is the curvature the step length trusts; it grows when a
    step proves it too small, so the step is never longer than a descent step may be.
    """
    E = datafit.predict(X @ B, v)
    M, g = datafit.gradient(E, v)
    G = X.T @ M
    if bound <= 0.0:
        bound = step_bound(datafit, X, E, G, g)
    if bound <= 0.0:  # nothing here can change the predictions
        return InnerResult(B, v, E, bound, 0)

    momentum, n_iter = 1.0, 0
    Bz, vz, Ez = B, v, E
    while n_iter < max_iter:
        # 1) forward-backward step from the extrapolated point z
        bound *= DECAY
        while True:
            B_new = penalty.prox(Bz - G / bound, alpha / bound)
            v_new = vz - g / bound
            E_new = datafit.predict(X @ B_new, v_new)
            dB, dv = B_new - Bz, v_new - vz
            size = float(np.vdot(dB, dB) + np.vdot(dv, dv))
            form = datafit.curvature(Ez, E_new - Ez, dv)
            if form <= bound * size * (1.0 + 1e-9):
                break
            bound = 1.05 * form / size
        n_iter += 1

        # 2) stop when the gap on these columns is closed
        if n_iter % check_every == 0 or n_iter == 1:
            M, g = datafit.gradient(E_new, v_new)
            norms = row_norms(X.T @ M)
            check = certificate(
                datafit, penalty, alpha, units,
                E=E_new, v=v_new, sizes=row_norms(B_new), norms=norms,
            )  # fmt: skip
            if check.gap <= tol:
                return InnerResult(B_new, v_new, E_new, bound, n_iter)

        # 3) extrapolate, unless the momentum points uphill
        beta = 0.0
        if accelerate:
            uphill = np.vdot(Bz - B_new, B_new - B) + np.vdot(vz - v_new, v_new - v) > 0.0
            if uphill:
                momentum = 1.0
            following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
            beta = (momentum - 1.0) / following
            momentum = following
        Bz = B_new + beta * (B_new - B)
        vz = v_new + beta * (v_new - v)
        Ez = E_new + beta * (E_new - E)
        B, v, E = B_new, v_new, E_new
        M, g = datafit.gradient(Ez, vz)
        G = X.T @ M
    return InnerResult(B, v, E, bound, n_iter)
