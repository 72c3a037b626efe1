"""How the samples lie to each other, as far as kernel and weights ask.

Up to a few thousand samples all distances are kept, (n, n). Beyond, two things take their place:
distances to a few landmarks, (n, r), from which the kernel's factor is built and bandwidths are
measured, and a graph of nearest neighbours for the pair weights.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from gradsift._run.memory import check_memory
from gradsift._typing import Array, IntArray, Source
from gradsift.data import take_rows
from gradsift.numerics.distances import Products, products
from gradsift.numerics.factors import Factor, nystroem_factor
from gradsift.numerics.kernels import AnyKernel, Gaussian, training_kernel
from gradsift.numerics.sampling import spread_along
from gradsift.pairwise.weights import (
    DENSE_ROWS,
    AnyWeights,
    NearestNeighbors,
    check_anchors,
    pair_weights,
    sparse_weights,
)

EXACT_ROWS = 1_000
LANDMARKS = 200
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

    def resolve(self, kernel: AnyKernel, sample_weight: Array | None) -> AnyKernel:
        """The kernel with its bandwidth measured."""
        if not isinstance(kernel, Gaussian):
            return kernel
        n, p = self.source.shape
        sqdist, weight = self._sample(sample_weight)
        return kernel.resolve(sqdist, p, weight, n_samples=n)

    def factor(self, kernel: AnyKernel) -> tuple[Factor, Array]:
        """Factor of a resolved kernel, and the kernel values (n, r) it comes from."""
        everyone = len(self.landmarks) == self.source.shape[0]
        K = training_kernel(kernel, self.source, self.between, None if everyone else self.landmarks)
        return nystroem_factor(K, self.landmarks), K

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


@dataclass(frozen=True)
class AnchoredPairs:
    """Some samples of a table, and the pairs among them: no other sample is in any pair.

    Attributes
    ----------
    rows : (r,) int array
        The anchors and their neighbours, ascending.
    landmarks : int array
        Places of the landmarks in `rows`; they are anchors.
    weights : (r, r) CSR array
    """

    rows: IntArray
    landmarks: IntArray
    weights: sparse.csr_array[Any]


def uses_anchored_pairs(rule: AnyWeights, n_samples: int) -> bool:
    """Whether pairs of anchors leave most samples out."""
    if keeps_all(rule, n_samples) or not isinstance(rule, NearestNeighbors):
        return False
    return rule.anchors is not None and rule.anchors * (rule.k + 1) < n_samples


def anchored_pairs(
    source: Source,
    rule: NearestNeighbors,
    count: int | None,
    order: IntArray,
    sample_weight: Array | None,
) -> AnchoredPairs:
    """The samples that pairs of the anchors are made of; `count` landmarks along `order`."""
    n = source.shape[0]
    anchors = check_anchors(rule, n)
    landmarks = choose_landmarks(count, order[np.isin(order, anchors)])
    among = products(take_rows(source, landmarks)).sqdist
    weight = None if sample_weight is None else sample_weight[landmarks]
    W = sparse_weights(rule, source, among, weight)
    rows = np.union1d(anchors, W.indices)
    log.info("%d of %d samples are in a pair", len(rows), n)
    return AnchoredPairs(rows, np.searchsorted(rows, landmarks), sparse.csr_array(W[rows][:, rows]))


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
        count = n if n <= EXACT_ROWS else LANDMARKS
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
        "Use fewer Landmarks or a smaller k, look around some samples only "
        "(weights=NearestNeighbors(k, anchors=5000)), or fit on a sample of the rows.",
    )
