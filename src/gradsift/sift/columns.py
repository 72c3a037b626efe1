"""Columns as the sift sees them: clipped, kept rows only, one block at a time."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from gradsift._run.passes import each_block
from gradsift._typing import Array, IntArray, Source
from gradsift.numerics.robust import median
from gradsift.sift.features import (
    antiderivatives,
    clipped,
    clipped_known,
    derivatives,
    oriented,
    own_features,
    whitener,
)
from gradsift.sift.rows import Rows
from gradsift.sift.settings import DEFAULT, SiftSettings

Single = NDArray[np.float32]

BLOCK_VALUES = 600_000
"""Values a pass makes at a time at most (5 MB, and some temporaries of that size)."""
READ_VALUES = 300_000
"""Values of chosen columns read at a time at most (2 MB)."""
N_BINS = 128
"""Places a column is reduced to in a pass over a wide table."""


def clipped_columns(
    source: Source, index: IntArray, rows: Rows, settings: SiftSettings = DEFAULT
) -> Array:
    """Clipped columns by index, (n, k); zero where they are missing."""
    return clipped(source.columns(index), rows, settings)


def known_columns(
    source: Source, index: IntArray, rows: Rows, settings: SiftSettings = DEFAULT
) -> Array:
    """Clipped columns by index, (n, k); NaN where they are missing."""
    return clipped_known(source.columns(index), rows, settings)


def at_a_time(source: Source, most: int, each: int) -> int:
    """Columns of `each` values dealt with at a time: `most` values, fewer in small tables."""
    n, p = source.shape
    return max(1, min(most, max(most // 10, n * p // 8)) // max(each, 1))


def read_pieces(
    source: Source, index: IntArray, rows: Rows, settings: SiftSettings = DEFAULT
) -> Iterator[tuple[int, Array]]:
    """`known_columns`, a few at a time: (how many came before, (n, w))."""
    step = at_a_time(source, READ_VALUES, source.shape[0])
    for first in range(0, len(index), step):
        yield first, known_columns(source, index[first : first + step], rows, settings)


def single_columns(
    source: Source, index: IntArray, rows: Rows, settings: SiftSettings = DEFAULT
) -> Single:
    """Clipped columns by index in single precision, (n, k)."""
    out = np.empty((rows.count(source.shape[0]), len(index)), dtype=np.float32)
    for first, X in read_pieces(source, index, rows, settings):
        out[:, first : first + X.shape[1]] = np.nan_to_num(X, copy=False)
    return out


def odd_rows(
    source: Source, index: IntArray, rows: Rows, settings: SiftSettings = DEFAULT
) -> Array:
    """Rows, by weight, in which each column is not at its median, (k,)."""
    out = np.empty(len(index))
    for first, X in read_pieces(source, index, rows, settings):
        X = np.nan_to_num(X, copy=False)
        differs = (median(X, rows.weight) != X).astype(np.float64)
        out[first : first + X.shape[1]] = rows.mean(differs) * rows.total
    return out


def summed_squares(U: Array, rows: Rows, settings: SiftSettings) -> Array:
    """||Z_g R||_F^2 / n of each part from Z R, (width, features, q): (3, width)."""
    squares = np.square(U).sum(axis=2)
    return np.stack([squares[:, part].sum(axis=1) for part in settings.parts]) / rows.total


def own_scores(X: Array, R: Array, rows: Rows, settings: SiftSettings = DEFAULT) -> Array:
    """Z R of the features of columns as they are read, (width, features, q), by the way that
    suits their length.
    """
    binned = len(X) > N_BINS and rows.clusters is None
    scores = binned_scores if binned else exact_scores
    return scores(clipped_known(X, rows, settings), R, rows, settings)


def exact_scores(X: Array, R: Array, rows: Rows, settings: SiftSettings = DEFAULT) -> Array:
    """Z R of clipped columns X: (width, features, q)."""
    U = own_features(X, rows, settings).reshape(-1, X.shape[0]) @ R
    return U.reshape(X.shape[1], settings.n_features, R.shape[1])


def binned_scores(X: Array, R: Array, rows: Rows, settings: SiftSettings = DEFAULT) -> Array:
    """Z R of a long table, at a fraction of its cost: (width, features, q).

    The features of a column are smooth functions of one variable: inside each of `N_BINS` equal
    bins their tangent at the mean stands for them, so that a column costs 128 erf per bump
    whatever n. Exact for columns of few distinct values (genotypes, counts, zeros); otherwise the
    error is of the order of the squared bin width, 2e-4 of a linear or quadratic statistic; the
    knots of the bumps move by up to a bin, and with them local statistics by 1 %. The statistics
    of a pass say which columns deserve exact features, and rank the others.
    """
    width = X.shape[1]
    root = np.reshape(rows.root, (-1, 1))
    X, sign = oriented(X, rows)
    known = ~np.isnan(X)
    whole = bool(known.all())
    X = X if whole else np.nan_to_num(X)
    low = X.min(axis=0)
    step = np.maximum((X.max(axis=0) - low) / N_BINS, 1e-300)
    along = X - low
    along /= step
    place = along.astype(np.intp)
    del along
    np.minimum(place, N_BINS - 1, out=place)
    place += N_BINS * np.arange(width)

    def gather(values: Array | None) -> Array:
        if not whole:
            values = known * (1.0 if values is None else values)
        weights = None if values is None else np.broadcast_to(values, X.shape).ravel()
        total = np.bincount(place.ravel(), weights, minlength=N_BINS * width)
        return np.asarray(total, dtype=np.float64).reshape(width, N_BINS)

    count: Array = gather(None if rows.weight is None else root * root)
    at: Array = gather(X if rows.weight is None else root * root * X) / np.maximum(count, 1e-300)
    weighted = [root * r[:, None] for r in R.T]
    sums: Array = np.stack([gather(r) for r in weighted], axis=2)
    moments: Array = np.stack([gather(r * X) for r in weighted], axis=2)
    taken = count > 0
    most = int(taken.sum(axis=1).max())
    if most < N_BINS // 2:  # few distinct values: leave out the bins without any
        order = np.argsort(~taken, axis=1, kind="stable")[:, :most]
        count, at = (np.take_along_axis(a, order, axis=1) for a in (count, at))
        sums, moments = (np.take_along_axis(a, order[:, :, None], axis=1) for a in (sums, moments))
    below = np.cumsum(count, axis=1)
    total = np.full((width, 1), rows.total) if whole else count.sum(axis=1, keepdims=True)
    rank = np.stack(
        [(below < level * total - 1e-9).sum(axis=1) for level in settings.knot_levels], axis=1
    )
    centres = np.take_along_axis(at, np.minimum(rank, at.shape[1] - 1), axis=1)
    P = antiderivatives(at.T, centres.T, settings)
    P -= (P @ count[:, :, None]) / np.maximum(total, 1e-300)[:, :, None]
    T = whitener((P * count[:, None, :]) @ P.transpose(0, 2, 1) / rows.total, settings)
    slopes = derivatives(at.T, centres.T, settings) @ (moments - at[:, :, None] * sums)
    U = np.asarray(T @ (P @ sums + slopes))
    U[:, 0] *= sign[:, None]
    return U


def wide_statistics(
    source: Source, R: Array, rows: Rows, settings: SiftSettings = DEFAULT
) -> Array:
    """Statistics (3, p) of all columns in one pass, features thrown away; single precision, as
    ten million columns of them are held more than once.
    """
    n, p = source.shape
    out = np.zeros((3, p), dtype=np.float32)
    job = partial(raw_statistics, R, rows, settings)
    made = min(n, N_BINS) if rows.clusters is None else n
    each = settings.n_features * made + 4 * n  # features, and copies of the column itself
    width = at_a_time(source, BLOCK_VALUES, each)
    for where, found in each_block(source, lambda _: job, width=width):
        out[:, where] = found
    return out


def raw_statistics(R: Array, rows: Rows, settings: SiftSettings, X: Array) -> Array:
    """Statistics of columns as they are read, by the way that suits their length."""
    return summed_squares(own_scores(X, R, rows, settings), rows, settings)


def pool_size(source: Source, settings: SiftSettings = DEFAULT) -> int:
    """Columns whose features are kept: so many that these take a quarter of the memory the table
    does (a compressed one takes less than it looks), but as many as are no trouble.
    """
    each, limits = settings.n_features * source.shape[0], settings.limits
    fair = min(source.held_bytes // (4 * each), limits.most_columns)
    least = max(fair, limits.free_values // each, limits.least_columns)
    return max(1, min(least, limits.most_values // each))


def promising(statistics: Array, levels: Array, count: int, always: list[int]) -> IntArray:
    """The `count` columns with the largest statistic over level, `always` included; sorted."""
    best = strongest(statistics, levels)
    best[always] = np.inf
    return largest(best, max(count, len(always)))


def strongest(statistics: Array, levels: Array) -> Array:
    """Largest statistic over level of each column, (p,), without temporaries of the size of all."""
    best: Array = statistics[0] / float(levels[0])
    for row, level in zip(statistics[1:], levels[1:], strict=True):
        np.maximum(best, row / float(level), out=best)
    return best


def largest(best: Array, count: int) -> IntArray:
    """Places of the `count` largest values, sorted; among equals the first ones."""
    if count >= len(best):
        return np.arange(len(best))
    edge = np.partition(best, len(best) - count)[len(best) - count]
    above = np.flatnonzero(best > edge)
    equal = np.flatnonzero(best == edge)[: count - len(above)]
    return np.sort(np.concatenate([above, equal]))
