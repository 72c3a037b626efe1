"""`gradsift demo`: the main job on a real table with noise added."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from sklearn.datasets import load_diabetes

from gradsift.cli._select import console
from gradsift.cli._select import run as select
from gradsift.pipeline import Settings
from gradsift.tables import Choices


def run(out: Path) -> None:
    """Results on real data, and what to try next."""
    data = load_diabetes()
    n, p = data.data.shape
    noise = np.random.default_rng(0).normal(size=(n, 40))
    names = [*data.feature_names, *(f"noise{k}" for k in range(1, 41)), "progression"]
    console.print(f"{n} patients, {p} measurements and 40 columns of noise:\n")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "diabetes.csv"
        rows = np.column_stack([data.data, noise, data.target])
        np.savetxt(path, rows, delimiter=",", header=",".join(names), comments="", fmt="%.17g")
        select(path, Choices("progression"), Settings(), out, force=True)
    console.print(
        "\nNow try a table of yours:\n"
        "  gradsift select TABLE.csv --target COLUMN\n"
        "  python -c 'import gradsift; help(gradsift.GradientSiftRegressor)'"
    )
