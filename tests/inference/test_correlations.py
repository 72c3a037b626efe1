"""Correlations of columns, beside numpy's."""

import numpy as np
import pytest

from gradsift.inference import correlations


def test_they_are_those_of_numpy():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 6))
    y = X[:, 1] + rng.normal(size=40)
    np.testing.assert_allclose(correlations(X, y), np.corrcoef(X.T, y)[-1, :-1])


def test_of_two_classes_the_second_counts():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    assert correlations(X, ["ill", "ill", "well", "well"])[0] > 0.8
    assert correlations(X, [False, False, True, True])[0] > 0.8


def test_three_classes_have_no_sign():
    with pytest.raises(ValueError, match="3 classes"):
        correlations(np.eye(3), ["a", "b", "c"])
