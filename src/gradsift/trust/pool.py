"""From a sifted table to what effects are drawn from: its terms, one pass, a pool of columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from gradsift._run.passes import each_block
from gradsift._typing import Array, IntArray, Source
from gradsift.sift import PARTS, ChosenGroup
from gradsift.sift.columns import (
    BLOCK_VALUES,
    N_BINS,
    READ_VALUES,
    at_a_time,
    clipped_columns,
    known_columns,
    largest,
    own_scores,
)
from gradsift.sift.criterion import robust_fit
from gradsift.sift.feature_store import feature_pieces
from gradsift.sift.groups import Groups, Support, least_squares, pool, with_products
from gradsift.sift.response import Response
from gradsift.sift.rows import Rows
from gradsift.sift.settings import SiftSettings
from gradsift.trust.family_settings import FamilySettings
from gradsift.trust.single_effects import (
    LEAST_OWN_PART,
    Candidates,
    EffectPrior,
    Single,
    beside,
    orthonormal,
    own_prior,
    product_prior,
    squared_scores,
    student_log_ratio,
)

LEAST_POOL = 48
"""Columns of the pool at least, however long the table is."""
LEAST_NEIGHBOURS = 4
"""Columns that may stand for either side of a product at least, however long the table is."""


@dataclass(frozen=True)
class Terms:
    """What the sift found in the response; rows are scaled by root weight."""

    response: Array
    """(n, q) the response, its gross errors pulled in."""
    own: tuple[Array, ...]
    """(n, q) fit of each variable."""
    products: dict[tuple[int, int], Array]
    """(n, q) fit of each product."""

    @property
    def residual(self) -> Array:
        return np.asarray(self.response - sum([*self.own, *self.products.values()]))

    @property
    def partial_residuals(self) -> list[Array]:
        """The response, the residual, and the residual without each term."""
        rest = self.residual
        return [self.response, rest, *(rest + fit for fit in (*self.own, *self.products.values()))]


def sift_terms(source: Source, response: Response, chosen: Sequence[ChosenGroup]) -> Terms:
    """Fit the chosen groups again, and say what each variable and each product explains."""
    if not chosen:
        return Terms(response.start, (), {})
    groups, support = chosen_groups(source, response, chosen)
    Y = robust_fit(groups, support, response)[1]
    Z = groups.stack(support)
    B = least_squares(Z, Y, groups.rows.total, groups.settings.ridge)
    fits: dict[tuple[int, ...], Array] = {}
    ends = np.cumsum(groups.size[list(support)])
    for g, end, size in zip(support, ends, groups.size[list(support)], strict=True):
        parents, some = groups.parents_of(g), slice(int(end - size), int(end))
        fits[parents] = fits.get(parents, np.zeros_like(Y)) + Z[some].T @ B[some]
    own = tuple(fit for parents, fit in fits.items() if len(parents) == 1)
    return Terms(Y, own, {(p[0], p[1]): fit for p, fit in fits.items() if len(p) == 2})


def chosen_groups(
    source: Source, response: Response, chosen: Sequence[ChosenGroup]
) -> tuple[Groups, Support]:
    """The chosen groups, without levels."""
    columns = np.array(sorted({v for g in chosen for v in g.variables}), dtype=np.intp)
    rows, k = response.rows, len(columns)
    groups = pool(source, columns, rows, np.zeros(3), np.zeros(3), response.settings)
    pairs = {(g.variables[0], g.variables[1]): 0.0 for g in chosen if g.part == "product"}
    values = dict(zip(columns.tolist(), known_columns(source, columns, rows).T, strict=True))
    groups = with_products(groups, values, pairs)
    place = {int(c): j for j, c in enumerate(columns)}
    # of columns that were chosen together, each has a linear part
    parts = [("linear" if g.part == "joint" else g.part, v) for g in chosen for v in g.variables]
    support = {PARTS.index(part) * k + place[v] for part, v in parts if part != "product"}
    return groups, tuple(sorted([*support, *range(3 * k, 3 * k + len(pairs))]))


@dataclass(frozen=True)
class Scan:
    """What one pass over a table says about every column."""

    best: Array
    """(p,) largest log Bayes factor against any partial residual."""
    beside: Array
    """(p,) log Bayes factor against the residual of the sift's fit."""
    correlation: Array
    """(parents, p) with some columns, in absolute value."""


