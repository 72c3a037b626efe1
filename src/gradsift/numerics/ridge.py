"""Ridge regression for many penalties at once, with predictions of rows that are left out.

    f = b + sum_j beta_j phi_j,    minimise sum_i w_i (y_i - f_i)^2 + eta s ||beta||^2,

in the Gram matrix K = Phi Phi' (n, n) of the rows, or in Phi (n, k) itself where k < n. Columns are
centred on the training rows (those of positive weight w), and s is the mean diagonal of the centred
K there, so that eta does not depend on the unit of K. One eigendecomposition of W^(1/2) K W^(1/2)
gives the fits for all eta (Hastie, Tibshirani and Friedman, The elements of statistical learning,
sections 3.4 and 7.10):

    residual of row i without it = (residual with it) / (1 - leverage of row i).

Shapes: Y (n, q), penalties eta (L,), predictions and their variances (L, m, q).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradsift.protocols import Array, IntArray

RANK = 1e-12
"""Rounding: smallest eigenvalue, as a part of the largest."""
LEAST_LEFT = 1e-9
"""Rounding: one less the leverage is no smaller."""


class RowProducts(NamedTuple):
    """Inner products of rows: K (n, n), or Phi (n, k) with K = Phi Phi', where k < n."""

    values: Array
    factored: bool

    @property
    def gram(self) -> Array:
        """K."""
        return self.values @ self.values.T if self.factored else self.values


@dataclass(frozen=True, eq=False)
class SpectralRidge:
    """The ridge of Y on some rows, for any penalty.

    Attributes
    ----------
    centred : RowProducts
        K or Phi, centred on the training rows.
    middle : (n,) or (k,) array
        K times the shares of the training rows, or the mean of Phi.
    size : float
        s, the mean diagonal of the centred K on training rows.
    weights, Y, mean : (n,), (n, q) and (q,) arrays
        Rows of weight zero are held out; the mean is that of the others.
    values, vectors : (r,) and (training rows, r) arrays
        Eigenvalues, divided by s, and eigenvectors.
    """

    centred: RowProducts
    middle: Array
    size: float
    weights: Array
    Y: Array
    mean: Array
    values: Array
    vectors: Array

    @classmethod
    def of(cls, products: RowProducts, weights: Array, Y: Array) -> SpectralRidge:
        given, factored = products
        share, train = weights / weights.sum(), weights > 0
        root = np.sqrt(weights[train])[:, None]
        if factored:
            middle = share @ given
            centred = given - middle
            size = max(float(share @ np.square(centred).sum(axis=1)), 1e-300)
            values, vectors = thin_eigh(root * centred[train] / np.sqrt(size))
        else:
            middle = given @ share
            centred = given - middle[:, None] - middle + share @ middle
            size = max(float(share @ centred.diagonal()), 1e-300)
            inner = centred if train.all() else centred[np.ix_(train, train)]
            values, vectors = np.linalg.eigh(root * (inner / size) * root.T)
        values = np.maximum(values, 0.0)
        kept = RowProducts(centred, factored)
        return cls(kept, middle, size, weights, Y, share @ Y, values, vectors)

    @property
    def train(self) -> NDArray[np.bool_]:
        return self.weights > 0

    @property
    def scaled(self) -> Array:
        """(training rows, r) eigenvectors times the roots of the weights."""
        return np.asarray(np.sqrt(self.weights[self.train])[:, None] * self.vectors)

    @property
    def along(self) -> Array:
        """(r, q) the training responses along the eigenvectors."""
        return np.asarray(self.scaled.T @ (self.Y[self.train] - self.mean))

    def dual(self, penalty: float) -> Array:
        """(n, q) alpha, with f = mean + (centred K) alpha; zero on rows that are held out."""
        alpha = np.zeros_like(self.Y)
        shrunk = self.along / (self.values + penalty)[:, None]
        alpha[self.train] = self.scaled @ shrunk / self.size
        return alpha

    def held_out(self, rows: IntArray, penalties: Array) -> tuple[Array, Array]:
        """Predictions at rows (m,) that are held out, and the variances of their errors."""
        total, along = float(self.weights.sum()), self.along
        values, factored = self.centred
        if factored:
            toward = values[rows] @ (values[self.train].T @ self.scaled)
            own = np.square(values[rows]).sum(axis=1)
        else:
            toward, own = values[np.ix_(rows, self.train)] @ self.scaled, values[rows, rows]
        toward, own = toward / self.size, own / self.size
        shrunk = 1.0 / (self.values[:, None] + penalties)
        guess = np.stack([((toward * a) @ shrunk).T for a in along.T], axis=-1)
        beyond = self.weights @ np.square(self.Y - self.mean) - np.square(along).sum(axis=0)
        scale = (shrunk.T @ along**2 + np.maximum(beyond, 0.0) / penalties[:, None]) / total
        spread = own[:, None] - toward**2 @ shrunk + penalties * (1.0 + 1.0 / total)
        return self.mean + guess, np.maximum(spread, penalties).T[:, :, None] * scale[:, None, :]

    def leave_one_out(self, penalties: Array) -> tuple[Array, Array]:
        """Predictions of each row by fits without it, however often it counts, and the variances of
        their errors, as the fits see them. No row may have weight zero.
        """
        weights, total = self.weights, float(self.weights.sum())
        z = np.sqrt(weights)[:, None] * (self.Y - self.mean)
        along = self.vectors.T @ z
        kept = self.values[:, None] / (self.values[:, None] + penalties)  # (r, L)
        leverage = np.square(self.vectors) @ kept + (weights / total)[:, None]
        left = np.maximum(1.0 - leverage, LEAST_LEFT).T[:, :, None]  # (L, n, 1)
        fits = np.stack([(self.vectors @ (kept * a[:, None])).T for a in along.T], axis=2)
        residual = (z - fits) / np.sqrt(weights)[:, None]
        unexplained = np.square(z).sum(axis=0) - kept.T @ np.square(along)
        noise = np.maximum(unexplained, 0.0)[:, None, :] / total
        return self.Y - residual / left, noise * (1.0 + (1.0 - left) / left / weights[:, None])


def thin_eigh(A: Array) -> tuple[Array, Array]:
    """Positive eigenvalues (r,) of A A' and their eigenvectors (n, r), for A of few columns."""
    values, turn = np.linalg.eigh(A.T @ A)
    kept = values > RANK * values.max(initial=0.0)
    return values[kept], A @ (turn[:, kept] / np.sqrt(values[kept]))
