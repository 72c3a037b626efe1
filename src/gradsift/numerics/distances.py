"""Inner products and squared distances of samples, summed over column blocks.

All that kernels and weights ask of two sets of samples A (n, p) and B (m, p) are a_i . b_j and
||a_i - b_j||^2, (n, m): sums over columns, so that p may be as large as the disk.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from gradsift._run.passes import each_block
from gradsift.numerics.statistics import median
from gradsift.protocols import Array, IntArray, Source


class Products(NamedTuple):
    """All that kernels and weights ask of two sets of samples.

    Attributes
    ----------
    inner : (n, m) array
        Inner products a_i . b_j.
    sqdist : (n, m) array
        Squared distances ||a_i - b_j||^2.
    """

    inner: Array
    sqdist: Array

    def against(self, rows: IntArray) -> Products:
        """Only those with some of the second samples."""
        return Products(self.inner[:, rows], self.sqdist[:, rows])


def products(source: Source, rows: IntArray | None = None) -> Products:
    """Inner products and squared distances of all samples with each other, or with some of them.

    Summed over column blocks: nothing wider than a block is held.
    """
    n = source.shape[0]
    total = _Total(n, n if rows is None else len(rows))
    if source.runner is not None:
        for _, part in each_block(source, lambda _: partial(_total_of, rows)):
            total.merge(part)
    else:  # one sum, not one per block: n x n each
        for _, block in source.blocks():
            total.add(block, block if rows is None else block[rows])
    return total.products()


def _total_of(rows: IntArray | None, block: Array) -> _Total:
    total = _Total(len(block), len(block) if rows is None else len(rows))
    total.add(block, block if rows is None else block[rows])
    return total


def source_products(A: Source, B: Source) -> Products:
    """The same between the rows of two sources with the same columns."""
    total = _Total(A.shape[0], B.shape[0])
    for where, block in A.blocks():
        total.add(block, B.columns(np.arange(where.start, where.stop)))
    return total.products()


def squared_distances(A: Array, B: Array) -> Array:
    """||a_i - b_j||^2, (len(A), len(B))."""
    mean = B.mean(axis=0)
    right = B - mean
    left = right if A is B else A - mean  # the same array: half of the product is enough
    return _apart(left @ right.T, _squares(left), _squares(right))


def _squares(A: Array) -> Array:
    return np.asarray(np.einsum("ij,ij->i", A, A))


def _apart(inner: Array, norms_a: Array, norms_b: Array) -> Array:
    """Squared distances from inner products, which they replace, and squared norms.

    Of data about the origin, or digits are lost.
    """
    inner *= 2.0
    sqdist: Array = np.subtract(norms_a[:, None] + norms_b, inner, out=inner)
    # rounding leaves equal rows some 1e-16 of their norm apart: put them at distance zero
    np.copyto(sqdist, 0.0, where=sqdist <= 2e-13 * norms_a[:, None])
    return sqdist


class _Total:
    """Products summed over column blocks, each block centred at the mean of B.

    Distances do not change with the origin but lose digits far from it: data around 10^6 with unit
    spread would keep four. Inner products are put together again from the centred ones.
    """

    def __init__(self, n: int, m: int) -> None:
        self.centred = np.zeros((n, m))
        self.norms = np.zeros(n), np.zeros(m)
        self.shift = np.zeros(n), np.zeros(m)
        self.origin = 0.0

    def add(self, A: Array, B: Array) -> None:
        mean = B.mean(axis=0)
        right = B - mean
        parts = right if A is B else A - mean, right
        self.centred += parts[0] @ parts[1].T
        for part, norm, shift in zip(parts, self.norms, self.shift):
            norm += _squares(part)
            shift += part @ mean
        self.origin += float(mean @ mean)

    def merge(self, other: _Total) -> None:
        self.centred += other.centred
        for mine, theirs in zip((*self.norms, *self.shift), (*other.norms, *other.shift)):
            mine += theirs
        self.origin += other.origin

    def products(self) -> Products:
        inner = self.centred + self.shift[0][:, None] + self.shift[1] + self.origin
        return Products(inner, _apart(self.centred, *self.norms))


def median_distance(sqdist: Array, sample_weight: Array | None = None) -> float:
    """Median distance between samples at distinct places; 1 if there is only one place.

    Pairs count with the product of their sample weights, so a weight of two equals a repeated row.
    """
    apart = sqdist > 0.0
    if not apart.any():
        return 1.0
    w = sample_weight
    return float(np.sqrt(median(sqdist[apart], None if w is None else np.outer(w, w)[apart])))
