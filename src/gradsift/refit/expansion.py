"""Functions g_c(x) = sum_p a_pc k(x, p): the rows p that carry them, values, gradients, features.

A kernel matrix over at most a thousand rows is factorised once by pivoted Cholesky,
k(P, P) = L L' with P the pivots. Rows that add nothing beyond rounding are left out, so smooth
kernels and repeated rows give few points. The features

    phi(x) = L^-1 k(P, x),        phi(x)'phi(z) = k(x, z)  on the chosen rows,

turn every kernel problem into a ridge problem, ||g||_k = ||beta|| for g = beta'phi, with
coefficients a = L^-T beta back on the points.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpstrf

from gradsift._typing import Array
from gradsift.numerics.ard_kernels import ArdKernel

BLOCK = 2_000
"""Rows evaluated at once: memory is BLOCK x number of points."""

PIVOT_TOLERANCE = 1e-12
"""A point is left out when it adds less than this to the kernel's variance (largest value 1)."""


def row_blocks(n: int) -> Iterator[slice]:
    """Slices of at most BLOCK rows covering 0..n-1."""
    for start in range(0, n, BLOCK):
        yield slice(start, min(start + BLOCK, n))


@dataclass(frozen=True, eq=False)
class Features:
    """The map x -> phi(x) = L^-1 k(P, x) for `points` P (r, d) and `factor` L (r, r)."""

    kernel: ArdKernel
    points: Array
    factor: Array

    def __call__(self, X: Array) -> Array:
        """phi at the rows of X: (n, r)."""
        K = self.kernel(self.points, X)
        return np.asarray(solve_triangular(self.factor, K, lower=True, check_finite=False).T)

    def expansion(self, beta: Array) -> Expansion:
        """The functions beta_c'phi, beta (r, q), as sums over the points."""
        coefficients = solve_triangular(self.factor, beta, lower=True, trans=1, check_finite=False)
        return Expansion(self.kernel, self.points, coefficients)


def pivoted_features(kernel: ArdKernel, X: Array) -> Features:
    """Features that reproduce k on the rows of X; the points are the pivots."""
    K = np.asfortranarray(kernel(X, X))
    largest = float(K.diagonal().max())
    L, pivots, rank, _ = dpstrf(K, tol=PIVOT_TOLERANCE * largest, lower=1, overwrite_a=1)
    keep = pivots[:rank] - 1
    return Features(kernel, X[keep], np.tril(L[:rank, :rank]))


@dataclass(frozen=True, eq=False)
class Expansion:
    """g_c(x) = sum_p coefficients[p, c] k(x, points[p]); no points at all is the zero function."""

    kernel: ArdKernel | None
    points: Array
    coefficients: Array

    @classmethod
    def zero(cls, d: int, q: int = 1) -> Expansion:
        return cls(None, np.zeros((0, d)), np.zeros((0, q)))

    def value(self, X: Array) -> Array:
        """(n, q)."""
        out = np.zeros((len(X), self.coefficients.shape[1]))
        if self.kernel is not None:
            for block in row_blocks(len(X)):
                out[block] = self.kernel(X[block], self.points) @ self.coefficients
        return out

    def gradient(self, X: Array) -> Array:
        """(q, n, d)."""
        out = np.zeros((self.coefficients.shape[1], *X.shape))
        if self.kernel is not None:
            for block in row_blocks(len(X)):
                for c, a in enumerate(self.coefficients.T):
                    out[c, block] = self.kernel.gradient(X[block], self.points, a)
        return out
