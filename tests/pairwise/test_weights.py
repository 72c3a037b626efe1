"""Pair weights against double loops, dense and CSR."""

import numpy as np
import pytest
from helpers import loop_sqdist
from scipy import sparse

from gradsift.numerics.kernels import Gaussian
from gradsift.pairwise.weights import (
    NearestNeighbors,
    Uniform,
    as_weights,
    normalise,
    pair_weights,
)


@pytest.fixture
def D(rng):
    X = rng.normal(size=(8, 3))
    return loop_sqdist(X, X)


def loop_nearest(D, k, scale, form):
    """Each i sees itself and its k nearest others; ties go to the lower row number."""
    n, W = len(D), np.zeros(D.shape)
    for i in range(n):
        others = sorted((D[i, j], j) for j in range(n) if j != i)[:k]
        for d, j in [(0.0, i), *others]:
            W[i, j] = np.exp(-2 * d / scale**2 if form == "paper" else -d / (2 * scale**2))
    return W


def test_gaussian_and_uniform(D):
    by_hand = [[np.exp(-d / (2 * 0.8**2)) for d in row] for row in D]
    np.testing.assert_allclose(Gaussian(0.8).of_distances(D), by_hand)
    np.testing.assert_allclose(pair_weights(Gaussian(0.8), D, 3), by_hand)
    assert (pair_weights(Uniform(), D, 3) == 1.0).all()
    half_median = 0.5 * np.sqrt(np.median(D[D > 0]))
    np.testing.assert_allclose(
        pair_weights(as_weights("gaussian"), D, 3), np.exp(-D / (2 * half_median**2))
    )


@pytest.mark.parametrize("form", ["paper", "plain"])
@pytest.mark.parametrize("k", [1, 3, 7, 50])
def test_nearest_matches_loop(D, k, form):
    """k >= n means everybody: k = 50 of 8 rows is no error."""
    W = pair_weights(NearestNeighbors(k, form, 1.1), D, 3)
    assert sparse.issparse(W)
    assert W.nnz == 8 * (min(k, 7) + 1)
    np.testing.assert_allclose(W.toarray(), loop_nearest(D, k, 1.1, form))
    by_rule = pair_weights(NearestNeighbors(k, form, 1.1), D, 3)
    np.testing.assert_array_equal(by_rule.toarray(), W.toarray())


@pytest.mark.parametrize("k", [1, 2, 3])
def test_ties_and_copies(k):
    """On a grid with a repeated row everything ties; a sample still sees itself."""
    x = np.array([[0.0], [1.0], [1.0], [2.0], [3.0]])
    D = loop_sqdist(x, x)
    W = pair_weights(NearestNeighbors(k, scale=2.0), D, 3)
    np.testing.assert_allclose(W.toarray(), loop_nearest(D, k, 2.0, "paper"))
    assert (W.diagonal() == 1.0).all()


def test_normalise_dense_equals_csr(D, rng):
    share = rng.dirichlet(np.ones(8))
    W = pair_weights(NearestNeighbors(3, scale=1.1), D, 3)
    by_hand = [[share[i] * W.toarray()[i, j] * share[j] for j in range(8)] for i in range(8)]
    got = normalise(W, share)
    assert sparse.issparse(got)
    np.testing.assert_allclose(got.toarray(), by_hand)
    np.testing.assert_allclose(normalise(W.toarray(), share), by_hand)


def test_messages(D):
    nearest = np.sqrt(D[D > 0].min())
    with pytest.raises(ValueError, match=rf"every pair weight at zero.*are {nearest:.3g} apart"):
        pair_weights(Gaussian(1e-4), D, 3)
    with pytest.raises(ValueError, match="every pair weight at zero"):
        pair_weights(NearestNeighbors(3, scale=1e-4), D, 3)
    with pytest.raises(ValueError, match=r"form='other' is unknown. Use 'paper' or 'plain'"):
        pair_weights(NearestNeighbors(3, "other", 1.0), D, 3)
    with pytest.raises(ValueError, match="k=0 neighbours leave no pair"):
        pair_weights(NearestNeighbors(0, scale=1.0), D, 3)
    with pytest.raises(
        ValueError, match=r"weights='knn' is not a weight rule. Use one of \['adaptive'"
    ):
        as_weights("knn")


def test_zero_weight_message_offers_the_true_half_median(D):
    """The number printed must be the one scale='half-median' would use."""
    half_median = 0.5 * np.sqrt(np.median(D[D > 0]))
    with pytest.raises(ValueError, match=rf"scale='half-median' \(here {half_median:.3g}\)"):
        pair_weights(Gaussian(1e-4), D, 3)
