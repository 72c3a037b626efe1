"""Simulated designs and real data sets on which variable selection is measured.

Every simulated design is a function of a seed and returns a `Case`: columns in shuffled order (so
that ties broken by position flatter nobody), the response, the true variables, and the task.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_classification

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Case:
    X: Array
    y: Array
    support: NDArray[np.intp]
    task: str  # "regression" | "classification"


def _shuffled(X: Array, y: Array, support: list[int], task: str, rng: np.random.Generator) -> Case:
    order = rng.permutation(X.shape[1])
    where = np.empty_like(order)
    where[order] = np.arange(len(order))
    return Case(X[:, order], np.asarray(y, float), np.sort(where[support]), task)


def _ar(rng: np.random.Generator, n: int, p: int, rho: float) -> Array:
    """Gaussian columns, correlation rho^|k - l|."""
    X = rng.normal(size=(n, p))
    for k in range(1, p):
        X[:, k] = rho * X[:, k - 1] + np.sqrt(1 - rho**2) * X[:, k]
    return X


def _outliers(rng: np.random.Generator, y: Array, share: float = 0.05) -> Array:
    """Cauchy errors, scaled by the sd of y, on a share of the rows."""
    rows = rng.choice(len(y), max(1, round(share * len(y))), replace=False)
    y = y.copy()
    y[rows] += 5 * y.std() * rng.standard_cauchy(len(rows))
    return y


def _signs(score: Array) -> Array:
    return np.where(score > 0, 1.0, -1.0)


def turlach(seed: int, n: int = 100, p: int = 200, outliers: bool = False) -> Case:
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, p))
    y = (2 * X[:, 0] - 1) ** 2 + X[:, 1:5].sum(1) + np.sqrt(0.05) * rng.normal(size=n)
    return _shuffled(X, _outliers(rng, y) if outliers else y, [0, 1, 2, 3, 4], "regression", rng)


def circles(seed: int, n: int = 40, p: int = 200, sigma: float = 3.0, jitter: float = 0.0) -> Case:
    """The paper's classification design: circles of radius 3 and 7.5 among N(0, sigma) columns.

    `jitter` is the sd of noise added to the two circle coordinates (none in the paper).
    """
    rng = np.random.default_rng(seed)
    X = sigma * rng.normal(size=(n, p))
    y = np.repeat([1.0, -1.0], n // 2)
    angle = rng.uniform(0, 2 * np.pi, n)
    radius = np.where(y > 0, 3.0, 7.5)
    X[:, 0], X[:, 1] = radius * np.cos(angle), radius * np.sin(angle)
    X[:, :2] += jitter * rng.normal(size=(n, 2))
    return _shuffled(X, y, [0, 1], "classification", rng)


def friedman(seed: int, n: int = 200, p: int = 100, outliers: bool = False) -> Case:
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, p))
    y = (
        10 * np.sin(np.pi * X[:, 0] * X[:, 1])
        + 20 * (X[:, 2] - 0.5) ** 2
        + 10 * X[:, 3]
        + 5 * X[:, 4]
    )
    y = y + rng.normal(size=n)
    return _shuffled(X, _outliers(rng, y) if outliers else y, [0, 1, 2, 3, 4], "regression", rng)


def xor(seed: int, n: int = 200, p: int = 50) -> Case:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return _shuffled(X, _signs(X[:, 0] * X[:, 1]), [0, 1], "classification", rng)


def products(seed: int, n: int = 300, p: int = 50) -> Case:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3] + 0.5 * rng.normal(size=n)
    return _shuffled(X, y, [0, 1, 2, 3], "regression", rng)


def two_index(seed: int, n: int = 300, p: int = 100) -> Case:
    """(b1'x)^2 + exp(b2'x)-like function of two directions over six variables."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    u, v = X[:, :3].sum(1) / np.sqrt(3), X[:, 3:6].sum(1) / np.sqrt(3)
    y = u**2 + 2 * np.sin(v) + 0.3 * rng.normal(size=n)
    return _shuffled(X, y, list(range(6)), "regression", rng)


