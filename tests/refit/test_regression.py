"""The fitted regression: exactness, weights, determinism, large n."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from helpers import numeric_gradient
from numpy.testing import assert_allclose, assert_array_equal

from gradsift.refit import refit_regression
from gradsift.refit.settings import RefitSettings


def test_predicts_like_a_dense_gaussian_process(smooth):
    X, y = smooth
    fit = refit_regression(X, y)
    assert fit.kernel is not None
    assert_array_equal(fit.robust_weight, 1.0)
    A = fit.kernel(X, X) + fit.penalty * np.eye(len(X))
    Z = X[:7] + 0.3
    expected = y.mean() + fit.kernel(Z, X) @ np.linalg.solve(A, y - y.mean())
    assert_allclose(fit.value(Z)[:, 0], expected, atol=1e-5)
    assert 0.002 < fit.noise < 0.05  # the truth is 0.01
    assert np.isfinite(fit.log_evidence)


def test_gradient_is_the_derivative_of_the_value(smooth):
    X, y = smooth
    fit = refit_regression(X, y)
    assert_allclose(
        fit.gradient(X)[0], numeric_gradient(lambda Z: fit.value(Z)[:, 0], X), rtol=1e-4, atol=1e-5
    )


@pytest.mark.parametrize("seed", range(3))
def test_weights_are_repetitions(smooth, seed):
    X, y = smooth
    w = np.random.default_rng(seed).integers(0, 4, len(y))
    weighted = refit_regression(X, y, sample_weight=w)
    repeated = refit_regression(np.repeat(X, w, 0), np.repeat(y, w))
    assert weighted.kernel is not None
    assert repeated.kernel is not None
    assert weighted.kernel.name == repeated.kernel.name
    assert_allclose(weighted.value(X)[:, 0], repeated.value(X)[:, 0], atol=1e-2)
    assert_allclose(weighted.log_evidence, repeated.log_evidence, atol=0.05)


def test_zero_weight_is_a_removed_row(smooth):
    X, y = smooth
    w = np.ones(len(y))
    w[:5] = 0.0
    spoilt = y.copy()
    spoilt[:5] = 1e6
    a = refit_regression(X, spoilt, sample_weight=w)
    b = refit_regression(X[5:], y[5:])
    assert_array_equal(a.value(X)[:, 0], b.value(X)[:, 0])


def test_same_bits_twice_and_after_pickling(smooth):
    X, y = smooth
    fit = refit_regression(X, y)
    again = refit_regression(X, y)
    copy = pickle.loads(pickle.dumps(fit))
    for other in (again, copy):
        assert_array_equal(fit.gradient(X)[0], other.gradient(X)[0])
        assert_array_equal(fit.value(X)[:, 0], other.value(X)[:, 0])


def test_order_of_columns_does_not_matter(smooth):
    X, y = smooth
    order = [2, 0, 1]
    a, b = refit_regression(X, y), refit_regression(X[:, order], y)
    assert_allclose(a.value(X)[:, 0], b.value(X[:, order])[:, 0], atol=1e-3)
    assert_allclose(a.gradient(X)[0][:, order], b.gradient(X[:, order])[0], atol=1e-2)


def test_shift_and_scale_of_y_carry_over(smooth):
    X, y = smooth
    a, b = refit_regression(X, y), refit_regression(X, 1e6 * y - 3e7)
    assert_allclose(1e6 * a.gradient(X)[0], b.gradient(X)[0], rtol=1e-2, atol=1e4)


def test_nothing_selected_gives_the_weighted_mean():
    fit = refit_regression(np.zeros((4, 0)), [1.0, 2.0, 3.0, 9.0], sample_weight=[1, 1, 2, 0])
    assert_allclose(fit.value(np.zeros((3, 0))), 2.25)
    assert fit.gradient(np.zeros((3, 0))).shape == (1, 3, 0)
    assert fit.kernel is None


def test_constant_response(rng):
    X = rng.normal(size=(30, 2))
    fit = refit_regression(X, np.full(30, 0.1))
    assert_allclose(fit.value(X)[:, 0], 0.1)
    assert_array_equal(fit.gradient(X)[0], np.zeros((30, 2)))


def test_landmarks_agree_with_the_exact_solution(rng):
    X = rng.normal(size=(1_100, 3))
    y = np.sin(1.5 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=1_100)
    landmarks = refit_regression(X, y)
    exact = refit_regression(X, y, settings=RefitSettings(landmarks=1_100))
    spread = np.std(exact.value(X)[:, 0])
    assert np.abs(landmarks.value(X)[:, 0] - exact.value(X)[:, 0]).max() < 0.02 * spread
    assert np.sqrt(np.mean((landmarks.gradient(X)[0] - exact.gradient(X)[0]) ** 2)) < 0.02 * spread


def test_above_300_rows_the_order_of_rows_is_free_and_the_sample_hardly_moves_the_fit(rng):
    X = rng.normal(size=(500, 3))
    y = np.sin(1.5 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=500)
    found = refit_regression(X, y).value(X)[:, 0]
    np.testing.assert_array_equal(refit_regression(X[::-1], y[::-1]).value(X)[:, 0], found)
    other = refit_regression(X, y, settings=RefitSettings(tuning_rows=250)).value(X)[:, 0]
    assert 0.0 < np.sqrt(np.mean((other - found) ** 2)) < 0.15 * y.std()
