"""Orders of the columns of a table, best first: ours, and those of methods that people reach for.

Every ranker sees standardised columns, numbers or class labels, and whether they are labels.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray
from real.methods import forest
from real.tables import Array, contrasts
from selection.contestants import OPTIONAL, f_order, information_order, lasso_order

from gradsift.data import ArraySource
from gradsift.sift import sift

Order = NDArray[np.intp]
Ranker = Callable[[Array, Any, bool], Order]


def task_of(labels: bool) -> str:
    return "classification" if labels else "regression"


def gradsift_order(X: Array, y: Any, labels: bool) -> Order:
    """`ranking_` of GradientSift, without the refit that predictions need."""
    found = sift(ArraySource(X), contrasts(y, labels), robust=not labels)
    return np.argsort(found.ranking)


def each_class(
    order: Callable[[Array, Array, str], Array], X: Array, y: Any, labels: bool
) -> Order:
    """Order of a method that knows numbers and two classes; of several classes, by the best place
    among one order for each class against the others.
    """
    if not labels:
        return order(X, y, "regression")
    classes = np.unique(y)
    each = classes[1:] if len(classes) == 2 else classes
    orders = [order(X, 2.0 * (y == label) - 1.0, "classification") for label in each]
    places = np.array([np.argsort(order) for order in orders])
    return np.lexsort((places.mean(axis=0), places.min(axis=0)))


def forest_order(X: Array, y: Any, labels: bool) -> Order:
    return np.argsort(-forest(labels).fit(X, y).feature_importances_, kind="stable")


RANKERS: dict[str, Ranker] = {
    "gradsift": gradsift_order,
    "l1": partial(each_class, lasso_order),
    "forest": forest_order,
    "F-test": lambda X, y, labels: f_order(X, y, task_of(labels)),
    "mutual inf.": lambda X, y, labels: information_order(X, y, task_of(labels)),
}
# rivals that are compared where they are installed
RANKERS |= {
    name: partial(each_class, order)
    for name, (module, order) in OPTIONAL.items()
    if find_spec(module)
}
