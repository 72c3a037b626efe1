"""The fitted log odds: optimality, gradients, weights, several classes."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from helpers import class_probabilities, classes, numeric_gradient
from numpy.testing import assert_allclose, assert_array_equal

from gradsift.refit import refit_classification


@pytest.fixture
def three(rng):
    X = rng.normal(size=(150, 3))
    return X, np.digitize((X[:, :2] ** 2).sum(1), [1.0, 2.5])


def test_two_classes(circle):
    X, labels = circle
    fit = refit_classification(X, labels, n_classes=2)
    assert fit.value(X).shape == (120, 1)
    assert (classes(fit.value(X)) == labels).mean() > 0.8
    expected = numeric_gradient(lambda Z: fit.value(Z)[:, 0], X)
    assert fit.gradient(X).shape == (1, *X.shape)
    assert_allclose(fit.gradient(X)[0], expected, rtol=1e-4, atol=1e-5)


def test_three_classes(three):
    X, labels = three
    fit = refit_classification(X, labels, n_classes=3)
    U, G = fit.value(X), fit.gradient(X)
    assert U.shape == (150, 3)
    assert G.shape == (3, 150, 3)
    assert_allclose(U.sum(1), 0.0, atol=1e-6)
    assert (classes(U) == labels).mean() > 0.9
    for c in range(3):
        expected = numeric_gradient(lambda Z, c=c: fit.value(Z)[:, c], X)
        assert_allclose(G[c], expected, rtol=1e-4, atol=1e-5)


def test_swapping_two_classes_changes_the_sign(circle):
    X, labels = circle
    a = refit_classification(X, labels, n_classes=2)
    b = refit_classification(X, 1 - labels, n_classes=2)
    assert_allclose(a.value(X), -b.value(X), atol=1e-3)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_weights_are_repetitions(circle, three, n_classes):
    X, labels = circle if n_classes == 2 else three
    w = np.random.default_rng(3).integers(0, 4, len(X))
    a = refit_classification(X, labels, n_classes=n_classes, sample_weight=w)
    b = refit_classification(np.repeat(X, w, 0), np.repeat(labels, w), n_classes=n_classes)
    assert_allclose(class_probabilities(a.value(X)), class_probabilities(b.value(X)), atol=0.01)


def test_zero_weight_is_a_removed_row(circle):
    X, labels = circle
    w = np.ones(120)
    w[:10] = 0.0
    a = refit_classification(X, labels, n_classes=2, sample_weight=w)
    b = refit_classification(X[10:], labels[10:], n_classes=2)
    assert_array_equal(a.value(X), b.value(X))


def test_same_bits_twice_and_after_pickling(three):
    X, labels = three
    fit = refit_classification(X, labels, n_classes=3)
    for other in (
        refit_classification(X, labels, n_classes=3),
        pickle.loads(pickle.dumps(fit)),
    ):
        assert_array_equal(fit.gradient(X), other.gradient(X))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_nothing_selected_gives_the_priors(n_classes):
    labels = np.array([0, 1, 1, 1])
    fit = refit_classification(np.zeros((4, 0)), labels, n_classes=n_classes)
    expected = [0.25, 0.75, 0.0][:n_classes]
    found = class_probabilities(fit.value(np.zeros((2, 0))))
    assert_allclose(found, [expected] * 2, atol=1e-8)
    assert fit.gradient(np.zeros((2, 0))).shape == (1 if n_classes == 2 else 3, 2, 0)
    assert fit.kernel is None


def test_absent_class_gets_no_probability(circle):
    X, labels = circle
    fit = refit_classification(X, 2 * labels, n_classes=3)
    assert class_probabilities(fit.value(X))[:, 1].max() < 0.01
    assert np.isfinite(fit.value(X)).all()
