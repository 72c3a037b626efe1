"""Covariates together with ``inference=True``, and with interactions of classes."""

import numpy as np
import pytest

from gradsift import GradientSiftClassifier, GradientSiftRegressor


def test_directions_are_those_of_columns_not_of_covariates():
    rng = np.random.default_rng(2)
    X, age = rng.normal(size=(80, 20)), rng.uniform(20, 80, size=80)
    X[:, 5] += age / 20
    y = X[:, 3] ** 2 - 2 * X[:, 8] + 0.1 * age + 0.3 * rng.normal(size=80)
    model = GradientSiftRegressor(inference=True).fit(X, y, covariates={"age": age})
    assert model.components_.shape[1] == 20


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("product", [False, True])
def test_products_that_the_link_makes_are_no_interactions_beside_covariates(n_classes, product):
    """Log odds that are a sum of two columns and a covariate, with and without their product."""
    rng = np.random.default_rng(0)
    n = 600
    X, age = rng.normal(size=(n, 8)), rng.normal(size=n)
    odds = 4.0 * X[:, 0] + 3.0 * X[:, 1] + age + 4.0 * product * X[:, 0] * X[:, 1]
    scores = np.column_stack([np.zeros(n), odds, 2.0 * X[:, 1] - age])[:, :n_classes]
    y = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
    model = GradientSiftClassifier(predict_with="selected").fit(X, y, covariates=age)
    assert {0, 1} <= set(model.get_support(indices=True).tolist())
    found = {(pair.first, pair.second) for pair in model.interactions_}
    assert found == ({(0, 1)} if product else set())
