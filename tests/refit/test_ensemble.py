"""Predictors on all columns: the ridge against scikit-learn's and formulas written out, shares
where there should be some and where there should be none.
"""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from gradsift.data import ArraySource, Source
from gradsift.refit import (
    ensemble_classification,
    ensemble_regression,
    refit_classification,
    refit_regression,
)
from gradsift.refit import repeated_cv as module
from gradsift.refit.ensemble import LinearMember, stacking_shares
from gradsift.refit.evidence import Rows
from gradsift.refit.gains import best_slope, chance_score, leave_one_out_gain, log_choices
from gradsift.refit.repeated_cv import (
    LOG_NOISE,
    GramRidge,
    assign_folds,
    distinct_rows,
    each_gram,
    normal_score,
    own_priors,
    repeated_cv,
    row_grams,
    screened_columns,
    training_weights,
)
from gradsift.refit.settings import NUMBERS, RefitSettings

FOLDS = NUMBERS.folds


def standard(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def nothing_selected(Z, y):
    return refit_regression(Z[:, :0], y)


def folds_of(Y, Z):
    return assign_folds(distinct_rows(ArraySource(Z), Y))


@pytest.fixture
def many_effects():
    """60 rows, 300 columns, three hidden factors seen through all of them."""
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(60, 3))
    Z = standard(hidden @ rng.normal(size=(3, 300)) + rng.normal(size=(60, 300)))
    return Z, hidden @ [1.0, 0.7, -0.5] + 0.3 * rng.normal(size=60)


# ------------------------------------------------ folds
def test_folds_hold_all_of_the_range_and_keep_copies_together():
    rng = np.random.default_rng(1)
    key, Y = rng.normal(size=(40, 3)), rng.normal(size=(40, 1))
    folds = folds_of(Y, key)
    ranks = np.argsort(np.argsort(Y[:, 0]))
    for fold in folds:
        assert np.bincount(fold, minlength=FOLDS).tolist() == [4] * FOLDS
        assert all(np.ptp(ranks[fold == f]) > 20 for f in range(FOLDS))
    twice = np.repeat(np.arange(40), rng.integers(1, 4, size=40))
    shuffled = rng.permutation(twice)
    again = folds_of(Y[shuffled], key[shuffled])
    np.testing.assert_array_equal(again, folds[:, shuffled])


@pytest.mark.parametrize(("n", "rounds"), [(12, 4), (60, 4), (99, 3), (100, 2), (200, 1), (500, 1)])
def test_few_rows_are_dealt_several_times(n, rounds):
    Y = np.random.default_rng(9).normal(size=(n, 1))
    folds = folds_of(Y, Y)
    assert folds.shape == (rounds, n)
    assert all(set(fold) == set(range(FOLDS)) for fold in folds)
    assert len({tuple(fold) for fold in folds}) == rounds


def test_training_weights_hold_out_one_fold_each():
    weights = np.arange(1.0, FOLDS + 2)
    folds = np.array([[*range(FOLDS), 0], [*range(FOLDS)[::-1], 1]])
    W = training_weights(folds, weights)
    assert W.shape == (2 * FOLDS + 1, FOLDS + 1)
    assert np.flatnonzero(W[0] == 0).tolist() == [0, FOLDS]
    assert np.flatnonzero(W[FOLDS + 1] == 0).tolist() == [FOLDS - 2, FOLDS]
    assert W[-1].tolist() == weights.tolist()


# ------------------------------------------------ columns that stand out
@pytest.mark.parametrize("q", [1, 3])
def test_priors_are_squared_correlations_above_chance(q):
    rng = np.random.default_rng(2)
    Z, Y = rng.normal(size=(30, 50)), rng.normal(size=(30, q))
    Y += Z[:, :q]
    W = training_weights(folds_of(Y, Z), np.ones(30))
    for weights, found in zip(W, own_priors(W, Y, Z), strict=True):
        A, B = Z[weights > 0], Y[weights > 0]
        A, B = A - A.mean(axis=0), B - B.mean(axis=0)
        r2 = ((A.T @ B) ** 2).sum(axis=1) / (A**2).sum(axis=0) / (B**2).sum()
        wanted = np.maximum(r2 - NUMBERS.ridge_cut / (len(A) - 1), 0)
        assert found.index.tolist() == np.flatnonzero(wanted).tolist()
        np.testing.assert_allclose(found.prior, (wanted / A.var(axis=0))[found.index], rtol=1e-9)


