"""OPG's local fits: normal equations by hand, dense = CSR."""

import numpy as np
import pytest
from helpers import loop_sqdist, make_data, plain_weights

from gradsift.pairwise.local_linear import local_gradients
from gradsift.pairwise.weights import NearestNeighbors, pair_weights


@pytest.mark.parametrize("intercept", [False, True])
def test_each_slope_solves_its_normal_equations(intercept):
    X, y = make_data("regression", n=13, p=3)
    W = plain_weights(X)
    got = local_gradients(X, y, W, intercept=intercept)
    for i in range(13):
        A = X - X[i]
        target = y if intercept else y - y[i]
        if intercept:
            A = np.column_stack([A, np.ones(13)])
        slope = np.linalg.solve(A.T * W[i] @ A, A.T @ (W[i] * target))[:3]
        np.testing.assert_allclose(got[i], slope, rtol=1e-5, atol=1e-7)


def test_dense_equals_csr():
    X, y = make_data("regression", n=13, p=3)
    W = pair_weights(NearestNeighbors(6, scale=2.0), loop_sqdist(X, X), 3)
    np.testing.assert_allclose(
        local_gradients(X, y, W), local_gradients(X, y, W.toarray()), atol=1e-10
    )


@pytest.mark.parametrize("intercept", [False, True])
def test_linear_response_has_its_own_slope_everywhere(intercept, rng):
    X = rng.normal(size=(12, 3))
    y = X @ [1.0, -2.0, 0.5] + 3.0
    got = local_gradients(X, y, np.ones((12, 12)), intercept=intercept)
    np.testing.assert_allclose(got, np.tile([1.0, -2.0, 0.5], (12, 1)), atol=1e-9)


def test_underdetermined_takes_the_smallest_slope(rng):
    X, y = rng.normal(size=(4, 7)), rng.normal(size=4)
    got = local_gradients(X, y, np.ones((4, 4)))
    for i in range(4):
        smallest = np.linalg.pinv(X - X[i]) @ (y - y[i])
        np.testing.assert_allclose(got[i], smallest, atol=1e-8)
