"""Rows: an order that depends on what they hold alone, folds and samples along it, equal rows
merged, repeated measurements found.

A fit must not depend on how a table was written down, so nothing here draws at random without a
fixed seed, and folds and subsamples follow an order of the rows that no permutation of rows or
columns changes. Rows are X (n, p) with responses Y (n, q) and weights (n,).

`merge_rows`: repeating a row and doubling its weight are one and the same problem, and so is any
order of the rows. Merging equal rows of X (n, d) and Y (n, q), in a fixed order, makes that true to
the last bit: an optimiser does not get to amplify differences that rounding made. It also saves
work on discrete columns.

`repeated_rows`: which rows of X (n, p) are much nearer to each other than neighbours can be? Around
a row of a sample with any smooth density in D dimensions, the distances r_1 < r_2 < .. to its
nearest neighbours have (r_k / r_(k+1))^(k D) uniform on (0, 1), whatever the density there
(:cite:`facco-2017` for k = 1). D is estimated from farther neighbours. So spectra, in which all
rows are near others because they differ in few ways, are no reason for an alarm, and a row with k
repetitions of itself has a ratio at k that is far too small. Distances are those of normal scores
in their leading principal components, and include what ties, rounding and missing values may hide:
rows of few small whole numbers are equal by chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from gradsift.numerics.distances import squared_distances
from gradsift.protocols import Array, IntArray

SAME = 1e-9
"""Rounding: sums that differ by a smaller part of their size are equal: the rest is rounding."""


def canonical_order(Y: Array, weights: Array, along: Array) -> IntArray:
    """The order of rows along their responses Y (n, q), the same however the table is written down:
    for every order of rows, of columns and of classes, and for all signs of columns and responses.

    Numbers (q = 1) are turned so that the third moment is positive. Classes (q > 1) come in the
    order of their weights. Equal responses, and classes of equal weight, are in the order of the
    lengths of the rows of `along`, the sum of `gram_products` over all columns.
    """
    size = np.square(along).sum(axis=1)
    size = np.round(size / max(float(size.max(initial=0.0)), 1e-300), 9)
    if Y.shape[1] == 1:
        return np.lexsort((size, orientation(Y[:, 0], weights, size) * Y[:, 0]))
    place = np.unique(Y, axis=0, return_inverse=True)[1].reshape(-1)
    total = np.bincount(place, weights)
    mean = np.bincount(place, weights * size) / total
    rank = np.argsort(np.lexsort((np.round(mean, 9), np.round(total / total.sum(), 9))))
    return np.lexsort((size, rank[place]))


def gram_products(X: Array, Y: Array, weights: Array) -> Array:
    """X X' W Y for centred responses, (n, q): another order or other signs of the columns of X
    (n, p) change nothing, a constant column of zeros adds nothing.
    """
    Y = Y - weights @ Y / weights.sum()
    return np.asarray(X @ (X.T @ (weights[:, None] * Y)))


def orientation(y: Array, weights: Array, size: Array | float = 0.0) -> float:
    """The sign s for which s y (n,) has a positive third moment or, where that is zero, a positive
    covariance with `size`.

    Examples
    --------
    >>> orientation(np.array([0.0, 0.0, 1.0]), np.ones(3))
    1.0
    >>> orientation(np.array([0.0, 1.0, 1.0]), np.ones(3))
    -1.0
    """
    y = y - weights @ y / weights.sum()
    for factor in (y * y, size):
        terms = weights * y * factor
        if abs(terms.sum()) > SAME * np.abs(terms).sum():
            return float(np.sign(terms.sum()))
    return 1.0


def folds_along(count: int, n_folds: int, rounds: int = 1) -> IntArray:
    """(rounds, count) folds of rows in some order: each `n_folds` in a row are in different ones.

    The first round goes from fold to fold, further ones do so in random orders of the folds.
    """
    out = np.tile(np.arange(n_folds), (rounds, -(-count // n_folds), 1))
    out[1:] = np.random.default_rng(0).permuted(out[1:], axis=2)
    return np.asarray(out.reshape(rounds, -1)[:, :count])


def evenly_spaced(n: int, count: int) -> IntArray:
    """At most `count` of the numbers 0 .. n - 1, from the first to the last, evenly spaced.

    Examples
    --------
    >>> evenly_spaced(9, 3).tolist(), evenly_spaced(2, 3).tolist()
    ([0, 4, 8], [0, 1])
    """
    if count >= n:
        return np.arange(n)
    return np.linspace(0, n - 1, count).round().astype(int)


def spread_along(order: IntArray, count: int) -> IntArray:
    """At most `count` rows evenly spaced along an order of them (by response, say); ascending."""
    return np.sort(order[evenly_spaced(len(order), count)])


def drawn_rows(n: int, count: int) -> IntArray:
    """At most `count` of n rows, drawn with a fixed seed; ascending."""
    if count >= n:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, count, replace=False))


# ------------------------------------------------ equal rows
class Distinct(NamedTuple):
    """Merged rows in their canonical order, and for each given row the number of the one it went
    into (-1: weight zero).
    """

    X: Array
    Y: Array
    weights: Array
    member: IntArray


def merge_rows(X: Array, Y: Array, sample_weight: Array | None) -> Distinct:
    """X (n, d), Y (n, q) and weights (n,), or None for ones; rows of weight zero drop out."""
    given = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    present, d = np.flatnonzero(given > 0.0), X.shape[1]
    rows = np.column_stack([X[present], Y[present]])
    distinct, inverse = np.unique(rows, axis=0, return_inverse=True)
    inverse = inverse.reshape(-1)
    weights = np.bincount(inverse, weights=given[present], minlength=len(distinct)).astype(float)
    X, Y = distinct[:, :d], distinct[:, d:]
    order = canonical_order(Y, weights, gram_products(X, Y, weights))
    member = np.full(len(given), -1)
    member[present] = np.argsort(order)[inverse]
    return Distinct(X[order], Y[order], weights[order], member)


# ------------------------------------------------ repeated measurements
# They change a warning, and no fit.
MOST_ROWS, MOST_COLUMNS = 2_000, 200
"""Words: rows, drawn at random, and columns, evenly spaced, that are compared."""
EXPLAINED, MOST_COMPONENTS, ROWS_PER_COMPONENT = 0.98, 40, 2
"""Words: components that are compared, with this part of the variance, and at most so many."""
MOST_REPEATS = 3
"""Words: further measurements of a sample that are looked for; larger sets are clusters."""
FIRST, LAST = 5, 12
"""Words: neighbours whose distances say how many dimensions there are."""
RATE = 1e-3
"""Words: false discovery rate (Benjamini and Hochberg) of the rows that are said to be repeated."""
NEAR = 0.5
"""Words: part of the squared distance to the next neighbour that repetitions have at most."""
ROUNDING = 1e-12
"""Rounding: squared distances below it are zero."""


def repeated_rows(X: Array) -> list[tuple[int, ...]]:
    """Sets of rows that are much nearer to each other than to all others.

    Parameters
    ----------
    X : (n, p) array
        NaN where a value is missing. Of more than 2,000 rows, some drawn ones are compared.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(40, 6))
    >>> repeated_rows(X), repeated_rows(X[[*range(40), 7]])
    ([], [(7, 40)])
    """
    rows, last = drawn_rows(len(X), MOST_ROWS), min(LAST, (len(X) - 1) // 2)
    if last <= FIRST:
        return []
    columns = evenly_spaced(X.shape[1], MOST_COLUMNS)
    D, components = row_distances(X[np.ix_(rows, columns)])
    np.fill_diagonal(D, np.inf)
    near = np.sort(np.argpartition(D, last - 1, axis=1)[:, :last], axis=1)
    order = np.argsort(np.take_along_axis(D, near, axis=1), axis=1, kind="stable")
    near = np.take_along_axis(near, order, axis=1)
    D = np.take_along_axis(D, near, axis=1)
    growth = 0.5 * float(np.log(D[:, last - 1] / D[:, FIRST - 1]).mean())
    dimension = float((1.0 / np.arange(FIRST, last)).sum()) / max(growth, ROUNDING)
    dimension = min(dimension, components)
    found = set()
    for k in range(1, MOST_REPEATS + 1):
        ratio = D[:, k - 1] / D[:, k]
        p = ratio ** (0.5 * k * dimension)
        passed = np.flatnonzero(np.sort(p) <= RATE * np.arange(1, len(p) + 1) / len(p))
        level = np.sort(p)[passed[-1]] if len(passed) else -1.0
        sets = [tuple(sorted((i, *near[i, :k].tolist()))) for i in range(len(rows))]
        for i in np.flatnonzero((p <= level) & (ratio <= NEAR)):
            if all(sets[j] == sets[i] for j in sets[i]):
                found.add(tuple(rows[list(sets[i])].tolist()))
    return sorted(one for one in found if not any(set(one) < set(other) for other in found))


def row_distances(X: Array) -> tuple[Array, int]:
    """Squared distances (n, n) of rows in the leading principal components of their normal scores,
    with the variance that ties, rounding and missing values hide, and the number of components.
    """
    Z, hidden = normal_scores(X)
    Z -= Z.mean(axis=0)
    U, values, V = np.linalg.svd(Z, full_matrices=False)
    share = np.cumsum(values**2) / max(float(np.square(values).sum()), ROUNDING)
    most = min(MOST_COMPONENTS, len(X) // ROWS_PER_COMPONENT)
    S = (U * values)[:, : min(int(np.searchsorted(share, EXPLAINED)) + 1, most)]
    hidden = hidden @ np.square(V[: S.shape[1]]).sum(axis=0)
    return squared_distances(S, S) + hidden[:, None] + hidden + ROUNDING, S.shape[1]


def normal_scores(X: Array) -> tuple[Array, Array]:
    """Mean and variance (n, p) of a standard normal variable for each value, by its rank.

    Equal values share an interval of the normal variable, and its variance there is what they may
    hide. A value without equals hides a step of its column, the smallest difference of two values;
    a missing one hides all. Copies of a row count once, so that they hide nothing themselves.
    """
    scores, hidden = np.zeros(X.shape), np.ones(X.shape)
    once = list({row.tobytes(): i for i, row in enumerate(X)}.values())
    for k, x in enumerate(X.T):
        known = np.isfinite(x)
        values, count = np.unique(x[once][known[once]], return_counts=True)
        if len(values) < 2:
            continue
        ends = ndtri(np.append(0, np.cumsum(count)) / count.sum())
        density = np.exp(-0.5 * ends**2) / np.sqrt(2.0 * np.pi)
        inner = np.where(np.isfinite(ends), ends, 0.0)
        mean = -np.diff(density) * count.sum() / count
        variance = 1.0 - np.diff(inner * density) * count.sum() / count - mean**2
        gaps = np.maximum(np.diff(values / np.abs(values).max()), ROUNDING)
        step = gaps.min() * np.median(np.gradient(mean, np.append(0.0, np.cumsum(gaps))))
        at = np.searchsorted(values, x[known])
        scores[known, k] = mean[at]
        hidden[known, k] = np.where(count > 1, np.maximum(variance, 0.0), step**2 / 12.0)[at]
    return scores, hidden


def repeat_words(found: Sequence[Sequence[int]], pair: Sequence[Any], n: int) -> str:
    """A sentence on sets of rows, among n, with an example of two of them."""
    compared = f"{n:,} rows" if n <= MOST_ROWS else f"{MOST_ROWS:,} rows that were compared"
    return (
        f"{sum(map(len, found)):,} of {compared} are repeated measurements of a sample, or copies "
        f"(such as {pair[0]} and {pair[1]}): more is selected than is true, and held-out scores "
        "are too good."
    )
