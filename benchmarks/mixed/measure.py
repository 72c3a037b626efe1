"""Mixed tables: what missing values cost; false and true variables among categories and groups.

    python -m mixed.measure missing                 # 30 % of the cells missing, 3 seeds
    python -m mixed.measure missing --seeds 1 xor   # designs whose name contains a word
    python -m mixed.measure null                    # null categories and groups, 60 seeds
    python -m mixed.measure power                   # planted categories, beside a one-hot Lasso

Run from `benchmarks/` with the package installed, on one thread.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable

import numpy as np
from mixed.designs import NULL, PLANTED, Study
from selection.designs import DESIGNS, Case
from sklearn.linear_model import LassoCV, LogisticRegressionCV
from sklearn.metrics import average_precision_score
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from gradsift import GradientSiftClassifier, GradientSiftRegressor

LEVEL = 0.3
MISSING = 0.3


def ranked(case: Case, X: np.ndarray, y: np.ndarray) -> float:
    """Average precision of the ranking."""
    kind = GradientSiftRegressor if case.task == "regression" else GradientSiftClassifier
    model = kind(missing="mean", predict_with="selected").fit(X, y)
    truth = np.isin(np.arange(X.shape[1]), case.support)
    return float(average_precision_score(truth, -model.ranking_))


def missing(seeds: int, words: list[str]) -> None:
    """AP with all cells, without 30 % of them, and without 30 % of the rows instead."""
    print(f"AP of the ranking, {seeds} seeds, {MISSING:.0%} of the cells or of the rows missing")
    print("| design | complete | cells missing | rows missing | lost |\n|---|---|---|---|---|")
    lost = []
    for name, make in DESIGNS.items():
        if words and not any(word in name for word in words):
            continue
        found = []
        for seed in range(seeds):
            case = make(seed)
            if len(case.support) == 0:
                break
            rng = np.random.default_rng(1000 + seed)
            X = case.X.astype(float)
            holed = np.where(rng.random(X.shape) < MISSING, np.nan, X)
            rows = np.sort(rng.permutation(len(X))[: int((1 - MISSING) * len(X))])
            tables = [(X, case.y), (holed, case.y), (X[rows], case.y[rows])]
            found.append([ranked(case, *table) for table in tables])
        if not found:
            continue
        whole, cells, fewer = np.mean(found, axis=0)
        lost.append(whole - cells)
        print(
            f"| {name} | {whole:.3f} | {cells:.3f} | {fewer:.3f} | {whole - cells:+.3f} |",
            flush=True,
        )
    print(f"| mean of {len(lost)} | | | | {np.mean(lost):+.3f} |")
    print(f"| median | | | | {np.median(lost):+.3f} |")


def sift(study: Study) -> set[str]:
    """Variables that the sift selects."""
    kind = GradientSiftClassifier if study.labels else GradientSiftRegressor
    model = kind(LEVEL, feature_groups=study.feature_groups)
    chosen = model._find_support(study.table, study.y)
    return {study.variables[k] for k in chosen}


def one_hot_lasso(study: Study) -> set[str]:
    """Variables of which a cross-validated Lasso uses a level."""
    encoder = OneHotEncoder(sparse_output=False, handle_unknown="ignore")
    text = [c for c in study.table.columns if study.table[c].dtype == object]
    numbers = [c for c in study.table.columns if c not in text]
    Z = encoder.fit_transform(study.table[text])
    origin = [*numbers, *(c for c, levels in zip(text, encoder.categories_) for _ in levels)]
    X = StandardScaler().fit_transform(np.column_stack([study.table[numbers].to_numpy(), Z]))
    if study.labels:
        lasso = LogisticRegressionCV(Cs=10, l1_ratios=(1.0,), solver="liblinear", cv=5)
        used = lasso.fit(X, study.y).coef_.any(axis=0)
    else:
        used = LassoCV(cv=5, random_state=0).fit(X, study.y).coef_ != 0
    variable = dict(zip(study.table.columns, study.variables))
    return {variable[name] for name, use in zip(origin, used) if use}


METHODS: dict[str, Callable[[Study], set[str]]] = {"sift": sift, "one-hot Lasso": one_hot_lasso}


def null(seeds: int, words: list[str]) -> None:
    """False variables where nothing is true."""
    print(f"False variables at nominal {LEVEL}, {seeds} seeds")
    print("| design | sift | s.e. |\n|---|---|---|")
    for name, make in NULL.items():
        if words and not any(word in name for word in words):
            continue
        counts = np.array([len(sift(make(seed))) for seed in range(seeds)])
        error = counts.std(ddof=1) / np.sqrt(seeds)
        print(f"| {name} | {counts.mean():.2f} | {error:.2f} |", flush=True)


def power(seeds: int, words: list[str]) -> None:
    """True and false variables on planted effects."""
    print(f"True variables found (of those planted), false ones per table, {seeds} seeds")
    heads = " | ".join(f"{method}: found | false" for method in METHODS)
    print(f"| design | {heads} |\n|---|{'---|' * 2 * len(METHODS)}")
    for name, make in PLANTED.items():
        if words and not any(word in name for word in words):
            continue
        cells = []
        for method in METHODS.values():
            found = []
            for seed in range(seeds):
                study = make(seed)
                chosen = method(study)
                hit = len(chosen & study.truth) / len(study.truth)
                found.append((hit, len(chosen - study.truth)))
            cells += [f"{value:.2f}" for value in np.mean(found, axis=0)]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


WAYS = {"missing": (missing, 3), "null": (null, 60), "power": (power, 30)}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=WAYS)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--seeds", type=int)
    given = parser.parse_args()
    measure, usual = WAYS[given.what]
    warnings.simplefilter("ignore")
    measure(given.seeds or usual, given.words)
