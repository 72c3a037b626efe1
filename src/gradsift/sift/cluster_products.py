"""The product screen where rows belong together.

With the residual r of mapped rows (`clusters`) and f = x_k x_l,

    z_kl^2 = (sum_i r_i (W f)_i)^2 / (v ||W f||^2),

v being the design effect of the product: the sum of squares of the scores of clusters over
||W f||^2, shrunk towards its mean over the pairs that are looked at together (`design_effects`).
W is its own adjoint, so that W r meets f itself. Sums over clusters are one small matrix product
for each, done for all clusters of equal length at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from gradsift._typing import Array
from gradsift.sift.clusters import Clusters
from gradsift.sift.columns import Single

Statistic = Callable[[Single], Callable[[Single], Single]]
"""Of columns A (n, a), then of columns B (n, b): squares (a, b)."""

MOST_SUMS = 4_000_000
"""Sums over clusters made at a time (16 MB)."""
LEAST_PART = 1e-3
"""Part of the rows that a product of columns counts as at least."""


def cluster_products(R: Array, clusters: Clusters) -> Statistic:
    """z_kl^2 against residuals R (n, q) of mapped rows, not scaled, summed over responses."""
    weight = clusters.weight.astype(np.float32)[:, None]
    levers = (clusters.mapped(R.T) * clusters.weight).astype(np.float32)
    theta = clusters.theta
    shared = ((2.0 * theta - theta**2) / clusters.size).astype(np.float32)
    count, total = len(clusters.size), float(clusters.size.sum())

    def of(A: Single) -> Callable[[Single], Single]:
        def against(B: Single) -> Single:
            length = (A * A * weight).T @ (B * B)
            for at, F in cluster_sums(A * weight, B, clusters):
                length -= np.einsum("g,gab->ab", shared[at], np.square(F, out=F))
            np.maximum(length, LEAST_PART * total, out=length)
            z = np.zeros_like(length)
            for lever in levers:
                top, second, fourth = np.zeros((3, *length.shape), dtype=np.float32)
                for _, S in cluster_sums(A * lever[:, None], B, clusters):
                    top += S.sum(axis=0)
                    np.square(S, out=S)
                    second += S.sum(axis=0)
                    fourth += np.square(S, out=S).sum(axis=0)
                spread = np.maximum(fourth - second**2 / count, 0.0) / length**2
                z += top**2 / (length * shrunk_effects(second / length, spread))
            return z

        return against

    return of


def shrunk_effects(v: Single, variance: Single) -> Single:
    """Design effects, at least 1, shrunk towards their mean by their own sampling variance."""
    mean = max(float(v.mean()), 1.0)
    beyond = max(float(v.var() - variance.mean()), 0.0)
    own = np.float32(beyond) / (np.float32(beyond) + variance + np.float32(1e-12))
    return np.asarray(np.maximum(mean + own * (v - mean), 1.0), dtype=np.float32)


def cluster_sums(A: Single, B: Single, clusters: Clusters) -> Iterator[tuple[slice, Single]]:
    """Sums of a_i b_i over the rows of clusters, some at a time: (which clusters, (g, a, b))."""
    a, b = A.shape[1], B.shape[1]
    done, most = 0, max(1, MOST_SUMS // (a * b))
    for rows, count, length in clusters.runs:
        A3 = A[rows].reshape(count, length, a).transpose(0, 2, 1)
        B3 = B[rows].reshape(count, length, b)
        for start in range(0, count, most):
            some = slice(start, min(start + most, count))
            yield slice(done + some.start, done + some.stop), A3[some] @ B3[some]
        done += count
