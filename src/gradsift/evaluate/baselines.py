"""Simple tools on all columns: what a selection must be compared with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from gradsift.inference.splits import Split, row_splits
from gradsift.numerics.logistic import MOST_FACTORED, fit_binary, fit_multinomial, with_ones
from gradsift.numerics.losses import softmax
from gradsift.protocols import Array, IntArray

ALPHAS = np.logspace(-1, 6, 29)
"""Penalties of the ridge regression; columns are standardised."""
STRENGTHS = np.logspace(-5, 2, 8)
"""C of the logistic regression: one over its penalty."""
FOLDS = 5
MANY_ROWS = 2_000
"""Rows above which the penalty of the logistic regression is looked for on a coarser grid."""


def simple_tool(X: Array, labels: bool, groups: IntArray | None = None) -> Any:
    """Ridge or logistic regression on all columns, its penalty tuned by cross-validation.

    Parameters
    ----------
    X : (n, p) array
        The rows that it will be fitted to.
    labels : bool
    groups : (n,) int array, optional
        Rows that are held out together.

    Returns
    -------
    tool : scikit-learn pipeline, not fitted
    """
    steps: list[Any] = [SimpleImputer(keep_empty_features=True), StandardScaler()]
    if not labels:
        rows = np.zeros(len(X))
        folds = None if groups is None else list(inner_folds(FOLDS, rows, False, groups))
        return make_pipeline(*steps, RidgeCV(ALPHAS, cv=folds))
    n, p = X.shape
    if p > n:
        # a turn of the axes, which a ridge penalty does not see: n coordinates instead of p
        steps.append(PCA(svd_solver="full"))
    return make_pipeline(*steps, TunedLogistic(alone=1.0 / p, groups=groups))


def inner_folds(
    count: int, y: Any, labels: bool, groups: IntArray | None = None
) -> Iterator[Split]:
    """Folds inside the rows of a fit; without groups, of rows dealt at random."""
    if groups is not None:
        groups = np.unique(groups, return_inverse=True)[1]
    return row_splits(count, y, labels, groups, shuffle=True)


class TunedLogistic(ClassifierMixin, BaseEstimator):
    """Ridge-penalised logistic regression; C of smallest log loss in stratified folds.

    scikit-learn's `GridSearchCV` of a `LogisticRegression` finds the same. Here every fit starts
    from the one with the next smaller C, which is most of the way.

    Parameters
    ----------
    alone : float
        C where the smallest class has a single row, and no fold can be held out.
    groups : (n,) int array, optional
        Rows that are held out together.
    """

    def __init__(self, alone: float = 1.0, groups: IntArray | None = None) -> None:
        self.alone = alone
        self.groups = groups

    def fit(self, X: Array, y: Any) -> Self:
        """Choose C, then fit to all rows."""
        self.classes_, codes = np.unique(y, return_inverse=True)
        Phi, T = with_ones(X), np.eye(len(self.classes_))[codes]
        grid = STRENGTHS if len(X) <= MANY_ROWS else STRENGTHS[[3, 5, 7]]
        smallest = smallest_class(codes, self.groups)
        if smallest < 2:
            grid = np.array([self.alone])
        else:
            folds = inner_folds(min(FOLDS, smallest), codes, True, self.groups)
            losses = [held_out_losses(Phi, T, grid, *fold) for fold in folds]
            grid = grid[: np.mean(losses, axis=0).argmin() + 1]
        self.C_, self.beta_ = float(grid[-1]), fit_path(Phi, T, grid)[-1]
        return self

    def predict_proba(self, X: Array) -> Array:
        """(n, classes) probabilities."""
        return np.asarray(softmax((with_ones(X) @ self.beta_).T).T)

    def predict(self, X: Array) -> Any:
        """The most likely class of each row."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def smallest_class(codes: IntArray, groups: IntArray | None) -> int:
    """Rows, or groups, of the class that has fewest."""
    if groups is None:
        return int(np.bincount(codes).min())
    return min(len(np.unique(groups[codes == k])) for k in range(int(codes.max()) + 1))


def held_out_losses(Phi: Array, T: Array, grid: Array, train: IntArray, test: IntArray) -> Array:
    """Mean log loss at the rows `test` of fits to the rows `train`, one for each C of the grid."""
    smallest = np.finfo(float).eps
    chances = [softmax((Phi[test] @ beta).T).T for beta in fit_path(Phi[train], T[train], grid)]
    own = [(P * T[test]).sum(axis=1).clip(smallest) for P in chances]
    return -np.log(own).mean(axis=1)


def fit_path(Phi: Array, T: Array, grid: Array) -> list[Array]:
    """Scores (r + 1, classes) for rising C, each fit starting from the one before."""
    ones = np.ones(len(Phi))
    beta: Array = np.zeros((Phi.shape[1], T.shape[1]))
    path: list[Array] = []
    for C in grid.tolist():
        if T.shape[1] > 2:
            beta = fit_multinomial(Phi, T, ones, 1.0 / C, beta)
        elif Phi.shape[1] > MOST_FACTORED:
            # scores -g / 2 and g / 2: half the penalty of g is on each of them
            beta = fit_multinomial(Phi, T, ones, 2.0 / C, beta)
        else:
            odds = fit_binary(Phi, T[:, 1], ones, 1.0 / C, beta[:, 1] - beta[:, 0]).beta
            beta = odds * np.array([-0.5, 0.5])
        path.append(beta)
    return path


LIGHT = 0.1
"""Penalty, in rows, of the logistic regression on covariates: finite where they separate classes.
"""


def predict_beside(C: Array, y: Any, offset: Any, D: Array, new_offset: Any, classes: Any) -> Array:
    """What covariates and an offset alone predict: for rows D, from rows C with responses y.

    Least squares, or logistic regression; numbers (m,), or probabilities of all classes (m, c).
    """
    A, B = with_ones(C), with_ones(D)
    if classes is None:
        known, more = (0.0 if o is None else np.asarray(o) for o in (offset, new_offset))
        return np.asarray(B @ np.linalg.lstsq(A, y - known, rcond=None)[0] + more)
    T = (np.asarray(y)[:, None] == classes).astype(float)
    weight, two = np.ones(len(A)), len(classes) == 2
    start = np.zeros((A.shape[1], 1 if two else len(classes)))
    if two:
        beta = fit_binary(A, T[:, 1], weight, LIGHT, start[:, 0], offset).beta
        odds = (B @ beta)[:, 0] + (0.0 if new_offset is None else new_offset)
        return softmax(np.array([np.zeros(len(B)), odds])).T
    beta = fit_multinomial(A, T, weight, LIGHT, start, offset)
    return softmax((B @ beta + (0.0 if new_offset is None else new_offset)).T).T
