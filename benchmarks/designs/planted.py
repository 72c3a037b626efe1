"""Tables with planted effects: real and simulated columns, a response made of a few of them.

Three generators, which differ in the number and size of effects. *Strong* (`DESIGNS`, `NOISE`): one
to three columns act, and noise leaves them a drawn part of the variance. *Weak*: one to four
effects, each of a size from hardly visible to plain; a table in ten is empty. *Sparse*: seven
tables in ten are empty, the others hold one effect. Columns that are copies of others are left out,
so that there is one answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from designs.data_sets import DATA
from numpy.typing import NDArray

Array = NDArray[np.float64]
Generator = np.random.Generator
MOST_COLUMNS = 1500
MOST_ROWS = 300

SHAPES: dict[str, Callable[[Array], Array]] = {
    "line": lambda x: x,
    "square": lambda x: x**2,
    "sine": lambda x: np.sin(2 * x),
    "step": lambda x: np.sign(x - 0.3),
    "exponential": lambda x: np.exp(np.clip(x, -3, 2)),
}


@dataclass(frozen=True)
class Planted:
    """X (n, p), y (labels are whole numbers), columns that act, and pairs that act as products."""

    X: Array
    y: Array
    labels: bool
    true: tuple[int, ...]
    pairs: tuple[tuple[int, int], ...] = ()


def unit(x: Array) -> Array:
    return (x - x.mean()) / max(float(x.std()), 1e-12)


@cache
def stored(name: str) -> Array:
    """The columns of a data set, without constant ones and copies."""
    if name == "leukemia":
        with np.load(DATA / "leukemia.npz") as data:
            X = np.vstack([data["X_train"], data["X_test"]]).astype(float)
        X = np.log10(np.clip(X, 100, 16000))
    elif name in ("breast_cancer", "diabetes", "digits"):
        from sklearn import datasets

        X = getattr(datasets, f"load_{name}")().data
    else:
        path = DATA / f"{name}.npz"
        with np.load(path if path.exists() else DATA / "more" / f"{name}.npz") as data:
            X = np.asarray(data["X"], dtype=float)
        X = np.log2(1 + X) if name == "colon" else X
    X = X[:, X.std(axis=0) > 1e-9]
    Z = np.round((X - X.mean(axis=0)) / X.std(axis=0), 6)
    return np.asarray(X[:, np.sort(np.unique(Z, axis=1, return_index=True)[1])])


def real(name: str, rng: Generator) -> Array:
    """Some columns and rows of a data set, in their order."""
    X = stored(name)
    columns = np.sort(rng.permutation(X.shape[1])[:MOST_COLUMNS])
    rows = np.sort(rng.permutation(len(X))[:MOST_ROWS])
    X = X[np.ix_(rows, columns)]
    return np.asarray(X[:, [np.unique(x).size > 1 for x in X.T]])


def autoregressive(r: float, n: int, p: int, rng: Generator) -> Array:
    X = rng.normal(size=(n, p))
    for j in range(1, p):
        X[:, j] = r * X[:, j - 1] + np.sqrt(1 - r * r) * X[:, j]
    return X


def near_copies(rng: Generator) -> Array:
    core = np.repeat(rng.normal(size=(100, 50)), 10, axis=1)
    return np.asarray(np.sqrt(0.95) * core + np.sqrt(0.05) * rng.normal(size=core.shape))


def factors(n: int, p: int, rng: Generator) -> Array:
    """Five hidden factors behind all columns."""
    return np.asarray(
        rng.normal(size=(n, 5)) @ rng.normal(size=(5, p)) / 2 + rng.normal(size=(n, p))
    )


def genotype_counts(n: int, p: int, rng: Generator) -> Array:
    """Counts of two alleles, neighbours in linkage."""
    rate = rng.uniform(0.1, 0.5, p)
    places = [np.argsort(np.argsort(autoregressive(0.9, n, p, rng), axis=0), axis=0)
              for _ in range(2)]  # fmt: skip
    return np.asarray((places[0] < n * rate) + 1.0 * (places[1] < n * rate))


def mixed_types(n: int, p: int, rng: Generator) -> Array:
    """Normal and lognormal amounts, 0/1 columns and counts."""
    X, kind = rng.normal(size=(n, p)), rng.integers(0, 4, p)
    X[:, kind == 1] = np.exp(X[:, kind == 1])
    X[:, kind == 2] = X[:, kind == 2] > 0.7
    X[:, kind == 3] = rng.poisson(1.0, size=(n, int((kind == 3).sum())))
    return X


def smooth_spectra(n: int, p: int, rng: Generator) -> Array:
    """Sums of eight bands, and a little noise."""
    at = np.linspace(0, 1, p)
    centre, width = rng.uniform(0, 1, (8, 1)), rng.uniform(0.03, 0.15, (8, 1))
    bands = np.exp(-0.5 * ((at - centre) / width) ** 2)
    return np.asarray(rng.lognormal(0, 0.5, size=(n, 8)) @ bands + 0.005 * rng.normal(size=(n, p)))


COLUMNS: dict[str, Callable[[Generator], Array]] = {
    "riboflavin": partial(real, "riboflavin"),
    "colon": partial(real, "colon"),
    "leukemia": partial(real, "leukemia"),
    "gasoline spectra": partial(real, "gasoline"),
    "glioma": partial(real, "glioma"),
    "cns_pomeroy": partial(real, "cns_pomeroy"),
    "breast_sorlie": partial(real, "breast_sorlie"),
    "methylation": partial(real, "methyl_christensen"),
    "pd_speech": partial(real, "pd_speech"),
    "cox2 descriptors": partial(real, "cox2"),
    "phoneme spectra": partial(real, "phoneme"),
    "fingerprints": partial(real, "permeability"),
    "breast_cancer": partial(real, "breast_cancer"),
    "digits": partial(real, "digits"),
    "AR(.9)": partial(autoregressive, 0.9, 100, 500),
    "AR(.5)": partial(autoregressive, 0.5, 100, 500),
    "near-copies": near_copies,
    "factors": partial(factors, 80, 1000),
    "genotypes": partial(genotype_counts, 300, 600),
}
REAL = tuple(COLUMNS)[:14]


def planted_effect(X: Array, rng: Generator, most: int = 3) -> tuple[Array, tuple[int, ...]]:
    """A sum of effects of some columns of unit variance, and the columns."""
    count = int(rng.integers(1, most + 1))
    # a column that hardly varies cannot show a shape
    varied = np.flatnonzero([np.unique(x, return_counts=True)[1].max() < 0.9 * len(x) for x in X.T])
    true = rng.choice(varied, size=count, replace=False)
    total = np.zeros(len(X))
    for j in true:
        shape = list(SHAPES.values())[rng.integers(len(SHAPES))]
        effect = unit(shape(unit(X[:, j])))
        effect = effect if effect.any() else unit(X[:, j])
        total += rng.uniform(0.7, 1.4) * rng.choice([-1, 1]) * effect
    return unit(total), tuple(int(j) for j in true)


def signal_part(n: int, rng: Generator) -> float:
    """Part of the variance that is signal: more in short tables."""
    return float(rng.uniform(0.5, 0.8) if n < 150 else rng.uniform(0.3, 0.6))


def numbers(kind: str, seed: int) -> Planted:
    rng = np.random.default_rng([seed, list(COLUMNS).index(kind)])
    X = COLUMNS[kind](rng)
    f, true = planted_effect(X, rng)
    part = signal_part(len(X), rng)
    y = np.sqrt(part) * f + np.sqrt(1 - part) * rng.normal(size=len(X))
    return Planted(X, y, False, true)


def labels(kind: str, n_classes: int, seed: int) -> Planted:
    rng = np.random.default_rng([seed, 100 + list(COLUMNS).index(kind), n_classes])
    X = COLUMNS[kind](rng)
    f, true = planted_effect(X, rng, most=2)
    z = np.sqrt(0.8) * f + np.sqrt(0.2) * rng.normal(size=len(X))
    y = np.digitize(z, np.quantile(z, np.arange(1, n_classes) / n_classes))
    return Planted(X, y, True, true)


def product(seed: int) -> Planted:
    rng = np.random.default_rng([seed, 200])
    X = autoregressive(0.8, 200, 300, rng)
    a, b, c = (int(j) for j in rng.choice(300, size=3, replace=False))
    y = unit(X[:, a] * X[:, b]) + 0.7 * X[:, c] + rng.normal(size=200)
    return Planted(X, y, False, (a, b, c), ((a, b),))


def noise(kind: str, seed: int) -> Planted:
    rng = np.random.default_rng([seed, 300 + list(COLUMNS).index(kind)])
    X = COLUMNS[kind](rng)
    return Planted(X, rng.normal(size=len(X)), False, ())


def noise_labels(kind: str, seed: int) -> Planted:
    rng = np.random.default_rng([seed, 400 + list(COLUMNS).index(kind)])
    X = COLUMNS[kind](rng)
    return Planted(X, (rng.permutation(len(X)) < 0.4 * len(X)).astype(int), True, ())


DESIGNS: dict[str, Callable[[int], Planted]] = {
    **{kind: partial(numbers, kind) for kind in COLUMNS},
    "product, AR(.8)": product,
    **{
        f"{kind}, {n} classes": partial(labels, kind, n)
        for kind, n in (
            ("colon", 2),
            ("AR(.9)", 2),
            ("genotypes", 2),
            ("pd_speech", 2),
            ("breast_sorlie", 3),
        )
    },
}
NOISE: dict[str, Callable[[int], Planted]] = {
    **{f"noise, {kind}": partial(noise, kind) for kind in COLUMNS},
    **{f"noise, {kind}, 2 classes": partial(noise_labels, kind) for kind in ("colon", "AR(.9)")},
}
ALL: dict[str, Callable[[int], Any]] = {**DESIGNS, **NOISE}


# ---------------------------------------------------------------------------- weak and sparse
ANY_COLUMNS = (
    "riboflavin", "colon", "leukemia", "gasoline", "glioma", "cns_pomeroy", "breast_sorlie",
    "methyl_christensen", "pd_speech", "cox2", "phoneme", "permeability", "breast_cancer",
    "diabetes", "digits",
)  # fmt: skip
SIMULATED: dict[str, Callable[[int, int, Generator], Array]] = {
    "AR(.2)": partial(autoregressive, 0.2),
    "AR(.5)": partial(autoregressive, 0.5),
    "AR(.9)": partial(autoregressive, 0.9),
    "near-copies": lambda n, p, rng: (
        np.sqrt(0.95) * np.repeat(rng.normal(size=(n, p // 8 + 1)), 8, axis=1)[:, :p]
        + np.sqrt(0.05) * rng.normal(size=(n, p))
    ),
    "factors": factors,
    "genotypes": genotype_counts,
    "mixed types": mixed_types,
    "smooth spectra": smooth_spectra,
}
KINDS = ("normal", "normal", "normal", "t3", "halves", "halves", "rare", "three", "five", "empty")
"""Kinds of responses; of a weak table, the last has no effect."""
CUTS = {"halves": (0.5,), "rare": (0.88,), "three": (1 / 3, 2 / 3), "five": (0.2, 0.4, 0.6, 0.8)}
EFFECTS = ("line", "line", "square", "sine", "step")
SIZES = {"weak": (8, 70), "sparse": (15, 45)}
"""Rows times signal to noise of one effect, log-uniform; twice that for labels."""


def any_columns(rng: Generator) -> tuple[str, Array]:
    """60 to 2,000 rows and 8 to 900 columns of a real data set or a simulated kind."""
    names = [*(ANY_COLUMNS if DATA.exists() else ()), *SIMULATED]
    name = names[rng.integers(len(names))]
    n, p = (int(np.exp(rng.uniform(*np.log(ends)))) for ends in ((60, 2000), (8, 900)))
    if name in SIMULATED:
        X = SIMULATED[name](n, p, rng)
    else:
        X = stored(name)
        X = X[np.sort(rng.permutation(len(X))[:n])][:, np.sort(rng.permutation(X.shape[1])[:p])]
        X = X[:, [np.unique(x).size > 1 for x in X.T]]
    Z = np.round((X - X.mean(axis=0)) / X.std(axis=0), 6)
    return name, X[:, np.sort(np.unique(Z, axis=1, return_index=True)[1])]


def weak_or_sparse(generator: str, seed: int) -> tuple[str, str, Planted]:
    """Columns, response, and a table of one of the two generators."""
    rng = np.random.default_rng([seed, list(SIZES).index(generator), 9])
    name, X = any_columns(rng)
    kind = str(rng.choice(KINDS))
    if generator == "sparse":
        count = int(rng.random() < 0.3)
    else:
        count = 0 if kind == "empty" else int(rng.integers(1, 5))
    kind = str(rng.choice(["normal", "halves"])) if kind == "empty" else kind
    least, most = np.log(SIZES[generator]) + (np.log(2) if kind in CUTS else 0.0)
    varied = np.flatnonzero([np.unique(x, return_counts=True)[1].max() < 0.9 * len(x) for x in X.T])
    signal, true, pairs = np.zeros(len(X)), list[int](), list[tuple[int, int]]()
    for _ in range(count if len(varied) > 1 else 0):
        a, b = (int(j) for j in rng.choice(varied, size=2, replace=False))
        if generator == "weak" and rng.random() < 0.12:
            effect, acting = unit(unit(X[:, a]) * unit(X[:, b])), [a, b]
            pairs.append((a, b))
        else:
            effect, acting = unit(SHAPES[str(rng.choice(EFFECTS))](unit(X[:, a]))), [a]
        effect = effect if effect.any() else unit(X[:, a])
        ratio = np.exp(rng.uniform(least, most)) / len(X)
        signal += np.sqrt(ratio) * rng.choice([-1, 1]) * effect
        true += acting
    noise = rng.standard_t(3, size=len(X)) / np.sqrt(3) if kind == "t3" else rng.normal(size=len(X))
    y = signal + noise
    if kind in CUTS:
        y = np.digitize(y, np.quantile(y, CUTS[kind]))
    return name, kind, Planted(X, y, kind in CUTS, tuple(dict.fromkeys(true)), tuple(pairs))