def ring3(seed: int, n: int = 200, p: int = 100) -> Case:
    """Inside or outside a sphere of three variables, 5 % of the labels flipped."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = _signs(2.366 - (X[:, :3] ** 2).sum(1)) * np.where(rng.uniform(size=n) < 0.05, -1, 1)
    return _shuffled(X, y, [0, 1, 2], "classification", rng)


def gated(seed: int, n: int = 300, p: int = 100) -> Case:
    """x1 opens or closes the slope of x2; heavy tails (t4)."""
    rng = np.random.default_rng(seed)
    X = rng.standard_t(4, size=(n, p))
    y = np.where(X[:, 0] > 0, 2 * X[:, 1], X[:, 2]) + 0.5 * rng.normal(size=n)
    return _shuffled(X, y, [0, 1, 2], "regression", rng)


def logit2(seed: int, n: int = 200, p: int = 500) -> Case:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    score = 3 * X[:, 0] - 3 * X[:, 1] + 2.5 * (X[:, 2] ** 2 - 1)
    y = _signs(score + rng.logistic(size=n))
    return _shuffled(X, y, [0, 1, 2], "classification", rng)


def _additive_parts(X: Array, wiggly: bool) -> Array:
    wave = np.cos(1.5 * np.pi * X[:, 0]) if wiggly else np.sin(np.pi * X[:, 0])
    parts = [wave, np.abs(X[:, 1]), X[:, 2] ** 2 / 2, np.exp(-X[:, 3]), np.sin(1.5 * X[:, 4])]
    F = np.stack(parts, axis=1)
    return ((F - F.mean(0)) / F.std(0)).sum(1)


def additive(
    seed: int,
    n: int = 200,
    p: int = 200,
    wiggly: bool = False,
    normal: bool = False,
    outliers: bool = False,
) -> Case:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) if normal else rng.uniform(-2, 2, size=(n, p))
    f = _additive_parts(X, wiggly)
    y = f + f.std() * np.sqrt(1 / (1.5 if wiggly else 5)) * rng.normal(size=n)
    return _shuffled(X, _outliers(rng, y) if outliers else y, list(range(5)), "regression", rng)


def additive_ar(seed: int, n: int = 200, p: int = 200, adjacent: bool = True) -> Case:
    """Additive with AR(.7) columns; the true variables side by side or apart."""
    rng = np.random.default_rng(seed)
    X = _ar(rng, n, p, 0.7)
    true = list(range(5)) if adjacent else [0, 10, 20, 30, 40]
    f = _additive_parts(X[:, true], False)
    y = f + f.std() * np.sqrt(0.2) * rng.normal(size=n)
    return _shuffled(X, y, true, "regression", rng)


def near_copies(seed: int, n: int = 200, p: int = 200, rho: float = 0.9) -> Case:
    """Blocks of ten columns with correlation rho; one column of each of four blocks matters."""
    rng = np.random.default_rng(seed)
    Z = np.repeat(rng.normal(size=(n, p // 10)), 10, axis=1)
    X = np.sqrt(rho) * Z + np.sqrt(1 - rho) * rng.normal(size=(n, p))
    y = X[:, 0] + 1.4 * np.sin(2 * X[:, 10]) + X[:, 20] ** 2 / 1.4 - X[:, 30]
    y = y + 0.9 * rng.normal(size=n)
    return _shuffled(X, y, [0, 10, 20, 30], "regression", rng)


def ball(seed: int, n: int = 40, p: int = 200) -> Case:
    """Inside or outside a circle that halves the plane of two normal variables: harder than
    `circles`.
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return _shuffled(X, _signs(1.386 - (X[:, :2] ** 2).sum(1)), [0, 1], "classification", rng)


