"""Studies whose rows belong together, with nothing true or with planted effects.

`effect` is the size of each planted effect, in standard deviations of the noise; 0 plants none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Generator = np.random.Generator
SHARED = 0.5
"""Part of the variance that rows of a group share, in the response and in its columns."""


@dataclass(frozen=True)
class Study:
    """X (n, p), y, and the group of each row. Columns in `true` have effects."""

    X: Array
    y: Array
    groups: NDArray[np.intp] | None
    labels: bool = False
    true: tuple[int, ...] = ()
    keep: tuple[int, ...] = ()
    """Columns that are always kept, and count neither as true nor as false."""


def grouped(rng: Generator, codes: NDArray[np.intp], columns: int) -> Array:
    """Normal columns of unit variance of which groups share a part."""
    between = rng.normal(size=(codes.max() + 1, columns))[codes]
    within = rng.normal(size=(len(codes), columns))
    return np.sqrt(SHARED) * between + np.sqrt(1.0 - SHARED) * within


def equal(groups: int, rows: int) -> NDArray[np.intp]:
    return np.repeat(np.arange(groups), rows)


def planted(study: Study, effect: float, terms: Callable[[Array], Array], count: int) -> Study:
    """The study with effects of its first columns."""
    if effect == 0.0:
        return study
    return replace(study, y=study.y + effect * terms(study.X), true=tuple(range(count)))


def first_three(X: Array) -> Array:
    return X[:, 0] + X[:, 1] + X[:, 2]


def two_products(X: Array) -> Array:
    return X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3]


def sibs(seed: int, effect: float = 0.0, families: int = 75, each: int = 4) -> Study:
    """Families of sibs, 1,000 SNPs: each sib has one allele of either parent."""
    rng = np.random.default_rng(seed)
    p, codes = 1000, equal(families, each)
    frequency = rng.uniform(0.05, 0.5, p)
    alleles = rng.uniform(size=(2, 2, families, p)) < frequency  # parent, copy
    chosen = rng.integers(0, 2, size=(2, len(codes), p))
    X = sum(np.where(chosen[k], alleles[k, 1, codes], alleles[k, 0, codes]) for k in (0, 1)) * 1.0
    y = grouped(rng, codes, 1)[:, 0]
    Z = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9)
    found = planted(Study(Z, y, codes), effect, first_three, 3)
    return replace(found, X=X)


def visits(
    seed: int,
    effect: float = 0.0,
    codes: NDArray[np.intp] | None = None,
    terms: Callable[[Array], Array] = first_three,
    count: int = 3,
) -> Study:
    """Subjects with several visits, 500 measurements; 40 with 6 each, unless given otherwise."""
    rng = np.random.default_rng(seed)
    codes = equal(40, 6) if codes is None else codes
    X, y = grouped(rng, codes, 500), grouped(rng, codes, 1)[:, 0]
    return planted(Study(X, y, codes), effect, terms, count)


def products(seed: int, effect: float = 0.0) -> Study:
    """The same visits, with effects of products of two columns."""
    return visits(seed, effect, terms=two_products, count=4)


def unequal(seed: int, effect: float = 0.0) -> Study:
    """Subjects with very different numbers of visits, about six on average."""
    sizes = np.random.default_rng(seed + 10_000).lognormal(np.log(4.0), 0.9, 40)
    return visits(seed, effect, np.repeat(np.arange(40), np.maximum(sizes.round(), 1).astype(int)))


def few(seed: int, effect: float = 0.0) -> Study:
    """8 subjects with 30 visits."""
    return visits(seed, effect, equal(8, 30))


def slopes(seed: int, effect: float = 0.0) -> Study:
    """Visits where every subject also has a trend of its own, in the response and in all
    columns: two rows depend on each other by how far apart in time they are.
    """
    found = visits(seed)
    rng = np.random.default_rng(seed + 20_000)
    time = np.tile(np.linspace(-1.5, 1.5, 6), 40)[:, None]
    X = found.X + time * rng.normal(size=(40, 500))[found.groups]
    y = found.y + (time * rng.normal(size=(40, 1))[found.groups])[:, 0]
    return planted(replace(found, X=X / X.std(axis=0), y=y / y.std()), effect, first_three, 3)


def labelled(seed: int, effect: float = 0.0) -> Study:
    """The same visits with a label that may change from visit to visit."""
    found = visits(seed, effect)
    return replace(found, y=(found.y > np.median(found.y)) * 1.0, labels=True)


def donors(seed: int, effect: float = 0.0, count: int = 12) -> Study:
    """Donors with 50 cells, 500 genes; the label is the donor's, half of them are cases."""
    rng = np.random.default_rng(seed)
    codes = equal(count, 50)
    case = rng.permutation(np.arange(count) % 2)[codes]
    X = grouped(rng, codes, 500)
    X[:, :3] += effect * (2.0 * case[:, None] - 1.0)
    return Study(X, case * 1.0, codes, labels=True, true=(0, 1, 2) if effect else ())


def many_donors(seed: int, effect: float = 0.0) -> Study:
    """48 donors."""
    return donors(seed, effect, 48)


def populations(seed: int, effect: float = 0.0) -> Study:
    """Two populations (Fst .05) of 200, 1,000 SNPs, other levels of the response in each; the
    first five principal components are kept.
    """
    rng = np.random.default_rng(seed)
    n, p, fst = 400, 1000, 0.05
    ancestral = rng.uniform(0.1, 0.9, p)
    scale = (1.0 - fst) / fst
    frequency = rng.beta(ancestral * scale, (1.0 - ancestral) * scale, size=(2, p))
    who = np.repeat([0, 1], n // 2)
    X = rng.binomial(2, frequency[who]) * 1.0
    Z = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9)
    y = rng.normal(size=n) + 1.0 * who
    components = np.linalg.svd(Z, full_matrices=False)[0][:, :5]
    found = planted(Study(Z, y, None), effect, first_three, 3)
    return replace(found, X=np.hstack([X, components]), keep=tuple(range(p, p + 5)))


def series(seed: int, effect: float = 0.0, n: int = 300, block: int = 30) -> Study:
    """Rows in the order of time, each .9 times the one before plus noise; 500 columns. Groups are
    blocks of 30 rows.
    """
    rng = np.random.default_rng(seed)
    rows = np.empty((n, 501))
    rows[0] = rng.normal(size=501)
    for i in range(1, n):
        rows[i] = 0.9 * rows[i - 1] + np.sqrt(1.0 - 0.81) * rng.normal(size=501)
    found = Study(rows[:, 1:], rows[:, 0], np.arange(n) // block)
    return planted(found, effect, first_three, 3)


def independent(seed: int, effect: float = 0.0) -> Study:
    """Independent rows, groups of 4 given for nothing."""
    rng = np.random.default_rng(seed)
    found = Study(rng.normal(size=(300, 500)), rng.normal(size=300), equal(75, 4))
    return planted(found, effect, first_three, 3)


DESIGNS: dict[str, Callable[[int, float], Study]] = {
    "75 families x 4 sibs, 1,000 SNPs": sibs,
    "40 subjects x 6 visits": visits,
    "40 subjects, 1 to 40 visits": unequal,
    "8 subjects x 30 visits": few,
    "40 subjects x 6 visits with trends": slopes,
    "40 subjects x 6 visits, labels": labelled,
    "12 donors x 50 cells, label per donor": donors,
    "48 donors x 50 cells, label per donor": many_donors,
    "two populations, 5 components kept": populations,
    "autocorrelated rows, blocks of 30": series,
    "independent rows, groups of 4": independent,
    "40 subjects x 6 visits, products": products,
}
