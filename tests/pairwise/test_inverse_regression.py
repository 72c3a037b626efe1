"""SIR, SAVE and pHd: their matrices by loops, weights as copies, slices."""

import numpy as np
import pytest

from gradsift.pairwise.dense import (
    cut_slices,
    leading_eigenvectors,
    mean_hessian,
    orthonormal,
    slice_covariances,
    slice_means,
)
from gradsift.pairwise.local_linear import whiten

MATRICES = [slice_means, slice_covariances, mean_hessian]


@pytest.fixture
def data(rng):
    X, share = rng.normal(size=(40, 3)), rng.uniform(0.5, 2.0, 40)
    share /= share.sum()
    Z = whiten(X, share).Z
    return Z, Z[:, 0] + Z[:, 1] ** 2, share


def test_slices_have_equal_weights_and_keep_ties_together():
    share = np.full(12, 1 / 12)
    assert cut_slices(np.arange(12.0), share, 3).tolist() == [0] * 4 + [1] * 4 + [2] * 4
    assert (
        cut_slices(np.array([5.0, 7, 5, 7, 9, 9] * 2), share, 10).tolist() == [0, 1, 0, 1, 2, 2] * 2
    )
    tied = np.r_[np.zeros(8), 1.0, 2.0, 3.0, 4.0]
    got = cut_slices(tied, share, 3)
    assert len(set(got[:8])) == 1
    assert sorted(set(got)) == list(range(got.max() + 1))  # none is empty


def test_sir_by_loops(data):
    Z, y, share = data
    slices, M = cut_slices(y, share, 5), np.zeros((3, 3))
    for h in range(5):
        weight = share[slices == h]
        mean = np.average(Z[slices == h], axis=0, weights=weight)
        M += weight.sum() * np.outer(mean, mean)
    np.testing.assert_allclose(slice_means(Z, y, share, 5), M, atol=1e-12)


def test_save_by_loops(data):
    Z, y, share = data
    slices, M = cut_slices(y, share, 5), np.zeros((3, 3))
    for h in range(5):
        weight = share[slices == h]
        V = np.cov(Z[slices == h].T, aweights=weight, ddof=0)
        M += weight.sum() * (np.eye(3) - V) @ (np.eye(3) - V)
    np.testing.assert_allclose(slice_covariances(Z, y, share, 5), M, atol=1e-12)


def test_phd_by_loops(data):
    Z, y, share = data
    A, root = np.column_stack([np.ones(40), Z]), np.sqrt(share)
    fit = A @ np.linalg.lstsq(root[:, None] * A, root * y, rcond=None)[0]
    M = sum(w * e * np.outer(z, z) for w, e, z in zip(share, y - fit, Z))
    np.testing.assert_allclose(mean_hessian(Z, y, share), M, atol=1e-10)


@pytest.mark.parametrize("matrix", MATRICES)
def test_weights_are_copies(rng, matrix):
    X, times = rng.normal(size=(30, 3)), rng.integers(1, 4, 30)
    y = X[:, 0] * X[:, 1]
    rows = np.repeat(np.arange(30), times)
    weighted = matrix(whiten(X, times / times.sum()).Z, y, times / times.sum(), 4)
    share = np.full(len(rows), 1 / len(rows))
    copied = matrix(whiten(X[rows], share).Z, y[rows], share, 4)
    # whitened columns may differ by signs: eigenvalues do not
    np.testing.assert_allclose(np.linalg.eigvalsh(weighted), np.linalg.eigvalsh(copied), atol=1e-9)


def test_eigenvectors_come_by_size_and_bases_are_nested(rng):
    values, vectors = leading_eigenvectors(np.diag([1.0, -3.0, 2.0]))
    assert values.tolist() == [-3.0, 2.0, 1.0]
    assert np.abs(vectors).argmax(axis=0).tolist() == [1, 2, 0]
    B = rng.normal(size=(5, 3))
    rows = orthonormal(B)
    np.testing.assert_allclose(rows @ rows.T, np.eye(3), atol=1e-12)
    for k in (1, 2, 3):
        left = B[:, :k] - rows[:k].T @ (rows[:k] @ B[:, :k])
        np.testing.assert_allclose(left, 0.0, atol=1e-12)
