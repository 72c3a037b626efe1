"""Tables with categories, and columns that are one variable: null ones and planted ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray

LEVELS = (2, 3, 5, 8, 12)


@dataclass(frozen=True)
class Study:
    table: pd.DataFrame
    y: NDArray[np.generic]
    labels: bool
    truth: frozenset[str] = frozenset()
    feature_groups: dict[str, list[str]] | None = None

    @property
    def variables(self) -> list[str]:
        """The variable of each column."""
        groups = self.feature_groups or {}
        member = {column: name for name, columns in groups.items() for column in columns}
        return [member.get(column, column) for column in self.table.columns]


def draw_levels(rng: np.random.Generator, n: int, count: int, rare: bool) -> NDArray[np.str_]:
    """Levels drawn evenly, or with some that have a handful of rows."""
    chance = rng.dirichlet(np.full(count, 0.7)) if rare else np.full(count, 1.0 / count)
    return np.array([f"l{k}" for k in range(count)])[rng.choice(count, size=n, p=chance)]


def categories(
    seed: int, n: int = 200, copies: int = 6, rare: bool = False, numbers: int = 0
) -> tuple[np.random.Generator, pd.DataFrame]:
    """Columns of 2 to 12 levels, and some of numbers."""
    rng = np.random.default_rng(seed)
    columns: dict[str, NDArray[np.generic]] = {}
    for copy in range(copies):
        for count in LEVELS:
            columns[f"c{count}.{copy}"] = draw_levels(rng, n, count, rare).astype(object)
    columns |= {f"x{k}": rng.normal(size=n) for k in range(numbers)}
    return rng, pd.DataFrame(columns)


def null_categories(
    seed: int, rare: bool, labels: bool = False, numbers: int = 0, n: int = 200
) -> Study:
    rng, table = categories(seed, n, rare=rare, numbers=numbers)
    y = rng.normal(size=n)
    return Study(table, np.where(y > 0, "a", "b") if labels else y, labels)


def gene_probes(seed: int, n: int = 150, labels: bool = False, planted: bool = False) -> Study:
    """60 genes of 1 to 8 correlated probes."""
    rng = np.random.default_rng(seed)
    columns, groups = {}, {}
    for gene in range(60):
        shared, m = rng.normal(size=n), 1 + gene % 8
        names = [f"g{gene}.{probe}" for probe in range(m)]
        columns |= {name: 0.7 * shared + 0.7 * rng.normal(size=n) for name in names}
        groups[f"g{gene}"] = names
    table = pd.DataFrame(columns)
    score = rng.normal(size=n)
    truth = frozenset[str]()
    if planted:  # two genes by all their probes, one by a single probe
        for gene in ("g7", "g14"):
            score += 0.5 * table[groups[gene]].mean(axis=1).to_numpy() / 0.75
        score += 0.5 * table["g22.0"].to_numpy()
        truth = frozenset({"g7", "g14", "g22"})
    return Study(table, np.where(score > 0, "a", "b") if labels else score, labels, truth, groups)


def wide_pathways(seed: int, n: int = 100) -> Study:
    """20 pathways of 40 genes each: more columns than rows."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(rng.normal(size=(n, 800)), columns=[f"x{k}" for k in range(800)])
    groups = {f"p{g}": [f"x{k}" for k in range(40 * g, 40 * g + 40)] for g in range(20)}
    return Study(table, rng.normal(size=n), False, feature_groups=groups)


def null_holes(
    seed: int, share: float = 0.3, copies: bool = False, labels: bool = False, n: int = 100
) -> Study:
    """200 columns, or 20 columns in ten near-copies each, with cells missing at random."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 200))
    if copies:
        X = 0.3 * X + np.repeat(rng.normal(size=(n, 20)), 10, axis=1)
    X[rng.random(size=X.shape) < share] = np.nan
    y = rng.normal(size=n)
    table = pd.DataFrame(X, columns=[f"x{k}" for k in range(200)])
    return Study(table, np.where(y > 0, "a", "b") if labels else y, labels)


def planted_categories(
    seed: int, spread: bool, labels: bool = False, rare: bool = False, n: int = 200
) -> Study:
    """A category of 3, of 5 and of 12 levels act, at all levels or at one; so does a number."""
    rng, table = categories(seed, n, rare=rare, numbers=20)
    score = 0.5 * table["x0"].to_numpy()
    for column in ("c3.0", "c5.0", "c12.0"):
        levels, codes = np.unique(table[column].to_numpy(dtype=str), return_inverse=True)
        effect = rng.normal(size=len(levels)) if spread else np.eye(len(levels))[0]
        part = effect[codes]
        score = score + 0.5 * (part - part.mean()) / max(part.std(), 1e-9)
    score = score + rng.normal(size=n)
    truth = frozenset({"x0", "c3.0", "c5.0", "c12.0"})
    return Study(table, np.where(score > 0, "a", "b") if labels else score, labels, truth)


NULL: dict[str, Callable[[int], Study]] = {
    "30 categories of 2 to 12 levels, balanced": partial(null_categories, rare=False),
    "30 categories, rare levels": partial(null_categories, rare=True),
    "30 categories, balanced, labels": partial(null_categories, rare=False, labels=True),
    "30 categories, rare levels, labels": partial(null_categories, rare=True, labels=True),
    "30 categories, rare levels, 60 rows": partial(null_categories, rare=True, n=60),
    "30 categories and 50 numbers": partial(null_categories, rare=False, numbers=50),
    "60 genes of 1 to 8 probes": gene_probes,
    "60 genes of 1 to 8 probes, labels": partial(gene_probes, labels=True),
    "20 pathways of 40 genes, 100 rows": wide_pathways,
    "200 numbers, 30 % missing": null_holes,
    "200 numbers, 30 % missing, labels": partial(null_holes, labels=True),
    "200 numbers, 70 % missing": partial(null_holes, share=0.7),
    "20 x 10 near-copies, 30 % missing": partial(null_holes, copies=True),
    "20 x 10 near-copies, 30 % missing, labels": partial(null_holes, copies=True, labels=True),
}

PLANTED: dict[str, Callable[[int], Study]] = {
    "categories, effect at every level": partial(planted_categories, spread=True),
    "categories, effect at one level": partial(planted_categories, spread=False),
    "categories, rare levels": partial(planted_categories, spread=True, rare=True),
    "categories, labels": partial(planted_categories, spread=True, labels=True),
    "genes of several probes": partial(gene_probes, planted=True),
}