def test_about_one_column_of_noise_in_a_hundred_stands_out():
    rng = np.random.default_rng(3)
    Z, y = rng.normal(size=(100, 20_000)), rng.normal(size=(100, 1))
    (found,) = own_priors(np.ones((1, 100)), y, Z)
    assert 0.008 < len(found.index) / 20_000 < 0.017


def test_constant_columns_never_stand_out():
    Z = np.ones((20, 2))
    Z[0, 1] = 5.0  # constant as soon as the first row is held out
    y = np.arange(20.0)[:, None]
    W = np.ones((2, 20))
    W[0, 0] = 0.0
    held_out, whole = own_priors(W, y, Z)
    assert held_out.index.tolist() == []
    assert 0 not in whole.index


def test_the_most_outstanding_are_kept(many_effects):
    Z, y = many_effects
    W = np.ones((1, 60))
    (everything,) = screened_columns(ArraySource(Z), W, y[:, None])
    settings = RefitSettings(ridge_columns=10)
    (few,) = screened_columns(ArraySource(Z), W, y[:, None], settings)
    best = np.sort(everything.index[np.argsort(-everything.prior)[:10]])
    assert few.index.tolist() == best.tolist()


def test_grams_are_those_of_the_weighed_columns(monkeypatch, many_effects):
    monkeypatch.setattr(module, "CHUNK", 7)
    Z, y = many_effects
    W = training_weights(folds_of(y[:, None], Z), np.ones(60))
    sets = screened_columns(ArraySource(Z), W, y[:, None])
    for gram, s in zip(row_grams(ArraySource(Z), sets), sets, strict=True):
        A = Z[:, s.index] * np.sqrt(s.prior)
        np.testing.assert_allclose(gram, A @ A.T, atol=1e-12)


def test_columns_on_disk_are_read_once_for_all_grams(many_effects):
    """In memory they are made one at a time: the same matrices, without holding them all."""
    Z, y = many_effects
    reads = []

    class OnDisk(Source):
        shape = Z.shape

        def blocks(self):
            return ArraySource(Z).blocks()

        def columns(self, index):
            reads.append(len(index))
            return Z[:, index]

    W = training_weights(folds_of(y[:, None], Z), np.ones(60))
    sets = screened_columns(ArraySource(Z), W, y[:, None])
    for a, b in zip(each_gram(ArraySource(Z), sets), each_gram(OnDisk(), sets), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12)
    union = np.unique(np.concatenate([s.index for s in sets]))
    assert reads == [len(union)]


# ------------------------------------------------ the ridge
@pytest.mark.parametrize("counted", [False, True])
def test_held_out_predictions_are_those_of_ridge(counted):
    rng = np.random.default_rng(4)
    A, Y = rng.normal(size=(25, 40)) + 2.0, rng.normal(size=(25, 2))
    weights = rng.integers(1, 4, size=25).astype(float) if counted else np.ones(25)
    held = np.array([3, 9, 20])
    weights[held] = 0.0
    fit = GramRidge.of(A @ A.T, weights, Y)
    guess, _ = fit.held_out(held)
    train = weights > 0
    for at in (10, 60, 120):
        ridge = Ridge(alpha=np.exp(LOG_NOISE[at]) * fit.size)
        ridge.fit(A[train], Y[train], sample_weight=weights[train])
        np.testing.assert_allclose(guess[at], ridge.predict(A[held]), atol=1e-6)
        dual = fit.dual(float(np.exp(LOG_NOISE[at])))
        np.testing.assert_allclose(fit.mean + fit.K[held] @ dual, guess[at], atol=1e-9)


