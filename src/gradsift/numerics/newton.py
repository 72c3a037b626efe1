"""Smooth convex minimisation to high accuracy: Newton steps by conjugate gradients.

Hessian products are differences of gradients, so nothing but values and gradients is asked of the
problem; for a quadratic they are exact and one step is enough. Unlike a quasi-Newton method it does
not stall where the objective has become flat to rounding: it solves gradient = 0.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gradsift.protocols import Array


def minimise(
    value_and_gradient: Callable[[Array], tuple[float, Array]],
    gradient: Callable[[Array], Array],
    x: Array,
    *,
    tol: float = 1e-11,
    max_iter: int = 60,
    max_gradients: int | None = None,
) -> tuple[Array, int]:
    """(x, gradients used): x with a gradient below tol times the one at the start.

    Stops after `max_iter` steps, or after the step in which `max_gradients` are used up.
    """
    value, g = value_and_gradient(x)
    size, used = float(np.linalg.norm(g)), 1
    if not np.isfinite(size):  # older versions of numpy do not raise this in a product
        raise FloatingPointError("overflow encountered in the norm of a gradient")
    goal = tol * size
    for _ in range(max_iter):
        if size <= goal or (max_gradients is not None and used >= max_gradients):
            break
        step, products = _newton_step(gradient, x, g, forcing=min(0.1, size))
        used += products
        length, slope = 1.0, float(g @ step)
        while True:
            trial, trial_g = value_and_gradient(x + length * step)
            used += 1
            # near the optimum the decrease drowns in rounding: a smaller gradient counts too
            decreased = trial <= value + 1e-4 * length * slope
            if decreased or np.linalg.norm(trial_g) < 0.5 * size or length < 1e-8:
                break
            length *= 0.5
        if length < 1e-8:
            break
        x, value, g = x + length * step, trial, trial_g
        size = float(np.linalg.norm(g))
    return x, used


def _newton_step(
    gradient: Callable[[Array], Array],
    x: Array,
    g: Array,
    forcing: float,
) -> tuple[Array, int]:
    """Conjugate gradients on H step = -g, to a residual of forcing * ||g||."""

    def product(d: Array) -> Array:
        # central differences, at a length where truncation and rounding balance
        h = 1e-5 * (1.0 + float(np.linalg.norm(x))) / float(np.linalg.norm(d))
        return (gradient(x + h * d) - gradient(x - h * d)) / (2.0 * h)

    step, products = conjugate_gradients(product, -g, lambda r: r, forcing, max(25, len(g) // 2))
    return (step if step.any() else -g), 2 * products


def conjugate_gradients(
    product: Callable[[Array], Array],
    b: Array,
    precondition: Callable[[Array], Array],
    forcing: float,
    max_products: int,
) -> tuple[Array, int]:
    """(x, products used): H x = b to a residual of forcing * ||b||, as the preconditioner measures.

    x and b are arrays of any shape, seen as vectors. Stops early at a direction of no curvature.
    """
    x, r = np.zeros_like(b), b
    z = precondition(r)
    d, rz = z, float(np.vdot(r, z))
    goal, products = forcing**2 * rz, 0
    while rz > goal and products < max_products:
        Hd = product(d)
        products += 1
        curvature = float(np.vdot(d, Hd))
        if curvature <= 0.0:
            break
        a = rz / curvature
        x, r = x + a * d, r - a * Hd
        z = precondition(r)
        rz, previous = float(np.vdot(r, z)), rz
        d = z + (rz / previous) * d
    return x, products
