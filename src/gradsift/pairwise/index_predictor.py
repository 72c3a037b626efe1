"""Predicting numbers through the estimated directions.

A ridge in the coordinates of the sparse directions gives one index, and a local linear fit of the
response on that index gives the link. Coordinates are scaled by a power of the size of their
direction, so that a large power trusts the first direction alone and a small one many of them.
Power, ridge and bandwidth are those with the smallest leave-one-out error; the link sees the
leave-one-out index of every training sample, because the fitted one is too close to the response.

One index cannot bend two ways. A local linear fit in the first two or three directions takes its
place where its leave-one-out error is clearly smaller; clearly, because directions were fitted to
the sample that is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gradsift._typing import Array
from gradsift.data.source import BLOCK_BYTES
from gradsift.numerics.sampling import spread_along
from gradsift.pairwise.assemble import Assembly
from gradsift.pairwise.local_linear import best_bandwidth, smooth, spread_of
from gradsift.solver import Rows

POWERS = (1.0, 2.0, 4.0, 8.0)
"""Of the size of a direction, to scale its coordinate."""
RIDGES = np.logspace(-6.0, 1.0, 15)
"""Penalties, in units of the variance of all coordinates."""
MOST_LINKED = 1_000  # samples that the link is drawn through
PLANES = (2, 3)  # directions of local fits that may take the place of the index
CLEARLY = 0.8  # their error beside that of the index


class Index(NamedTuple):
    """Linear coordinates x . slope + intercept, and those of samples left out, (n, d)."""

    slope: Array
    intercept: Array
    left_out: Array


@dataclass(frozen=True)
class IndexPredictor:
    """y(x) = g(x . slope + intercept) on the selected columns, standardised.

    Attributes
    ----------
    slope : (a, d) array
        Combinations of the sparse directions: one index, or the first few of them.
    intercept : (d,) array
    places : (n, d) array
        Where the training samples lie that the link g is drawn through.
    y, share : (n,) arrays
        Their response and weight.
    scale : float
        Bandwidth of the link; inf = a straight line or plane.
    """

    slope: Array
    intercept: Array
    places: Array
    y: Array
    share: Array
    scale: float

    def __call__(self, X_new: Array) -> Array:
        """(1, n_new) predictions from the selected columns of new samples."""
        at = X_new @ self.slope + self.intercept
        height = max(1, BLOCK_BYTES // (8 * self.places.size))
        tiles = [at[a : a + height] for a in range(0, len(at), height)]
        Y = self.y[:, None]
        link = [smooth(tile, self.places, Y, self.share, self.scale) for tile in tiles]
        return np.concatenate(link).T


def index_predictor(assembly: Assembly, rows: Rows) -> IndexPredictor:
    """The predictor that goes with an answer for numbers."""
    return fit_index(
        assembly.source.columns(rows.index), assembly.response.values[0], rows.values,
        assembly.share,
    )  # fmt: skip


def fit_index(X: Array, y: Array, B: Array, share: Array) -> IndexPredictor:
    """Choose index and link for selected columns X (n, a) and coefficients B (a, m)."""
    X, y, share = merge_copies(X, y, share)
    U, sizes, _ = np.linalg.svd(B, full_matrices=False)
    lead = sizes > 1e-6 * sizes.max(initial=0.0)
    if not lead.any():
        return flat(X.shape[1], float(share @ y))
    U, sizes = U[:, lead], sizes[lead] / sizes.max()
    found = [_linked(ridge_index(X, U * sizes**power, y, share), y, share) for power in POWERS]
    error, best = min(found, key=lambda pair: pair[0])
    for d in PLANES:
        if d <= min(len(sizes), len(y) // 10):
            scaled = U[:, :d] * sizes[:d]
            plane = Index(scaled, np.zeros(d), X @ scaled)
            other, fit = _linked(plane, y, share, rising=False)
            if other < CLEARLY * error:
                error, best = other / CLEARLY, fit
    return best


def flat(n_columns: int, level: float) -> IndexPredictor:
    """The mean, whatever the columns say."""
    one = np.ones(1)
    return IndexPredictor(
        np.zeros((n_columns, 1)), level * one, level * one[:, None], level * one, one, np.inf
    )


def merge_copies(X: Array, y: Array, share: Array) -> tuple[Array, Array, Array]:
    """Copies of a row as one row with their weights: none of them may stand in for another."""
    both, where = np.unique(np.column_stack([X, y]), axis=0, return_inverse=True)
    total: Array = np.bincount(where.ravel(), weights=share).astype(float)
    return both[:, :-1], both[:, -1], total


def ridge_index(X: Array, directions: Array, y: Array, share: Array) -> Index:
    """Ridge regression on coordinates X @ directions, its penalty by leave-one-out.

    Leaving sample i out changes its residual by 1 / (1 - h_i), with h_i its leverage.
    """
    coordinates = X @ directions
    middle, level = share @ coordinates, float(share @ y)
    root = np.sqrt(share)
    P, s, Q = np.linalg.svd(root[:, None] * (coordinates - middle), full_matrices=False)
    pull, total = P.T @ (root * (y - level)), max(float(s @ s), np.finfo(float).tiny)
    best, chosen, left_out = np.inf, RIDGES[-1] * total, np.full(len(y), level)
    for ridge in RIDGES * total:
        shrink = s**2 / (s**2 + ridge)
        fitted = level + (P @ (shrink * pull)) / root
        leverage = np.minimum(share + (P**2) @ shrink, 1.0 - 1e-9)
        residual = (y - fitted) / (1.0 - leverage)
        if (error := float(share @ residual**2)) < best:
            best, chosen, left_out = error, ridge, y - residual
    # without what leaving a sample out does to the mean: that alone would give the sample away
    left_out = left_out + share * (y - level) / (1.0 - share)
    weights = Q.T @ (s / (s**2 + chosen) * pull)
    slope = (directions @ weights)[:, None]
    return Index(slope, np.array([level - middle @ weights]), left_out[:, None])


def _linked(
    found: Index, y: Array, share: Array, *, rising: bool = True
) -> tuple[float, IndexPredictor]:
    """The leave-one-out error with the best bandwidth of the link, and the predictor.

    An index that does not rise with the response (`rising`) predicts nothing.
    """
    order = np.argsort(found.left_out[:, 0], kind="stable")
    some = spread_along(order, MOST_LINKED)
    places, y, share = found.left_out[some], y[some], share[some] / share[some].sum()
    away, level = places - share @ places, float(share @ y)
    spread = spread_of(places, share)
    slack = 1e-12 * spread * float(np.std(y))
    if spread == 0.0 or (rising and not share @ (away[:, 0] * (y - level)) > slack):
        return float(share @ (y - level) ** 2), flat(len(found.slope), level)
    scale, error = best_bandwidth(places, y[:, None], share)
    return error, IndexPredictor(found.slope, found.intercept, places, y, share, scale)
