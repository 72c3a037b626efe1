"""Convex quadratics of the field that may be added to the pair loss.

Both are of the form q(B) = <B Gamma, B> + <U, pull(U)> / 2 with U = X B: a small matrix that acts
on every row alike, and a linear map on what the columns add up to. Their gradient in B is
X' pull(U) + 2 B Gamma, so inactive rows still need one product with X and nothing else.

- `laplacian_term`: mu / N^2 sum_ij W_ij ||f(x_i) - f(x_j)||^2 over labelled and unlabelled samples,
  the paper's semi-supervised form; pull is zero.
- `curl_term`: gamma / (2 n) sum_i ||J(x_i) - J(x_i)'||^2 with J_kl = d f^k / d x^l: the symmetry
  every true gradient has (named after the paper's theorem 1). Zero exactly when f is curl-free at
  the samples.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from gradsift.numerics.kernels import Affine, AnyKernel, Constant, Gaussian, Linear
from gradsift.protocols import Array


class FieldTerm(Protocol):
    """gamma (m, m) and pull: (n, c, m) -> (n, c, m), linear and symmetric."""

    @property
    def gamma(self) -> Array: ...

    def pull(self, U: Array) -> Array: ...


@dataclass(frozen=True)
class LaplacianTerm:
    gamma: Array

    def pull(self, U: Array) -> Array:
        return np.zeros_like(U)


@dataclass(frozen=True)
class SumTerm:
    """Two terms together."""

    first: FieldTerm
    second: FieldTerm

    @property
    def gamma(self) -> Array:
        return self.first.gamma + self.second.gamma

    def pull(self, U: Array) -> Array:
        return self.first.pull(U) + self.second.pull(U)


def laplacian_term(L: Array, W: Array | sparse.csr_array[Any], mu: float) -> LaplacianTerm:
    """Smoothness along a graph W of all samples, L (N, m) their factor.

    sum_ij W_ij ||B (L_i - L_j)||^2 = 2 <B L' (D - A) L, B> with A the symmetric part of W.
    """
    N = len(L)
    A = 0.5 * (W + W.T)
    degree = np.asarray(A.sum(axis=1)).ravel()
    return LaplacianTerm(2.0 * mu / N**2 * (L.T @ (degree[:, None] * L) - L.T @ (A @ L)))


@dataclass(frozen=True)
class LinearCurl:
    """Affine and linear kernels: J = B H' with H = X' T is the same at every sample."""

    gamma: Array
    T: Array
    strength: float

    def pull(self, U: Array) -> Array:
        # q = strength (||B H'||^2 - tr (H'B)^2), and H'B = T'U
        inner = np.einsum("nm,ncl->cml", self.T, U)
        return -2.0 * self.strength * np.einsum("nm,clm->ncl", self.T, inner)


@dataclass(frozen=True)
class GaussianCurl:
    """Gaussian kernel: J(x_i) = B T' D_i with D_i = -(k_i x_i' - diag(k_i) X) / s^2."""

    gamma: Array
    T: Array
    K: Array
    scale: float
    strength: float

    def pull(self, U: Array) -> Array:
        n, out = len(U), np.zeros_like(U)
        for i in range(n):
            # D_i B = -(k_i U_i - diag(k_i) U) / s^2, (n, c, m)
            T_i = self.K[i][:, None] * self.T  # diag(k_i) T
            total = T_i.sum(axis=0)
            inner = np.einsum("a,cb->cab", total, U[i]) - np.einsum("na,ncb->cab", T_i, U)
            back = np.einsum("na,cba->ncb", T_i, inner)
            out -= back
            out[i] += np.einsum("a,cba->cb", total, inner)
        return -2.0 * self.strength / (n * self.scale**4) * out


def curl_term(kernel: AnyKernel, G: Array, K: Array, T: Array, strength: float) -> FieldTerm:
    """The curl penalty for a kernel with derivatives at hand.

    Parameters
    ----------
    G : (n, n) array
        Inner products of the samples, which are also the kernel's reference points.
    K : (n, n) array
        Kernel matrix.
    T : (n, m) array
        L(x) = K(x, X) T.
    """
    if isinstance(kernel, Constant):
        m = T.shape[1]
        return LaplacianTerm(np.zeros((m, m)))
    if isinstance(kernel, (Affine, Linear)):
        return LinearCurl(strength * (T.T @ G @ T), T, strength)
    if isinstance(kernel, Gaussian) and isinstance(kernel.scale, (int, float)):
        s = float(kernel.scale)
        gamma = np.zeros((T.shape[1], T.shape[1]))
        a = np.diag(G)
        for i in range(len(G)):
            # D_i D_i' = diag(k_i) (a_i 1 1' - 1 g_i' - g_i 1' + G) diag(k_i) / s^4
            core = a[i] - G[i][:, None] - G[i][None, :] + G
            half = K[i][:, None] * T
            gamma += half.T @ core @ half
        return GaussianCurl(strength / (len(G) * s**4) * gamma, T, K, s, strength)
    raise ValueError(
        f"the curl penalty knows the derivatives of the affine, linear, constant and Gaussian "
        f"kernels, not of {kernel!r}."
    )
