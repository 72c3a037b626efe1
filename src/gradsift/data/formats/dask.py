"""Dask arrays: their chunks stay where they are; what is done to them goes there.

With a `distributed.Client` that is a cluster; without, the threads of this process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, islice
from typing import Any

import numpy as np

from gradsift._run.extras import require
from gradsift._run.passes import pieces, run_jobs
from gradsift.data.source import block_width
from gradsift.protocols import Array, IntArray, Job, Runner, Source

CHUNKS_AT_A_TIME = 256  # results of so many chunks are held at once


@dataclass(frozen=True)
class DaskSource(Source):
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

    @property
    def runner(self) -> Runner:
        return self.run

    def run(
        self, job_for: Callable[[slice], Job[Any]], width: int | None
    ) -> Iterator[tuple[slice, Any]]:
        """Jobs on all columns, chunk by chunk where the chunks are, results in order."""
        dask = require("dask", "big", "reading this format")
        ends = accumulate(self.X.chunks[1])
        waiting = (slice(int(end - size), int(end)) for end, size in zip(ends, self.X.chunks[1]))
        while batch := list(islice(waiting, CHUNKS_AT_A_TIME)):
            jobs = [[(piece, job_for(piece)) for piece in pieces(w, width)] for w in batch]
            tasks = [
                dask.delayed(partial(on_chunk, job, where.start), pure=False)(self.X[:, where])
                for job, where in zip(jobs, batch)
            ]
            for job, results in zip(jobs, dask.compute(*tasks)):
                yield from ((piece, found) for (piece, _), found in zip(job, results))


def on_chunk(jobs: Sequence[tuple[slice, Job[Any]]], first: int, chunk: Any) -> list[Any]:
    return run_jobs(jobs, first, np.asarray(chunk, dtype=np.float64))


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
