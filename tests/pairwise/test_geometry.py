import logging

import numpy as np
import pytest
from helpers import assert_same_sums
from sklearn.base import clone

from gradsift import (
    Gaussian,
    Landmarks,
    NearestNeighbors,
    SolverSettings,
    SparseGradientClassifier,
    SparseGradientRegressor,
    gradient_path,
)
from gradsift.data import ArraySource
from gradsift.pairwise import assemble, geometry, weights
from gradsift.pairwise.geometry import anchored_pairs, choose_landmarks, measure_geometry


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


@pytest.mark.parametrize("weights_", ["gaussian", "adaptive", NearestNeighbors(k=10, anchors=60)])
def test_many_samples_still_find_the_variables(weights_, problem, few_is_many):
    X, y = problem
    model = SparseGradientRegressor(weights=weights_).fit(X, y)
    assert set(np.argsort(model.ranking_)[:2]) == {0, 1}
    assert model.dual_gap_ <= 1e-4
    assert model.predict(X).shape == (120,)
    labels = SparseGradientClassifier(weights=weights_).fit(X, y > 1)
    assert set(np.argsort(labels.ranking_)[:2]) == {0, 1}


def test_anchors_stand_for_all_samples(problem):
    """Pairs around two thirds of the samples, scaled up, give nearly the same largest penalty."""
    X, y = problem
    every = SparseGradientRegressor(weights=NEAR).fit(X, y)
    some = SparseGradientRegressor(weights=NearestNeighbors(8, scale=2.0, anchors=80)).fit(X, y)
    assert some.alpha_max_ == pytest.approx(every.alpha_max_, rel=0.2)
    all_of_them = NearestNeighbors(8, scale=2.0, anchors=500)
    same = SparseGradientRegressor(weights=all_of_them).fit(X, y)
    assert same.alpha_max_ == every.alpha_max_
    with pytest.raises(ValueError, match="anchors=0 leave no pair"):
        SparseGradientRegressor(weights=NearestNeighbors(anchors=0)).fit(X, y)


@pytest.mark.parametrize("weighted", [False, True])
def test_samples_in_no_pair_change_nothing(weighted, problem, few_is_many, monkeypatch, rng):
    """Left out or not: the same penalties, fields and zeros. Affine kernels of 5 columns are held
    by any 12 landmarks."""
    X, y = problem[0][:, :5], problem[1]
    count = rng.integers(1, 4, size=120) if weighted else None
    rule = NearestNeighbors(k=8, scale=2.0, anchors=12)
    model = SparseGradientRegressor(weights=rule, solver=SolverSettings(tol=1e-8))
    few = clone(model).fit(X, y, sample_weight=count)
    assert len(few.field_.factor.L) <= 12 * 9
    monkeypatch.setattr(assemble, "uses_anchored_pairs", lambda *_: False)
    every = clone(model).fit(X, y, sample_weight=count)
    assert len(every.field_.factor.L) == 120
    assert few.alpha_max_ == pytest.approx(every.alpha_max_, rel=1e-8)
    np.testing.assert_allclose(few.gradient(X), every.gradient(X), rtol=1e-3, atol=1e-5)
    np.testing.assert_array_equal(few.get_support(), every.get_support())


def test_a_vicinity_is_anchors_and_neighbours(problem):
    X, y = problem
    rule = NearestNeighbors(k=4, scale=2.0, anchors=6)
    near = anchored_pairs(ArraySource(X), rule, None, np.argsort(y), None)
    whole = weights.sparse_weights(rule, ArraySource(X), np.ones((1, 1)))
    anchors = weights.check_anchors(rule, 120)
    np.testing.assert_array_equal(near.rows[near.landmarks], anchors)
    np.testing.assert_array_equal(near.rows, np.flatnonzero(whole.sum(axis=0) + whole.sum(axis=1)))
    assert_same_sums(near.weights.toarray(), whole.toarray()[np.ix_(near.rows, near.rows)])
    assert near.weights.nnz == whole.nnz


def test_very_many_samples_are_seen_from_some_anchors_and_it_is_said(
    problem, few_is_many, monkeypatch, caplog
):
    monkeypatch.setattr(weights, "ANCHOR_ROWS", 100)
    monkeypatch.setattr(weights, "DENSE_ROWS", 5)
    with caplog.at_level(logging.INFO, logger="gradsift"):
        model = SparseGradientRegressor().fit(*problem)
    assert "keeps the 20 nearest of 5 samples" in caplog.text
    assert "of 120 samples are in a pair" in caplog.text
    assert len(model.field_.factor.L) <= 5 * 21


def test_measuring_again_around_anchors_keeps_the_scale_of_the_weights(rng, few_is_many):
    """Also where most samples were left out: else alpha would mean something else each round."""
    X = rng.normal(size=(600, 6))
    settings = assemble.Settings(weights=NearestNeighbors(k=6, scale=2.0, anchors=40))
    first = assemble.assemble(ArraySource(X), assemble.PairResponse.numbers(X[:, 0]), settings)
    again = first.measured_in(np.arange(6))
    assert first.paired < 0.5
    totals = [a.problem.datafit.pairs.weight.sum() for a in (first, again)]
    assert totals[1] == pytest.approx(totals[0], rel=0.3)


def test_landmarks_are_spread_along_the_response():
    order = np.array([4, 2, 0, 1, 3])
    np.testing.assert_array_equal(choose_landmarks(3, order), [0, 3, 4])
    np.testing.assert_array_equal(choose_landmarks(None, order), np.arange(5))
    with pytest.raises(ValueError, match=r"count=0\): use a positive number"):
        choose_landmarks(0, order)


def test_landmarks_of_a_matrix_survive_cross_validation(problem):
    from gradsift import SparseGradientRegressorCV

    X, y = problem
    kernel = Landmarks(1 + X @ X.T, count=40)
    model = SparseGradientRegressorCV(kernel=kernel, cv=3, standardize=False, alphas=4).fit(X, y)
    assert len(model.field_.factor.landmarks) == 40
    assert model.cv_scores_.shape == (4, 3)


def test_a_survey_keeps_what_it_is_asked_to(problem):
    source, rows = ArraySource(problem[0]), np.array([3, 9, 77])
    full, short = (measure_geometry(source, rows, all_pairs=all_) for all_ in (True, False))
    assert full.among is not None
    assert short.among is None
    np.testing.assert_allclose(short.between.sqdist, full.among.sqdist[:, rows], atol=1e-10)
    np.testing.assert_allclose(short.between.inner, full.among.inner[:, rows], atol=1e-10)
