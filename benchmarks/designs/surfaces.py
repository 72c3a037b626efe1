"""Functions with known gradients, of numbers and of log odds.

Numbers: X standard normal (Friedman: uniform, unit variance), signal scaled to unit variance, noise
sd 0.3. `name+k`: k irrelevant columns among the selected ones. Labels: log odds, X standard normal;
a name that ends in i is shifted down until 10 % of the labels are positive.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import expit

Array = Any
Design = tuple[int, int, Callable[[Array], tuple[Array, Array]]]  # d, rank, X -> f, grad f
SCALE_ROWS = 20_000


def unit(*entries: float) -> Array:
    v = np.array(entries, float)
    return v / np.linalg.norm(v)


def _sin1(X: Array) -> tuple[Array, Array]:
    return np.sin(2 * X[:, 0]), 2 * np.cos(2 * X[:, :1])


def _lin3(X: Array) -> tuple[Array, Array]:
    b = np.array([1.0, -0.7, 0.5])
    return X @ b, np.tile(b, (len(X), 1))


def _sidx5(X: Array) -> tuple[Array, Array]:
    b = unit(1, -1, 1, 1, -1)
    u = X @ b
    return np.sin(1.5 * u), 1.5 * np.cos(1.5 * u)[:, None] * b


def _two(b1: Array, b2: Array) -> Callable[[Array], tuple[Array, Array]]:
    def f(X: Array) -> tuple[Array, Array]:
        u, e = X @ b1, np.exp(X @ b2) / 2
        return u**2 + e, 2 * u[:, None] * b1 + e[:, None] * b2

    return f


def _int4(X: Array) -> tuple[Array, Array]:
    a, b, c, d = X.T
    return a * b + c * d, np.stack([b, a, d, c], 1)


def _fri5(X: Array) -> tuple[Array, Array]:
    """Friedman 1 on columns of unit variance; u = 1/2 + x / sqrt(12) is uniform on (0, 1)."""
    u = 0.5 + X / np.sqrt(12)
    f = (
        10 * np.sin(np.pi * u[:, 0] * u[:, 1])
        + 20 * (u[:, 2] - 0.5) ** 2
        + 10 * u[:, 3]
        + 5 * u[:, 4]
    )
    c = 10 * np.pi * np.cos(np.pi * u[:, 0] * u[:, 1])
    ones = np.ones(len(X))
    G = np.stack([c * u[:, 1], c * u[:, 0], 40 * (u[:, 2] - 0.5), 10 * ones, 5 * ones], 1)
    return f, G / np.sqrt(12)


def _add4(X: Array) -> tuple[Array, Array]:
    a, b, c, d = X.T
    f = np.sin(2 * a) + b**2 / 2 + np.tanh(2 * c) + d / 2
    return f, np.stack([2 * np.cos(2 * a), b, 2 / np.cosh(2 * c) ** 2, np.full(len(X), 0.5)], 1)


DESIGNS: dict[str, Design] = {
    "sin1": (1, 1, _sin1),
    "lin3": (3, 1, _lin3),
    "sidx5": (5, 1, _sidx5),
    "two4": (4, 2, _two(unit(1, 1, 0, 0), unit(0, 0, 1, -1))),
    "int4": (4, 4, _int4),
    "fri5": (5, 4, _fri5),
    "add4": (4, 4, _add4),
    "ten10": (10, 2, _two(unit(*[1] * 5, *[0] * 5), unit(*[0] * 5, 1, -1, 1, -1, 1))),
}


def regression_data(name: str, n: int, seed: int, n_fresh: int = 1_000) -> dict[str, Array]:
    base, false = name.split("+")
    d, rank, f = DESIGNS[base]
    rng = np.random.default_rng([seed, len(base), d, int(false)])

    def rows(m: int, generator: np.random.Generator) -> Array:
        if base == "fri5":
            return generator.uniform(-np.sqrt(3), np.sqrt(3), (m, d + int(false)))
        return generator.normal(size=(m, d + int(false)))

    reference = f(rows(SCALE_ROWS, np.random.default_rng(0))[:, :d])
    sd = reference[0].std()
    Q = np.linalg.eigh(reference[1].T @ reference[1])[1][:, ::-1][:, :rank]
    X, fresh = rows(n, rng), rows(n_fresh, rng)
    value, G = f(X[:, :d])
    pad = np.zeros((n, int(false)))
    return {
        "X": X,
        "y": value / sd + 0.3 * rng.normal(size=n),
        "G": np.hstack([G / sd, pad]),
        "X_fresh": fresh,
        "f_fresh": f(fresh[:, :d])[0] / sd,
        "Q": np.vstack([Q, np.zeros((int(false), rank))]),
    }


def _ball(radius: float) -> Callable[[Array], tuple[Array, Array]]:
    return lambda X: (2 * (radius - (X**2).sum(1)), -4 * X)


def _xor2(X: Array) -> tuple[Array, Array]:
    return 3 * X[:, 0] * X[:, 1], 3 * X[:, ::-1]


def _sidx4(X: Array) -> tuple[Array, Array]:
    b = unit(1, -1, 1, 1)
    u = X @ b
    return 4 * np.sin(1.5 * u), 6 * np.cos(1.5 * u)[:, None] * b


def _add5(X: Array) -> tuple[Array, Array]:
    a, b, c, d, e = X.T
    f = 2 * np.sin(2 * a) + b**2 - 1 + 2 * np.tanh(2 * c) + d - e
    ones = np.ones(len(X))
    return f, np.stack([4 * np.cos(2 * a), 2 * b, 4 / np.cosh(2 * c) ** 2, ones, -ones], 1)


LABEL_DESIGNS: dict[str, tuple[int, Callable[[Array], tuple[Array, Array]]]] = {
    "circ2": (2, _ball(1.6)),
    "xor2": (2, _xor2),
    "ring3": (3, _ball(2.6)),
    "sidx4": (4, _sidx4),
    "add5": (5, _add5),
}


def label_data(name: str, n: int, seed: int, n_fresh: int = 2_000) -> dict[str, Array]:
    """A name ending in i: the log odds are shifted down until 10 % of the labels are positive."""
    base, false = name.split("+")
    rare = base.endswith("i")
    base = base.rstrip("i")
    d, f = LABEL_DESIGNS[base]
    rng = np.random.default_rng([seed, len(base), d, int(false), rare])
    shift = 0.0
    if rare:
        reference = f(np.random.default_rng(0).normal(size=(SCALE_ROWS, d)))[0]
        shifts = np.linspace(0, 10, 201)
        shift = shifts[np.searchsorted([-expit(reference - s).mean() for s in shifts], -0.1)]
    X, fresh = rng.normal(size=(n, d + int(false))), rng.normal(size=(n_fresh, d + int(false)))
    odds, odds_fresh = f(X[:, :d])[0] - shift, f(fresh[:, :d])[0] - shift
    return {
        "X": X,
        "labels": (rng.random(n) < expit(odds)).astype(int),
        "X_fresh": fresh,
        "odds": odds_fresh,
        "G": np.hstack([f(fresh[:, :d])[1], np.zeros((n_fresh, int(false)))]),
    }
