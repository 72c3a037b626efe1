"""Sources of columns: float64 blocks; nothing above knows how they are stored."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from gradsift._run.passes import pieces
from gradsift.protocols import Array, GenotypeSums, IntArray, Job, Runner, Source

BLOCK_BYTES = 32 << 20  # one float64 block: large enough for BLAS, small next to the data


class Variant(NamedTuple):
    """What files of genotypes say of a variant; what they do not say is empty."""

    name: str
    chromosome: str
    position: str
    counted: str
    """The allele whose copies are counted."""
    other: str


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
class ArraySource(Source):
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
    def array(self) -> Array:
        return self.X

    def columns(self, index: IntArray) -> Array:
        return np.asarray(self.X[:, index], dtype=np.float64)

    def block(self, where: slice) -> Array:
        return np.asarray(self.X[:, where], dtype=np.float64)

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        n, p = self.shape
        for where in windows(p, self.width or block_width(n)):
            yield where, self.block(where)


@dataclass(frozen=True)
class SourceView(Source):
    """Another source, its columns changed as they are read; the view has what the other has."""

    base: Source

    def change(self, where: slice | IntArray) -> Callable[[Array], Array]:
        """What is done to the values of these columns.

        It may be sent to another machine, so it holds no more than those columns need.
        """
        return unchanged

    @property
    def shape(self) -> tuple[int, int]:
        return self.base.shape

    def columns(self, index: IntArray) -> Array:
        return self.change(index)(self.base.columns(index))

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        for where, block in self.base.blocks():
            yield where, self.change(where)(block)

    def names(self, index: IntArray | None = None) -> list[str] | None:
        return self.base.names(index)

    @property
    def runner(self) -> Runner | None:
        base = self.base.runner
        if base is None:
            return None
        return lambda job_for, width: base(
            lambda where: partial(on_changed, self.change(where), job_for(where)), width
        )

    @property
    def held_bytes(self) -> int:
        return self.base.held_bytes

    @property
    def expects_missing(self) -> bool:
        return self.base.expects_missing

    def align_rows(self, values: Array) -> Array:
        return self.base.align_rows(values)


def unchanged(block: Array) -> Array:
    return block


def on_changed(change: Callable[[Array], Array], job: Job[Any], block: Array) -> Any:
    return job(change(block))


@dataclass(frozen=True)
class NamedSource(SourceView):
    """Another source whose columns have names."""

    labels: Sequence[str]

    @property
    def array(self) -> Array | None:
        return self.base.array

    def genotype_sums(self, D: Array, which: slice | None = None) -> GenotypeSums | None:
        return self.base.genotype_sums(D, which)

    def names(self, index: IntArray | None = None) -> list[str]:
        chosen = self.labels if index is None else [self.labels[k] for k in index]
        return [str(name) for name in chosen]


@dataclass(frozen=True)
class RowsSource(SourceView):
    """Some rows of another source."""

    rows: IntArray

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.rows), self.base.shape[1]

    def change(self, where: slice | IntArray) -> Callable[[Array], Array]:
        return partial(rows_of, self.rows)

    def genotype_sums(self, D: Array, which: slice | None = None) -> GenotypeSums | None:
        every = np.zeros((self.base.shape[0], D.shape[1]))
        np.add.at(every, self.rows, D)
        return self.base.genotype_sums(every, which)

    @property
    def held_bytes(self) -> int:
        """The share of the other's bytes that so many of its rows take."""
        return self.base.held_bytes * len(self.rows) // max(1, self.base.shape[0])

    def align_rows(self, values: Array) -> Array:
        return values


def rows_of(rows: IntArray, block: Array) -> Array:
    return block[rows]


