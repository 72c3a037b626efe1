"""The methods of the leukemia table: from normalised training samples to features of any sample.

Each takes (X, y) and returns `Features`. Regularisation is chosen inside, on the samples it gets,
so the same function serves the table (all 38 samples) and a fold of the honest leave-one-out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.linear_model import lars_path
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from experiments.tools import TOL, empty_is_fine
from gradsift import (
    GradientSiftClassifier,
    RidgeGradientRegressor,
    alpha_max,
    gradient_path,
)
from gradsift.numerics.directions import find_directions
from gradsift.protocols import Array, IntArray

LINEAR: dict[str, Any] = {"kernel": "linear", "weights": "gaussian", "standardize": False}
FINE, COARSE = 40, 10  # number of penalties tried, from 0.8 to 0.1 of alpha_max
RIDGES = (10.0, 3.0, 1.0, 0.3, 0.1, 0.03)  # of GL, in units of its default, strongest first
MOST_ESFS = 6  # the paper's number


@dataclass(frozen=True)
class Features:
    """Linear features Z = X[:, index] @ map, and how important each variable is."""

    index: IntArray
    map: Array  # (variables, features)
    size: Array  # (variables,)

    def of(self, X: Array) -> Array:
        return X[:, self.index] @ self.map


def variables(index: IntArray, size: Array | None = None) -> Features:
    """The columns themselves."""
    return Features(index, np.eye(len(index)), np.ones(len(index)) if size is None else size)


def machine() -> SVC:
    """A linear SVM; columns of unit length are small, so a large C makes its margin hard."""
    return SVC(kernel="linear", C=100.0)


def normalise(train: Array, other: Array) -> tuple[Array, Array]:
    """Zero mean and unit length for every gene, by the training samples."""
    mean = train.mean(axis=0)
    length = np.linalg.norm(train - mean, axis=0)
    length = np.where(length > 0.0, length, 1.0)
    return (train - mean) / length, (other - mean) / length


def loo_errors(Z: Array, y: Array) -> int:
    """Errors of the classifier with one sample left out at a time; the features stay.

    A sample that is no support vector lies on its own side, and leaving it out changes nothing:
    only support vectors need a new fit.
    """
    rows = np.arange(len(y))
    wrong = 0
    for i in machine().fit(Z, y).support_:
        rest = rows != i
        wrong += int(machine().fit(Z[rest], y[rest]).predict(Z[i : i + 1])[0] != y[i])
    return wrong


def sparsest(candidates: list[Features], X: Array, y: Array) -> Features:
    """The paper's choice: fewest leave-one-out errors; the first (sparsest) of equals."""
    errors = [loo_errors(c.of(X), y) for c in candidates]
    return candidates[int(np.argmin(errors))]


# ---------------------------------------------------------------------------- SGL


def sgl_path(
    X: Array, y: Array, task: str = "regression", steps: int = FINE, least: float = 0.1
) -> dict[str, list[Features]]:
    """Variables and first S-EDR at every penalty, largest first."""
    top = alpha_max(X, y, task=task, **LINEAR)
    alphas = top * np.geomspace(0.8, least, steps)
    path = gradient_path(X, y, task=task, alphas=alphas, tol=TOL, **LINEAR)  # type: ignore[arg-type]
    out: dict[str, list[Features]] = {"variables": [], "S-EDR": []}
    for answer in path.solutions:
        index, B = answer.rows.index, answer.rows.values
        size = np.linalg.norm(B, axis=1)
        direction = find_directions(np.arange(len(index)), B, len(index), 1).components
        out["variables"].append(variables(index, size))
        out["S-EDR"].append(Features(index, direction.T, size))
    return out


