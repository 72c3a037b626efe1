"""CPU seconds of fits and of `gradsift select`, of two checkouts and of three common methods.

    git worktree add --detach before COMMIT
    cd benchmarks && python -m speed --before ../before

Both versions are compiled to bytecode, as an installed package is. They take turns on the same
tables, one thread each, every run in a process of its own; the figures are medians of `--repeats`
runs. `select` is the whole command: imports, folds, half samples, report, all of its processes. A
fit is `fit` alone, with the default estimator; large tables are fitted once. LassoCV and
HistGradientBoosting (`boosting`) have their defaults; the seconds of a forest are those of ten
trees, times 50. A dash: not run, LassoCV because it takes no labels. The packages are those of this
Python and those on PYTHONPATH. The table of colon tissues is taken from the folder that
GRADSIFT_DATA names; without it its rows are left out, and that is said.
"""

from __future__ import annotations

import argparse
import compileall
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from designs.data_sets import real_cases
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine

HERE = Path(__file__).parent
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
FIT = """
import sys, time, warnings
import numpy as np
warnings.simplefilter("ignore")
method, findings, *files = sys.argv[1:]
seconds = []
for file in files:
    table = np.load(file)
    X, y = table["X"], table["y"]
    labels = y.dtype.kind in "iU"
    if method == "gradsift":
        from gradsift import GradientSiftClassifier, GradientSiftRegressor
        model = (GradientSiftClassifier if labels else GradientSiftRegressor)()
        if findings == "findings":
            model.set_params(inference=True)
    elif method == "forest":
        from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
        model = (RandomForestClassifier if labels else RandomForestRegressor)(10, random_state=0)
    elif method == "boosting":
        from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
        model = (HistGradientBoostingClassifier if labels else HistGradientBoostingRegressor)()
    else:
        from sklearn.linear_model import LassoCV
        model = LassoCV()
    start = time.process_time()
    model.fit(X, y)
    seconds.append(time.process_time() - start)
print((50 if method == "forest" else 1) * sorted(seconds[1:])[len(seconds[1:]) // 2])
"""
"""Fits every file it is given and prints the median seconds of all but the first, which warms up.
"""
PEERS = ("LassoCV", "forest", "boosting")
SIZES = ((100, 100), (200, 1_000), (60, 20_000), (2_000, 200), (20_000, 50), (100_000, 100))

Run = Callable[..., float]
"""Seconds of a checkout."""


def demo() -> tuple[np.ndarray, np.ndarray]:
    """The table of `gradsift demo`: diabetes, and 40 columns of noise."""
    data = load_diabetes()
    noise = np.random.default_rng(0).normal(size=(len(data.target), 40))
    return np.column_stack([data.data, noise]), data.target


def write_table(path: Path, X: np.ndarray, y: np.ndarray) -> Path:
    """A CSV file with the response in a column y."""
    head = ",".join([*(f"x{k + 1}" for k in range(X.shape[1])), "y"])
    lines = [",".join([*map(repr, row), str(value)]) for row, value in zip(X.tolist(), y.tolist())]
    path.write_text("\n".join([head, *lines]) + "\n")
    return path


def call(checkout: Path, *words: str) -> tuple[str, float]:
    """What Python prints with the package of a checkout, and the CPU seconds of the process."""
    environment = {**os.environ, **dict.fromkeys(ONE_THREAD, "1")}
    places = [str(checkout.resolve() / "src"), os.environ.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, places))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, *words], env=environment, capture_output=True, text=True, check=False
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"{checkout}: {' '.join(words)[:200]}\n{done.stderr}")
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return done.stdout, spent


def select_seconds(file: Path) -> Run:
    """Seconds of `gradsift select` on a file."""

    def run(checkout: Path) -> float:
        with tempfile.TemporaryDirectory() as folder:
            words = ["select", str(file), "--target", "y", "--out", f"{folder}/results"]
            return call(checkout, "-m", "gradsift", *words)[1]

    return run


