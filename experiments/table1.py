"""Table 1: how often each variable is among the five that a method returns.

y = (2 x1 - 1)^2 + x2 + x3 + x4 + x5 + noise, 100 samples, ten variables: x1 is uncorrelated with y,
so the LASSO cannot see it. The penalty is chosen so that exactly five variables are returned.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.linear_model import lars_path

from experiments.tools import (
    BLUE,
    GREEN,
    RED,
    Progress,
    Settings,
    canvas,
    exactly,
    spread,
    table,
)
from gradsift import GradientSiftRegressor, NearestNeighbors
from gradsift.data.simulate import turlach
from gradsift.protocols import Array, IntArray

REPEATS = 100
NOISES = {"0.05": 0.05, "sqrt(0.05)": 0.05**0.5}
"""The paper's "variance 0.05", read both ways, as standard deviations."""

PAPER = {
    "SGL, the paper's settings": (78, 100, 100, 100, 100, 7, 4, 6, 5, 2),
    "LASSO": (16, 100, 100, 100, 100, 25, 14, 13, 13, 19),
}

AS_PRINTED: dict[str, Any] = {
    "kernel": "affine",
    "weights": NearestNeighbors(10, form="paper"),
    "standardize": False,
}


def sgl_as_printed(X: Array, y: Array) -> IntArray:
    """Raw columns, kernel 1 + x.z, weights truncated to ten neighbours."""
    return exactly(5, X, y, **AS_PRINTED)[0]


def lasso(X: Array, y: Array) -> IntArray:
    """The first point of the LASSO path with five non-zero coefficients."""
    _, _, coefficients = lars_path(X - X.mean(axis=0), y - y.mean(), method="lasso")
    sizes = np.count_nonzero(coefficients, axis=0)
    return np.flatnonzero(coefficients[:, np.argmax(sizes == 5)])


def sgl_standardised(X: Array, y: Array) -> IntArray:
    """The library's defaults: standardised columns, all pairs with Gaussian weights."""
    return exactly(5, X, y)[0]


def sift(X: Array, y: Array) -> IntArray:
    """The five best of the ranking."""
    return np.argsort(GradientSiftRegressor().fit(X, y).ranking_, kind="stable")[:5]


METHODS = {
    "SGL, the paper's settings": sgl_as_printed,
    "LASSO": lasso,
    "SGL, standardised (our default)": sgl_standardised,
    "GradientSift": sift,
}


@dataclass(frozen=True)
class Table1:
    """Which variables are returned, (noises, repeats, methods, 10)."""

    hits: Array

    @property
    def percent(self) -> Array:
        """Percent of repeats that return each variable, (noises, methods, 10)."""
        return 100.0 * self.hits.mean(axis=1)

    @property
    def repeats(self) -> int:
        return self.hits.shape[1]


def compute(settings: Settings, progress: Progress) -> Table1:
    """Every method on the same data sets."""
    repeats = settings.repeats or REPEATS
    jobs = [(noise, seed) for noise in NOISES.values() for seed in range(repeats)]
    found = spread(_one, jobs, settings, progress, "table1")
    hits = np.array(found).reshape(len(NOISES), repeats, len(METHODS), 10)
    return Table1(hits)


def _one(noise: float, seed: int) -> Array:
    X, y, _ = turlach(noise=noise, random_state=seed)
    hits = np.zeros((len(METHODS), X.shape[1]), dtype=bool)
    for row, method in zip(hits, METHODS.values()):
        row[method(X, y)] = True
    return hits


def record(result: Table1) -> dict[str, Any]:
    """For every noise and repeat, a string per method: 1 where a variable is returned."""
    return {
        noise: [["".join(str(int(hit)) for hit in row) for row in repeat] for repeat in repeats]
        for noise, repeats in zip(NOISES, result.hits)
    }


def restore(kept: dict[str, Any]) -> Table1:
    """The result of a record."""
    hits = [[[[int(c) for c in row] for row in repeat] for repeat in kept[k]] for k in NOISES]
    return Table1(np.array(hits, dtype=bool))


def tables(kept: dict[str, Any]) -> dict[str, str]:
    """All rows in one table, the paper's first."""
    result = restore(kept)
    head = ["", *(f"x{k}" for k in range(1, 11)), "median of noise"]
    rows = [_row(f"{name}: the paper", np.array(values)) for name, values in PAPER.items()]
    for noise, percent in zip(NOISES, result.percent):
        rows += [_row(f"{name}: noise sd {noise}", p) for name, p in zip(METHODS, percent)]
    return {"frequencies": table(head, rows)}


def text(kept: dict[str, Any]) -> str:
    """table1.md."""
    return (
        "# Table 1: frequencies of selected variables\n\n"
        f"Percent of {restore(kept).repeats} repeats in which a variable is among the five "
        'returned. The paper says "variance 0.05" of a standard normal: both readings are here. '
        "Median: of the five noise variables x6 to x10.\n\n" + tables(kept)["frequencies"]
    )


def figures(result: Table1) -> dict[str, Any]:
    return {"table1-frequencies": _draw(result)}


def _row(name: str, percent: Array) -> list[str]:
    return [name, *(f"{v:.0f}" for v in percent), f"{np.median(percent[5:]):.0f}"]


def _draw(result: Table1) -> Any:
    figure, axes = canvas(1, len(NOISES), (10, 3.8), sharey=True)
    x = np.arange(len(METHODS))
    parts = (("x1", RED, ""), ("x2 to x5 (mean)", BLUE, "//"), ("x6 to x10 (mean)", GREEN, ".."))
    for axis, noise, percent in zip(axes[0], NOISES, result.percent):
        groups = (percent[:, 0], percent[:, 1:5].mean(axis=1), percent[:, 5:].mean(axis=1))
        for shift, (label, colour, hatch), height in zip((-0.27, 0, 0.27), parts, groups):
            bars = axis.bar(
                x + shift, height, 0.25, label=label, color=colour, hatch=hatch, edgecolor="white"
            )
            axis.bar_label(bars, fmt="%.0f", fontsize=8)
        for place, values in enumerate(PAPER.values()):  # the paper's x1, over its own bar
            axis.plot(place + np.array([-0.42, -0.12]), [values[0]] * 2, color="black", lw=1.6)
        axis.set_xticks(
            x, ["SGL,\npaper's settings", "LASSO", "SGL,\nstandardised", "GradientSift"]
        )
        axis.set_title(f"noise sd {noise}")
        axis.set_ylim(0, 112)
    axes[0, 0].plot([], [], color="black", lw=1.6, label="x1 in the paper")
    axes[0, 0].set_ylabel(f"selected, % of {result.repeats} repeats")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=4)
    return figure
