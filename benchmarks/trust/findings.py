"""Does the confidence of findings hold? Effects planted in real and simulated columns, and noise.

    python -m trust.findings measure strong 2000 2008    # a generator, seeds from 2000 to 2007
    python -m trust.findings measure weak 2000 2300
    python -m trust.findings measure sparse 2000 2400
    python -m trust.findings show                        # the tables, from what was measured
    python -m trust.findings moves                       # how much other random numbers change

Run from `benchmarks/` with the package installed, on one thread. The real data sets are taken from
the folder that GRADSIFT_DATA names; without it their designs are left out. Seeds below 2000 served
to develop the method.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from levels.tables import real_columns
from tables import markdown
from trust.planted import ALL, DATA, REAL, Planted, weak_or_sparse

from gradsift.data import ArraySource, measure_scaling
from gradsift.inference.findings import find
from gradsift.responses import class_contrasts
from gradsift.sift import make_sift

FILE = Path(__file__).parent / "measured.json"
CLAIMS = (0.3, 0.5, 0.8, 0.95, 1.0001)
COLUMNS = (0.02, 0.1, 0.3, 0.6, 0.9, 1.0001)
RESPONSES = ("colon", "leukemia", "riboflavin", "gasoline")
"""Data sets whose own responses `moves` looks at."""


def sifting(table: Planted) -> tuple[ArraySource, Any, Any]:
    """Standardised columns, what is sifted, and class numbers or None."""
    n = len(table.y)
    X = measure_scaling(ArraySource(table.X), np.full(n, 1.0 / n)).apply(table.X)
    if not table.labels:
        return ArraySource(X), table.y[:, None], None
    codes = table.y.astype(np.intp)
    return ArraySource(X), class_contrasts(codes, int(codes.max()) + 1), codes


def measure(table: Planted) -> dict[str, Any]:
    """What the findings of one table claim, and what holds."""
    source, Y, codes = sifting(table)
    began = time.process_time()
    fit = make_sift(source, Y, robust=codes is None).run()
    chosen = fit.result()
    middle = time.process_time()
    found = find(fit.problem, chosen.groups, codes=codes)
    seconds = [middle - began, time.process_time() - middle]
    true = set(table.true)
    acts = np.isin(np.arange(table.X.shape[1]), table.true)
    place = np.digitize(found.confidence, COLUMNS) - 1
    return {
        "findings": [
            [round(f.confidence, 4), len(f.columns), bool(true & set(f.columns.tolist()))]
            for f in found
        ],
        "true": len(true),
        "power": len(true & {int(k) for f in found if f.confidence >= 0.5 for k in f.columns}),
        "selected": [len(chosen.selected), len(true & set(chosen.selected.tolist()))],
        "bins": [
            [int(at.sum()), round(float(found.confidence[at].sum()), 3), int(acts[at].sum())]
            for at in (place == i for i in range(len(COLUMNS) - 1))
        ],
        "rows": len(table.y),
        "seconds": [round(s, 3) for s in seconds],
    }


def generated(generator: str, seeds: range) -> Iterator[tuple[str, dict[str, str], Planted]]:
    """Name, kind and table of every design and seed."""
    for seed in seeds:
        if generator != "strong":
            name, kind, table = weak_or_sparse(generator, seed)
            yield f"{seed}", {"columns": name, "kind": kind}, table
            continue
        for name, make in ALL.items():
            if DATA.exists() or not any(real in name for real in REAL):
                table = make(seed)
                kind = {0: "normal", 2: "halves", 3: "three"}[
                    len(np.unique(table.y)) if table.labels else 0
                ]
                yield f"{name} {seed}", {"columns": name.split(",")[0], "kind": kind}, table


def run(generator: str, seeds: range) -> None:
    """Measure tables that were not measured before."""
    measured = json.loads(FILE.read_text()) if FILE.exists() else {}
    rows = measured.setdefault(generator, {})
    for key, about, table in generated(generator, seeds):
        if key not in rows:
            rows[key] = about | measure(table)
            print(generator, key, rows[key]["findings"], flush=True)
    measured = (json.loads(FILE.read_text()) if FILE.exists() else {}) | {generator: rows}
    FILE.write_text(as_text(measured))


def as_text(measured: dict[str, Any]) -> str:
    """One table to a line, so that differences can be read."""
    parts = []
    for name, rows in measured.items():
        lines = ",\n".join(f"  {json.dumps(key)}: {json.dumps(row)}" for key, row in rows.items())
        parts.append(f" {json.dumps(name)}: {{\n{lines}\n }}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


# ---------------------------------------------------------------------------- what is shown


def claimed(rows: Iterable[dict[str, Any]], low: float, high: float) -> str:
    """Mean claim -> share that is right (standard error; findings)."""
    found = np.array(
        [[f[0], f[2]] for row in rows for f in row["findings"] if low <= f[0] < high], dtype=float
    ).reshape(-1, 2)
    if len(found) == 0:
        return "-"
    claim, right = found.mean(axis=0)
    error = np.sqrt(right * (1 - right) / len(found))
    return f"{claim:.2f} -> {right:.2f} ({error:.2f}; {len(found)})"


def groups_of(measured: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Tables by generator and by kind."""
    every = {name: list(rows.values()) for name, rows in measured.items()}
    rows = [row for some in every.values() for row in some]
    kinds = {
        "numbers": lambda r: r["kind"] == "normal",
        "t noise with 3 df": lambda r: r["kind"] == "t3",
        "two halves": lambda r: r["kind"] == "halves",
        "12 % cases": lambda r: r["kind"] == "rare",
        "three classes": lambda r: r["kind"] == "three",
        "five classes": lambda r: r["kind"] == "five",
        "spectra": lambda r: any(w in r["columns"] for w in ("spectra", "gasoline", "phoneme")),
        "genotypes": lambda r: "genotypes" in r["columns"],
        "fewer than 150 rows": lambda r: r["rows"] < 150,
        "500 rows and more": lambda r: r["rows"] >= 500,
    }
    return every | {name: [row for row in rows if test(row)] for name, test in kinds.items()}