def test_predictive_variance_is_that_of_the_conditional_normal():
    rng = np.random.default_rng(5)
    A, Y = rng.normal(size=(12, 6)), rng.normal(size=(12, 1))
    weights = np.ones(12)
    weights[0] = 0.0
    fit = GramRidge.of(A @ A.T, weights, Y)
    _, variance = fit.held_out(np.array([0]))
    at, eta = 80, np.exp(LOG_NOISE[80])
    K, k = fit.K[1:, 1:] + eta * np.eye(11), fit.K[0, 1:]
    centred = Y[1:, 0] - Y[1:, 0].mean()
    scale = centred @ np.linalg.solve(K, centred) / 11
    spread = fit.K[0, 0] + eta * (1 + 1 / 11) - k @ np.linalg.solve(K, k)
    assert variance[at, 0, 0] == pytest.approx(scale * spread)


# ------------------------------------------------ gains
def test_leave_one_out_gain_is_that_of_leaving_out_each_row():
    rng = np.random.default_rng(6)
    X = standard(rng.normal(size=(20, 2)))
    y = np.sin(X[:, 0]) + 0.2 * rng.normal(size=20)
    y -= y.mean()
    refit = refit_regression(X, y)
    score = null = 0.0
    K = refit.kernel(X, X)
    scale = y @ np.linalg.solve(K + refit.noise_ratio * np.eye(20), y) / 20
    for i in range(20):
        rest = np.arange(20) != i
        A = K[np.ix_(rest, rest)] + refit.noise_ratio * np.eye(19)
        error = y[i] - K[i, rest] @ np.linalg.solve(A, y[rest])
        spread = K[i, i] + refit.noise_ratio - K[i, rest] @ np.linalg.solve(A, K[rest, i])
        variance = scale * spread
        score -= 0.5 * (np.log(variance) + error**2 / variance)
        flat, away = y @ y / 20 / 0.95, y[i] - y[rest].mean()
        null -= 0.5 * (np.log(flat) + away**2 / flat)
    rows = Rows(X, y[:, None], np.ones(20))
    assert leave_one_out_gain(refit, rows) == pytest.approx(score - null, rel=1e-6)


def test_slope_makes_log_odds():
    rng = np.random.default_rng(7)
    guess = rng.normal(size=(20_000, 1))
    T = (rng.random((20_000, 1)) < 1 / (1 + np.exp(-2.5 * guess))).astype(float)
    assert best_slope(guess[None], T, np.ones(20_000))[0] == pytest.approx(2.5, rel=0.1)


def test_the_score_of_a_slope_is_the_mean_over_rounds():
    rng = np.random.default_rng(10)
    guess, T = rng.normal(size=(3, 50, 2)), rng.integers(0, 2, size=(50, 2)).astype(float)
    slope, score = best_slope(guess, T, np.ones(50))
    each = [np.log(1 / (1 + np.exp(-(2 * T - 1) * slope * one))).sum() for one in guess]
    assert score == pytest.approx(np.mean(each))


