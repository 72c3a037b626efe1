"""Tables of the selection benchmark.

    make bench-selection                                   designs, real data, pipeline

or one at a time, with PYTHONPATH=benchmarks:

    python -m selection.measure designs [names] [first-last seed]
    python -m selection.measure sift [names] [first-last seed]     all designs, without the refit
    python -m selection.measure rivals [first-last seed]
    python -m selection.measure real [first-last fold seed]
    python -m selection.measure pipeline [first-last fold seed]

AP = average precision of the ranking; exact = the |S| best ranked are the |S| true ones; F1 and FP
= selected set. Real data: the k best columns of the training rows into an RBF SVM; folders of data
are looked for in GRADSIFT_DATA.
"""

from __future__ import annotations

import sys
import time
import warnings
from dataclasses import replace

import numpy as np
from selection.contestants import RANKERS, Ranker, gradsift
from selection.data_sets import DATA, REAL, RealCase, real
from selection.designs import DESIGNS, HARDER, HELD_OUT, Array, Case
from sklearn.metrics import average_precision_score, r2_score
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC, SVR

from gradsift.data import ArraySource, measure_scaling, standardised
from gradsift.data.imputation import with_predicted
from gradsift.protocols import Source
from gradsift.sift import sift

KS = (5, 10, 20, 50)
EVERY = DESIGNS | HELD_OUT | HARDER


# ------------------------------------------------ simulated designs
def measure_case(case: Case) -> tuple[float, ...]:
    """AP, exact, F1, FP, seconds."""
    start = time.perf_counter()
    model = gradsift(case.task).fit(case.X, case.y)
    seconds = time.perf_counter() - start
    true = np.isin(np.arange(case.X.shape[1]), case.support)
    selected = model.get_support()
    hits, false = (true & selected).sum(), (selected & ~true).sum()
    if not true.any():
        return np.nan, np.nan, np.nan, false, seconds
    best = np.argsort(model.ranking_)[: true.sum()]
    f1 = 2 * hits / (selected.sum() + true.sum())
    return average_precision_score(true, -model.ranking_), true[best].all(), f1, false, seconds


def designs_table(names: list[str], seeds: range) -> None:
    print("| design | AP | exact | F1 | FP | s |\n|---|---|---|---|---|---|")
    for name in names:
        make = EVERY[name]
        AP, exact, f1, false, seconds = np.mean([measure_case(make(s)) for s in seeds], axis=0)
        found = f"{AP:.3f} | {exact:.2f} | {f1:.2f}" if np.isfinite(AP) else " |  | "
        print(f"| {name} | {found} | {false:.2f} | {seconds:.2f} |", flush=True)


def sift_table(names: list[str], seeds: range) -> None:
    """AP, F1 and false variables, which need no refit."""
    print("| design | AP | F1 | FP |\n|---|---|---|---|")
    found = {}
    for name in names:
        cases = [EVERY[name](seed) for seed in seeds]
        found[name] = np.mean([sift_case(case) for case in cases], axis=0)
        print(f"| {name} | {cells(found[name])} |", flush=True)
    print(f"| mean | {cells(np.nanmean(list(found.values()), axis=0))} |")


def sift_case(case: Case) -> tuple[float, ...]:
    """AP, F1, FP."""
    table, share = ArraySource(case.X), np.full(len(case.X), 1.0 / len(case.X))
    scaling = measure_scaling(table, share, missing="mean")
    source: Source = ArraySource(scaling.apply(case.X))
    if np.isnan(case.X).any():  # predicted from other columns, as in a fit
        source = with_predicted(standardised(table, replace(scaling, fill=None)), None)
    labels = case.task == "classification"
    found = sift(source, case.y[:, None], robust=not labels)
    true = np.isin(np.arange(case.X.shape[1]), case.support)
    hits = int(true[found.selected].sum())
    false = len(found.selected) - hits
    if not true.any():
        return np.nan, np.nan, false
    f1 = 2 * hits / (len(found.selected) + true.sum())
    return average_precision_score(true, -found.ranking), f1, false


def cells(values: Array) -> str:
    ap, f1, false = values
    return f"{ap:.4f} | {f1:.3f} | {false:.2f}" if np.isfinite(ap) else f" |  | {false:.2f}"


def rivals_table(names: list[str], seeds: range, rivals: tuple[str, ...]) -> None:
    """Average precision of each contestant on the same data."""
    print("| design | " + " | ".join(rivals) + " |\n" + "|---" * (len(rivals) + 1) + "|")
    for name in names:
        cells = []
        for label in rivals:
            found = []
            for seed in seeds:
                case = DESIGNS[name](seed)
                A, _ = scaled(case.X, np.arange(len(case.X)), np.arange(0))
                order = RANKERS[label](A, case.y, case.task)
                rank = np.empty(len(order))
                rank[order] = np.arange(len(order))
                true = np.isin(np.arange(len(order)), case.support)
                found.append(average_precision_score(true, -rank))
            cells.append(f"{np.mean(found):.2f}")
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


# ------------------------------------------------ real data
def scaled(X: Array, train: Array, test: Array) -> tuple[Array, Array]:
    """Both parts standardised by the training rows."""
    mean, sd = X[train].mean(axis=0), X[train].std(axis=0)
    sd = np.where(sd > 1e-12, sd, np.inf)
    return (X[train] - mean) / sd, (X[test] - mean) / sd


