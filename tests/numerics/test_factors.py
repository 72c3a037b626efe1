"""Factors: K = L L', and the same L at samples met again."""

import numpy as np
import pytest

from gradsift.numerics.kernels import nystroem_factor


@pytest.fixture
def K(rng):
    X = rng.normal(size=(9, 3))
    return np.exp(-0.3 * ((X[:, None] - X[None]) ** 2).sum(-1))


def exact_factor(K):
    """All rows are landmarks."""
    return nystroem_factor(K, np.arange(len(K)))


def test_factor_reproduces_the_kernel(K):
    L = exact_factor(K).L
    np.testing.assert_allclose(L @ L.T, K, atol=1e-10)


def test_rank_deficient_kernel_gets_a_thin_factor(rng):
    A = rng.normal(size=(9, 3))
    factor = exact_factor(A @ A.T)
    assert factor.L.shape == (9, 3)
    np.testing.assert_allclose(factor.L @ factor.L.T, A @ A.T, atol=1e-10)


def test_extension_to_training_rows_is_L(K):
    for factor in (exact_factor(K), nystroem_factor(K[:, [0, 3, 7]], np.array([0, 3, 7]))):
        np.testing.assert_allclose(factor.extend(K[:, factor.landmarks]), factor.L, atol=1e-8)


def test_nystroem_is_exact_on_its_landmarks_and_with_all_of_them(K):
    everything = nystroem_factor(K, np.arange(9)).L
    np.testing.assert_allclose(everything @ everything.T, K, atol=1e-10)
    rows = np.array([1, 4, 8])
    L = nystroem_factor(K[:, rows], rows).L
    by_hand = K[:, rows] @ np.linalg.inv(K[np.ix_(rows, rows)]) @ K[rows]
    np.testing.assert_allclose(L @ L.T, by_hand, atol=1e-9)


def test_not_a_kernel(K):
    with pytest.raises(ValueError, match="not positive semidefinite: its smallest eigenvalue is -"):
        exact_factor(K - 0.9 * np.eye(9))
    with pytest.raises(ValueError, match="zero at every sample"):
        exact_factor(np.zeros((3, 3)))
