"""False discoveries and power of `gradsift.significance` on tables whose truth is known.

    python -m trust.discoveries                         # all designs, 100 seeds
    python -m trust.discoveries --seeds 20 colon        # those whose name contains a word
    python -m trust.discoveries --show                  # the table again, from what was measured
    python -m trust.discoveries --null                  # p-values of columns that do nothing

Run from `benchmarks/` with the package installed, on one thread. The real data sets are taken from
the folder that GRADSIFT_DATA names; without it their designs are left out. Seeds begin at 1,000;
smaller ones were used while the method was made. Every table is one line of the file `--store`, and
a table that has its line is not measured again: a run that was stopped goes on where it was. Seeds
come before designs, so that a part of a run says something of every design.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tables import markdown
from trust.designs import DESIGNS, Planted

from gradsift import GradientSiftClassifier, GradientSiftRegressor
from gradsift.inference import Significance
from gradsift.inference.conditional_tests import column_significance

STORE = Path(__file__).parent / "discoveries.jsonl"
FIRST_SEED = 1000
RATES = (0.05, 0.1, 0.2)
NEAR = 0.8
NULL_COLUMNS = 60


def table_of(name: str, seed: int) -> Planted:
    return DESIGNS[name](np.random.default_rng([seed, len(name)]))


def outcome(table: Planted, columns: Sequence[int] = ()) -> tuple[list[int], Significance]:
    """The columns that the sift selects, and the tests of all."""
    model = GradientSiftClassifier() if table.n_classes else GradientSiftRegressor()
    problem, codes, also, *_ = model._sifter(table.X, table.y, list(columns))
    fit = problem.search()
    selected = fit.selected.tolist()
    return selected, column_significance(fit, codes, also=also)


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


def measure(name: str, seed: int) -> dict[str, Any]:
    """What is found in one table: [share that is false, share of the true that are found]."""
    table = table_of(name, seed)
    start = time.process_time()
    selected, found = outcome(table)
    seconds = time.process_time() - start
    cells = {"sift": false_and_power(selected, table, 1)}
    for kind, least in (("column", 1), ("family", NEAR)):
        for rate in RATES:
            listed = found.discoveries(rate, families=kind == "family").tolist()
            cells[f"{kind} {rate}"] = false_and_power(listed, table, least)
    return {"design": name, "seed": seed, "seconds": round(seconds, 2), "cells": cells}


def run(names: list[str], seeds: range, store: Path) -> None:
    """Measure what the store does not hold yet, seed by seed."""
    done = {(row["design"], row["seed"]) for row in stored(store)}
    for seed in seeds:
        for name in names:
            if (name, seed) not in done:
                row = json.dumps(measure(name, seed))
                with store.open("a") as file:
                    file.write(row + "\n")


def stored(store: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in store.read_text().splitlines()] if store.exists() else []


def row(name: str, tables: list[dict[str, Any]]) -> list[str]:
    """One row of the table: means over its seeds."""
    keys = tables[0]["cells"]
    cells = [cell([table["cells"][key] for table in tables]) for key in keys]
    seconds = np.mean([table["seconds"] for table in tables])
    return [name, str(len(tables)), *cells, f"{seconds:.2f}"]


def cell(values: list[tuple[float, float]]) -> str:
    """Mean share of false ones with its standard error, and mean share of true ones found."""
    false, power = np.array(values).T
    error = false.std(ddof=1) / np.sqrt(len(false))
    return f"{false.mean():.2f} ({error:.2f}) / {power.mean():.2f}"


def averages(groups: dict[str, list[dict[str, Any]]]) -> list[list[str]]:
    """Mean share of false discoveries over designs, that of the design with most, and power where
    there is something to find.
    """
    rows = []
    for kind, words in (("column", "columns"), ("family", "with stand-ins")):
        for rate in RATES:
            cells = [np.array([t["cells"][f"{kind} {rate}"] for t in g]) for g in groups.values()]
            false = [values[:, 0] for values in cells]
            found = [v[:, 1].mean() for v, name in zip(cells, groups) if "noise" not in name]
            most = max(false, key=np.mean)
            error = most.std(ddof=1) / np.sqrt(len(most))
            share = f"{np.mean([f.mean() for f in false]):.3f}"
            row = [words, f"{rate:g}", share, f"{most.mean():.3f} ({error:.3f})"]
            rows.append([*row, f"{np.mean(found):.2f}"])
    return rows


def null_columns(name: str, seeds: range) -> list[str]:
    """Shares of small p-values among columns that do nothing."""
    p_values = []
    for seed in seeds:
        table = table_of(name, seed)
        rng = np.random.default_rng(seed)
        rest = np.setdiff1d(np.arange(table.X.shape[1]), table.true)
        null = rng.choice(rest, NULL_COLUMNS, replace=False).tolist()
        p_values.append(outcome(table, null)[1].p_values[null])
    found = np.concatenate(p_values)
    small = [f"{np.mean(found <= level):.3f}" for level in (0.05, 0.01, 0.001)]
    return [name, str(len(found)), *small]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("words", nargs="*", help="designs whose name contains one of these")
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--store", type=Path, default=STORE)
    parser.add_argument("--null", action="store_true")
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    seeds = range(FIRST_SEED, FIRST_SEED + options.seeds)
    names = [n for n in DESIGNS if not options.words or any(w in n for w in options.words)]
    if options.null:
        head = ["columns", "null columns", "p <= .05", "p <= .01", "p <= .001"]
        rows = [null_columns(name, seeds) for name in names]
    else:
        if not options.show:
            run(names, seeds, options.store)
        kinds = [f"{kind}, q = {rate}" for kind in ("column", "with stand-ins") for rate in RATES]
        head = ["design", "seeds", "selected by the sift", *kinds, "CPU s"]
        known = [table for table in stored(options.store) if table["seed"] in seeds]
        groups = {name: [t for t in known if t["design"] == name] for name in names}
        groups = {name: tables for name, tables in groups.items() if len(tables) > 1}
        rows = [row(name, tables) for name, tables in groups.items()]
        over = ["", "q", "false discoveries", "in the design with most (s.e.)", "found"]
        print(f"averages\n{markdown(over, averages(groups))}")
    print("discoveries")
    print(markdown(head, rows))


if __name__ == "__main__":
    main()
