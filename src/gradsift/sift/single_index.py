"""Columns that act along one direction: y ~ h(b'x), h a curve, b sparse.

In a wave of a sum such as sin(2 (x_1 + x_2 + x_3)), each column and each product explains little,
so that the support may miss some of the columns. Projection pursuit (Friedman and Stuetzle,
Projection pursuit regression, JASA 1981) looks at one sum of all candidates at a time: h is a ridge
combination of bumps, and b moves by Gauss-Newton steps from three starts,

* the least squares slope, which has the direction of b unless h is even (Brillinger 1982),
* the same with small weights shrunk,
* the principal Hessian direction, for an even h (Li, JASA 1992).

Columns whose weight is within noise are dropped by the extended BIC (Chen and Chen, Biometrika
2008). The others are added to the selected ones if the residual variance of the curve is below
`index_gain` times that of the support, and that of a straight line in the same columns. Smaller
gains are left to the levels of the sift.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from gradsift.protocols import Array, IntArray
from gradsift.sift.settings import DEFAULT, SiftSettings

ROUNDS = 15
"""Time: Gauss-Newton steps at most; they end where the loss falls by a ten-thousandth."""
TINY = np.finfo(float).tiny


class Curve(NamedTuple):
    """A fit y ~ h(Xb): its loss, b and the t-values of b."""

    loss: float
    b: Array
    t: Array


def smooth(u: Array, y: Array, w: Array, settings: SiftSettings = DEFAULT) -> tuple[Array, Array]:
    """A curve through (u, y), and its slope, at each u."""
    apart = u[:, None] - np.linspace(-2.5, 2.5, settings.index_bumps)
    bumps = np.exp(-0.5 * apart**2)
    centred = bumps - w @ bumps / w.sum()
    gram = (centred.T * w) @ centred + settings.index_ridge * w.sum() * np.eye(apart.shape[1])
    a = np.linalg.solve(gram, centred.T @ (w * y))
    return centred @ a, -(bumps * apart) @ a


def pursue(X: Array, y: Array, w: Array, b: Array, settings: SiftSettings = DEFAULT) -> Curve:
    """The curve along one direction, from the start b; X and y are centred."""

    def along(b: Array) -> tuple[float, Array, Array, Array]:
        u = X @ b
        b = b / np.sqrt(max(w @ u**2 / w.sum(), TINY))
        h, slope = smooth(X @ b, y, w, settings)
        return float(w @ (y - h) ** 2), b, h, slope

    loss, b, h, slope = along(b)
    for _ in range(ROUNDS):
        J = slope[:, None] * X
        curvature = (J.T * w) @ J
        curvature.flat[:: len(b) + 1] += settings.index_ridge * curvature.trace()
        step = np.linalg.solve(curvature, J.T @ (w * (y - h)))
        tried = (along(b + size * step) for size in (1.0, 0.5, 0.25, 0.1))
        better = next((found for found in tried if found[0] < loss), None)
        if better is None:
            break
        gain, (loss, b, h, slope) = loss - better[0], better
        if gain < 1e-4 * loss:
            break
    J = slope[:, None] * X
    J -= w @ J / w.sum()
    free = max(w.sum() - len(b) - settings.index_bumps, 1.0)
    spread = np.sqrt(loss / free * np.linalg.pinv((J.T * w) @ J).diagonal())
    return Curve(loss, b, np.abs(b) / np.maximum(spread, TINY))


def starts(X: Array, y: Array, w: Array) -> Iterator[Array]:
    """The least squares slope, the same squared, and the principal Hessian direction."""
    root = np.sqrt(w)[:, None]
    U, sizes, V = np.linalg.svd(root * X, full_matrices=False)
    U, V = U[:, sizes > 1e-6 * sizes[0]], V[sizes > 1e-6 * sizes[0]]
    inverse = V.T / sizes[: len(V)]
    slope = inverse @ (U.T @ (root[:, 0] * y))
    yield slope
    yield slope * np.abs(slope)
    sizes, axes = np.linalg.eigh((U.T * y) @ U)
    yield inverse @ axes[:, np.argmax(np.abs(sizes))]


def bent_columns(
    X: Array, y: Array, w: Array, left: float, p: int, settings: SiftSettings = DEFAULT
) -> IntArray:
    """Indices of the columns of X (n, d) that a curve along one direction needs; none if its loss
    is not clearly below `left`. X was chosen from p columns.
    """
    total, kept = w.sum(), np.arange(X.shape[1])
    X = X - w @ X / total
    y = y - w @ y / total
    cost = np.log(total) + 2.0 * np.log(p)
    curves = [pursue(X, y, w, b, settings) for b in starts(X, y, w)]
    curve = min(curves, key=lambda curve: curve.loss)
    while (needed := curve.t**2 > cost).any() and not needed.all():
        kept = kept[needed]
        curve = pursue(X[:, kept], y, w, curve.b[needed], settings)
    root = np.sqrt(w)
    line = np.linalg.lstsq(root[:, None] * X[:, kept], root * y, rcond=None)[0]
    least = settings.index_gain * min(left, float(w @ (y - X[:, kept] @ line) ** 2))
    spent = cost * len(kept) + np.log(total) * settings.index_bumps
    clear = needed.any() and curve.loss < least * np.exp(-spent / total)
    return kept if clear else kept[:0]
