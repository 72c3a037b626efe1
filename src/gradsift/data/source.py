"""Sources of columns: float64 blocks; nothing above knows how they are stored."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gradsift._typing import Array, IntArray, Source

BLOCK_BYTES = 32 << 20  # one float64 block: large enough for BLAS, small beside the data


def block_width(n_samples: int) -> int:
    """Columns per block. Fixed by the data alone, so sums over blocks give the same bits."""
    return max(1, BLOCK_BYTES // (8 * max(1, n_samples)))


@dataclass(frozen=True)
class ArraySource:
    """Columns of an array in memory.

    Parameters
    ----------
    X : (n, p) array
    width : int, optional
        Columns per block; None = as many as fit a block of fixed size.
    """

    X: Array
    width: int | None = None

    @property
    def shape(self) -> tuple[int, int]:
        return self.X.shape[0], self.X.shape[1]

    def columns(self, index: IntArray) -> Array:
        return np.asarray(self.X[:, index], dtype=np.float64)

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        n, p = self.shape
        width = self.width or block_width(n)
        for start in range(0, p, width):
            where = slice(start, min(start + width, p))
            yield where, np.asarray(self.X[:, where], dtype=np.float64)


def rows_of(source: Source, rows: IntArray) -> Array:
    """All columns of a few samples, (len(rows), p), block by block."""
    out = np.empty((len(rows), source.shape[1]))
    for where, block in source.blocks():
        out[:, where] = block[rows]
    return out


def open_source(X: object) -> Source:
    """A source from an array, or the source itself."""
    if isinstance(X, np.ndarray):
        return ArraySource(X)
    if isinstance(X, Source):
        return X
    raise TypeError(f"cannot read columns from {type(X).__name__}: pass a NumPy array or a source.")
