"""Distances between samples, as the kernel and the pair weights need them.

Up to a few thousand samples all distances are kept, (n, n). Beyond, two things take their place:
distances to a few landmarks, (n, r), from which the kernel's factor is built and bandwidths are
measured, and a graph of nearest neighbours for the pair weights.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from gradsift._run.memory import check_memory
from gradsift.numerics.distances import Products, products
from gradsift.numerics.kernels import Factor, Gaussian, Kernel, nystroem_factor
from gradsift.numerics.sampling import spread_along
from gradsift.pairwise.weights import (
    DENSE_ROWS,
    FEW_ROWS,
    AnyWeights,
    NearestNeighbors,
    pair_weights,
    sparse_weights,
)
from gradsift.protocols import Array, IntArray, Source

# Pairs of samples: which count, how much, and the two sums over them a field needs.


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


def make_pairs(W: Array | sparse.csr_array[Any]) -> Pairs:
    return SparsePairs(W) if sparse.issparse(W) else DensePairs(W)


LANDMARKS = 200
"""Samples that the kernel's factor is built on where there are more than `FEW_ROWS`."""
log = logging.getLogger("gradsift")


@dataclass(frozen=True)
class Geometry:
    """Products of the samples of a source.

    Attributes
    ----------
    landmarks : (r,) int array
    between : Products
        Of all samples with the landmarks, (n, r).
    among : Products or None
        Of all samples with each other, where they are kept.
    """

    source: Source
    landmarks: IntArray
    between: Products
    among: Products | None

    def resolve(self, kernel: Kernel, sample_weight: Array | None) -> Kernel:
        """The kernel with its bandwidth measured."""
        if not isinstance(kernel, Gaussian):
            return kernel
        n, p = self.source.shape
        sqdist, weight = self._sample(sample_weight)
        return kernel.resolve(sqdist, p, weight, n_samples=n)

    def factor(self, kernel: Kernel) -> Factor:
        """Factor of a resolved kernel."""
        K = np.asarray(kernel(self.between), dtype=float)
        if K.shape != self.between.inner.shape:
            raise ValueError(
                f"the kernel gives an array of shape {K.shape} from products of shape "
                f"{self.between.inner.shape}: a kernel keeps their shape."
            )
        return nystroem_factor(K, self.landmarks)

    def weights(
        self, rule: AnyWeights, n_labelled: int, sample_weight: Array | None
    ) -> Array | sparse.csr_array[Any]:
        """Pair weights among the first samples, those with a response."""
        if self.among is not None:
            sqdist = self.among.sqdist[:n_labelled, :n_labelled]
            return pair_weights(rule, sqdist, self.source.shape[1], sample_weight)
        assert isinstance(rule, NearestNeighbors)  # `keeps_all` said so
        return sparse_weights(rule, self.source, *self._sample(sample_weight))

    def _sample(self, sample_weight: Array | None) -> tuple[Array, Array | None]:
        """Distances that bandwidths are measured in, and the weights of those samples."""
        if self.among is not None:
            return self.among.sqdist, sample_weight
        weight = None if sample_weight is None else sample_weight[self.landmarks]
        return self.between.sqdist[self.landmarks], weight


def keeps_all(rule: AnyWeights, n_samples: int) -> bool:
    """Whether all n x n distances are kept."""
    return n_samples <= DENSE_ROWS or not isinstance(rule, NearestNeighbors)


def measure_geometry(source: Source, landmarks: IntArray, *, all_pairs: bool) -> Geometry:
    """Measure the samples of a source."""
    if not all_pairs:
        return Geometry(source, landmarks, products(source, landmarks), None)
    among = products(source)
    everyone = len(landmarks) == source.shape[0]
    return Geometry(source, landmarks, among if everyone else among.against(landmarks), among)


def choose_landmarks(count: int | None, order: IntArray) -> IntArray:
    """Rows to build the kernel's factor on, evenly spread along an ordering of the samples.

    None = all of them while the factor stays small.
    """
    n = len(order)
    if count is None:
        count = n if n <= FEW_ROWS else LANDMARKS
        if count < n:
            log.info("%d samples: the kernel's factor is built on %d landmarks", n, count)
    if not count >= 1:
        raise ValueError(f"Landmarks(count={count}): use a positive number, or None.")
    return spread_along(order, count)


def check_pairs(
    rule: AnyWeights, n_samples: int, n_landmarks: int, n_outputs: int, *, all_pairs: bool
) -> None:
    """Refuse what will not fit before any work is done."""
    if all_pairs:
        check_memory(
            8.0 * n_samples**2 * (6 + 4 * n_outputs),  # products, kernel, weights; steps
            f"the n x n arrays of pairs of {n_samples} samples",
            "Set weights=NearestNeighbors(k), which keeps near pairs only, fit on a sample of the "
            "rows, or use GradientSiftRegressor or GradientSiftClassifier, which need no pairs.",
        )
        return
    assert isinstance(rule, NearestNeighbors)
    per_sample = n_landmarks * (4 + 4 * n_outputs) + (rule.k + 1) * (4 + 6 * n_outputs)
    check_memory(
        8.0 * n_samples * per_sample,
        f"the factor and the neighbours of {n_samples} samples",
        "Use fewer Landmarks or a smaller k, or fit on a sample of the rows.",
    )
