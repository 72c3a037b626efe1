"""What is to be solved, and what comes back.

    minimise over B (p, q) and v    Phi(X B, v) + alpha * penalty(B)

`Problem` holds the columns X (n, p) of a `Source`, Phi (`Datafit`) and the penalty on the rows of
B: the group lasso, or the ridge of dense gradient learning. Penalties know no kernel, because
||f^k||_K = ||B_k||_2. `Solution` stores the non-zero rows only, and the `Certificate`.

References
----------
:cite:`yuan-2006`
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from gradsift._run.passes import count_columns, pieces
from gradsift._run.threads import map_blocks
from gradsift.protocols import Array, Datafit, IntArray, Penalty, Source


# ------------------------------------------------ penalties on the rows of B
def row_norms(B: Array) -> Array:
    """Euclidean norm of each row."""
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", B, B)))


@dataclass(frozen=True)
class GroupLasso:
    """alpha * sum_k omega_k ||B_k||_2: a variable is in or out as a whole.

    Parameters
    ----------
    omega : (p,) array
        Penalty factor per variable; 0 keeps a variable unpenalised.
    """

    omega: Array

    def take(self, index: IntArray) -> GroupLasso:
        return GroupLasso(self.omega[index])

    def limits(self, alpha: float) -> Array:
        return alpha * self.omega

    def prox(self, B: Array, step: float) -> Array:
        """argmin_C 1/2 ||C - B||^2 + step * sum_k omega_k ||C_k||: shrink each row, or zero it."""
        norms = row_norms(B)
        threshold = step * self.omega
        shrunk = 1.0 - threshold / np.where(norms > 0.0, norms, 1.0)
        keep = np.where(norms > threshold, shrunk, 0.0)
        keep[threshold <= 0.0] = 1.0  # untouched to the bit, even where a norm underflows
        return keep[:, None] * B

    def violation(self, B: Array, gradient: Array, alpha: float) -> Array:
        """Distance of -gradient to the subdifferential, per row: zero at the solution."""
        norms = row_norms(B)
        limit = self.limits(alpha)
        unit = B / np.where(norms > 0.0, norms, 1.0)[:, None]
        inside = row_norms(gradient + limit[:, None] * unit)
        outside = np.maximum(0.0, row_norms(gradient) - limit)
        return np.where(norms > 0.0, inside, outside)


@dataclass(frozen=True)
class Ridge:
    """alpha * sum_k ||B_k||_2^2: gradient learning (GL), dense, the paper's comparison."""

    def value(self, B: Array, alpha: float) -> float:
        return float(alpha * np.vdot(B, B))

    def gradient(self, B: Array, alpha: float) -> Array:
        return 2.0 * alpha * B


# ------------------------------------------------ all columns in single precision
# Half the time of a pass in double, which is repeated only where single cannot decide.
#
# A certificate asks of most columns only that ||x_k' M|| stays below its limit. With unit columns
# u_k = x_k / ||x_k|| and N = M / ||M||_F, rounding in single precision moves ||u_k' N|| by at
# most (n + m + 4) eps: n terms in each sum, m sums in each norm, both factors rounded. A column
# that comes this close to its limit is looked at again in double. So the certificate is that of
# double precision, and the other norms are right to six digits.

EPS = float(np.finfo(np.float32).eps)
PIECE_BYTES = 1 << 20
"""Time: of columns that a thread takes at once, small enough for its cache."""
LEAST_COLUMNS = 2_000
"""Time: columns below which a pass in double is cheap as it is."""
ONE_THREAD = 100_000_000
"""Time: multiplications (some 3 ms) for which no second thread is woken."""


@dataclass(frozen=True)
class Screen:
    """Unit columns in single precision, and the lengths that were taken out of them."""

    units: NDArray[np.float32]
    lengths: Array

    @classmethod
    def of(cls, X: Array) -> Screen:
        lengths = np.sqrt(np.einsum("ij,ij->j", X, X))
        units = np.empty(X.shape, dtype=np.float32)
        np.divide(X, np.where(lengths > 0.0, lengths, 1.0), out=units, casting="same_kind")
        return cls(units, lengths)

    def norms(self, M: Array, limits: Array) -> tuple[Array, IntArray]:
        """||x_k' M|| to six digits, and the columns whose norm may reach its limit."""
        n, p = self.units.shape
        size = float(np.linalg.norm(M))
        N = (M / (size or 1.0)).astype(np.float32)
        out = np.empty(p)

        def job(where: slice) -> tuple[slice, Array]:
            return where, row_norms(self.units[:, where].T @ N)

        several = n * p * M.shape[1] > ONE_THREAD
        width = max(1, PIECE_BYTES // (4 * n)) if several else None
        for where, found in map_blocks(job, pieces(slice(0, p), width)):
            out[where] = found
        count_columns(p)
        out *= size * self.lengths
        margin = (n + M.shape[1] + 4) * EPS * size
        return out, np.flatnonzero(out + margin * self.lengths >= limits)


# ------------------------------------------------ problem and answer
@dataclass(frozen=True)
class Problem:
    """minimise Phi(X B, v) + alpha * penalty(B)."""

    source: Source
    datafit: Datafit
    penalty: Penalty

    @property
    def n_features(self) -> int:
        return self.source.shape[1]

    @cached_property
    def screen(self) -> Screen | None:
        """Columns in single precision, where the table is in memory and wide."""
        if self.source.array is None or self.n_features < LEAST_COLUMNS:
            return None
        return Screen.of(self.source.array)


class Status(Enum):
    CONVERGED = "optimal within tol"
    MAX_ITER = (
        "stopped at max_iter before reaching tol; raise max_iter, loosen tol, or use a larger alpha"
    )
    STALLED = (
        "stopped where rounding leaves nothing to gain before reaching tol; loosen tol, or "
        "standardise the columns"
    )


@dataclass(frozen=True)
class Rows:
    """The rows of B that may be non-zero: a p-row matrix stored by its support."""

    index: IntArray
    values: Array

    def dense(self, n_features: int) -> Array:
        B = np.zeros((n_features, self.values.shape[1]))
        B[self.index] = self.values
        return B

    def drop_zeros(self) -> Rows:
        """Without rows of norm zero, so that what is stored is what counts as selected."""
        keep = row_norms(self.values) > 0.0
        return Rows(self.index[keep], self.values[keep])

    def restrict(self, index: IntArray) -> Array:
        """The rows at a sorted `index`, zeros where nothing is stored."""
        out = np.zeros((len(index), self.values.shape[1]))
        _, to, at = np.intersect1d(index, self.index, assume_unique=True, return_indices=True)
        out[to] = self.values[at]
        return out


@dataclass(frozen=True)
class Certificate:
    """How far from optimal an answer can be, judged over ALL variables.

    Attributes
    ----------
    primal, dual : float
        Objective and a lower bound of the optimum.
    gap : float
        (primal - dual) / (objective at B = 0).
    violation : float
        Largest distance to the optimality conditions of any variable, divided by alpha_max.
    """

    primal: float
    dual: float
    gap: float
    violation: float


@dataclass(frozen=True)
class Solution:
    """An answer with its certificate, and what warm-starts the next one.

    Attributes
    ----------
    alpha : float
    rows : Rows
        Non-zero rows of B.
    v : array
        Free parameters.
    norms : (p,) array
        ||X_k' M||, the size of every variable's gradient at this answer; to six digits where it is
        clearly below its limit.
    """

    alpha: float
    rows: Rows
    v: Array
    norms: Array
    certificate: Certificate
    status: Status
    n_iter: int
