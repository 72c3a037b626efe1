"""Missing values: a feature says nothing where its column is not known."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score

from gradsift import GradientSiftClassifier, GradientSiftRegressor
from gradsift.data import ArraySource
from gradsift.sift.features import (
    Columns,
    antiderivatives,
    binned_scores,
    clipped,
    clipped_known,
    exact_scores,
    knots,
    product_feature,
    univariate_features,
)
from gradsift.sift.rows import make_rows
from gradsift.sift.settings import DEFAULT


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def holed(rng, n=400, p=5, share=0.3):
    X = rng.normal(size=(n, p)) ** 3
    X[:, 1] = rng.binomial(2, 0.3, size=n)
    return np.where(rng.random(size=X.shape) < share, np.nan, X)


@pytest.mark.parametrize("weighted", [False, True])
def test_features_are_those_of_the_known_rows_and_zero_elsewhere(rng, weighted):
    X = holed(rng)
    rows = make_rows(400, rng.integers(1, 4, size=400) * 1.0 if weighted else None)
    known = clipped_known(X, rows)
    np.testing.assert_array_equal(np.isnan(known), np.isnan(X))
    Z = univariate_features(known, rows)
    for k in range(5):
        there = ~np.isnan(X[:, k])
        np.testing.assert_allclose(Z[k][:, ~there], 0.0, atol=1e-12)
        some = make_rows(there.sum(), None if rows.weight is None else rows.weight[there])
        alone = univariate_features(known[there, k : k + 1], some)[0]
        # unit variance over all rows, as the levels expect
        expected = alone * np.sqrt(rows.total / some.total)
        np.testing.assert_allclose(Z[k][:, there], expected, atol=1e-6)


def test_knots_and_scales_are_those_of_the_known_rows_alone(rng):
    X = holed(rng)
    rows = make_rows(400, None)
    for k in range(5):
        there = ~np.isnan(X[:, k])
        x = (X[there, k] - X[there, k].mean()) / X[there, k].std()
        found = clipped_known(X[:, k : k + 1], rows)
        alone = clipped(x[:, None], make_rows(there.sum(), None))
        np.testing.assert_allclose(found[there], alone, atol=1e-9)
    x = clipped_known(X, rows)[:, :1]
    there = ~np.isnan(x[:, 0])
    some = make_rows(there.sum(), None)
    np.testing.assert_array_equal(knots(x, rows), knots(x[there], some))


def test_a_table_without_holes_has_the_features_it_had(rng):
    X, rows = rng.normal(size=(50, 3)), make_rows(50, None)
    np.testing.assert_array_equal(clipped_known(X, rows), clipped(X, rows))
    weight = np.r_[np.zeros(10), np.ones(40)]
    rows = make_rows(50, weight)
    np.testing.assert_array_equal(clipped_known(X, rows), clipped(X, rows))


def test_a_column_without_any_value_is_nothing(rng):
    X = np.full((30, 2), np.nan)
    X[:, 1] = rng.normal(size=30)
    rows = make_rows(30, None)
    Z = univariate_features(clipped_known(X, rows), rows)
    assert np.isfinite(Z).all()
    assert not Z[0].any()
    np.testing.assert_array_equal(Columns(ArraySource(X), rows).odd_rows(np.array([0])), [0.0])


def test_binned_scores_are_those_of_every_value(rng):
    X, R = holed(rng, 600), rng.normal(size=(600, 2))
    rows = make_rows(600, None)
    known = clipped_known(X, rows)
    R -= R.mean(axis=0)
    exact, binned = (f(known, R, rows) for f in (exact_scores, binned_scores))
    size = np.sqrt(rows.total)
    np.testing.assert_allclose(binned[:, :2] / size, exact[:, :2] / size, atol=0.02)
    np.testing.assert_allclose(binned[1] / size, exact[1] / size, atol=1e-6)  # three values


def test_products_are_made_of_rows_where_both_are_known(rng):
    X = rng.normal(size=(500, 2)) + 0.6 * rng.normal(size=(500, 1))
    X[rng.random(size=X.shape) < 0.3] = np.nan
    rows = make_rows(500, None)
    known = Columns(ArraySource(X), rows).known(np.arange(2))
    feature = product_feature(known, rows)
    own = antiderivatives(np.nan_to_num(known), np.zeros((8, 2)), DEFAULT)[:, :1].reshape(2, -1)
    np.testing.assert_allclose(own @ feature / 500, 0.0, atol=1e-9)  # beside both lines
    both = ~np.isnan(known).any(axis=1)
    product = known[both].prod(axis=1)
    assert np.corrcoef(product, feature[both])[0, 1] > 0.8
    assert np.var(feature[~both]) < 0.3 * np.var(feature[both])


def ring(rng, n, p=100):
    """Inside or outside of a circle: only squares of two columns matter."""
    X = rng.normal(size=(n, p))
    return X, np.where((X[:, :2] ** 2).sum(axis=1) > 1.386, "out", "in")


@pytest.mark.filterwarnings("ignore::gradsift.exceptions.NothingSelectedWarning")
def test_squares_are_found_beside_missing_cells():
    found = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X, y = ring(rng, 50)
        X[rng.random(size=X.shape) < 0.3] = np.nan
        model = GradientSiftClassifier(missing="mean", predict_with="selected").fit(X, y)
        found.append(average_precision_score(np.arange(100) < 2, -model.ranking_))
    assert np.mean(found) > 0.7  # with the square of the mean in the cells, .57


def test_what_is_missing_at_random_gives_no_false_variables():
    rng, found = np.random.default_rng(0), 0
    for _ in range(20):
        X = rng.normal(size=(60, 40))
        X[rng.random(size=X.shape) < 0.4] = np.nan
        model = GradientSiftRegressor(missing="mean")
        found += model.fit_for("support", X, rng.normal(size=60)).get_support().sum()
    assert found <= 14  # .3 expected in each
