"""Local fits: normal equations by hand, dense = CSR."""

import numpy as np
import pytest
from helpers import assert_same_sums, loop_sqdist, make_data, plain_weights

from gradsift.pairwise import local_linear as room
from gradsift.pairwise.local_linear import (
    best_bandwidth,
    local_gradients,
    local_planes,
    smooth,
    smooth_left_out,
)
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


@pytest.mark.parametrize("d", [1, 3])
def test_planes_solve_their_normal_equations(rng, d):
    places, at = rng.normal(size=(20, d)) + 5.0, rng.normal(size=(4, d)) + 5.0
    Y, weight = rng.normal(size=(20, 2)), rng.uniform(size=(4, 20))
    weight /= weight.sum(axis=1, keepdims=True)
    got = local_planes(at, places, Y, weight, ridge=0.1)
    for i in range(4):
        A = np.column_stack([np.ones(20), places - at[i]])
        penalty = np.diag([0.0] + [0.1] * d)
        by_hand = np.linalg.solve(A.T * weight[i] @ A + penalty, A.T * weight[i] @ Y)
        np.testing.assert_allclose(got.levels[i], by_hand[0], atol=1e-9)
        np.testing.assert_allclose(got.slopes[i], by_hand[1:], atol=1e-9)


@pytest.mark.parametrize("scale", [np.inf, 0.4])
def test_a_smooth_function_is_a_weighted_least_squares_fit(rng, scale, monkeypatch):
    monkeypatch.setattr(room, "RIDGE", 0.0)
    u, Y, share = rng.normal(size=20), rng.normal(size=(20, 1)), np.full(20, 0.05)
    at = np.array([-0.5, 0.3])
    got = smooth(at[:, None], u[:, None], Y, share, scale)[:, 0]
    for place, value in zip(at, got):
        w = np.exp(-((u - place) ** 2) / (2 * scale**2))
        A = np.column_stack([np.ones(20), u - place])
        by_hand = np.linalg.solve(A.T @ (w[:, None] * A), A.T @ (w * Y[:, 0]))
        assert value == pytest.approx(by_hand[0])


def test_leaving_out_is_leaving_out(rng):
    places, Y, share = rng.normal(size=(20, 2)), rng.normal(size=(20, 1)), rng.uniform(size=20)
    keep = np.arange(20) != 4
    one_out = smooth_left_out(places, places, Y, share, np.array([np.inf, 0.8]))[1]
    # the ridge is in units of the variance of all coordinates, which one sample hardly changes
    same = smooth(places[4:5], places[keep], Y[keep], share[keep], 0.8)
    np.testing.assert_allclose(one_out[4], same[0], atol=1e-3)


def test_bandwidths_are_tried_together_or_in_parts(rng, monkeypatch):
    places, Y, share = rng.normal(size=(30, 2)), rng.normal(size=(30, 2)), np.full(30, 1 / 30)
    scales = np.array([np.inf, 1.0, 0.3])
    together = smooth_left_out(places, places, Y, share, scales)
    monkeypatch.setattr(room, "BLOCK_BYTES", 1)
    assert_same_sums(smooth_left_out(places, places, Y, share, scales), together)
    best = best_bandwidth(places, Y, share)
    error = float(share @ ((Y - best.left_out) ** 2).sum(axis=1))
    assert best.error == pytest.approx(error)


def test_the_bandwidth_follows_the_function(rng):
    u, share = rng.normal(size=(150, 1)), np.full(150, 1 / 150)
    noise = 0.1 * rng.normal(size=(150, 1))
    assert best_bandwidth(u, 2.0 * u + noise, share)[0] > 1.0
    assert best_bandwidth(u, np.sin(5.0 * u) + noise, share)[0] < 0.5
