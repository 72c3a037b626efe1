"""Tables in which (almost) nothing is true: what `false_positives` promises is measured on them.

A table is a kind of columns, a kind of response, and perhaps one true variable, which is kept
apart: only other selected columns are false.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from designs.data_sets import real_columns
from numpy.typing import NDArray

Array = NDArray[np.float64]
Generator = np.random.Generator


@dataclass(frozen=True)
class Null:
    """X (n, p) and y; labels are whole numbers from 0. Columns in `true` are not false."""

    X: Array
    y: Array
    labels: bool
    true: tuple[int, ...] = ()


COLUMNS: dict[str, Callable[[Generator, int, int], Array]] = {
    "normal": lambda rng, n, p: rng.normal(size=(n, p)),
    "t2": lambda rng, n, p: rng.standard_t(2, size=(n, p)),
    "cauchy": lambda rng, n, p: rng.standard_cauchy(size=(n, p)),
    "lognormal": lambda rng, n, p: np.exp(rng.normal(size=(n, p))),
    "0/1 at 1 %": lambda rng, n, p: 1.0 * (rng.uniform(size=(n, p)) < 0.01),
    "0/1 at 3 %": lambda rng, n, p: 1.0 * (rng.uniform(size=(n, p)) < 0.03),
    "0/1 at 10 %": lambda rng, n, p: 1.0 * (rng.uniform(size=(n, p)) < 0.1),
    "0/1 at 50 %": lambda rng, n, p: 1.0 * (rng.uniform(size=(n, p)) < 0.5),
    "counts": lambda rng, n, p: rng.poisson(1.0, size=(n, p)).astype(float),
    "sparse counts": lambda rng, n, p: rng.poisson(0.1, size=(n, p)).astype(float),
    "genotypes": lambda rng, n, p: rng.binomial(2, rng.uniform(0.02, 0.5, p), (n, p)) * 1.0,
    "floored": lambda rng, n, p: np.maximum(rng.normal(size=(n, p)), rng.uniform(0.0, 2.2, p)),
}
"""Kinds of columns. Floored ones are constant but for some rows, as after clipping a signal."""


def share(cases: float) -> Callable[[Generator, int], Array]:
    """Labels with this share of cases, exactly."""
    return lambda rng, n: rng.permutation(np.arange(n) < round(cases * n)).astype(float)


def zeros(part: float) -> Callable[[Generator, int], Array]:
    """Lognormal amounts, but for a part of zeros."""
    return lambda rng, n: np.exp(rng.normal(size=n)) * (rng.uniform(size=n) >= part)


LABELS: dict[str, Callable[[Generator, int], Array]] = {
    "half cases": share(0.5),
    "10 % cases": share(0.1),
    "7 % cases": share(0.07),
    "3 % cases": share(0.03),
    "three classes": lambda rng, n: rng.permutation(
        np.digitize(np.arange(n) / n, [0.84, 0.94])
    ).astype(float),
}
NUMBERS: dict[str, Callable[[Generator, int], Array]] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "lognormal": lambda rng, n: np.exp(rng.normal(size=n)),
    "48 % zeros": zeros(0.48),
    "55 % zeros": zeros(0.55),
    "90 % zeros": zeros(0.9),
    "counts": lambda rng, n: rng.poisson(1.0, n).astype(float),
}


def nothing(columns: str, response: str, n: int = 300, p: int = 100) -> Callable[[int], Null]:
    """Columns and response of these kinds, with nothing to do with each other."""

    def make(seed: int) -> Null:
        rng = np.random.default_rng([seed, 1])
        labels = response in LABELS
        y = (LABELS if labels else NUMBERS)[response](rng, n)
        return Null(COLUMNS[columns](rng, n, p), y, labels)

    return make


def one_true(columns: str, labels: bool, n: int = 100, p: int = 200) -> Callable[[int], Null]:
    """One normal column that acts, the others noise of some kind."""

    def make(seed: int) -> Null:
        rng = np.random.default_rng([seed, 2])
        X = COLUMNS[columns](rng, n, p)
        X[:, 0] = rng.normal(size=n)
        if labels:
            y = 1.0 * (X[:, 0] + 0.1 * rng.normal(size=n) > 0)
        else:
            y = 2.0 * X[:, 0] + rng.standard_t(3, size=n)
        return Null(X, y, labels, (0,))

    return make


def permuted(name: str) -> Callable[[int], Null]:
    """A real table: the column with the largest correlation stays, the rows of all others are
    permuted, together.
    """

    def make(seed: int) -> Null:
        rng = np.random.default_rng([seed, 3])
        X, y, labels = real_columns(name)
        Z = X - X.mean(0)
        size = np.sqrt((Z**2).sum(0))
        best = int(np.argmax(np.abs((y - y.mean()) @ Z) / np.where(size > 0, size, np.inf)))
        moved = X[rng.permutation(len(X))]
        moved[:, best] = X[:, best]
        return Null(moved, y, labels, (best,))

    return make


GRID = [name for name in (*LABELS, *NUMBERS) if name not in ("7 % cases", "55 % zeros")]
"""Responses that meet every kind of columns."""
SETTINGS: dict[str, Callable[[int], Null]] = {
    f"{columns} | {response}": nothing(columns, response)
    for columns in COLUMNS
    for response in GRID
}
SETTINGS |= {
    "normal | 7 % cases": nothing("normal", "7 % cases", p=200),
    "normal | 3 % cases, 200 columns": nothing("normal", "3 % cases", p=200),
    "genotypes | 7 % cases": nothing("genotypes", "7 % cases", p=200),
    "normal | 55 % zeros": nothing("normal", "55 % zeros", n=200),
    "normal | half cases, 30 rows": nothing("normal", "half cases", n=30, p=2000),
    "lognormal | lognormal, 30 rows": nothing("lognormal", "lognormal", n=30, p=2000),
}
SETTINGS |= {
    f"one true, {columns} | {'labels' if labels else 'numbers'}": one_true(columns, labels)
    for columns in ("normal", "0/1 at 3 %", "sparse counts", "genotypes", "floored")
    for labels in (True, False)
}
SETTINGS |= {
    f"{name} permuted, strongest kept": permuted(name)
    for name in ("leukemia", "colon", "riboflavin", "gasoline")
}
