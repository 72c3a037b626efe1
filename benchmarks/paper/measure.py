"""The paper's estimator on real tables: what cross-validation selects, and how it predicts.

    PYTHONPATH=benchmarks python -m paper.measure choice FOLDER    # against LassoCV
    PYTHONPATH=benchmarks python -m paper.measure alphas FOLDER    # against a ridge on direction 1

FOLDER holds `leukemia.npz`, `colon.npz`, `riboflavin.npz` and `gasoline.npz`. Labels are coded -1
and 1, as in the paper's leukemia example. Held-out figures are of rows that neither the fit nor the
choice of alpha has seen (five outer folds).
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import numpy as np
from directions.measure import DESIGNS, draw
from sklearn.linear_model import LassoCV, RidgeCV
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from gradsift import AlphaGrid, SparseGradientRegressor, SparseGradientRegressorCV, alpha_max

NAMES = ("gasoline", "colon", "riboflavin", "leukemia")
OUTER = KFold(5, shuffle=True, random_state=0)
INNER = KFold(10, shuffle=True, random_state=0)
PARTS = (0.5, 0.2, 0.1, 0.05, 0.02)
GRID = AlphaGrid(n_alphas=15, eps=0.03)


def load(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Columns and response; both parts of leukemia together, on the logarithm of clipped values."""
    with np.load(folder / f"{name}.npz") as data:
        if name == "leukemia":
            X = np.vstack([data["X_train"], data["X_test"]])
            X = np.log10(np.clip(X, 100, 16_000))
            return X[:, X.std(axis=0) > 0], np.r_[data["y_train"], data["y_test"]].astype(float)
        X = data["X"].astype(float)
        return np.log10(np.clip(X, 1, None)) if name == "colon" else X, data["y"].astype(float)


def tables(folder: Path) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    for name in NAMES:
        X, y = load(folder, name)
        yield name, X, (y - y.mean()) / y.std()


def designs() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Single- and two-index designs, 100 samples and 50 columns."""
    for design in DESIGNS:
        X, y = draw(design, 100, 50, seed=100)
        yield design.formula, X, (y - y.mean()) / y.std()


def choice(folder: Path) -> None:
    """Selected by leave-one-out and by ten folds; held-out R2 and LassoCV's."""
    print(
        "| table | n x p | leave-one-out | 10 folds | held-out R² | LassoCV | difference ± s.e. |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name, X, y in tables(folder):
        counts = []
        for cv in ("loo", INNER):
            model = SparseGradientRegressorCV(alphas=GRID, cv=cv, n_components=1).fit(X, y)
            counts.append(int(model.get_support().sum()))
        errors = np.empty((2, len(y)))
        for train, test in OUTER.split(X):
            sparse = SparseGradientRegressorCV(alphas=GRID, cv=INNER, n_components=1)
            lasso = make_pipeline(StandardScaler(), LassoCV(cv=INNER, max_iter=20_000))
            for row, model in zip(errors, (sparse, lasso)):
                row[test] = (y[test] - model.fit(X[train], y[train]).predict(X[test])) ** 2
        ours, theirs = 1.0 - errors.mean(axis=1)
        gain = errors[1] - errors[0]
        error = gain.std(ddof=1) / np.sqrt(len(y))
        print(f"| {name} | {X.shape[0]} x {X.shape[1]} | {counts[0]} | {counts[1]} | {ours:.2f} "
              f"| {theirs:.2f} | {gain.mean():+.3f} ± {error:.3f} |", flush=True)  # fmt: skip


def alphas(folder: Path) -> None:
    """Held-out R2 of `predict`, of the Taylor average and of a ridge on the first direction."""
    print(
        "| table | alpha / alpha_max | selected | `predict` | Taylor average | ridge on first "
        "| `predict` less ridge ± s.e. |\n" + "| --- " * 7 + "|"
    )
    for name, X, y in chain(tables(folder), designs()):
        for part in PARTS:
            errors, count = np.empty((3, len(y))), 0.0
            for train, test in OUTER.split(X):
                top = alpha_max(X[train], y[train])
                model = SparseGradientRegressor(part * top, n_components=1).fit(X[train], y[train])
                taylor = SparseGradientRegressor(part * top, n_components=1, predict_with="taylor")
                index = [model.transform(X[rows]) for rows in (train, test)]
                index = [part / index[0].std() for part in index]
                ridge = RidgeCV(np.logspace(-3, 3, 13)).fit(index[0], y[train])
                guesses = (
                    model.predict(X[test]),
                    taylor.fit(X[train], y[train]).predict(X[test]),
                    ridge.predict(index[1]),
                )
                errors[:, test] = [(y[test] - guess) ** 2 for guess in guesses]
                count += model.get_support().sum() / OUTER.get_n_splits()
            scores = " | ".join(f"{1.0 - error:.2f}" for error in errors.mean(axis=1))
            gain = errors[2] - errors[0]
            error = gain.std(ddof=1) / np.sqrt(len(y))
            gained = f"{gain.mean():+.3f} ± {error:.3f}"
            print(f"| {name} | {part} | {count:.0f} | {scores} | {gained} |", flush=True)


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("choice", "alphas"):
        sys.exit(__doc__)
    warnings.simplefilter("ignore")
    {"choice": choice, "alphas": alphas}[sys.argv[1]](Path(sys.argv[2]))
