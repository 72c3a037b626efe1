"""Pieces that both estimators of the sift are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gradsift._typing import Array, IntArray, Source
from gradsift.data import Scaling, open_source, take_rows
from gradsift.refit import ClassificationRefit, RegressionRefit
from gradsift.sift import SiftResult

REFIT_ROWS = 200_000  # rows the refit learns from at most: its 1,000 landmarks gain nothing by more


class Interaction(NamedTuple):
    """A product of two variables that the sift found in the response."""

    first: int
    second: int
    strength: float


@dataclass(frozen=True)
class RefitField:
    """The gradient of a refitted predictor, as a function of raw samples."""

    scaling: Scaling
    index: IntArray
    refit: RegressionRefit | ClassificationRefit

    def columns(self, X: Source | Array) -> Array:
        """Selected columns, standardised, as the refit knows them."""
        return refit_columns(X, self.scaling, self.index)

    def standard_gradient(self, X: Source | Array) -> Array:
        """(outputs, n, selected), per standard deviation of each column."""
        G = self.refit.gradient(self.columns(X))
        return G[None] if G.ndim == 2 else G

    def gradient(self, X: Source | Array) -> Array:
        """The same in the user's units."""
        return self.scaling.derivative(self.standard_gradient(X), self.index)


def refit_columns(X: Source | Array, scaling: Scaling, index: IntArray) -> Array:
    """Selected columns, standardised, without their last digits.

    Those are the standardising's own rounding, and an optimiser must not get to amplify them.
    """
    return np.round(scaling.apply(open_source(X).columns(index), index), 10) + 0.0


class Sifted(NamedTuple):
    """A table as the sift saw it, and what it found there."""

    X: Source
    standardised: Source
    share: Array
    scaling: Scaling
    found: SiftResult

    def refit_columns(self, rows: IntArray) -> Array:
        """Selected columns as the refit takes them, at some rows."""
        return refit_columns(take_rows(self.X, rows), self.scaling, self.found.selected)


def refit_rows(codes: IntArray) -> IntArray:
    """Rows that the refit learns from: all, or very many drawn with a fixed seed, and one of every
    class at least.
    """
    n = len(codes)
    if n <= REFIT_ROWS:
        return np.arange(n)
    drawn = np.random.default_rng(0).choice(n, REFIT_ROWS, replace=False)
    return np.union1d(drawn, np.unique(codes, return_index=True)[1])


def class_contrasts(codes: IntArray, n_classes: int) -> Array:
    """One column of -1 and 1 for two classes, C - 1 indicators for more (the sift whitens them)."""
    indicators = (codes[:, None] == np.arange(1, n_classes)).astype(float)
    return 2.0 * indicators - 1.0


def seed_of(random_state: Any) -> int | None:
    """A plain seed from an int, None, or a RandomState (as scikit-learn passes them)."""
    if random_state is None:
        return None
    if isinstance(random_state, (int, np.integer)) and 0 <= random_state < 2**32:
        return int(random_state)
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    raise ValueError(
        f"random_state={random_state!r}: use a whole number from 0 to 2**32 - 1, a RandomState, or "
        "None."
    )
