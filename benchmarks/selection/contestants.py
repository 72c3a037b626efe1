"""Contestants: each ranks the columns of a standardised table, best first."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec

import numpy as np
from selection.designs import Array
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.feature_selection import (
    f_classif,
    f_regression,
    mutual_info_classif,
    mutual_info_regression,
)
from sklearn.linear_model import lasso_path

from gradsift import GradientSiftClassifier, GradientSiftRegressor

Ranker = Callable[[Array, Array, str], Array]  # X, y, task -> columns, best first


def gradsift(task: str) -> GradientSiftRegressor | GradientSiftClassifier:
    return GradientSiftRegressor() if task == "regression" else GradientSiftClassifier()


def gradsift_order(X: Array, y: Array, task: str) -> Array:
    return np.argsort(gradsift(task).fit(X, y).ranking_)


def lasso_order(X: Array, y: Array, task: str) -> Array:
    """Order of entry on a path of 200 alphas; ties by size, variables that never enter by
    correlation.
    """
    _, coefs, _ = lasso_path(X, y - y.mean(), n_alphas=200, eps=1e-2)
    entered = np.where(coefs.any(axis=1), (coefs != 0).argmax(axis=1), coefs.shape[1])
    return np.lexsort((-np.abs(X.T @ (y - y.mean())), -np.abs(coefs).max(axis=1), entered))


def forest_order(X: Array, y: Array, task: str) -> Array:
    forest = (
        RandomForestRegressor(300, max_features=0.1, random_state=0)
        if task == "regression"
        else RandomForestClassifier(500, random_state=0)
    )
    return np.argsort(-forest.fit(X, y).feature_importances_, kind="stable")


def f_order(X: Array, y: Array, task: str) -> Array:
    F = (f_regression if task == "regression" else f_classif)(X, y)[0]
    return np.argsort(-np.nan_to_num(F), kind="stable")


def information_order(X: Array, y: Array, task: str) -> Array:
    score = mutual_info_regression if task == "regression" else mutual_info_classif
    return np.argsort(-score(X, y, random_state=0), kind="stable")


def hsic_order(X: Array, y: Array, task: str) -> Array:
    """pyHSICLasso's own order for the 50 it is asked for, then by correlation."""
    from pyHSICLasso import HSICLasso

    # it catches np.linalg.linalg.LinAlgError, a name that numpy 2 has no more
    np.linalg.linalg = np.linalg  # type: ignore[attr-defined]
    model = HSICLasso()
    model.input(X, y.astype(int) if task == "classification" else y)
    run = model.classification if task == "classification" else model.regression
    run(50, B=0, M=1, n_jobs=1)
    first = np.array(model.get_index(), dtype=int)
    rest = np.argsort(-np.abs(X.T @ (y - y.mean())), kind="stable")
    return np.concatenate([first, rest[~np.isin(rest, first)]])


def multisurf_order(X: Array, y: Array, task: str) -> Array:
    from skrebate import MultiSURF

    scores = MultiSURF(n_features_to_select=50, n_jobs=1).fit(X, y).feature_importances_
    return np.argsort(-scores, kind="stable")


def xrfm_order(X: Array, y: Array, task: str) -> Array:
    """Diagonal of the average gradient outer product of a recursive feature machine, l1 kernel.

    Its bandwidth adapts to the distances: the constant 10 it starts from is nothing beside the l1
    distances of a wide table, and leaves all columns equal.
    """
    import torch
    from xrfm import xRFM

    torch.manual_seed(0)
    model = xRFM(
        rfm_params={
            "model": {
                "kernel": "l1",
                "exponent": 1.0,
                "bandwidth": 10.0,
                "bandwidth_mode": "adaptive",
                "diag": True,
            },
            "fit": {"reg": 1e-3, "iters": 5, "verbose": False, "get_agop_best_model": True},
        },
        device="cpu",
        split_method="random",
        random_state=0,
        verbose=False,
    )
    target = (y > 0).astype(np.float32) if task == "classification" else y.astype(np.float32)
    cut = len(X) - max(5, len(X) // 5)
    values = X.astype(np.float32)
    model.fit(values[:cut], target[:cut, None], values[cut:], target[cut:, None])
    agop = np.asarray(model.collect_best_agops()[0])
    return np.argsort(-(agop if agop.ndim == 1 else np.diag(agop)), kind="stable")


RANKERS: dict[str, Ranker] = {
    "gradsift": gradsift_order,
    "Lasso": lasso_order,
    "forest": forest_order,
    "F-test": f_order,
    "mutual inf.": information_order,
}
# rivals that are compared where they are installed
OPTIONAL: dict[str, tuple[str, Ranker]] = {
    "HSIC Lasso": ("pyHSICLasso", hsic_order),
    "MultiSURF": ("skrebate", multisurf_order),
    "xRFM, l1": ("xrfm", xrfm_order),
}
RANKERS |= {name: rank for name, (module, rank) in OPTIONAL.items() if find_spec(module)}
