"""Problems of the path benchmark: a simulated surface of any size, and the leukemia data."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
DATA = Path(os.environ.get("GRADSIFT_DATA", "data"))


@dataclass(frozen=True)
class PathProblem:
    """A table, a response, and the settings of `gradient_path` that go with it."""

    name: str
    X: Array
    y: Array
    settings: dict[str, Any] = field(default_factory=dict)


def surface(n: int, p: int, seed: int = 0) -> PathProblem:
    """The sign of a surface in four variables with an interaction; Gaussian kernel and weights."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    height = X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * X[:, 3] ** 2 - 0.5 + 0.3 * rng.normal(size=n)
    settings = {"kernel": "gaussian", "weights": "gaussian", "n_alphas": 50, "eps": 0.1}
    return PathProblem(f"n={n}, p={p:,}", X, np.sign(height), settings)


def leukemia() -> PathProblem | None:
    """The paper's setting: 38 samples, genes of unit length, linear kernel; None without file."""
    file = DATA / "leukemia.npz"
    if not file.is_file():
        return None
    with np.load(file) as archive:
        X, y = archive["X_train"].astype(float), archive["y_train"].astype(float)
    X = X - X.mean(axis=0)
    length = np.linalg.norm(X, axis=0)
    X = X / np.where(length > 0.0, length, 1.0)
    settings = {"kernel": "linear", "weights": "gaussian", "standardize": False}
    return PathProblem("leukemia", X, y, settings)
