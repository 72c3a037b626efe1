"""Some rows of many: evenly spaced, or drawn at random."""

from __future__ import annotations

import numpy as np

from gradsift._typing import IntArray


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


def stratified_rows(
    n: int, count: int, rng: np.random.Generator, strata: IntArray | None = None
) -> IntArray:
    """At most `count` of n rows, drawn so that every stratum keeps its share; ascending.

    A random order is sorted stably by `strata` and thinned evenly.
    """
    if n <= count:
        return np.arange(n)
    order = rng.permutation(n)
    if strata is not None:
        order = order[np.argsort(strata[order], kind="stable")]
    return np.sort(order[(np.arange(count) * n) // count])
