"""Kernels, distances and bandwidth rules, each against a double loop."""

import numpy as np
import pytest
from helpers import assert_same_sums, loop_kernel, loop_sqdist

from gradsift.data import ArraySource
from gradsift.numerics.distances import median_distance, products, squared_distances
from gradsift.numerics.kernels import (
    Gaussian,
    TheoryRate,
    as_kernel,
    bandwidth,
    cross_kernel,
)

BY_HAND = {
    "affine": ("affine", lambda x, z: 1 + x @ z),
    "linear": ("linear", lambda x, z: x @ z),
    "gaussian": (Gaussian(1.5), lambda x, z: np.exp(-((x - z) @ (x - z)) / (2 * 1.5**2))),
    "constant": ("constant", lambda x, z: 1.0),
    "delta": ("delta", lambda x, z: float((x == z).all())),
    "callable": (lambda products: np.tanh(products.inner) + 2, lambda x, z: np.tanh(x @ z) + 2),
}


@pytest.fixture
def X(rng):
    X = rng.normal(size=(7, 4))
    X[5] = X[2]  # a repeated row: distance exactly zero
    return X


@pytest.mark.parametrize("name", BY_HAND)
def test_kernel_is_its_formula(X, rng, name):
    given, formula = BY_HAND[name]
    kernel, new = as_kernel(given), np.vstack([rng.normal(size=(3, 4)), X[:1]])
    K = kernel(products(ArraySource(X)))
    np.testing.assert_allclose(K, loop_kernel(formula, X, X), atol=1e-12)
    np.testing.assert_allclose(
        cross_kernel(kernel, new, X), loop_kernel(formula, new, X), atol=1e-12
    )


def test_distances_match_loops_and_keep_exact_zeros(X):
    G, D = products(ArraySource(X))
    np.testing.assert_allclose(G, X @ X.T)
    assert_same_sums(D, squared_distances(X, X))
    np.testing.assert_allclose(D, loop_sqdist(X, X), atol=1e-12)
    assert (D >= 0).all()
    assert D[2, 5] == D[5, 2] == D[3, 3] == 0.0  # rounding must not separate equal rows


@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_distances_far_from_the_origin_keep_their_digits(X, shift):
    """Distances do not depend on the origin, and rounding must not bring it in."""
    np.testing.assert_allclose(
        squared_distances(X + shift, X + shift), loop_sqdist(X, X), rtol=1e-8
    )


def test_products_do_not_depend_on_blocks(X, monkeypatch):
    monkeypatch.setattr("gradsift.data.source.BLOCK_BYTES", 8 * len(X))  # one column a block
    assert len(list(ArraySource(X).blocks())) == 4
    np.testing.assert_allclose(products(ArraySource(X)).inner, X @ X.T)
    np.testing.assert_allclose(products(ArraySource(X)).sqdist, loop_sqdist(X, X), atol=1e-12)


def test_median_distance_counts_distinct_places(X):
    D = loop_sqdist(X, X)
    apart = [D[i, j] for i in range(7) for j in range(7) if D[i, j] > 0]
    assert median_distance(D) == pytest.approx(np.sqrt(np.median(apart)))
    assert median_distance(np.zeros((4, 4))) == 1.0


@pytest.mark.parametrize("seed", range(5))
def test_weighted_median_is_that_of_repeated_rows(seed):
    rng = np.random.default_rng(seed)
    X, times = rng.normal(size=(6, 2)), rng.integers(1, 4, 6)
    repeated = np.repeat(X, times, axis=0)
    got = median_distance(loop_sqdist(X, X), times.astype(float))
    assert got**2 == pytest.approx(median_distance(loop_sqdist(repeated, repeated)) ** 2)


def test_bandwidth_rules(X):
    D = loop_sqdist(X, X)
    n, p = X.shape
    assert bandwidth("half-median", D, p) == pytest.approx(0.5 * median_distance(D))
    # theorems 1 and 2: s = n^(-1/(2(d + 2 + 2 theta))), lambda = n^(-theta/(d + 2 + 2 theta))
    assert bandwidth("theory", D, p) == pytest.approx(n ** (-1 / (2 * (p + 4))))
    assert bandwidth(TheoryRate(2, 0.5), D, p) == pytest.approx(n ** (-1 / (2 * 5)))
    assert TheoryRate(2, 0.5).alpha(100) == pytest.approx(100 ** (-0.5 / 5))
    assert bandwidth(0.7, D, p) == 0.7
    assert Gaussian().resolve(D, p, None).scale == pytest.approx(0.5 * median_distance(D))


@pytest.mark.parametrize("rule", ["median", 0.0, -1.0, np.nan, np.inf])
def test_bad_bandwidth(rule):
    with pytest.raises(ValueError, match=r"is not a bandwidth. Use a positive number, 'half-med"):
        bandwidth(rule, np.ones((3, 3)), 2)


def test_unresolved_scale_is_refused():
    with pytest.raises(TypeError, match="is a rule"):
        Gaussian().of_distances(np.ones((2, 2)))


def test_as_kernel_takes_what_it_says():
    assert as_kernel(square := lambda products: products.inner**2) is square
    assert as_kernel(g := Gaussian(2.0)) is g
    for wrong in ("rbf", 3, np.eye(3), Gaussian):
        with pytest.raises(ValueError, match=r"is not a kernel. Use one of \['affine'"):
            as_kernel(wrong)