def show(measured: dict[str, Any]) -> str:
    """The tables: claims, power, single columns, noise, time."""
    groups = groups_of(measured)
    spans = list(pairwise(CLAIMS))
    head = [f"{low:.2f} to {min(high, 1):.2f}" for low, high in spans]
    claims = [
        [title, str(len(rows)), *(claimed(rows, *span) for span in spans)]
        for title, rows in groups.items()
    ]
    generators = {name: groups[name] for name in measured}
    power, noise, columns = [], [], []
    for name, rows in generators.items():
        true = max(sum(row["true"] for row in rows), 1)
        power.append(
            [name, f"{sum(row['power'] for row in rows) / true:.2f}",
             f"{sum(row['selected'][1] for row in rows) / true:.2f}",
             f"{np.median([row['seconds'][1] for row in rows]):.2f}",
             f"{max(row['seconds'][1] for row in rows):.2f}",
             f"{np.median([row['seconds'][0] for row in rows]):.2f}"]
        )  # fmt: skip
        empty = [row for row in rows if row["true"] == 0]
        counts = [
            np.mean([sum(f[0] >= least for f in row["findings"]) for row in empty])
            for least in (0.3, 0.5, 0.95)
        ]
        noise.append([name, str(len(empty)), *(f"{count:.3f}" for count in counts)])
        total = np.sum([row["bins"] for row in rows], axis=0)
        cells = [f"{p / max(n, 1):.2f} -> {t / max(n, 1):.2f} ({n:.0f})" for n, p, t in total]
        columns.append([name, *cells])
    bins = [f"{low:.2f} to {min(high, 1):.2f}" for low, high in pairwise(COLUMNS)]
    parts = {
        "claims": markdown(["tables", "number", *head], claims),
        "power": markdown(
            ["tables", "in findings of .5 or more", "selected", "seconds, median", "most",
             "seconds of the sift"], power),
        "columns": markdown(["tables", *bins], columns),
        "noise": markdown(["tables", "number", ".3 or more", ".5 or more", ".95 or more"], noise),
    }  # fmt: skip
    return "\n\n".join(f"{title}\n\n{text}" for title, text in parts.items())


def moves(names: Sequence[str], seeds: int = 3) -> str:
    """Largest differences between random numbers, with the responses of real data sets."""
    rows = []
    for name in names:
        X, y, labels = real_columns(name)
        source, Y, codes = sifting(Planted(X, y, labels, ()))
        fit = make_sift(source, Y, robust=codes is None).run()
        chosen = fit.result().groups
        began = time.process_time()
        found = [find(fit.problem, chosen, codes=codes, seed=s) for s in range(seeds)]
        seconds = (time.process_time() - began) / seeds
        gap = np.ptp([one.confidence for one in found], axis=0).max()
        each: dict[int, list[float]] = {}
        for one in found:
            for finding in one:
                each.setdefault(finding.representative, []).append(finding.confidence)
        whole = [np.ptp(values) for values in each.values() if len(values) == seeds]
        rows.append([name, f"{gap:.3f}", f"{max(whole, default=0.0):.3f}", f"{seconds:.2f}"])
    return "moves\n\n" + markdown(["response", "columns", "findings", "seconds"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("job", choices=["measure", "show", "moves"])
    parser.add_argument("generator", nargs="?", choices=["strong", "weak", "sparse"])
    parser.add_argument("seeds", nargs="*", type=int)
    asked = parser.parse_args()
    if asked.job == "measure":
        run(asked.generator, range(*asked.seeds))
    elif asked.job == "show":
        print(show(json.loads(FILE.read_text())))
    else:
        print(moves(RESPONSES))


if __name__ == "__main__":
    main()
