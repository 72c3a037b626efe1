"""Array aliases and the three protocols the solver talks to.

The solver never sees a kernel, a label or a file. It minimises

    Phi(X B, v)  +  alpha * sum_k omega_k ||B_k||_2

over the rows B_k (one per variable) and a few free parameters v, where Phi is smooth and convex: a
`Datafit`. X is a `Source` of column blocks, the second term a `Penalty`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.floating[Any]]
IntArray: TypeAlias = NDArray[np.integer[Any]]
HessianProduct: TypeAlias = Callable[[Array, Array], tuple[Array, Array]]


@runtime_checkable
class Source(Protocol):
    """A wide table met only as columns: the whole out-of-core story is this interface."""

    @property
    def shape(self) -> tuple[int, int]: ...

    def columns(self, index: IntArray) -> Array:
        """The named columns, (n, len(index)), in memory."""
        ...

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        """All columns, in order, as (which, (n, width)) pieces."""
        ...


class Datafit(Protocol):
    """Phi(U, v), a smooth convex function of U = X B (n, q) and free parameters v.

    It factors through the pair predictions E = predict(U, v), which are linear in (U, v):
    extrapolating an iterate extrapolates its E, at no cost.
    """

    @property
    def n_tasks(self) -> int:
        """q, the number of columns of B."""
        ...

    def start(self) -> Array:
        """v at zero; of size 0 where there are no free parameters."""
        ...

    def predict(self, U: Array, v: Array) -> Array:
        """Pair predictions E."""
        ...

    def value(self, E: Array, v: Array) -> float: ...

    def gradient(self, E: Array, v: Array) -> tuple[Array, Array]:
        """(M, g): the gradient in U, so that the gradient in B is X' M, and the gradient in v."""
        ...

    def curvature(self, E: Array, dE: Array, dv: Array) -> float:
        """An upper bound of the Hessian's quadratic form on the segment from E to E + dE."""
        ...

    def dual_value(self, E: Array, v: Array, shrink: float) -> float:
        """Dual objective at `shrink` (in [0, 1]) times the slopes at E."""
        ...

    def term(self, U: Array, B: Array) -> tuple[float, Array, Array] | None:
        """A convex quadratic beside Phi, if any: its value, its gradient in U and in B directly."""
        ...

    def restrict(self, X: Array) -> Restricted:
        """All of it as a function of the rows of a few columns."""
        ...


class Restricted(Protocol):
    """Phi(X B, v) on the columns of a working set, as a function of (B, v) itself.

    Everything is computed from `image(B, v)`, which is linear: extrapolating a point extrapolates
    its image.
    """

    def image(self, B: Array, v: Array) -> Array: ...

    def value(self, image: Array, B: Array, v: Array) -> float: ...

    def gradient(self, image: Array, B: Array, v: Array) -> tuple[Array, Array]: ...

    def hessian(self, image: Array) -> HessianProduct:
        """Second derivative there, as products with changes (dB, dv)."""
        ...

    def mean_hessian(self, image: Array) -> Array | None:
        """(w, w) second derivative in one task of all rows, averaged over the tasks; None where
        tasks are coupled by more than the rows' penalty.
        """
        ...

    def take(self, rows: IntArray) -> Restricted:
        """The same with only these rows of B free, the others staying where an image has them."""
        ...

    def curvature(self, image: Array, d_image: Array, dB: Array, dv: Array) -> float: ...

    def dual_value(self, image: Array, B: Array, v: Array, shrink: float) -> float: ...


class Penalty(Protocol):
    """alpha times a sum over rows of B, separable, with a cheap proximal step."""

    def take(self, index: IntArray) -> Penalty:
        """The penalty of these rows alone."""
        ...

    def value(self, B: Array, alpha: float) -> float: ...

    def prox(self, B: Array, step: float) -> Array: ...

    def violation(self, B: Array, gradient: Array, alpha: float) -> Array: ...

    def limits(self, alpha: float) -> Array:
        """Largest gradient norm per row that leaves a zero row at zero."""
        ...