def sgl_inside(X: Array, y: Array, folds: int = 10) -> dict[str, Features]:
    """The penalty with fewest errors when normalising and selection are redone in every fold."""
    path = sgl_path(X, y, steps=COARSE)
    errors = {kind: np.zeros(COARSE, dtype=int) for kind in path}
    for rest, out in StratifiedKFold(folds).split(X, y):
        train, held = normalise(X[rest], X[out])
        for kind, candidates in sgl_path(train, y[rest], steps=COARSE).items():
            for at, c in enumerate(candidates):
                guess = machine().fit(c.of(train), y[rest]).predict(c.of(held))
                errors[kind][at] += int((guess != y[out]).sum())
    best = {kind: int(np.argmin(errors[kind])) for kind in path}
    return {f"SGL, alpha by 10-fold, all inside ({k})": path[k][best[k]] for k in path}


def sgl(X: Array, y: Array) -> dict[str, Features]:
    """SGL with squared loss, the penalty chosen in the paper's way."""
    path = sgl_path(X, y)
    return {f"SGL ({kind})": sparsest(path[kind], X, y) for kind in path}


def sgl_logistic(X: Array, y: Array) -> dict[str, Features]:
    """The same with the logistic loss."""
    path = sgl_path(X, y, "classification", steps=2 * COARSE)
    return {f"SGL, logistic ({kind})": sparsest(path[kind], X, y) for kind in path}


# ---------------------------------------------------------------------------- the others


def gl_path(X: Array, y: Array, ridges: Sequence[float] = RIDGES) -> dict[str, list[Features]]:
    """GL's first ESFs for every ridge, the strongest first, and every number of them."""
    default = RidgeGradientRegressor(**LINEAR).fit(X, y).alpha_
    everything = np.arange(X.shape[1])
    candidates = []
    for ridge in ridges:
        model = RidgeGradientRegressor(ridge * default, n_components=MOST_ESFS, **LINEAR).fit(X, y)
        candidates += [
            Features(everything, model.components_[:k].T, model.feature_importances_)
            for k in range(1, MOST_ESFS + 1)
        ]
    return {"ESFs": candidates}


def gl(X: Array, y: Array) -> dict[str, Features]:
    """GL, ridge and number of ESFs chosen in the paper's way, as SGL's penalty is."""
    return {"GL (ESFs)": sparsest(gl_path(X, y)["ESFs"], X, y)}


def all_genes(X: Array, y: Array) -> dict[str, Features]:
    """No selection."""
    p = X.shape[1]
    return {"linear SVM, all genes": AllColumns(np.arange(p), np.empty((0, 0)), np.ones(p))}


class AllColumns(Features):
    """Every column is a feature, without a p x p map."""

    def of(self, X: Array) -> Array:
        return X


def lasso(X: Array, y: Array) -> dict[str, Features]:
    """Variables along the LASSO path on the labels."""
    _, _, path = lars_path(X, y - y.mean(), method="lasso", max_iter=40)
    supports = [np.flatnonzero(column) for column in path.T[1:]]
    sizes = [np.abs(column[s]) for column, s in zip(path.T[1:], supports)]
    grown = [variables(s, size) for s, size in zip(supports, sizes) if len(s)]
    return {"LASSO": sparsest(grown, X, y)}


def sift(X: Array, y: Array) -> dict[str, Features]:
    """GradientSift's selected variables, and the ten best of its ranking; nothing is tuned."""
    with empty_is_fine():
        model = GradientSiftClassifier().fit(X, y)
    chosen, order = model.get_support(indices=True), np.argsort(model.ranking_)
    found = {"GradientSift (10 best)": variables(order[:10])}
    if len(chosen) == 0:  # never an empty set of features
        chosen = order[:1]
    return {"GradientSift (selected)": variables(chosen), **found}


Method = Callable[[Array, Array], dict[str, Features]]
PAPERS: tuple[Method, ...] = (sgl, gl, all_genes, lasso)
OURS: tuple[Method, ...] = (sgl_logistic, sgl_inside, sift)
ON_LOGARITHMS: tuple[Method, ...] = (sgl, sift)
