"""Gains over a constant: leave-one-out scores and slopes, against formulas written out."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import standard

from gradsift.refit import refit_regression
from gradsift.refit.log_scores import (
    LikelihoodScore,
    NumberScore,
    best_slope,
    chance_score,
    log_choices,
    softmax_slope,
)
from gradsift.refit.settings import LABELS, NUMBERS
from gradsift.responses import Counts

SLOPES, FACTORS = np.array(LABELS.slopes), np.array(LABELS.softmax_factors)


def test_leave_one_out_gain_is_that_of_leaving_out_each_row():
    rng = np.random.default_rng(6)
    X = standard(rng.normal(size=(20, 2)))
    y = np.sin(X[:, 0]) + 0.2 * rng.normal(size=20)
    y -= y.mean()
    refit = refit_regression(X, y)
    score = null = 0.0
    K = refit.kernel(X, X)
    scale = y @ np.linalg.solve(K + refit.penalty * np.eye(20), y) / 20
    for i in range(20):
        rest = np.arange(20) != i
        A = K[np.ix_(rest, rest)] + refit.penalty * np.eye(19)
        error = y[i] - K[i, rest] @ np.linalg.solve(A, y[rest])
        spread = K[i, i] + refit.penalty - K[i, rest] @ np.linalg.solve(A, K[rest, i])
        variance = scale * spread
        score -= 0.5 * (np.log(variance) + error**2 / variance)
        flat, away = y @ y / 20 / 0.95, y[i] - y[rest].mean()
        null -= 0.5 * (np.log(flat) + away**2 / flat)
    found = NumberScore.of(y, None, refit, NUMBERS)
    assert found.of_refit(refit, X) == pytest.approx(score - null, rel=1e-6)


def test_slope_makes_log_odds():
    rng = np.random.default_rng(7)
    guess = rng.normal(size=(20_000, 1))
    T = (rng.random((20_000, 1)) < 1 / (1 + np.exp(-2.5 * guess))).astype(float)
    assert best_slope(guess[None], T, np.ones(20_000), SLOPES)[0] == pytest.approx(2.5, rel=0.1)


def test_the_score_of_a_slope_is_the_mean_over_rounds():
    rng = np.random.default_rng(10)
    guess, T = rng.normal(size=(3, 50, 2)), rng.integers(0, 2, size=(50, 2)).astype(float)
    slope, score = best_slope(guess, T, np.ones(50), SLOPES)
    each = [np.log(1 / (1 + np.exp(-(2 * T - 1) * slope * one))).sum() for one in guess]
    assert score == pytest.approx(np.mean(each))


def test_the_slope_of_a_softmax_makes_chances():
    rng = np.random.default_rng(12)
    guess = rng.normal(size=(20_000, 4))
    chances = np.exp(1.5 * guess)
    chances /= chances.sum(axis=1, keepdims=True)
    labels = (rng.random(20_000)[:, None] > chances.cumsum(axis=1)).sum(axis=1)
    T = (labels[:, None] == np.arange(4)).astype(float)
    found = softmax_slope(guess[None], T, np.ones(20_000), 3.0 * FACTORS)
    assert found == pytest.approx(1.5, rel=0.06)
    assert softmax_slope(guess[None], T, np.ones(20_000), FACTORS) == 1.0


def test_two_classes_that_are_alike_are_not_told_too_boldly():
    """Sure to be none of the others, a coin between the two: one against the rest is bolder."""
    rng = np.random.default_rng(13)
    labels = rng.integers(0, 5, 2_000)
    T = (labels[:, None] == np.arange(5)).astype(float)
    pair = labels < 2
    guess = 2.0 * T - 1.0 + 0.2 * rng.normal(size=T.shape)
    guess[pair, :2] = 0.5 * rng.normal(size=(pair.sum(), 2))
    guess[pair, :2] -= guess[pair, :2].mean(axis=1, keepdims=True)
    weights = np.ones(2_000)
    bold, _ = best_slope(guess[None], T, weights, SLOPES)
    assert softmax_slope(guess[None], T, weights, bold * FACTORS) < 0.9 * bold


def test_log_choices():
    assert log_choices(10, 3) == pytest.approx(np.log(120))
    assert log_choices(1_000_000, 0) == 0.0


def test_slopes_stay_finite_where_labels_are_separated():
    guess = np.repeat([-1.0, 1.0], 10)[:, None]
    T = (guess > 0).astype(float)
    slope, _ = best_slope(guess[None], T, np.ones(20), SLOPES)
    assert slope == pytest.approx(np.log(11), rel=0.1)  # believed with chance 11/12


def test_chances_are_those_of_the_other_rows():
    T = np.array([[1.0], [1.0], [0.0]])
    chances = np.array([1.5 / 3, 1.5 / 3, 2.5 / 3])
    wanted = np.log(chances[0]) + np.log(chances[1]) + np.log(1 - chances[2])
    assert chance_score(T, np.ones(3)) == pytest.approx(wanted)


def test_gains_of_a_likelihood_are_log_likelihoods_of_left_out_rows():
    rng = np.random.default_rng(13)
    X = standard(rng.normal(size=(60, 2)))
    response = Counts.of(rng.poisson(np.exp(X[:, 0])))
    ones, none = np.ones(60), np.zeros((60, 1))
    eta = none
    for _ in range(5):
        refit = refit_regression(X, response.working(eta, ones)[:, 0], robust=False)
        eta = refit.value(X)
    found = LikelihoodScore.of(response, none, None, refit, NUMBERS)

    def above_constant(at):
        return (response.deviance(none, ones) - response.deviance(at, ones)) / 2

    guess = 0.1 * rng.normal(size=(2, 60, 1))
    gain, unit, level = found.of_folds(guess)
    assert gain == pytest.approx(np.mean([above_constant(level + unit * g) for g in guess]))
    assert 0 < found.of_refit(refit, X) < above_constant(eta)
    assert found.of_rows(guess[0], guess[0] ** 2).gain == pytest.approx(
        above_constant(level + unit * guess[0])
    )
