"""The extensions the paper names: what each promises, and what it buys."""

import numpy as np
import pytest

from gradsift import (
    Adaptive,
    AlphaGrid,
    Gaussian,
    Penalties,
    SolverSettings,
    SparseGradientClassifier,
    SparseGradientRegressor,
    SparseGradientRegressorCV,
    alpha_max,
)


def error(estimate, truth):
    return np.linalg.norm(estimate - truth) / np.linalg.norm(truth)


def curved(seed, n, p):
    """y = 2 sin x1 + 2 x2 among p columns, and its gradient."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    gradient = np.zeros((n, p))
    gradient[:, 0], gradient[:, 1] = 2 * np.cos(X[:, 0]), 2.0
    return X, 2 * np.sin(X[:, 0]) + 2 * X[:, 1] + 0.1 * rng.normal(size=n), gradient


# ---------------------------------------------------------------------------- adaptive weights


def test_adaptive_weights_lower_the_error_of_the_gradient():
    """28 noise columns blur the distances; in the two that were selected they are sharp again."""
    errors = []
    for seed in range(5):
        X, y, truth = curved(seed, 150, 30)
        for weights in ("gaussian", "adaptive"):
            model = SparseGradientRegressor(kernel="gaussian", weights=weights).fit(X, y)
            assert model.get_support(indices=True).tolist() == [0, 1]
            assert model.dual_gap_ <= (model.solver or SolverSettings()).tol
            errors.append(error(model.gradient(X), truth))
    plain, adaptive = np.reshape(errors, (5, 2)).T
    assert (adaptive < plain).sum() >= 4
    assert adaptive.mean() < 0.96 * plain.mean()


def test_adaptive_weights_end_at_a_fixed_point():
    """Weights measured in the selected columns select the same columns: no further change."""
    X, y, _ = curved(0, 100, 12)
    model = SparseGradientRegressor(weights="adaptive").fit(X, y)
    more = SparseGradientRegressor(weights=Adaptive(Gaussian(), max_rounds=40)).fit(X, y)
    np.testing.assert_array_equal(model.feature_importances_, more.feature_importances_)
    none = SparseGradientRegressor(weights=Adaptive(max_rounds=0)).fit(X, y)
    plain = SparseGradientRegressor().fit(X, y)
    np.testing.assert_array_equal(none.feature_importances_, plain.feature_importances_)


def test_adaptive_weights_with_cross_validation_keep_the_share_of_alpha_max():
    X, y, _ = curved(1, 60, 8)
    model = SparseGradientRegressorCV(
        weights="adaptive", cv=3, alphas=AlphaGrid(n_alphas=6, eps=0.1)
    ).fit(X, y)
    plain = SparseGradientRegressorCV(cv=3, alphas=AlphaGrid(n_alphas=6, eps=0.1)).fit(X, y)
    share = model.alpha_min_ / model.path_.alpha_max
    assert model.alpha_ / model.alpha_max_ == pytest.approx(share)
    np.testing.assert_array_equal(model.cv_scores_[0], plain.cv_scores_[0])  # nothing selected yet
    assert (model.cv_scores_[1:] != plain.cv_scores_[1:]).any()


# ---------------------------------------------------------------------------- semi-supervised


def test_unlabelled_samples_lower_the_error_of_the_gradient():
    """20 samples with a response; 200 without tell the field where to be smooth."""
    weights = Gaussian(0.7)
    errors = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.uniform(-1, 1, size=(220, 4))
        y = 2 * X[:, 0] + np.sin(2 * X[:, 1]) + 0.5 * rng.normal(size=220)
        truth = np.zeros((200, 4))
        truth[:, 0], truth[:, 1] = 2.0, 2 * np.cos(2 * X[20:, 1])
        alpha = 0.05 * alpha_max(X[:20], y[:20], kernel="gaussian", weights=weights)
        model = SparseGradientRegressor(alpha, kernel="gaussian", weights=weights)
        row = [error(model.fit(X[:20], y[:20]).gradient(X[20:]), truth)]
        model.set_params(penalties=Penalties(smoothness=1.0))
        for unlabelled in (None, X[20:]):
            model.fit(X[:20], y[:20], X_unlabeled=unlabelled)
            row.append(error(model.gradient(X[20:]), truth))
            assert model.dual_gap_ <= (model.solver or SolverSettings()).tol
        errors.append(row)
    supervised, smooth, semi = np.mean(errors, axis=0)
    assert semi < 0.9 * supervised  # against no smoothness at all
    assert semi < smooth  # and against the same smoothness on the labelled samples alone


def test_marked_rows_are_unlabelled_samples():
    """y = -1 marks rows as scikit-learn's semi-supervised estimators do, where asked for."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = (X[:, 0] > 0).astype(int)
    y[20:] = -1
    marked = SparseGradientClassifier(penalties=Penalties(smoothness=0.1)).fit(X, y)
    given = SparseGradientClassifier(penalties=Penalties(smoothness=0.1)).fit(
        X[:20], y[:20], X_unlabeled=X[20:]
    )
    np.testing.assert_array_equal(marked.feature_importances_, given.feature_importances_)
    assert marked.classes_.tolist() == [0, 1]
    assert SparseGradientClassifier().fit(X, y).classes_.tolist() == [-1, 0, 1]  # a class like any


def test_unlabelled_samples_need_smoothness():
    X, y, _ = curved(0, 30, 4)
    with pytest.raises(ValueError, match=r"unlabelled samples were given but smoothness=0.0"):
        SparseGradientRegressor().fit(X, y, X_unlabeled=X)
    model = SparseGradientRegressorCV(cv=3, alphas=4, penalties=Penalties(smoothness=0.1))
    model.fit(X[:20], y[:20], X_unlabeled=X[20:])
    assert model.predict(X).shape == (30,)
