"""Array aliases, the base class of sources, and the protocols the solver talks to.

The solver never sees a kernel, a label or a file. It minimises

    Phi(X B, v)  +  alpha * sum_k omega_k ||B_k||_2

over the rows B_k (one per variable) and a few free parameters v, where Phi is smooth and convex: a
`Datafit`. X is a `Source` of column blocks, the second term a `Penalty`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.floating[Any]]
IntArray: TypeAlias = NDArray[np.integer[Any]]
TableLike: TypeAlias = object
"""A table as users pass it: an (n, p) array, a data frame, a sparse matrix, a path, a `Source`, or
whatever else `gradsift.data` opens. It is checked as it is read.
"""
HessianProduct: TypeAlias = Callable[[Array, Array], tuple[Array, Array]]


GenotypeSums: TypeAlias = Iterator[tuple[slice, Array]]
"""Ranges of columns, and sums over the rows with 0, 1 and 2 copies of an allele (3, width, m)."""

R = TypeVar("R")
Job: TypeAlias = Callable[[Array], R]
"""What is done to one block; it may be sent to another machine, so it carries what it needs."""


class Runner(Protocol):
    """Runs a job on every block of a source where the block lies; results come in order."""

    def __call__(
        self, job_for: Callable[[slice], Job[Any]], width: int | None
    ) -> Iterator[tuple[slice, Any]]: ...


class Source(ABC):
    """A wide table that is read column by column, wherever it is stored.

    A source of your own inherits this class and defines `shape`, `columns` and `blocks`. The other
    members say what else it can do; their defaults hold for a table on disk without names. Blocks
    come in order and are always cut the same way, so that sums over them give the same bits.

    Examples
    --------
    >>> class Ramp(Source):
    ...     shape = (3, 4)
    ...     def columns(self, index):
    ...         return np.arange(3.0)[:, None] * index
    ...     def blocks(self):
    ...         for start in (0, 2):
    ...             yield slice(start, start + 2), self.columns(np.arange(start, start + 2))
    >>> ramp = Ramp()
    >>> ramp.columns(np.array([3])).ravel().tolist(), ramp.names(), ramp.held_bytes
    ([0.0, 3.0, 6.0], None, 96)
    """

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""

    @abstractmethod
    def columns(self, index: IntArray) -> Array:
        """The columns with these numbers, (n, len(index)) in double precision."""

    @abstractmethod
    def blocks(self) -> Iterator[tuple[slice, Array]]:
        """All columns in order, as pairs of their numbers and their values (n, width)."""

    def names(self, index: IntArray | None = None) -> list[str] | None:
        """Names of the columns (of some, by number), None where the storage has none.

        Ten million names can take more memory than the table: ask for those you show.
        """
        return None

    @property
    def array(self) -> Array | None:
        """The whole table where it is an array in memory, of any numeric type; else None."""
        return None

    @property
    def runner(self) -> Runner | None:
        """What runs jobs on blocks that lie elsewhere (dask); None where that is this process."""
        return None

    def block(self, where: slice) -> Array:
        """One block (n, width), with the same layout in memory as `blocks` gives it."""
        return self.columns(np.arange(where.start, where.stop))

    def genotype_sums(self, D: Array, which: slice | None = None) -> GenotypeSums | None:
        """Sums of D (n, m) over the rows with 0, 1 and 2 copies of an allele, (3, width, m), of all
        columns in order, or of a range of them, where the table holds such counts and has a fast
        way; else None.
        """
        return None

    @property
    def held_bytes(self) -> int:
        """Bytes the table takes: 8 for each value, or what a compressed table really takes."""
        return 8 * self.shape[0] * self.shape[1]

    @property
    def expects_missing(self) -> bool:
        """Whether missing values belong to the format (genotypes), so that they are filled."""
        return False

    def align_rows(self, values: Array) -> Array:
        """Values given for every row of the user's file, of the rows that this source has.

        They differ only where rows without a response were left out as the file was opened.
        """
        return values


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

    def term(self, B: Array) -> tuple[float, Array]:
        """A convex quadratic of B added to Phi, zero where there is none, and its gradient."""
        ...

    def restrict(self, X: Array) -> Restricted:
        """All of it as a function of the rows of a few columns."""
        ...


class MeanHessian(NamedTuple):
    """About the second derivative of Phi in B: columns x tasks, a Kronecker product.

    Attributes
    ----------
    columns : (w, w) array
        Second derivative in one task of all rows, averaged over the tasks.
    task_sizes, task_axes : (m,) and (m, m) arrays
        Eigenvalues, of mean one, and eigenvectors of how much each task bends. Where B has c m
        columns, they hold for each m of them.
    """

    columns: Array
    task_sizes: Array
    task_axes: Array


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

    def mean_hessian(self, image: Array) -> MeanHessian | None:
        """The second derivative in B as a product of two matrices, about; None where that says
        little.
        """
        ...

    def offset_hessian(self, image: Array) -> Array | None:
        """(m, m) second derivative in one column of v; None where there is none, or where columns
        are coupled.
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

    def prox(self, B: Array, step: float) -> Array: ...

    def violation(self, B: Array, gradient: Array, alpha: float) -> Array: ...

    def limits(self, alpha: float) -> Array:
        """Largest gradient norm per row that leaves a zero row at zero."""
        ...
