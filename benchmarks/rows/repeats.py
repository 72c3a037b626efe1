"""How often repeated measurements are found, and how often independent rows are taken for them.

    python -m rows.repeats              # 20 tables of each kind and size
    python -m rows.repeats --seeds 5

Run from `benchmarks/` with the package installed. Sizes are 40, 100 and 400 rows.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np

from gradsift.numerics.sampling import repeated_rows

Random = np.random.Generator
Maker = Callable[[Random, int], np.ndarray]


def numbers_twice(rng: Random, n: int, p: int, r: float) -> np.ndarray:
    """Independent columns; two measurements of a sample are correlated by r."""
    S = np.repeat(rng.normal(size=(n // 2, p)), 2, axis=0)
    return np.sqrt(r) * S + np.sqrt(1.0 - r) * rng.normal(size=S.shape)


def genotypes(rng: Random, n: int, p: int, copies: float = 0.0) -> np.ndarray:
    G = rng.binomial(2, rng.uniform(0.05, 0.5, size=p), size=(n, p)).astype(float)
    return with_copies(rng, G, copies)


def genotypes_twice(rng: Random, n: int, p: int, r: float) -> np.ndarray:
    """A genotype is measured right with probability sqrt(r), and drawn anew otherwise."""
    share = rng.uniform(0.05, 0.5, size=p)
    G = np.repeat(rng.binomial(2, share, size=(n // 2, p)), 2, axis=0)
    other = rng.binomial(2, share, size=G.shape)
    return np.where(rng.uniform(size=G.shape) < np.sqrt(r), G, other).astype(float)


def with_copies(rng: Random, X: np.ndarray, share: float) -> np.ndarray:
    return np.vstack([X, X[rng.choice(len(X), int(share * len(X)), replace=False)]])


def factors(rng: Random, n: int, count: int, noise: float) -> np.ndarray:
    """Columns that follow few factors, as those of spectra do."""
    X = rng.normal(size=(n, count)) @ rng.normal(size=(count, 200))
    return X + noise * rng.normal(size=X.shape)


def smooth(rng: Random, n: int, rho: float, p: int = 200) -> np.ndarray:
    """Columns that follow the column before with correlation rho."""
    X = rng.normal(size=(n, p))
    for k in range(1, p):
        X[:, k] = rho * X[:, k - 1] + np.sqrt(1.0 - rho**2) * X[:, k]
    return X


def mostly(rng: Random, n: int, value: float) -> np.ndarray:
    return np.where(rng.uniform(size=(n, 30)) < 0.9, value, rng.normal(size=(n, 30)))


REPEATED: dict[str, Maker] = {
    f"{name}, r = {r}, {p} columns": lambda rng, n, make=make, r=r, p=p: make(rng, n, p, r)
    for name, make in (("numbers", numbers_twice), ("genotypes", genotypes_twice))
    for r in (0.8, 0.92, 0.99)
    for p in (20, 60, 200)
} | {
    "numbers, 5 % copies, 3 columns": lambda rng, n: with_copies(
        rng, rng.normal(size=(n, 3)), 0.05
    ),
    "genotypes, 5 % copies, 20 columns": lambda rng, n: genotypes(rng, n, 20, 0.05),
    "genotypes, 5 % copies, 200 columns": lambda rng, n: genotypes(rng, n, 200, 0.05),
}
INDEPENDENT: dict[str, Maker] = {
    "numbers": lambda rng, n: rng.normal(size=(n, 50)),
    "numbers, 1 column": lambda rng, n: rng.normal(size=(n, 1)),
    "numbers, 2 columns, 1 decimal": lambda rng, n: rng.normal(size=(n, 2)).round(1),
    "0 and 1, 5 columns": lambda rng, n: rng.integers(0, 2, size=(n, 5)).astype(float),
    "genotypes": lambda rng, n: genotypes(rng, n, 200),
    "counts": lambda rng, n: rng.poisson(np.exp(rng.normal(size=(n, 50)))).astype(float),
    "heavy tails": lambda rng, n: rng.standard_cauchy(size=(n, 50)),
    "2 factors": lambda rng, n: factors(rng, n, 2, 0.01),
    "8 factors": lambda rng, n: factors(rng, n, 8, 0.3),
    "smooth columns, .99": lambda rng, n: smooth(rng, n, 0.99),
    "rows in the order of time, .9": lambda rng, n: smooth(rng, 50, 0.9, n).T,
    "90 % zeros": lambda rng, n: mostly(rng, n, 0.0),
    "90 % missing": lambda rng, n: mostly(rng, n, np.nan),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=20)
    seeds = parser.parse_args().seeds
    for title, kinds in (("repeated", REPEATED), ("independent", INDEPENDENT)):
        print(f"\n{title} rows: tables with a warning, part of the rows")
        for name, make in kinds.items():
            found = []
            for n in (40, 100, 400):
                for seed in range(seeds):
                    X = make(np.random.default_rng([seed, n]), n)
                    found.append(sum(map(len, repeated_rows(X))) / len(X))
            print(f"{name:40s} {np.count_nonzero(found)} of {len(found)}  {np.mean(found):.2f}")


if __name__ == "__main__":
    main()
