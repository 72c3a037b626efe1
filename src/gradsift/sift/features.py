"""Univariate features: smooth functions of one column, whose combinations are its effect.

Problem: a few orthonormal features of each column (n,) whose span holds lines, parabolas and smooth
curves. The univariate part of the k-th partial derivative is a combination of [1, x, bump_1(x) ..
bump_J(x)], with Gaussian bumps of width w = `clip` / J at the J mid-quantiles q_j of the variable.
The potential needs their antiderivatives

    [x,  x^2,  erf((x - q_j) / (w sqrt 2)), j = 1..J],

made orthonormal in this order (ordered Cholesky): the first is the linear part, the second what a
quadratic adds to it, the others what local terms add to both. Orthonormal features have an exact
null: for residuals r independent of x with variance s^2, the vector Z r / (s sqrt n) has identity
covariance, so the squared length of a group of m features is chi2(m) to the accuracy of the central
limit theorem, whatever the distribution of the variable.

Where a value is missing (NaN), every feature is set to its mean over the known rows and carries no
information. Features of a mean value would: the square of the mean is not the mean of the square.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array
from scipy.special import erf

from gradsift._run.memory import in_own_pages
from gradsift._run.passes import each_block
from gradsift.data import ArraySource
from gradsift.data.source import BesideSource
from gradsift.numerics.statistics import median, middle_quantiles
from gradsift.protocols import Array, IntArray, Source
from gradsift.sift.rows import Rows
from gradsift.sift.settings import DEFAULT, SiftSettings


def clipped(X: Array, rows: Rows, settings: SiftSettings = DEFAULT) -> Array:
    """Kept rows of standardised columns, cut off, centred, unit variance; a constant column and a
    missing value are zero.
    """
    X = rows.take(X)
    if np.isnan(X).any():
        X = np.nan_to_num(unit_known(X, rows))
    X = np.clip(X, -settings.clip, settings.clip)
    return make_unit(X, rows)


def clipped_known(X: Array, rows: Rows, settings: SiftSettings = DEFAULT) -> Array:
    """The same with unit variance over the rows that are known, and NaN where they are not."""
    X = rows.take(X)
    missing = bool(np.isnan(X).any())
    if missing:
        X = unit_known(X, rows)
    X = np.clip(X, -settings.clip, settings.clip)
    return unit_known(X, rows) if missing else make_unit(X, rows)


def make_unit(X: Array, rows: Rows) -> Array:
    """Columns changed to mean zero and unit variance; constant ones to zero."""
    X -= rows.mean(X)
    sd = np.sqrt(rows.mean(X * X))
    X /= np.where(sd > 1e-12, sd, np.inf)
    return X


def unit_known(X: Array, rows: Rows) -> Array:
    """Columns less their mean over known rows, unit variance over these; constant ones are zero."""
    X = X - known_mean(X, rows)
    sd = np.sqrt(known_mean(X * X, rows))
    return np.asarray(X / np.where(sd > 1e-12, sd, np.inf))


def known_mean(X: Array, rows: Rows) -> Array:
    """Weighted mean of the columns of X (n, k) over the rows that are known; zero without any."""
    count = rows.weights @ ~np.isnan(X)
    return np.asarray(rows.weights @ np.nan_to_num(X) / np.where(count > 0, count, 1.0))


def mean_filled(X: Array, rows: Rows) -> Array:
    """Columns X (n, k) with their mean over known rows in place of what is missing."""
    missing = np.isnan(X)
    return np.where(missing, known_mean(X, rows), X) if missing.any() else X


def oriented(X: Array, rows: Rows) -> tuple[Array, Array]:
    """Columns X (n, k) with signs for which their third moments are positive, and these signs (k,):
    features of a column and of its negative are then the same, to the last bit.
    """
    sign = np.where(known_mean(X * X * X, rows) < 0.0, -1.0, 1.0)
    return X * sign, sign


def knots(X: Array, rows: Rows, settings: SiftSettings = DEFAULT) -> Array:
    """Centres of the bumps, (J, width): the mid-quantiles of the known values of each column."""
    missing = np.isnan(X)
    if not missing.any():
        return rows.quantiles(X, settings.knot_levels)
    out = np.zeros((len(settings.knot_levels), X.shape[1]))
    for k, known in enumerate(~missing.T):
        if known.any():
            weight = None if rows.weight is None else rows.weight[known]
            out[:, k] = middle_quantiles(X[known, k], settings.knot_levels, weight)
    return out


def antiderivatives(X: Array, centres: Array, settings: SiftSettings = DEFAULT) -> Array:
    """[x, x^2, erf((x - q_j)/(w sqrt 2))] of every column: (width, 2 + J, n)."""
    x = X.T[:, None, :]
    bumps = erf((x - centres.T[:, :, None]) / (settings.bump_sd * np.sqrt(2)))
    return np.concatenate([x, x * x, bumps], axis=1)


def derivatives(X: Array, centres: Array, settings: SiftSettings = DEFAULT) -> Array:
    """d/dx of `antiderivatives`: [1, 2x, sqrt(2/pi)/w exp(-(x - q_j)^2/(2 w^2))], (width, 2 + J,
    n).
    """
    x = X.T[:, None, :]
    z = (x - centres.T[:, :, None]) / settings.bump_sd
    bumps = np.sqrt(2 / np.pi) / settings.bump_sd * np.exp(-z * z / 2)
    return np.concatenate([np.ones_like(x), 2 * x, bumps], axis=1)


def whitening(P: Array, rows: Rows, settings: SiftSettings = DEFAULT) -> tuple[Array, Array]:
    """Means (width, m) and T (width, m, m), lower triangular, with T (P - mean) orthonormal.

    T = L^-1 diag(1/sd) with C + ridge I = L L' and C the correlation matrix, so row j of T uses
    features up to j only.
    """
    mean = P @ rows.weights / rows.total
    return mean, whitener(covariances(P - mean[:, :, None], rows), settings)


def covariances(P: Array, rows: Rows) -> Array:
    """(width, m, m) of centred features P (width, m, n)."""
    return np.asarray((P * rows.weights) @ P.transpose(0, 2, 1) / rows.total)


def whitener(cov: Array, settings: SiftSettings = DEFAULT) -> Array:
    """T (width, m, m) of features with these covariances."""
    sd = np.sqrt(np.einsum("kjj->kj", cov))
    scale = 1 / np.where(sd > 1e-10, sd, np.inf)
    corr = cov * scale[:, :, None] * scale[:, None, :]
    corr += settings.ridge * np.eye(cov.shape[1])
    return np.asarray(np.linalg.inv(np.linalg.cholesky(corr)) * scale[:, None, :])


def univariate_features(
    X: Array,
    rows: Rows,
    settings: SiftSettings = DEFAULT,
    *,
    weighted: bool = True,
    local: bool = True,
    lines: Array | None = None,
) -> Array:
    """Whitened features of columns X (n, width) from `clipped_known`: (width, 2 + J, n), their rows
    scaled by root weight unless `weighted` is False. Those that are not `local` are the first two
    alone, which do not depend on the others. The linear ones are the columns `lines` (n, width)
    where these are given.
    """
    X, sign = oriented(X, rows)
    if local:
        P = antiderivatives(X, knots(X, rows, settings), settings)
    else:
        P = np.stack([X.T, X.T * X.T], axis=1)
    if lines is not None:
        P[:, 0] = lines.T
    if np.isnan(X).any():
        P = mean_filled(P.reshape(-1, len(X)).T, rows).T.reshape(P.shape)
    if rows.clusters is None:
        mean, T = whitening(P, rows, settings)
        P -= mean[:, :, None]
    else:
        P = rows.clusters.centred(P)
        T = whitener(covariances(P, rows), settings)
    Z = T @ P
    Z[:, 0] *= sign[:, None]
    if weighted:
        Z *= rows.root
    return Z


def product_feature(X: Array, rows: Rows) -> Array:
    """x_1 x_2 of two columns X (n, 2) from `clipped_known`, made orthogonal to x and x^2 of both,
    unit variance, (n,), root-weighted.
    """
    terms = mean_filled(np.column_stack([X, X * X, X[:, 0] * X[:, 1]]), rows)
    alone = rows.centred(terms[:, :4]) * rows.column_root
    product = rows.centred(terms[:, 4]) * rows.root
    product = product - alone @ np.linalg.lstsq(alone, product, rcond=1e-10)[0]
    sd = float(np.sqrt(product @ product / rows.total))
    return np.asarray(product / max(sd, 1e-9))


# Columns as the sift sees them: clipped, kept rows only, one block at a time.


Single = NDArray[np.float32]

BLOCK_VALUES = 600_000
"""Memory: values a pass makes at a time at most (5 MB, and some temporaries of that size)."""
READ_VALUES = 300_000
"""Memory: values of chosen columns read at a time at most (2 MB)."""
N_BINS = 128
"""Rounding: places a column is reduced to in a pass over a wide table (`tangent_scores` bounds the
error).
"""

EQUAL_ROWS = 2_000
"""Rounding: rows of one value from which a column of clustered rows is taken as sparse."""

EDGE = 4.0
"""Rounding: standard deviations up to which points take the place of values (`grid_scores`)."""
GRID = np.linspace(-EDGE, EDGE, 192)
"""Rounding: those points; a value counts for the two next to it."""
GRID_STEP = GRID[1] - GRID[0]


def at_a_time(source: Source, most: int, each: int) -> int:
    """Columns of `each` values taken at a time: `most` values, fewer in small tables."""
    n, p = source.shape
    return max(1, min(most, max(most // 10, n * p // 8)) // max(each, 1))


@dataclass(frozen=True)
class Columns:
    """The columns of a table as the sift reads them: of the kept rows, cut off, some at a time."""

    source: Source
    """(n, p) standardised columns."""
    rows: Rows
    settings: SiftSettings = DEFAULT

    def clipped(self, index: IntArray) -> Array:
        """Clipped columns by index, (n, k); zero where they are missing."""
        return clipped(self.source.columns(index), self.rows, self.settings)

    def known(self, index: IntArray) -> Array:
        """Clipped columns by index, (n, k); NaN where they are missing."""
        return clipped_known(self.source.columns(index), self.rows, self.settings)

    def pieces(self, index: IntArray) -> Iterator[tuple[int, Array]]:
        """`known`, a few at a time: (how many came before, (n, w))."""
        step = at_a_time(self.source, READ_VALUES, self.source.shape[0])
        for first in range(0, len(index), step):
            yield first, self.known(index[first : first + step])

    def single(self, index: IntArray) -> Single:
        """Clipped columns by index in single precision, (n, k)."""
        out = np.empty((self.rows.count, len(index)), dtype=np.float32)
        for first, X in self.pieces(index):
            out[:, first : first + X.shape[1]] = np.nan_to_num(X, copy=False)
        return out

    def odd_rows(self, index: IntArray) -> Array:
        """Sum of weights of the rows in which each column differs from its median, (k,)."""
        out = np.empty(len(index))
        for first, X in self.pieces(index):
            X = np.nan_to_num(X, copy=False)
            differs = (median(X, self.rows.weight) != X).astype(np.float64)
            out[first : first + X.shape[1]] = self.rows.mean(differs) * self.rows.total
        return out

    def features(
        self, index: IntArray, *, weighted: bool = True, local: bool = True
    ) -> Iterator[tuple[slice, Array]]:
        """`univariate_features` of some columns, a few at a time: (which of them, (w, features,
        n)).
        """
        source, rows, settings = self.source, self.rows, self.settings
        each = settings.n_features if local else LOCAL
        step = max(1, PIECE_VALUES // (each * max(source.shape[0], 1)))
        for first, X in self.pieces(index):
            for start in range(0, X.shape[1], step):
                some = X[:, start : start + step]
                where = slice(first + start, first + start + some.shape[1])
                lines = None
                if not settings.clip_lines:
                    lines = unit_known(rows.take(source.columns(index[where])), rows)
                Z = univariate_features(
                    some, rows, settings, weighted=weighted, local=local, lines=lines
                )
                yield where, Z

    def statistics(self, R: Array) -> Array:
        """Statistics (3, p) of all columns against R (n, q) in one pass; single precision, as ten
        million columns of them are held more than once.
        """
        out = np.zeros((3, self.source.shape[1]), dtype=np.float32)
        squares = partial(summed_squares, rows=self.rows, settings=self.settings)
        for where, found in self.reduced_scores(R, squares):
            out[:, where] = found
        return out

    def reduced_scores(
        self, R: Array, reduce: Callable[[Array], Array]
    ) -> Iterator[tuple[slice, Array]]:
        """`reduce` of the scores Z R (width, features, q) of columns against R (n, q),
        some columns at a time: (which, result). Features are thrown away; genotypes have only
        linear and quadratic ones.
        """
        source, rows = self.source, self.rows
        if isinstance(source, BesideSource):
            first = source.base.shape[1]
            yield from replace(self, source=source.base).reduced_scores(R, reduce)
            more = replace(self, source=ArraySource(source.more))
            for where, found in more.reduced_scores(R, reduce):
                yield slice(first + where.start, first + where.stop), found
            return
        counted = self.genotype_scores(R)
        if counted is not None:
            yield from ((where, reduce(U.transpose(1, 0, 2))) for where, U in counted)
            return
        n = source.shape[0]
        made = min(n, N_BINS) if rows.clusters is None else n
        each = self.settings.n_features * made + 4 * n  # features, and copies of the column itself
        job = partial(reduced, R, rows, self.settings, reduce)
        yield from each_block(source, lambda _: job, width=at_a_time(source, BLOCK_VALUES, each))

    def genotype_scores(self, R: Array) -> Iterator[tuple[slice, Array]] | None:
        """Z R of the linear and the quadratic feature of all columns, (2, width, q), from sums of R
        (n, q) by genotype; None where the table has none, or rows are clustered or few.
        """
        rows, root = self.rows, self.rows.column_root
        if rows.clusters is not None or len(R) <= N_BINS:
            return None
        D = np.zeros((self.source.shape[0], 1 + R.shape[1]))
        weighted = np.hstack([root * root * np.ones((len(R), 1)), root * R])
        D[slice(None) if rows.kept is None else rows.kept] = weighted
        counted = self.source.genotype_sums(D)
        if counted is None:
            return None
        return ((where, scores_of_sums(sums, rows, self.settings)) for where, sums in counted)

    def pool_size(self) -> int:
        """Number of columns whose features are kept: these take a quarter of the memory of the
        table (a compressed table takes less than its shape says), but small tables keep more.
        """
        each = self.settings.n_features * self.source.shape[0]
        limits = self.settings.limits
        fair = min(self.source.held_bytes // (4 * each), limits.most_columns)
        least = max(fair, limits.free_values // each, limits.least_columns)
        return max(1, min(least, limits.most_values // each))

    def in_memory(self, index: IntArray) -> Columns:
        """Some columns of a table on disk, read into memory a few at a time, so that the pages of a
        mapped file are released in between.
        """
        n = self.source.shape[0]
        X, step = np.empty((n, len(index))), at_a_time(self.source, READ_VALUES, n)
        for first in range(0, len(index), step):
            X[:, first : first + step] = self.source.columns(index[first : first + step])
        return replace(self, source=ArraySource(X))

    def stored(self, index: IntArray) -> FeatureStore:
        """Features of some columns."""
        n, k, each = self.rows.count, len(index), self.settings.n_features
        if k <= KEPT_COLUMNS:
            double = k * each * n <= DOUBLE_VALUES
            Z = in_own_pages((k, each, n), np.float64 if double else np.float32)
            for some, piece in self.features(index):
                Z[some] = piece
            return DenseFeatures(Z, self.settings)
        table = self
        if self.source.array is None:  # on disk, compressed, or elsewhere: read its columns once
            table, index = self.in_memory(index), np.arange(k)
        curved = np.flatnonzero(table.many_values(index))
        plain, local = Codes.of(k, LOCAL, n), Codes.of(len(curved), each - LOCAL, n)
        few = np.setdiff1d(np.arange(k), curved)
        for some, piece in table.features(index[few], weighted=False, local=False):
            plain.put(few[some], piece)
        for some, piece in table.features(index[curved], weighted=False):
            plain.put(curved[some], piece[:, :LOCAL])
            local.put(some, piece[:, LOCAL:])
        return QuantisedFeatures(plain, local, curved, table, index)

    def many_values(self, index: IntArray) -> NDArray[np.bool_]:
        """Whether each column has more than three values, (k,): of others, such as genotypes, the
        local features lie in the span of the linear and the quadratic one.
        """
        out = np.empty(len(index), dtype=bool)
        step = at_a_time(self.source, READ_VALUES, self.source.shape[0])
        for first in range(0, len(index), step):
            X = self.rows.take(self.source.columns(index[first : first + step]))
            low, high = np.fmin.reduce(X), np.fmax.reduce(X)
            between = np.where((low < X) & (high > X), X, np.nan)
            out[first : first + step] = np.fmin.reduce(between) < np.fmax.reduce(between)
        return out


# ------------------------------------------------ statistics of columns, each by the cheapest way


def summed_squares(U: Array, rows: Rows, settings: SiftSettings) -> Array:
    """||Z_g R||_F^2 / n of each part from Z R, (width, features, .., q): (3, width, ..). Features
    that are not there count as zero.
    """
    squares = np.square(U).sum(axis=-1)
    return np.stack([squares[:, part].sum(axis=1) for part in settings.parts]) / rows.total


def univariate_scores(X: Array, R: Array, rows: Rows, settings: SiftSettings = DEFAULT) -> Array:
    """Z R of the features of columns as they are read, (width, features, q), by the way that
    suits their length.
    """
    binned = len(X) > N_BINS and rows.clusters is None
    scores = binned_scores if binned else exact_scores
    return scores(clipped_known(X, rows, settings), R, rows, settings)


def exact_scores(X: Array, R: Array, rows: Rows, settings: SiftSettings = DEFAULT) -> Array:
    """Z R of clipped columns X: (width, features, q). Rows in clusters are too many to make
    features of those that are zero in a sparse table.
    """
    n, width = X.shape
    U = np.empty((width, settings.n_features, R.shape[1]))
    common = np.median(X[:: max(1, n // N_BINS)], axis=0)  # where most rows have one value, that
    equal = np.count_nonzero(common == X, axis=0)
    few = (equal >= max(EQUAL_ROWS, n // 2)) & (rows.clusters is not None)
    if few.any():
        U[few] = sparse_scores(X[:, few], common[few], R, rows, settings)
    if not few.all():
        rest = ~few if few.any() else slice(None)
        Z = univariate_features(X[:, rest], rows, settings).reshape(-1, n)
        U[rest] = (Z @ R).reshape(-1, *U.shape[1:])
    return U


def sparse_scores(
    X: Array, common: Array, R: Array, rows: Rows, settings: SiftSettings = DEFAULT
) -> Array:
    """The same of columns with one value `common` (width,) in most rows, from the other rows: a
    feature is a constant, which centring removes, and what these rows differ from it by.
    """
    clusters = rows.clusters
    assert clusters is not None
    X, sign = oriented(X, rows)
    centres = knots(X, rows, settings)
    V = rows.column_root * R
    sums = clusters.sums(V.T)
    cov, U = [], []
    for x, value, places in zip(X.T, common * sign, centres.T, strict=True):
        at = np.flatnonzero(x != value)
        P = antiderivatives(np.append(x[at], value)[:, None], places[:, None], settings)[0]
        among, along = clusters.products(P[:, :-1] - P[:, -1:], at, V, sums)
        cov.append(among / rows.total)
        U.append(along)
    out = whitener(np.stack(cov), settings) @ np.stack(U)
    out[:, 0] *= sign[:, None]
    return np.asarray(out)


def binned_scores(X: Array, R: Array, rows: Rows, settings: SiftSettings = DEFAULT) -> Array:
    """Z R of a long table, at a fraction of its cost: (width, features, q).

    The statistics of a pass say which columns deserve exact features, and rank the others. Columns
    of few distinct values, of weighted rows or with missing values take `tangent_scores`, all
    others `grid_scores` in half the time.
    """
    if rows.weight is not None or not np.abs(X).max() < EDGE:  # or a value is missing
        return tangent_scores(X, R, rows, settings)
    sign = np.where(np.einsum("nk,nk,nk->k", X, X, X) < 0.0, -1.0, 1.0)  # as `oriented` does
    sums = grid_sums(X * sign, R)
    few = np.count_nonzero(sums[:, :, 0], axis=1) < len(GRID) // 3
    U = np.empty((X.shape[1], settings.n_features, R.shape[1]))
    if few.any():
        U[few] = tangent_scores(X[:, few], R, rows, settings)
    if not few.all():
        U[~few] = grid_scores(sums[~few], settings)
        U[~few, 0] *= sign[~few, None]
    return U


def grid_sums(X: Array, R: Array) -> Array:
    """(width, points, 1 + q) counts and sums of R at the points of a grid, in single precision: a
    value counts for the two points next to it.
    """
    n, width = X.shape
    along = X / GRID_STEP
    along += EDGE / GRID_STEP
    along = along.astype(np.float32)
    place = along.astype(np.int32)
    along -= place
    place += np.arange(width, dtype=np.int32) * len(GRID)
    part = np.stack([1.0 - along, along], axis=2)
    at = np.stack([place, place + 1], axis=2)
    ends = np.arange(0, 2 * n * width + 1, 2 * width)
    spread = csc_array((part.ravel(), at.ravel(), ends), shape=(width * len(GRID), n))
    D = np.column_stack([np.ones(n), R]).astype(np.float32)
    return np.asarray(spread @ D).reshape(width, len(GRID), -1)


def grid_scores(sums: Array, settings: SiftSettings = DEFAULT) -> Array:
    """Z R from sums on the grid: bumps at its points come from one table. Errors of linear and
    quadratic statistics are of the order of 1e-3, those of the root of local ones about .01.
    """
    count, sums = sums[:, :, 0], sums[:, :, 1:]
    n = float(np.rint(count[0].sum()))
    below = np.cumsum(count, axis=1, dtype=np.float64)
    rank = [(below < level * n - 1e-3).sum(axis=1) for level in settings.knot_levels]
    P = np.empty((len(count), settings.n_features, len(GRID)), dtype=np.float32)
    P[:, 0], P[:, 1] = GRID, GRID**2
    P[:, 2:] = bump_table(settings.bump_sd)[np.minimum(np.stack(rank, axis=1), len(GRID) - 1)]
    weighted = P * count[:, None, :]
    mean = weighted.sum(axis=2, dtype=np.float64) / n
    cov = np.asarray(weighted @ P.transpose(0, 2, 1), np.float64) / n
    T = whitener(cov - mean[:, :, None] * mean[:, None, :], settings)
    return np.asarray(T @ (P @ sums - mean[:, :, None] * sums.sum(axis=1)[:, None, :]))


@cache
def bump_table(sd: float) -> Single:
    """The antiderivative of a bump at each point of the grid (rows), at all points."""
    return np.asarray(erf((GRID - GRID[:, None]) / (sd * np.sqrt(2))), dtype=np.float32)


def tangent_scores(X: Array, R: Array, rows: Rows, settings: SiftSettings = DEFAULT) -> Array:
    """Z R with features replaced inside of bins.

    The features of a column are smooth functions of one variable: inside each of `N_BINS` equal
    bins their tangent at the mean stands for them, so that a column costs 128 erf per bump
    whatever n. Exact for columns of few distinct values (genotypes, counts, zeros); otherwise the
    error is of the order of the squared bin width, 2e-4 of a linear or quadratic statistic; the
    knots of the bumps move by up to a bin, and with them local statistics by 1 %.
    """
    width = X.shape[1]
    root = rows.column_root
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

    count: Array = gather(None if rows.weight is None else np.square(root))
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


def scores_of_sums(sums: Array, rows: Rows, settings: SiftSettings) -> Array:
    """Scores (2, width, q) of columns of three values from sums (3, width, 1 + q) over the rows
    with each, of weights and of responses. Local features lie in the span of these two.

    The quadratic feature is the dominance of a genotype, and missing values have no part in either.
    """
    count, sums = sums[:, :, 0], sums[:, :, 1:]
    known = np.maximum(count.sum(axis=0), 1e-300)
    share = count / known

    def unit(x: Array) -> Array:
        x = x - (share * x).sum(axis=0)
        sd = np.sqrt((share * x * x).sum(axis=0))
        return np.asarray(x / np.where(sd > 1e-10, sd, np.inf))

    x = unit(np.clip(unit(np.arange(3.0)[:, None]), -settings.clip, settings.clip))
    square = unit(x * x)
    along = (share * x * square).sum(axis=0)
    ridge = 1.0 + settings.ridge
    square = (square - along / ridge * x) / np.sqrt(ridge - along**2 / ridge)
    # features are zero where a value is missing, and of unit variance over all rows
    scale = np.sqrt(rows.total / known)[:, None]
    made = (x / np.sqrt(ridge), square)
    return np.asarray(np.stack([(f[:, :, None] * sums).sum(axis=0) * scale for f in made]))


def reduced(
    R: Array, rows: Rows, settings: SiftSettings, reduce: Callable[[Array], Array], X: Array
) -> Array:
    """`reduce` of the scores of columns X as they are read."""
    return reduce(univariate_scores(X, R, rows, settings))


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
    """Indices of the `count` largest values, sorted; among equals the first ones."""
    if count == 0 or count >= len(best):
        return np.arange(min(count, len(best)))
    edge = np.partition(best, len(best) - count)[len(best) - count]
    above = np.flatnonzero(best > edge)
    equal = np.flatnonzero(best == edge)[: count - len(above)]
    return np.sort(np.concatenate([above, equal]))


# ------------------------------------------------ the features of pooled columns
# (k, features, n), exact for fits, one byte each for scans of all groups.
#
# Ten features per value are ten times the table. A pool of more than a few columns keeps them as
# whole numbers from -127 to 127 times a scale per feature. That is enough to see which groups
# follow a residual: rounding moves a statistic z by about .01, where noise moves it by 1. What a
# fit rests on is made anew from the column, in double precision; the groups used last are
# remembered.

KEPT_COLUMNS = 128
"""Memory: pools of up to so many columns keep all features as they are."""
DOUBLE_VALUES = 40_000_000
"""Memory: feature values up to which those are in double precision, beyond it in single."""
MOST_CODE = 127
"""Format: largest number in one byte."""
PIECE_VALUES = 30_000
"""Memory: feature values made at a time (.2 MB, and some temporaries of that size)."""
DECODED_VALUES = (100_000, 800_000)
"""Memory: least and most feature values decoded at a time (.4 to 3 MB in single precision)."""
SQUARED_VALUES = 50_000
"""Memory: squares summed at a time (.4 MB)."""
REMEMBERED = 640
"""Memory: exact features remembered, n values each."""

LOCAL = 2
"""Format: the part of a group that holds its local features."""
Group = tuple[int, int]
"""Pooled column and part (0 linear, 1 quadratic, 2 local)."""


class FeatureStore(Protocol):
    """Univariate features of k pooled columns on n rows, scaled by root weight."""

    def stack(self, groups: list[Group]) -> list[Array]:
        """Features of some groups, (m, n) each."""

    def squares(self, R: Array, mix: Array) -> Array:
        """||Z_g R_i||_F^2, (b, 3, k), for residuals R_i = R mix_i: R (n, w), mix (b, w, q)."""

    def only(self, used: list[int]) -> FeatureStore:
        """Some of the columns."""


EVERY, PLAIN, CURVES = slice(None), slice(LOCAL), slice(LOCAL, None)
"""Format: parts of a column: all, all but the local features, these alone."""


def by_parts(along: Array, b: int, settings: SiftSettings, which: slice = EVERY) -> Array:
    """Squares of Z R, (k * features, b * q), summed over the features of each part and over
    responses: (b, parts, k).
    """
    parts: list[slice] = list(settings.parts)[which]
    first = parts[0].start
    each = parts[-1].stop - first
    k = len(along) // each
    out = np.empty((b, len(parts), k))
    step = max(1, SQUARED_VALUES // (each * along.shape[1]))
    for start in range(0, k, step):
        squares = np.square(along[start * each : (start + step) * each], dtype=np.float64)
        if along.shape[1] > b:
            squares = squares.reshape(len(squares), b, -1).sum(axis=2)
        squares = squares.reshape(-1, each, b)
        for own, part in zip(out.transpose(1, 2, 0), parts, strict=True):
            if part.stop - part.start == 1:
                own[start : start + step] = squares[:, part.start - first]
            else:
                of_part = squares[:, part.start - first : part.stop - first]
                of_part.sum(axis=1, out=own[start : start + step])
    return out


def in_cheaper_order(R: Array, mix: Array) -> tuple[Array, Array | None]:
    """Factors A and B of all R mix_i side by side, A B (n, b q), with A, by which features are
    multiplied, as narrow as possible; B is None where A is the product itself.
    """
    every = mix.transpose(1, 0, 2).reshape(R.shape[1], -1)
    return (R @ every, None) if every.shape[1] <= R.shape[1] else (R, every)


@dataclass(frozen=True)
class DenseFeatures:
    """All features, as they are."""

    Z: Array | Single
    """(k, features, n)"""
    settings: SiftSettings = DEFAULT

    def stack(self, groups: list[Group]) -> list[Array]:
        return [self.Z[j, self.settings.parts[part]] for j, part in groups]

    def squares(self, R: Array, mix: Array) -> Array:
        first, second = in_cheaper_order(R, mix)
        along = self.Z.reshape(-1, self.Z.shape[2]) @ first.astype(self.Z.dtype, copy=False)
        return by_parts(along if second is None else along @ second, len(mix), self.settings)

    def only(self, used: list[int]) -> DenseFeatures:
        return DenseFeatures(self.Z[used], self.settings)


@dataclass(frozen=True)
class Codes:
    """Features as whole numbers of one byte times a scale each."""

    codes: NDArray[np.int8]
    """(k, features, n)"""
    scale: Single
    """(k, features)"""

    @classmethod
    def of(cls, k: int, features: int, n: int) -> Codes:
        """Room for the features of k columns."""
        codes = in_own_pages((k, features, n), np.int8)
        return cls(codes, np.empty((k, features), dtype=np.float32))

    def put(self, which: slice | IntArray, features: Array) -> None:
        """Features (w, features, n) of some of the columns."""
        largest = np.maximum(np.abs(features).max(axis=2), 1e-30)
        self.scale[which] = largest / MOST_CODE
        self.codes[which] = np.rint(features * (MOST_CODE / largest)[:, :, None])

    def along(self, first: Single, second: Array | None) -> Array:
        """Inner products with R = first @ second (n, q), columns one after the other: (k *
        features, q).
        """
        n = self.codes.shape[2]
        codes = self.codes.reshape(-1, n)
        out = np.empty((len(codes), first.shape[1]), dtype=np.float32)
        least, most = DECODED_VALUES
        step = max(1, min(max(least, codes.size // 16), most) // n)
        room = np.empty((min(step, len(codes)), n), dtype=np.float32)
        for start in range(0, len(codes), step):
            some = codes[start : start + step]
            Z = room[: len(some)]
            Z[...] = some
            np.matmul(Z, first, out=out[start : start + step])
        out *= self.scale.reshape(-1, 1)
        return out if second is None else np.asarray(out @ second)

    def only(self, used: list[int] | IntArray) -> Codes:
        return Codes(self.codes[used], self.scale[used])


class QuantisedFeatures:
    """One byte per feature, and the columns to make exact ones from, of which the last are kept.

    Parameters
    ----------
    plain : Codes
        Linear and quadratic features without root weight, so that counts mean copies.
    local : Codes
        Local features of the columns of many values; those of the others are zero.
    curved : int array
        Pooled columns that these are.
    table : Columns
    where : (k,) int array
        Pooled columns among those of `table`.
    """

    def __init__(
        self, plain: Codes, local: Codes, curved: IntArray, table: Columns, where: IntArray
    ) -> None:
        self.plain, self.local, self.curved = plain, local, curved
        self.table, self.where = table, where
        self.cache: dict[Group, Array] = {}

    def stack(self, groups: list[Group]) -> list[Array]:
        found = {g: self.cache.pop(g) for g in dict.fromkeys(groups) if g in self.cache}
        wanted: dict[int, list[int]] = {}
        for j, part in groups:
            if (j, part) not in found:
                wanted.setdefault(j, []).append(part)
        for local in (False, True):
            some = {j: parts for j, parts in wanted.items() if (LOCAL in parts) is local}
            if some:
                found |= self.exact(some, local)
        self.cache.update(found)  # at the end: what was used last is forgotten last
        self.forget()
        return [found[g] for g in groups]

    def exact(self, wanted: dict[int, list[int]], local: bool) -> dict[Group, Array]:
        """Some parts of some pooled columns, made from the table."""
        numbers, parts = sorted(wanted), self.table.settings.parts
        where, out = self.where[numbers], dict[Group, Array]()
        for some, Z in self.table.features(where, local=local):
            for j, exact in zip(numbers[some], Z, strict=True):
                out |= {(j, part): exact[parts[part]].copy() for part in wanted[j]}
        return out

    def forget(self) -> None:
        spare = sum(map(len, self.cache.values())) - REMEMBERED
        for g in list(self.cache):
            if spare <= 0:
                break
            spare -= len(self.cache.pop(g))

    def squares(self, R: Array, mix: Array) -> Array:
        first, second = in_cheaper_order(R, mix)
        flat = (first * self.table.rows.column_root).astype(np.float32)
        out = np.zeros((len(mix), LOCAL + 1, len(self.where)))
        for codes, columns, which in (
            (self.plain, slice(None), PLAIN),
            (self.local, self.curved, CURVES),
        ):
            along = codes.along(flat, second)
            out[:, which, columns] = by_parts(along, len(mix), self.table.settings, which)
        return out

    def only(self, used: list[int]) -> QuantisedFeatures:
        curved = np.flatnonzero(np.isin(used, self.curved))
        local = self.local.only(np.flatnonzero(np.isin(self.curved, used)))
        where = self.where[used]
        return QuantisedFeatures(self.plain.only(used), local, curved, self.table, where)
