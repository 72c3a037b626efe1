"""Which products of a support are interactions, and which the link makes."""

import numpy as np
import pytest
from helpers import standard
from scipy.stats import chi2
from sklearn.linear_model import LogisticRegression

from gradsift.data import ArraySource
from gradsift.responses import class_contrasts
from gradsift.sift import sift
from gradsift.sift.logit_interactions import LogOdds, indicators


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
    model = LogOdds(np.vstack([np.ones(150), X.T]), T, np.ones(150), 1e-9)
    P = model.probabilities(model.coefficients())
    peer = LogisticRegression(C=1e9, tol=1e-10, max_iter=2_000).fit(X, classes)
    np.testing.assert_allclose(P, peer.predict_proba(X), atol=1e-4)


def test_the_score_statistic_is_chi_square_where_nothing_is_missing():
    rng = np.random.default_rng(3)
    values = []
    for _ in range(200):
        X = rng.normal(size=(200, 2))
        T = np.eye(3)[drawn(rng, np.column_stack([0 * X[:, 0], X[:, 0], -X[:, 0]]))]
        D = np.vstack([np.ones(200), X[:, 0]])
        values.append(LogOdds(D, T, np.ones(200), 1e-3).score_statistic(X[:, 1]))
    assert 0.01 < np.mean(np.array(values) > chi2.isf(0.05, 2)) < 0.10
    assert np.mean(values) == pytest.approx(2.0, abs=0.4)


def four_classes(seed, n=300, m=6):
    """Features (m, n), indicators and weights of a model whose classes overlap."""
    rng = np.random.default_rng(seed)
    mixed = rng.normal(size=(n, m - 1)) @ rng.normal(size=(m - 1, m - 1))
    D = np.vstack([np.ones(n), standard(mixed).T])
    T = np.eye(4)[drawn(rng, D.T @ rng.normal(size=(m, 4)))]
    return D, T, rng.integers(1, 4, size=n).astype(float)


def dense_information(model, P):
    """Information of coefficients in row order, penalty included, from its definition."""
    H = np.diag((model.penalty + 1e-9).reshape(-1))
    for i in range(len(P)):
        bend = np.diag(P[i, 1:]) - np.outer(P[i, 1:], P[i, 1:])
        H += model.weight[i] * np.kron(np.outer(model.D[:, i], model.D[:, i]), bend)
    return H


def test_information_is_the_second_derivative():
    model = LogOdds(*four_classes(4), 1e-3)
    rng = np.random.default_rng(0)
    B, V = rng.normal(size=(2, 6, 3))
    H = dense_information(model, model.probabilities(B))
    product = model.information(model.probabilities(B))(V)
    np.testing.assert_allclose(product.reshape(-1), H @ V.reshape(-1))
    h = 1e-3
    values = [model.objective(B + h * t * V) for t in (-1, 0, 1)]
    second = (values[0] - 2 * values[1] + values[2]) / h**2
    assert np.vdot(V, product) == pytest.approx(second, rel=1e-5)


def test_a_model_that_starts_near_its_end_gives_the_statistic_by_definition():
    """The statistic beside the other features, as from the dense information of a fit from zero."""
    D, T, weight = four_classes(5)
    whole = LogOdds(D, T, weight, 1e-3).fitted()
    for place in range(1, len(D)):
        near = whole.without(place)
        plain = LogOdds(near.D, T, weight, 1e-3)
        P = plain.probabilities(plain.coefficients())
        both = LogOdds(np.vstack([near.D, D[place]]), T, weight, 1e-3)
        H = dense_information(both, P)
        old, new = slice(0, -3), slice(-3, None)
        H[new, new] -= both.penalty[-1, 0] * np.eye(3)
        V = H[new, new] - H[new, old] @ np.linalg.solve(H[old, old], H[old, new])
        s = (weight * D[place]) @ (T - P)[:, 1:]
        expected = s @ np.linalg.solve(V, s)
        assert near.score_statistic(D[place]) == pytest.approx(expected, rel=1e-4)


def test_numbers_are_no_classes():
    assert indicators(np.random.default_rng(5).normal(size=(20, 1))) is None
    np.testing.assert_array_equal(indicators(np.array([[1.0], [-1.0], [1.0]])).sum(0), [1, 2])
