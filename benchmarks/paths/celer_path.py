"""celer's multi-task lasso at the same size: n tasks, as the field has n (or m) coordinates.

Its cost hangs on the responses, that is on how many variables its answers have. Two are measured:
X B with B our own answer at the end of the path, whose answers have about as many variables as
ours; and y L (the rows of the kernel's factor with the sign of y), which p noise columns fit well:
2,000 variables at the end.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from paths.problems import Array
from worker import Worker

GAP = 1e-4  # duality gap over the objective at zero, as in our certificates


@dataclass(frozen=True)
class CelerRun:
    """What it finished in time: seconds and relative gap of each alpha, variables at the last."""

    seconds: list[float]
    gaps: list[float]
    n_variables: int


def celer_path(X: Array, Y: Array, limit: float, n_alphas: int = 50, eps: float = 0.1) -> CelerRun:
    """As many alphas as it finishes in `limit` seconds, each started at the answer before.

    In a process of its own, because a solve cannot be interrupted.
    """
    found: list[tuple[float, float, int]] = []
    with Worker(_solve_path, X, Y, n_alphas, eps) as worker:
        worker.next()  # imported and set up
        end = time.perf_counter() + limit
        while len(found) < n_alphas and (item := worker.next(end - time.perf_counter())):
            found.append(item)
    return CelerRun([f[0] for f in found], [f[1] for f in found], found[-1][2])


def _solve_path(
    X: Array, Y: Array, n_alphas: int, eps: float
) -> Iterator[tuple[float, float, int] | None]:
    """celer's `mtl_path`, but without its (p, tasks, alphas) array: 1.6 GB, twice, at n = 200.

    celer stops at a gap of tol ||Y||^2 / n, and the objective at zero is ||Y||^2 / 2n. Without
    pruning: as fast or faster in everything tried here.
    """
    from celer.multitask_fast import celer_mtl

    X, Y = np.asfortranarray(X), np.asfortranarray(Y)
    n = len(X)
    lengths, at_zero = np.linalg.norm(X, axis=0), np.linalg.norm(Y) ** 2 / (2 * n)
    alphas = np.linalg.norm(X.T @ Y, axis=1).max() / n * np.geomspace(1.0, eps, n_alphas)
    W = np.zeros((X.shape[1], Y.shape[1]), X.dtype)
    R, theta = Y.copy(order="F"), np.zeros_like(Y, order="F")
    yield None
    for alpha in alphas:
        start = time.perf_counter()
        W, theta, gap = celer_mtl(
            X,
            Y,
            alpha,
            W,
            R,
            np.asfortranarray(theta),
            lengths,
            max_iter=100,
            max_epochs=50_000,
            p0=max(10, int(W.any(axis=1).sum())),
            tol=GAP / 2,
            prune=False,
        )
        took = time.perf_counter() - start
        yield took, float(gap / at_zero), int(W.any(axis=1).sum())
