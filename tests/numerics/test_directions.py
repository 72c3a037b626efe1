"""Directions: eigenvectors of B B', placed on the selected variables."""

import numpy as np
import pytest

from gradsift.numerics import directions
from gradsift.numerics.directions import find_directions, orient, subspace_distance


@pytest.fixture
def B(rng):
    return rng.normal(size=(4, 3)) * np.array([5.0, 1.0, 0.1])


def test_components_are_eigenvectors_of_the_outer_product(B):
    index = np.array([1, 3, 4, 8])
    found = find_directions(index, B, 10, 3)
    full = np.zeros((10, 3))
    full[index] = B
    Xi = full @ full.T
    np.testing.assert_allclose(found.components @ found.components.T, np.eye(3), atol=1e-12)
    for c, value in zip(found.components, found.eigenvalues):
        np.testing.assert_allclose(Xi @ c, value * c, atol=1e-10)
    assert (np.diff(found.eigenvalues) <= 0).all()
    assert found.eigenvalues.sum() == pytest.approx(np.trace(Xi))
    off = np.setdiff1d(np.arange(10), index)
    assert (found.components[:, off] == 0.0).all()


@pytest.mark.parametrize(
    ("energies", "expected"), [([992, 6, 2], 1), ([970, 25, 5], 2), ([400, 350, 250], 3)]
)
def test_auto_keeps_99_percent_of_the_trace(energies, expected):
    B = np.diag(np.sqrt(np.array(energies, float)))
    assert len(find_directions(np.arange(3), B, 3, "auto").components) == expected


def test_never_more_than_the_rank(B):
    flat = np.outer([1.0, 2.0, 0.0, 1.0], [1.0, 1.0])
    for wanted in ("auto", 1, 5):
        assert find_directions(np.arange(4), flat, 4, wanted).components.shape == (1, 4)
    empty = find_directions(np.array([], dtype=int), np.zeros((0, 3)), 4, "auto")
    assert empty.components.shape == (0, 4)
    assert len(find_directions(np.arange(4), B, 4, 2).components) == 2


def test_signs_are_settled():
    got = orient(np.array([[0.1, -0.9], [0.8, 0.3]]))
    np.testing.assert_array_equal(got, [[-0.1, 0.9], [0.8, 0.3]])


def test_subspace_distance(rng):
    P = rng.normal(size=(2, 5))
    assert subspace_distance(P, np.array([[1.0, 2], [3, -1]]) @ P) == 0.0
    assert subspace_distance(np.eye(4)[:1], np.eye(4)[1:2]) == 1.0
    # one angle of 30 degrees between lines: its sine
    line = np.array([[np.cos(np.pi / 6), np.sin(np.pi / 6)]])
    assert subspace_distance(np.eye(2)[:1], line) == pytest.approx(0.5)


@pytest.mark.parametrize("shape", [(3, 50), (200, 20)])
def test_joint_importance_is_the_same_by_columns_and_by_rows(shape, rng, monkeypatch):
    a, n = shape
    F, Z = rng.normal(size=(a, 2 * n)), rng.normal(size=(n, a))
    monkeypatch.setattr(directions, "JOINT_VALUES", 100)  # several pieces
    brute = np.sqrt(((F @ F.T) * (Z.T @ Z)).sum())
    assert directions.joint_importance(F, Z) == pytest.approx(brute)
