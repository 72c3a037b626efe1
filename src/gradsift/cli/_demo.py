"""`gradsift demo`: the main job on a real table with noise added, and on known answers."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from time import perf_counter

import numpy as np
from sklearn.datasets import load_diabetes

from gradsift import SparseGradientRegressor
from gradsift.cli._progress import Progress
from gradsift.cli._select import console, results, show
from gradsift.data.simulate import circles, turlach
from gradsift.pipeline import Settings, select, select_in_stages, write_each
from gradsift.protocols import Array, IntArray
from gradsift.tables import Choices, Table, prepare
from gradsift.tables.frame import make_frame


def run(out: Path) -> None:
    """A report on real data, two short tables with a known answer, and what to try next."""
    start = perf_counter()
    data = load_diabetes()
    n, p = data.data.shape
    noise = np.random.default_rng(0).normal(size=(n, 40))
    columns = [*data.data.T, *noise.T, data.target]
    names = [*data.feature_names, *(f"noise{k}" for k in range(1, 41)), "progression"]
    title = f"Diabetes: {n} patients, {p} measurements and 40 columns of pure noise"
    console.rule(title, align="left")
    table = prepare(make_frame(names, columns), Choices("progression"))
    stages = select_in_stages(
        table,
        settings := Settings(),
        made={
            "source": "diabetes with 40 columns of noise",
            "command": "gradsift demo",
            "data": "scikit-learn: load_diabetes",
            "date": datetime.now().astimezone().isoformat(timespec="seconds"),
        },
    )
    progress = Progress(settings.cv, settings.repeats)
    with progress.shown(), results(out, force=True) as place:
        selection = write_each(place, table, progress.follow(stages))
    show(selection, out, perf_counter() - start)

    X, y, support = turlach(n_features=200, random_state=0)
    known_answer("y = (2 x1 - 1)^2 + x2 + .. + x5 + noise, 200 columns", X, y, support)
    console.print("x1 is uncorrelated with y: no linear method finds it.")
    X, labels, support = circles(random_state=0)
    known_answer("two circles in (x1, x2), 40 rows, 198 noise columns", X, labels, support)
    certificate()
    console.print(
        f"\nnext: look into {out}, then try your own table:\n"
        "  gradsift select TABLE.csv --target COLUMN\n"
        "  python -c 'import gradsift; help(gradsift.GradientSiftRegressor)'"
    )


def known_answer(title: str, X: Array, y: Array, support: IntArray) -> None:
    """Simulated data: what is selected beside the truth."""
    console.print()
    console.rule(f"Simulated: {title}", align="left")
    names = [f"x{k}" for k in range(1, X.shape[1] + 1)]
    table = simulated(names, X, y)
    found = select(table, Settings(cv=0))
    console.print(f"selected in {found.seconds:.2f} s: {', '.join(found.answer.selected)}")
    console.print(f"the truth: {', '.join(names[k] for k in support)}")


def simulated(names: list[str], X: Array, y: Array) -> Table:
    return prepare(make_frame([*names, "y"], [*X.T, np.asarray(y, dtype=float)]), Choices("y"))


def certificate() -> None:
    """The paper's estimator, with its proof of optimality over all variables."""
    X, y, _ = turlach(random_state=0)
    model = SparseGradientRegressor().fit(X, y)
    console.print()
    console.rule("The paper's estimator on ten such columns", align="left")
    best = ", ".join(f"x{k + 1}" for k in np.argsort(model.ranking_)[:5])
    console.print(
        f"five best: {best}; alpha {model.alpha_:.3g} of alpha_max {model.alpha_max_:.3g}\n"
        f"certificate: duality gap {model.dual_gap_:.1e}, "
        f"KKT violation {model.kkt_violation_:.1e}"
    )
