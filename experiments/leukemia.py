"""Leukemia: the paper's table, with an honest leave-one-out added to the paper's.

Genes are centred and scaled to unit length with constants of the training part; a linear SVM judges
the variables or directions that a method returns. Two leave-one-out counts:

- the paper's way: features come from all 38 samples, only the classifier is left out;
- nested: normalising, selection, penalty, directions and classifier see 37 samples only.

The test part is used once, for the last column; nothing is chosen by it. Beside the table stand the
errors along SGL's path and along GL's ridge, which show how little leave-one-out decides.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments.leukemia_data import Leukemia, load
from experiments.leukemia_figures import draw_direction, draw_path
from experiments.leukemia_methods import (
    MOST_ESFS,
    ON_LOGARITHMS,
    OURS,
    PAPERS,
    RIDGES,
    Features,
    Method,
    gl_path,
    loo_errors,
    machine,
    normalise,
    sgl_path,
)
from experiments.tools import Progress, Settings, spread, table
from gradsift.protocols import Array

PAPER = {
    "SGL (variables)": ("106", "0/38", "0/34"),
    "SGL (S-EDR)": ("1", "0/38", "0/34"),
    "GL (ESFs)": ("6", "0/38", "2/34"),
    "linear SVM, all genes": ("7129", "3/38", "2/34"),
    "LASSO": ("33", "1/38", "1/34"),
}
PAPERS_GENES = 106
ALONG, LEAST = 60, 0.01  # penalties along SGL's path in the figure, down to this share of alpha_max
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
class Errors:
    """What one candidate of a path returns, and its errors; nothing is chosen by them."""

    at: float  # penalty over alpha_max, or ridge over its default
    n_variables: int
    n_features: int
    loo: int  # the paper's way
    test: int


@dataclass(frozen=True)
class LeukemiaTable:
    """All rows, with the data they come from, and the errors along two paths."""

    rows: tuple[Row, ...]
    data: Leukemia
    sgl: dict[str, tuple[Errors, ...]]  # variables, S-EDR
    gl: tuple[Errors, ...]


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
    return LeukemiaTable(tuple(rows), data, *along_paths(data))


def along_paths(data: Leukemia) -> tuple[dict[str, tuple[Errors, ...]], tuple[Errors, ...]]:
    """Errors at every penalty of SGL's path, and for every ridge and number of GL's ESFs."""
    X, held = normalise(data.X, data.X_test)

    def errors(at: float, features: Features) -> Errors:
        Z, Z_test = features.of(X), features.of(held)
        wrong = machine().fit(Z, data.y).predict(Z_test) != data.y_test
        size = (len(features.index), Z.shape[1])
        return Errors(at, *size, loo_errors(Z, data.y), int(wrong.sum()))

    shares = np.geomspace(0.8, LEAST, ALONG)
    path = sgl_path(X, data.y, steps=ALONG, least=LEAST)
    ridges = np.repeat(RIDGES, MOST_ESFS)
    return (
        {kind: tuple(map(errors, shares.tolist(), path[kind])) for kind in path},
        tuple(map(errors, ridges.tolist(), gl_path(X, data.y)["ESFs"])),
    )


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


# ---------------------------------------------------------------------------- what is kept


def record(result: LeukemiaTable) -> dict[str, Any]:
    """Numbers of genes and of errors; genes by name."""
    data = result.data
    names = [(str(a), str(d)) for a, d in zip(data.accession.tolist(), data.description.tolist())]
    return {
        "samples": {"training": len(data.y), "nested": len(data.y), "test": len(data.y_test)},
        "methods": {
            row.name: {
                "variables": row.n_variables,
                "features": row.n_features,
                "loo": row.loo,
                "nested": row.nested,
                "test": row.test,
            }
            for row in result.rows
        },
        "genes": {
            row.name: [names[g] for g in row.genes[:40]] for row in result.rows if row.name in SHOWN
        },
        "SGL along its path": {
            kind: [[round(e.at, 4), e.n_variables, e.loo, e.test] for e in errors]
            for kind, errors in result.sgl.items()
        },
        "GL along its ridge": [[e.at, e.n_features, e.loo, e.test] for e in result.gl],
    }


def tables(kept: dict[str, Any]) -> dict[str, str]:
    """Methods; genes of those shown; errors along SGL's path and GL's ridge."""
    n, left_out, m = (kept["samples"][part] for part in ("training", "nested", "test"))
    head = ["method", "variables", "features", "LOO, paper's way", "LOO, nested", "test",
            "paper: number, LOO, test"]  # fmt: skip
    rows = [
        [name, r["variables"], r["features"], f"{r['loo']}/{n}", f"{r['nested']}/{left_out}",
         f"{r['test']}/{m}", ", ".join(PAPER.get(name, ()))]
        for name, r in kept["methods"].items()
    ]  # fmt: skip
    out = {"methods": table(head, rows)}
    for name, genes in kept["genes"].items():
        lines = [[k, *gene] for k, gene in enumerate(genes, start=1)]
        out[f"genes of {name}"] = table(["", "probe set", "description"], lines)
    path = kept["SGL along its path"]
    points = list(zip(path["variables"], path["S-EDR"]))
    lines = [
        [f"{v[0]:.3f}", v[1], f"{v[2]}/{n}", f"{v[3]}/{m}", f"{e[2]}/{n}", f"{e[3]}/{m}"]
        for v, e in _some(points)
    ]
    head = ["penalty / alpha_max", "genes", "variables: LOO", "variables: test", "S-EDR: LOO",
            "S-EDR: test"]  # fmt: skip
    out["along the path"] = table(head, lines)
    out["along the ridge"] = _ridge_table(kept, n, m)
    return out


def _some(points: list[Any], step: int = 5) -> list[Any]:
    """Every fifth point, and the first with as many genes as the paper keeps."""
    enough = [k for k, (variables, _) in enumerate(points) if variables[1] >= PAPERS_GENES]
    return [points[k] for k in sorted({*range(0, len(points), step), *enough[:1]})]


def _ridge_table(kept: dict[str, Any], n: int, m: int) -> str:
    """A row for every ridge: errors with one ESF, two, and so on."""
    found = kept["GL along its ridge"]
    ridges = list(dict.fromkeys(point[0] for point in found))
    counts = list(dict.fromkeys(point[1] for point in found))
    errors = {(at, k): f"{loo}/{n}, {test}/{m}" for at, k, loo, test in found}
    head = ["ridge / default", *(f"{k} ESF{'s' * (k > 1)}" for k in counts)]
    return table(head, [[f"{at:g}", *(errors[at, k] for k in counts)] for at in ridges])


def text(kept: dict[str, Any]) -> str:
    """leukemia.md."""
    shown = tables(kept)
    parts = [
        "# Leukemia\n",
        "Errors of a linear SVM on the variables or directions that each method returns. The "
        "paper's way of leave-one-out takes the features from all training samples and leaves a "
        "sample out of the classifier only; nested repeats normalising, selection, choice of the "
        "penalty, directions and classifier without the sample. Penalties and ridges are chosen on "
        "the training part by the paper's leave-one-out (fewest errors, the strongest of equals), "
        "unless the row says otherwise; the test part chooses nothing.\n",
        shown.pop("methods"),
    ]
    for title, lines in shown.items():
        parts += [f"## {title[0].upper()}{title[1:]}\n", lines]
    return "\n".join(parts)


def figures(result: LeukemiaTable) -> dict[str, Any]:
    row = next((r for r in result.rows if r.name == "SGL (S-EDR)"), result.rows[0])
    n, m = len(result.data.y), len(result.data.y_test)
    return {
        "leukemia-direction": draw_direction(row, result.data),
        "leukemia-path": draw_path(result.sgl, PAPERS_GENES, n, m),
    }
