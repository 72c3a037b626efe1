"""False variables at `false_positives=0.3`, in tables where (almost) nothing is true.

    python -m levels.measure                       # all settings, 50 seeds
    python -m levels.measure --seeds 10 leukemia   # those whose name contains a word
    python -m levels.measure --earlier             # those measured with an earlier version
    python -m levels.measure --more                # go on where there are fewer seeds
    python -m levels.measure --table               # the table again, from what was measured

Run from `benchmarks/` with the package installed, on one thread. The real data sets are taken from
the folder that GRADSIFT_DATA names; without it their settings are left out.
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from levels.tables import COLUMNS, DATA, GRID, SETTINGS, Null

from gradsift.data import ArraySource, measure_scaling
from gradsift.responses import class_contrasts
from gradsift.sift import make_sift

FILE = Path(__file__).parent / "measured.json"
SEEDS = 50
BAR = 0.4
EARLIER = "earlier"
"""Key of the names that were measured with an earlier version; they are marked in the tables."""


def false_variables(table: Null) -> tuple[int, int]:
    """False and true variables that are selected."""
    X, n = table.X, len(table.y)
    scaling = measure_scaling(ArraySource(X), np.full(n, 1.0 / n))
    Y = table.y[:, None]
    if table.labels:
        codes = table.y.astype(np.intp)
        Y = class_contrasts(codes, int(codes.max()) + 1)
    found = make_sift(ArraySource(scaling.apply(X)), Y, robust=not table.labels).run().selected
    true = len(np.intersect1d(found, table.true))
    return len(found) - true, true


def measure(name: str, seeds: range) -> list[list[int]]:
    """[false, true] of each seed."""
    return [list(false_variables(SETTINGS[name](seed))) for seed in seeds]


def mean_and_error(values: Any) -> tuple[float, float]:
    return float(np.mean(values)), float(np.std(values, ddof=1) / np.sqrt(len(values)))


def row(name: str, counts: list[list[int]], mark: str = "") -> str:
    false, true = np.array(counts, dtype=float).T
    mean, error = mean_and_error(false)
    holds = "yes" if mean <= BAR + 2 * error else "**no**"
    kept = f"{true.mean():.2f}" if "true" in name or "kept" in name else ""
    words = name.replace("|", "/")
    return f"| {words}{mark} | {mean:.2f} ({error:.2f}) | {kept} | {len(false)} | {holds} |"


def cell(counts: list[list[int]] | None, mark: str = "") -> str:
    """False variables and their standard error; bold where they break the promise."""
    if counts is None:
        return ""
    mean, error = mean_and_error([false for false, _ in counts])
    text = f"{mean:.1f} ({error:.1f}){mark}"
    return text if mean <= BAR + 2 * error else f"**{text}**"


def table(measured: dict[str, Any]) -> str:
    """One row per setting beside the grid, then the grid: kinds of columns by responses."""
    mark = dict.fromkeys(measured.get(EARLIER, []), "*")
    grid = {f"{columns} | {response}" for columns in COLUMNS for response in GRID}
    lines = ["| columns / response | false variables (s.e.) | true one kept | seeds | holds |"]
    lines += ["|---|---|---|---|---|"]
    lines += [
        row(name, measured[name], mark.get(name, ""))
        for name in SETTINGS
        if name in measured and name not in grid
    ]
    lines += ["", f"| columns | {' | '.join(GRID)} |", "|---" * (len(GRID) + 1) + "|"]
    for columns in COLUMNS:
        names = [f"{columns} | {response}" for response in GRID]
        cells = [cell(measured.get(name), mark.get(name, "")) for name in names]
        lines.append(f"| {columns} | {' | '.join(cells)} |")
    return "\n".join(lines)


def available(name: str) -> bool:
    return "permuted" not in name or (DATA / f"{name.split()[0]}.npz").exists()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("words", nargs="*")
    options.add_argument("--seeds", type=int, default=SEEDS)
    options.add_argument("--first", type=int, default=0)
    options.add_argument("--earlier", action="store_true")
    options.add_argument("--more", action="store_true")
    options.add_argument("--table", action="store_true")
    options.add_argument("--file", type=Path, default=FILE)
    asked = options.parse_args()
    measured = json.loads(asked.file.read_text()) if asked.file.exists() else {}
    names = [n for n in SETTINGS if all(w in n for w in asked.words) and available(n)]
    if asked.earlier:
        names = [n for n in names if n in measured.get(EARLIER, [])]
    warnings.simplefilter("ignore")
    for name in [] if asked.table else names:
        known = measured.get(name, []) if asked.more else []
        if len(known) >= asked.seeds:
            continue
        seeds = range(asked.first + len(known), asked.first + asked.seeds)
        measured[name] = known + measure(name, seeds)
        measured[EARLIER] = [n for n in measured.get(EARLIER, []) if n != name]
        asked.file.write_text(json.dumps(measured))
        print(row(name, measured[name]), flush=True)
    if asked.table:
        print(table(measured))


if __name__ == "__main__":
    main()
