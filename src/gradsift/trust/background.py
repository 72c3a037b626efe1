"""A random background: the many effects that are too weak to be selected.

Beside a design D, what is left of the response is taken to be

    r ~ N(0, s^2 [(1 - h) I + h K]),      K = sum over columns of x x', with mean eigenvalue one,

which is the mixed model of genome-wide studies. The share h is chosen by restricted maximum
likelihood from a short list; h = 0, which changes nothing, wins wherever no background shows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gradsift._run.passes import each_block
from gradsift._typing import Array, Source
from gradsift.sift.columns import clipped_columns
from gradsift.sift.features import clipped
from gradsift.sift.rows import Rows
from gradsift.sift.settings import SiftSettings

SHARES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
"""Values of h that are tried."""
PRICE = 1.0
"""What a background must gain in -2 log likelihood: without it, noise has one half of the time."""
MOST_ROWS = 600
"""Rows beyond which no background is fitted: it takes n^3 operations for each test."""


@dataclass(frozen=True)
class WhiteRows:
    """Rows beside a design, turned and scaled so that what is left of the response is white.

    Attributes
    ----------
    W : (n, m) array
        W'D = 0 and W'r is white; m = n less the rank of D.
    share : float
        h, the share of the background.
    """

    W: Array
    share: float


def relationship(source: Source, rows: Rows, settings: SiftSettings) -> Array | None:
    """X X' of all clipped columns, rows scaled, (n, n), in one pass; None where rows are many."""
    n = rows.count(source.shape[0])
    if n > MOST_ROWS:
        return None

    def products(X: Array) -> Array:
        C = clipped(X, rows, settings) * np.reshape(rows.root, (-1, 1))
        return np.asarray(C @ C.T)

    K = np.zeros((n, n))
    for _, part in each_block(source, lambda _: products):
        K += part
    return K


def without_columns(
    K: Array | None, source: Source, columns: list[int], rows: Rows, settings: SiftSettings
) -> Array | None:
    """`relationship` without the part of some columns."""
    if K is None or not columns:
        return K
    C = clipped_columns(source, np.array(columns), rows, settings)
    C = C * np.reshape(rows.root, (-1, 1))
    return np.asarray(K - C @ C.T)


def complement(D: Array) -> Array:
    """Orthonormal basis of what is orthogonal to the columns of D, (n, n - rank)."""
    U, s, _ = np.linalg.svd(D, full_matrices=True)
    return np.asarray(U[:, int(np.sum(s > 1e-6 * s[0])) :])


def white_rows(r: Array, D: Array, K: Array | None) -> WhiteRows | None:
    """The rows in which a residual r (n,), orthogonal to D (n, df), is white; None where the
    background has no share, so that all rows are as good as they are.
    """
    if K is None:
        return None
    N = complement(D)
    values, vectors = np.linalg.eigh(N.T @ K @ N)
    total = float(np.maximum(values, 0.0).sum())
    if total <= 0.0:
        return None
    values = np.maximum(values, 0.0) * (len(values) / total)
    N = N @ vectors
    squares = np.square(N.T @ r)
    costs = [_cost(squares, 1.0 - h + h * values) + PRICE * (h > 0) for h in SHARES]
    h = SHARES[int(np.argmin(costs))]
    return WhiteRows(N / np.sqrt(1.0 - h + h * values), h) if h > 0 else None


def _cost(squares: Array, variances: Array) -> float:
    """-2 log likelihood, up to a constant, at the best scale."""
    scale = max(float(np.mean(squares / variances)), 1e-300)
    return float(len(squares) * np.log(scale) + np.log(variances).sum())
