"""Mixed tables: what missing values cost; false and true variables among categories and groups.

    python -m mixed.measure missing                 # 30 % of the cells missing, 10 seeds
    python -m mixed.measure missing --seeds 1 xor   # one design
    python -m mixed.measure oracle                  # what an oracle loses by that, 50 seeds
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
FIRST, MOST_CELLS = 100, 200_000
"""First seed of a design, and cells of a table that is not measured: it would take too long."""
BAR = 0.03
SHAPES = {
    "lin1000": False, "lineq": False, "lincorr": False,
    "circ40": True, "circ40n": True, "ball40": True, "ball100": True,
}  # fmt: skip
"""Designs whose effects are all lines (False), or all squares (True)."""


def ranked(case: Case, X: np.ndarray, y: np.ndarray) -> float:
    """Average precision of the ranking."""
    kind = GradientSiftRegressor if case.task == "regression" else GradientSiftClassifier
    model = kind(missing="mean", predict_with="selected").fit(X, y)
    truth = np.isin(np.arange(X.shape[1]), case.support)
    return float(average_precision_score(truth, -model.ranking_))


def oracle(case: Case, X: np.ndarray, y: np.ndarray, squares: bool) -> float:
    """Average precision of one who knows the shape of all effects, and of every true column all
    other true ones: they are fitted, and what they leave is correlated with the column that is
    looked for and with all that are not true. A missing cell counts as the mean.
    """
    F = X - np.nanmean(X, axis=0)
    F = F * F if squares else F
    F = np.where(np.isnan(F), np.nanmean(F, axis=0), F)
    F = (F - F.mean(axis=0)) / F.std(axis=0)
    truth = np.isin(np.arange(X.shape[1]), case.support)
    found = []
    for k in case.support:
        others = np.column_stack([np.ones(len(y)), F[:, [j for j in case.support if j != k]]])
        left = y - others @ np.linalg.lstsq(others, y, rcond=None)[0]
        score = np.abs(F.T @ left)
        found.append(1.0 / (1.0 + (score[~truth] >= score[k]).sum()))
    return float(np.mean(found))


def oracles(seeds: int, words: list[str]) -> None:
    """What an oracle loses with 30 % of the cells: information that is not there."""
    print(f"AP of an oracle, {seeds} seeds, {MISSING:.0%} of the cells missing")
    print("| design | complete | cells missing | lost |\n|---|---|---|---|")
    for name, squares in SHAPES.items():
        if words and name not in words:
            continue
        found = []
        for seed in range(FIRST, FIRST + seeds):
            case = DESIGNS[name](seed)
            X = case.X.astype(float)
            found.append([oracle(case, t, case.y, squares) for t in (X, with_holes(X, seed))])
        whole, cells = np.mean(found, axis=0)
        error = np.std(np.diff(found)) / np.sqrt(seeds)
        lost = f"{whole - cells:+.3f} ({error:.3f})"
        print(f"| {name} | {whole:.3f} | {cells:.3f} | {lost} |", flush=True)


def with_holes(X: np.ndarray, seed: int) -> np.ndarray:
    """The table without 30 % of its cells."""
    return np.where(np.random.default_rng(1000 + seed).random(X.shape) < MISSING, np.nan, X)


def lost_on(name: str, make: Callable[[int], Case], seeds: int) -> np.ndarray | None:
    """(seeds, 5) AP of a design: with all cells, without some, without as many rows; then an
    oracle with all cells and without some, NaN where the design is not one of its shapes.
    """
    found = []
    for seed in range(FIRST, FIRST + seeds):
        case = make(seed)
        if len(case.support) == 0 or case.X.size > MOST_CELLS:
            return None
        X = case.X.astype(float)
        holed = with_holes(X, seed)
        rng = np.random.default_rng(2000 + seed)
        rows = np.sort(rng.permutation(len(X))[: int((1 - MISSING) * len(X))])
        tables = [(X, case.y), (holed, case.y), (X[rows], case.y[rows])]
        known = (
            [oracle(case, t, case.y, SHAPES[name]) for t in (X, holed)] if name in SHAPES else []
        )
        found.append([*(ranked(case, *table) for table in tables), *(known or [np.nan] * 2)])
    return np.array(found)


def missing(seeds: int, words: list[str]) -> None:
    """AP with all cells, without 30 % of them, and without 30 % of the rows instead."""
    print(f"AP of the ranking, {seeds} seeds, {MISSING:.0%} of the cells or of the rows missing")
    print("| design | complete | cells missing | rows missing | lost | oracle: lost |")
    print("|---|---|---|---|---|---|")
    lost = {}
    for name, make in DESIGNS.items():
        if words and name not in words:
            continue
        found = lost_on(name, make, seeds)
        if found is None:
            continue
        whole, cells, fewer, *_ = found.mean(axis=0)
        lost[name] = np.array([whole - cells, (found[:, 3] - found[:, 4]).mean()])
        error = np.std(found[:, 0] - found[:, 1], ddof=1) / np.sqrt(seeds) if seeds > 1 else np.nan
        known = f"{lost[name][1]:+.3f}" if name in SHAPES else ""
        print(
            f"| {name} | {whole:.3f} | {cells:.3f} | {fewer:.3f} | {whole - cells:+.3f} "
            f"({error:.3f}) | {known} |",
            flush=True,
        )
    show_lost("all", lost)
    show_lost("in which an oracle loses .03 or less, or that it does not know",
              {k: v for k, v in lost.items() if not v[1] > BAR})  # fmt: skip


def show_lost(what: str, lost: dict[str, np.ndarray]) -> None:
    """Mean and median over some designs."""
    values = np.array([v[0] for v in lost.values()])
    print(
        f"{len(values)} designs, {what}: mean {values.mean():+.3f}, median {np.median(values):+.3f}"
    )


def sift(study: Study) -> set[str]:
    """Variables that the sift selects."""
    kind = GradientSiftClassifier if study.labels else GradientSiftRegressor
    model = kind(LEVEL, feature_groups=study.feature_groups, missing="mean")
    chosen = model.fit_for("support", study.table, study.y).get_support(indices=True)
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


WAYS = {"missing": (missing, 10), "oracle": (oracles, 50), "null": (null, 60), "power": (power, 30)}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=WAYS)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--seeds", type=int)
    given = parser.parse_intermixed_args()
    measure, usual = WAYS[given.what]
    warnings.simplefilter("ignore")
    measure(given.seeds or usual, given.words)
