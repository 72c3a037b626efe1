import numpy as np
import pytest

from gradsift.data import ArraySource
from gradsift.pairwise import weights as neighbours
from gradsift.pairwise.weights import find_nearest, nearest_in


def by_loop(X, own, k):
    """Rows of the k nearest others and the sample itself, ties to the lower row number."""
    out = []
    for i in own:
        d = ((X - X[i]) ** 2).sum(axis=1)
        others = sorted((d[j], j) for j in range(len(X)) if j != i)[:k]
        out.append(sorted([i, *(j for _, j in others)]))
    return np.array(out)


@pytest.mark.parametrize("p", [3, 30])
def test_the_search_finds_what_a_loop_finds(p, rng, monkeypatch):
    monkeypatch.setattr(neighbours, "TILE_BYTES", 8 * 60 * 2)  # tiles of two samples
    X = rng.normal(size=(60, p))
    own = np.arange(60)
    near = find_nearest(ArraySource(X), 5)
    np.testing.assert_array_equal(near.rows, by_loop(X, own, 5))
    direct = ((X[own][:, None, :] - X[near.rows]) ** 2).sum(axis=2)
    np.testing.assert_allclose(near.sqdist, direct, atol=1e-12)


def test_ties_go_to_the_lower_row_and_copies_do_not_push_a_sample_out():
    X = np.array([[0.0], [0.0], [0.0], [0.0], [1.0], [1.0]])
    D = (X - X.T) ** 2
    everyone = np.arange(6)
    np.testing.assert_array_equal(nearest_in(D, everyone, 2).rows, by_loop(X, everyone, 2))
    near = find_nearest(ArraySource(X), 2)
    np.testing.assert_array_equal(near.rows, by_loop(X, everyone, 2))
    np.testing.assert_array_equal(near.sqdist[:4], 0.0)
