"""`gradsift bench`: speed as ratios, with the quality of the answer beside it, in two minutes."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LassoCV

from gradsift import GradientSiftRegressor, gradient_path
from gradsift.protocols import Array, IntArray

console = Console(highlight=False)
N_ALPHAS = 50


class Ranked(NamedTuple):
    """What a contestant took, and its ranking of the columns."""

    seconds: float
    order: IntArray


def run() -> None:
    """Paths against the floor, then GradientSift beside what a user might pick instead."""
    threads = os.environ.get("OMP_NUM_THREADS", str(os.cpu_count()))
    console.print(f"{os.cpu_count()} cores, {threads} threads\n")
    paths()
    console.print()
    rivals("200 rows, 1,000 columns", 200, 1_000, ["GradientSift", "random forest, 500 trees"])
    console.print()
    rivals("100 rows, 20,000 columns", 100, 20_000, ["GradientSift", "LassoCV, 5 folds"])


def paths() -> None:
    """Certified paths in units of one product X'M."""
    table = Table("path of 50 alphas", "loss", "one X'M", "seconds", "X'M per alpha", "largest gap")
    for n, p in ((72, 7_129), (200, 20_000)):
        X, y = surface(n, p)
        unit = floor(X)
        for task, loss in (("regression", "squared"), ("classification", "logistic")):
            start = perf_counter()
            path = gradient_path(X, y, task=task, kernel="gaussian", n_alphas=N_ALPHAS, eps=0.1)  # type: ignore[arg-type]
            seconds = perf_counter() - start
            table.add_row(
                f"n={n}, p={p:,}", loss, f"{1e3 * unit:.2f} ms", f"{seconds:.2f}",
                f"{seconds / N_ALPHAS / unit:.1f}", f"{path.dual_gaps.max():.0e}",
            )  # fmt: skip
    console.print(table)


def surface(n: int, p: int) -> tuple[Array, Array]:
    """The sign of a surface in four of p standard normal columns."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    height = X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * X[:, 3] ** 2 - 0.5
    return X, np.sign(height + 0.3 * rng.normal(size=n))


def floor(X: Array, repeats: int = 15) -> float:
    """Fastest of some products X'M, M (n, n)."""
    M = np.random.default_rng(1).normal(size=(len(X), len(X)))
    times = []
    for _ in range(repeats):
        start = perf_counter()
        X.T @ M
        times.append(perf_counter() - start)
    return min(times)


def curved(n: int, p: int) -> tuple[Array, Array, IntArray]:
    """A square, a sine, a product and a line in five of p columns."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    y = X[:, 0] ** 2 + 2 * np.sin(2 * X[:, 1]) + X[:, 2] * X[:, 3] + X[:, 4]
    return X, y + 0.3 * rng.normal(size=n), np.arange(5)


def sift(X: Array, y: Array) -> IntArray:
    return np.argsort(GradientSiftRegressor().fit(X, y).ranking_)


def forest(X: Array, y: Array) -> IntArray:
    model = RandomForestRegressor(500, random_state=0, n_jobs=-1).fit(X, y)
    return np.argsort(-model.feature_importances_)


def lasso(X: Array, y: Array) -> IntArray:
    return np.argsort(-np.abs(LassoCV(cv=5, n_jobs=-1, max_iter=5_000).fit(X, y).coef_))


CONTESTANTS: dict[str, Callable[[Array, Array], IntArray]] = {
    "GradientSift": sift,
    "random forest, 500 trees": forest,
    "LassoCV, 5 folds": lasso,
}


def timed(contestant: str, X: Array, y: Array) -> Ranked:
    start = perf_counter()
    order = CONTESTANTS[contestant](X, y)
    return Ranked(perf_counter() - start, order)


def rivals(title: str, n: int, p: int, names: Sequence[str]) -> None:
    """Times side by side, and how many of the five planted columns are among the five best."""
    X, y, planted = curved(n, p)
    sift(X[:50, :20], y[:50])  # imports and threads are nobody's time
    table = Table(title, "seconds", "ratio", "planted among the 5 best")
    results: dict[str, Any] = {name: timed(name, X, y) for name in names}
    first = results[names[0]].seconds
    for name, found in results.items():
        hits = len(np.intersect1d(found.order[: len(planted)], planted))
        table.add_row(name, f"{found.seconds:.1f}", f"{found.seconds / first:.1f}", f"{hits} of 5")
    console.print(table)
