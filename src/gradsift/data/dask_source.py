"""Dask arrays: computed one column chunk at a time, wherever their scheduler computes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np

from gradsift._typing import Array, IntArray
from gradsift.data.source import block_width


@dataclass(frozen=True)
class DaskSource:
    """Columns of a dask array; each block is one or more whole column chunks."""

    X: Any

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.X.shape[0]), int(self.X.shape[1])

    def columns(self, index: IntArray) -> Array:
        return np.asarray(self.X[:, index].compute(), dtype=np.float64)

    def pieces(self) -> list[slice]:
        """Whole chunks, gathered up to the width of a block: no chunk is computed twice in a
        pass.
        """
        width, out, start = block_width(self.shape[0]), [], 0
        ends = list(accumulate(self.X.chunks[1]))
        for end, following in zip(ends, [*ends[1:], np.inf]):
            if following - start > width and end > start:
                out.append(slice(start, int(end)))
                start = int(end)
        return out

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        for where in self.pieces():
            yield where, np.asarray(self.X[:, where].compute(), dtype=np.float64)


def open(X: Any) -> DaskSource:
    """From a two-dimensional dask array of numbers with known chunks."""
    if not hasattr(X, "chunks") or not hasattr(X, "ndim"):
        raise TypeError(
            f"cannot read columns from a dask {type(X).__name__}: pass a dask array, e.g. "
            "frame.to_dask_array(lengths=True)."
        )
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise ValueError(
            f"a dask array of shape {X.shape} and type {X.dtype}: expected numbers in two "
            "dimensions."
        )
    if np.isnan(np.array(X.shape, dtype=float)).any():
        raise ValueError("the dask array has chunks of unknown size: call compute_chunk_sizes().")
    return DaskSource(X)
