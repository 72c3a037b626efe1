"""Orders of the columns of a table, best first: ours, and those of methods that people reach for.

Each takes standardised columns, numbers or class labels, and whether they are labels.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
from designs.real import Array, contrasts
from methods.predictors import forest
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.feature_selection import (
    f_classif,
    f_regression,
    mutual_info_classif,
    mutual_info_regression,
)
from sklearn.linear_model import lasso_path

from gradsift.data import ArraySource
from gradsift.sift import sift

Order = NDArray[np.intp]
Ranker = Callable[[Array, Any, bool], Order]


def gradsift_order(X: Array, y: Any, labels: bool) -> Order:
    """`ranking_` of GradientSift, without the refit that predictions need."""
    found = sift(ArraySource(X), contrasts(y, labels), robust=not labels)
    return np.argsort(found.ranking)


def each_class(order: Ranker) -> Ranker:
    """A method that knows numbers and two classes; of several classes, the order of columns by
    their best place among one order for each class against the others.
    """

    def best_places(X: Array, y: Any, labels: bool) -> Order:
        if not labels:
            return order(X, y, False)
        classes = np.unique(y)
        each = classes[1:] if len(classes) == 2 else classes
        orders = [order(X, 2.0 * (y == label) - 1.0, True) for label in each]
        places = np.array([np.argsort(order) for order in orders])
        return np.lexsort((places.mean(axis=0), places.min(axis=0)))

    return best_places


def forest_order(X: Array, y: Any, labels: bool) -> Order:
    return np.argsort(-forest(labels).fit(X, y).feature_importances_, kind="stable")


def quick_forest_order(X: Array, y: Any, labels: bool) -> Order:
    """A tenth of the columns at every split, which wide tables need."""
    kind = RandomForestClassifier if labels else RandomForestRegressor
    settings = {"n_estimators": 500} if labels else {"n_estimators": 300, "max_features": 0.1}
    fitted = kind(random_state=0, **settings).fit(X, y)
    return np.argsort(-fitted.feature_importances_, kind="stable")


def lasso_order(X: Array, y: Any, labels: bool) -> Order:
    """Order of entry on a path of 200 alphas; ties by size, variables that never enter by
    correlation.
    """
    _, coefs, _ = lasso_path(X, y - y.mean(), n_alphas=200, eps=1e-2)
    entered = np.where(coefs.any(axis=1), (coefs != 0).argmax(axis=1), coefs.shape[1])
    return np.lexsort((-np.abs(X.T @ (y - y.mean())), -np.abs(coefs).max(axis=1), entered))


def f_order(X: Array, y: Any, labels: bool) -> Order:
    F = (f_classif if labels else f_regression)(X, y)[0]
    return np.argsort(-np.nan_to_num(F), kind="stable")


def information_order(X: Array, y: Any, labels: bool) -> Order:
    score = mutual_info_classif if labels else mutual_info_regression
    return np.argsort(-score(X, y, random_state=0), kind="stable")


def hsic_order(X: Array, y: Any, labels: bool) -> Order:
    """pyHSICLasso's own order for the 50 it is asked for, then by correlation."""
    from pyHSICLasso import HSICLasso

    # it catches np.linalg.linalg.LinAlgError, a name that numpy 2 has no more
    np.linalg.linalg = np.linalg  # type: ignore[attr-defined]
    model = HSICLasso()
    model.input(X, y.astype(int) if labels else y)
    run = model.classification if labels else model.regression
    run(50, B=0, M=1, n_jobs=1)
    first = np.array(model.get_index(), dtype=int)
    rest = np.argsort(-np.abs(X.T @ (y - y.mean())), kind="stable")
    return np.concatenate([first, rest[~np.isin(rest, first)]])


def multisurf_order(X: Array, y: Any, labels: bool) -> Order:
    from skrebate import MultiSURF

    scores = MultiSURF(n_features_to_select=50, n_jobs=1).fit(X, y).feature_importances_
    return np.argsort(-scores, kind="stable")


def xrfm_order(X: Array, y: Any, labels: bool) -> Order:
    """Diagonal of the average gradient outer product of a recursive feature machine, l1 kernel.

    Its bandwidth adapts to the distances: the constant 10 it starts from is nothing next to the l1
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
    target = (y > 0).astype(np.float32) if labels else y.astype(np.float32)
    cut = len(X) - max(5, len(X) // 5)
    values = X.astype(np.float32)
    model.fit(values[:cut], target[:cut, None], values[cut:], target[cut:, None])
    agop = np.asarray(model.collect_best_agops()[0])
    return np.argsort(-(agop if agop.ndim == 1 else np.diag(agop)), kind="stable")


RANKERS: dict[str, Ranker] = {
    "gradsift": gradsift_order,
    "l1": each_class(lasso_order),
    "forest": forest_order,
    "F-test": f_order,
    "mutual inf.": information_order,
}
# compared where they are installed
OTHERS = {
    "HSIC Lasso": ("pyHSICLasso", hsic_order),
    "MultiSURF": ("skrebate", multisurf_order),
    "xRFM, l1": ("xrfm", xrfm_order),
}
RANKERS |= {name: each_class(rank) for name, (module, rank) in OTHERS.items() if find_spec(module)}
