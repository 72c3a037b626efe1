"""Standard deviations of predictions and gradients."""

import numpy as np
import pytest

from gradsift import GradientSiftRegressor


def table(rng, n=150, p=20):
    X = rng.normal(size=(n, p))
    mean = X[:, 2] + np.sin(X[:, 5])
    return X, mean + 0.5 * rng.normal(size=n), mean


def test_about_95_percent_of_new_responses_lie_within_the_interval(rng):
    inside = []
    for _ in range(12):
        X, y, _ = table(rng)
        new, fresh, _ = table(rng, n=300)
        guess, std = GradientSiftRegressor().fit(X, y).predict(new, return_std=True)
        inside.append(np.mean(np.abs(fresh - guess) < 1.96 * std))
    assert 0.92 < np.mean(inside) < 0.98


def test_standard_deviations_of_the_gradient_belong_to_selected_columns(rng):
    X, y, _ = table(rng, n=300)
    model = GradientSiftRegressor().fit(X, y)
    slopes, std = model.gradient(X, return_std=True)
    np.testing.assert_array_equal(slopes, model.gradient(X))
    selected = model.get_support()
    assert (std[:, ~selected] == 0.0).all()
    assert (std[:, selected] > 0.0).all()
    true = np.column_stack([np.ones(300), np.cos(X[:, 5])])
    assert np.mean(np.abs(true - slopes[:, [2, 5]]) < 1.96 * std[:, [2, 5]]) > 0.8


def test_the_variance_is_that_of_a_dense_gaussian_process(rng):
    X, y, _ = table(rng, n=60)
    model = GradientSiftRegressor(predict_with="selected").fit(X, y)
    posterior, kernel = model.predictor_.refit.posterior, model.predictor_.refit.kernel
    if not np.all(model.predictor_.refit.robust_weight == 1.0):
        pytest.skip("a row has a smaller weight")
    Z, z = model.predictor_.columns(X), model.predictor_.columns(X[:5] + 0.1)
    K = posterior.prior * kernel(Z, Z) + posterior.noise * np.eye(60)
    k = posterior.prior * kernel(Z, z)
    dense = posterior.prior * kernel(z, z) - k.T @ np.linalg.solve(K, k)
    constant = posterior.noise / posterior.rows
    np.testing.assert_allclose(posterior.variance(z) - constant, dense.diagonal(), rtol=1e-5)


def test_groups_and_counts_have_no_standard_deviations(rng):
    X, y, _ = table(rng)
    grouped = GradientSiftRegressor().fit(X, y, groups=np.arange(150) // 3)
    with pytest.raises(ValueError, match="fitted with groups"):
        grouped.predict(X, return_std=True)
    counted = GradientSiftRegressor(family="poisson").fit(X, rng.poisson(np.exp(y / 2)))
    with pytest.raises(ValueError, match="not counts"):
        counted.predict(X, return_std=True)
