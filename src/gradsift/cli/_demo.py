"""`gradsift demo`: a real table with noise columns added, and two with a known answer."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_diabetes

from gradsift import GradientSiftClassifier, GradientSiftRegressor, SparseGradientRegressor
from gradsift._typing import Array
from gradsift.data.simulate import circles, turlach

console = Console(highlight=False)


def run() -> None:
    """Three tables, a certificate, and what to try next."""
    data = load_diabetes()
    n, p = data.data.shape
    noise = np.random.default_rng(0).normal(size=(n, 40))
    show(
        f"Diabetes: {n} patients, {p} measurements and 40 columns of pure noise",
        GradientSiftRegressor(),
        np.hstack([data.data, noise]),
        data.target,
        [*data.feature_names, *(f"noise{k}" for k in range(1, 41))],
    )
    X, y, support = turlach(n_features=200, random_state=0)
    names = [f"x{k}" for k in range(1, X.shape[1] + 1)]
    title = "Simulated: y = (2 x1 - 1)^2 + x2 + .. + x5 + noise, 200 columns"
    show(title, GradientSiftRegressor(), X, y, names)
    console.print(
        f"the truth: {', '.join(names[k] for k in support)} (x1 is uncorrelated with y)\n"
    )

    X, y, support = circles(random_state=0)
    title = "Simulated: two circles in (x1, x2), 40 samples, 198 columns of noise"
    show(title, GradientSiftClassifier(), X, y, names)
    console.print(f"the truth: {', '.join(names[k] for k in support)}\n")

    certificate()
    console.print("next: python -c 'import gradsift; help(gradsift.GradientSiftRegressor)'")


def show(title: str, model: Any, X: Array, y: Array, names: Sequence[str], extra: int = 3) -> None:
    """Fit with defaults; print ranking, selection, products and directions."""
    start = perf_counter()
    model.fit(X, y)
    seconds = perf_counter() - start

    console.rule(title, align="left")
    support, gradient = model.get_support(), model.gradient(X)
    table = Table("rank", "variable", "importance", "selected", "gradient: mean, sd", box=None)
    for rank, k in enumerate(np.argsort(model.ranking_)[: support.sum() + extra], start=1):
        effect = f"{gradient[:, k].mean():+.3g}, {gradient[:, k].std():.3g}" if support[k] else ""
        size = f"{model.feature_importances_[k]:.3g}"
        table.add_row(str(rank), names[k], size, "yes" if support[k] else "", effect)
    console.print(table)
    console.print(
        f"selected {support.sum()} of {X.shape[1]} in {seconds:.2f} s; "
        f"score on these samples {model.score(X, y):.2f}"
    )
    for pair in model.interactions_:
        console.print(f"  product: {names[pair.first]} x {names[pair.second]}")
    for number, direction in enumerate(model.components_[:2], start=1):
        largest = np.argsort(-np.abs(direction))[:5]
        terms = " ".join(f"{direction[k]:+.2f} {names[k]}" for k in largest if direction[k])
        console.print(f"  direction {number}: {terms}")
    console.print()


def certificate() -> None:
    """The paper's estimator, with its proof of optimality over all variables."""
    X, y, _ = turlach(random_state=0)
    model = SparseGradientRegressor().fit(X, y)
    console.rule("The paper's estimator on ten such columns", align="left")
    best = ", ".join(f"x{k + 1}" for k in np.argsort(model.ranking_)[:5])
    console.print(
        f"five best: {best}; alpha {model.alpha_:.3g} of alpha_max {model.alpha_max_:.3g}\n"
        f"certificate: duality gap {model.dual_gap_:.1e}, "
        f"KKT violation {model.kkt_violation_:.1e}\n"
    )
