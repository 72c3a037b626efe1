"""The ridge on screened columns and its folds, against scikit-learn's and formulas written out."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from gradsift.data import ArraySource, Source
from gradsift.numerics.ridge import RowProducts, SpectralRidge
from gradsift.refit import all_columns as module
from gradsift.refit.all_columns import (
    assign_folds,
    distinct_rows,
    each_gram,
    own_priors,
    repeated_cv,
    row_grams,
    screened_columns,
    training_weights,
)
from gradsift.refit.log_scores import normal_score
from gradsift.refit.settings import NUMBERS, RefitSettings

FOLDS = NUMBERS.folds
ETA = np.array(NUMBERS.ridge_noise)


def folds_of(Y, Z):
    return assign_folds(distinct_rows(ArraySource(Z), Y, np.ones(len(Y))))


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
    np.testing.assert_array_equal(folds_of(-Y, -key[:, ::-1]), folds)


def test_rows_of_one_response_are_copies_only_if_their_columns_are():
    """In a design of two levels all rows are of the same length, and none is a copy."""
    Z = np.array(list(product([-1.0, 1.0], repeat=4)))
    assert len(set(distinct_rows(ArraySource(Z), np.sign(Z[:, :1]), np.ones(16)))) == 16


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
        np.testing.assert_allclose(gram.gram, A @ A.T, atol=1e-12)


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
        np.testing.assert_allclose(a.gram, b.gram, atol=1e-12)
    union = np.unique(np.concatenate([s.index for s in sets]))
    assert reads == [len(union)]


# ------------------------------------------------ the ridge
def test_few_columns_give_the_same_ridge_as_their_gram_matrix():
    """Repeated columns, a fold in which none stands out, and weights included."""
    rng = np.random.default_rng(6)
    A, Y = rng.normal(size=(30, 5)), rng.normal(size=(30, 1))
    weights = rng.integers(0, 3, size=30).astype(float)
    held = np.flatnonzero(weights == 0)
    for F in (A, np.column_stack([A, A]), A[:, :0]):
        both = RowProducts(F, True), RowProducts(F @ F.T, False)
        thin, full = (SpectralRidge.of(products, weights, Y) for products in both)
        found = (ridge.held_out(held, ETA) for ridge in (thin, full))
        for one, two in zip(*found, strict=True):
            np.testing.assert_allclose(one, two, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(F.T @ thin.dual(0.1), F.T @ full.dual(0.1), atol=1e-9)


@pytest.mark.parametrize("counted", [False, True])
@pytest.mark.parametrize("k", [40, 6])
def test_held_out_predictions_are_those_of_ridge(counted, k):
    rng = np.random.default_rng(4)
    A, Y = rng.normal(size=(25, k)) + 2.0, rng.normal(size=(25, 2))
    weights = rng.integers(1, 4, size=25).astype(float) if counted else np.ones(25)
    held = np.array([3, 9, 20])
    weights[held] = 0.0
    products = RowProducts(A, True) if k < 25 else RowProducts(A @ A.T, False)
    fit = SpectralRidge.of(products, weights, Y)
    guess, _ = fit.held_out(held, ETA)
    train = weights > 0
    for at in (10, 60, 120):
        ridge = Ridge(alpha=ETA[at] * fit.size)
        ridge.fit(A[train], Y[train], sample_weight=weights[train])
        np.testing.assert_allclose(guess[at], ridge.predict(A[held]), atol=1e-6)
        dual = fit.dual(float(ETA[at]))
        np.testing.assert_allclose(fit.mean + fit.centred.gram[held] @ dual, guess[at], atol=1e-9)


@pytest.mark.parametrize("factored", [False, True])
def test_predictive_variance_is_that_of_the_conditional_normal(factored):
    rng = np.random.default_rng(5)
    A, Y = rng.normal(size=(12, 6)), rng.normal(size=(12, 1))
    weights = np.ones(12)
    weights[0] = 0.0
    fit = SpectralRidge.of(RowProducts(A if factored else A @ A.T, factored), weights, Y)
    _, variance = fit.held_out(np.array([0]), ETA)
    at, eta = 80, ETA[80]
    whole = fit.centred.gram / fit.size
    K, k = whole[1:, 1:] + eta * np.eye(11), whole[0, 1:]
    centred = Y[1:, 0] - Y[1:, 0].mean()
    scale = centred @ np.linalg.solve(K, centred) / 11
    spread = whole[0, 0] + eta * (1 + 1 / 11) - k @ np.linalg.solve(K, k)
    assert variance[at, 0, 0] == pytest.approx(scale * spread)


def test_rehearsal_averages_its_rounds(many_effects):
    """Score and choice of the noise ratio from all rounds: each round alone, written out."""
    Z, y = many_effects
    Y, weights = y[:, None] - y.mean(), np.ones(60)
    folds = folds_of(Y, Z)[:2]
    W = training_weights(folds, weights)
    grams = row_grams(ArraySource(Z), screened_columns(ArraySource(Z), W, Y))
    found = repeated_cv(grams, folds, W, Y, weights)
    score, null = np.zeros(len(ETA)), 0.0
    for at in range(2 * FOLDS):
        held = np.flatnonzero(W[at] == 0)
        guess, variance = SpectralRidge.of(grams[at], W[at], Y).held_out(held, ETA)
        score += normal_score(Y[held] - guess, variance, weights[held]) / 2
        rest = Y[W[at] > 0]
        flat = rest.var() * (1 + 1 / len(rest))
        null += normal_score(Y[held] - rest.mean(), np.full((1, 1), flat), weights[held]) / 2
        best = int(np.abs(ETA - found.noise_ratio).argmin())
        np.testing.assert_allclose(found.guess[at // FOLDS, held], guess[best])
    assert found.noise_ratio == ETA[score.argmax()]
    assert found.gain == pytest.approx(score.max() - null)
