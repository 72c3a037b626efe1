"""scipy.sparse matrices: made dense one narrow block at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from scipy import sparse

from gradsift.data.source import block_width, windows
from gradsift.protocols import Array, IntArray, Source

COMPRESSED = {"csr": 0, "csc": 1, "bsr": 0}
"""Formats with an `indptr`, and the side of the matrix that it runs along."""
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
    check_indices(X)
    return SparseSource(X if X.format == "csc" else sparse.csc_array(X))


def check_indices(X: Any) -> None:
    """Refuse a sparse matrix whose indices do not fit its shape.

    SciPy's compiled loops follow them unchecked: a wrong one reads and writes outside the matrix.

    Parameters
    ----------
    X : scipy.sparse matrix or array, (n, p)
    """
    if X.format in COMPRESSED:
        wrong = _compressed_fault(X)
    elif X.format == "dia":
        fits = X.data.ndim == 2 and X.offsets.shape == X.data.shape[:1]
        wrong = None if fits else "offsets and data are not of one length"
    elif X.format == "lil":
        wrong = _list_fault(X)
    else:
        wrong = _coordinate_fault(X)
    if wrong is not None:
        raise ValueError(
            f"the sparse {X.format.upper()} matrix of shape {tuple(X.shape)} is damaged: {wrong}. "
            "Build it again, or read its file again."
        )


def _compressed_fault(X: Any) -> str | None:
    """What is wrong with the indices of a CSR, CSC or BSR matrix."""
    block = X.blocksize if X.format == "bsr" else (1, 1)
    along = COMPRESSED[X.format]
    lines, places = X.shape[along] // block[along], X.shape[1 - along] // block[1 - along]
    indptr, indices = X.indptr, X.indices
    if any(part.ndim != 1 or part.dtype.kind not in "iu" for part in (indptr, indices)):
        return "indptr and indices must hold whole numbers, in one dimension"
    if X.data.ndim != (3 if X.format == "bsr" else 1) or len(X.data) != len(indices):
        return f"data holds {len(X.data)} values for {len(indices)} indices"
    if len(indptr) != lines + 1:
        return f"indptr has {len(indptr)} entries, not {lines + 1}"
    if indptr[0] != 0 or indptr[-1] > len(indices):
        return f"indptr runs from {indptr[0]} to {indptr[-1]}, for {len(indices)} stored values"
    if np.any(indptr[1:] < indptr[:-1]):
        return f"indptr falls after entry {int(np.argmax(indptr[1:] < indptr[:-1]))}"
    return _outside(indices, places)


def _coordinate_fault(X: Any) -> str | None:
    """What is wrong with the indices of a COO matrix, or with the keys of a DOK matrix."""
    try:
        X = X.tocoo()
    except ValueError as error:
        return str(error)
    for places, length in zip((X.row, X.col), X.shape):
        if places.shape != X.data.shape or places.ndim != 1 or places.dtype.kind not in "iu":
            return "row, col and data must be of one length, row and col of whole numbers"
        if wrong := _outside(places, length):
            return wrong
    return None


def _list_fault(X: Any) -> str | None:
    """What is wrong with the lists of a LIL matrix."""
    if any(len(places) != len(values) for places, values in zip(X.rows, X.data)):
        return "rows and data hold lists of other lengths"
    return _outside(np.fromiter(chain.from_iterable(X.rows), dtype=np.int64), X.shape[1])


def _outside(indices: IntArray, length: int) -> str | None:
    """Which index lies outside 0 .. length - 1; two passes and no copy where none does."""
    if len(indices) == 0 or (indices.min() >= 0 and indices.max() < length):
        return None
    first = int(np.argmax((indices < 0) | (indices >= length)))
    return f"index {indices[first]} (entry {first}) lies outside 0 to {length - 1}"