def log_bayes_factors(
    squares: Array, left: Array, total: float, q: int, prior: EffectPrior, sizes: Sequence[int]
) -> Array:
    """log BF (b, k) of whole columns from (3, k, b) squared scores over n, averaged over settings;
    `left` (b,) is the squared length of each residual.
    """
    shrink = prior.shrink
    explained = (shrink @ squares.reshape(3, -1)).reshape(-1, *squares.shape[1:])
    ratio = student_log_ratio(explained, left, np.full(len(left), (total - 1) * q))
    cost = prior.log_weight - 0.5 * q * np.log1p(prior.variance) @ np.array(sizes)
    return np.logaddexp.reduce(ratio + cost[:, None, None], axis=0).T


def scan(
    source: Source,
    terms: Terms,
    parents: Array,
    rows: Rows,
    settings: SiftSettings,
    prior: EffectPrior,
) -> Scan:
    """One pass over all columns; `parents` (n, s) are linear features of some columns."""
    n, p = source.shape
    R = np.stack(terms.partial_residuals, axis=1)  # (n, b, q)
    found = Scan(np.zeros(p), np.zeros(p), np.zeros((parents.shape[1], p), dtype=np.float32))
    job = partial(scan_block, R, parents, rows, settings, prior)
    width = at_a_time(source, BLOCK_VALUES, settings.n_features * min(n, N_BINS) + 4 * n)
    for where, (factors, correlation) in each_block(source, lambda _: job, width=width):
        found.best[where] = factors.max(axis=0)
        found.beside[where] = factors[1]
        found.correlation[:, where] = correlation
    return found


def scan_block(
    R: Array, parents: Array, rows: Rows, settings: SiftSettings, prior: EffectPrior, X: Array
) -> tuple[Array, Array]:
    """log Bayes factors (b, width) and correlations (s, width) of some columns."""
    n, b, q = R.shape
    U = own_scores(X, np.concatenate([R.reshape(n, -1), parents], axis=1), rows, settings)
    correlation = np.abs(U[:, 0, b * q :]).T / rows.total
    starts = np.array([part.start for part in settings.parts])
    U = U[:, :, : b * q].reshape(*U.shape[:2], b, q).transpose(1, 0, 2, 3)
    squares = np.add.reduceat(squared_scores(U), starts, axis=0) / rows.total
    left = np.square(R).sum(axis=(0, 2))
    sizes = settings.part_sizes
    return log_bayes_factors(squares, left, rows.total, q, prior, sizes), correlation


@dataclass(frozen=True)
class Pool:
    """What slots can be."""

    columns: IntArray
    """(k,) column of each own candidate."""
    own: Candidates
    pairs: IntArray
    """(m, 2) columns of each candidate product."""
    products: Candidates | None
    """None where the sift found no product."""


def make_pool(
    source: Source,
    terms: Terms,
    kept: Array,
    rows: Rows,
    sift_settings: SiftSettings,
    settings: FamilySettings,
) -> Pool:
    """Candidates for own effects and for products. `kept` (m, n) are orthonormal features of the
    columns that are always kept: every effect is one beside them.
    """
    p, total = source.shape[1], rows.total
    prior = own_prior(total, sift_settings.part_sizes, settings)
    parents = sorted({v for pair in terms.products for v in pair})
    most = pool_size(rows.count(source.shape[0]), sift_settings, settings)
    most = max(most, 2 * len(terms.own))
    linear = linear_features(source, np.array(parents, dtype=np.intp), rows, sift_settings)
    columns: IntArray = np.arange(p)
    correlation: Array = np.zeros((0, p))
    elsewhere = 0.0
    if p > most or parents:
        found = scan(source, terms, linear.T, rows, sift_settings, prior)
        columns, correlation = largest(found.best, most), found.correlation
        outside = np.delete(found.beside, columns)
        elsewhere = float(np.exp(np.minimum(outside, 700.0)).sum() / p)
    q, odds = terms.response.shape[1], (1.0 - settings.empty) / settings.empty
    Z = pool_features(source, columns, kept, rows, sift_settings)
    part = np.repeat(np.arange(3), sift_settings.part_sizes)
    # short waves are no feature of any column; the first feature of a part stays
    used = Z.any(axis=(1, 2)) | (np.diff(part, prepend=-1) > 0)
    own = Candidates(
        Z=Z[used],
        part=part[used],
        prior=prior,
        log_prior=np.full(len(columns), -np.log(p)),
        total=total,
        outputs=q,
        odds=odds,
        elsewhere=elsewhere,
    )
    fits = int(np.sqrt(settings.pool_values / rows.count(source.shape[0])))
    neighbours = min(settings.neighbours, max(LEAST_NEIGHBOURS, fits))
    pairs = product_pairs(terms, parents, correlation, neighbours)
    if len(pairs) == 0:
        return Pool(columns, own, pairs, None)
    products = replace(
        own,
        Z=product_features(source, pairs, kept, rows),
        part=np.zeros(1, dtype=np.intp),
        prior=product_prior(total, settings),
        log_prior=np.full(len(pairs), -np.log(p * (p - 1) / 2)),
        elsewhere=0.0,
    )
    return Pool(columns, own, pairs, products)


