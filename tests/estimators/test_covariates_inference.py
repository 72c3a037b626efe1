"""Covariates together with ``inference=True``."""

import numpy as np
import pytest

from gradsift import GradientSiftRegressor


@pytest.mark.parametrize("standardize", [True, False])
def test_directions_of_draws_are_those_of_columns_not_of_covariates(standardize):
    rng = np.random.default_rng(2)
    X, age = rng.normal(size=(80, 20)), rng.uniform(20, 80, size=80)
    X[:, 5] += age / 20
    y = X[:, 3] ** 2 - 2 * X[:, 8] + 0.1 * age + 0.3 * rng.normal(size=80)
    model = GradientSiftRegressor(inference=True, standardize=standardize)
    model.fit(X, y, covariates={"age": age})
    assert model.component_intervals_.shape == (*model.components_.shape, 2)
    assert model.n_components_probabilities_.sum() == pytest.approx(1.0)
