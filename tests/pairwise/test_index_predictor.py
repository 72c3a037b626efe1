"""Prediction through the directions: leave-one-out as if every sample were really left out."""

from dataclasses import replace

import numpy as np
import pytest

from gradsift.numerics.losses import Logistic, Multinomial
from gradsift.numerics.sampling import merge_rows
from gradsift.pairwise import single_index as room
from gradsift.pairwise.single_index import (
    IndexPredictor,
    LinearPredictor,
    Linked,
    average,
    calibrate,
    link_index,
    members,
    ridge_index,
    stacking_share,
)


def fit_index(X, y, B, share):
    """The predictor of an answer, on rows that may be copies of each other."""
    X, Y, share, _ = merge_rows(X, y[:, None], share)
    return link_index(X, Y[:, 0], B, share).predictor


@pytest.fixture
def single_index(rng):
    """60 samples, y = tanh of one direction; B knows the direction, and some noise."""
    X = rng.normal(size=(60, 5))
    beta = np.array([1.0, -1.0, 0.5, 0.0, 0.0])
    y = np.tanh(X @ beta) + 0.1 * rng.normal(size=60)
    B = np.outer(beta, rng.normal(size=7)) + 0.1 * rng.normal(size=(5, 7))
    return X, y, B, np.full(60, 1 / 60)


def test_leaving_out_by_formula_is_leaving_out(single_index, monkeypatch):
    X, y, B, _ = single_index
    share = np.random.default_rng(0).uniform(0.5, 2.0, 60)
    share /= share.sum()
    monkeypatch.setattr(room, "RIDGES", np.array([1e-2]))
    D = np.linalg.svd(B, full_matrices=False)[0]
    Z = X @ D
    total = share @ ((Z - share @ Z) ** 2).sum(axis=1)
    got = ridge_index(X, D, y, share).left_out[:, 0]
    for i in (0, 17, 59):
        w = np.delete(share, i)
        A = np.column_stack([np.ones(59), np.delete(Z, i, axis=0)])
        P = np.diag([0.0] + [1e-2 * total] * 5)
        coefficients = np.linalg.solve(A.T @ (w[:, None] * A) + P, A.T @ (w * np.delete(y, i)))
        by_hand = coefficients[0] + Z[i] @ coefficients[1:]
        # the mean of the others is replaced by that of all
        by_hand += share @ y - np.average(np.delete(y, i), weights=w)
        assert got[i] == pytest.approx(by_hand, abs=1e-9)


def is_straight(member):
    return isinstance(member, LinearPredictor) or np.isinf(member.scale)


def test_it_learns_direction_and_link(single_index, rng):
    X, y, B, share = single_index
    predict = fit_index(X, y, B, share)
    new = rng.normal(size=(500, 5))
    truth = np.tanh(new @ np.array([1.0, -1.0, 0.5, 0.0, 0.0]))
    assert np.var(truth - predict(new)[0]) < 0.05 * np.var(truth)
    straight = sum(w for w, g in zip(predict.weights, predict.members) if is_straight(g))
    assert straight < 0.1  # bent links have the say


def test_weights_are_copies(single_index):
    X, y, B, _ = single_index
    times = np.random.default_rng(0).integers(1, 4, 60)
    weighted = fit_index(X, y, B, times / times.sum())
    rows = np.repeat(np.arange(60), times)
    copied = fit_index(X[rows], y[rows], B, np.full(len(rows), 1 / len(rows)))
    np.testing.assert_allclose(weighted(X), copied(X), atol=1e-9)


def test_nothing_selected_is_the_mean():
    y, share = np.array([1.0, 2.0, 6.0]), np.array([0.5, 0.25, 0.25])
    predict = fit_index(np.zeros((3, 0)), y, np.zeros((0, 4)), share)
    assert predict(np.zeros((2, 0))).tolist() == [[2.5, 2.5]]


def test_noise_is_not_predicted_from_leaving_out(rng):
    """The mean without a sample gives that sample away: it must not pass for a link."""
    for _ in range(10):
        X, y = rng.normal(size=(40, 3)), rng.normal(size=40)
        predict = fit_index(X, y, rng.normal(size=(3, 6)), np.full(40, 1 / 40))
        assert np.abs(predict(rng.normal(size=(200, 3)))).max() < 2.5


