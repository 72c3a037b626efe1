"""Simple tools on all columns: what a selection must be compared with."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from gradsift._typing import Array

ALPHAS = np.logspace(-1, 6, 29)
"""Penalties of the ridge regression; columns are standardised."""
STRENGTHS = np.logspace(-5, 2, 8)
"""C of the logistic regression."""
FOLDS = 5
MOST_NEWTON = 1_000
"""Coefficients up to which Newton steps with a full Hessian are faster than quasi-Newton ones."""
MANY_ROWS = 2_000
"""Rows above which the penalty of the logistic regression is looked for on a coarser grid."""


def simple_tool(X: Array, y: Any, labels: bool) -> tuple[str, Any]:
    """Ridge or logistic regression on all columns, its penalty tuned by cross-validation.

    Parameters
    ----------
    X : (n, p) array
        The rows that it will be fitted to.
    y : (n,) array
    labels : bool

    Returns
    -------
    name : str
    tool : scikit-learn pipeline, not fitted
    """
    steps: list[Any] = [SimpleImputer(keep_empty_features=True), StandardScaler()]
    if not labels:
        return "ridge regression", make_pipeline(*steps, RidgeCV(ALPHAS))
    n, p = X.shape
    if p > n:
        # a turn of the axes, which a ridge penalty does not see: n coordinates instead of p
        steps.append(PCA(svd_solver="full"))
    smallest = int(np.unique(y, return_counts=True)[1].min())
    grid = STRENGTHS if n <= MANY_ROWS else STRENGTHS[[3, 5, 7]]
    if smallest < 2:
        return "logistic regression", make_pipeline(*steps, LogisticRegression(C=1.0 / p))
    folds = StratifiedKFold(min(FOLDS, smallest), shuffle=True, random_state=0)
    few = min(n, p) * len(np.unique(y)) <= MOST_NEWTON
    logistic = LogisticRegression(solver="newton-cholesky" if few else "lbfgs", max_iter=500)
    search = GridSearchCV(logistic, {"C": grid}, scoring="neg_log_loss", cv=folds)
    return "logistic regression", make_pipeline(*steps, search)
