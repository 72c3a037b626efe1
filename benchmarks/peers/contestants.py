"""Contestants: what a user would pick for the same job, at the settings its own pages show.

Each takes a standardised table, the response (labels are -1 and 1) and the task, and gives a score
for every column; those that choose a set give that too. OMP_NUM_THREADS threads (or processes) for
everyone, two if it is not set.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray
from selection.contestants import gradsift, xrfm_order
from selection.designs import Array
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LassoCV
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold, StratifiedKFold

JOBS = int(os.environ.get("OMP_NUM_THREADS", "2"))
FALSE_DISCOVERY_RATE = 0.1  # of tools that have to be told one
MOST_NODES = 2_000  # columns up to which a desparsified Lasso keeps a matrix of all pairs of them
CLUSTERS = 200  # of columns beyond that, as in hidimstat's guide


@dataclass(frozen=True)
class Answer:
    scores: Array  # (p,), larger is better
    selected: NDArray[np.bool_] | None = None  # None: it ranks, and leaves the choice to the user


Contestant = Callable[[Array, Array, str], Answer]


def from_order(order: NDArray[np.intp]) -> Array:
    """Scores of columns that are given best first."""
    scores = np.empty(len(order))
    scores[order] = -np.arange(len(order))
    return scores


def by_size(size: Array, X: Array, y: Array) -> Array:
    """Scores of columns by some size; those of the same size, such as zero, by correlation."""
    return from_order(np.lexsort((-np.abs(X.T @ (y - y.mean())), -size)))


def ours(X: Array, y: Array, task: str) -> Answer:
    model = gradsift(task).fit(X, y)
    return Answer(-model.ranking_.astype(float), model.get_support())


def lasso(X: Array, y: Array, task: str) -> Answer:
    """5 folds, 100 alphas; labels as numbers; zero coefficients by correlation."""
    size = np.abs(LassoCV(cv=5, n_jobs=JOBS, random_state=0).fit(X, y).coef_)
    return Answer(by_size(size, X, y), size > 0)


def _trees(task: str, n_trees: int, **settings: object) -> RandomForestRegressor:
    kind = RandomForestRegressor if task == "regression" else RandomForestClassifier
    return kind(n_trees, n_jobs=JOBS, random_state=0, **settings)


def forest(X: Array, y: Array, task: str) -> Answer:
    """500 trees, else scikit-learn's defaults; impurity importance."""
    return Answer(_trees(task, 500).fit(X, y).feature_importances_)


def boruta(X: Array, y: Array, task: str) -> Answer:
    """As in its README: trees of depth 5, their number chosen by it, 100 rounds.

    Many columns share a rank, all confirmed ones the first: importance tells those apart.
    """
    from boruta import BorutaPy

    trees = _trees(task, 100, max_depth=5)
    model = BorutaPy(trees, n_estimators="auto", random_state=0).fit(X, y)
    history = np.nan_to_num(model.importance_history_).mean(axis=0)
    return Answer(from_order(np.lexsort((-history, model.ranking_))), model.support_)


def hsic_lasso(X: Array, y: Array, task: str) -> Answer:
    """Asked for 50 variables, without blocks; the others by correlation."""
    from pyHSICLasso import HSICLasso

    model = HSICLasso()
    model.input(X, y.astype(int) if task == "classification" else y)
    run = model.classification if task == "classification" else model.regression
    run(50, B=0, M=1, n_jobs=JOBS)
    first = np.array(model.get_index(), dtype=int)
    rest = np.argsort(-np.abs(X.T @ (y - y.mean())), kind="stable")
    return Answer(from_order(np.concatenate([first, rest[~np.isin(rest, first)]])))


def lassonet(X: Array, y: Array, task: str) -> Answer:
    """Defaults; its importance, and the set of the least validation loss on its path."""
    from lassonet import LassoNetClassifier, LassoNetRegressor

    settings = {"verbose": 0, "random_state": 0, "torch_seed": 0}
    if task == "regression":
        model, target = LassoNetRegressor(**settings), (y - y.mean()) / y.std()
    else:
        model, target = LassoNetClassifier(**settings), (y > 0).astype(int)
    path = model.path(X, target)
    best = min(path, key=lambda step: step.val_loss)
    return Answer(model.feature_importances_.numpy(), best.selected.numpy())


def xrfm(X: Array, y: Array, task: str) -> Answer:
    return Answer(from_order(xrfm_order(X, y, task)))


def desparsified(X: Array, y: Array, task: str) -> Answer:
    """Linear, as in hidimstat's guide: p-values of a Lasso without its bias, q-values up to .1.
    Labels as numbers. In wide tables of clusters of columns (CluDL), whose columns share a p-value.
    """
    from hidimstat import CluDL, DesparsifiedLasso
    from sklearn.cluster import FeatureAgglomeration

    model = DesparsifiedLasso(LassoCV(), random_state=0, n_jobs=JOBS)
    if X.shape[1] > MOST_NODES:
        model = CluDL(FeatureAgglomeration(CLUSTERS), model, random_state=0)
    model.fit_importance(X, y)
    return Answer(by_size(-model.pvalues_, X, y), model.fdr_selection(FALSE_DISCOVERY_RATE) != 0)


def conditional_importance(X: Array, y: Array, task: str) -> Answer:
    """hidimstat's conditional feature importance of a forest of 100 trees, in five folds, else its
    defaults; the set by its p-values, q-values up to .1.
    """
    from hidimstat import CFICV

    settings = {"feature_types": "continuous", "random_state": 0, "n_jobs": JOBS}
    kind = KFold
    if task == "classification":
        settings |= {"loss": log_loss, "method": "predict_proba"}
        kind = StratifiedKFold
    trees = _trees(task, 100).set_params(n_jobs=1)
    model = CFICV(trees, kind(5, shuffle=True, random_state=0), **settings)
    model.fit_importance(X, y)
    chosen = model.fdr_selection(FALSE_DISCOVERY_RATE) != 0
    return Answer(np.asarray(model.importances_).mean(axis=1), chosen)


# name -> (module it needs, how it is run)
CONTESTANTS: dict[str, tuple[str, Contestant]] = {
    "gradsift": ("gradsift", ours),
    "LassoCV": ("sklearn", lasso),
    "forest, 500 trees": ("sklearn", forest),
    "Boruta": ("boruta", boruta),
    "pyHSICLasso": ("pyHSICLasso", hsic_lasso),
    "LassoNet": ("lassonet", lassonet),
    "xRFM, l1": ("xrfm", xrfm),
    "hidimstat, d-Lasso": ("hidimstat", desparsified),
    "hidimstat, CFI": ("hidimstat", conditional_importance),
}


def installed() -> list[str]:
    return [name for name, (module, _) in CONTESTANTS.items() if find_spec(module)]
