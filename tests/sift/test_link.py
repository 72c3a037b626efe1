"""Which products of a support are interactions, and which the link makes."""

import numpy as np
import pytest
from scipy.stats import chi2
from sklearn.linear_model import LogisticRegression

from gradsift.data import ArraySource
from gradsift.estimators._sift_target import class_contrasts
from gradsift.sift import sift
from gradsift.sift.link import indicators, information, logistic_probabilities, score_statistic


def standard(X):
    return (X - X.mean(0)) / X.std(0)


def drawn(rng, odds):
    """Classes with these log odds (n, C)."""
    return (odds + rng.gumbel(size=odds.shape)).argmax(axis=1)


def found(X, classes):
    Y = class_contrasts(classes, int(classes.max()) + 1)
    return sift(ArraySource(standard(X)), Y, robust=False)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_sums_of_effects_have_no_interaction(n_classes):
    """Log odds of three classes that are straight lines: probabilities have products, odds none."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 12))
    odds = np.column_stack([np.zeros(600), 4 * X[:, 0], 4 * X[:, 1]])[:, :n_classes]
    odds[:, 1] += 3 * X[:, 1] * (n_classes == 2)
    result = found(X, drawn(rng, odds))
    assert {0, 1} <= set(result.selected.tolist())
    assert result.interactions == ()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_products_in_the_log_odds_are_interactions(n_classes):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(600, 12))
    odds = np.column_stack([np.zeros(600), 2 * X[:, 0] * X[:, 1], 2 * X[:, 2]])[:, :n_classes]
    result = found(X, drawn(rng, odds))
    assert [pair[:2] for pair in result.interactions] == [(0, 1)]


def test_probabilities_are_those_of_logistic_regression():
    rng = np.random.default_rng(2)
    X = standard(rng.normal(size=(150, 3)))
    classes = drawn(rng, np.column_stack([0 * X[:, 0], X[:, 0], X[:, 1]]))
    T = np.eye(3)[classes]
    P = logistic_probabilities(np.vstack([np.ones(150), X.T]), T, np.ones(150), 1e-9)
    peer = LogisticRegression(C=1e9, tol=1e-10, max_iter=2_000).fit(X, classes)
    np.testing.assert_allclose(P, peer.predict_proba(X), atol=1e-4)


def test_the_score_statistic_is_chi_square_where_nothing_is_missing():
    rng = np.random.default_rng(3)
    values = []
    for _ in range(200):
        X = rng.normal(size=(200, 2))
        T = np.eye(3)[drawn(rng, np.column_stack([0 * X[:, 0], X[:, 0], -X[:, 0]]))]
        D = np.vstack([np.ones(200), X[:, 0]])
        values.append(score_statistic(D, X[:, 1], T, np.ones(200), 1e-3))
    assert 0.01 < np.mean(np.array(values) > chi2.isf(0.05, 2)) < 0.10
    assert np.mean(values) == pytest.approx(2.0, abs=0.4)


def test_information_is_the_second_derivative():
    rng = np.random.default_rng(4)
    D = np.vstack([np.ones(40), rng.normal(size=(2, 40))])
    P = np.full((40, 3), 1 / 3)
    H = information(D, P, np.ones(40)).reshape(3, 2, 3, 2)
    np.testing.assert_allclose(H[:, 0, :, 0], D @ D.T * 2 / 9)
    np.testing.assert_allclose(H[:, 0, :, 1], -D @ D.T / 9)


def test_numbers_are_no_classes():
    assert indicators(np.random.default_rng(5).normal(size=(20, 1))) is None
    np.testing.assert_array_equal(indicators(np.array([[1.0], [-1.0], [1.0]])).sum(0), [1, 2])
