"""An order of columns in which each adds to those before it.

Columns that say the same follow each other when they are ordered by their own evidence. Here the
next column is the one with the largest

    sqrt( a_j (b_j + 2 log p) ),

a_j being its evidence (minus the log tail), b_j its squared correlation, times n, with what a ridge
on the columns before it leaves of the response. The best of p columns of noise reaches 2 log p:
where nothing is left but noise, the order is that of the evidence.
"""

from __future__ import annotations

import numpy as np

from gradsift._typing import Array, IntArray
from gradsift.numerics.false_discovery import benjamini_hochberg
from gradsift.sift.association import association_log_p
from gradsift.sift.columns import clipped_columns
from gradsift.sift.procedure import Sifter
from gradsift.sift.rows import Rows
from gradsift.sift.settings import SiftSettings


def is_left_over(statistic: Array, selected: IntArray, sifter: Sifter) -> bool:
    """Whether some column that is not selected is associated with the response, by the own
    statistics (3, p) of all columns.
    """
    settings, q = sifter.settings, sifter.response.Y.shape[1]
    log_p = association_log_p(statistic, sifter.response.rows.total, q, settings)
    likely = np.flatnonzero(log_p <= np.log(max(settings.left_over, 1e-300)))
    q_values = benjamini_hochberg(log_p[likely], sifter.n_columns)
    return bool(np.any(q_values[~np.isin(likely, selected)] <= settings.left_over))


def one_after_another(sifter: Sifter, Y: Array, evidence: Array, first: IntArray) -> IntArray:
    """The first places of a ranking: the columns `first`, then those that add most to what is
    before them, by their evidence (p,) and the response Y (n, q).

    Of a table with so many rows that the columns would take much memory, fewer are looked at, and
    none where they would be fewer than the places.
    """
    settings, p = sifter.settings, len(evidence)
    places = min(2 * settings.n_known, p)
    rows = sifter.response.rows
    room = settings.limits.free_values // (8 * max(rows.count(sifter.source.shape[0]), 1))
    if room < places or len(first) >= places:
        return first
    order = np.argsort(-evidence, kind="stable")[:room]
    columns = np.union1d(order, first).astype(np.intp)
    Z = unit_columns(clipped_columns(sifter.source, columns, rows, settings), rows)
    at = np.searchsorted(columns, first)
    floor = 2.0 * np.log(max(sifter.n_columns, 1))
    found = greedy(Z, Y, evidence[columns], at, places, floor, rows.total, settings)
    return columns[found]


def unit_columns(X: Array, rows: Rows) -> Array:
    """Centred columns of length 1, rows scaled; constant ones are zero."""
    Z = rows.centred(X) * np.reshape(rows.root, (-1, 1))
    length = np.sqrt(np.square(Z).sum(axis=0))
    return np.asarray(Z / np.where(length > 1e-9, length, np.inf))


def greedy(
    Z: Array,
    Y: Array,
    evidence: Array,
    first: IntArray,
    places: int,
    floor: float,
    n: float,
    settings: SiftSettings,
) -> IntArray:
    """Numbers of unit columns Z (n, m): `first`, then each by its evidence (m,) and by what it
    explains of what a ridge on those before it leaves of Y (n, q).
    """
    Y = Y / np.maximum(np.sqrt(np.square(Y).sum(axis=0)), 1e-300)
    chosen = first.tolist()
    free = np.ones(Z.shape[1], dtype=bool)
    free[chosen] = False
    while len(chosen) < min(places, Z.shape[1]):
        R = ridge_residual(Z[:, chosen], Y, settings.apart_ridge * (len(chosen) + 1))
        explained = n * np.square(Z.T @ R).sum(axis=1)
        score = np.where(free, np.round(evidence * (explained + floor), 7), -1.0)
        best = int(np.argmax(score))
        if score[best] <= 0.0:  # no evidence at all: their order stays as it is
            break
        free[best] = False
        chosen.append(best)
    return np.array(chosen, dtype=np.intp)


def ridge_residual(W: Array, Y: Array, ridge: float) -> Array:
    """What a ridge on unit columns W leaves of Y, columns of length 1."""
    if W.shape[1]:
        G = W.T @ W
        G.flat[:: len(G) + 1] += ridge
        Y = Y - W @ np.linalg.solve(G, W.T @ Y)
    return np.asarray(Y / np.maximum(np.sqrt(np.square(Y).sum(axis=0)), 1e-12))
