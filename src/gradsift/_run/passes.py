"""One pass over all columns of a table: a function of every block, run where the block lies.

Most sources hand their blocks to threads of this process. One whose blocks lie elsewhere (a dask
array on a cluster) declares a `runner`: then the function goes to the block, and only its result
comes back. Views of other sources pass their part on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeVar

from gradsift._run.threads import map_blocks, one_blas_thread
from gradsift.protocols import Array, Job, Source

R = TypeVar("R")


@dataclass
class Counter:
    """Columns that passes have been over."""

    columns: int = 0


_counter: ContextVar[Counter | None] = ContextVar("gradsift_columns", default=None)


@contextmanager
def counting() -> Iterator[Counter]:
    """Count the columns of all passes made inside."""
    token = _counter.set(seen := Counter())
    try:
        yield seen
    finally:
        _counter.reset(token)


def count_columns(number: int) -> None:
    """Tell the counter, if there is one, of columns that a pass of another make has been over."""
    if (seen := _counter.get()) is not None:
        seen.columns += number


def each_block(
    source: Source, job_for: Callable[[slice], Job[R]], *, width: int | None = None
) -> Iterator[tuple[slice, R]]:
    """(which columns, job_for(which)(their values)) for all columns, in order.

    Parameters
    ----------
    source : Source
    job_for : function
        From the columns of a piece to what is to be done to it.
    width : int, optional
        Most columns in a piece; None = whole blocks.
    """

    def here(item: tuple[slice, Array]) -> tuple[slice, R]:
        where, piece = item
        return where, job_for(where)(piece)

    if source.runner is not None:
        results: Iterator[tuple[slice, R]] = source.runner(job_for, width)
    else:
        results = map_blocks(here, _cut(source, width))
    for where, found in results:
        count_columns(where.stop - where.start)
        yield where, found


def _cut(source: Source, width: int | None) -> Iterator[tuple[slice, Array]]:
    for where, block in source.blocks():
        for piece in pieces(where, width):
            yield piece, block[:, piece.start - where.start : piece.stop - where.start]


def pieces(where: slice, width: int | None) -> Iterator[slice]:
    """A range of columns in pieces of at most `width`."""
    step = width or max(1, where.stop - where.start)
    for start in range(where.start, where.stop, step):
        yield slice(start, min(start + step, where.stop))


def run_jobs(jobs: Sequence[tuple[slice, Job[R]]], first: int, block: Array) -> list[R]:
    """The jobs of one block, which begins at column `first`: what travels to another machine."""
    with one_blas_thread(workers=1):  # blocks run side by side already
        return [job(block[:, piece.start - first : piece.stop - first]) for piece, job in jobs]
