"""How well the best k columns of a ranking predict held-out rows of real tables.

    python -m real.ranking --store FILE                      # all tables and rankers, 5 folds
    python -m real.ranking --store FILE --rankers gradsift --tables colon wine
    python -m real.ranking --store FILE --show               # what is stored

Run from `benchmarks/`, on one thread. An RBF SVM with C = 1 learns the best 5, 10, 20 and 50
columns of the training rows. Lengths that leave no choice (a table has no more columns) are left
out. What is stored is not computed again.
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from real import tables
from real.predictions import read
from real.rankers import RANKERS, Order
from scipy.stats import rankdata
from selection.measure import KS, scaled
from sklearn.metrics import r2_score
from sklearn.svm import SVC, SVR
from tables import markdown

RIVALS = ("l1", "forest", "F-test")


def lengths(n_columns: int) -> list[int]:
    return [k for k in KS if k < n_columns]


def svm_score(A: tables.Array, y: Any, B: tables.Array, z: Any, labels: bool) -> float:
    """Accuracy or R2 of an SVM that learnt A, y on the held-out rows B, z."""
    if labels:
        return float(np.mean(SVC().fit(A, y).predict(B) == z))
    guess = SVR().fit(A, (y - y.mean()) / y.std()).predict(B)
    return float(r2_score(z, y.mean() + y.std() * guess))


def measure(order: Order, table: tables.RealTable, train: Any, test: Any) -> dict[str, float]:
    """Score of each length."""
    A, B = scaled(table.X, train, test)
    y, z = table.y[train], table.y[test]
    return {
        str(k): svm_score(A[:, order[:k]], y, B[:, order[:k]], z, table.labels)
        for k in lengths(A.shape[1])
    }


def run(options: argparse.Namespace, store: Path) -> None:
    done = read(store)
    for name in options.tables or tables.names():
        table = tables.load(name)
        for fold, (train, test) in enumerate(table.splits(options.folds, options.seed)):
            for ranker in options.rankers or RANKERS:
                key = f"{name}/{options.seed}/{fold}/{ranker}"
                if key in done or fold >= options.most or not lengths(table.X.shape[1]):
                    continue
                A, _ = scaled(table.X, train, test)
                order = RANKERS[ranker](A, table.y[train], table.labels)
                found = measure(order, table, train, test)
                first = order[: max(KS)].tolist()
                with store.open("a") as file:
                    file.write(json.dumps({"key": key, "scores": found, "first": first}) + "\n")


def cells(done: dict[str, Any], rankers: tuple[str, ...]) -> dict[tuple[str, int], tables.Array]:
    """(table, k) -> (rankers, folds) scores of the folds that every ranker has."""
    found: dict[tuple[str, int], dict[str, dict[str, float]]] = {}
    for key, record in done.items():
        name, seed, fold, ranker = key.split("/")
        for k, score in record["scores"].items():
            place = found.setdefault((name, int(k)), {}).setdefault(ranker, {})
            place[f"{seed}/{fold}"] = score
    out = {}
    for cell, scores in sorted(found.items()):
        if set(rankers) <= set(scores):
            common = sorted(set.intersection(*(set(scores[r]) for r in rankers)))
            out[cell] = np.array([[scores[r][f] for f in common] for r in rankers])
    return out


def near_best(scores: tables.Array) -> NDArray[np.bool_]:
    """Which rankers are the best of a cell, or within one standard error of the best."""
    mean = scores.mean(axis=1)
    best = scores[np.argmax(mean)]
    error = best.std(ddof=1) / np.sqrt(len(best)) if len(best) > 1 else 0.0
    return np.asarray(mean >= mean.max() - error - 1e-12)


def show(done: dict[str, Any], rankers: tuple[str, ...]) -> None:
    """Per table the mean over lengths; then mean, mean rank, share of cells near the best."""
    found = cells(done, rankers)
    names = sorted({name for name, _ in found})
    rows = []
    for name in names:
        own = [scores.mean(axis=1) for (table, _), scores in found.items() if table == name]
        rows.append([name, *(f"{m:.3f}" for m in np.mean(own, axis=0))])
    means = np.array([scores.mean(axis=1) for scores in found.values()])
    by_table = np.array([[float(cell) for cell in row[1:]] for row in rows])
    places = np.array([rankdata(-np.round(m, 9)) for m in means])
    near = np.array([near_best(scores) for scores in found.values()])
    rows.append(["mean", *(f"{m:.3f}" for m in by_table.mean(axis=0))])
    rows.append(["mean rank", *(f"{m:.2f}" for m in places.mean(axis=0))])
    rows.append(["best or within one s.e.", *(f"{m:.0%}" for m in near.mean(axis=0))])
    print(f"ranking, {len(names)} tables, {len(found)} cells")
    print(markdown(["table", *rankers], rows))
    for k in KS:
        here = np.array([scores.mean(axis=1) for (_, m), scores in found.items() if m == k])
        print(f"k = {k}: " + ", ".join(f"{m:.3f}" for m in here.mean(axis=0)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--store", type=Path, required=True, help="file of one record per line")
    parser.add_argument("--tables", nargs="*")
    parser.add_argument("--rankers", nargs="*")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--most", type=int, default=5, help="folds of each table at most")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--beside", nargs="*", default=RIVALS)
    parser.add_argument("--ours", default="gradsift")
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if not options.show:
        run(options, options.store)
    show(read(options.store), (options.ours, *options.beside))


if __name__ == "__main__":
    main()
