"""Pairs of samples: which count, how much, and the two sums over them a field needs."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from scipy import sparse

from gradsift._typing import Array, IntArray


class Pairs(Protocol):
    """Which pairs (i, j) count, and how much; two storages, one meaning."""

    weight: Array

    def differences(self, L: Array, U: Array) -> Array:
        """L_i . (U_cj - U_ci) for every pair; U is (n, c, m)."""
        ...

    def collect(self, S: Array, L: Array) -> tuple[Array, Array]:
        """What `differences` is the transpose of, and sums along each sample's pairs.

        (sum_i S_cij L_i - sum_j' S_cjj' L_j for every j, shaped (n, c, m); sum_j S_cij, shaped
        (c, n)). S is overwritten.
        """
        ...

    def near_sums(self, S: Array) -> Array:
        """sum_j S_cij, shaped (c, n)."""
        ...

    def scatter(self, s: Array, X: Array) -> Array:
        """sum_ij s_ij (x_j - x_i)(x_j - x_i)', shaped (w, w), for the rows x of X (n, w)."""
        ...

    def at_near(self, a: Array) -> Array:
        """a_ci for every pair (i, j), broadcastable to the pair predictions; a is (c, n)."""
        ...

    def at_far(self, a: Array) -> Array:
        """a_cj for every pair (i, j)."""
        ...


class DensePairs:
    """All n x n pairs."""

    def __init__(self, weight: Array) -> None:
        self.weight = weight

    def differences(self, L: Array, U: Array) -> Array:
        E = np.matmul(L, U.transpose(1, 2, 0))
        E -= diagonals(E)[:, :, None].copy()
        return E

    def collect(self, S: Array, L: Array) -> tuple[Array, Array]:
        out = self.near_sums(S)
        diagonals(S)[...] -= out
        return np.matmul(S.transpose(0, 2, 1), L).transpose(1, 0, 2), out

    def near_sums(self, S: Array) -> Array:
        return S.sum(axis=2)

    def scatter(self, s: Array, X: Array) -> Array:
        return scatter(s, X)

    def at_near(self, a: Array) -> Array:
        return a[:, :, None]

    def at_far(self, a: Array) -> Array:
        return a[:, None, :]


class SparsePairs:
    """Pairs of a neighbourhood graph, in the order of its CSR matrix."""

    _CHUNK = 1 << 22  # numbers gathered at a time: bounds the temporary arrays, not the problem

    def __init__(self, graph: sparse.csr_array[Any]) -> None:
        self.weight = graph.data
        self.n = graph.shape[0]
        self.indptr, self.far = graph.indptr, graph.indices
        self.near: IntArray = np.repeat(np.arange(self.n), np.diff(graph.indptr))

    def differences(self, L: Array, U: Array) -> Array:
        E = -np.einsum("nm,ncm->cn", L, U)[:, self.near]
        width = max(1, self._CHUNK // (U.shape[1] * U.shape[2]))
        for a in range(0, len(self.near), width):
            s = slice(a, a + width)
            E[:, s] += np.einsum("km,kcm->ck", L[self.near[s]], U[self.far[s]])
        return E

    def collect(self, S: Array, L: Array) -> tuple[Array, Array]:
        graphs, out = self._graphs(S), self.near_sums(S)
        return np.stack([g.T @ L - o[:, None] * L for g, o in zip(graphs, out)], axis=1), out

    def near_sums(self, S: Array) -> Array:
        return np.stack([g.sum(axis=1) for g in self._graphs(S)])

    def scatter(self, s: Array, X: Array) -> Array:
        return scatter(self._graphs(s[None])[0], X)

    def _graphs(self, S: Array) -> list[sparse.csr_array[Any]]:
        shape = (self.n, self.n)
        return [sparse.csr_array((s, self.far, self.indptr), shape=shape) for s in S]

    def at_near(self, a: Array) -> Array:
        return a[:, self.near]

    def at_far(self, a: Array) -> Array:
        return a[:, self.far]


def diagonals(S: Array) -> Array:
    """A view of the diagonals of square matrices (c, n, n), each stored in one piece."""
    c, n = S.shape[:2]
    return S.reshape(c, n * n)[:, :: n + 1]


def scatter(S: Array | sparse.csr_array[Any], X: Array) -> Array:
    """X' (D - S - S') X, where D holds the sums of both sides."""
    met = np.asarray(S.sum(axis=0)).ravel() + np.asarray(S.sum(axis=1)).ravel()
    crossed = X.T @ (S @ X)
    return np.asarray(X.T @ (met[:, None] * X) - crossed - crossed.T)


def make_pairs(W: Array | sparse.csr_array[Any]) -> DensePairs | SparsePairs:
    return SparsePairs(W) if sparse.issparse(W) else DensePairs(W)
