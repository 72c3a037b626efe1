"""The methods whose predictions are compared: ours, and five that people reach for.

Every method sees standardised columns, with the constants of its training rows. Each chooses its
settings by cross-validation of those rows, or has none that matter.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LassoCV, LogisticRegressionCV, RidgeCV
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from gradsift import GradientSiftClassifier, GradientSiftRegressor

TREES = 300
INNER_FOLDS = 5


def ours(labels: bool, **options: Any) -> Any:
    return (GradientSiftClassifier if labels else GradientSiftRegressor)(**options)


def forest(labels: bool) -> Any:
    return (RandomForestClassifier if labels else RandomForestRegressor)(TREES, random_state=0)


def boosting(labels: bool) -> Any:
    kind = HistGradientBoostingClassifier if labels else HistGradientBoostingRegressor
    return kind(random_state=0)


def lasso(labels: bool) -> Any:
    if not labels:
        return LassoCV(cv=INNER_FOLDS, random_state=0, max_iter=5000)
    one = LogisticRegressionCV(
        Cs=8, cv=INNER_FOLDS, penalty="l1", solver="liblinear", scoring="neg_log_loss"
    )
    return OneVsRestClassifier(one)


def ridge(labels: bool) -> Any:
    if not labels:
        return RidgeCV(np.logspace(-3, 6, 28))
    return LogisticRegressionCV(Cs=np.logspace(-6, 2, 9), cv=INNER_FOLDS, scoring="neg_log_loss")


def svm(labels: bool) -> Any:
    grid = {"C": [0.1, 1.0, 10.0, 100.0], "gamma": ["scale"]}
    return GridSearchCV(SVC() if labels else SVR(), grid, cv=INNER_FOLDS)


METHODS: dict[str, Callable[[bool], Any]] = {
    "gradsift": ours,
    "selected only": lambda labels: ours(labels, predict_with="selected"),
    "forest": forest,
    "boosting": boosting,
    "l1": lasso,
    "ridge": ridge,
    "SVM": svm,
}


def standardised(model: Any) -> Any:
    return make_pipeline(StandardScaler(), model)
