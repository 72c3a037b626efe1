"""A warning of rough probabilities speaks of those that are shown."""

import numpy as np
import pytest

from gradsift import GradientSiftRegressor, credible_families
from gradsift.exceptions import RoughFamiliesWarning
from gradsift.trust import credible
from gradsift.trust.draws import Draws, Tally
from gradsift.trust.families import inclusion_probabilities
from gradsift.trust.roughness import column_chains, roughness_of


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 12))
    y = X[:, 3] + 0.2 * rng.normal(size=100)
    return X, y, GradientSiftRegressor().fit(X, y)


def shaken(monkeypatch, column, by):
    """Draws in which the chains of the two starts differ about a column."""
    draw = credible.draw

    def other(*args):
        draws = draw(*args)
        at = np.flatnonzero(draws.columns == column)
        half = draws.own.b // 2
        draws.own.sums[:half, at] += by * len(draws.own.views)
        return draws

    monkeypatch.setattr(credible, "draw", other)


def test_nothing_is_said_of_probabilities_that_nobody_sees(fitted, monkeypatch):
    X, y, model = fitted
    shaken(monkeypatch, 7, 0.3)
    found = credible_families(model, X, y)
    assert [family.columns.tolist() for family in found] == [[3]]
    assert found[0].probability > 0.99
    assert found.roughness > 0.1
    assert found.shown.value < 0.01


def test_a_selected_column_is_seen(fitted, monkeypatch):
    X, y, model = fitted
    shaken(monkeypatch, 3, -0.3)
    with pytest.warns(RoughFamiliesWarning, match=r"off by 0.15 .* differ by 0.30"):
        credible_families(model, X, y)


def test_a_column_in_a_product_acts_whatever_it_does_by_itself():
    own, products = Tally(4), Tally(4)
    by_itself = np.array([[0.9], [0.9], [0.1], [0.1]])
    own.views, own.sums = [by_itself.astype(np.float16)], by_itself
    products.views, products.sums = [np.ones((4, 1), dtype=np.float16)], np.ones((4, 1))
    draws = Draws(np.array([5]), own, np.array([[5, 6]]), products)
    np.testing.assert_allclose(column_chains(draws, 5), 1.0)
    np.testing.assert_allclose(column_chains(draws, 6), 1.0)
    np.testing.assert_allclose(inclusion_probabilities(draws, 7)[5:], 1.0)
    np.testing.assert_allclose(column_chains(draws, 2), 0.0)
    assert roughness_of(column_chains(draws, 5)).value < 1e-6
    assert roughness_of(own.means).value > 0.4
