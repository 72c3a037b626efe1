"""CPU seconds of `gradsift select` and of default fits, beside another checkout of this project.

    git worktree add --detach before COMMIT
    cd benchmarks && python -m speed --before ../before

Both versions are compiled to bytecode, as an installed package is. They take turns on the same
tables, one thread each, every run in a process of its own;
the figures are medians of `--repeats` runs. `select` is the whole command: imports, folds, half
samples, report. A fit is `fit` alone, summed over three designs. Both run with the packages of this
Python and those on PYTHONPATH. The table of colon tissues is taken from the folder that
GRADSIFT_DATA names; without it that row is left out, and that is said.
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
from designs.selection import friedman, logit2, two_index
from sklearn.datasets import load_diabetes

HERE = Path(__file__).parent
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
DESIGNS = {"friedman": friedman, "two_index": two_index, "logit2": logit2}
FIT = """
import sys, time, warnings
import numpy as np
from gradsift import GradientSiftClassifier, GradientSiftRegressor
warnings.simplefilter("ignore")
seconds = []
for file in sys.argv[1:]:
    table = np.load(file)
    model = (GradientSiftClassifier if "logit" in file else GradientSiftRegressor)()
    start = time.process_time()
    model.fit(table["X"], table["y"])
    seconds.append(time.process_time() - start)
print(sum(seconds[1:]))
"""
"""Fits every file it is given and prints the seconds of all but the first, which warms up."""

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


def fit_seconds(files: list[Path]) -> Run:
    """Seconds of default fits to the tables in these files."""
    names = [str(file) for file in (files[0], *files)]
    return lambda checkout: float(call(checkout, "-c", FIT, *names)[0])


def problems(folder: Path) -> dict[str, Run]:
    """Name -> what measures it."""
    found: dict[str, Run] = {}
    found["`gradsift select`, demo (442 x 50)"] = select_seconds(
        write_table(folder / "demo.csv", *demo())
    )
    for name, colon in real_cases(["colon"]):
        labels = np.where(colon.y > 0, "tumour", "normal")
        found[f"`gradsift select`, {name} (62 x 2,000)"] = select_seconds(
            write_table(folder / f"{name}.csv", colon.X, labels)
        )
    case = two_index(0)
    found["`gradsift select`, two directions (300 x 100)"] = select_seconds(
        write_table(folder / "two.csv", case.X, case.y)
    )
    for p in (200, 1_000):
        files = []
        for name, make in DESIGNS.items():
            case = make(0, 200, p)
            files.append(folder / f"{name}-{p}.npz")
            np.savez(files[-1], X=case.X, y=case.y)
        found[f"three fits, 200 x {p:,}"] = fit_seconds(files)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--before", type=Path, required=True, help="another checkout")
    parser.add_argument("--after", type=Path, default=HERE.parent, help="this one unless told")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only", default="", help="rows whose name holds this text")
    asked = parser.parse_args()
    for checkout in (asked.before, asked.after):
        compileall.compile_dir(checkout / "src", quiet=1)
    print("| what | before, CPU s | after, CPU s | ratio |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, run in problems(Path(folder)).items():
            if asked.only not in name:
                continue
            turns = range(asked.repeats)
            pairs = [(run(asked.before), run(asked.after)) for _ in turns]
            before, after = (statistics.median(side) for side in zip(*pairs))
            print(f"| {name} | {before:.2f} | {after:.2f} | {after / before:.2f} |", flush=True)


if __name__ == "__main__":
    main()
