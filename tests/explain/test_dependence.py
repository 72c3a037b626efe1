"""What an effect depends on, for gradients known in closed form."""

import numpy as np
import pytest

from gradsift.explain import acting_together, effect_dependence


@pytest.fixture
def Z(rng):
    return rng.normal(size=(200, 3))


def test_additive_effects_depend_on_themselves(Z):
    # y = z0^2 + z1 + z2^3
    G = np.column_stack([2 * Z[:, 0], np.ones(200), 3 * Z[:, 2] ** 2])
    shares = effect_dependence(Z, G)
    assert np.abs(shares - np.diag(np.diag(shares))).max() < 1e-9
    assert shares[0, 0] == pytest.approx(1, abs=0.05)
    assert shares[1, 1] == 0
    # 1 - mean^2 / mean square of 3 z^2
    truth = G[:, 2].var() / (G[:, 2] ** 2).mean()
    assert shares[2, 2] == pytest.approx(truth, abs=1e-6)
    assert acting_together(shares) == []


def test_a_product_beside_a_main_effect(Z):
    # y = 2 z0 + z0 z1: the effect 2 + z1 varies with z1 by 1 / 5 of its mean square
    G = np.column_stack([2 + Z[:, 1], Z[:, 0], 0 * Z[:, 2]])
    shares = effect_dependence(Z, G)
    assert shares[0, 1] == pytest.approx(1 / 5, abs=0.06)
    assert shares[1, 0] == pytest.approx(1, abs=0.05)
    assert not shares[2].any()
    assert acting_together(shares) == [(0, 1)]


def test_an_interaction_that_cancels_on_average(rng):
    """sin(pi x0 x1): the mean mixed derivative is nearly zero, the dependence is not."""
    X = rng.uniform(size=(300, 3))
    slope = np.pi * np.cos(np.pi * X[:, 0] * X[:, 1])
    G = np.column_stack([slope * X[:, 1], slope * X[:, 0], np.ones(300)])
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    shares = effect_dependence(Z, G)
    assert min(shares[0, 1], shares[1, 0]) > 0.2
    assert acting_together(shares) == [(0, 1)]


def test_noise_depends_on_nothing(rng):
    Z, G = rng.normal(size=(60, 12)), rng.normal(size=(60, 12))
    shares = effect_dependence(Z, G)
    # the gain of noise is taken off: right on average, small each
    assert shares.mean() < 0.03
    assert len(acting_together(shares)) <= 3


def test_straight_lines_and_constant_columns(rng):
    G = np.ones((50, 2)) + 1e-15 * rng.normal(size=(50, 2))
    assert not effect_dependence(rng.normal(size=(50, 2)), G).any()
    Z = np.column_stack([np.zeros(50), rng.integers(2, size=50)])
    assert np.isfinite(effect_dependence(Z, rng.normal(size=(50, 2)))).all()
