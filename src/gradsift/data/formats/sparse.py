"""scipy.sparse matrices: made dense one narrow block at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from gradsift._typing import Array, IntArray, Source
from gradsift.data.source import block_width, windows

SHARE = 32
"""A dense block takes at most this part of the sparse matrix: what is made from it is larger."""

LEAST_BYTES = 1 << 19
"""... but not less than this: a pass over narrower blocks is all overhead."""


@dataclass(frozen=True)
class SparseSource(Source):
    """Columns of a CSC matrix; standardising happens in the dense block, never in the matrix."""

    X: Any

    @property
    def shape(self) -> tuple[int, int]:
        return self.X.shape[0], self.X.shape[1]

    @property
    def held_bytes(self) -> int:
        """Bytes the matrix takes: what is made from it should be of that order."""
        return int(self.X.data.nbytes + self.X.indices.nbytes + self.X.indptr.nbytes)

    @property
    def width(self) -> int:
        n = self.shape[0]
        most_bytes = max(self.held_bytes // SHARE, LEAST_BYTES)
        return max(1, min(block_width(n), most_bytes // (8 * max(n, 1))))

    def columns(self, index: IntArray) -> Array:
        return np.asarray(self.X[:, index].toarray(), dtype=np.float64)

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        for where in windows(self.shape[1], self.width):
            yield where, np.asarray(self.X[:, where].toarray(), dtype=np.float64)


def open(X: Any) -> SparseSource:
    """From any scipy.sparse matrix or array; CSC is used as it is, others are converted once."""
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise ValueError(
            f"a sparse X of shape {X.shape} and type {X.dtype}: expected numbers in two dimensions."
        )
    return SparseSource(X if X.format == "csc" else sparse.csc_array(X))