def product_pairs(
    terms: Terms, parents: list[int], correlation: Array, neighbours: int
) -> IntArray:
    """Pairs (m, 2) of columns like those of each product that the sift found, every pair once."""
    found = np.zeros((0, 2), dtype=np.intp)
    for pair in terms.products:
        near = [largest(correlation[parents.index(v)], neighbours) for v in pair]
        found = np.concatenate([found, distinct_pairs(*near)])
    return found[np.sort(np.unique(np.sort(found, axis=1), axis=0, return_index=True)[1])]


def pool_size(n: int, sift_settings: SiftSettings, settings: FamilySettings) -> int:
    """Columns of the pool: fewer of a long table."""
    fits = settings.pool_values // (sift_settings.n_features * n)
    return max(LEAST_POOL, min(settings.pool, fits))


def linear_features(source: Source, columns: IntArray, rows: Rows, settings: SiftSettings) -> Array:
    """Clipped, standardised, root-weighted columns as rows: (m, n)."""
    return np.asarray(clipped_columns(source, columns, rows, settings).T * rows.root)


def kept_features(source: Source, columns: IntArray, rows: Rows, settings: SiftSettings) -> Array:
    """Orthonormal rows (m, n) that span the linear features of some columns."""
    Z = linear_features(source, columns, rows, settings)[None]
    Z = orthonormal(Z, rows.total, least=1e-6)[0]
    return Z[Z.any(axis=1)]


def pool_features(
    source: Source, columns: IntArray, kept: Array, rows: Rows, settings: SiftSettings
) -> Single:
    """Orthonormal features (features, k, n) of some columns beside those that are kept."""
    n = rows.count(source.shape[0])
    Z = np.empty((settings.n_features, len(columns), n), dtype=np.float32)
    starts = [part.start for part in settings.parts]
    for some, piece in feature_pieces(source, columns, rows, settings):
        piece = orthonormal(piece, rows.total, starts)
        Z[:, some] = beside(piece, kept, rows.total, starts).transpose(1, 0, 2)
    return Z


def distinct_pairs(first: IntArray, second: IntArray) -> IntArray:
    """All pairs (m, 2) of two different columns, one of each list."""
    both = np.stack([a.ravel() for a in np.meshgrid(first, second, indexing="ij")], axis=1)
    return both[both[:, 0] != both[:, 1]]


def product_features(source: Source, pairs: IntArray, kept: Array, rows: Rows) -> Single:
    """Centred products (1, k, n) beside columns that are kept, made a few at a time."""
    columns, place = np.unique(pairs, return_inverse=True)
    X = clipped_columns(source, columns, rows)
    place = place.reshape(pairs.shape)
    out = np.empty((1, len(pairs), len(X)), dtype=np.float32)
    step = max(1, READ_VALUES // len(X))
    for start in range(0, len(pairs), step):
        first, second = place[start : start + step].T
        products = X[:, first] * X[:, second]
        Z = ((products - rows.mean(products)) * np.reshape(rows.root, (-1, 1))).T[:, None, :]
        Z = orthonormal(Z, rows.total, least=LEAST_OWN_PART)
        out[0, start : start + step] = beside(Z, kept, rows.total)[:, 0]
    return out
