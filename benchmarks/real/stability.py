"""Do two halves of the rows of a real table select the same columns?

    python -m real.stability                        # all tables, 10 pairs of halves
    python -m real.stability --tables colon --pairs 20

Run from `benchmarks/`, on one thread. The rows are divided at random into two halves, classes in
proportion, and each half selects alone. *Columns*: Jaccard index of the two sets. *Families*: the
same, when a column also matches one that it is correlated with by .8 or more (either way, on all
rows), each column at most once. The F-test, a Lasso path and a forest take as many columns as the
sift selects on that half. Pairs of halves that both select nothing say nothing, and are left out.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable

import numpy as np
from real import tables
from real.rankers import RANKERS, Order
from scipy.optimize import linear_sum_assignment
from selection.measure import scaled
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit
from tables import markdown

from gradsift.data import ArraySource
from gradsift.sift import sift_support

ALIKE = 0.8
MOST_ROWS = 1_000
"""Tables with more rows are left out unless they are named: their halves agree."""


def halves(table: tables.RealTable, pairs: int, seed: int) -> list[tuple[Order, Order]]:
    kind = StratifiedShuffleSplit if table.labels else ShuffleSplit
    split = kind(pairs, test_size=0.5, train_size=0.5, random_state=seed)
    return list(split.split(table.X, table.y))


def agreement(a: Order, b: Order, like: Callable[[Order, Order], tables.Array]) -> float:
    """Jaccard index of two sets of columns in which `like` columns count as one."""
    matched = 0
    if len(a) and len(b):
        same = like(a, b)
        rows, columns = linear_sum_assignment(-same)
        matched = int(same[rows, columns].sum())
    return matched / (len(a) + len(b) - matched)


def measure(table: tables.RealTable, rankers: list[str], pairs: int, seed: int) -> tables.Array:
    """(pairs, rankers, 2) agreement of columns and of families."""
    whole, _ = scaled(table.X, np.arange(len(table.X)), np.arange(0))

    def same(a: Order, b: Order) -> tables.Array:
        return (a[:, None] == b).astype(float)

    def alike(a: Order, b: Order) -> tables.Array:
        r = whole[:, a].T @ whole[:, b] / len(whole)
        return np.asarray((np.abs(r) >= ALIKE) | (a[:, None] == b), dtype=float)

    out = []
    for pair in halves(table, pairs, seed):
        found: dict[str, list[Order]] = {name: [] for name in rankers}
        for half in pair:
            A, _ = scaled(table.X, half, np.arange(0))
            y = table.y[half]
            selected = select(A, y, table.labels)
            for name in rankers:
                best = selected
                if name != "gradsift":
                    best = RANKERS[name](A, y, table.labels)[: len(selected)]
                found[name].append(best)
        if any(len(columns) for columns in found["gradsift"]):
            out.append([[agreement(*found[r], how) for how in (same, alike)] for r in rankers])
    return np.array(out)


def select(A: tables.Array, y: tables.Array, labels: bool) -> Order:
    """The columns that a sift selects, nothing else fitted."""
    return sift_support(ArraySource(A), tables.contrasts(y, labels), robust=not labels)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", nargs="*")
    parser.add_argument("--rankers", nargs="*", default=["l1", "F-test"])
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rankers, rows, means = ["gradsift", *options.rankers], [], []
    for name in options.tables or tables.names():
        table = tables.load(name)
        if options.tables is None and len(table.X) > MOST_ROWS:
            continue
        found = measure(table, rankers, options.pairs, options.seed)
        if len(found):
            means.append(found.mean(axis=0))
            cells = [f"{a:.2f} / {b:.2f}" for a, b in means[-1]]
            rows.append([name, str(len(found)), *cells])
            print(rows[-1], flush=True)
    average = np.mean(means, axis=0)
    rows.append(["mean", "", *(f"{a:.3f} / {b:.3f}" for a, b in average)])
    print(f"stability, {len(means)} tables, columns / families")
    print(markdown(["table", "pairs", *rankers], rows))


if __name__ == "__main__":
    main()
