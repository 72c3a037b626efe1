"""Sources of columns: float64 blocks; nothing above knows how they are stored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from gradsift._run.passes import Job, Runner, elsewhere
from gradsift._typing import Array, IntArray, Source

BLOCK_BYTES = 32 << 20  # one float64 block: large enough for BLAS, small beside the data


def block_width(n_samples: int) -> int:
    """Columns per block. Fixed by the data alone, so sums over blocks give the same bits."""
    return max(1, BLOCK_BYTES // (8 * max(1, n_samples)))


def windows(n_features: int, width: int) -> Iterator[slice]:
    """Slices of `width` columns that tile the table."""
    for start in range(0, n_features, width):
        yield slice(start, min(start + width, n_features))


def positions(where: slice) -> IntArray:
    """The column numbers of a slice, for `columns`."""
    return np.arange(where.start, where.stop)


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

    @property
    def table(self) -> Array:
        """All of it, because it is in memory; other sources have no such thing."""
        return self.X

    def columns(self, index: IntArray) -> Array:
        return np.asarray(self.X[:, index], dtype=np.float64)

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        n, p = self.shape
        for where in windows(p, self.width or block_width(n)):
            yield where, np.asarray(self.X[:, where], dtype=np.float64)


@dataclass(frozen=True)
class NamedSource:
    """Another source whose columns have names."""

    base: Source
    labels: Sequence[str]

    @property
    def shape(self) -> tuple[int, int]:
        return self.base.shape

    def elsewhere(self) -> Runner | None:
        return elsewhere(self.base)

    def names(self, index: IntArray | None = None) -> list[str]:
        chosen = self.labels if index is None else [self.labels[k] for k in index]
        return [str(name) for name in chosen]

    def columns(self, index: IntArray) -> Array:
        return self.base.columns(index)

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        return self.base.blocks()


@dataclass(frozen=True)
class RowsSource:
    """Some rows of another source."""

    base: Source
    rows: IntArray

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.rows), self.base.shape[1]

    def columns(self, index: IntArray) -> Array:
        return self.base.columns(index)[self.rows]

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        for where, block in self.base.blocks():
            yield where, block[self.rows]

    def elsewhere(self) -> Runner | None:
        base = elsewhere(self.base)
        if base is None:
            return None
        return lambda job_for, width: base(
            lambda where: partial(on_rows, self.rows, job_for(where)), width
        )


@dataclass(frozen=True)
class LabelledRows(RowsSource):
    """The rows of a file that have a response, the others left out at the door."""


def on_rows(rows: IntArray, job: Job[Any], block: Array) -> Any:
    return job(block[rows])


@dataclass(frozen=True)
class StackedSource:
    """The rows of one source above those of another with the same columns."""

    base: Source
    below: Source

    @property
    def shape(self) -> tuple[int, int]:
        return self.base.shape[0] + self.below.shape[0], self.base.shape[1]

    def columns(self, index: IntArray) -> Array:
        return np.vstack([self.base.columns(index), self.below.columns(index)])

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        for where, block in self.base.blocks():
            yield where, np.vstack([block, self.below.columns(positions(where))])


def take_rows(source: Source, rows: IntArray) -> Source:
    """Some rows: a copy where the data is in memory, a view where it is not."""
    if len(rows) == source.shape[0] and np.array_equal(rows, np.arange(len(rows))):
        return source
    if isinstance(source, ArraySource):
        return ArraySource(source.X[rows], source.width)
    return RowsSource(source, rows)


def stack_rows(above: Source, below: Source) -> Source:
    """Rows of two sources, one above the other."""
    if isinstance(above, ArraySource) and isinstance(below, ArraySource):
        return ArraySource(np.vstack([above.X, below.X]))
    return StackedSource(above, below)


def source_names(source: Source, index: IntArray | None = None) -> list[str] | None:
    """Names of the columns (of some, by number), None where the storage has none.

    Ten million names cost more memory than their table of genotypes: ask for those you show.
    """
    names = getattr(source, "names", None)
    if names is not None:
        return list(names(index))
    base = getattr(source, "base", None)
    return None if base is None else source_names(base, index)


def held_bytes(source: Source) -> int | None:
    """Memory a compressed table takes, None where a table is as large as it looks."""
    base = getattr(source, "base", None)
    held: int | None = getattr(source, "held", None)
    return held_bytes(base) if held is None and base is not None else held


def expects_missing(source: Source) -> bool:
    """Whether holes belong to this format (genotype calls), so that they are always filled."""
    base = getattr(source, "base", None)
    return bool(getattr(source, "holes_expected", False)) or (
        base is not None and expects_missing(base)
    )
