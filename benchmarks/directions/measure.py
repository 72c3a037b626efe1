"""How often the number of directions is right: single- and multi-index designs, 20 seeds each.

PYTHONPATH=benchmarks python -m directions.measure            # 200 samples, 20 columns
PYTHONPATH=benchmarks python -m directions.measure --columns 200 --seeds 10
PYTHONPATH=benchmarks python -m directions.measure --first 1000            # other seeds
PYTHONPATH=benchmarks python -m directions.measure --first 1000 --fresh    # and other designs
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gradsift import GradientSiftRegressor, SparseGradientRegressor
from gradsift.exceptions import NothingSelectedWarning

NOISE = 0.2  # standard deviation, in units of that of the response
ENERGY = 0.95  # of the trace: the rule that held-out prediction took the place of


@dataclass(frozen=True)
class Design:
    """A function of three orthogonal indices, the first of which are used."""

    formula: str
    n_directions: int
    link: Callable[..., np.ndarray]


DESIGNS = (
    Design("tanh(2u)", 1, lambda u, v, w: np.tanh(2 * u)),
    Design("u + u²/2", 1, lambda u, v, w: u + u**2 / 2),
    Design("sin(2u)", 1, lambda u, v, w: np.sin(2 * u)),
    Design("u / (.5 + (v + 1.5)²)", 2, lambda u, v, w: u / (0.5 + (v + 1.5) ** 2)),
    Design("u + u v", 2, lambda u, v, w: u + u * v),
    Design("u + v²/2", 2, lambda u, v, w: u + v**2 / 2),
    Design("u v + w", 3, lambda u, v, w: u * v + w),
    Design("u + v²/2 + sin(1.5w)", 3, lambda u, v, w: u + v**2 / 2 + np.sin(1.5 * w)),
)

FRESH = (
    Design("exp(u)", 1, lambda u, v, w: np.exp(u)),
    Design("u > 0", 1, lambda u, v, w: (u > 0.0).astype(float)),
    Design("u v", 2, lambda u, v, w: u * v),
    Design("u² - v²", 2, lambda u, v, w: u**2 - v**2),
    Design("u + cos(1.5v)", 2, lambda u, v, w: u + np.cos(1.5 * v)),
    Design("u + tanh(2v) + abs(w)", 3, lambda u, v, w: u + np.tanh(2 * v) + np.abs(w)),
)
"""Written after the rule that counts directions."""


def draw(design: Design, n: int, p: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Normal columns; u, v and w are sums of 3, 2 and 2 of them, of unit variance."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    indices = [X[:, k].sum(axis=1) / np.sqrt(len(k)) for k in ([0, 1, 2], [3, 4], [5, 6])]
    y = design.link(*indices)
    return X, y / y.std() + NOISE * rng.normal(size=n)


def by_trace(eigenvalues: np.ndarray) -> int:
    """The fewest directions with 95 % of the trace."""
    return int(np.searchsorted(np.cumsum(eigenvalues), ENERGY * eigenvalues.sum()) + 1)


def measure(designs: tuple[Design, ...], n: int, p: int, seeds: range) -> None:
    """Print how often each rule is right."""
    print(
        "| response | directions | `SparseGradientRegressor` | the same, 95 % of the trace |",
        end="",
    )
    print(" `GradientSiftRegressor` |\n| --- | --- | --- | --- | --- |")
    for design in designs:
        right = np.zeros(3)
        for seed in seeds:
            X, y = draw(design, n, p, seed)
            sparse = SparseGradientRegressor().fit(X, y)
            sift = GradientSiftRegressor(predict_with="selected").fit(X, y)
            found = (sparse.n_components_, by_trace(sparse.eigenvalues_), sift.n_components_)
            right += np.array(found) == design.n_directions
        share = " | ".join(f"{100 * part:.0f} %" for part in right / len(seeds))
        print(f"| {design.formula} | {design.n_directions} | {share} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--fresh", action="store_true", help="designs written after the rule")
    asked = parser.parse_args()
    warnings.simplefilter("ignore", NothingSelectedWarning)
    seeds = range(asked.first, asked.first + asked.seeds)
    measure(FRESH if asked.fresh else DESIGNS, asked.samples, asked.columns, seeds)
