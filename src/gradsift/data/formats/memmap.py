""".npy files and memory maps: columns stay on disk, in their own type."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradsift.data.read_errors import reading
from gradsift.data.source import BLOCK_BYTES, block_width, windows
from gradsift.protocols import Array, IntArray, Source

NEARBY = 64 << 10
"""What a system maps around a byte that is read."""


@dataclass(frozen=True)
class MemmapSource(Source):
    """Columns of a file, mapped into memory piece by piece."""

    X: np.memmap[Any, Any]

    @property
    def shape(self) -> tuple[int, int]:
        return self.X.shape[0], self.X.shape[1]

    def columns(self, index: IntArray) -> Array:
        if self.X.flags.c_contiguous:
            row = min(self.X.strides[0], max(len(index), 1) * NEARBY)
            return self._read(index, row)
        out = np.empty((self.shape[0], len(index)), order="F")
        column = max(self.X.nbytes // max(self.shape[1], 1), 1)
        for part in windows(len(index), max(1, BLOCK_BYTES // column)):
            out[:, part] = self._read(index[part], 0)
        return out

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        n, p = self.shape
        width = block_width(n)
        for where in windows(p, width):
            yield where, self._read(where, max(width * self.X.itemsize, NEARBY))

    def _read(self, where: slice | IntArray, row: int) -> Array:
        """Columns in float64, a few rows at a time where a row maps `row` bytes of the file."""
        n = self.shape[0]
        if not self.X.flags.c_contiguous:
            out = np.array(self.X[:, where], dtype=np.float64)
            self._forget()
            return out
        width = where.stop - where.start if isinstance(where, slice) else len(where)
        out = np.empty((n, width))
        for rows in windows(n, max(1, BLOCK_BYTES // max(row, 1))):
            out[rows] = self.X[rows, where]
            self._forget()
        return out

    def _forget(self) -> None:
        """Unmap what was read, or a pass would leave the whole file counted as our memory.

        The system's cache keeps it. Not for maps with private changes: they would be lost.
        """
        pages = getattr(self.X, "_mmap", None)
        if pages is not None and self.X.mode in ("r", "r+") and hasattr(mmap, "MADV_DONTNEED"):
            pages.madvise(mmap.MADV_DONTNEED)


def open(X: Any) -> MemmapSource:
    """From the path of a .npy file, or a np.memmap."""
    if isinstance(X, (str, os.PathLike)):
        with reading(X, "a NumPy array (.npy)"):
            mapped = np.load(X, mmap_mode="r", allow_pickle=False)
        name = f"{os.fspath(X)!r}"
    else:
        mapped, name = X, "the memory map"
    if mapped.ndim != 2 or mapped.dtype.kind not in "biuf":
        raise ValueError(
            f"{name} holds an array of shape {mapped.shape} and type {mapped.dtype}: expected "
            "numbers in two dimensions, one row per sample."
        )
    return MemmapSource(mapped)