def svm_scores(case: RealCase, ranker: Ranker) -> Array:
    """(splits, len(KS)) accuracy or R2 of an RBF SVM (C = 1) on the k best columns of the training
    rows.
    """
    out = []
    for train, test in case.splits:
        A, B = scaled(case.X, train, test)
        y = case.y[train]
        order = ranker(A, y, case.task)
        row = []
        for k in KS:
            best = order[:k]
            if case.task == "classification":
                row.append((SVC().fit(A[:, best], y).predict(B[:, best]) == case.y[test]).mean())
            else:
                unit = (y - y.mean()) / y.std()
                guess = SVR().fit(A[:, best], unit).predict(B[:, best])
                row.append(r2_score(case.y[test], y.mean() + y.std() * guess))
        out.append(row)
    return np.array(out)


def real_table(seeds: range) -> None:
    """Mean over the splits of all seeds; a cell counts within one standard error of the best."""
    if not DATA.is_dir():
        print(
            f"no data in {DATA}: set GRADSIFT_DATA to the folder with leukemia.npz and the others"
        )
        return
    good = 0
    for name in REAL:
        cases = [real(name, seed=seed) for seed in (seeds if name != "leukemia" else seeds[:1])]
        print(f"\n| {name} | " + " | ".join(f"k = {k}" for k in KS) + " |")
        print("|---" * (len(KS) + 1) + "|")
        means, errors = {}, {}
        for label, ranker in RANKERS.items():
            scores = np.vstack([svm_scores(case, ranker) for case in cases])
            means[label] = scores.mean(axis=0)
            if len(scores) > 1:  # folds of several seeds are not independent: as many as one has
                folds = len(scores) / len(cases)
                errors[label] = scores.std(axis=0, ddof=1) / np.sqrt(folds)
            else:  # one split: binomial error of the accuracy
                rows = len(cases[0].splits[0][1])
                errors[label] = np.sqrt(means[label] * (1 - means[label]) / rows)
            cells = zip(means[label], errors[label], strict=True)
            print(f"| {label} | " + " | ".join(f"{m:.2f} ± {e:.2f}" for m, e in cells) + " |")
        for i in range(len(KS)):
            best = max((r for r in RANKERS if r != "gradsift"), key=lambda r, i=i: means[r][i])
            good += means["gradsift"][i] >= means[best][i] - errors[best][i]
    print(f"\nbest or within one standard error of the best rival: {good} of {4 * len(KS)} cells")


def tuned_svm(task: str) -> GridSearchCV:
    """RBF SVM with C and gamma by 3-fold cross-validation on the training rows."""
    kind = SVC() if task == "classification" else SVR()
    grid = {"C": [0.3, 1, 3, 10, 30], "gamma": ["scale", 0.01, 0.03, 0.1]}
    return GridSearchCV(kind, grid, cv=3)


def pipeline_table(seeds: range) -> None:
    """`predict` of the whole pipeline beside each rival's k best in a tuned SVM."""
    if not DATA.is_dir():
        return
    print("\n| data | gradsift, selected | best rival and k, tuned SVM |\n|---|---|---|")
    for name in REAL:
        cases = [real(name, seed=seed) for seed in (seeds if name != "leukemia" else seeds[:1])]
        ours, rivals, sizes = [], {}, []
        for case in cases:
            for train, test in case.splits:
                y = case.y[train]
                model = gradsift(case.task).fit(case.X[train], y)
                ours.append(model.score(case.X[test], case.y[test]))
                sizes.append(model.get_support().sum())
                A, B = scaled(case.X, train, test)
                unit = y if case.task == "classification" else (y - y.mean()) / y.std()
                for label, ranker in RANKERS.items():
                    order = ranker(A, y, case.task) if label != "gradsift" else None
                    for k in KS if order is not None else ():
                        best = order[:k]
                        guess = tuned_svm(case.task).fit(A[:, best], unit).predict(B[:, best])
                        if case.task == "classification":
                            score = (guess == case.y[test]).mean()
                        else:
                            score = r2_score(case.y[test], y.mean() + y.std() * guess)
                        rivals.setdefault((label, k), []).append(score)
        top = max(rivals, key=lambda key: np.mean(rivals[key]))
        print(
            f"| {name} | {np.mean(ours):.3f}, {np.mean(sizes):.1f} variables "
            f"| {np.mean(rivals[top]):.3f} ({top[0]}, k = {top[1]}) |",
            flush=True,
        )


def seeds_of(text: str) -> range:
    first, last = map(int, text.split("-"))
    return range(first, last)


def main(what: str = "all", names: str = "", seeds: str = "700-720") -> None:
    warnings.simplefilter("ignore")
    if what in ("designs", "all"):
        designs_table(names.split(",") if names else list(DESIGNS), seeds_of(seeds))
    if what == "sift":
        sift_table(names.split(",") if names else [*DESIGNS, *HELD_OUT], seeds_of(seeds))
    if what == "rivals":
        with_signal = [name for name in DESIGNS if not name.startswith("noise")]
        rivals_table(with_signal, seeds_of(names or "700-705"), ("gradsift", "Lasso", "forest"))
    if what in ("real", "all"):
        real_table(seeds_of(names or "10-12"))
    if what in ("pipeline", "all"):
        pipeline_table(seeds_of(names or "10-11"))


if __name__ == "__main__":
    main(*sys.argv[1:])
