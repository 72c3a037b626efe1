"""Tables in which nothing is true but what covariates explain."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gradsift.data import open_source

N, P, SNPS = 200, 300, 600


class Study(NamedTuple):
    """A table, its response, and what is known besides."""

    X: Any
    y: Any
    known: dict[str, Any]
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
    """A score that all columns follow a little, and whose effect is known."""
    effect = rng.normal(size=N)
    X = rng.normal(size=(N, P)) + 0.4 * effect[:, None]
    y = effect + rng.normal(size=N)
    offset = 1.5 * effect if labels else effect
    target = np.where(offset + rng.logistic(size=N) > 0, "case", "control") if labels else y
    known = {"offset": -offset} if labels else {"offset": offset}  # controls are the second class
    return Study(X, target, known, labels)


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
