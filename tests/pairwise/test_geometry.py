import logging

import numpy as np
import pytest

from gradsift import (
    Gaussian,
    Landmarks,
    NearestNeighbors,
    SparseGradientClassifier,
    SparseGradientRegressor,
    gradient_path,
)
from gradsift.data import ArraySource
from gradsift.pairwise import geometry, weights
from gradsift.pairwise.geometry import choose_landmarks, measure_geometry


@pytest.fixture
def few_is_many(monkeypatch):
    """Limits low enough that a hundred samples count as many."""
    for module in (geometry, weights):
        monkeypatch.setattr(module, "DENSE_ROWS", 50)
    monkeypatch.setattr(geometry, "FEW_ROWS", 50)
    monkeypatch.setattr(geometry, "LANDMARKS", 30)


@pytest.fixture
def problem(rng):
    X = rng.normal(size=(120, 12))
    return X, X[:, 0] + X[:, 1] ** 2 + 0.1 * rng.normal(size=120)


NEAR = NearestNeighbors(k=8, scale=2.0)


@pytest.mark.parametrize("kernel", ["affine", "constant", "linear"])
def test_the_answer_for_many_samples_is_the_exact_one_where_landmarks_span_the_kernel(
    kernel, problem, few_is_many, monkeypatch
):
    """30 landmarks hold the affine kernel of 12 columns exactly, and the graph is the same."""
    many = gradient_path(*problem, kernel=kernel, weights=NEAR, n_alphas=5, tol=1e-8)
    monkeypatch.undo()
    exact = gradient_path(*problem, kernel=kernel, weights=NEAR, n_alphas=5, tol=1e-8)
    np.testing.assert_allclose(many.alphas, exact.alphas, rtol=1e-8)
    np.testing.assert_allclose(many.importances, exact.importances, rtol=1e-3, atol=1e-6)
    for a, b in zip(many.supports, exact.supports):
        np.testing.assert_array_equal(a, b)


def test_no_array_of_all_pairs_is_made_for_many_samples(problem, few_is_many, monkeypatch):
    asked = []
    products = geometry.products
    monkeypatch.setattr(
        geometry, "products", lambda s, rows=None: asked.append(rows) or products(s, rows)
    )
    SparseGradientRegressor().fit(*problem)
    assert asked
    assert all(rows is not None and len(rows) < 120 for rows in asked)


def test_short_names_keep_near_pairs_of_many_samples_and_say_so(problem, few_is_many, caplog):
    with caplog.at_level(logging.INFO, logger="gradsift"):
        SparseGradientRegressor().fit(*problem)
    assert "weights='gaussian' keeps the 20 nearest" in caplog.text
    caplog.clear()
    with caplog.at_level(logging.INFO, logger="gradsift"):
        SparseGradientRegressor(weights=Gaussian(), kernel=Landmarks("affine", 20)).fit(*problem)
    assert caplog.text == ""


@pytest.mark.parametrize("weights_", ["gaussian", "adaptive", NearestNeighbors(k=10)])
def test_many_samples_still_find_the_variables(weights_, problem, few_is_many):
    X, y = problem
    model = SparseGradientRegressor(weights=weights_).fit(X, y)
    assert set(np.argsort(model.ranking_)[:2]) == {0, 1}
    assert model.dual_gap_ <= 1e-4
    assert model.predict(X).shape == (120,)
    labels = SparseGradientClassifier(weights=weights_).fit(X, y > 1)
    assert set(np.argsort(labels.ranking_)[:2]) == {0, 1}


def test_of_very_many_samples_some_are_used(problem, few_is_many, monkeypatch, caplog):
    monkeypatch.setattr(weights, "MOST_ROWS", 100)
    X, y = problem
    with caplog.at_level(logging.INFO, logger="gradsift"):
        model = SparseGradientRegressor().fit(X, y)
    assert "the fit uses 100 of 120 samples" in caplog.text
    rows = weights.rows_for("gaussian", 120)
    monkeypatch.setattr(weights, "MOST_ROWS", 1_000)
    same = SparseGradientRegressor().fit(X[rows], y[rows])
    np.testing.assert_array_equal(model.gradient(X), same.gradient(X))
    np.testing.assert_array_equal(model.predict(X), same.predict(X))
    assert weights.rows_for(NEAR, 10**6) is None


def test_landmarks_are_spread_along_the_response():
    order = np.array([4, 2, 0, 1, 3])
    np.testing.assert_array_equal(choose_landmarks(3, order), [0, 3, 4])
    np.testing.assert_array_equal(choose_landmarks(None, order), np.arange(5))
    with pytest.raises(ValueError, match=r"count=0\): use a positive number"):
        choose_landmarks(0, order)


def test_a_survey_keeps_what_it_is_asked_to(problem):
    source, rows = ArraySource(problem[0]), np.array([3, 9, 77])
    full, short = (measure_geometry(source, rows, all_pairs=all_) for all_ in (True, False))
    assert full.among is not None
    assert short.among is None
    np.testing.assert_allclose(short.between.sqdist, full.among.sqdist[:, rows], atol=1e-10)
    np.testing.assert_allclose(short.between.inner, full.among.inner[:, rows], atol=1e-10)
