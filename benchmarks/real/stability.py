"""Do two halves of the rows of a real table select the same columns?

    python -m real.stability                        # all tables, 10 pairs of halves
    python -m real.stability --tables colon --pairs 20
    python -m real.stability --credible             # findings compared with selected columns
    python -m real.stability --levels .3 .01        # at several levels of false_positives

Run from `benchmarks/`, on one thread. The rows are divided at random into two halves, classes in
proportion, and each half selects alone. *Columns*: Jaccard index of the two sets. *Families*: the
same, when a column also matches one that it is correlated with by .8 or more (either way, on all
rows), each column at most once. The F-test, a Lasso path and a forest take as many columns as the
sift selects on that half. Pairs of halves that both select nothing say nothing, and are left out.

*Credible*: the same for the findings of each half (`findings_`, a confidence of one half and more
probable), of which two match if they share a column, or have columns that are correlated so.
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

from gradsift import GradientSiftClassifier, GradientSiftRegressor
from gradsift.data import ArraySource
from gradsift.sift import make_sift

ALIKE = 0.8
MOST_ROWS = 1_000
"""Tables with more rows are left out unless they are named: their halves agree."""


def halves(table: tables.RealTable, pairs: int, seed: int) -> list[tuple[Order, Order]]:
    kind = StratifiedShuffleSplit if table.labels else ShuffleSplit
    split = kind(pairs, test_size=0.5, train_size=0.5, random_state=seed)
    return list(split.split(table.X, table.y))


def agreement(a: Order, b: Order, like: Callable[[Order, Order], tables.Array]) -> float:
    """Jaccard index of two sets of columns in which `like` columns count as one."""
    return jaccard(like(a, b)) if len(a) or len(b) else float("nan")


def jaccard(same: tables.Array) -> float:
    """Jaccard index of two sets, from which member of one is the same (a, b) as which of the
    other; each counts once.
    """
    rows, columns = linear_sum_assignment(-same)
    matched = int(same[rows, columns].sum())
    return matched / (sum(same.shape) - matched)


def credible(table: tables.RealTable, pairs: int, seed: int) -> tables.Array:
    """(pairs, 2) agreement of the findings of halves, and of what they select."""
    whole, _ = scaled(table.X, np.arange(len(table.X)), np.arange(0))

    def alike(a: Order, b: Order) -> bool:
        return bool((np.abs(whole[:, a].T @ whole[:, b]) >= ALIKE * len(whole)).any())

    def agree(sets: list[list[Order]]) -> float:
        same = np.array([[alike(a, b) for b in sets[1]] for a in sets[0]], dtype=float)
        both = len(sets[0]) + len(sets[1])
        return jaccard(same.reshape(len(sets[0]), len(sets[1]))) if both else float("nan")

    out = []
    for pair in halves(table, pairs, seed):
        found, selected = [], []
        for half in pair:
            A, _ = scaled(table.X, half, np.arange(0))
            kind = GradientSiftClassifier if table.labels else GradientSiftRegressor
            model = kind(inference=True, predict_with="selected", random_state=0)
            model.fit(A, table.y[half])
            found.append([f.columns for f in model.findings_ if f.confidence >= 0.5])
            selected.append([np.array([k]) for k in model.get_support(indices=True)])
        out.append([agree(found), agree(selected)])
    return np.array(out)


Likeness = Callable[[Order, Order], tables.Array]


def same(_: tables.Array) -> Likeness:
    """Which columns (a, b) are the same."""
    return lambda a, b: (a[:, None] == b).astype(float)


def alike(whole: tables.Array) -> Likeness:
    """Which columns are the same or correlated, by the standardised table."""

    def like(a: Order, b: Order) -> tables.Array:
        r = whole[:, a].T @ whole[:, b] / len(whole)
        return np.asarray((np.abs(r) >= ALIKE) | (a[:, None] == b), dtype=float)

    return like


def measure(table: tables.RealTable, rankers: list[str], pairs: int, seed: int) -> tables.Array:
    """(pairs, rankers, 2) agreement of columns and of families."""
    whole, _ = scaled(table.X, np.arange(len(table.X)), np.arange(0))
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
            ways = same(whole), alike(whole)
            out.append([[agreement(*found[r], how) for how in ways] for r in rankers])
    return np.array(out)


def select(A: tables.Array, y: tables.Array, labels: bool, level: float = 0.3) -> Order:
    """The columns that a sift selects, nothing else fitted."""
    Y = tables.contrasts(y, labels)
    problem = make_sift(ArraySource(A), Y, robust=not labels, false_positives=level)
    return problem.run().selected


def compare_levels(names: list[str], levels: list[float], pairs: int, seed: int) -> None:
    """A table of agreement and of the number of selected columns by `false_positives`. Tables in
    which the strictest level selects nothing in all halves are left out for all levels.
    """
    found: dict[str, list[list[float]]] = {}
    for name in names:
        table = tables.load(name)
        whole, _ = scaled(table.X, np.arange(len(table.X)), np.arange(0))
        rows = []
        for level in levels:
            agreed, sizes = [], []
            for pair in halves(table, pairs, seed):
                sets = []
                for half in pair:
                    A, _ = scaled(table.X, half, np.arange(0))
                    sets.append(select(A, table.y[half], table.labels, level))
                sizes.append(np.mean([len(columns) for columns in sets]))
                if any(map(len, sets)):
                    agreed.append([agreement(*sets, how(whole)) for how in (same, alike)])
            both = np.mean(agreed, axis=0) if agreed else np.full(2, np.nan)
            rows.append([*both.tolist(), float(np.mean(sizes))])
        found[name] = rows
        print(name, rows, flush=True)
    known = np.array([rows for rows in found.values() if np.isfinite(rows).all()])
    print(f"levels, {len(known)} tables")
    means = zip(levels, known.mean(axis=0), strict=True)
    cells = [[f"{level:g}", *(f"{m:.2f}" for m in row)] for level, row in means]
    print(markdown(["false_positives", "columns", "columns, alike", "selected"], cells))


def compare_credible(names: list[str], pairs: int, seed: int) -> None:
    """A table of how often findings of halves agree."""
    rows, means = [], []
    for name in names:
        found = credible(tables.load(name), pairs, seed)
        known = np.isfinite(found).all(axis=1)
        if known.any():
            means.append(found[known].mean(axis=0))
            rows.append([name, str(known.sum()), *(f"{m:.2f}" for m in means[-1])])
            print(rows[-1], flush=True)
    rows.append(["mean", "", *(f"{m:.2f}" for m in np.mean(means, axis=0))])
    print(f"credible, {len(means)} tables")
    print(markdown(["table", "pairs", "findings", "selected, alike"], rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", nargs="*")
    parser.add_argument("--rankers", nargs="*", default=["l1", "F-test"])
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--credible", action="store_true", help="findings only")
    parser.add_argument("--levels", nargs="*", type=float, help="of false_positives")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.credible or options.levels:
        some = options.tables or [n for n in tables.names() if len(tables.load(n).X) <= MOST_ROWS]
        if options.credible:
            compare_credible(some, options.pairs, options.seed)
        else:
            compare_levels(some, options.levels, options.pairs, options.seed)
        return
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
