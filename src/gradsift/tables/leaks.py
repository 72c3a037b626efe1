"""Columns that give the target away: copies of it, its classes renamed, monotone maps of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from gradsift.data.missing import known
from gradsift.data.source import windows
from gradsift.protocols import Array, IntArray

PAIRS = 64
WIDTH = 8192
LEAST_KNOWN = 0.5
"""Part of the rows in which a column must have a value to be compared."""
CHANCE = np.log(1e-6)
"""Expected number of such columns by pure chance below which a copy is no coincidence."""
WORTH_A_WORD = np.log(0.01)
"""... below which a monotone map is mentioned."""


@dataclass(frozen=True)
class Leaks:
    """Names of columns by what they are to the target.

    Attributes
    ----------
    copies : tuple of str
        Equal to it, or its classes under other names, beyond coincidence.
    perhaps : tuple of str
        As `copies`, in so few rows or among so many columns that it may be chance.
    monotone : tuple of str
        Strictly increasing or decreasing in it.
    finer : tuple of str
        Categories each of which goes with one class only.
    """

    copies: tuple[str, ...] = ()
    perhaps: tuple[str, ...] = ()
    monotone: tuple[str, ...] = ()
    finer: tuple[str, ...] = ()


def find_leaks(
    y: Any,
    X: Array,
    origins: Sequence[str],
    raw: Callable[[str], Any],
    categories: Sequence[str],
    *,
    ordered: bool,
) -> Leaks:
    """Look for the target among the columns, in O(n + p) and O(n log n) for each suspect.

    Parameters
    ----------
    y : (n,) array of numbers or texts
        Nothing missing.
    X : (n, p) array
        Columns after encoding.
    origins : sequence of str
        The column of the table behind each of X.
    raw : callable
        From a name to the column as it was read.
    categories : sequence of str
        Columns of the table that were encoded as categories.
    ordered : bool
        Whether the target is one of numbers (regression) or of classes.
    """
    values, codes = np.unique(y, return_inverse=True)
    if len(values) < 2 or len(codes) < 3:
        return Leaks()
    counts = np.bincount(codes)
    arrangements = float(gammaln(len(codes) + 1) - gammaln(counts + 1).sum())
    tried = np.log(X.shape[1])
    renamed = tried + gammaln(len(values) + 1) - arrangements
    exact: list[str] = []
    monotone: list[str] = []
    finer: list[str] = []
    if ordered:
        for name in _origins(origins, _same_order(X, codes)):
            (exact if equal(raw(name), y) else monotone).append(name)
    else:
        exact = _origins(origins, _same_classes(X, codes))
    repeats = 2 * len(values) <= len(codes)
    for name in categories if repeats else ():
        levels = _codes_of(raw(name))
        if name not in exact and one_to_one(levels, codes):
            exact.append(name)
        elif name not in exact and _tells(levels, codes):
            by_chance = (levels.max() + 1) * np.log(len(values)) + tried - arrangements
            if by_chance < CHANCE:
                finer.append(name)
    certain = (tried - arrangements if ordered else renamed) < CHANCE
    return Leaks(
        tuple(exact) if certain else (),
        () if certain else tuple(exact),
        tuple(monotone) if np.log(2) + tried - arrangements < WORTH_A_WORD else (),
        tuple(finer),
    )


def _origins(origins: Sequence[str], found: IntArray) -> list[str]:
    return list(dict.fromkeys(origins[int(k)] for k in found))


def equal(column: Any, y: Any) -> bool:
    """Whether a column of numbers holds the target, but for rounding."""
    if np.asarray(column).dtype.kind == "O":
        return False
    there = ~np.isnan(column)
    return bool(np.allclose(column[there], y[there], rtol=1e-9, atol=0.0))


def one_to_one(levels: IntArray, codes: IntArray) -> bool:
    """Whether each level goes with one class and each class with one level; -1 = missing."""
    there = levels >= 0
    if there.mean() < LEAST_KNOWN:
        return False
    levels, codes = levels[there], codes[there]
    both = len(np.unique(levels * (codes.max() + 1) + codes))
    return bool(both == len(np.unique(levels)) == len(np.unique(codes)) > 1)


def _tells(levels: IntArray, codes: IntArray) -> bool:
    """Whether each level goes with one class."""
    there = levels >= 0
    if there.mean() < LEAST_KNOWN:
        return False
    both = len(np.unique(levels[there] * (codes.max() + 1) + codes[there]))
    return bool(both == len(np.unique(levels[there])) > 1)


def _codes_of(column: Any) -> IntArray:
    """Numbers of the distinct values, -1 where one is missing."""
    there = known(column)
    out = np.full(len(there), -1, dtype=np.intp)
    out[there] = np.unique(np.asarray(column)[there], return_inverse=True)[1]
    return out


def _pairs(codes: IntArray, alike: bool) -> tuple[IntArray, IntArray]:
    """Rows to compare: pairs of one class, or of two."""
    rng = np.random.default_rng(0)
    a, b = rng.integers(len(codes), size=(2, 40 * PAIRS))
    fit = np.flatnonzero((a != b) & ((codes[a] == codes[b]) == alike))[:PAIRS]
    return a[fit], b[fit]


def _suspects(
    X: Array, agree: Callable[[Array, Array], NDArray[np.bool_]], a: IntArray, b: IntArray
) -> IntArray:
    """Columns for which all pairs agree, of those where a value is known in both rows."""
    found = []
    for where in windows(X.shape[1], WIDTH):
        one, other = X[a, where], X[b, where]
        holes = np.isnan(one) | np.isnan(other)
        good = (agree(one, other) | holes).all(axis=0) & ~holes.all(axis=0)
        found.append(where.start + np.flatnonzero(good))
    return np.concatenate(found) if found else np.zeros(0, dtype=np.intp)


def _same_classes(X: Array, codes: IntArray) -> IntArray:
    """Columns whose values are the classes under other names."""
    (a, b), (c, d) = _pairs(codes, True), _pairs(codes, False)
    a, b = np.concatenate([a, c]), np.concatenate([b, d])
    alike = (codes[a] == codes[b])[:, None]
    suspects = _suspects(X, lambda one, other: (one == other) == alike, a, b)
    return np.array([k for k in suspects if one_to_one(_codes_of(X[:, k]), codes)], dtype=np.intp)


def _same_order(X: Array, codes: IntArray) -> IntArray:
    """Columns that rank the rows as the target does, or the other way round."""
    a, b = _pairs(codes, False)
    up = np.sign(codes[a] - codes[b])[:, None]
    rising = _suspects(X, lambda one, other: np.sign(one - other) == up, a, b)
    falling = _suspects(X, lambda one, other: np.sign(one - other) == -up, a, b)
    found = [k for k in np.union1d(rising, falling) if _monotone(X[:, k], codes)]
    return np.array(found, dtype=np.intp)


def _monotone(column: Array, codes: IntArray) -> bool:
    there = ~np.isnan(column)
    if there.mean() < LEAST_KNOWN:
        return False
    order = np.argsort(codes[there], kind="stable")
    step, up = np.sign(np.diff(column[there][order])), np.sign(np.diff(codes[there][order]))
    return bool(up.any() and ((step == up).all() or (step == -up).all()))
