"""Tables whose truth is known, on which discoveries are counted: simulated columns, and effects
planted in columns of real data sets.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from designs.data_sets import DATA, real_columns
from designs.selection import DESIGNS as SELECTION_DESIGNS
from designs.selection import Maker, _ar
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Planted:
    """A table, its response, and the columns that act; `n_classes` is zero for numbers."""

    X: Array
    y: Array
    true: list[int]
    n_classes: int = 0


def unit(f: Array) -> Array:
    return np.asarray((f - f.mean()) / f.std())


def with_noise(rng: np.random.Generator, f: Array, r2: float) -> Array:
    """The signal f with noise that leaves a share r2 of the variance to it."""
    return np.asarray(np.sqrt(r2) * unit(f) + np.sqrt(1 - r2) * rng.normal(size=len(f)))


def mixed(Z: Array) -> Array:
    """Two straight effects, a bowl and a wave, in the four columns of Z."""
    wave = np.sin(2 * Z[:, 3])
    return unit(Z[:, 0]) + unit(Z[:, 1]) + unit(np.clip(Z[:, 2], -3, 3) ** 2) + unit(wave)


def noise(rng: np.random.Generator) -> Planted:
    return Planted(rng.normal(size=(100, 200)), rng.normal(size=100), [])


def wide_noise(rng: np.random.Generator) -> Planted:
    return Planted(rng.normal(size=(60, 1000)), rng.normal(size=60), [])


def heavy_noise(rng: np.random.Generator) -> Planted:
    return Planted(rng.lognormal(size=(60, 500)), rng.standard_t(2, size=60), [])


def label_noise(rng: np.random.Generator) -> Planted:
    y = rng.permutation(np.repeat([0.0, 1.0], [20, 40]))
    return Planted(rng.normal(size=(60, 500)), y, [], 2)


def additive(rng: np.random.Generator) -> Planted:
    X = rng.normal(size=(120, 300))
    f = mixed(X[:, :4]) + unit(X[:, 4]) + unit(X[:, 5] ** 2)
    return Planted(X, with_noise(rng, f, 0.75), [0, 1, 2, 3, 4, 5])


def weak(rng: np.random.Generator) -> Planted:
    X = rng.normal(size=(200, 300))
    f = X[:, :10] @ np.linspace(1.0, 0.3, 10)
    return Planted(X, with_noise(rng, f, 0.6), list(range(10)))


def products(rng: np.random.Generator) -> Planted:
    X = rng.normal(size=(200, 200))
    f = X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3] + X[:, 4]
    return Planted(X, with_noise(rng, f, 0.6), [0, 1, 2, 3, 4])


def neighbours(rng: np.random.Generator) -> Planted:
    X = _ar(rng, 100, 200, 0.9)
    true = [10, 50, 90, 130]
    return Planted(X, with_noise(rng, mixed(X[:, true]), 0.8), true)


def blocks(rng: np.random.Generator) -> Planted:
    shared = np.repeat(rng.normal(size=(100, 40)), 5, axis=1)
    X = np.sqrt(0.95) * shared + np.sqrt(0.05) * rng.normal(size=(100, 200))
    true = [0, 5, 10, 15]
    return Planted(X, with_noise(rng, X[:, true].sum(1), 0.85), true)


def labels(rng: np.random.Generator) -> Planted:
    X = _ar(rng, 150, 200, 0.5)
    true = [10, 60, 110, 160]
    score = 2.4 * X[:, true] @ np.array([1, -1, 1, -1])
    return Planted(X, (score + rng.logistic(size=150) > 0).astype(float), true, 2)


def three_classes(rng: np.random.Generator) -> Planted:
    X = _ar(rng, 200, 200, 0.5)
    true = [10, 60, 110]
    y = (2 * X[:, true] + rng.gumbel(size=(200, 3))).argmax(axis=1)
    return Planted(X, y.astype(float), true, 3)


def rare_cases(rng: np.random.Generator) -> Planted:
    X = rng.normal(size=(300, 200))
    score = 2 * X[:, 0] + 2 * X[:, 1] - 4.5
    return Planted(X, (score + rng.logistic(size=300) > 0).astype(float), [0, 1], 2)


@cache
def columns_of(name: str) -> Array:
    """Columns of a real data set, on the scale they are analysed on."""
    return real_columns(name)[0]


def in_real_columns(name: str, kind: str) -> Callable[[np.random.Generator], Planted]:
    """Four effects (25 for 'dense') in 500 random columns of a real table."""

    def make(rng: np.random.Generator) -> Planted:
        whole = columns_of(name)
        X = whole[:, rng.choice(whole.shape[1], 500, replace=False)]
        Z = (X - X.mean(0)) / np.maximum(X.std(0), 1e-9)
        true = rng.choice(500, 25 if kind == "dense" else 4, replace=False)
        signs = rng.choice([-1.0, 1.0], len(true))
        if kind == "dense":
            y = with_noise(rng, Z[:, true] @ rng.normal(size=25), 0.7)
        elif kind == "curved":
            y = with_noise(rng, mixed(Z[:, true]), 0.85)
        elif kind == "labels":
            score = 4 * unit(Z[:, true] @ signs)
            y = (score + rng.logistic(size=len(X)) > 0).astype(float)
        else:
            y = with_noise(rng, Z[:, true] @ signs, 0.85)
        return Planted(X, y, true.tolist(), 2 if kind == "labels" else 0)

    return make


def of_selection(make: Maker) -> Callable[[np.random.Generator], Planted]:
    """A design on which selections are measured (selection/designs.py)."""

    def drawn(rng: np.random.Generator) -> Planted:
        case = make(int(rng.integers(2**31)))
        n_classes = 2 if case.task == "classification" else 0
        return Planted(case.X, case.y, case.support.tolist(), n_classes)

    return drawn


DESIGNS: dict[str, Callable[[np.random.Generator], Planted]] = {
    "noise 100 x 200": noise,
    "noise 60 x 1,000": wide_noise,
    "lognormal noise, t2 response": heavy_noise,
    "noise, labels 20:40": label_noise,
    "additive, 6 of 300": additive,
    "weak, 10 of 300": weak,
    "products, 5 of 200": products,
    "AR(.9), 4 of 200": neighbours,
    "blocks of 5, 4 of 200": blocks,
    "labels, 4 of 200": labels,
    "three classes, 3 of 200": three_classes,
    "rare cases, 2 of 200": rare_cases,
}
if DATA.exists():
    DESIGNS |= {
        f"{name} columns, {kind}": in_real_columns(name, kind)
        for name, kind in (
            ("colon", "straight"),
            ("colon", "curved"),
            ("colon", "labels"),
            ("riboflavin", "straight"),
            ("riboflavin", "curved"),
            ("riboflavin", "dense"),
            ("leukemia", "straight"),
        )
    }
DESIGNS |= {
    f"selection: {name}": of_selection(make)
    for name, make in SELECTION_DESIGNS.items()
    if not name.startswith("noise")
}
