"""Robust statistics: each against the sorted list of copies."""

import numpy as np
import pytest

from gradsift.numerics.statistics import (
    MAD_TO_SD,
    lower_quantiles,
    median,
    middle_quantiles,
    scale_about_zero,
    winsorise,
)

LEVELS = np.array([0.05, 0.25, 0.5, 0.9, 1.0])


def lower_quantile(values, level):
    """The least value that at least `level` of the list does not exceed."""
    for value in sorted(values):
        if np.sum(values <= value) >= level * len(values) - 1e-9:
            return value
    raise AssertionError


@pytest.mark.parametrize("seed", range(5))
def test_quantiles_are_those_of_copies(seed):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(17 + seed, 3)), 1)  # with ties
    weights = rng.integers(1, 4, size=len(X)).astype(float)
    copies = np.repeat(X, weights.astype(int), axis=0)
    expected = [[lower_quantile(column, level) for column in copies.T] for level in LEVELS]
    np.testing.assert_array_equal(lower_quantiles(X, LEVELS, weights), expected)
    np.testing.assert_array_equal(lower_quantiles(X, LEVELS, 0.1 * weights), expected)  # no unit
    column = lower_quantiles(X[:, 0], LEVELS, weights)
    np.testing.assert_array_equal(column, np.array(expected)[:, 0])


@pytest.mark.parametrize("weighted", [False, True])
def test_middle_quantiles_turn_with_the_sign(weighted):
    rng = np.random.default_rng(0)
    X, levels = np.round(rng.normal(size=(48, 3)), 1), (np.arange(8) + 0.5) / 8
    weights = rng.integers(1, 4, size=48).astype(float) if weighted else None
    found = middle_quantiles(X, levels, weights)
    np.testing.assert_array_equal(found, -middle_quantiles(-X, 1 - levels, weights))
    if weighted:
        copies = np.repeat(X, weights.astype(int), axis=0)
        np.testing.assert_array_equal(found, middle_quantiles(copies, levels))


def test_median_and_scale_of_normal_values(rng):
    x = rng.normal(size=20_001)
    assert median(x) == np.median(x)
    assert scale_about_zero(x) == MAD_TO_SD * np.median(np.abs(x))
    assert scale_about_zero(x) == pytest.approx(1.0, abs=0.02)


def test_winsorise_pulls_in_outliers_only(rng):
    r = rng.normal(size=(101, 2))
    r[0] = 1e6, -1e6
    out = winsorise(r, 3.0)
    assert (np.abs(out[0]) < 10).all()
    assert (out[1:] == r[1:]).mean() > 0.95
    np.testing.assert_array_equal(winsorise(r[:, 0], 3.0, np.ones(101)), out[:, 0])


def test_a_column_that_hardly_varies_is_left_as_it_is():
    r = np.zeros(9)
    r[:3] = 1.0, -5.0, 1e9
    np.testing.assert_array_equal(winsorise(r, 3.0), r)
