"""Real data sets of the benchmarks, taken from the folder that GRADSIFT_DATA names."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from designs.selection import Array
from numpy.typing import NDArray
from sklearn.model_selection import RepeatedKFold, RepeatedStratifiedKFold

DATA = Path(os.environ.get("GRADSIFT_DATA", Path(__file__).parents[3] / "shared" / "data"))
REAL = ("leukemia", "colon", "riboflavin", "gasoline")


@dataclass(frozen=True)
class RealCase:
    """`splits` holds (train, test) row indices; every choice is made on the training rows."""

    X: Array
    y: Array
    task: str
    splits: list[tuple[NDArray[np.intp], NDArray[np.intp]]]


def real(name: str, repeats: int = 1, seed: int = 0) -> RealCase:
    """leukemia (its own split), colon, riboflavin, gasoline (`repeats` x 5-fold)."""
    data = np.load(DATA / f"{name}.npz")
    if name == "leukemia":
        raw = np.vstack([data["X_train"], data["X_test"]])
        X = np.log10(np.clip(raw, 100, 16000).astype(float))
        y = np.r_[data["y_train"], data["y_test"]].astype(float)
        return RealCase(X, y, "classification", [(np.arange(38), np.arange(38, 72))])
    X, y = data["X"].astype(float), data["y"].astype(float)
    if name == "colon":
        X = np.log(X)
    labels = name == "colon"
    folds = (RepeatedStratifiedKFold if labels else RepeatedKFold)(
        n_splits=5, n_repeats=repeats, random_state=seed
    )
    return RealCase(X, y, "classification" if labels else "regression", list(folds.split(X, y)))


def is_there(name: str) -> bool:
    """Whether the file of a data set is there."""
    return (DATA / f"{name}.npz").exists()


def real_cases(names: Sequence[str] = REAL) -> Iterator[tuple[str, RealCase]]:
    """(name, case) of the data sets whose files are there; of the others, it says so."""
    for name in names:
        try:
            case = real(name)
        except FileNotFoundError:
            print(f"{name}: left out, its file is not there (set GRADSIFT_DATA)")
            continue
        yield name, case


def real_columns(name: str) -> tuple[Array, Array, bool]:
    """X, y and whether y are labels, of a real data set."""
    data = np.load(DATA / f"{name}.npz")
    if name == "leukemia":
        raw = np.vstack([data["X_train"], data["X_test"]])
        y = np.r_[data["y_train"], data["y_test"]]
        return np.log10(np.clip(raw, 100, 16000).astype(float)), (y > 0).astype(float), True
    X, y = data["X"].astype(float), data["y"].astype(float)
    return (np.log(X), (y > 0).astype(float), True) if name == "colon" else (X, y, False)
