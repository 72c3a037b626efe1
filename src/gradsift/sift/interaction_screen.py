"""The product screen: which x_k x_l does the residual still follow?

    z_kl = sum_i r_i x_ik x_il / sqrt(sum_i r_i^2 x_ik^2 x_il^2)

is standard normal when the product is of no use (it is normalised by itself, so that heavy tails do
no harm); with q responses the squares are added, chi2(q). Pairs are tested in three classes, by how
many of their two variables are selected already, each class at the level its own number of rivals
asks for. Two matrix products per block of columns, half the table, in single precision.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from gradsift._typing import Array, IntArray
from gradsift.sift.cluster_products import Statistic, cluster_products
from gradsift.sift.columns import Single
from gradsift.sift.levels import chi2_log_sf, pair_tests, squared_level
from gradsift.sift.rows import Rows
from gradsift.sift.settings import DEFAULT, SiftSettings

BLOCK, PIECE = 64, 256
"""Columns screened at a time, against so many others."""


@dataclass(frozen=True)
class Screen:
    passed: dict[tuple[int, int], float]
    """Pair of columns -> squared level, strongest first."""
    best: Array
    """(k,) largest z^2 of each column over all partners in the table."""
    best_selected: Array
    """(k,) the same over selected partners only."""


def _levers(A: Single, R: Single, weight: Single | None) -> list[tuple[Single, Single]]:
    """For each response, columns A (n, a) times r and their squares times r^2, (a, n)."""
    A2, pairs = A * A, []
    for r in R.T:
        lever = r if weight is None else r * weight
        pairs.append(((A * lever[:, None]).T, (A2 * (r * lever)[:, None]).T))
    return pairs


def _z_squared(levers: list[tuple[Single, Single]], B: Single) -> Single:
    """z_kl^2 summed over responses, for columns A, as levers, against B (n, b): (a, b)."""
    total = np.zeros((len(levers[0][0]), B.shape[1]), dtype=B.dtype)
    B2 = B * B
    for first, second in levers:
        top = first @ B
        top *= top
        below = second @ B2
        top /= np.maximum(below, 1e-30, out=below)
        total += top
    return total


def row_products(R: Array, rows: Rows) -> Statistic:
    """z_kl^2 of columns A against columns B where rows are independent."""
    R32 = R.astype(np.float32)
    w32 = None if rows.weight is None else rows.weight.astype(np.float32)
    return lambda A: partial(_z_squared, _levers(A, R32, w32))


def screen(
    X: Single,
    columns: IntArray,
    R: Array,
    rows: Rows,
    selected: list[int],
    p: int,
    alpha: float,
    settings: SiftSettings = DEFAULT,
) -> Screen:
    """Screen all pairs among the clipped columns X (n, k); `columns` are their source numbers, R
    unscaled (n, q).

    `alpha` is the share of false variables left to pairs, `p` the number of columns of the whole
    table.
    """
    k, q = X.shape[1], R.shape[1]
    tests = pair_tests(p, len(selected))
    levels = np.array([squared_level(alpha, t, q) for t in tests])
    chosen = np.isin(columns, selected).astype(int)
    statistic = (
        row_products(R, rows) if rows.clusters is None else (cluster_products(R, rows.clusters))
    )
    best, best_selected = np.zeros(k), np.zeros(k)
    found: list[tuple[float, int, int, int]] = []

    def keep(z: Single, rows_: IntArray, cols: IntArray, class_: int) -> None:
        least = levels[class_] * 0.999
        if z.max() <= least:
            return
        i, j = np.nonzero(z > least)
        found.extend(
            (float(z[a, b]) / levels[class_], int(rows_[a]), int(cols[b]), class_)
            for a, b in zip(i, j, strict=True)
        )

    def against(rows_: IntArray, first: int) -> Iterator[tuple[IntArray, Single]]:
        """Some columns against all from `first` on, a piece at a time; themselves left out."""
        beside = statistic(X[:, rows_])
        for start in range(first, k, PIECE):
            cols = np.arange(start, min(start + PIECE, k))
            z = beside(X[:, start : start + PIECE])
            z[rows_[:, None] == cols] = 0.0
            yield cols, z

    for start in range(0, k, BLOCK):
        a = np.arange(start, min(start + BLOCK, k))
        for b, z in against(a, start):
            if b[0] < a[-1]:
                z[a[:, None] > b] = 0.0  # each pair once
            best[a] = np.maximum(best[a], z.max(axis=1))
            best[b] = np.maximum(best[b], z.max(axis=0))
            keep(z, a, b, 0)
    inside = np.flatnonzero(chosen)
    if len(inside):
        for b, z in against(inside, 0):
            best_selected[b] = z.max(axis=0)
            keep(z * (chosen[b] == 0), inside, b, 1)
            keep(z * (chosen[b] == 1), inside, b, 2)
    ratio: dict[tuple[int, int], tuple[float, float]] = {}
    for r, i, j, class_ in found:
        pair = (min(int(columns[i]), int(columns[j])), max(int(columns[i]), int(columns[j])))
        known = ratio.get(pair)
        if known is None or levels[class_] < known[1]:
            ratio[pair] = (r, float(levels[class_]))
    strongest = sorted(ratio, key=lambda v: (-ratio[v][0], v))[: settings.n_known]
    return Screen({v: ratio[v][1] for v in strongest}, best, best_selected)


def pair_log_p(result: Screen, q: int, p: int, selected: int) -> Array:
    """Log chi-square tail of a column's best product, times the number of its partners."""
    every = chi2_log_sf(result.best, q) + np.log(max(p, 1))
    some = chi2_log_sf(result.best_selected, q) + np.log(max(selected, 1))
    return np.asarray(np.minimum(every, some))
