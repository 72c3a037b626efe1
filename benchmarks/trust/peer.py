"""Discoveries of `gradsift.significance` beside those of IPSS, on the same tables.

    pip install ipss                    # beside gradsift; integrated path stability selection
    python -m trust.peer                # all designs, 5 seeds
    python -m trust.peer --seeds 20 colon

IPSS runs as it comes: boosted trees, 100 half samples. It is published for numbers and for two
classes; designs with three are left out. Run from `benchmarks/`, on one thread. Seeds begin at
5,000.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import time
import warnings
from collections.abc import Callable

import numpy as np
from tables import markdown
from trust.designs import DESIGNS, Planted
from trust.discoveries import cell, false_and_power, outcome, table_of

FIRST_SEED = 5000
RATE = 0.1


def ours(table: Planted) -> list[int]:
    return outcome(table)[1].discoveries(RATE).tolist()


def ipss(table: Planted) -> list[int]:
    from ipss import ipss as integrated_path_stability

    y = (table.y > table.y.min()).astype(int) if table.n_classes else table.y
    with contextlib.redirect_stdout(io.StringIO()):
        q_values = integrated_path_stability(table.X, y)["q_values"]
    return [int(k) for k, q in q_values.items() if q <= RATE]


METHODS: dict[str, Callable[[Planted], list[int]]] = {"gradsift": ours, "IPSS": ipss}


def measure(name: str, seeds: range) -> list[str]:
    """One row of the table: false share and power of both, their seconds and the ratio."""
    shares: dict[str, list[tuple[float, float]]] = {method: [] for method in METHODS}
    seconds = dict.fromkeys(METHODS, 0.0)
    for seed in seeds:
        table = table_of(name, seed)
        for method, find in METHODS.items():
            start = time.process_time()
            found = find(table)
            seconds[method] += time.process_time() - start
            shares[method].append(false_and_power(found, table, 1))
    mean = {method: total / len(seeds) for method, total in seconds.items()}
    cells = [part for method in METHODS for part in (cell(shares[method]), f"{mean[method]:.2f}")]
    return [name, str(len(seeds)), *cells, f"{mean['IPSS'] / mean['gradsift']:.1f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("words", nargs="*", help="designs whose name contains one of these")
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    seeds = range(FIRST_SEED, FIRST_SEED + options.seeds)
    names = [n for n in DESIGNS if not options.words or any(w in n for w in options.words)]
    names = [name for name in names if table_of(name, FIRST_SEED).n_classes < 3]
    methods = [part for method in METHODS for part in (method, f"{method}, CPU s")]
    print("beside IPSS, q = 0.1")
    print(markdown(["design", "seeds", *methods, "times as long"], []), end="", flush=True)
    for name in names:
        print("| " + " | ".join(measure(name, seeds)) + " |", flush=True)


if __name__ == "__main__":
    main()
