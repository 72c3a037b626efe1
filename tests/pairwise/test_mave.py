"""MAVE: its turns against brute force, whitening, and what it finds."""

import numpy as np
import pytest

from gradsift.numerics.directions import subspace_distance
from gradsift.pairwise.local_linear import RIDGE, Planes, directions_for, fit_mave, whiten


def test_whitened_columns_have_unit_covariance(rng):
    X, share = rng.normal(size=(30, 4)) @ rng.normal(size=(4, 4)), rng.uniform(size=30)
    X[:, 3] = X[:, 0] - X[:, 1]
    share /= share.sum()
    Z, turn, back = whiten(X, share)
    assert Z.shape == (30, 3)  # one column says nothing new
    np.testing.assert_allclose(Z.T * share @ Z, np.eye(3), atol=1e-10)
    beta = rng.normal(size=4)
    np.testing.assert_allclose(Z @ (back @ beta), (X - share @ X) @ beta, atol=1e-10)
    np.testing.assert_allclose(Z, (X - share @ X) @ turn, atol=1e-10)


@pytest.mark.parametrize("outputs", [1, 2])
def test_directions_solve_the_least_squares_problem(rng, outputs):
    """All n^2 equations, one row each, with the ridge as further rows."""
    n, r, d = 9, 3, 2
    Z, Y = rng.normal(size=(n, r)), rng.normal(size=(n, outputs))
    share, weight = rng.uniform(size=n), rng.uniform(size=(n, n))
    share /= share.sum()
    weight /= weight.sum(axis=1, keepdims=True)
    planes = Planes(rng.normal(size=(n, outputs)), rng.normal(size=(n, d, outputs)))
    rows, right = [], []
    for i in range(n):
        for j in range(n):
            for c in range(outputs):
                root = np.sqrt(share[i] * weight[i, j])
                rows.append(root * np.outer(planes.slopes[i, :, c], Z[j] - Z[i]).ravel())
                right.append(root * (Y[j, c] - planes.levels[i, c]))
    A, b = np.array(rows), np.array(right)
    ridge = RIDGE * np.trace(A.T @ A) / (d * r)
    by_hand = np.linalg.solve(A.T @ A + ridge * np.eye(d * r), A.T @ b).reshape(d, r).T
    got = directions_for(Z, Y, share, weight, planes)
    np.testing.assert_allclose(got, by_hand, atol=1e-9)


def test_it_finds_an_oscillating_index_from_a_poor_start(rng):
    X = rng.normal(size=(200, 6))
    beta = np.array([[1.0, 1.0, 1.0, 0.0, 0.0, 0.0]]) / np.sqrt(3.0)
    Y = np.sin(2.0 * X @ beta.T) + 0.1 * rng.normal(size=(200, 1))
    share = np.full(200, 1 / 200)
    Z, turn, back = whiten(X, share)
    start = back @ np.array([[1.0, 0.5, 0.2, 0.4, 0.0, 0.0]]).T
    found = (turn @ fit_mave(Z, Y, share, start).gamma).T
    assert subspace_distance(found, beta) < 0.07
    assert subspace_distance((turn @ start).T, beta) > 0.3


def test_sizes_come_with_directions(rng):
    """The outer product of the gradients: one large direction, one small."""
    X = rng.normal(size=(300, 4))
    Y = (2.0 * X[:, 0] + 0.2 * X[:, 1] ** 2)[:, None]
    share = np.full(300, 1 / 300)
    Z, turn, back = whiten(X, share)
    found = fit_mave(Z, Y, share, back[:, :2])
    U, s, _ = np.linalg.svd(turn @ found.slopes(share), full_matrices=False)
    np.testing.assert_allclose(np.abs(U[:2, :2]), np.eye(2), atol=0.1)
    assert s[0] == pytest.approx(2.0, rel=0.05)
    assert s[1] == pytest.approx(0.4, rel=0.2)
