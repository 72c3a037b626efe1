"""Two versions on the same simulated tables: average precision, F1 and false variables.

    python -m paired CHECKOUT                            designs, 8 seeds, then null tables
    python -m paired CHECKOUT --seeds 9500 9520 designs
    python -m paired CHECKOUT --seeds 9500 9550 levels

Run from `benchmarks/` with the package installed. Each version fits its default estimators, by its
own code, in a process of its own; the tables are those of this version. Differences are paired by
table, and their standard errors are over seeds. False variables of null tables are promised to be
.3 on average (`false_positives`).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from checkout import checkout
from levels.tables import SETTINGS
from selection.designs import DESIGNS, HELD_OUT
from sklearn.metrics import average_precision_score

HERE = Path(__file__).resolve().parents[1]
LARGE = ("tall",)
MEASURES = {"designs": ("AP", "F1", "false variables"), "levels": ("false variables",)}


def fitted(X: Any, y: Any, labels: bool) -> Any:
    from gradsift import GradientSiftClassifier, GradientSiftRegressor

    kind = GradientSiftClassifier if labels else GradientSiftRegressor
    return kind(predict_with="selected").fit(X, y)


def design(name: str, seed: int) -> list[float]:
    """AP, F1, false variables; the first two are NaN where nothing acts."""
    case = (DESIGNS | HELD_OUT)[name](seed)
    model = fitted(case.X, case.y, case.task == "classification")
    true = np.isin(np.arange(case.X.shape[1]), case.support)
    selected = model.get_support()
    hits, false = int((true & selected).sum()), float((selected & ~true).sum())
    if not true.any():
        return [np.nan, np.nan, false]
    f1 = 2 * hits / (selected.sum() + true.sum())
    return [float(average_precision_score(true, -model.ranking_)), float(f1), false]


def level(name: str, seed: int) -> list[float]:
    table = SETTINGS[name](seed)
    found = fitted(table.X, table.y, table.labels).get_support(indices=True)
    return [float(len(np.setdiff1d(found, table.true)))]


def names_of(kind: str) -> list[str]:
    if kind == "designs":
        return [name for name in {**DESIGNS, **HELD_OUT} if name not in LARGE]
    return [name for name in SETTINGS if " | " in name]  # simulated, not permuted real tables


def measured(kind: str, seeds: range) -> dict[str, list[list[float]]]:
    measure = design if kind == "designs" else level
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {name: [measure(name, seed) for seed in seeds] for name in names_of(kind)}


def start(root: Path, kind: str, seeds: list[int]) -> subprocess.Popen[str]:
    """The measurement in a process that imports the package of one checkout."""
    paths = os.pathsep.join([str(root / "src"), str(HERE / "benchmarks")])
    command = [sys.executable, "-m", "paired", "--measure", kind, "--seeds", *map(str, seeds)]
    environment = {**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True)


def report(kind: str, before: dict[str, Any], after: dict[str, Any]) -> None:
    """Means of both versions, and the paired difference with its standard error over seeds."""
    old, new = (np.array([run[name] for name in before]) for run in (before, after))
    print(f"{kind}: {old.shape[0]} kinds of tables x {old.shape[1]} seeds")
    for k, measure in enumerate(MEASURES[kind]):
        change = np.nanmean(new[..., k] - old[..., k], axis=0)
        error = change.std(ddof=1) / np.sqrt(len(change))
        means = np.nanmean(old[..., k]), np.nanmean(new[..., k])
        print(f"  {measure}: {means[0]:.4f} -> {means[1]:.4f}, {change.mean():+.4f} ({error:.4f})")
    changed = {
        name: np.nanmean(np.array(after[name]) - np.array(before[name]), axis=0)
        for name in before
        if not np.array_equal(before[name], after[name], equal_nan=True)
    }
    for name, change in sorted(changed.items(), key=lambda item: -np.nanmax(np.abs(item[1]))):
        print(f"    {name}: " + ", ".join(f"{value:+.3f}" for value in change))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkout", type=checkout, nargs="?")
    parser.add_argument("kinds", nargs="*", default=list(MEASURES), metavar="designs|levels")
    parser.add_argument("--seeds", type=int, nargs=2, default=[9500, 9508])
    parser.add_argument("--measure", choices=list(MEASURES), help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.measure:
        json.dump(measured(asked.measure, range(*asked.seeds)), sys.stdout)
        return 0
    for kind in asked.kinds:
        jobs = [start(root, kind, asked.seeds) for root in (asked.checkout, HERE)]
        before, after = (json.loads(job.communicate()[0]) for job in jobs)
        report(kind, before, after)
    return 0


if __name__ == "__main__":
    sys.exit(main())
