"""How cost grows with columns and with rows.

    PYTHONPATH=benchmarks python -m growth.measure columns    p = 10^3 .. 10^6, n = 100
    PYTHONPATH=benchmarks python -m growth.measure rows       n = 10^2 .. 10^5, p = 50
    PYTHONPATH=benchmarks python -m growth.measure memory     p = 10^3 .. 10^6, n = 100: memory only
    PYTHONPATH=benchmarks python -m growth.measure picture    growth.png from what was measured

Each size runs in a process of its own, so that its peak memory is its own. The exponent is the
slope of log time against log size over the upper half of the sizes, where fixed costs no longer
count; that over all sizes is printed too.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from gradsift._run.memory import resident_memory

HERE = Path(__file__).parent
COLUMNS = [1_000, 3_162, 10_000, 31_623, 100_000, 316_228, 1_000_000]
ROWS = [100, 316, 1_000, 3_162, 10_000, 31_623, 100_000]
MEMORY = [1_000, 10_000, 100_000, 300_000, 1_000_000]
CONTESTANTS = {"columns": ["sift", "path"], "rows": ["sift", "default"]}


def problem(n: int, p: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Five planted variables: a square, a sine, a product, a line."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = X[:, 0] ** 2 + np.sin(2 * X[:, 1]) + X[:, 2] * X[:, 3] + X[:, 4]
    return X, y + 0.3 * rng.normal(size=n)


def fit(contestant: str, X: np.ndarray, y: np.ndarray) -> list[int]:
    """The variables a contestant ranks first."""
    from gradsift import (
        GradientSiftRegressor,
        Landmarks,
        SparseGradientRegressor,
        gradient_path,
    )

    if contestant == "sift":
        model = GradientSiftRegressor().fit(X, y)
    elif contestant == "path":
        path = gradient_path(X, y, n_alphas=20, kernel=Landmarks("gaussian", 50))
        return np.argsort(-path.importances[-1])[:5].tolist()
    else:
        model = SparseGradientRegressor().fit(X, y)
    return np.argsort(model.ranking_)[:5].tolist()


def one(contestant: str, n: int, p: int) -> dict[str, object]:
    """Seconds and memory of one fit, in this process."""
    X, y = problem(n, p)
    fit(contestant, X[:60, :20], y[:60])  # imports and threads
    before = resident_memory() or 0
    start = time.perf_counter()
    best = fit(contestant, X, y)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    extra = max(0, peak - before) / X.nbytes
    return {
        "n": n,
        "p": p,
        "seconds": seconds,
        "memory": extra,
        "found": len({*best} & set(range(5))),
    }


def run(what: str) -> None:
    """All sizes of one kind, one process each; prints and stores them."""
    table = {}
    for contestant in CONTESTANTS[what]:
        rows = []
        for size in COLUMNS if what == "columns" else ROWS:
            n, p = (100, size) if what == "columns" else (size, 50)
            command = [sys.executable, "-m", "growth.measure", "one", contestant, str(n), str(p)]
            printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            rows.append(json.loads(printed.splitlines()[-1]))
            r = rows[-1]
            print(
                f"{contestant:11s} n={n:<7} p={p:<8} {r['seconds']:8.2f} s   "
                f"{r['memory']:.1f}x the size of X   {r['found']} of 5 found",
                flush=True,
            )
        table[contestant] = rows
        upper, all_of_them = exponents(what, rows)
        print(f"{contestant}: exponent {upper:.2f} ({all_of_them:.2f} over all)\n")
    (HERE / f"{what}.json").write_text(json.dumps(table, indent=1))


LABELS = {
    ("columns", "sift"): "`GradientSiftRegressor()` in p",
    ("columns", "path"): "`gradient_path`, 20 alphas, 50 landmarks, in p",
    ("rows", "sift"): "`GradientSiftRegressor()` in n",
    ("rows", "default"): "`SparseGradientRegressor()` in n",
}


def exponents(what: str, rows: list[dict[str, float]]) -> tuple[float, float]:
    """Slopes of log time against log size: over the upper half of the sizes, over all."""
    sizes = np.log([r["p"] if what == "columns" else r["n"] for r in rows])
    times = np.log([r["seconds"] for r in rows])
    half = len(sizes) // 2
    upper, all_of_them = (np.polyfit(sizes[k:], times[k:], 1)[0] for k in (half, 0))
    return upper, all_of_them


def summary() -> str:
    """What was stored by `columns` and `rows`, as a Markdown table."""
    lines = [
        "| what | sizes | seconds, smallest to largest | exponent, upper half (all) "
        "| memory above X at the largest |",
        "|---|---|---|---|---|",
    ]
    for what in ("columns", "rows"):
        for contestant, rows in json.loads((HERE / f"{what}.json").read_text()).items():
            upper, all_of_them = exponents(what, rows)
            first, last = rows[0], rows[-1]
            size = "p" if what == "columns" else "n"
            lines.append(
                f"| {LABELS[what, contestant]} | {first[size]:,} to {last[size]:,} "
                f"| {first['seconds']:.2f} to {last['seconds']:.0f} | {upper:.2f} "
                f"({all_of_them:.2f}) | {last['memory']:.1f} times X |"
            )
    return "\n".join(lines) + "\n"


def memory() -> None:
    """Peak memory above X, in megabytes and in units of X, as a Markdown table."""
    print(
        "| p (X) | `GradientSiftRegressor()` | `gradient_path`, 20 alphas, 50 landmarks "
        "| `SparseGradientRegressor()` |\n|---|---|---|---|"
    )
    for p in MEMORY:
        size = 100 * p * 8e-6
        cells = [f"{p:,} ({size:g} MB)"]
        for contestant in ("sift", "path", "default"):
            command = [sys.executable, "-m", "growth.measure", "one", contestant, "100", str(p)]
            printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            times = json.loads(printed.splitlines()[-1])["memory"]
            cells.append(f"{times * size:,.1f} MB = {times:.1f} X")
        print("| " + " | ".join(cells) + " |", flush=True)


def picture() -> None:
    """Time against size, both kinds side by side."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained", sharey=True)
    labels = {
        "sift": "GradientSiftRegressor",
        "path": "gradient_path, 20 alphas, 50 landmarks",
        "default": "SparseGradientRegressor",
    }
    colours = {"sift": "#0072B2", "path": "#D55E00", "default": "#009E73"}
    for axis, what in zip(axes, ("columns", "rows")):
        table = json.loads((HERE / f"{what}.json").read_text())
        for contestant, rows in table.items():
            size = [r["p"] if what == "columns" else r["n"] for r in rows]
            axis.loglog(
                size, [r["seconds"] for r in rows], "o-", ms=4,
                color=colours[contestant], label=labels[contestant],
            )  # fmt: skip
        size = np.array([size[len(size) // 2], size[-1]], dtype=float)
        last = rows[-1]["seconds"]
        axis.loglog(size, last * size / size[-1], "--", color="0.6", lw=1, label="slope 1")
        axis.set_xlabel(f"{what} ({'n = 100' if what == 'columns' else 'p = 50'})")
        axis.legend(frameon=False, fontsize=8)
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("seconds")
    figure.savefig(HERE / "growth.png", dpi=140)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["one", contestant, n, p]:
            print(json.dumps(one(contestant, int(n), int(p))))
        case ["picture"]:
            picture()
        case ["memory"]:
            memory()
        case ["columns" | "rows" as what]:
            run(what)
        case _:
            sys.exit(__doc__)
