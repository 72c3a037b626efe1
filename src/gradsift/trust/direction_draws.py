"""Directions in draws of effects: how many there are, and how sure each loading is.

Every draw is a sum of effects of columns and products. Its gradient at the rows is known, and the
leading directions of the gradient's outer product are found as those of a fit are. What differs
between draws is what the data leaves open: which member of a family acts, and in which shape.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.optimize import linear_sum_assignment

from gradsift._typing import Array, IntArray, Source
from gradsift.numerics.directions import find_directions
from gradsift.numerics.sampling import drawn_rows
from gradsift.sift.columns import clipped_columns
from gradsift.sift.features import antiderivatives, derivatives, knots
from gradsift.sift.rows import Rows
from gradsift.sift.settings import SiftSettings
from gradsift.trust.looks import EMPTY
from gradsift.trust.pool import Pool

ENERGY = 0.99
"""Share of the gradient's covariance that 'auto' directions hold, in a fit and in a draw."""
MOST_ROWS = 1000
"""Rows at which gradients of draws are looked at."""


@dataclass(frozen=True)
class State:
    """Where chains are in one sweep.

    Attributes
    ----------
    chosen : (slots, b) int array
        Candidate of each slot, or `EMPTY`.
    coefficients : list of (b, features, q) arrays
        Of the candidate of each slot.
    """

    chosen: IntArray
    coefficients: list[Array]


Slopes = dict[int, Array]
"""Column -> derivatives (features, m) of the features of a candidate by that column, at m rows."""


@dataclass(frozen=True)
class DirectionDraws:
    """Directions of the gradient in each of some draws.

    Attributes
    ----------
    columns : (c,) int array
        Columns that act in some draw.
    loadings : tuple of (r, c) arrays
        Orthonormal directions of each draw, r of them, most important first.
    """

    columns: IntArray
    loadings: tuple[Array, ...]

    @property
    def count_probabilities(self) -> Array:
        """Probability that there are 0, 1, 2, ... directions: the share of the draws."""
        counts = np.bincount([len(one) for one in self.loadings], minlength=1)
        return np.asarray(counts / max(len(self.loadings), 1))

    def intervals(self, components: Array, level: float = 0.9) -> Array:
        """(r, p, 2) range of each loading of given directions (r, p) over draws, the outer parts of
        1 - `level` left out. The order and the signs of the directions of a draw are free: each
        given direction meets the one that is most like it.
        """
        out = np.zeros((*components.shape, 2))
        if len(self.loadings) == 0 or len(components) == 0:
            return out
        given = components[:, self.columns]
        met = np.stack([matched(one, given) for one in self.loadings])
        ends = np.quantile(met, [(1 - level) / 2, (1 + level) / 2], axis=0)
        out[:, self.columns] = ends.transpose(1, 2, 0)
        return out


def matched(directions: Array, given: Array) -> Array:
    """The row of `directions` (s, c) that each row of `given` (r, c) is most like, its sign turned
    to agree: (r, c). Each is used once; zero where none is left.
    """
    out = np.zeros_like(given)
    products = given @ directions.T
    for i, j in zip(*linear_sum_assignment(-np.abs(products)), strict=True):
        out[i] = directions[j] * (1.0 if products[i, j] >= 0 else -1.0)
    return out


def draw_directions(
    states: Sequence[State],
    kinds: IntArray,
    slopes: Sequence[Callable[[int], Slopes]],
    n_columns: int,
    scale: Array | None = None,
) -> DirectionDraws:
    """Directions of drawn effects among the first `n_columns`; those that follow are covariates.
    `kinds` (slots,) say which of `slopes` gives the derivatives of the features of a candidate;
    those by a column are divided by its `scale`.
    """
    gradients = [
        {c: v for c, v in gradient(state, chain, kinds, slopes).items() if c < n_columns}
        for state in states
        for chain in range(state.chosen.shape[1])
    ]
    columns = np.array(sorted({c for G in gradients for c in G}), dtype=np.intp)
    found = []
    for G in gradients:
        index = np.searchsorted(columns, list(G)).astype(np.intp)
        unit = np.ones(len(G)) if scale is None else scale[list(G)]
        stacked = np.stack([v.ravel() for v in G.values()]) if G else np.zeros((0, 1))
        stacked = stacked / unit[:, None]
        found.append(find_directions(index, stacked, len(columns), "auto", ENERGY).components)
    return DirectionDraws(columns, tuple(found))


def gradient(
    state: State, chain: int, kinds: IntArray, slopes: Sequence[Callable[[int], Slopes]]
) -> Slopes:
    """Column -> derivatives (q, m) of one draw."""
    out: Slopes = {}
    for slot, kind in enumerate(kinds.tolist()):
        j = int(state.chosen[slot, chain])
        if j == EMPTY:
            continue
        B = state.coefficients[slot][chain]
        for column, by_feature in slopes[kind](j).items():
            out[column] = out.get(column, 0.0) + B.T @ by_feature
    return out


def feature_slopes(
    pool: Pool, kept: Array, source: Source, rows: Rows, settings: SiftSettings
) -> list[Callable[[int], Slopes]]:
    """Derivatives of the features of own candidates, and of products, each computed once. They are
    linear in functions whose derivatives are known, which a least-squares fit at some rows finds.
    """
    n = rows.count(source.shape[0])
    at = drawn_rows(n, MOST_ROWS) if n > MOST_ROWS else np.arange(n)
    root = np.broadcast_to(rows.root, n)[at]
    always = np.vstack([np.ones(len(at)), kept[:, at] / root])

    def fitted(Z: Array, P: Array) -> Array:
        """Coefficients (features, k) of functions P (k, m) in features Z (features, m)."""
        design = np.vstack([P, always]).T
        found = np.linalg.lstsq(design, (Z[:, at] / root).T, rcond=1e-10)[0]
        return np.asarray(found[: len(P)].T)

    @cache
    def own(j: int) -> Slopes:
        column = int(pool.columns[j])
        X = clipped_columns(source, np.array([column]), rows, settings)
        centres, X = knots(X, rows, settings), X[at]
        A = fitted(pool.own.Z[:, j].astype(np.float64), antiderivatives(X, centres, settings)[0])
        return {column: A @ derivatives(X, centres, settings)[0] * root}

    @cache
    def product(j: int) -> Slopes:
        assert pool.products is not None
        first, second = pool.pairs[j].tolist()
        x, z = clipped_columns(source, np.array([first, second]), rows, settings)[at].T
        A = fitted(pool.products.Z[:, j].astype(np.float64), (x * z)[None])
        return {first: A * z * root, second: A * x * root}

    return [own, product]
