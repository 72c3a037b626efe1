"""The pair data term: what a gradient field B predicts for every pair of samples.

With a kernel factor L (K = L L', n x m), the field at sample i is f(x_i) = B L_i, and all the data
term needs of the p columns is U = X B (n x m): the prediction for the pair (i, j) is

    e_ij = f0(x_i) + f(x_i) . (x_j - x_i) = L_i . v + L_i . (U_j - U_i)

with f0(x_i) = L_i . v for classification and none for regression. The value is sum_ij w_ij
psi(e_ij), its slopes S = w psi'(e), and the gradient in U

    M = (S' - diag(S 1)) L,        so that the gradient in B is ONE product X' M.

Several outputs (class contrasts) stack along axis 0 of e and side by side in U, c slowest.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from gradsift.numerics.losses import Loss, Squared
from gradsift.pairwise.geometry import DensePairs, Pairs
from gradsift.protocols import Array, HessianProduct, IntArray, MeanHessian, Restricted

GRAM_ROWS = 32
"""Memory: samples whose matrices of the Gram form are made at a time."""
GRAM_NUMBERS = 8_000_000
"""Memory: most numbers the Gram form may keep (64 MB)."""


@dataclass(frozen=True)
class PairDatafit:
    """sum_ij w_ij psi(e_ij, t_ij), plus offset_penalty ||f0||_K^2 where there is an offset f0.

    Parameters
    ----------
    pairs : DensePairs or SparsePairs
        Weights with all scaling in them (the paper's 1/n^2, sample weights).
    L : (n, m) array
        Kernel factor, K = L L'.
    loss : Loss
    target : array
        t, broadcastable to the pair predictions (outputs on axis 0).
    offset_penalty : float or None
        The paper's lambda_1; None = no offset function.
    smoothing : (m, m) array, optional
        Gamma of `smoothing_matrix`: adds <B Gamma, B>, summed over outputs.
    """

    pairs: Pairs
    L: Array
    loss: Loss
    target: Array
    n_outputs: int = 1
    offset_penalty: float | None = None
    smoothing: Array | None = None

    @property
    def n_tasks(self) -> int:
        return self.n_outputs * self.L.shape[1]

    def start(self) -> Array:
        m = self.L.shape[1]
        return np.zeros((0 if self.offset_penalty is None else m, self.n_outputs))

    def predict(self, U: Array, v: Array) -> Array:
        # only differences of U count: centring it keeps their digits where X is far from the origin
        return self.predict_centred(U - U.mean(axis=0), v)

    def predict_centred(self, U: Array, v: Array) -> Array:
        E = self.pairs.differences(self.L, U.reshape(len(U), self.n_outputs, -1))
        if len(v):
            E += self.pairs.at_near((self.L @ v).T)
        return E

    def value(self, E: Array, v: Array) -> float:
        total = np.vdot(self.pairs.weight, self.loss.value(E, self.target))
        return float(total + self._ridge * np.vdot(v, v))

    def gradient(self, E: Array, v: Array) -> tuple[Array, Array]:
        M, pull = self._collect(self.pairs.weight * self.loss.slope(E, self.target), v)
        return M, pull + 2.0 * self._ridge * v

    def _collect(self, S: Array, v: Array) -> tuple[Array, Array]:
        """What slopes S at the predictions are as slopes in U and in v."""
        M, out = self.pairs.collect(S, self.L)
        return M.reshape(len(self.L), -1), self.L.T @ out.T if len(v) else np.zeros_like(v)

    def hessian(self, E: Array) -> Callable[[Array, Array], tuple[Array, Array]]:
        """The map from a change of the predictions, and of v, to that of the gradients."""
        bend = self.loss.hessian(E, self.target)

        def product(dE: Array, dv: Array) -> tuple[Array, Array]:
            M, pull = self._collect(self.pairs.weight * bend(dE), dv)
            return M, pull + 2.0 * self._ridge * dv

        return product

    def mean_hessian(self, E: Array, X: Array) -> MeanHessian | None:
        """The second derivative in the rows B of X, averaged over the tasks, and their sizes."""
        bend = self.loss.mean_bend(E, self.target)
        if bend is None:
            return None
        share = np.einsum("ij,ij->i", self.L, self.L) / self.L.shape[1]
        weight = self.pairs.weight * bend * self.pairs.at_near(share[None])[0]
        return MeanHessian(self.pairs.scatter(weight, X), *self.tasks)

    @cached_property
    def tasks(self) -> tuple[Array, Array]:
        """Eigenvalues, of mean one, and eigenvectors of L' diag(mass) L, mass = weight of pairs."""
        mass = self.pairs.near_sums(self.pairs.weight[None])[0]
        sizes, axes = np.linalg.eigh(self.L.T * mass @ self.L)
        return sizes / max(float(sizes.mean()), np.finfo(float).tiny), axes

    def offset_hessian(self, E: Array) -> Array | None:
        """(m, m) second derivative in one output of v, averaged over outputs."""
        bend = None if self.offset_penalty is None else self.loss.mean_bend(E, self.target)
        if bend is None:
            return None
        mass = self.pairs.near_sums((self.pairs.weight * bend)[None])[0]
        return self.L.T * mass @ self.L + 2.0 * self._ridge * np.eye(self.L.shape[1])

    def curvature(self, E: Array, dE: Array, dv: Array) -> float:
        form = np.vdot(self.pairs.weight, self.loss.curvature(E, self.target, dE))
        return float(form + 2.0 * self._ridge * np.vdot(dv, dv))

    def dual_value(self, E: Array, v: Array, shrink: float) -> float:
        g = shrink * self.loss.slope(E, self.target)
        value = -float(np.vdot(self.pairs.weight, self.loss.conjugate(g, self.target)))
        if len(v):  # the offset's ridge: min_v <pull, v> + ridge ||v||^2
            pull = self.L.T @ self.pairs.near_sums(self.pairs.weight * g).T
            value -= float(np.vdot(pull, pull)) / (4.0 * self._ridge)
        return value

    def restrict(self, X: Array) -> Restricted:
        """The same function of the rows B of a few columns, in whichever form is cheaper to step.

        Beside what they share, a product with the residual form is 2 n^2 m multiplications and some
        passes over n^2 pairs; one with the Gram form reads n w^2 numbers, each about as costly as
        thirty multiplications.
        """
        n, m = self.L.shape
        quadratic = isinstance(self.loss, Squared) and self.offset_penalty is None
        area = X.shape[1] ** 2
        small = area < n * (m / 16 + 16) and n * area <= GRAM_NUMBERS
        phi: Restricted
        if quadratic and small and isinstance(self.pairs, DensePairs):
            phi = GramForm(self, X)
        else:
            phi = ResidualForm(self, X)
        return phi if self.smoothing is None else Smoothed(phi, self)

    def term(self, B: Array) -> tuple[float, Array]:
        if self.smoothing is None:
            return 0.0, np.zeros_like(B)
        by_output = B.reshape(len(B), self.n_outputs, self.L.shape[1])
        spread = (by_output @ self.smoothing).reshape(B.shape)
        return float(np.vdot(B, spread)), 2.0 * spread

    @property
    def _ridge(self) -> float:
        return 0.0 if self.offset_penalty is None else self.offset_penalty


def smoothing_matrix(L: Array, W: Array | sparse.csr_array[Any], mu: float) -> Array:
    """Gamma (m, m) with <B Gamma, B> = mu / N^2 sum_ij W_ij ||f(x_i) - f(x_j)||^2, the paper's
    semi-supervised term over all N samples, labelled and unlabelled; L (N, m) is their factor.

    sum_ij W_ij ||B (L_i - L_j)||^2 = 2 <B L' (D - A) L, B> with A the symmetric part of W.
    """
    N = len(L)
    A = 0.5 * (W + W.T)
    degree = np.asarray(A.sum(axis=1)).ravel()
    return np.asarray(2.0 * mu / N**2 * (L.T @ (degree[:, None] * L) - L.T @ (A @ L)))


class ResidualForm:
    """Phi on a few columns through its pair predictions: any loss, any pairs."""

    def __init__(self, datafit: PairDatafit, X: Array) -> None:
        self.datafit = datafit
        self.X = X - X.mean(axis=0)  # once and for all, as `predict` does for X B; and 1' M = 0

    def image(self, B: Array, v: Array) -> Array:
        return self.datafit.predict_centred(self.X @ B, v)

    def value(self, E: Array, B: Array, v: Array) -> float:
        return self.datafit.value(E, v)

    def gradient(self, E: Array, B: Array, v: Array) -> tuple[Array, Array]:
        M, g = self.datafit.gradient(E, v)
        return self.X.T @ M, g

    def take(self, rows: IntArray) -> ResidualForm:
        return ResidualForm(self.datafit, self.X[:, rows])

    def hessian(self, E: Array) -> HessianProduct:
        product = self.datafit.hessian(E)

        def of_rows(dB: Array, dv: Array) -> tuple[Array, Array]:
            M, g = product(self.image(dB, dv), dv)
            return self.X.T @ M, g

        return of_rows

    def offset_hessian(self, E: Array) -> Array | None:
        return self.datafit.offset_hessian(E)

    def mean_hessian(self, E: Array) -> MeanHessian | None:
        return self.datafit.mean_hessian(E, self.X)

    def curvature(self, E: Array, dE: Array, dB: Array, dv: Array) -> float:
        return self.datafit.curvature(E, dE, dv)

    def dual_value(self, E: Array, B: Array, v: Array, shrink: float) -> float:
        return self.datafit.dual_value(E, v, shrink)


class GramForm:
    """Phi on a few columns as the quadratic it is: c + <G0, B> + <B, H B> / 2.

    H B = 2 sum_i Q_i B L_i L_i' with Q_i = sum_j w_ij (x_j - x_i)(x_j - x_i)' (w, w), one small
    matrix per sample: no pair is visited again. The image of B is H B.
    """

    def __init__(self, datafit: PairDatafit, X: Array) -> None:
        n, w = X.shape
        X = X - X.mean(axis=0)  # as in `predict`: only differences count
        self.L, self.outputs = datafit.L, datafit.n_outputs
        self.tasks = datafit.tasks
        E = datafit.predict(np.zeros((n, datafit.n_tasks)), datafit.start())
        self.constant = datafit.value(E, datafit.start())
        self.G0 = X.T @ datafit.gradient(E, datafit.start())[0]
        W = datafit.pairs.weight
        row, column = np.triu_indices(w)
        products, near = X[:, row] * X[:, column], W @ X
        own = W.sum(axis=1)[:, None] * X - near
        self.Q = np.empty((n, w, w))
        for first in range(0, n, GRAM_ROWS):  # temporaries of a few rows, not of all
            some = slice(first, first + GRAM_ROWS)
            Q, half = self.Q[some], W[some] @ products
            Q[:, row, column] = Q[:, column, row] = half
            Q += own[some, :, None] * X[some, None, :]
            Q -= X[some, :, None] * near[some, None, :]
            Q *= 2.0

    def image(self, B: Array, v: Array) -> Array:
        w = len(B)
        F = np.matmul(
            self.L, B.reshape(w, self.outputs, self.L.shape[1]).transpose(1, 2, 0)
        )  # (c, n, w)
        T = np.matmul(self.Q, F.transpose(1, 2, 0))  # (n, w, c)
        return np.tensordot(T, self.L, axes=(0, 0)).reshape(B.shape)

    def value(self, HB: Array, B: Array, v: Array) -> float:
        return float(self.constant + np.vdot(self.G0, B) + 0.5 * np.vdot(HB, B))

    def gradient(self, HB: Array, B: Array, v: Array) -> tuple[Array, Array]:
        return self.G0 + HB, v

    def take(self, rows: IntArray) -> GramForm:
        part = copy(self)
        part.G0, part.Q = self.G0[rows], self.Q[:, rows[:, None], rows]
        return part

    def hessian(self, HB: Array) -> HessianProduct:
        return lambda dB, dv: (self.image(dB, dv), dv)

    def mean_hessian(self, HB: Array) -> MeanHessian:
        share = np.einsum("ij,ij->i", self.L, self.L) / self.L.shape[1]
        return MeanHessian(np.tensordot(share, self.Q, axes=1), *self.tasks)

    def offset_hessian(self, HB: Array) -> None:
        return None

    def curvature(self, HB: Array, dHB: Array, dB: Array, dv: Array) -> float:
        return float(np.vdot(dHB, dB))

    def dual_value(self, HB: Array, B: Array, v: Array, shrink: float) -> float:
        # with residuals r = e - t: <w r, t> = <w e, t> - <w t, t>, and <w e, t> = -<G0, B> / 2
        inner = -0.5 * float(np.vdot(self.G0, B)) - self.constant
        return -(2.0 * shrink * inner + shrink**2 * self.value(HB, B, v))


@dataclass(frozen=True)
class Smoothed:
    """A restricted Phi with the quadratic `PairDatafit.term` of the rows of B added."""

    phi: Restricted
    datafit: PairDatafit

    def image(self, B: Array, v: Array) -> Array:
        return self.phi.image(B, v)

    def value(self, image: Array, B: Array, v: Array) -> float:
        return self.phi.value(image, B, v) + self.datafit.term(B)[0]

    def gradient(self, image: Array, B: Array, v: Array) -> tuple[Array, Array]:
        G, g = self.phi.gradient(image, B, v)
        return G + self.datafit.term(B)[1], g

    def take(self, rows: IntArray) -> Smoothed:
        return Smoothed(self.phi.take(rows), self.datafit)

    def hessian(self, image: Array) -> HessianProduct:
        product = self.phi.hessian(image)

        def smoothed(dB: Array, dv: Array) -> tuple[Array, Array]:
            G, g = product(dB, dv)
            return G + self.datafit.term(dB)[1], g

        return smoothed

    def offset_hessian(self, image: Array) -> Array | None:
        return self.phi.offset_hessian(image)

    def mean_hessian(self, image: Array) -> None:
        return None

    def curvature(self, image: Array, d_image: Array, dB: Array, dv: Array) -> float:
        # the term is homogeneous of degree two: its form along dB is twice its value there
        return self.phi.curvature(image, d_image, dB, dv) + 2.0 * self.datafit.term(dB)[0]

    def dual_value(self, image: Array, B: Array, v: Array, shrink: float) -> float:
        return self.phi.dual_value(image, B, v, shrink) - shrink**2 * self.datafit.term(B)[0]