def fit_seconds(file: Path, times: int, findings: str = "") -> Callable[..., float]:
    """Seconds of a fit to the table in a file, by the package of a checkout or another method."""
    names = [str(file.with_name("warm.npz")), *[str(file)] * times]
    if "digits" in file.name or "colon" in file.name:
        names[0] = str(file.with_name("labels.npz"))
    return lambda checkout, method="gradsift": float(
        call(checkout, "-c", FIT, method, findings, *names)[0]
    )


def surface(n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    """A sine, a product, a line and a square of five normal columns, and noise."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + X[:, 3] + 0.5 * X[:, 4] ** 2
    return X, y + 0.5 * rng.standard_normal(n)


def fits(folder: Path) -> dict[str, Callable[..., float]]:
    """Name -> what measures a fit."""

    def stored(name: str, X: np.ndarray, y: np.ndarray) -> Path:
        np.savez(folder / f"{name}.npz", X=X, y=y)
        return folder / f"{name}.npz"

    X, y = surface(60, 10)
    stored("warm", X, y)
    stored("labels", X, (y > 0).astype(int))
    found = {}
    for n, p in SIZES:
        file = stored(f"fit-{n}-{p}", *surface(n, p))
        found[f"fit, {n:,} x {p:,}"] = fit_seconds(file, 5 if n * p <= 200_000 else 1)
    file = stored("digits", *load_digits(return_X_y=True))
    found["fit, digits (1,797 x 64, 10 classes)"] = fit_seconds(file, 1)
    for _, colon in real_cases(["colon"]):
        file = stored("colon", colon.X, (colon.y > 0).astype(int))
        found["fit with findings, colon (62 x 2,000)"] = fit_seconds(file, 1, "findings")
    return found


def commands(folder: Path) -> dict[str, Run]:
    """Name -> what measures `gradsift select` on a table."""
    tables = {"demo (442 x 50)": demo()}
    for name, load in (("wine", load_wine), ("breast cancer", load_breast_cancer)):
        data = load()
        n, p = data.data.shape
        tables[f"{name} ({n} x {p})"] = data.data, data.target_names[data.target]
    for name, colon in real_cases(["colon"]):
        tables[f"{name} (62 x 2,000)"] = colon.X, np.where(colon.y > 0, "tumour", "normal")
    return {
        f"`gradsift select`, {name}": select_seconds(write_table(folder / f"{k}.csv", X, y))
        for k, (name, (X, y)) in enumerate(tables.items())
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--before", type=Path, required=True, help="another checkout")
    parser.add_argument("--after", type=Path, default=HERE.parent, help="this one if not given")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", default="", help="rows whose name holds this text")
    asked = parser.parse_args()
    for checkout in (asked.before, asked.after):
        compileall.compile_dir(checkout / "src", quiet=1)
    print("| what | before, CPU s | after, CPU s | ratio | LassoCV | 500 trees | boosting |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        timed = fits(Path(folder))
        for name, run in (timed | commands(Path(folder))).items():
            if asked.only not in name:
                continue
            turns = range(asked.repeats if name not in timed else 1)
            pairs = [(run(asked.before), run(asked.after)) for _ in turns]
            before, after = (statistics.median(side) for side in zip(*pairs))
            peers = [
                f"{timed[name](asked.after, peer):.2f}" if is_run(name, peer, timed) else "-"
                for peer in PEERS
            ]
            cells = [name, f"{before:.2f}", f"{after:.2f}", f"{after / before:.2f}", *peers]
            print(f"| {' | '.join(cells)} |", flush=True)


def is_run(name: str, peer: str, timed: dict[str, Callable[..., float]]) -> bool:
    """Whether a method is measured here: commands have no rival, LassoCV takes no labels."""
    return name in timed and not (peer == "LassoCV" and ("digits" in name or "colon" in name))


if __name__ == "__main__":
    main()
