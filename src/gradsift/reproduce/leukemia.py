"""Leukemia: the paper's table, with an honest leave-one-out beside the paper's.

Genes are centred and scaled to unit length with constants of the training part; a linear SVM judges
the variables or directions that a method returns. Two leave-one-out counts:

- the paper's way: features come from all 38 samples, only the classifier is left out;
- nested: normalising, selection, penalty, directions and classifier see 37 samples only.

The test part is used once, for the last column; nothing is chosen by it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gradsift._typing import Array
from gradsift.reproduce._leukemia_data import Leukemia, load
from gradsift.reproduce._leukemia_methods import (
    ON_LOGARITHMS,
    OURS,
    PAPERS,
    Features,
    Method,
    loo_errors,
    machine,
    normalise,
)
from gradsift.reproduce._tools import (
    BLUE,
    RED,
    Progress,
    Settings,
    canvas,
    save_figure,
    spread,
    table,
    write_text,
)

PAPER = {
    "SGL (variables)": ("106", "0/38", "0/34"),
    "SGL (S-EDR)": ("1", "0/38", "0/34"),
    "GL (ESFs)": ("6", "0/38", "2/34"),
    "linear SVM, all genes": ("7129", "3/38", "2/34"),
    "LASSO": ("33", "1/38", "1/34"),
}
SHOWN = (  # whose genes are listed
    "SGL (S-EDR)",
    "SGL (variables)",
    "GradientSift (selected)",
    "GradientSift (selected), log values",
)


@dataclass(frozen=True)
class Row:
    """One method: what it returns, and its errors."""

    name: str
    n_variables: int
    n_features: int
    loo: int
    nested: int
    test: int
    genes: tuple[int, ...]  # most important first
    train: Array  # (38,) and (34,): the first feature of the samples
    held: Array


@dataclass(frozen=True)
class LeukemiaTable:
    """All rows, with the data they come from."""

    rows: tuple[Row, ...]
    data: Leukemia


def logarithm(X: Array) -> Array:
    """The customary transform of such arrays: clip to [100, 16000], log10."""
    return np.log10(np.clip(X, 100.0, 16_000.0))


def compute(
    settings: Settings,
    progress: Progress,
    data: Leukemia | None = None,
    methods: tuple[Method, ...] = PAPERS + OURS,
    on_logarithms: tuple[Method, ...] = ON_LOGARITHMS,
) -> LeukemiaTable:
    """Every method on all training samples, and again with each sample left out."""
    data = load(settings.data) if data is None else data
    jobs = [(data, methods, on_logarithms, i) for i in range(len(data.y))]
    wrong = spread(_errors_without, jobs, settings, progress, "leukemia")
    rows = []
    for name, features, X, X_test in _fits(data.X, data.y, data.X_test, methods, on_logarithms):
        Z, Z_test = features.of(X), features.of(X_test)
        order = np.argsort(-features.size, kind="stable")
        rows.append(
            Row(
                name=name,
                n_variables=len(features.index),
                n_features=Z.shape[1],
                loo=loo_errors(Z, data.y),
                nested=sum(fold[name] for fold in wrong),
                test=int((machine().fit(Z, data.y).predict(Z_test) != data.y_test).sum()),
                genes=tuple(int(features.index[k]) for k in order),
                train=Z[:, 0],
                held=Z_test[:, 0],
            )
        )
    return LeukemiaTable(tuple(rows), data)


def _errors_without(
    data: Leukemia, methods: tuple[Method, ...], on_logarithms: tuple[Method, ...], i: int
) -> dict[str, int]:
    """1 for every method that, fitted without sample i, gets sample i wrong."""
    rest = np.arange(len(data.y)) != i
    y = data.y[rest]
    fits = _fits(data.X[rest], y, data.X[i : i + 1], methods, on_logarithms)
    return {
        name: int(machine().fit(features.of(X), y).predict(features.of(held))[0] != data.y[i])
        for name, features, X, held in fits
    }


def _fits(
    X: Array,
    y: Array,
    other: Array,
    methods: tuple[Method, ...],
    on_logarithms: tuple[Method, ...],
) -> Iterator[tuple[str, Features, Array, Array]]:
    """(name, features, normalised samples, normalised other samples) of every method."""
    train, held = normalise(X, other)
    for method in methods:
        for name, features in method(train, y).items():
            yield name, features, train, held
    train, held = normalise(logarithm(X), logarithm(other))
    for method in on_logarithms:
        for name, features in method(train, y).items():
            yield f"{name}, log values", features, train, held


def write(result: LeukemiaTable, out: Path) -> list[Path]:
    """leukemia.md and one figure."""
    n, m = len(result.data.y), len(result.data.y_test)
    head = ["method", "variables", "features", "LOO, paper's way", "LOO, nested", "test"]
    rows = [
        [r.name, r.n_variables, r.n_features, f"{r.loo}/{n}", f"{r.nested}/{n}", f"{r.test}/{m}"]
        for r in result.rows
    ]
    paper = [[name, *values] for name, values in PAPER.items()]
    text = [
        "# Leukemia\n",
        "Errors of a linear SVM on the variables or directions that each method returns. The "
        "paper's way of leave-one-out takes the features from all training samples and leaves a "
        "sample out of the classifier only; nested repeats normalising, selection, choice of the "
        "penalty, directions and classifier without the sample. Penalties are chosen on the "
        "training part by the paper's leave-one-out (fewest errors, the sparsest of equals), "
        "unless the row says otherwise; the test part chooses nothing.\n",
        table(head, rows),
        "## The paper's table\n",
        table(["method", "variables or features", "LOO", "test"], paper),
        *(_genes(row, result.data) for row in result.rows if row.name in SHOWN),
    ]
    return [
        write_text(out / "leukemia.md", "\n".join(text)),
        save_figure(out / "leukemia-direction.png", _draw(result)),
    ]


def _genes(row: Row, data: Leukemia, most: int = 40) -> str:
    some = row.genes[:most]
    lines = [[k, data.accession[g], data.description[g]] for k, g in enumerate(some, start=1)]
    more = "" if len(row.genes) <= most else f", the {most} most important"
    title = f"## Genes of {row.name}: {len(row.genes)}{more}\n\n"
    return title + table(["", "probe set", "description"], lines)


def _draw(result: LeukemiaTable) -> object:
    """The samples on the single direction of SGL."""
    row = next((r for r in result.rows if r.name == "SGL (S-EDR)"), result.rows[0])
    figure, axes = canvas(1, 2, (9, 3.4), sharex=True)
    parts = ((row.train, result.data.y, "training"), (row.held, result.data.y_test, "test"))
    jitter = np.random.default_rng(0)
    for axis, (z, y, part) in zip(axes[0], parts):
        for value, name, colour, marker in ((1, "ALL", BLUE, "o"), (-1, "AML", RED, "^")):
            own = z[y == value]
            height = (value > 0) + jitter.uniform(-0.25, 0.25, len(own))
            axis.scatter(own, height, 32, color=colour, marker=marker, alpha=0.8, label=name)
        axis.set_yticks([0, 1], ["AML", "ALL"])
        axis.set_ylim(-0.6, 1.6)
        axis.set(xlabel=f"{row.name}: first feature", title=f"{part} samples ({len(y)})")
        axis.spines[["top", "right"]].set_visible(False)
    return figure