def sparse_linear(
    seed: int, n: int = 100, p: int = 1000, k: int = 10, low: float = 0.25, noise: float = 1.0
) -> Case:
    """Coefficients of random sign, their sizes spread evenly from `low` to 2: the least are hard to
    see.
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    f = X[:, :k] @ (rng.choice([-1.0, 1.0], k) * np.linspace(low, 2.0, k))
    y = f + noise * rng.normal(size=n)
    return _shuffled(X, y, list(range(k)), "regression", rng)


def linear_ar(seed: int, n: int = 100, p: int = 500, k: int = 6, snr: float = 3.0) -> Case:
    """Linear, AR(.7) columns, the true variables three apart."""
    rng = np.random.default_rng(seed)
    X = _ar(rng, n, p, 0.7)
    true = [3 * j for j in range(k)]
    f = X[:, true] @ rng.choice([-1.0, 1.0], k)
    y = f + f.std() / np.sqrt(snr) * rng.normal(size=n)
    return _shuffled(X, y, true, "regression", rng)


def clusters(seed: int, n: int = 500, p: int = 300) -> Case:
    """scikit-learn's make_classification with four clusters per class in five variables."""
    X, label = make_classification(
        n,
        p,
        n_informative=5,
        n_redundant=0,
        n_clusters_per_class=4,
        shuffle=False,
        random_state=seed,
    )
    return _shuffled(
        X, 2.0 * label - 1, list(range(5)), "classification", np.random.default_rng(seed)
    )


def genotypes(seed: int, n: int = 200, p: int = 300) -> Case:
    """Counts 0/1/2 with allele frequencies .05 to .5: additive, dominant and recessive effects."""
    rng = np.random.default_rng(seed)
    freq = rng.uniform(0.05, 0.5, p)
    freq[:4] = (0.1, 0.3, 0.4, 0.5)
    X = rng.binomial(2, freq, size=(n, p)).astype(float)
    f = 2 * X[:, 0] + 1.2 * X[:, 1] + 2 * (X[:, 2] > 0) + 2 * (X[:, 3] == 1)
    return _shuffled(X, f + 0.8 * rng.normal(size=n), [0, 1, 2, 3], "regression", rng)


def lognormal(seed: int, n: int = 200, p: int = 200) -> Case:
    rng = np.random.default_rng(seed)
    X = np.exp(rng.normal(size=(n, p)))
    L = np.log(X)
    y = L[:, 0] + np.abs(L[:, 1]) * 1.5 + np.sqrt(X[:, 2]) - L[:, 3] + 0.5 * rng.normal(size=n)
    return _shuffled(X, y, [0, 1, 2, 3], "regression", rng)


def steps(seed: int, n: int = 300, p: int = 200) -> Case:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = 2.0 * (X[:, 0] > 0.3) + 2.0 * (X[:, 1] < -0.5) + 2.0 * ((X[:, 2] > 0) & (X[:, 3] > 0))
    return _shuffled(X, y + 0.4 * rng.normal(size=n), [0, 1, 2, 3], "regression", rng)


def noise(seed: int, n: int = 200, p: int = 100, kind: str = "normal") -> Case:
    """Nothing to find: normal; "labels" (30:70); "heavy" (lognormal columns, t3 noise)."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = rng.normal(size=n)
    if kind == "heavy":
        X, y = np.exp(X), rng.standard_t(3, n)
    task = "classification" if kind == "labels" else "regression"
    y = np.where(rng.uniform(size=n) < 0.3, 1.0, -1.0) if kind == "labels" else y
    return Case(X, y, np.empty(0, np.intp), task)


# ------------------------------------------------ held out: these steered no constant
def imbalanced(seed: int, n: int = 300, p: int = 200) -> Case:
    """About 10 % positives."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    score = 2 * X[:, 0] + 2 * X[:, 1] + 1.5 * (X[:, 2] ** 2 - 1)
    y = _signs(score + rng.logistic(size=n) - 4.2)
    return _shuffled(X, y, [0, 1, 2], "classification", rng)


def heavy_columns(seed: int, n: int = 200, p: int = 200) -> Case:
    rng = np.random.default_rng(seed)
    X = rng.standard_t(3, size=(n, p))
    y = np.tanh(X[:, 0]) * 2 + np.minimum(np.abs(X[:, 1]), 3) + X[:, 2] + 0.7 * rng.normal(size=n)
    return _shuffled(X, y, [0, 1, 2], "regression", rng)


