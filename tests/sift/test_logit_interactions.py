"""Which products of a support are interactions, and which the link makes."""

import numpy as np
import pytest
from helpers import standard
from scipy.stats import chi2
from sklearn.linear_model import LogisticRegression

from gradsift.data import ArraySource
from gradsift.numerics.logistic import Information, fit_multinomial, with_ones
from gradsift.numerics.losses import softmax
from gradsift.responses import class_contrasts
from gradsift.sift import sift
from gradsift.sift.products import indicators, score_statistics


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


def reference_fit(Phi, T, weight, ridge=1e-3):
    start = np.zeros((Phi.shape[1], T.shape[1]))
    penalty = ridge * weight.sum()
    free = np.ones_like(start)
    free[:, 0] = 0.0
    return fit_multinomial(Phi, T, weight, penalty, start, free=free, tol=1e-12)


def test_probabilities_are_those_of_logistic_regression():
    rng = np.random.default_rng(2)
    X = standard(rng.normal(size=(150, 3)))
    classes = drawn(rng, np.column_stack([0 * X[:, 0], X[:, 0], X[:, 1]]))
    Phi = with_ones(X)
    beta = reference_fit(Phi, np.eye(3)[classes], np.ones(150), 1e-9)
    assert not beta[:, 0].any()
    peer = LogisticRegression(C=1e9, tol=1e-10, max_iter=2_000).fit(X, classes)
    np.testing.assert_allclose(softmax((Phi @ beta).T).T, peer.predict_proba(X), atol=1e-4)


def test_the_score_statistic_is_chi_square_where_nothing_is_missing():
    rng = np.random.default_rng(3)
    values = []
    for _ in range(200):
        X = rng.normal(size=(200, 2))
        T = np.eye(3)[drawn(rng, np.column_stack([0 * X[:, 0], X[:, 0], -X[:, 0]]))]
        values += score_statistics(with_ones(X), T, np.ones(200), 1e-3, None, 1)
    assert 0.01 < np.mean(np.array(values) > chi2.isf(0.05, 2)) < 0.10
    assert np.mean(values) == pytest.approx(2.0, abs=0.4)


def four_classes(seed, n=300, m=6):
    """Features (n, m) with the constant last, indicators and weights of classes that overlap."""
    rng = np.random.default_rng(seed)
    Phi = with_ones(standard(rng.normal(size=(n, m - 1)) @ rng.normal(size=(m - 1, m - 1))))
    T = np.eye(4)[drawn(rng, Phi @ rng.normal(size=(m, 4)))]
    return Phi, T, rng.integers(1, 4, size=n).astype(float)


def dense_information(Phi, P, weight, ridge):
    """Information of the log odds' coefficients in row order, from its definition; P is (n, C)."""
    H = np.diag(np.repeat(ridge, P.shape[1] - 1))
    for i in range(len(P)):
        bend = np.diag(P[i, 1:]) - np.outer(P[i, 1:], P[i, 1:])
        H += weight[i] * np.kron(np.outer(Phi[i], Phi[i]), bend)
    return H


def test_information_is_the_second_derivative():
    Phi, _, weight = four_classes(4)
    ridge = np.full(Phi.shape[1], 0.3)
    B, V = np.random.default_rng(0).normal(size=(2, Phi.shape[1], 4))
    free = np.ones_like(V)
    B[:, 0] = V[:, 0] = free[:, 0] = 0.0
    P = softmax((Phi @ B).T)
    product = Information.at(Phi, P, weight, ridge[:, None], free).product(V)
    H = dense_information(Phi, P.T, weight, ridge)
    np.testing.assert_allclose(product[:, 1:].reshape(-1), H @ V[:, 1:].reshape(-1))
    assert not product[:, 0].any()


@pytest.mark.parametrize("inverted", [True, False])
def test_statistics_of_all_last_features_are_those_by_definition(monkeypatch, inverted):
    """As from the dense information of fits from zero, though each starts from the whole model."""
    if not inverted:
        monkeypatch.setattr("gradsift.numerics.logistic.MOST_INVERTED", 0)
    Phi, T, weight = four_classes(5)
    found = score_statistics(Phi, T, weight, 1e-3, None, Phi.shape[1] - 1)
    for place, statistic in enumerate(found):
        rest, z = np.delete(Phi, place, axis=1), Phi[:, place]
        P = softmax((rest @ reference_fit(rest, T, weight)).T).T
        ridge = np.append(np.full(rest.shape[1] - 1, 1e-3 * weight.sum()), [1e-6, 0.0])
        H = dense_information(np.column_stack([rest, z]), P, weight, ridge)
        old, new = slice(0, -3), slice(-3, None)
        V = H[new, new] - H[new, old] @ np.linalg.solve(H[old, old], H[old, new])
        s = (weight * z) @ (T - P)[:, 1:]
        assert statistic == pytest.approx(s @ np.linalg.solve(V, s), rel=1e-4)


def test_numbers_are_no_classes():
    assert indicators(np.random.default_rng(5).normal(size=(20, 1))) is None
    np.testing.assert_array_equal(indicators(np.array([[1.0], [-1.0], [1.0]])).sum(0), [1, 2])
