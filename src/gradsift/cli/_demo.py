"""`gradsift demo`: a real table with noise columns added, and one with a known answer."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_diabetes

from gradsift import SparseGradientRegressorCV
from gradsift._typing import Array
from gradsift.data.simulate import turlach

console = Console(highlight=False)


def run() -> None:
    """Both parts, and what to try next."""
    data = load_diabetes()
    n, p = data.data.shape
    noise = np.random.default_rng(0).normal(size=(n, 40))
    show(
        f"Diabetes: {n} patients, {p} measurements and 40 columns of pure noise",
        np.hstack([data.data, noise]),
        data.target,
        [*data.feature_names, *(f"noise{k}" for k in range(1, 41))],
    )
    X, y, support = turlach(random_state=0)
    names = [f"x{k}" for k in range(1, X.shape[1] + 1)]
    show(
        "Simulated: y = (2 x1 - 1)^2 + x2 + x3 + x4 + x5 + noise; x1 is uncorrelated with y",
        X,
        y,
        names,
    )
    console.print(f"The truth: {', '.join(names[k] for k in support)}\n")
    console.print("Next: python -c 'import gradsift; help(gradsift.SparseGradientRegressor)'")


def show(title: str, X: Array, y: Array, names: Sequence[str], top: int = 8) -> None:
    """Fit with alpha by cross-validation; print ranking, selection, directions and certificate."""
    start = perf_counter()
    model = SparseGradientRegressorCV(n_alphas=12, eps=0.1, cv=3, selection="1se").fit(X, y)
    seconds = perf_counter() - start

    console.rule(title, align="left")
    order = np.argsort(model.ranking_)[:top]
    table = Table("rank", "variable", "importance", "selected", "mean gradient", box=None)
    gradient = model.gradient(X).mean(axis=0)
    support = model.get_support()
    for rank, k in enumerate(order, start=1):
        mark = "yes" if support[k] else ""
        size = f"{model.feature_importances_[k]:.3f}"
        table.add_row(str(rank), names[k], size, mark, f"{gradient[k]:+.3g}")
    console.print(table)
    console.print(
        f"selected {support.sum()} of {X.shape[1]}; "
        f"{model.n_components_} direction(s) explain 95 % of the gradient"
    )
    for number, direction in enumerate(model.components_[:2], start=1):
        largest = np.argsort(-np.abs(direction))[:5]
        terms = " ".join(f"{direction[k]:+.2f} {names[k]}" for k in largest if direction[k])
        console.print(f"  direction {number}: {terms}")
    console.print(
        f"certificate over all {X.shape[1]} variables: duality gap {model.dual_gap_:.1e}, "
        f"KKT violation {model.kkt_violation_:.1e} ({seconds:.2f} s)\n"
    )