def test_links_become_level_where_samples_left_out_do_not_speak_for_going_on(rng):
    """A step levels off, a parabola goes on; ridges go on whatever happens."""
    X, B, share = rng.normal(size=(100, 1)), np.ones((1, 3)), np.full(100, 0.01)
    ends = {}
    for name, y in (("step", np.tanh(4.0 * X[:, 0])), ("parabola", X[:, 0] + X[:, 0] ** 2)):
        found = members(X, y + 0.3 * rng.normal(size=100), B, share)
        ends[name] = found["link, power 1"].predictor.beyond
        ridge = found["ridge, power 1"].predictor
        assert ridge(np.array([[40.0]]))[0, 0] > 20.0 * ridge(np.array([[1.0]]))[0, 0]
    assert ends["step"] < 0.5 < ends["parabola"]
    link = found["link, power 1"].predictor
    at = np.array([[0.0], [5.0], [9.0]])
    halves = [replace(link, beyond=part).link(at)[:, 0] for part in (0.0, 0.5, 1.0)]
    np.testing.assert_allclose(halves[1], 0.5 * (halves[0] + halves[2]))
    assert halves[0][1] == halves[0][2]


def test_the_share_of_another_predictor_is_its_gain_less_half_a_standard_error():
    share = np.full(4, 0.25)
    base, other = np.array([2.0, 1.0, 2.0, 1.0]), np.array([1.0, 1.0, 1.0, 1.0])
    gain = np.array([3.0, 0.0, 3.0, 0.0])
    error = gain.std() / 2.0
    assert stacking_share(base, other, share) == pytest.approx(1.0 - 0.5 * error / 1.5)
    assert stacking_share(other, base, share) == 0.0
    assert stacking_share(base, base, share) == 0.0


def test_two_directions_that_bend_are_not_one_index(rng):
    X = rng.normal(size=(120, 4))
    y = X[:, 0] ** 2 + np.tanh(2 * X[:, 1]) + 0.1 * rng.normal(size=120)
    B = np.zeros((4, 6))
    B[0, 0], B[1, 1], B[2:, 2:4] = 1.0, 0.8, 0.02 * np.eye(2)
    predict = fit_index(X, y, B, np.full(120, 1 / 120))
    planes = [isinstance(g, IndexPredictor) and g.places.shape[1] > 1 for g in predict.members]
    assert predict.weights[planes].sum() > 0.9
    new = rng.normal(size=(400, 4))
    truth = new[:, 0] ** 2 + np.tanh(2 * new[:, 1])
    assert np.var(truth - predict(new)[0]) < 0.2 * np.var(truth)


def test_left_out_predictions_are_the_average_of_those_of_the_members(single_index):
    X, y, B, share = single_index
    found = link_index(X, y, B, share)
    mean_error = share @ (y - found.left_out) ** 2
    straight = ridge_index(X, np.linalg.svd(B, full_matrices=False)[0], y, share).left_out[:, 0]
    assert mean_error < share @ (y - straight) ** 2
    weights = found.predictor.weights
    assert weights.sum() == pytest.approx(1.0)
    assert len(weights) == len(found.predictor.members)


def test_weights_are_a_power_of_the_likelihood():
    """Twice the error on 60 samples: 2^(-.1 * 60 / 2) of the weight."""
    guess = LinearPredictor(np.ones((1, 1)), np.zeros(1))
    found = [Linked(error, guess, np.full(60, error)) for error in (1.0, 2.0, 0.0)]
    share = np.full(60, 1 / 60)
    one, two = average(found[:2], share).predictor.weights
    assert two / one == pytest.approx(0.125)
    # nothing is left to a predictor without an error, and nothing overflows
    assert average(found, share).predictor.weights.tolist() == pytest.approx([0.0, 0.0, 1.0])
    assert average([Linked(np.inf, guess, share)], share).predictor.weights.tolist() == [1.0]


def test_scores_are_calibrated(rng):
    """Log odds of 3 z + 1 from any multiple of z, and none where nothing is known."""
    n = 4_000
    z, share = rng.normal(size=n), np.full(n, 1 / n)
    label = np.where(rng.uniform(size=n) < 1 / (1 + np.exp(-3 * z - 1)), 1.0, -1.0)[None]
    intercept, slope = calibrate(0.1 * z[None] + 5.0, label, share, Logistic())
    assert slope == pytest.approx(30.0, rel=0.1)
    assert intercept[0] + 5.0 * slope == pytest.approx(1.0, abs=0.15)
    intercept, slope = calibrate(np.zeros((1, n)), label, share, Logistic())
    assert slope == 0.0
    assert intercept[0] == pytest.approx(np.log((label > 0).mean() / (label < 0).mean()))
    assert calibrate(-z[None], label, share, Logistic())[1] == 0.0  # no score against the guess


def test_labels_without_an_error_have_finite_scores():
    guess = np.repeat(np.eye(3), 5, axis=1)
    intercept, slope = calibrate(guess, guess, np.full(15, 1 / 15), Multinomial())
    assert 1.0 < slope < 50.0
    np.testing.assert_allclose(intercept, intercept[0])
