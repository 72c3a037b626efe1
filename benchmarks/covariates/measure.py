"""False variables where batches, populations or known scores confound, with and without covariates.

    python -m covariates.measure                    # every design, 50 seeds
    python -m covariates.measure --seeds 10 batches # designs whose name contains a word
    python -m covariates.measure --table            # the tables again, from what was measured

Run from `benchmarks/` with the package installed, on one thread. Nothing is true in a design but
what the covariates explain. Seeds that were measured already are not measured again.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gradsift import GradientSiftClassifier, GradientSiftRegressor
from gradsift.data import open_source
from gradsift.estimators.base import blank

FILE = Path(__file__).parent / "measured.json"
SEEDS = 50
LEVEL, BAR = 0.3, 0.4
N, P, SNPS = 200, 300, 600
MEDIAN = 0.4549364
"""Median of a chi-square with one degree of freedom."""


class Study(NamedTuple):
    """A table, its response, and what is known beside them."""

    X: Any
    y: Any
    told: dict[str, Any]
    labels: bool = False


def batches(rng: np.random.Generator, labels: bool) -> Study:
    """Three batches that shift every column, and the response by one standard deviation."""
    batch = rng.integers(3, size=N)
    X = rng.normal(size=(N, P)) + 0.5 * rng.normal(size=(3, P))[batch]
    shift = np.array([-1.0, 0.0, 1.0])[batch]
    y = shift + rng.normal(size=N)
    target = np.where(1.5 * shift + rng.logistic(size=N) > 0, "case", "control") if labels else y
    return Study(X, target, {"covariates": {"batch": np.array(["a", "b", "c"])[batch]}}, labels)


def ages(rng: np.random.Generator) -> Study:
    """Columns that follow age, and a response that bends with it."""
    age = rng.normal(size=N)
    X = rng.normal(size=(N, P)) + 0.7 * age[:, None] * (np.arange(P) < P // 2)
    return Study(X, age**2 + age + rng.normal(size=N), {"covariates": age})


def curved(rng: np.random.Generator, shape: Callable[[Any, Any], Any]) -> Study:
    """Columns and a response that follow a function of two covariates, an age and a batch of two,
    with unit variance.
    """
    age, batch = rng.normal(size=N), rng.choice(["x", "y"], N)
    effect = shape(age, np.where(batch == "x", 1.0, -1.0))
    X = rng.normal(size=(N, P)) + 0.7 * effect[:, None]
    return Study(X, effect + rng.normal(size=N), {"covariates": {"age": age, "batch": batch}})


def genotypes(rng: np.random.Generator) -> tuple[Any, Any]:
    """Counts of alleles of two populations (Fst .05), and which population each sample is from."""
    shared = rng.uniform(0.1, 0.9, size=SNPS)
    a, b = shared * 19.0, (1.0 - shared) * 19.0
    own = rng.beta(a, b, size=(2, SNPS))
    people = (np.arange(N) >= N // 2).astype(int)
    return rng.binomial(2, own[people]).astype(float), people


def components(source: Any, count: int = 5) -> Any:
    """Principal components of a stored table, block by block."""
    n = source.shape[0]
    K = np.zeros((n, n))
    for _, block in source.blocks():
        Z = np.nan_to_num((block - np.nanmean(block, axis=0)) / np.nanstd(block, axis=0).clip(1e-9))
        K += Z @ Z.T
    return np.linalg.eigh(K)[1][:, ::-1][:, :count] * np.sqrt(n)


def populations(rng: np.random.Generator, labels: bool, path: Path) -> Study:
    """Two populations in a .bed file that differ in the response; five components of the file."""
    from bed_reader import to_bed

    X, people = genotypes(rng)
    shift = 1.2 * people
    y = shift + rng.normal(size=N)
    if labels:
        y = np.where(1.5 * shift - 0.9 + rng.logistic(size=N) > 0, "case", "control")
    to_bed(path, X)
    return Study(path, y, {"covariates": components(open_source(path))}, labels)


def score(rng: np.random.Generator, labels: bool) -> Study:
    """A known score that all columns follow a little."""
    known = rng.normal(size=N)
    X = rng.normal(size=(N, P)) + 0.4 * known[:, None]
    y = known + rng.normal(size=N)
    offset = 1.5 * known if labels else known
    target = np.where(offset + rng.logistic(size=N) > 0, "case", "control") if labels else y
    told = {"offset": -offset} if labels else {"offset": offset}  # controls are the second class
    return Study(X, target, told, labels)


DESIGNS: dict[str, Callable[[np.random.Generator, Path], Study]] = {
    "three batches": lambda rng, path: batches(rng, False),
    "three batches, labels": lambda rng, path: batches(rng, True),
    "age with a bend": lambda rng, path: ages(rng),
    "two populations, components of the .bed": lambda rng, path: populations(rng, False, path),
    "two populations, components, labels": lambda rng, path: populations(rng, True, path),
    "a score as offset": lambda rng, path: score(rng, False),
    "a score as offset, labels": lambda rng, path: score(rng, True),
    "a square": lambda rng, path: curved(rng, lambda a, b: (a * a - 1) / np.sqrt(2)),
    "a wave": lambda rng, path: curved(rng, lambda a, b: np.sqrt(2) * np.sin(3 * a)),
    "a step": lambda rng, path: curved(rng, lambda a, b: np.where(a > 0.5, 1.5, -0.7)),
    "a slope in each batch": lambda rng, path: curved(rng, lambda a, b: a * b),
}


def selected(study: Study, told: bool) -> int:
    """How many columns are selected, none of which acts."""
    kind = GradientSiftClassifier if study.labels else GradientSiftRegressor
    model = kind(LEVEL).fit_for("support", study.X, study.y, **(study.told if told else {}))
    return int(model.get_support().sum())


def inflation(study: Study) -> dict[str, float]:
    """Genomic inflation with and without covariates: the median statistic of a line in each column
    over that of a chi-square.
    """
    X = open_source(study.X).columns(np.arange(SNPS))
    y = study.y if not study.labels else (study.y == "case").astype(float)
    model = GradientSiftRegressor(LEVEL)
    door = blank(model)
    C = model._sample(door, X, y, covariates=study.told["covariates"]).covariates
    ones = np.ones((N, 1))
    return {
        "covariates": over_median(X, y, np.column_stack([ones, C])),
        "none": over_median(X, y, ones),
    }


def over_median(X: Any, y: Any, beside: Any) -> float:
    Q = np.linalg.qr(beside)[0]
    r, Z = y - Q @ (Q.T @ y), X - Q @ (Q.T @ X)
    size = np.maximum(np.square(Z).sum(axis=0), 1e-12)
    noise = r @ r / (len(r) - beside.shape[1])
    return float(np.median(np.square(Z.T @ r) / size / noise) / MEDIAN)


def measure(word: str, seeds: int) -> None:
    """Fill in what is not measured yet: first what is told the covariates, then what is not."""
    known = json.loads(FILE.read_text()) if FILE.exists() else {}
    with tempfile.TemporaryDirectory() as folder:
        for told in (True, False):
            for seed in range(seeds):
                for number, (name, design) in enumerate(DESIGNS.items()):
                    found = known.setdefault(name, {}).setdefault(str(seed), {})
                    key = "covariates" if told else "none"
                    if word not in name or key in found:
                        continue
                    study = design(np.random.default_rng([seed, number]), Path(folder) / "t.bed")
                    found[key] = selected(study, told)
                    if told and "populations" in name:
                        found |= {f"inflation, {k}": v for k, v in inflation(study).items()}
                    FILE.write_text(json.dumps(known, indent=1))


def cell(values: list[float], bar: float | None = None) -> str:
    """Mean (standard error); bold where above the bar by two of them."""
    if not values:
        return ""
    mean, error = float(np.mean(values)), float(np.std(values, ddof=1) / np.sqrt(len(values)))
    text = f"{mean:.2f} ({error:.2f})"
    return f"**{text}**" if bar is not None and mean - 2 * error > bar else text


def table() -> str:
    """The tables of the page."""
    known = json.loads(FILE.read_text())

    def column(name: str, what: str) -> list[float]:
        return [one[what] for one in known.get(name, {}).values() if what in one]

    head = ["| design | with covariates | without | seeds |", "| --- | --- | --- | --- |"]
    lines = ["confounded", "", *head]
    for name in DESIGNS:
        told, plain = column(name, "covariates"), column(name, "none")
        seeds = f"{len(told)}/{len(plain)}"
        lines.append(f"| {name} | {cell(told, BAR)} | {cell(plain, BAR)} | {seeds} |")
    lines += ["", "inflation", "", *head]
    for name in DESIGNS:
        if values := column(name, "inflation, covariates"):
            plain = column(name, "inflation, none")
            lines.append(f"| {name} | {cell(values)} | {cell(plain)} | {len(values)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("word", nargs="?", default="")
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--table", action="store_true")
    asked = parser.parse_args()
    if not asked.table:
        warnings.simplefilter("ignore")
        measure(asked.word, asked.seeds)
    print(table())
