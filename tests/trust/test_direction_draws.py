"""Directions in draws of effects: their number, and the range of each loading."""

import numpy as np
import pytest

from gradsift import GradientSiftClassifier, GradientSiftRegressor
from gradsift.data import ArraySource
from gradsift.sift.response import make_response
from gradsift.sift.rows import make_rows
from gradsift.sift.settings import SiftSettings
from gradsift.trust.direction_draws import (
    DirectionDraws,
    State,
    draw_directions,
    feature_slopes,
    matched,
)
from gradsift.trust.family_settings import FamilySettings
from gradsift.trust.pool import Terms, make_pool
from gradsift.trust.slots import EMPTY


def test_counts_are_shares_of_the_draws():
    draws = DirectionDraws(np.array([2]), (np.ones((1, 1)), np.ones((1, 1)), np.zeros((0, 1))))
    np.testing.assert_allclose(draws.count_probabilities, [1 / 3, 2 / 3])


def test_order_and_sign_of_the_directions_of_a_draw_are_free():
    given = np.array([[0.8, 0.6, 0.0], [0.0, 0.0, 1.0]])
    drawn = np.array([[0.0, 0.1, -0.99], [-0.7, -0.7, 0.0]])
    np.testing.assert_allclose(matched(drawn, given), [[0.7, 0.7, 0.0], [0.0, -0.1, 0.99]])
    np.testing.assert_allclose(matched(drawn[:1], given), [[0, 0, 0], [0.0, -0.1, 0.99]])


def test_intervals_are_quantiles_over_draws(rng):
    angles = rng.uniform(0.2, 0.6, 400)
    loadings = tuple(np.array([[np.cos(a), np.sin(a)]]) for a in angles)
    draws = DirectionDraws(np.array([1, 4]), loadings)
    component = np.zeros((1, 6))
    component[0, [1, 4]] = np.cos(0.4), np.sin(0.4)
    found = draws.intervals(component, level=0.8)
    assert found.shape == (1, 6, 2)
    np.testing.assert_allclose(found[0, 4], np.quantile(np.sin(angles), [0.1, 0.9]))
    assert not found[0, [0, 2, 3, 5]].any()


@pytest.fixture
def pool(rng):
    n = 300
    X = rng.normal(size=(n, 4))
    X = (X - X.mean(0)) / X.std(0)
    source, rows, settings = ArraySource(X), make_rows(n, None), SiftSettings()
    Y = make_response(rng.normal(size=(n, 1)), rows, True, settings).start
    terms = Terms(Y, (), {(0, 1): np.zeros((n, 1))})
    kept = np.zeros((0, n))
    return X, make_pool(source, terms, kept, rows, settings, FamilySettings()), source, rows


def test_slopes_of_features_are_their_differences(pool):
    """Beside finite differences of neighbours, where these are close."""
    X, pool, source, rows = pool
    own, product = feature_slopes(pool, np.zeros((0, len(X))), source, rows, SiftSettings())
    j = 2
    column = int(pool.columns[j])
    order = np.argsort(X[:, column])
    x, Z = X[order, column], pool.own.Z[:, j][:, order].astype(float)
    slope = own(j)[column][:, order]
    middle = np.abs(x) < 1
    near = np.flatnonzero(middle[1:] & middle[:-1] & (np.diff(x) > 1e-3) & (np.diff(x) < 0.05))
    differences = (np.diff(Z, axis=1) / np.diff(x))[:, near]
    expected = (slope[:, near] + slope[:, near + 1]) / 2
    assert np.abs(differences - expected).max() < 0.05 * np.abs(slope).max()

    pair = pool.pairs.tolist().index([0, 1])
    by = product(pair)
    np.testing.assert_allclose(by[0][0] / X[:, 1], by[1][0] / X[:, 0], rtol=0.2, atol=0.05)


