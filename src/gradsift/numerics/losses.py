"""Losses of a pair: psi(e, t), where e is what the field predicts for a pair and t what was seen.

A loss knows no X, no kernel and no weights. Arrays carry the outputs (one per class contrast) on
axis 0, so every loss sums over axis 0 and returns one number per pair.

| loss          | e, t                                  | psi                         | psi'' <= |
|---------------|---------------------------------------|-----------------------------|----------|
| `Squared`     | change of y along the pair            | sum_c (t_c - e_c)^2         | 2        |
| `Logistic`    | log odds at the far end, label -1, 1  | log(1 + exp(-t e))          | 1/4      |
| `Multinomial` | scores at the far end, one-hot label  | log sum_c exp(e_c) - t . e  | 1/2      |

`curvature(e, t, d)` bounds d . psi'' d along the whole segment from e to e + d, and so
the length of a step. Away from the decision boundary it is far below the global bound
`steepest` |d|^2, and a solver may step as much further.

`hessian(e, t)` is the linear map d -> psi''(e) d.

`conjugate(g, t)` is psi*(g) = sup_e (g . e - psi(e, t)); the duality gap is built on it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from scipy.special import expit, xlogy

from gradsift.protocols import Array


class Loss(Protocol):
    """A convex, smooth loss."""

    def value(self, e: Array, t: Array) -> Array: ...
    def slope(self, e: Array, t: Array) -> Array: ...
    def curvature(self, e: Array, t: Array, d: Array) -> Array: ...
    def conjugate(self, g: Array, t: Array) -> Array: ...
    def hessian(self, e: Array, t: Array) -> Callable[[Array], Array]: ...

    def mean_bend(self, e: Array, t: Array) -> Array | None:
        """Second derivative in one output, averaged over them; None where it is not worth
        computing. It only speeds up the solver, so what couples the outputs may be left out.
        """
        ...


def softmax(e: Array) -> Array:
    """exp(e_c) / sum_c exp(e_c) over axis 0; scipy's takes three times as long on small axes."""
    q: Array = np.exp(e - e.max(axis=0))
    q /= q.sum(axis=0)
    return q


def log_sum_exp(e: Array) -> Array:
    """log sum_c exp(e_c) over axis 0."""
    top = e.max(axis=0)
    return np.asarray(top + np.log(np.exp(e - top).sum(axis=0)))


@dataclass(frozen=True)
class Squared:
    """(t - e)^2, scaled as the paper prints it (no 1/2)."""

    steepest: ClassVar[float] = 2.0

    def value(self, e: Array, t: Array) -> Array:
        return np.asarray(np.square(t - e).sum(axis=0))

    def slope(self, e: Array, t: Array) -> Array:
        return 2.0 * (e - t)

    def curvature(self, e: Array, t: Array, d: Array) -> Array:
        return np.asarray(2.0 * np.square(d).sum(axis=0))

    def conjugate(self, g: Array, t: Array) -> Array:
        return np.asarray((g * t + 0.25 * g * g).sum(axis=0))

    def hessian(self, e: Array, t: Array) -> Callable[[Array], Array]:
        return lambda d: 2.0 * d

    def mean_bend(self, e: Array, t: Array) -> Array:
        return np.full(e.shape[1:], 2.0)


@dataclass(frozen=True)
class Logistic:
    """log(1 + exp(-t e)) with labels t in {-1, 1}."""

    steepest: ClassVar[float] = 0.25

    def value(self, e: Array, t: Array) -> Array:
        return np.asarray(np.logaddexp(0.0, -t * e).sum(axis=0))

    def slope(self, e: Array, t: Array) -> Array:
        return np.asarray(-t * expit(-t * e))

    def curvature(self, e: Array, t: Array, d: Array) -> Array:
        # the third derivative is at most the second, so that grows at most by exp(|d|)
        p = expit(e)
        grown = p * (1.0 - p) * np.exp(np.minimum(np.abs(d), 50.0))
        return np.asarray((np.minimum(grown, self.steepest) * d * d).sum(axis=0))

    def conjugate(self, g: Array, t: Array) -> Array:
        # finite only where q = -t g is a probability; slopes and shrunken slopes always are
        q = np.clip(-t * g, 0.0, 1.0)
        return np.asarray((xlogy(q, q) + xlogy(1.0 - q, 1.0 - q)).sum(axis=0))

    def hessian(self, e: Array, t: Array) -> Callable[[Array], Array]:
        p = expit(e)
        p *= 1.0 - p
        return lambda d: p * d

    def mean_bend(self, e: Array, t: Array) -> Array:
        p = expit(e)
        return np.asarray((p * (1.0 - p)).mean(axis=0))


@dataclass(frozen=True)
class Multinomial:
    """Cross-entropy of softmax(e) with one-hot labels t."""

    steepest: ClassVar[float] = 0.5

    def value(self, e: Array, t: Array) -> Array:
        return np.asarray(log_sum_exp(e) - (t * e).sum(axis=0))

    def slope(self, e: Array, t: Array) -> Array:
        return softmax(e) - t

    def curvature(self, e: Array, t: Array, d: Array) -> Array:
        # the form is the variance of d under p, and p changes at most by exp(2 max |d|)
        p = softmax(e)
        variance = (p * np.square(d - (p * d).sum(axis=0))).sum(axis=0)
        grown = variance * np.exp(np.minimum(2.0 * np.abs(d).max(axis=0), 50.0))
        return np.asarray(np.minimum(grown, self.steepest * np.square(d).sum(axis=0)))

    def conjugate(self, g: Array, t: Array) -> Array:
        q = np.clip(t + g, 0.0, 1.0)
        return np.asarray(xlogy(q, q).sum(axis=0))

    def hessian(self, e: Array, t: Array) -> Callable[[Array], Array]:
        p = softmax(e)
        return lambda d: p * (d - (p * d).sum(axis=0))

    def mean_bend(self, e: Array, t: Array) -> Array:
        p = softmax(e)
        return np.asarray((p * (1.0 - p)).mean(axis=0))
