"""GL with its penalty chosen: scores are those of fits in the folds, and the best is taken."""

import numpy as np
import pytest
from helpers import make_data
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold, StratifiedKFold

from gradsift import (
    RidgeGradientClassifier,
    RidgeGradientClassifierCV,
    RidgeGradientRegressor,
    RidgeGradientRegressorCV,
)


def test_scores_are_those_of_fits_in_the_folds():
    X, y = make_data("regression", n=30, p=4)
    folds = list(KFold(3).split(X))
    model = RidgeGradientRegressorCV(alphas=3, cv=folds).fit(X, y)
    train, test = folds[0]
    default = RidgeGradientRegressor().fit(X[train], y[train]).alpha_
    for score, times in zip(model.cv_scores_[:, 0], (1e3, 1.0, 1e-3)):
        inside = RidgeGradientRegressor(times * default).fit(X[train], y[train])
        by_hand = -np.mean((y[test] - inside.predict(X[test])) ** 2)
        assert score == pytest.approx(by_hand, rel=1e-6)
    assert model.alpha_ == model.alphas_[model.cv_scores_.mean(axis=1).argmax()]
    same = RidgeGradientRegressor(model.alpha_).fit(X, y)
    np.testing.assert_allclose(model.predict(X), same.predict(X))


def test_labels_are_scored_by_their_log_odds():
    X, y = make_data("binary", n=30, p=3)
    folds = list(StratifiedKFold(2).split(X, y))
    model = RidgeGradientClassifierCV(alphas=[0.1], cv=folds, selection="1se").fit(X, y)
    train, test = folds[1]
    inside = RidgeGradientClassifier(0.1).fit(X[train], y[train])
    by_hand = -log_loss(y[test], inside.predict_proba(X[test]))
    assert model.cv_scores_[0, 1] == pytest.approx(by_hand, rel=1e-6)
    assert model.alpha_ == 0.1


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"alphas": [0.0]}, "a ridge penalty is positive"),
        ({"alphas": 0}, "alphas=0"),
        ({"selection": "max"}, "selection='max': use 'min' or '1se'"),
    ],
)
def test_bad_choices(wrong, words):
    X, y = make_data("regression", n=20, p=3)
    with pytest.raises(ValueError, match=words):
        RidgeGradientRegressorCV(**wrong).fit(X, y)