@dataclass(frozen=True)
class ColumnsSource(SourceView):
    """Some columns of another source, in their order; without names, by their number in it."""

    kept: IntArray

    @property
    def shape(self) -> tuple[int, int]:
        return self.base.shape[0], len(self.kept)

    def columns(self, index: IntArray) -> Array:
        return self.base.columns(self.kept[index])

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        for where, block in self.base.blocks():
            mine, inside = self._within(where)
            if len(inside):
                yield mine, block[:, inside]

    def genotype_sums(self, D: Array, which: slice | None = None) -> GenotypeSums | None:
        if which is not None:
            which = slice(int(self.kept[which.start]), int(self.kept[which.stop - 1]) + 1)
        counted = self.base.genotype_sums(D, which)
        if counted is None:
            return None
        kept = ((*self._within(where), sums) for where, sums in counted)
        return ((mine, sums[:, inside]) for mine, inside, sums in kept if len(inside))

    def names(self, index: IntArray | None = None) -> list[str]:
        chosen = self.kept if index is None else self.kept[index]
        return self.base.names(chosen) or [f"x{k}" for k in chosen]

    @property
    def runner(self) -> Runner | None:
        base = self.base.runner
        if base is None:
            return None

        def job_of(job_for: Callable[[slice], Job[Any]], where: slice) -> Job[Any]:
            mine, inside = self._within(where)
            return partial(on_some, inside, job_for(mine)) if len(inside) else no_job

        def run(
            job_for: Callable[[slice], Job[Any]], width: int | None
        ) -> Iterator[tuple[slice, Any]]:
            for where, found in base(partial(job_of, job_for), width):
                mine, inside = self._within(where)
                if len(inside):
                    yield mine, found

        return run

    def _within(self, where: slice) -> tuple[slice, IntArray]:
        """The kept columns in a range of the other's: their numbers here, and inside the range."""
        start, stop = np.searchsorted(self.kept, [where.start, where.stop]).tolist()
        return slice(start, stop), self.kept[start:stop] - where.start

    @property
    def held_bytes(self) -> int:
        """The share of the other's bytes that so many of its columns take."""
        return self.base.held_bytes * len(self.kept) // max(1, self.base.shape[1])


def on_some(inside: IntArray, job: Job[Any], block: Array) -> Any:
    return job(block[:, inside])


def no_job(block: Array) -> None:
    """Of a block with no column that is kept."""


@dataclass(frozen=True)
class LabelledRows(RowsSource):
    """The rows of a file that have a response; the others are left out as it is opened."""

    def align_rows(self, values: Array) -> Array:
        return values[self.rows] if len(values) == self.base.shape[0] else values


@dataclass(frozen=True)
class StackedSource(Source):
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

    def names(self, index: IntArray | None = None) -> list[str] | None:
        return self.base.names(index)

    @property
    def held_bytes(self) -> int:
        return self.base.held_bytes + self.below.held_bytes

    @property
    def expects_missing(self) -> bool:
        return self.base.expects_missing or self.below.expects_missing


@dataclass(frozen=True)
class BesideSource(Source):
    """The columns of another source, and after them those of an array, wherever the first lie."""

    base: Source
    more: Array

    @property
    def shape(self) -> tuple[int, int]:
        n, p = self.base.shape
        return n, p + self.more.shape[1]

    def columns(self, index: IntArray) -> Array:
        index, p = np.asarray(index), self.base.shape[1]
        out = np.empty((self.shape[0], len(index)))
        stored = index < p
        out[:, stored] = self.base.columns(index[stored])
        out[:, ~stored] = self.more[:, index[~stored] - p]
        return out

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        yield from self.base.blocks()
        yield slice(*(side.shape[1] for side in (self.base, self))), self.more

    @property
    def runner(self) -> Runner | None:
        base, p = self.base.runner, self.base.shape[1]
        if base is None:
            return None

        def run(
            job_for: Callable[[slice], Job[Any]], width: int | None
        ) -> Iterator[tuple[slice, Any]]:
            yield from base(job_for, width)
            for where in pieces(slice(p, self.shape[1]), width):
                yield where, job_for(where)(self.more[:, where.start - p : where.stop - p])

        return run

    @property
    def held_bytes(self) -> int:
        return self.base.held_bytes + self.more.nbytes

    @property
    def expects_missing(self) -> bool:
        return self.base.expects_missing

    def align_rows(self, values: Array) -> Array:
        return self.base.align_rows(values)


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


def append_columns(source: Source, more: Array | None) -> Source:
    """A source with the columns of an array after its own; itself where there are none."""
    if more is None or more.shape[1] == 0:
        return source
    if isinstance(source, ArraySource):
        return ArraySource(np.column_stack([source.X, more]), source.width)
    return BesideSource(source, np.asarray(more, dtype=np.float64))
