"""Models say what they are."""

import numpy as np
import pytest

from gradsift import (
    GradientSiftClassifier,
    GradientSiftRegressor,
    OuterProductGradient,
    RidgeGradientRegressor,
    SparseGradientClassifierCV,
    SparseGradientRegressor,
)


def test_each_kind_describes_itself(table):
    X, y = table
    sift = GradientSiftRegressor(0.2).fit(X, y).describe()
    assert (sift.kind, sift.labels, sift.false_positives) == ("GradientSiftRegressor", False, 0.2)
    assert sift.optimality is sift.penalty_choice is None
    assert sift.n_features == 6
    sparse = SparseGradientRegressor().fit(X, y)
    proof = sparse.describe().optimality
    assert proof.reached
    assert (proof.alpha, proof.dual_gap) == (sparse.alpha_, sparse.dual_gap_)
    for model in (RidgeGradientRegressor(), OuterProductGradient()):
        described = model.fit(X, y).describe()
        assert described.kind == type(model).__name__
        assert described.n_selected == 6
        assert described.optimality is described.false_positives is None


def test_the_choice_of_the_penalty(table):
    X, y = table
    labels = np.where(y > np.median(y), "high", "low")
    model = SparseGradientClassifierCV(cv=3, alphas=6).fit(X, labels)
    described = model.describe()
    assert described.classes == ("high", "low")
    choice = described.penalty_choice
    assert choice.n_folds == 3
    at = model.alphas_.tolist().index(model.alpha_)
    assert choice.chosen_loss == pytest.approx(-model.cv_scores_[at].mean())
    assert described.optimality is not None


def test_what_predictions_are_made_with(rng):
    """Many small effects: others have a part, and a fitted model predicts either way."""
    X = rng.normal(size=(80, 200))
    y = X[:, 0] + X[:, 1:101] @ rng.normal(size=100) / 8
    model = GradientSiftRegressor().fit(X[:60], y[:60])
    ensemble = model.describe().ensemble
    assert ensemble.used
    assert ensemble.share == sum(model.predictor_.shares)
    for part, member in zip(ensemble.members, model.predictor_.members, strict=True):
        assert (part.kind, part.n_columns) == (member.kind, member.n_columns)
    both = model.predict(X[60:])
    alone = GradientSiftRegressor(predict_with="selected").fit(X[:60], y[:60]).predict(X[60:])
    assert np.array_equal(model.set_params(predict_with="selected").predict(X[60:]), alone)
    assert not model.describe().ensemble.used
    assert np.array_equal(model.set_params(predict_with="auto").predict(X[60:]), both)
    assert not np.array_equal(alone, both)


def test_interactions_by_column(rng):
    X = rng.normal(size=(150, 5))
    labels = X[:, 1] * X[:, 3] > 0
    assert GradientSiftClassifier().fit(X, labels).describe().interactions == ((1, 3),)
