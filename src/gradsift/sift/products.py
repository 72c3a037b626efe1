"""The product screen: which products x_k x_l of two columns explain the residual r?

    z_kl = sum_i r_i x_ik x_il / sqrt(sum_i r_i^2 x_ik^2 x_il^2)

is standard normal for a product without effect. It is self-normalised, and therefore robust to
heavy tails. For q responses the squares are added, chi2(q). Pairs are tested in three classes, by
the number (0, 1, 2) of their columns that are selected already, with a correction for the number of
pairs in each class. A block of columns is compared with all later ones by two matrix products in
single precision. Of a table too large for memory, two strips of columns are held at a time.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradsift._run.threads import map_blocks
from gradsift.numerics.logistic import ReducedModels, with_ones
from gradsift.protocols import Array, IntArray
from gradsift.sift.criterion import SiftResponse
from gradsift.sift.features import Single
from gradsift.sift.groups import PRODUCT, Groups, Support, pair_tests, squared_level
from gradsift.sift.rows import Clusters, Rows
from gradsift.sift.settings import DEFAULT, SiftSettings

BLOCK, PIECE = 64, 512
"""Time: columns screened at a time, against so many others; the first number divides the second."""
HEAVY = 0.85
"""Time: part of the squared residuals in the rows that bound a denominator."""
FEW = 100
"""Time: pairs are computed one by one where they are fewer than one in so many."""
TINY = np.float32(1e-30)
"""Rounding: what is divided by is at least this."""
HELD_VALUES = 50_000_000
"""Memory: values of a strip of columns (200 MB in single precision)."""


@dataclass(frozen=True)
class Screen:
    columns: IntArray
    """(k,) the columns whose pairs were tested, in order."""
    passed: dict[tuple[int, int], float]
    """Pair of columns -> squared level, strongest first."""
    best: Array
    """(k,) largest z^2 of each column over all partners; where chance alone gives one of them as
    much, it may be 0.
    """
    best_selected: Array
    """(k,) the same over selected partners only."""


def strongest_pairs(found: list[Array], count: int) -> Array:
    """The `count` strongest pairs, (4, m): z^2 over the squared level, this level, and the places
    of both columns. They come in order, and of equal ones the first is taken.
    """
    every = np.hstack([np.zeros((4, 0)), *found])
    return every[:, np.argsort(-every[0], kind="stable")[:count]]


Pairs = tuple[IntArray, IntArray, Single]


class Statistic(ABC):
    """z_kl^2 of some columns A (n, a) against others."""

    @abstractmethod
    def squares(self, B: Single) -> Single:
        """Against columns B (n, b): (a, b)."""

    def above(self, B: Single, least: float) -> Pairs:
        """The pairs with at least so much: places of columns A and B, and z^2."""
        z = self.squares(B)
        a, b = np.nonzero(z >= least)
        return a, b, z[a, b]


class RowProducts(Statistic):
    """z_kl^2 where rows are independent.

    Parameters
    ----------
    R : (n, q) array
        Residuals.
    weight : (n,) array or None
    heavy : int
        The first rows, which bound the denominator.
    A : (n, a) array
    """

    def __init__(self, R: Single, weight: Single | None, heavy: int, A: Single) -> None:
        self.heavy, A2 = heavy, A * A
        self.levers: list[tuple[Single, Single]] = []
        """For each response, columns times r and their squares times r^2, (a, n)."""
        for r in R.T:
            lever = r if weight is None else r * weight
            self.levers.append(((A * lever[:, None]).T, (A2 * (r * lever)[:, None]).T))

    def squares(self, B: Single) -> Single:
        return self.at_most(B, len(B))

    def at_most(self, B: Single, rows: int) -> Single:
        """Upper bounds of z^2, by the part of the denominator that the first rows hold."""
        squared = np.square(B[:rows])
        total: Single = np.zeros(1, dtype=B.dtype)
        for first, second in self.levers:
            top, below = first @ B, second[:, :rows] @ squared
            top *= top
            below += TINY
            top /= below
            total = top if len(self.levers) == 1 else total + top
        return total

    def above(self, B: Single, least: float) -> Pairs:
        near = np.flatnonzero(self.at_most(B, self.heavy) > 0.999 * least)
        a, b = np.divmod(near, B.shape[1])
        if len(near) * FEW > len(self.levers[0][0]) * B.shape[1]:
            return super().above(B, least)
        some = B[:, b].T
        squared, z = some * some, np.zeros(len(near), dtype=B.dtype)
        for first, second in self.levers:
            top = np.einsum("in,in->i", first[a], some)
            z += top * top / (np.einsum("in,in->i", second[a], squared) + TINY)
        kept = z >= least
        return a[kept], b[kept], z[kept]


def row_products(R: Array, weight: Array | None) -> tuple[IntArray, Callable[[Single], Statistic]]:
    """The order of rows from the largest residual down, and the statistic of columns in it."""
    squares = np.square(R).sum(axis=1) if weight is None else np.square(R).sum(axis=1) * weight
    order = np.argsort(-squares, kind="stable")
    held = np.cumsum(squares[order])
    heavy = int(np.searchsorted(held, HEAVY * held[-1])) + 1
    w32 = None if weight is None else weight[order].astype(np.float32)
    return order, partial(RowProducts, R[order].astype(np.float32), w32, heavy)


@dataclass(frozen=True)
class Comparison:
    """What blocks of columns are compared by."""

    statistic: Callable[[Single], Statistic]
    """Of columns A."""
    levels: Array
    """(3,) squared levels of pairs of which 0, 1 or 2 columns are selected."""
    chosen: NDArray[np.int8]
    """(k,) 1 for selected columns, 0 for the others."""
    count: int
    """Pairs that are kept at most."""
    least: float
    """z^2 below which pairs of columns that are not selected do not matter."""

    def block(
        self, A: Single, first_a: int, B: Single, first_b: int, start: int
    ) -> tuple[slice, Array, Array, Array]:
        """The columns of A from number `start` on against those of B: which they are, the largest
        z^2 of them and of the columns of B, over all and over selected partners (2, width), and
        the strongest pairs. A begins with column `first_a`, and B with `first_b`.
        """
        stop = min(start + BLOCK, first_a + A.shape[1])
        a = np.arange(start, stop)
        statistic = self.statistic(A[:, start - first_a : stop - first_a])
        own, others = np.zeros((2, len(a))), np.zeros((2, B.shape[1]))
        found: list[Array] = []
        for skip in range(max(start - first_b, 0) // PIECE * PIECE, B.shape[1], PIECE):
            piece = slice(skip, min(skip + PIECE, B.shape[1]))
            b = np.arange(first_b + piece.start, first_b + piece.stop)
            in_a, in_b = self.chosen[a] > 0, self.chosen[b] > 0
            if not in_a.any() and not in_b.any():
                i, j, z = statistic.above(B[:, piece], self.least)
                z = np.where(a[i] < b[j], z, 0.0)  # each pair once
                np.maximum.at(own[0], i, z)
                np.maximum.at(others[0], skip + j, z)
                strong = z > 0.999 * self.levels[0]
                i, j, z, level = i[strong], j[strong], z[strong], self.levels[0]
            else:
                z = statistic.squares(B[:, piece])
                z[a[:, None] >= b] = 0.0
                np.maximum(own[0], z.max(axis=1), out=own[0])
                np.maximum(own[1], z[:, in_b].max(axis=1, initial=0.0), out=own[1])
                others[:, piece] = z.max(axis=0), z[in_a].max(axis=0, initial=0.0)
                level = self.levels[self.chosen[a][:, None] + self.chosen[b]]
                i, j = np.nonzero(z > 0.999 * level)
                z, level = z[i, j], level[i, j]
            if len(z):
                passed = np.stack([z / level, np.broadcast_to(level, z.shape), a[i], b[j]])
                found.append(strongest_pairs([passed], self.count))
        return slice(start, stop), own, others, strongest_pairs(found, self.count)


def screen(
    read: Callable[[IntArray], Single],
    columns: IntArray,
    R: Array,
    rows: Rows,
    selected: list[int],
    alpha: float,
    settings: SiftSettings = DEFAULT,
) -> Screen:
    """Screen all pairs among some columns.

    Parameters
    ----------
    read : function
        From some columns to their clipped values, (n, width).
    columns : int array (k,)
        In increasing order.
    R : array (n, q)
        Residuals, not scaled by root weight.
    rows : Rows
    selected : list of int
        Columns that are in the support.
    alpha : float
        The share of false variables left to pairs.
    settings : SiftSettings
    """
    k, q = len(columns), R.shape[1]
    levels = [squared_level(alpha, tests, q) for tests in pair_tests(k, len(selected))]
    statistic: Callable[[Single], Statistic]
    if rows.clusters is None:
        order, statistic = row_products(R, rows.weight)
    else:
        order, statistic = np.arange(len(R)), partial(ClusterProducts, R, rows.clusters)
    comparison = Comparison(
        statistic,
        np.array(levels),
        np.isin(columns, selected).astype(np.int8),
        settings.n_known,
        min(squared_level(1.0, k, q), 0.999 * levels[0]),
    )
    best, found = np.zeros((2, k)), strongest_pairs([], 0)
    width = max(HELD_VALUES // max(len(R) * PIECE, 1), 1) * PIECE
    strips = [slice(start, min(start + width, k)) for start in range(0, k, width)]
    for number, one in enumerate(strips):
        A = reordered(read(columns[one]), order)
        for two in strips[number:]:
            B = A if two is one else reordered(read(columns[two]), order)
            block = partial(comparison.block, A, one.start, B, two.start)
            for at, own, others, passed in map_blocks(block, range(one.start, one.stop, BLOCK)):
                best[:, at] = np.maximum(best[:, at], own)
                best[:, two] = np.maximum(best[:, two], others)
                found = strongest_pairs([found, passed], settings.n_known)
    pairs = columns[found[2:].astype(np.intp)].T.tolist()
    passed_levels = {(i, j): level for (i, j), level in zip(pairs, found[1].tolist(), strict=True)}
    return Screen(columns, passed_levels, *best)


def reordered(X: Single, order: IntArray) -> Single:
    """The same columns with their rows in another order, changed in place."""
    for start in range(0, X.shape[1], PIECE):
        X[:, start : start + PIECE] = X[order, start : start + PIECE]
    return X


# The product screen where rows belong together.
#
# With the residual r of mapped rows (`clusters`) and f = x_k x_l,
#
#     z_kl^2 = (sum_i r_i (W f)_i)^2 / (v ||W f||^2),
#
# v being the design effect of the product: the sum of squares of the scores of clusters over ||W
# f||^2, shrunk towards its mean over the pairs that are looked at together (`design_effects`). W
# is its own adjoint, so that W r meets f itself. Sums over clusters are one small matrix product
# for each, done for all clusters of equal length at once.


MOST_SUMS = 4_000_000
"""Memory: sums over clusters made at a time (16 MB)."""
LEAST_PART = 1e-3
"""Rounding: least squared length of a product, per row: it is a difference of sums in single
precision.
"""


class ClusterProducts(Statistic):
    """z_kl^2 against residuals R (n, q) of mapped rows, not scaled, summed over responses."""

    def __init__(self, R: Array, clusters: Clusters, A: Single) -> None:
        self.A, self.clusters = A, clusters
        self.weight = clusters.weight.astype(np.float32)[:, None]
        self.levers = (clusters.mapped(R.T) * clusters.weight).astype(np.float32)
        theta = clusters.theta
        self.shared = ((2.0 * theta - theta**2) / clusters.size).astype(np.float32)

    def squares(self, B: Single) -> Single:
        A, clusters, weight = self.A, self.clusters, self.weight
        count, total = len(clusters.size), float(clusters.size.sum())
        length = (A * A * weight).T @ (B * B)
        for at, F in cluster_sums(A * weight, B, clusters):
            length -= np.einsum("g,gab->ab", self.shared[at], np.square(F, out=F))
        np.maximum(length, LEAST_PART * total, out=length)
        z = np.zeros_like(length)
        for lever in self.levers:
            top, second, fourth = np.zeros((3, *length.shape), dtype=np.float32)
            for _, S in cluster_sums(A * lever[:, None], B, clusters):
                top += S.sum(axis=0)
                np.square(S, out=S)
                second += S.sum(axis=0)
                fourth += np.square(S, out=S).sum(axis=0)
            spread = np.maximum(fourth - second**2 / count, 0.0) / length**2
            z += top**2 / (length * shrunk_effects(second / length, spread))
        return z


def shrunk_effects(v: Single, variance: Single) -> Single:
    """Design effects, at least 1, shrunk towards their mean by their own sampling variance."""
    mean = max(float(v.mean()), 1.0)
    beyond = max(float(v.var() - variance.mean()), 0.0)
    own = np.float32(beyond) / (np.float32(beyond) + variance + np.float32(1e-12))
    return np.asarray(np.maximum(mean + own * (v - mean), 1.0), dtype=np.float32)


def cluster_sums(A: Single, B: Single, clusters: Clusters) -> Iterator[tuple[slice, Single]]:
    """Sums of a_i b_i over the rows of clusters, some at a time: (which clusters, (g, a, b))."""
    a, b = A.shape[1], B.shape[1]
    done, most = 0, max(1, MOST_SUMS // (a * b))
    for rows, count, length in clusters.runs:
        A3 = A[rows].reshape(count, length, a).transpose(0, 2, 1)
        B3 = B[rows].reshape(count, length, b)
        for start in range(0, count, most):
            some = slice(start, min(start + most, count))
            yield slice(done + some.start, done + some.stop), A3[some] @ B3[some]
        done += count


# Products that only the link makes.
#
# Least squares on labels fits probabilities. Where the log odds are a sum of effects, probabilities
# are not: they flatten out, and what a sum of effects misses looks like a product of two columns. A
# product is an interaction of the columns if the log odds need it, too. That is asked by a score
# test (Rao 1948) given a (multinomial) logistic model of everything else in the support.


class Classes(NamedTuple):
    """The classes of rows whose log odds have an offset."""

    codes: IntArray
    known: Array
    """(n, C - 1) offset of the log odds against the first class."""

    def take(self, rows: Rows) -> tuple[Array, Array]:
        """Indicators (n, C) and the known part of the rows that are kept."""
        codes = self.codes if rows.kept is None else self.codes[rows.kept]
        return np.eye(self.known.shape[1] + 1)[codes], rows.take(self.known)


def interactions_of(
    groups: Groups, support: Support, response: SiftResponse, classes: Classes | None = None
) -> list[int]:
    """Products of a support that a logistic model without them lacks; all of them for numbers."""
    products = [g for g in support if groups.index.part(g) == PRODUCT]
    known = None
    if classes is None or groups.rows.clusters is not None:
        T = indicators(response.Y)
    else:
        T, known = classes.take(groups.rows)
    if T is None or not products:
        return products
    Phi = with_ones((groups.stack(support) / groups.rows.root).T)
    statistic = score_statistics(
        Phi, T, groups.rows.weights, groups.table.settings.ridge, known, len(products)
    )
    return [g for g, t in zip(products, statistic, strict=True) if t >= groups.levels.new[g]]


def score_statistics(
    Phi: Array, T: Array, weight: Array, ridge: float, known: Array | None, count: int
) -> list[float]:
    """Score statistic of each of the last `count` features of Phi (n, m + 1), before the constant,
    given all others.
    """
    offset = np.zeros_like(T)
    if known is not None:
        offset[:, 1:] = known
    models, last = ReducedModels.of(Phi, T, weight, ridge * weight.sum(), offset), Phi.shape[1] - 1
    return [models.score_statistic(place) for place in range(last - count, last)]


def indicators(Y: Array) -> Array | None:
    """0/1 columns (n, C) of the C classes that contrasts (n, C - 1) stand for; None for numbers."""
    values, place = np.unique(Y.round(9), axis=0, return_inverse=True)
    if len(values) != Y.shape[1] + 1:
        return None
    return np.eye(len(values))[place.reshape(-1)]
