"""Models say what they are."""

import numpy as np

from gradsift import (
    GradientSiftRegressor,
    OuterProductGradient,
    RidgeGradientRegressor,
    SparseGradientRegressor,
)


def test_each_kind_describes_itself(table):
    X, y = table
    sift = GradientSiftRegressor(0.2).fit(X, y).describe()
    assert (sift.kind, sift.labels, sift.optimality) == ("GradientSiftRegressor", False, None)
    assert sift.n_features == 6
    sparse = SparseGradientRegressor().fit(X, y)
    proof = sparse.describe().optimality
    assert proof.reached
    assert (proof.alpha, proof.dual_gap) == (sparse.alpha_, sparse.dual_gap_)
    for model in (RidgeGradientRegressor(), OuterProductGradient()):
        described = model.fit(X, y).describe()
        assert described.kind == type(model).__name__
        assert described.n_selected == 6
        assert described.optimality is None


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
