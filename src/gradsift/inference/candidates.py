"""Candidate effects of a table, and the inner products of their features.

Problem: which effects could explain a response Y (n, q)? A candidate is a function of one of K
columns or one of P products of two columns. The K columns are those that the sift selected and
those with the largest Bayes factors (`gradsift.inference.settings`) against Y, the residual and the
partial residuals of the sift (the response less all selected terms but one).

The features of a candidate are those of the sift, orthonormal within the column and orthogonal to
the columns that are always kept: A (M, n), M features of all candidates together. Bayesian variable
selection needs the rows through G = A A' (M, M) and U = A Y (M, q) alone (sufficient statistics;
George and McCulloch 1997), so that a draw (`gibbs`) costs the same for 60 rows and for 60,000.

References
----------
:cite:`george-1997`
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from gradsift.inference.settings import EffectPrior, FindingSettings, univariate_prior
from gradsift.protocols import Array, IntArray
from gradsift.sift import PARTS, ChosenGroup, Sift
from gradsift.sift.criterion import robust_fit
from gradsift.sift.features import (
    BLOCK_VALUES,
    Columns,
    largest,
    make_unit,
    mean_filled,
    summed_squares,
)
from gradsift.sift.groups import Groups, Levels, Support, least_squares, pool, with_products
from gradsift.sift.rows import Rows
from gradsift.sift.settings import SiftSettings

Single = NDArray[np.float32]

FEATURE_VALUES = 60_000_000
"""Memory: feature values held at a time (240 MB, and as much of those they are compared with)."""

# ---------------------------------------------------------------------------- the fit of the sift

Fits = dict[tuple[int, ...], Array]
"""Fitted values (n, q) of each variable, or pair of variables, that the sift selected."""


@dataclass(frozen=True)
class Candidates:
    """K columns and P products that an effect may be, and inner products of their M features."""

    columns: IntArray
    """(K,) column numbers."""
    pairs: IntArray
    """(P, 2) places in `columns`."""
    gram: Single
    """(M + 1, M) inner products of unit features; the last row is zero."""
    scores: Single
    """(q, M) inner products with the response."""
    index: IntArray
    """(K + P + 1, f) numbers of the features of each candidate, M where there is none. The last
    candidate is "no effect".
    """
    part: IntArray
    """(f,) part of each feature of a column: linear 0, quadratic 1, local 2."""
    counts: Array
    """(3, K) numbers of features of each part that are not zero."""
    skewness: Single | None
    """(q, M) third cumulants of the scores over 3, where the response is labels."""
    start: IntArray
    """Candidates that the sift selected."""
    n: float
    """Samples, less one for each kept column."""
    p: int
    """Columns of the table."""
    total: float
    """Squared length of the response."""
    noise: float | None
    """Variance of the noise, where it is known (1 / information of a working response); None = it
    is integrated out.
    """
    entropy: float | None
    """Entropy of labels, in nats: no model can gain more log likelihood. None for numbers."""
    elsewhere: float
    """Sum of the Bayes factors of the columns that are no candidates, over p."""

    @property
    def correlations(self) -> Array:
        """(K, K) of the candidate columns, in absolute value."""
        f, K = self.index.shape[1], len(self.columns)
        return np.asarray(np.abs(self.gram[: K * f : f, : K * f : f]))


def sift_fits(problem: Sift, chosen: Sequence[ChosenGroup]) -> tuple[Array, Fits]:
    """The winsorised response (n, q), and the fitted values of each term that was selected."""
    if not chosen:
        return problem.response.start, {}
    groups, support = chosen_groups(problem.table, chosen)
    Y = robust_fit(groups, support, problem.response)[1]
    Z = groups.stack(support)
    B = least_squares(Z, Y, groups.rows.total, groups.table.settings.ridge)
    fits: Fits = {}
    ends = np.cumsum(groups.size[list(support)])
    for g, end, size in zip(support, ends, groups.size[list(support)], strict=True):
        parents, some = groups.index.parents(g), slice(int(end - size), int(end))
        fits[parents] = fits.get(parents, np.zeros_like(Y)) + Z[some].T @ B[some]
    return Y, fits


def chosen_groups(table: Columns, chosen: Sequence[ChosenGroup]) -> tuple[Groups, Support]:
    """The groups that the sift chose, with their features; they need no levels any more."""
    columns = np.array(sorted({v for g in chosen for v in g.variables}), dtype=np.intp)
    groups = pool(table, columns, Levels(np.zeros(3), np.zeros(3)))
    pairs = {(g.variables[0], g.variables[1]): 0.0 for g in chosen if g.part == "product"}
    values = dict(zip(columns.tolist(), table.known(columns).T, strict=True))
    groups = with_products(groups, values, pairs)
    found: set[int | None] = set()
    for term in chosen:
        # of columns that were chosen together, each has a linear part
        joint = term.part == "joint"
        part = 0 if joint else PARTS.index(term.part)
        each = [(v,) for v in term.variables] if joint else [term.variables]
        found |= {groups.index.number(part, parents) for parents in each}
    return groups, tuple(sorted(g for g in found if g is not None))


# ------------------------------------------------------------------ which columns are candidates


def choose_columns(
    table: Columns,
    Y: Array,
    fits: Fits,
    excluded: Sequence[int],
    p: int,
    settings: FindingSettings,
) -> tuple[IntArray, float]:
    """Candidate columns, sorted, and the sum of the Bayes factors of the others over p."""
    chosen = sorted({v for key in fits for v in key})
    free = np.delete(np.arange(table.source.shape[1]), list(excluded))
    most = min(settings.columns, max(settings.least_columns, settings.values // table.rows.count))
    most = max(most, 2 * len(chosen))
    if len(free) <= most:
        return free, 0.0
    best, residual = scan(table, Y, fits, settings)
    best[chosen], best[list(excluded)] = np.inf, -np.inf
    columns = largest(best, most)
    rest = np.setdiff1d(free, columns)
    return columns, float(np.exp(np.minimum(residual[rest], 700.0)).sum() / p)


def scan(table: Columns, Y: Array, fits: Fits, settings: FindingSettings) -> tuple[Array, Array]:
    """Two log Bayes factors (p,) of every column, in one pass: the largest one against the
    response, the residual and each partial residual; and that against the residual.
    """
    rest = Y - sum(fits.values(), start=np.zeros_like(Y))
    R = np.stack([Y, rest, *(rest + fit for fit in fits.values())], axis=1)  # (n, b, q)
    left = np.square(R).sum(axis=(0, 2))
    prior = univariate_prior(table.rows.total, table.settings.part_sizes, settings)
    factors = partial(log_factors, table.rows, table.settings, prior, left)
    best, residual = np.zeros((2, table.source.shape[1]))
    for where, found in table.reduced_scores(R.reshape(len(R), -1), factors):
        best[where], residual[where] = found.max(axis=0), found[1]
    return best, residual


def log_factors(
    rows: Rows, settings: SiftSettings, prior: EffectPrior, left: Array, U: Array
) -> Array:
    """log Bayes factors (b, width) of columns against responses of squared lengths `left` (b,),
    from their scores U (width, features, b q).
    """
    b = len(left)
    U = U.reshape(*U.shape[:2], b, -1)
    squares = summed_squares(U, rows, settings)  # (parts, width, b)
    explained = np.tensordot(prior.shrink, squares, axes=1)  # (c, width, b)
    half, unit = -0.5 * U.shape[3], np.maximum(1.0 - explained / left, 1e-6)
    cost = prior.log_weight + half * np.log1p(prior.variance) @ np.array(settings.part_sizes)
    ratio = half * (rows.total - 1) * np.log(unit)
    return np.logaddexp.reduce(ratio + cost[:, None, None], axis=0).T


def neighbouring_pairs(pairs: Sequence[tuple[int, ...]], X: Array, count: int) -> IntArray:
    """Pairs (P, 2) of columns of X (n, K): those given, and those in which one or both columns are
    replaced by one of the `count` most correlated with it; every pair once.
    """
    X = np.nan_to_num(X)
    length = np.maximum(np.linalg.norm(X, axis=0), 1e-30)
    found = set()
    for pair in pairs:
        correlations = [np.abs(X[:, v] @ X) / length for v in pair]
        for v, r in zip(pair, correlations, strict=True):
            r[v] = np.inf  # the column itself, before any copy
        first, second = (np.argsort(-r, kind="stable")[:count].tolist() for r in correlations)
        found |= {(min(a, b), max(a, b)) for a in first for b in second if a != b}
    return np.array(sorted(found), dtype=np.intp).reshape(-1, 2)


# ---------------------------------------------------------------------------- inner products


def kept_features(table: Columns, columns: Sequence[int]) -> Array:
    """Orthonormal rows (m, n) that span the columns that are always kept."""
    X = np.nan_to_num(table.known(np.array(columns, dtype=np.intp)))
    X = (X - table.rows.mean(X)).T * table.rows.root
    values, vectors = np.linalg.eigh(X @ X.T / table.rows.total)
    used = values > 1e-6
    return np.asarray((vectors[:, used] / np.sqrt(values[used])).T @ X)


def unit_features(
    Z: Array, starts: Sequence[int], kept: Array, total: float, settings: FindingSettings
) -> Single:
    """Features (k f, n) of length 1 from those of k candidates, Z (k, f, n): orthonormal within
    each candidate, part by part, and orthogonal to the kept columns.
    """
    Z = orthonormal_map(Z @ Z.transpose(0, 2, 1) / total, starts, settings.least_length) @ Z
    Z -= (Z @ kept.T / total) @ kept
    rest = Z @ Z.transpose(0, 2, 1) / total
    Z = orthonormal_map(rest, starts, settings.least_adjusted_length) @ Z
    return (Z / np.sqrt(total)).astype(np.float32).reshape(-1, Z.shape[2])


def orthonormal_map(cov: Array, starts: Sequence[int], least: float) -> Array:
    """T (k, f, f) such that features with covariances `cov` (k, f, f) become orthonormal.

    Each part, from one of `starts` to the next, is made orthogonal to earlier parts and turned to
    its principal axes. Axes of a squared length below `least` become zero.
    """
    f = cov.shape[1]
    T = np.zeros_like(cov)
    for first, end in zip(starts, [*starts[1:], f], strict=True):
        before = T[:, :first]
        E = np.eye(f)[first:end] - (cov[:, first:end] @ before.transpose(0, 2, 1)) @ before
        values, vectors = np.linalg.eigh(E @ cov @ E.transpose(0, 2, 1))
        scale = np.where(values > least, 1 / np.sqrt(np.maximum(values, least)), 0.0)
        T[:, first:end] = (vectors * scale[:, None, :]).transpose(0, 2, 1)[:, ::-1] @ E
    return T


def all_features(
    table: Columns,
    columns: IntArray,
    X: Array,
    pairs: IntArray,
    kept: Array,
    settings: FindingSettings,
) -> Single:
    """Unit features (M, n) of some columns, whose clipped values are X (n, K), then of the products
    of pairs of them.
    """
    rows, f = table.rows, table.settings.n_features
    A = np.empty((len(columns) * f + len(pairs), rows.count), dtype=np.float32)
    univariate, products = A[: len(columns) * f], A[len(columns) * f :]
    starts = [part.start for part in table.settings.parts]
    for where, Z in table.features(columns):
        some = slice(where.start * f, where.stop * f)
        univariate[some] = unit_features(Z, starts, kept, rows.total, settings)
    step = max(1, BLOCK_VALUES // rows.count)
    for some in (slice(start, start + step) for start in range(0, len(pairs), step)):
        first, second = pairs[some].T
        H = make_unit(mean_filled(X[:, first] * X[:, second], rows), rows).T * rows.root
        products[some] = unit_features(H[:, None], [0], kept, rows.total, settings)
    return A


def inner_products(
    table: Columns,
    columns: IntArray,
    X: Array,
    pairs: IntArray,
    kept: Array,
    Y: Array,
    settings: FindingSettings,
) -> tuple[Single, Single, Array]:
    """Inner products (M, M) of all unit features, those with the response (q, M), and the sums of
    their cubes (M,): at once, or of some columns with some others where rows are many.
    """
    rows, f = table.rows, table.settings.n_features
    most, K, P = max(f, FEATURE_VALUES // rows.count), len(columns), len(pairs)
    pieces = [(columns, pairs)]
    if K * f + P > most:
        pieces = [(columns[k : k + most // f], pairs[:0]) for k in range(0, K, most // f)]
        pieces += [(columns[:0], pairs[k : k + most]) for k in range(0, P, most)]
    ends = np.cumsum([len(some) * f + len(two) for some, two in pieces]).tolist()
    where = [slice(first, end) for first, end in zip([0, *ends], ends, strict=False)]
    gram = np.zeros((K * f + P, K * f + P), dtype=np.float32)
    scores, third = np.zeros((Y.shape[1], len(gram)), dtype=np.float32), np.zeros(len(gram))
    Y32 = Y.T.astype(np.float32)
    for i, (some, two) in enumerate(pieces):
        A = all_features(table, some, X, two, kept, settings)
        scores[:, where[i]] = Y32 @ A.T
        third[where[i]] = np.einsum("mn,mn,mn->m", A, A, A / rows.root, dtype=np.float64)
        gram[where[i], where[i]] = A @ A.T
        for j, other in enumerate(pieces[i + 1 :], start=i + 1):
            B = all_features(table, other[0], X, other[1], kept, settings)
            gram[where[i], where[j]] = A @ B.T
            gram[where[j], where[i]] = gram[where[i], where[j]].T
    return gram, scores, third


def score_skewness(third: Array, Y: Array, rows: Rows) -> Single:
    """Third cumulants (q, M) of the scores over 3, from the sums of cubes of features and those of
    the response Y (n, q), rows scaled.
    """
    cubes, squares = (Y**3 / rows.column_root).sum(axis=0), np.square(Y).sum(axis=0)
    lopsided = np.sqrt(rows.total) * cubes / squares**1.5
    return np.asarray((lopsided[:, None] * third / 3).astype(np.float32))


def make_candidates(
    table: Columns,
    Y: Array,
    terms: Sequence[tuple[int, ...]],
    columns: IntArray,
    kept: Array,
    settings: FindingSettings,
    *,
    noise: float | None = None,
    entropy: float | None = None,
) -> Candidates:
    """Inner products of the features of some columns, and of products like those among the terms
    that the sift selected, with a response Y (n, q) of mean zero, rows scaled.
    """
    X, rows = table.known(columns), table.rows
    place = {int(c): i for i, c in enumerate(columns)}
    inside = [tuple(place[v] for v in term) for term in terms]
    pairs = neighbouring_pairs([t for t in inside if len(t) == 2], X, settings.neighbours)
    part = np.repeat(np.arange(3), table.settings.part_sizes)
    K, f, P = len(columns), len(part), len(pairs)
    gram, scores, third = inner_products(table, columns, X, pairs, kept, Y, settings)
    present = (np.diagonal(gram) > settings.least_length)[: K * f].reshape(K, f)
    # leave out features that are zero in all columns, but for the first of each part
    used = present.any(axis=0) | (np.diff(part, prepend=-1) > 0)
    chosen = np.concatenate([np.tile(used, K), np.ones(P, dtype=bool)])
    gram, scores, third = gram[np.ix_(chosen, chosen)], scores[:, chosen], third[chosen]
    present, part = present[:, used], part[used]
    M, f = len(gram), len(part)
    index = np.full((K + P + 1, f), M)
    index[:K] = np.arange(K * f).reshape(K, f)
    index[K : K + P, 0] = K * f + np.arange(P)
    # a pair of columns is the row of `pairs`, each sorted, that holds it in any order
    start = [
        t[0] if len(t) == 1 else K + int(np.flatnonzero((pairs == sorted(t)).all(axis=1))[0])
        for t in inside
    ]
    return Candidates(
        columns=columns,
        pairs=pairs,
        gram=np.concatenate([gram, np.zeros((1, M), dtype=np.float32)]),
        scores=scores,
        index=index,
        part=part,
        counts=np.stack([present[:, part == g].sum(axis=1) for g in range(3)]).astype(float),
        skewness=None if entropy is None else score_skewness(third, Y, rows),
        start=np.array(start, dtype=np.intp),
        n=max(rows.total - len(kept), 2.0),
        p=table.source.shape[1],
        total=float(np.square(Y).sum()),
        noise=noise,
        entropy=entropy,
        elsewhere=0.0,
    )
