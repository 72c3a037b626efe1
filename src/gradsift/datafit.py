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

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from gradsift._typing import Array, IntArray
from gradsift.loss import Loss


class Pairs(Protocol):
    """Which pairs (i, j) count, and how much; two storages, one meaning."""

    weight: Array

    def differences(self, L: Array, U: Array, shift: Array) -> Array:
        """shift_ci + L_i . U_cj for every pair; U is (n, c, m), shift (c, n)."""
        ...

    def collect(self, S: Array, L: Array) -> tuple[Array, Array]:
        """(sum_i S_cij L_i for every j, shaped (n, c, m); sum_j S_cij, shaped (c, n))."""
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

    def differences(self, L: Array, U: Array, shift: Array) -> Array:
        E = np.matmul(L, U.transpose(1, 2, 0))
        E += shift[:, :, None]
        return E

    def collect(self, S: Array, L: Array) -> tuple[Array, Array]:
        return np.matmul(S.transpose(0, 2, 1), L).transpose(1, 0, 2), S.sum(axis=2)

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

    def differences(self, L: Array, U: Array, shift: Array) -> Array:
        E = shift[:, self.near]
        width = max(1, self._CHUNK // (U.shape[1] * U.shape[2]))
        for a in range(0, len(self.near), width):
            s = slice(a, a + width)
            E[:, s] += np.einsum("km,kcm->ck", L[self.near[s]], U[self.far[s]])
        return E

    def collect(self, S: Array, L: Array) -> tuple[Array, Array]:
        shape = (self.n, self.n)
        graphs = [sparse.csr_array((s, self.far, self.indptr), shape=shape) for s in S]
        out = np.stack([g.T @ L for g in graphs], axis=1)
        return out, np.stack([g.sum(axis=1) for g in graphs])

    def at_near(self, a: Array) -> Array:
        return a[:, self.near]

    def at_far(self, a: Array) -> Array:
        return a[:, self.far]


def make_pairs(W: Array | sparse.csr_array[Any]) -> DensePairs | SparsePairs:
    return SparsePairs(W) if sparse.issparse(W) else DensePairs(W)


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
    """

    pairs: DensePairs | SparsePairs
    L: Array
    loss: Loss
    target: Array
    n_outputs: int = 1
    offset_penalty: float | None = None

    @property
    def n_tasks(self) -> int:
        return self.n_outputs * self.L.shape[1]

    def start(self) -> Array:
        m = self.L.shape[1]
        return np.zeros((0 if self.offset_penalty is None else m, self.n_outputs))

    def predict(self, U: Array, v: Array) -> Array:
        U = U.reshape(len(U), self.n_outputs, -1)
        shift = -np.einsum("nm,ncm->cn", self.L, U)
        if len(v):
            shift += (self.L @ v).T
        return self.pairs.differences(self.L, U, shift)

    def value(self, E: Array, v: Array) -> float:
        total = np.vdot(self.pairs.weight, self.loss.value(E, self.target))
        return float(total + self._ridge * np.vdot(v, v))

    def gradient(self, E: Array, v: Array) -> tuple[Array, Array]:
        M, pull = self._pull_back(E, v)
        return M, pull + 2.0 * self._ridge * v

    def _pull_back(self, E: Array, v: Array) -> tuple[Array, Array]:
        """Gradients of the loss alone in U and in v."""
        S = self.pairs.weight * self.loss.slope(E, self.target)
        collected, out = self.pairs.collect(S, self.L)
        M = (collected - out.T[:, :, None] * self.L[:, None, :]).reshape(len(self.L), -1)
        return M, (self.L.T @ out.T if len(v) else np.zeros_like(v))

    def curvature(self, E: Array, dE: Array, dv: Array) -> float:
        form = np.vdot(self.pairs.weight, self.loss.curvature(E, dE))
        return float(form + 2.0 * self._ridge * np.vdot(dv, dv))

    def dual_value(self, E: Array, v: Array, shrink: float) -> float:
        g = shrink * self.loss.slope(E, self.target)
        value = -float(np.vdot(self.pairs.weight, self.loss.conjugate(g, self.target)))
        if len(v):  # the offset's ridge: min_v <pull, v> + ridge ||v||^2
            pull = shrink * self._pull_back(E, v)[1]
            value -= float(np.vdot(pull, pull)) / (4.0 * self._ridge)
        return value

    @property
    def _ridge(self) -> float:
        return 0.0 if self.offset_penalty is None else self.offset_penalty
