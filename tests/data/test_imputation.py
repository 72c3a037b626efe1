"""Missing values that other columns predict."""

import numpy as np
import pytest

from gradsift.data import ArraySource, imputation
from gradsift.data.imputation import FillSettings, fill_predicted, with_predicted


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def copies(rng, n=120, p=10, own=0.4):
    """Near-copies of one column, and as many columns of noise; a third of the cells missing."""
    X = np.column_stack([rng.normal(size=(n, 1)) + own * rng.normal(size=(n, p)),
                         rng.normal(size=(n, p))])  # fmt: skip
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return X, np.where(rng.random(size=X.shape) < 0.3, np.nan, X)


def test_near_copies_fill_each_other_and_noise_stays_missing(rng):
    X, holed = copies(rng)
    filled = fill_predicted(holed)
    holes = np.isnan(holed)
    np.testing.assert_array_equal(filled[~holes], holed[~holes])
    copied = holes[:, :10]
    assert not np.isnan(filled[:, :10]).any()
    assert np.corrcoef(filled[:, :10][copied], X[:, :10][copied])[0, 1] > 0.85
    assert np.isnan(filled[:, 10:][holes[:, 10:]]).all()


def test_what_is_filled_is_a_ridge_prediction(rng):
    two = FillSettings(n_predictors=2)
    _, holed = copies(rng, p=3)
    there = ~np.isnan(holed[:, 0])
    P = np.nan_to_num(holed[:, 1:3])
    at, mean = P[there].mean(axis=0), holed[there, 0].mean()
    penalised = np.vstack([P[there] - at, np.sqrt(0.01 * there.sum()) * np.eye(2)])
    slope = np.linalg.lstsq(penalised, np.r_[holed[there, 0] - mean, 0, 0], rcond=None)[0]
    expected = mean + (P[~there] - at) @ slope
    np.testing.assert_allclose(fill_predicted(holed, None, two)[~there, 0], expected, atol=1e-9)


def test_weights_are_copies_of_rows(rng):
    _, holed = copies(rng)
    counts = rng.integers(1, 4, size=len(holed))
    again = np.repeat(holed, counts, axis=0)
    np.testing.assert_allclose(
        np.repeat(fill_predicted(holed, counts * 1.0), counts, axis=0), fill_predicted(again),
        atol=1e-9,
    )  # fmt: skip


def test_a_table_that_is_whole_or_too_large_is_left_alone(rng, monkeypatch):
    X, holed = copies(rng)
    whole, source = ArraySource(X), ArraySource(holed)
    assert with_predicted(whole) is whole
    assert with_predicted(source) is not source
    monkeypatch.setattr(imputation, "MOST_VALUES", holed.size - 1)
    assert with_predicted(source) is source


def test_few_rows_predict_nothing(rng):
    X = np.repeat(rng.normal(size=(9, 1)), 3, axis=1)
    X[0, 0] = np.nan
    np.testing.assert_array_equal(fill_predicted(X), X)


def test_columns_with_few_holes_and_tables_with_too_many_are_left_alone(rng, monkeypatch):
    _, holed = copies(rng)
    few = np.where(np.arange(len(holed))[:, None] < 0.04 * len(holed), np.nan, rng.normal())
    both = np.column_stack([holed, few])
    np.testing.assert_array_equal(fill_predicted(both)[:, -1:], few)
    source = ArraySource(holed)
    monkeypatch.setattr(imputation, "MOST_PRODUCTS", holed.size - 1)
    assert with_predicted(source) is source
