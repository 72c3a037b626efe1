"""The kernel ridge on all columns: leave-one-out against leaving out, weights against copies,
landmarks against all rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge

from gradsift.data import ArraySource
from gradsift.numerics.ridge import RowProducts, SpectralRidge
from gradsift.refit.all_columns import (
    KernelColumns,
    absolute_distances,
    gaussian,
    landmark_features,
    laplace,
)
from gradsift.refit.log_scores import NumberScore
from gradsift.refit.settings import NUMBERS, RefitSettings

FORMS = ("gaussian", "laplace")


def squared_distances(A, B):
    return ((A[:, None] - B[None]) ** 2).sum(axis=-1)


def brute_kernel(form, A, B, length):
    """Sums written out."""
    if form == "gaussian":
        return gaussian(squared_distances(A, B), length, A.shape[1])
    return laplace(np.abs(A[:, None] - B[None]).sum(axis=-1), length, A.shape[1])


def fit_kernel(Z, Y, settings=None, order=None, form="gaussian"):
    weights = np.ones(len(Z))
    order = np.arange(len(Z)) if order is None else order
    columns = KernelColumns.of(ArraySource(Z), weights, order, settings or RefitSettings())
    return columns.fit(form, score_of(Y))


def score_of(Y):
    return NumberScore(Y, np.ones(len(Y)), 1.0, 0.0, NUMBERS)


@pytest.fixture
def curved():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(60, 4))
    y = np.sin(2 * Z[:, 0]) + Z[:, 1] + 0.2 * rng.normal(size=60)
    return Z, y[:, None]


def without_one(K, Y, weights, noise_ratio, i):
    """The prediction of row i by a fit without it: sums written out."""
    w = weights.copy()
    w[i] = 0.0
    kept = w > 0
    share = w[kept] / w[kept].sum()
    mean = share @ Y[kept]
    inner = K[np.ix_(kept, kept)]
    middle = inner @ share
    centred = inner - middle[:, None] - middle + share @ middle
    alpha = np.linalg.solve(centred + noise_ratio * np.diag(1 / w[kept]), Y[kept] - mean)
    k = K[i, kept]
    return mean + (k - k @ share - middle + share @ middle) @ alpha


@pytest.mark.parametrize("counted", [False, True])
def test_leaving_one_out_is_fitting_without_it(curved, counted):
    Z, Y = curved
    rng = np.random.default_rng(1)
    weights = rng.choice([0.4, 1.0, 2.0, 3.0], 60) if counted else np.ones(60)
    K = gaussian(squared_distances(Z, Z), 1.0, 4)
    ratios = np.array([0.3, 2.0])
    ridge = SpectralRidge.of(RowProducts(K, False), weights, Y)
    for ratio, guess in zip(ratios, ridge.leave_one_out(ratios)[0], strict=True):
        wanted = [without_one(K, Y, weights, ratio * ridge.size, i) for i in range(60)]
        np.testing.assert_allclose(guess, wanted, atol=1e-9)


def test_landmarks_at_all_rows_change_nothing(curved):
    Z, Y = curved
    K = gaussian(squared_distances(Z, Z), 1.0, 4)
    weights = np.random.default_rng(2).uniform(0.5, 2.0, 60)
    ratio = np.array([0.3])
    every = RowProducts(K, False), RowProducts(K @ landmark_features(K), True)
    ridges = [SpectralRidge.of(products, weights, Y) for products in every]
    one, other = (ridge.leave_one_out(ratio) for ridge in ridges)
    np.testing.assert_allclose(other[0], one[0], atol=1e-6)
    np.testing.assert_allclose(other[1], one[1], atol=1e-6)


@pytest.mark.parametrize("form", FORMS)
def test_it_is_the_kernel_ridge_of_scikit_learn(curved, form):
    """Which has no intercept: columns and response are centred in feature space for it."""
    Z, Y = curved
    fit = fit_kernel(Z, Y, form=form)
    U, member = fit.function.landmarks, fit.function
    new = np.random.default_rng(3).normal(size=(7, 4))
    K = brute_kernel(form, U, U, member.length)
    cut = (np.clip(new, -3, 3) - member.scaling.mean) / member.scaling.scale
    k = brute_kernel(form, cut, U, member.length)
    centred = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    toward = k - k.mean(axis=1)[:, None] - K.mean(axis=0) + K.mean()
    size = np.trace(centred) / len(U)
    ridge = KernelRidge(alpha=fit.left_out.noise_ratio * size, kernel="precomputed")
    ridge.fit(centred, Y - Y.mean())
    wanted = Y.mean() + ridge.predict(toward)
    np.testing.assert_allclose(member.scores(ArraySource(new)), wanted, atol=1e-8)


@pytest.mark.parametrize("form", FORMS)
def test_length_and_noise_are_the_best_of_the_grid(curved, form):
    Z, Y = curved
    settings = RefitSettings()
    fit = fit_kernel(Z, Y, settings, form=form)
    U = fit.function.landmarks
    scores = {}
    lengths = settings.kernel_lengths if form == "gaussian" else settings.laplace_lengths
    for length in lengths:
        K = RowProducts(brute_kernel(form, U, U, length), False)
        ridge = SpectralRidge.of(K, np.ones(60), Y)
        for ratio in settings.kernel_noise:
            (guess,), (variance,) = ridge.leave_one_out(np.array([ratio]))
            scores[length, ratio] = score_of(Y).tuning(guess, variance)
    best = max(scores, key=scores.get)
    assert (fit.left_out.length, fit.left_out.noise_ratio) == pytest.approx(best)
    if form == "gaussian":  # a wave is no line; a long Laplace kernel bends in each column
        assert fit.left_out.length <= 1.0


@dataclass(frozen=True)
class Scripted(NumberScore):
    """A response whose score is given for each length scale, however the noise is chosen."""

    scores: tuple[float, ...] = ()
    seen: list[float] = field(default_factory=list)

    def tuning(self, guess, variance):
        self.seen.append(0.0)
        at = (len(self.seen) - 1) // len(RefitSettings().kernel_noise)
        return float(self.scores[at])


@pytest.mark.parametrize(
    ("scores", "tried", "best"),
    [
        ((3, 4, 2, 1), 3, 2.0),
        ((4, 3, 2, 1), 2, 4.0),
        ((1, 2, 3, 4), 4, 0.5),
        ((4, 1, 2, 9), 2, 4.0),
    ],
)
def test_lengths_are_tried_from_the_longest_while_they_get_better(curved, scores, tried, best):
    Z, Y = curved
    response = Scripted(Y, np.ones(60), 1.0, 0.0, NUMBERS, (*scores, 0.0))
    columns = KernelColumns.of(ArraySource(Z), np.ones(60), np.arange(60), RefitSettings())
    found = columns.fit("gaussian", response)
    assert found.left_out.length == best
    # one more call says what the member gains
    assert len(response.seen) == tried * len(RefitSettings().kernel_noise) + 1


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("along", [False, True])
def test_many_rows_are_learnt_through_landmarks(along, form):
    rng = np.random.default_rng(4)
    Z = rng.normal(size=(900, 4))
    f = np.sin(2 * Z[:, 0]) + Z[:, 1]
    Y = (f + 0.3 * rng.normal(size=900))[:, None]
    settings = RefitSettings(most_rows=150)
    fit = fit_kernel(Z, Y, settings, np.argsort(Y[:, 0]) if along else None, form)
    assert fit.function.landmarks.shape == (150, 4)
    assert len(fit.left_out.guess) == 900
    few = fit_kernel(Z[:150], Y[:150], settings, form=form)
    errors = [
        np.mean((f - m.scores(ArraySource(Z))[:, 0]) ** 2) for m in (fit.function, few.function)
    ]
    assert errors[0] < 0.7 * errors[1]


@pytest.mark.parametrize("form", FORMS)
def test_a_wild_value_does_not_make_a_row_a_stranger(curved, form):
    Z, Y = curved
    member = fit_kernel(Z, Y, form=form).function
    row = np.array([[0.3, 0.5, 0.0, 3.0], [0.3, 0.5, 0.0, 3e6]])
    near, far = member.scores(ArraySource(row))[:, 0]
    assert near == far


@pytest.mark.parametrize("form", FORMS)
def test_constant_columns_count_for_nothing(curved, form):
    Z, Y = curved
    wide = np.column_stack([Z, np.zeros((60, 3))])
    one = fit_kernel(Z, Y, form=form).function
    other = fit_kernel(wide, Y, form=form).function
    assert other.n_columns == one.n_columns == 4
    np.testing.assert_allclose(other.scores(ArraySource(wide)), one.scores(ArraySource(Z)))


def test_absolute_distances_are_summed_over_blocks(curved):
    Z, _ = curved
    wanted = np.abs(Z[:, None] - Z[None, :9]).sum(axis=-1)
    np.testing.assert_allclose(absolute_distances(ArraySource(Z, 3), Z[:9]), wanted)
    np.testing.assert_allclose(absolute_distances(ArraySource(Z, 3))[:, :9], wanted)


def test_a_laplace_kernel_is_not_tried_where_it_would_take_long(curved):
    Z, _ = curved
    forms = {
        most: KernelColumns.of(
            ArraySource(Z), np.ones(60), np.arange(60), RefitSettings(differences=most)
        ).forms
        for most in (60 * 60 * 4 - 1, 60 * 60 * 4)
    }
    assert list(forms.values()) == [["gaussian"], ["gaussian", "laplace"]]


def test_the_laplace_kernel_follows_steps_that_the_gaussian_one_smooths():
    rng = np.random.default_rng(5)
    Z = rng.normal(size=(300, 6))
    new = rng.normal(size=(500, 6))

    def steps(Z):
        return np.sign(Z[:, 0]) + np.sign(Z[:, 1] - 0.5) + np.sign(Z[:, 2] + 0.5)

    Y = (steps(Z) + 0.3 * rng.normal(size=300))[:, None]
    error = {}
    for form in FORMS:
        guess = fit_kernel(Z, Y, form=form).function.scores(ArraySource(new))[:, 0]
        error[form] = np.mean((guess - steps(new)) ** 2)
    assert error["laplace"] < 0.9 * error["gaussian"]