def test_one_index_is_one_direction_and_its_loadings_are_the_slopes(pool):
    X, pool, source, rows = pool
    slopes = feature_slopes(pool, np.zeros((0, len(X))), source, rows, SiftSettings())
    place = np.argsort(pool.columns)
    B = np.zeros((2, 1, len(pool.own.Z), 1))
    sign = [np.sign(pool.own.Z[0, place[c]] @ X[:, c]) for c in (0, 3)]
    B[0, 0, 0, 0], B[1, 0, 0, 0] = 3.0 * sign[0], 4.0 * sign[1]
    state = State(place[[0, 3]][:, None], list(B))
    found = draw_directions([state], np.zeros(2, dtype=int), slopes, 4)
    assert found.columns.tolist() == [0, 3]
    assert len(found.loadings[0]) == 1
    np.testing.assert_allclose(np.abs(found.loadings[0][0]), [0.6, 0.8], atol=0.02)
    # one unit of column 3 is ten times as long: its slope is a tenth
    scaled = draw_directions([state], np.zeros(2, dtype=int), slopes, 4, np.array([1, 1, 1, 10.0]))
    ratio = np.abs(scaled.loadings[0][0, 1] / scaled.loadings[0][0, 0])
    assert ratio == pytest.approx(0.4 / 3.0, rel=0.05)


def test_a_fit_says_how_sure_its_directions_are(rng):
    X = rng.normal(size=(150, 12))
    y = 0.8 * X[:, 3] - 0.6 * X[:, 5] + 0.5 * rng.normal(size=150)
    model = GradientSiftRegressor(inference=True).fit(X, y)
    assert model.n_components_probabilities_.sum() == pytest.approx(1.0)
    assert model.n_components_probabilities_.argmax() == 1
    low, high = model.component_intervals_[0].T
    truth = np.zeros(12)
    truth[[3, 5]] = np.array([0.8, -0.6]) * np.sign(model.components_[0, 3])
    assert (low <= truth + 0.05).all()
    assert (truth - 0.05 <= high).all()
    assert (high - low)[[3, 5]].min() > 0.005


def test_columns_that_are_always_kept_have_no_interval(rng):
    X = rng.normal(size=(80, 5))
    y = X[:, 0] + X[:, 4] + 0.5 * rng.normal(size=80)
    model = GradientSiftRegressor(inference=True, always_keep=[4]).fit(X, y)
    assert np.isnan(model.component_intervals_[:, 4]).all()
    assert np.isfinite(model.component_intervals_[:, :4]).all()


def test_draws_without_effects_have_no_direction():
    empty = State(np.full((2, 3), EMPTY), [np.zeros((3, 10, 1))] * 2)
    found = draw_directions([empty], np.zeros(2, dtype=int), [], n_columns=3)
    np.testing.assert_array_equal(found.count_probabilities, [1.0])
    np.testing.assert_array_equal(found.intervals(np.ones((1, 6))), np.zeros((1, 6, 2)))


def test_near_copies_share_a_loading(rng):
    """Which of two copies acts is open, so each may have no part in the direction."""
    X = rng.normal(size=(80, 10))
    X[:, 8] = X[:, 3] + 0.1 * rng.normal(size=80)
    y = np.where(X[:, 3] + 0.3 * rng.normal(size=80) > 0, "a", "b")
    model = GradientSiftClassifier(inference=True).fit(X, y)
    low, high = model.component_intervals_[0][[3, 8]].T
    assert np.abs(low).min() < 0.05
    assert np.abs(np.stack([low, high])).max() > 0.8


def test_directions_leave_covariates_out(rng):
    X, age = rng.normal(size=(100, 5)), rng.normal(size=(100, 1))
    y = X[:, 0] + np.abs(3 * age[:, 0]) + 0.5 * rng.normal(size=100)
    model = GradientSiftRegressor(inference=True, standardize=False)
    model.fit(X, y, covariates=age)
    assert model.component_intervals_.shape == (model.n_components_, 5, 2)