def test_rehearsal_averages_its_rounds(many_effects):
    """Score and choice of the noise ratio from all rounds: each round alone, written out."""
    Z, y = many_effects
    Y, weights = y[:, None] - y.mean(), np.ones(60)
    folds = folds_of(Y, Z)[:2]
    W = training_weights(folds, weights)
    grams = row_grams(ArraySource(Z), screened_columns(ArraySource(Z), W, Y))
    found = repeated_cv(grams, folds, W, Y, weights)
    score, null = np.zeros(len(LOG_NOISE)), 0.0
    for at in range(2 * FOLDS):
        held = np.flatnonzero(W[at] == 0)
        guess, variance = GramRidge.of(grams[at], W[at], Y).held_out(held)
        score += normal_score(Y[held] - guess, variance, weights[held]) / 2
        rest = Y[W[at] > 0]
        flat = rest.var() * (1 + 1 / len(rest))
        null += normal_score(Y[held] - rest.mean(), np.full((1, 1), flat), weights[held]) / 2
        best = int(np.abs(np.exp(LOG_NOISE) - found.noise_ratio).argmin())
        np.testing.assert_allclose(found.guess[at // FOLDS, held], guess[best])
    assert found.noise_ratio == np.exp(LOG_NOISE[score.argmax()])
    assert found.gain == pytest.approx(score.max() - null)


def test_log_choices():
    assert log_choices(10, 3) == pytest.approx(np.log(120))
    assert log_choices(1_000_000, 0) == 0.0


def test_slopes_stay_finite_where_labels_are_separated():
    guess = np.repeat([-1.0, 1.0], 10)[:, None]
    T = (guess > 0).astype(float)
    slope, _ = best_slope(guess[None], T, np.ones(20))
    assert slope == pytest.approx(np.log(11), rel=0.1)  # believed with chance 11/12


def test_chances_are_those_of_the_other_rows():
    T = np.array([[1.0], [1.0], [0.0]])
    chances = np.array([1.5 / 3, 1.5 / 3, 2.5 / 3])
    wanted = np.log(chances[0]) + np.log(chances[1]) + np.log(1 - chances[2])
    assert chance_score(T, np.ones(3)) == pytest.approx(wanted)


def test_shares_follow_the_gains():
    shares = stacking_shares(np.array([20.0, 16.0, 5.9]), 20.0, NUMBERS)
    odds = np.exp(0.25 * np.array([20.0, 16.0, 20.0]))
    np.testing.assert_allclose(shares, [*(odds / odds.sum())[:2], 0.0])
    assert stacking_shares(np.array([5.0, 4.0]), -50.0, NUMBERS).tolist() == [0.0, 0.0]
    lone = stacking_shares(np.array([100.0, 80.0]), 0.0, NUMBERS)
    assert lone.tolist() == [1.0, 0.0]  # parts too small to matter are left out


# ------------------------------------------------ members and their shares
LINEAR = RefitSettings(kernel_columns=0)
"""No kernel ridge."""


def the_ridge(ensemble) -> LinearMember:
    (member,) = ensemble.members
    assert member.kind == "ridge"
    return member


def test_regression_weights_are_those_of_ridge_on_weighed_columns(many_effects):
    Z, y = many_effects
    found = ensemble_regression(
        ArraySource(Z), Z[:, :0], y, nothing_selected(Z, y), settings=LINEAR
    )
    ridge = the_ridge(found)
    Z = np.clip(Z, -NUMBERS.cut, NUMBERS.cut)
    (screened,) = screened_columns(ArraySource(Z), np.ones((1, 60)), y[:, None])
    assert ridge.index.tolist() == screened.index.tolist()
    A = Z[:, screened.index] * np.sqrt(screened.prior)
    size = (A**2).sum() / 60
    fits = [Ridge(alpha=np.exp(eta) * size).fit(A, y) for eta in LOG_NOISE]
    guess = ridge.scores(ArraySource(Z))[:, 0]
    assert min(np.abs(fit.predict(A) - guess).max() for fit in fits) < 1e-6
    assert found.shares[0] > 0.9


@pytest.mark.parametrize("settings", [LINEAR, RefitSettings(ridge_rows=0)], ids=["ridge", "kernel"])
def test_each_predicts_new_rows_where_few_columns_cannot(many_effects, settings):
    Z, y = many_effects
    train, test = np.arange(45), np.arange(45, 60)
    refit = nothing_selected(Z[train], y[train])
    found = ensemble_regression(
        ArraySource(Z[train]), Z[train][:, :0], y[train], refit, settings=settings
    )
    (member,) = found.members
    guess = member.scores(ArraySource(Z[test]))[:, 0]
    assert 1 - ((y[test] - guess) ** 2).mean() / y[test].var() > 0.7


def test_labels_and_their_probabilities(many_effects):
    Z, y = many_effects
    labels = (y > 0).astype(int)
    refit = refit_classification(Z[:, :0], labels, n_classes=2)
    found = ensemble_classification(ArraySource(Z), Z[:, :0], labels, refit)
    assert {member.kind for member in found.members} == {"ridge", "kernel ridge"}
    for member, gain in zip(found.members, found.gains, strict=True):
        odds = member.scores(ArraySource(Z))
        assert odds.shape == (60, 1)
        assert ((odds[:, 0] > 0) == labels).mean() > 0.9
        assert 0 < gain < 60 * np.log(2)


def test_many_classes_have_one_score_each(many_effects):
    Z, y = many_effects
    labels = np.digitize(y, np.quantile(y, [1 / 3, 2 / 3]))
    refit = refit_classification(Z[:, :0], labels, n_classes=3)
    found = ensemble_classification(ArraySource(Z), Z[:, :0], labels, refit)
    for member in found.members:
        scores = member.scores(ArraySource(Z))
        assert scores.shape == (60, 3)
        assert (scores.argmax(axis=1) == labels).mean() > 0.7
    blended = found.blend(refit.decision_function(Z[:, :0]), ArraySource(Z))
    assert blended.shape == (60, 3)


def test_a_blend_is_the_average_in_the_given_shares(many_effects):
    Z, y = many_effects
    found = ensemble_regression(ArraySource(Z), Z[:, :0], y, nothing_selected(Z, y))
    sparse = np.arange(60.0)
    wanted = (1 - sum(found.shares)) * sparse
    for member, share in zip(found.members, found.shares, strict=True):
        wanted = wanted + share * member.scores(ArraySource(Z))[:, 0]
    np.testing.assert_allclose(found.blend(sparse, ArraySource(Z)), wanted)


def test_a_row_counted_twice_is_the_row_twice(many_effects):
    Z, y = many_effects
    counts = np.random.default_rng(8).integers(1, 4, size=60)
    twice = np.repeat(np.arange(60), counts)
    one = ensemble_regression(
        ArraySource(Z), Z[:, :0], y, nothing_selected(Z, y), counts.astype(float)
    )
    other = ensemble_regression(
        ArraySource(Z[twice]), Z[twice][:, :0], y[twice], nothing_selected(Z[twice], y[twice])
    )
    assert one.gains == pytest.approx(other.gains)
    np.testing.assert_allclose(
        one.blend(0 * y, ArraySource(Z)), other.blend(0 * y, ArraySource(Z)), atol=1e-6 * np.ptp(y)
    )


def test_the_scale_and_origin_of_the_response_do_not_matter(many_effects):
    Z, y = many_effects
    one = ensemble_regression(ArraySource(Z), Z[:, :0], y, nothing_selected(Z, y))
    far = 1e4 + 1e-3 * y
    other = ensemble_regression(ArraySource(Z), Z[:, :0], far, nothing_selected(Z, far))
    assert other.gains == pytest.approx(one.gains, rel=1e-6)
    for a, b in zip(one.members, other.members, strict=True):
        np.testing.assert_allclose(
            (b.scores(ArraySource(Z)) - 1e4) * 1e3, a.scores(ArraySource(Z)), atol=1e-5
        )


@pytest.mark.parametrize("seed", range(4))
def test_few_strong_effects_lose_nothing_by_it(seed):
    """Linear ones a ridge finds too, so it may have a share; what it cannot know gives it none."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(280, 400))
    linear = 2 * Z[:, 0] - Z[:, 1]
    y = linear + 0.3 * rng.normal(size=280)
    train, test = slice(80), slice(80, None)
    refit = refit_regression(Z[train, :2], y[train])
    sparse = refit.predict(Z[test, :2])
    found = ensemble_regression(ArraySource(Z[train]), Z[train, :2], y[train], refit)
    guess = sparse if found is None else found.blend(sparse, ArraySource(Z[test]))
    errors = [((guess - linear[test]) ** 2).mean() for guess in (guess, sparse)]
    assert errors[0] < errors[1] + 0.01 * linear.var()

    y = Z[:, 0] ** 2 - 2 * np.abs(Z[:, 1]) + 0.3 * rng.normal(size=280)
    refit = refit_regression(Z[train, :2], y[train])
    assert ensemble_regression(ArraySource(Z[train]), Z[train, :2], y[train], refit) is None


@pytest.mark.parametrize(("n", "p"), [(40, 300), (100, 20)])
def test_noise_leaves_them_no_share(n, p):
    """One table in a hundred may: three in 60 would be a sign that something is wrong."""
    shares = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        Z, y = rng.normal(size=(n, p)), rng.normal(size=n)
        found = ensemble_regression(ArraySource(Z), Z[:, :0], y, nothing_selected(Z, y))
        shares += found is not None
    assert shares <= 2


def test_they_stay_away_from_a_handful_of_rows(many_effects):
    Z, y = many_effects
    Z, y = Z[:8], y[:8]
    assert ensemble_regression(ArraySource(Z), Z[:, :0], y, nothing_selected(Z, y)) is None
