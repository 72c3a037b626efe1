"""Column means and scales in one pass, and a view that applies them block by block."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from gradsift._run.passes import each_block
from gradsift.data.source import ArraySource, SourceView, windows
from gradsift.exceptions import ImputedWarning
from gradsift.protocols import Array, GenotypeSums, IntArray, Source

PIECE_BYTES = 8 << 20  # columns measured at a time: they are copied twice
MOST_SQUARED = 1e150  # larger values are divided by their size before they are squared
CUT_COLUMNS = 512  # columns cut off at a time: they are copied
LEAST_SIZE = 1e-290
"""A column whose largest value is smaller is zero: a derivative along it would overflow."""


@dataclass(frozen=True)
class Scaling:
    """z = (x - mean) / scale, column by column; constant columns go to exactly zero.

    With `fill` (one value per column), a missing x counts as that value.
    """

    mean: Array
    scale: Array
    fill: Array | None = None

    def apply(self, X: Array, where: slice | IntArray = slice(None)) -> Array:
        Z: Array = X - self.mean[where]
        Z /= self.scale[where]
        if self.fill is not None:
            gaps = np.isnan(X)
            if gaps.any():
                level = (self.fill[where] - self.mean[where]) / self.scale[where]
                Z[gaps] = np.broadcast_to(level, Z.shape)[gaps]
        return Z

    def take(self, where: slice | IntArray) -> Scaling:
        """The scaling of some columns."""
        fill = None if self.fill is None else self.fill[where]
        return Scaling(self.mean[where], self.scale[where], fill)

    def derivative(self, G: Array, where: slice | IntArray = slice(None)) -> Array:
        """A derivative with respect to z, turned into one with respect to x."""
        return G / self.scale[where]


def identity_scaling(n_features: int, fill: Array | None = None) -> Scaling:
    """Columns as they are, but for missing values."""
    return Scaling(np.zeros(n_features), np.ones(n_features), fill)


def measure_scaling(
    source: Source, share: Array, *, standardize: bool = True, missing: str = "error"
) -> Scaling:
    """Weighted mean and standard deviation of every column (shares sum to 1).

    A column whose spread is rounding noise next to its size is constant: its scale is infinite, so
    it standardises to exactly zero and a derivative along it is exactly zero too.

    Parameters
    ----------
    standardize : bool
        False leaves the columns as they are, but for missing values.
    missing : {'error', 'mean'}
        'mean' fills missing values with the mean of the column. Formats that expect missing values
        (genotype calls) are always filled, with a warning that says how many.
    """
    p = source.shape[1]
    filled = missing == "mean" or source.expects_missing
    if not standardize and not filled:
        return identity_scaling(p)
    mean, scale = np.empty(p), np.empty(p)
    n_missing = 0
    width = max(1, PIECE_BYTES // (8 * max(1, len(share))))
    weight = share / share.max()  # ones, for exact counts, unless rows have weights
    counted = source.genotype_sums(np.column_stack([weight, np.ones(len(share))]))
    passed: Iterator[tuple[slice, tuple[Array, Array, int]]]
    if counted is None:
        passed = each_block(source, lambda _: partial(moments, share, filled), width=width)
    else:
        passed = ((where, genotype_moments(sums, weight)) for where, sums in counted)
    for where, found in passed:
        mean[where], scale[where] = found[0], found[1]
        n_missing += found[2]
    if n_missing and missing != "mean":
        warnings.warn(
            f"{n_missing} of {np.prod(source.shape, dtype=float):.0f} values are missing (no "
            "calls); the mean of their column is put in their place.",
            ImputedWarning,
            stacklevel=2,
        )
    fill = mean if filled else None
    return Scaling(mean, scale, fill) if standardize else identity_scaling(p, fill)


def moments(share: Array, filled: bool, block: Array) -> tuple[Array, Array, int]:
    """Means and scales of the columns of a block, and how many missing values were filled."""
    mean: Array = share @ block
    n_missing = 0
    if filled and not np.isfinite(mean).all():
        block, mean, n_missing = fill_means(block, share, mean)
    size = np.abs(block).max(axis=0)
    small = (size > LEAST_SIZE) & (size < 1.0 / MOST_SQUARED)
    unit = np.where((size > MOST_SQUARED) | small, size, 1.0)
    deviation = block - mean
    if (unit != 1.0).any():  # squares may be too large for a float, or vanish
        deviation /= unit
    spread = unit * np.sqrt(share @ np.square(deviation, out=deviation))
    return mean, np.where(spread > 1e-12 * size, spread, np.inf), n_missing


def genotype_moments(sums: Array, weight: Array) -> tuple[Array, Array, int]:
    """The same from sums of weights and of ones (3, width, 2) over the rows of each genotype."""
    some, copies = sums[:, :, 0], np.arange(3.0)[:, None]
    known = some.sum(axis=0)
    mean = (copies * some).sum(axis=0) / np.where(known > 0, known, 1.0)
    # a missing value counts as the mean
    spread = np.sqrt((some * np.square(copies - mean)).sum(axis=0) / weight.sum())
    n_missing = len(weight) * some.shape[1] - int(np.rint(sums[:, :, 1].sum()))
    return mean, np.where(spread > 1e-12, spread, np.inf), n_missing


def fill_means(block: Array, share: Array, mean: Array) -> tuple[Array, Array, int]:
    """The block with its missing values filled, the means of what is known, and their number.

    A column without any value counts as zero everywhere.
    """
    unknown = np.flatnonzero(~np.isfinite(mean))
    part = block[:, unknown]
    known = ~np.isnan(part)
    weight = share @ known
    level = share @ np.where(known, part, 0.0) / np.where(weight > 0, weight, 1.0)
    block, mean = block.copy(), mean.copy()  # the first may be the user's own array
    block[:, unknown] = np.where(known, part, level)
    mean[unknown] = level
    return block, mean, int((~known).sum())


@dataclass(frozen=True)
class ScaledSource(SourceView):
    """A view of another source through a `Scaling`; nothing is copied but the block in hand."""

    scaling: Scaling

    def change(self, where: slice | IntArray) -> Callable[[Array], Array]:
        return self.scaling.take(where).apply

    def genotype_sums(self, D: Array, which: slice | None = None) -> GenotypeSums | None:
        """Of the values as they were: sums by genotype know no scale."""
        return None if self.scaling.fill is not None else self.base.genotype_sums(D, which)

    @property
    def expects_missing(self) -> bool:
        return self.scaling.fill is None and self.base.expects_missing


@dataclass(frozen=True)
class CutSource(SourceView):
    """Another source, its values cut off on both sides of zero."""

    limit: float

    def change(self, where: slice | IntArray) -> Callable[[Array], Array]:
        return partial(np.clip, a_min=-self.limit, a_max=self.limit)

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        """Narrow ones: cutting makes a copy."""
        for where, block in self.base.blocks():
            for part in windows(block.shape[1], CUT_COLUMNS):
                piece = slice(where.start + part.start, where.start + part.stop)
                yield piece, self.change(piece)(block[:, part])


def fill_missing(X: Array, fill: Array) -> Array:
    """X itself where nothing is missing, else a copy with `fill`, one value per column."""
    gaps = np.isnan(X)
    return np.where(gaps, fill, X) if gaps.any() else X


def standardised(source: Source, scaling: Scaling) -> Source:
    """The standardised source: a copy where the data is in memory, a view where it is not."""
    if isinstance(source, ArraySource):
        return ArraySource(scaling.apply(source.X))
    return ScaledSource(source, scaling)
