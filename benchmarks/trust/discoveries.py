"""False discoveries and power of `gradsift.significance` on tables whose truth is known.

    python -m trust.discoveries                         # all designs, 100 seeds
    python -m trust.discoveries --seeds 20 colon        # those whose name contains a word
    python -m trust.discoveries --null                  # p-values of columns that do nothing

Run from `benchmarks/` with the package installed, on one thread. The real data sets are taken from
the folder that GRADSIFT_DATA names; without it their designs are left out. Seeds begin at 1,000;
smaller ones were used while the method was made.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np
from tables import markdown
from trust.designs import DESIGNS, Planted

from gradsift import GradientSiftClassifier, GradientSiftRegressor, significance
from gradsift.trust import Significance

FIRST_SEED = 1000
RATES = (0.05, 0.1, 0.2)
NEAR = 0.8
NULL_COLUMNS = 60


def table_of(name: str, seed: int) -> Planted:
    return DESIGNS[name](np.random.default_rng([seed, len(name)]))


def tested(table: Planted, **options: Any) -> Significance:
    model = GradientSiftClassifier() if table.n_classes else GradientSiftRegressor()
    return significance(model, table.X, table.y, **options)


def selected(table: Planted) -> list[int]:
    model = GradientSiftClassifier() if table.n_classes else GradientSiftRegressor()
    found: list[int] = model._find_support(table.X, table.y).tolist()
    return found


def false_and_power(found: list[int], table: Planted, least: float) -> tuple[float, float]:
    """Share of false ones among the found, and share of the true ones that were found; a column
    counts as true if it is correlated by `least` with a true one (1: if it is one).
    """
    if not found:
        return 0.0, 0.0
    near = np.eye(table.X.shape[1], dtype=bool)[:, table.true]
    if least < 1 and table.true:
        near = near | (np.abs(np.corrcoef(table.X.T)[:, table.true]) >= least)
    hit = near[found]
    return float(1 - hit.any(axis=1).mean()), float(hit.any(axis=0).mean()) if table.true else 0.0


def measure(name: str, seeds: range) -> list[str]:
    """One row of the table."""
    columns: dict[str, list[tuple[float, float]]] = {}
    seconds = []
    for seed in seeds:
        table = table_of(name, seed)
        columns.setdefault("sift", []).append(false_and_power(selected(table), table, 1))
        start = time.process_time()
        found = tested(table)
        seconds.append(time.process_time() - start)
        for families, least in ((False, 1), (True, NEAR)):
            for rate in RATES:
                listed = found.discoveries(rate, families=families).tolist()
                key = f"{families} {rate}"
                columns.setdefault(key, []).append(false_and_power(listed, table, least))
    cells = [cell(values) for values in columns.values()]
    return [name, str(len(seeds)), *cells, f"{np.mean(seconds):.2f}"]


def cell(values: list[tuple[float, float]]) -> str:
    false, power = np.array(values).T
    error = false.std(ddof=1) / np.sqrt(len(false))
    return f"{false.mean():.2f} ({error:.2f}) / {power.mean():.2f}"


def null_columns(name: str, seeds: range) -> list[str]:
    """Shares of small p-values among columns that do nothing."""
    p_values = []
    for seed in seeds:
        table = table_of(name, seed)
        rng = np.random.default_rng(seed)
        rest = np.setdiff1d(np.arange(table.X.shape[1]), table.true)
        null = rng.choice(rest, NULL_COLUMNS, replace=False).tolist()
        p_values.append(tested(table, columns=null).p_values[null])
    found = np.concatenate(p_values)
    small = [f"{np.mean(found <= level):.3f}" for level in (0.05, 0.01, 0.001)]
    return [name, str(len(found)), *small]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("words", nargs="*", help="designs whose name contains one of these")
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--null", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    seeds = range(FIRST_SEED, FIRST_SEED + options.seeds)
    names = [n for n in DESIGNS if not options.words or any(w in n for w in options.words)]
    if options.null:
        head = ["columns", "null columns", "p <= .05", "p <= .01", "p <= .001"]
        rows = [null_columns(name, seeds) for name in names]
    else:
        kinds = [f"{kind}, q = {rate}" for kind in ("column", "family") for rate in RATES]
        head = ["design", "seeds", "selected by the sift", *kinds, "CPU s"]
        rows = [measure(name, seeds) for name in names]
    print("discoveries")
    print(markdown(head, rows))


if __name__ == "__main__":
    main()
