"""What a loss or a penalty of a user's own must be, checked before any work begins."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from gradsift._typing import Array
from gradsift.numerics.losses import Loss
from gradsift.numerics.sampling import evenly_spaced

LOSS_METHODS = ("value", "slope", "curvature", "conjugate", "hessian", "mean_bend")
PROBES = 9  # pairs at which a loss is asked about itself
STEP = 1e-5  # of the differences, in units of the spread of the targets
AGREES = 1e-4  # how well they must fit, relative


class ConcavePenalty(Protocol):
    """alpha sum_k omega_k P(||f^k||_K) with P concave, through its slope.

    The group lasso is P(s) = s. Concave forms (log-sum, SCAD, MCP) shrink large derivatives less.
    """

    def factors(self, sizes: Array, alpha: float) -> Array:
        """P'(s) at each size s >= 0: 1 at zero, never rising, never negative."""
        ...


def check_methods(thing: Any, methods: tuple[str, ...], parameter: str) -> None:
    """Refuse an object that lacks a method, by its name."""
    missing = [name for name in methods if not callable(getattr(thing, name, None))]
    if missing:
        raise ValueError(
            f"{parameter}={thing!r} has no method {', '.join(missing)}. It needs "
            f"{', '.join(methods)}; docs/tutorials/own_loss.md writes one."
        )


def check_loss(loss: Loss, targets: Array) -> None:
    """Refuse a loss whose parts contradict each other at some of the targets (c, n).

    The slope must be the derivative of the value, and the conjugate must satisfy Fenchel's
    inequality, with equality at the slope. Otherwise the duality gap would certify nothing.
    """
    check_methods(loss, LOSS_METHODS, "loss")
    some = evenly_spaced(targets.shape[1], PROBES)
    t = targets[:, some]
    spread = float(np.std(targets)) or 1.0
    for shift in (-1.5, -0.1, 0.7):
        e = t + shift * spread
        size = AGREES * (1.0 + float(np.abs(loss.value(e, t)).max()))
        slope = loss.slope(e, t)
        for c in range(len(t)):
            step = np.zeros_like(e)
            step[c] = STEP * spread
            rise = (loss.value(e + step, t) - loss.value(e - step, t)) / (2.0 * STEP * spread)
            if not np.abs(rise - slope[c]).max() <= AGREES * (1.0 + np.abs(slope).max()):
                _refuse(loss, "slope(e, t) is not the derivative of value(e, t)", e, t)
        equal = loss.value(e, t) + loss.conjugate(slope, t) - (slope * e).sum(axis=0)
        if not np.abs(equal).max() <= size:
            _refuse(loss, "value(e, t) + conjugate(slope, t) is not slope . e", e, t)
        half = 0.5 * slope
        excess = loss.value(e, t) + loss.conjugate(half, t) - (half * e).sum(axis=0)
        if not excess.min() >= -size:
            _refuse(loss, "conjugate(g, t) is below g . e - value(e, t) at half the slope", e, t)


def _refuse(loss: Loss, what: str, e: Array, t: Array) -> None:
    raise ValueError(
        f"loss={loss!r}: {what}, e.g. near e={e[:, 0].round(4).tolist()}, "
        f"t={t[:, 0].round(4).tolist()}. Its certificate would be wrong."
    )


def check_penalty(penalty: ConcavePenalty | None) -> None:
    """Refuse a penalty without its method."""
    if penalty is not None:
        check_methods(penalty, ("factors",), "penalty")


def penalty_factors(penalty: ConcavePenalty, sizes: Array, alpha: float) -> Array:
    """The factors at some sizes, checked."""
    factors = np.asarray(penalty.factors(sizes, alpha), dtype=float)
    if factors.shape != sizes.shape:
        raise ValueError(
            f"penalty={penalty!r}: factors has shape {factors.shape} for {len(sizes)} sizes."
        )
    order = np.argsort(sizes, kind="stable")
    falling = (np.diff(factors[order]) <= 1e-9).all()
    if not (np.isfinite(factors).all() and factors.min() >= 0.0 and falling):
        raise ValueError(
            f"penalty={penalty!r}: factors must be finite, not negative, and never rise with the "
            "size: the slope of a concave function."
        )
    return factors
