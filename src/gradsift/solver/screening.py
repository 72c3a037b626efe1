"""All columns at half the price: single precision, and double where single cannot tell.

A certificate asks of most columns only that ||x_k' M|| stays below its limit. With unit columns
u_k = x_k / ||x_k|| and N = M / ||M||_F, rounding in single precision moves ||u_k' N|| by at most
(n + m + 4) eps: n terms in each sum, m sums in each norm, both factors rounded. A column that
comes this close to its limit is looked at again in double. So the certificate is that of double
precision, and the other norms are right to six digits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gradsift._run.passes import count_columns, pieces
from gradsift._run.threads import map_blocks
from gradsift._typing import Array, IntArray
from gradsift.solver.penalty import row_norms

EPS = float(np.finfo(np.float32).eps)
PIECE_BYTES = 1 << 20  # columns a thread takes at a time: small enough for its cache
LEAST_COLUMNS = 2_000  # below, a pass is cheap as it is
ONE_THREAD = 100_000_000  # multiplications (some 3 ms) for which no second thread is woken


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
