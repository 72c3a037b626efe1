"""The places after the selected columns: each adds to those before it, where there is something."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gradsift.data import ArraySource
from gradsift.sift import make_sift, sift
from gradsift.sift.ranking import greedy, in_this_order, is_left_over, ridge_residual, unit_columns
from gradsift.sift.rows import make_rows
from gradsift.sift.settings import DEFAULT, Limits

ALONE = replace(DEFAULT, left_over=-1.0)
"""Settings under which columns are ranked by their own evidence."""


def standardised(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def factors(seed: int, n: int = 80, copies: int = 15, others: int = 100):
    """Copies of two hidden causes, the first of which weighs more, and noise."""
    rng = np.random.default_rng(seed)
    causes = rng.normal(size=(n, 2))
    X = np.hstack(
        [
            causes[:, :1] + 0.5 * rng.normal(size=(n, copies)),
            causes[:, 1:] + 0.5 * rng.normal(size=(n, copies)),
            rng.normal(size=(n, others)),
        ]
    )
    y = 1.5 * causes[:, 0] + causes[:, 1] + 0.5 * rng.normal(size=n)
    return standardised(X), y


def test_order_is_that_of_a_double_loop():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 12))
    X[:, 5] = X[:, 2] + 0.1 * rng.normal(size=40)
    Z = unit_columns(X, make_rows(40, None))
    Y = rng.normal(size=(40, 2)) + 2 * Z[:, [2, 7]] * 6
    Y = (Y - Y.mean(axis=0)) / np.sqrt(np.square(Y - Y.mean(axis=0)).sum(axis=0))
    evidence = rng.uniform(1, 5, size=12)
    found = greedy(Z, Y, evidence, np.array([3]), 6, 4.0, 40.0, DEFAULT)
    expected = [3]
    while len(expected) < 6:
        W = Z[:, expected]
        G = W.T @ W + DEFAULT.forward_ridge * (len(expected) + 1) * np.eye(len(expected))
        R = Y - W @ np.linalg.inv(G) @ (W.T @ Y)
        scores = {}
        for j in set(range(12)) - set(expected):
            b = sum((Z[:, j] @ r / np.linalg.norm(r)) ** 2 for r in R.T)
            scores[j] = evidence[j] * (40 * b + 4.0)
        expected.append(max(scores, key=scores.get))
    assert found.tolist() == expected


def test_ridge_residual_has_unit_columns():
    rng = np.random.default_rng(1)
    W = unit_columns(rng.normal(size=(30, 4)), make_rows(30, None))
    R = ridge_residual(W, rng.normal(size=(30, 2)), 0.02)
    assert np.square(R).sum(axis=0) == pytest.approx(1.0)
    assert np.abs(W.T @ R).max() < 0.1


def test_both_causes_come_early_where_one_has_more_evidence():
    second, alone = [], []
    for seed in range(6):
        X, y = factors(seed)
        for settings, found in ((DEFAULT, second), (ALONE, alone)):
            best = np.argsort(sift(ArraySource(X), y[:, None], settings=settings).ranking)[:16]
            found.append(np.sum((best >= 15) & (best < 30)))
    assert np.mean(second) > np.mean(alone) + 0.5


def test_selected_columns_and_their_scores_stay():
    X, y = factors(3)
    new = sift(ArraySource(X), y[:, None])
    old = sift(ArraySource(X), y[:, None], settings=ALONE)
    assert new.selected.tolist() == old.selected.tolist()
    k = len(old.selected)
    assert np.argsort(new.ranking)[:k].tolist() == np.argsort(old.ranking)[:k].tolist()
    assert np.sort(new.scores) == pytest.approx(np.sort(old.scores))  # in another order
    assert new.ranking.tolist() != old.ranking.tolist()
    assert np.all(np.diff(new.scores[np.argsort(new.ranking)]) <= 1e-7)


def test_order_is_that_of_the_evidence_where_nothing_is_left():
    rng = np.random.default_rng(4)
    X = standardised(rng.normal(size=(100, 60)))
    y = X[:, 3] + X[:, 9] ** 2 + 0.3 * rng.normal(size=100)
    new = sift(ArraySource(X), y[:, None])
    old = sift(ArraySource(X), y[:, None], settings=ALONE)
    assert new.scores.tolist() == old.scores.tolist()


def test_a_column_is_left_over_if_it_is_associated_and_not_selected():
    X, y = factors(5)
    found = make_sift(ArraySource(X), y[:, None]).run()
    table = X.shape[1], found.problem.response
    everything = np.arange(X.shape[1])
    assert is_left_over(found.marginal, np.array([0]), *table)
    assert not is_left_over(found.marginal, everything, *table)
    assert not is_left_over(0.01 * found.marginal, np.array([0]), *table)


def test_long_tables_keep_the_order_of_the_evidence():
    X, y = factors(6)
    little = replace(DEFAULT, limits=Limits(free_values=8 * 80 * 59))
    old = sift(ArraySource(X), y[:, None], settings=replace(little, left_over=-1.0))
    assert sift(ArraySource(X), y[:, None], settings=little).scores.tolist() == old.scores.tolist()


def test_scores_are_given_out_in_the_new_order():
    score = np.array([0.1, 1.5, 0.4, 0.2])
    out = in_this_order(score, np.array([1, 2, 3, 0]), np.array([1, 0]))
    assert out.tolist() == [0.4, 1.5, 0.2, 0.1]
