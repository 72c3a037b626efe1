"""Standardising: weighted moments, constants to exact zero, derivatives back in user's units."""

import numpy as np
import pytest

from gradsift.data import (
    ArraySource,
    ScaledSource,
    identity_scaling,
    measure_scaling,
    standardised,
)


@pytest.fixture
def X(rng):
    return rng.normal(3.0, 2.0, size=(9, 4))


def test_moments_are_those_of_repeated_rows(X, rng):
    times = rng.integers(1, 4, 9)
    repeated = np.repeat(X, times, axis=0)
    scaling = measure_scaling(ArraySource(X), times / times.sum())
    np.testing.assert_allclose(scaling.mean, repeated.mean(axis=0))
    np.testing.assert_allclose(scaling.scale, repeated.std(axis=0))


@pytest.mark.parametrize("constant", [0.0, 0.1, -7.3, 1e8, 1e-12, 1e300 / 3])
def test_constant_column_becomes_exactly_zero(X, constant):
    """Rounding in the mean must not be blown up into a column of noise."""
    X[:, 1] = constant
    scaling = measure_scaling(ArraySource(X), np.full(9, 1 / 9))
    Z = scaling.apply(X)
    assert (Z[:, 1] == 0.0).all()
    assert (scaling.derivative(np.ones((2, 4)))[:, 1] == 0.0).all()
    np.testing.assert_allclose(Z[:, [0, 2, 3]].std(axis=0), 1.0)


def test_a_huge_column_standardises_like_a_small_one(X):
    huge = X * np.array([1.0, 1e290, 1.0, -1e300])
    Z = measure_scaling(ArraySource(huge), np.full(9, 1 / 9)).apply(huge)
    plain = measure_scaling(ArraySource(X), np.full(9, 1 / 9)).apply(X)
    np.testing.assert_allclose(Z, plain * [1, 1, 1, -1], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("size", [1e-6, 1e-3, 1e5])
def test_small_spread_beside_a_large_mean_survives(X, size):
    """Times in seconds since 1970, say: far from zero, but no constant."""
    X[:, 1] = 1e5 + size * np.arange(9)
    Z = measure_scaling(ArraySource(X), np.full(9, 1 / 9)).apply(X)
    np.testing.assert_allclose(Z[:, 1].std(), 1.0, rtol=1e-4)


def test_view_equals_copy(X):
    source = ArraySource(X)
    scaling = measure_scaling(source, np.full(9, 1 / 9))
    view, copy = ScaledSource(source, scaling), standardised(source, scaling)
    assert isinstance(copy, ArraySource)
    index = np.array([2, 0])
    np.testing.assert_array_equal(view.columns(index), copy.columns(index))
    for (a, left), (b, right) in zip(view.blocks(), copy.blocks()):
        assert a == b
        np.testing.assert_array_equal(left, right)
    # a source that is not in memory stays a view
    assert isinstance(standardised(view, scaling), ScaledSource)


def test_derivative_is_the_chain_rule(X):
    """d/dx g(z(x)) = g'(z) / scale."""
    scaling = measure_scaling(ArraySource(X), np.full(9, 1 / 9))
    h, x = 1e-6, X[0]
    up, down = (np.sin(scaling.apply(x + e)) for e in (h, -h))
    np.testing.assert_allclose(
        scaling.derivative(np.cos(scaling.apply(x))), (up - down) / (2 * h), atol=1e-8
    )


def test_identity(X):
    scaling = identity_scaling(4)
    np.testing.assert_array_equal(scaling.apply(X), X)
    np.testing.assert_array_equal(scaling.derivative(X), X)
