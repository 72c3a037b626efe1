"""Column means and scales in one pass, and a view that applies them block by block."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gradsift._typing import Array, IntArray, Source
from gradsift.data.source import ArraySource


@dataclass(frozen=True)
class Scaling:
    """z = (x - mean) / scale, column by column; constant columns go to exactly zero."""

    mean: Array
    scale: Array

    def apply(self, X: Array, where: slice | IntArray = slice(None)) -> Array:
        return (X - self.mean[where]) / self.scale[where]

    def derivative(self, G: Array, where: slice | IntArray = slice(None)) -> Array:
        """A derivative with respect to z, turned into one with respect to x."""
        return G / self.scale[where]


def identity_scaling(n_features: int) -> Scaling:
    return Scaling(np.zeros(n_features), np.ones(n_features))


def measure_scaling(source: Source, share: Array) -> Scaling:
    """Weighted mean and standard deviation of every column (shares sum to 1).

    A column whose spread is rounding noise beside its size is constant: its scale is infinite, so
    it standardises to exactly zero and a derivative along it is exactly zero too.
    """
    p = source.shape[1]
    mean, scale = np.empty(p), np.empty(p)
    for where, block in source.blocks():
        mean[where] = share @ block
        spread = np.sqrt(share @ np.square(block - mean[where]))
        size = np.abs(block).max(axis=0)
        scale[where] = np.where(spread > 1e-12 * size, spread, np.inf)
    return Scaling(mean, scale)


@dataclass(frozen=True)
class ScaledSource:
    """A view of another source through a `Scaling`; nothing is copied but the block in hand."""

    base: Source
    scaling: Scaling

    @property
    def shape(self) -> tuple[int, int]:
        return self.base.shape

    def columns(self, index: IntArray) -> Array:
        return self.scaling.apply(self.base.columns(index), index)

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        for where, block in self.base.blocks():
            yield where, self.scaling.apply(block, where)


def standardised(source: Source, scaling: Scaling) -> Source:
    """The standardised source: a copy where the data is in memory, a view where it is not."""
    if isinstance(source, ArraySource):
        return ArraySource(scaling.apply(source.X))
    return ScaledSource(source, scaling)
