"""How often the warning of rows that depend on their neighbours is given.

    python -m rows.order                # 1,000 tables of each kind
    python -m rows.order --seeds 200

Run from `benchmarks/` with the package installed. It should hardly ever be given where the order of
the rows means nothing, or comes from sorting them by the response; and nearly always for a series.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np

from gradsift.estimators.serial_dependence import N_CLASSES, row_order
from gradsift.numerics.statistics import rank_classes

Table = tuple[np.ndarray, np.ndarray]
Maker = Callable[[np.random.Generator], Table]


def series(rng: np.random.Generator, n: int, p: int, rho: float) -> np.ndarray:
    """Columns that follow themselves with autocorrelation rho."""
    X = rng.normal(size=(n, p))
    for t in range(1, n):
        X[t] = rho * X[t - 1] + np.sqrt(1 - rho * rho) * X[t]
    return X


def shuffled(rng: np.random.Generator, n: int = 200, p: int = 50, shared: float = 0.0) -> Table:
    common = rng.normal(size=(n, 1))
    X = np.sqrt(shared) * common + np.sqrt(1 - shared) * rng.normal(size=(n, p))
    return X, X[:, :3].sum(axis=1) + rng.normal(size=n)


def sorted_by_response(rng: np.random.Generator) -> Table:
    X, y = shuffled(rng, shared=0.5)
    order = np.argsort(y)
    return X[order], y[order]


def sorted_by_column(rng: np.random.Generator) -> Table:
    X, y = shuffled(rng)
    order = np.argsort(X[:, 0])
    return X[order], y[order]


def sorted_by_class(rng: np.random.Generator) -> Table:
    """Two classes one after the other; half of the columns differ between them."""
    y = np.repeat([0.0, 1.0], 100)
    return rng.normal(size=(200, 50)) + y[:, None] * (np.arange(50) < 25), y


def in_time(rng: np.random.Generator, rho: float) -> Table:
    X = series(rng, 200, 51, rho)
    return X[:, :50], X[:, 50]


KINDS: dict[str, Maker] = {
    "shuffled rows": shuffled,
    "shuffled rows, 40 of them": lambda rng: shuffled(rng, n=40, p=500),
    "shuffled rows, 4 columns": lambda rng: shuffled(rng, p=4),
    "shuffled rows, columns alike (.95)": lambda rng: shuffled(rng, shared=0.95),
    "shuffled rows, 3,000 of them": lambda rng: shuffled(rng, n=3000, p=20),
    "sorted by the response": sorted_by_response,
    "sorted by class": sorted_by_class,
    "sorted by a column that acts": sorted_by_column,
    "a series, autocorrelation .3": lambda rng: in_time(rng, 0.3),
    "a series, autocorrelation .5": lambda rng: in_time(rng, 0.5),
    "a series, autocorrelation .8": lambda rng: in_time(rng, 0.8),
}


def warned(X: np.ndarray, y: np.ndarray) -> bool:
    """Whether a fit on nothing, and one on the first column, would warn; the worse of both."""
    labels = len(np.unique(y)) == 2
    classes = y.astype(int) if labels else rank_classes(y, min(N_CLASSES, len(y) // 10))
    left = [y - y.mean(), y - np.polyval(np.polyfit(X[:, 0], y, 1), X[:, 0])]
    return any(row_order(X, r[:, None], classes).dependent for r in left)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=1000)
    seeds = parser.parse_args().seeds
    print(f"How often the warning is given, {seeds} tables each")
    print("| rows | warned |\n|---|---|")
    for name, make in KINDS.items():
        share = np.mean([warned(*make(np.random.default_rng(s))) for s in range(seeds)])
        print(f"| {name} | {share:.1%} |", flush=True)
