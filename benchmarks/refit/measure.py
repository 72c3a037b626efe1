"""Designs with known gradients, and the record `refit/regression`.

    python -m refit.measure regression [--n 200] [--seeds 10] [--first 100]
    python -m refit.measure labels     [--n 200] [--seeds 10] [--first 100]

Regression: X standard normal (Friedman: uniform, unit variance), signal scaled to unit variance,
noise sd 0.3. `name+k`: k irrelevant columns among the selected ones. err = relative L2 error of the
gradient at the training rows, R2 against the noiseless function on 1,000 fresh rows, dist =
sqrt(1 - ||Q'Qhat||_F^2 / r) at the true rank r. Labels: error and log loss above Bayes, gradient
error of the log odds weighted by sqrt(p (1 - p)), all on 2,000 fresh rows.
"""

from __future__ import annotations

import argparse
import time
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
ALL_DESIGNS = [f"{name}+{k}" for name in DESIGNS for k in (0, 3)]


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


def relative(A: Array, B: Array) -> float:
    return float(np.sqrt(((A - B) ** 2).sum() / (B**2).sum()))


def regression_scores(fit: Any, data: dict[str, Array]) -> tuple[float, float, float]:
    """err, R2, dist."""
    F = fit.gradient(data["X"])[0]
    r = data["Q"].shape[1]
    directions = np.linalg.eigh(F.T @ F)[1][:, ::-1][:, :r]
    residual = data["f_fresh"] - fit.value(data["X_fresh"])[:, 0]
    r2 = 1 - (residual**2).mean() / data["f_fresh"].var()
    overlap = np.linalg.norm(data["Q"].T @ directions) ** 2 / r
    return relative(F, data["G"]), float(r2), float(np.sqrt(max(0.0, 1 - overlap)))


def count_kernels(names: list[str]) -> str:
    return ", ".join(f"{name} {names.count(name)}" for name in sorted(set(names)))


def show_row(label: str, *cells: Any) -> None:
    print(
        "| " + " | ".join([label, *(c if isinstance(c, str) else f"{c:.3f}" for c in cells)]), "|"
    )


def measure_regression(names: list[str], n: int, seeds: range, fit: Callable[..., Any]) -> None:
    print("designs\n| design | err | R2 | dist | s | kernels |\n" + "|---" * 6 + "|")
    table = []
    for name in names:
        rows, chosen = [], []
        for seed in seeds:
            data = regression_data(name, n, seed)
            start = time.process_time()
            model = fit(data["X"], data["y"])
            seconds = time.process_time() - start
            rows.append([*regression_scores(model, data), seconds])
            chosen.append(model.kernel.name if hasattr(model, "kernel") else "?")
        table.append(np.mean(rows, axis=0))
        show_row(name, *table[-1][:3], f"{table[-1][3]:.2f}", count_kernels(chosen))
    err, r2, dist, seconds = np.mean(table, axis=0)
    print("\nmeans\n| | bar | measured |\n|---|---|---|")
    show_row("gradient error", "<= .17", err)
    show_row("R2, fresh rows, noiseless function", ">= .97", r2)
    if "two4+3" in names:
        show_row("subspace distance (two4+3)", "<= .10", table[names.index("two4+3")][2])
    show_row("subspace distance, mean of designs", "", dist)
    show_row("seconds, mean (d = 1 to 13)", "about .5", f"{seconds:.2f}")


# --- labels: log odds with a known gradient, X standard normal


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
ALL_LABEL_DESIGNS = [f"{name}{i}+{k}" for name in LABEL_DESIGNS for i in ("", "i") for k in (0, 2)]


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


def label_scores(fit: Any, data: dict[str, Array]) -> tuple[float, float, float]:
    """Error and log loss above Bayes, weighted gradient error."""
    g, odds = fit.value(data["X_fresh"])[:, 0], data["odds"]
    p = expit(odds)

    def loss(s: Array) -> float:
        return float((p * np.logaddexp(0, -s) + (1 - p) * np.logaddexp(0, s)).mean())

    def error(s: Array) -> float:
        return float(np.where(s > 0, 1 - p, p).mean())

    w = np.sqrt(p * (1 - p))[:, None]
    gradient_error = relative(w * fit.gradient(data["X_fresh"])[0], w * data["G"])
    return error(g) - error(odds), loss(g) - loss(odds), gradient_error


def measure_labels(names: list[str], n: int, seeds: range, fit: Callable[..., Any]) -> None:
    print("designs\n| design | error | log loss | gradient | s | kernels |\n" + "|---" * 6 + "|")
    table = []
    for name in names:
        rows, chosen = [], []
        for seed in seeds:
            data = label_data(name, n, seed)
            start = time.process_time()
            model = fit(data["X"], data["labels"], n_classes=2)
            seconds = time.process_time() - start
            rows.append([*label_scores(model, data), seconds])
            chosen.append(model.kernel.name)
        table.append(np.mean(rows, axis=0))
        show_row(name, *table[-1][:3], f"{table[-1][3]:.2f}", count_kernels(chosen))
    rare = np.array(["i+" in name for name in names])
    print("\nmeans\n| | error | log loss | gradient | s |\n" + "|---" * 5 + "|")
    for title, index in (("balanced", ~rare), ("10 % positives", rare)):
        if index.any():
            mean = np.array(table)[index].mean(axis=0)
            show_row(f"{title}, {index.sum()} designs", *mean[:3], f"{mean[3]:.2f}")


def main() -> None:
    from gradsift.refit import refit_classification, refit_regression

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("task", choices=["regression", "labels"])
    parser.add_argument("--n", type=int, default=200)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=100)
    parser.add_argument("--designs", nargs="*")
    options = parser.parse_args()
    seeds = range(options.first, options.first + options.seeds)
    if options.task == "regression":
        measure_regression(options.designs or ALL_DESIGNS, options.n, seeds, refit_regression)
    else:
        names = options.designs or ALL_LABEL_DESIGNS
        measure_labels(names, options.n, seeds, refit_classification)


if __name__ == "__main__":
    main()