def mixed_types(seed: int, n: int = 200, p: int = 200) -> Case:
    """Binary, count, near-constant, tied and smooth columns side by side."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    X[:, 40:80] = rng.binomial(1, 0.3, size=(n, 40))
    X[:, 80:120] = rng.poisson(1.0, size=(n, 40))
    X[:, 120:160] = rng.uniform(size=(n, 40)) < 0.02
    X[:, 160:] = np.round(X[:, 160:])
    y = X[:, 0] + 2 * X[:, 40] + X[:, 80] + np.abs(X[:, 160]) * 1.5 + 0.7 * rng.normal(size=n)
    return _shuffled(X, y, [0, 40, 80, 160], "regression", rng)


def tiny_wide(seed: int, n: int = 30, p: int = 20_000) -> Case:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = 2 * X[:, 0] - 2 * X[:, 1] + 0.3 * rng.normal(size=n)
    return _shuffled(X, y, [0, 1], "regression", rng)


def tall(seed: int, n: int = 20_000, p: int = 100) -> Case:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = X[:, 0] + X[:, 1] * X[:, 2] + np.sin(3 * X[:, 3]) + 2 * rng.normal(size=n)
    return _shuffled(X, y, [0, 1, 2, 3], "regression", rng)


def many_correlated(seed: int, n: int = 70, p: int = 2000) -> Case:
    """Gene-like: five hidden factors, two of them drive y, each seen through 60 noisy columns."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(n, 5))
    X = rng.normal(size=(n, p))
    for f in range(5):
        X[:, 60 * f : 60 * (f + 1)] += np.outer(hidden[:, f], rng.uniform(0.7, 1.5, 60))
    y = hidden[:, 0] + np.tanh(2 * hidden[:, 1]) + 0.5 * rng.normal(size=n)
    return _shuffled(X, y, list(range(120)), "regression", rng)


Maker = Callable[[int], Case]

DESIGNS: dict[str, Maker] = {
    "turl10": lambda s: turlach(s, p=10),
    "turl200": turlach,
    "circ40": circles,
    "circ40n": lambda s: circles(s, jitter=np.sqrt(3)),
    "ball40": ball,
    "ball100": lambda s: ball(s, n=100),
    "fried": friedman,
    "xor": xor,
    "inter": products,
    "twoidx": two_index,
    "ring3": ring3,
    "gated": gated,
    "logit2": logit2,
    "add200": additive,
    "addn200": lambda s: additive(s, normal=True),
    "add500": lambda s: additive(s, n=500, p=1000),
    "aradd": lambda s: additive_ar(s, adjacent=False),
    "aradj": additive_ar,
    "block": near_copies,
    "lin1000": sparse_linear,
    "lineq": lambda s: sparse_linear(s, low=2.0, noise=2.8),
    "lincorr": linear_ar,
    "cfried": lambda s: friedman(s, outliers=True),
    "cadd": lambda s: additive(s, outliers=True),
    "cturl": lambda s: turlach(s, outliers=True),
    "clus": clusters,
    "snp": genotypes,
    "logn": lognormal,
    "steps": steps,
    "addh200": lambda s: additive(s, wiggly=True),
    "addh500": lambda s: additive(s, n=500, p=1000, wiggly=True),
    "noise": noise,
    "noisec": lambda s: noise(s, n=100, p=500, kind="labels"),
    "noiset": lambda s: noise(s, n=100, p=300, kind="heavy"),
}

HELD_OUT: dict[str, Maker] = {
    "imbalanced": imbalanced,
    "heavy": heavy_columns,
    "mixed": mixed_types,
    "block.5": lambda s: near_copies(s, rho=0.5),
    "block.95": lambda s: near_copies(s, rho=0.95),
    "genes": many_correlated,
    "tiny": tiny_wide,
    "tall": tall,
}
