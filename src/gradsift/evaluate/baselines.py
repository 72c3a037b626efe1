"""Baselines: what usual models on all columns, and covariates alone, predict for held-out rows.

With standardised columns X (n, p), missing values replaced by means:

- numbers: ridge regression (`RidgeCV`), the penalty by generalised or, with row groups, by
  cross-validation;
- a response with a likelihood: ridge regression of its working response, in rounds;
- labels: ridge-penalised logistic regression (`LogisticRegressionCV`), C of smallest log loss in
  stratified folds. With p > n, X is first rotated to its n principal axes, which the ridge penalty
  does not see: n coefficients a class in place of p.
"""

from __future__ import annotations

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, RidgeCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from gradsift.estimators.splits import Split, row_splits
from gradsift.numerics.logistic import fit_binary, fit_multinomial, with_ones
from gradsift.numerics.losses import softmax
from gradsift.protocols import Array, IntArray
from gradsift.responses import Likelihood

ALPHAS = np.logspace(-1, 6, 29)
"""Penalties of the ridge regression; columns are standardised."""
STRENGTHS = np.logspace(-5, 2, 8)
"""C of the logistic regression: one over its penalty."""
FOLDS = 5
SOLVER = {"tol": 1e-6, "max_iter": 1000}
LIGHT = 0.1
"""Penalty, in rows, of the logistic regression on covariates: finite where they separate classes.
"""


def baseline_model(X: Array, y: Array, labels: bool, groups: IntArray | None = None) -> Pipeline:
    """Ridge or logistic regression on all columns, its penalty tuned by cross-validation.

    Parameters
    ----------
    X : (n, p) array
        The rows that it will be fitted to; NaN = missing.
    y : (n,) array
    labels : bool
        Whether y holds labels.
    groups : (n,) int array, optional
        Rows that are held out together.

    Returns
    -------
    model : scikit-learn pipeline, not fitted
    """
    steps = [SimpleImputer(keep_empty_features=True), StandardScaler()]
    if not labels:
        folds = None if groups is None else inner_folds(FOLDS, y, False, groups)
        return make_pipeline(*steps, RidgeCV(ALPHAS, cv=folds))
    n, p = X.shape
    if p > n:
        steps.append(PCA(svd_solver="full"))
    return make_pipeline(*steps, logistic_model(p, y, groups))


def logistic_model(p: int, y: Array, groups: IntArray | None) -> ClassifierMixin:
    """Logistic regression; C = 1 / p where the smallest class cannot be held out."""
    codes = np.unique(y, return_inverse=True)[1]
    units = np.arange(len(y)) if groups is None else groups
    smallest = min(len(np.unique(units[codes == k])) for k in range(int(codes.max()) + 1))
    folds: list[Split] = []
    if smallest > 1:
        folds = inner_folds(min(FOLDS, smallest), codes, True, groups)
    # every class must be in the rows learnt from; groups may keep all of one in the same fold
    folds = [fold for fold in folds if len(np.unique(codes[fold[0]])) == codes.max() + 1]
    if not folds:
        return LogisticRegression(C=1.0 / p, **SOLVER)
    return LogisticRegressionCV(Cs=STRENGTHS, cv=folds, scoring=log_score, **SOLVER)


LINEAR_ROUNDS = 3
"""Times that a working response is made for a ridge regression, and fitted."""


def predict_by_ridge(
    response: Likelihood, X: Array, new: Array, offset: Array, groups: IntArray | None
) -> Array:
    """What ridge regression on all columns, of the working response of a likelihood, predicts for
    new rows with a known part `offset` (m, 1).
    """
    weight, eta = np.ones(len(X)), np.zeros((len(X), 1))
    for _ in range(LINEAR_ROUNDS):
        W = response.working(eta, weight)[:, 0]
        model = baseline_model(X, W, False, groups).fit(X, W)
        eta = model.predict(X)[:, None]
    return response.link(eta, weight).predict(model.predict(new)[:, None] + offset)


def predict_by_likelihood(response: Likelihood, C: Array, D: Array, offset: Array) -> Array:
    """What covariates and a known part `offset` (m, 1) alone predict for rows D, from rows C."""
    beta = response.coefficients(C, np.zeros((len(C), 0)), None)
    link = response.link(C @ beta, np.ones(len(C)))
    return link.predict(D @ beta + offset)


def inner_folds(
    count: int, y: Array | IntArray, labels: bool, groups: IntArray | None
) -> list[Split]:
    """Folds inside the rows of a fit; without groups, of rows in random order."""
    if groups is not None:
        groups = np.unique(groups, return_inverse=True)[1]
    return list(row_splits(count, y, labels, groups, shuffle=True))


def log_score(model: LogisticRegression, X: Array, y: Array) -> float:
    """Mean log probability of the labels; those of a fold may be of one class."""
    own = model.predict_proba(X)[np.arange(len(y)), np.searchsorted(model.classes_, y)]
    return float(np.log(own.clip(np.finfo(float).eps)).mean())


def predict_from_covariates(
    C: Array,
    y: Array,
    offset: Array | None,
    D: Array,
    new_offset: Array | None,
    classes: Array | None,
) -> Array:
    """What covariates and an offset alone predict: for rows D, from rows C with responses y.

    Least squares, or logistic regression; numbers (m,), or probabilities of all classes (m, c).
    """
    A, B = with_ones(C), with_ones(D)
    shift = 0.0 if new_offset is None else np.asarray(new_offset)
    if classes is None:
        known = 0.0 if offset is None else np.asarray(offset)
        return np.asarray(B @ np.linalg.lstsq(A, y - known, rcond=None)[0] + shift)
    T = (np.asarray(y)[:, None] == classes).astype(float)
    weight = np.ones(len(A))
    if len(classes) == 2:
        beta = fit_binary(A, T[:, 1], weight, LIGHT, np.zeros(A.shape[1]), offset).beta
        odds = (B @ beta)[:, 0] + shift
        return softmax(np.array([np.zeros(len(B)), odds])).T
    start = np.zeros((A.shape[1], len(classes)))
    return softmax((B @ fit_multinomial(A, T, weight, LIGHT, start, offset) + shift).T).T
