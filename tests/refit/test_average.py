"""Predictors on all columns have a share where they help, and none where they do not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from gradsift.data import ArraySource, Scaling
from gradsift.refit import (
    ClassScore,
    NumberScore,
    Predictor,
    average,
    refit_classification,
    refit_regression,
)
from gradsift.refit.all_columns import LinearMember, screened_columns
from gradsift.refit.predictor import stacking_shares
from gradsift.refit.settings import LABELS, NUMBERS, RefitSettings


def of_numbers(Z, y, selected=0, weight=None, settings=NUMBERS):
    """The predictor on standardised columns, the first few of which are selected."""
    refit = refit_regression(Z[:, :selected], y)
    response = NumberScore.of(y, weight, refit, settings)
    return averaged(Z, refit, selected, response, settings)


def of_classes(Z, labels, n_classes):
    refit = refit_classification(Z[:, :0], labels, n_classes=n_classes)
    return averaged(Z, refit, 0, ClassScore.of(labels, n_classes, None, LABELS), LABELS)


def averaged(Z, refit, selected, response, settings):
    p = Z.shape[1]
    alone = Predictor(Scaling(np.zeros(p), np.ones(p)), np.arange(selected), refit)
    return average(alone, ArraySource(Z), Z[:, :selected], response, settings)


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


def the_ridge(predictor) -> LinearMember:
    (member,) = predictor.members
    assert member.kind == "ridge"
    return member


def test_regression_weights_are_those_of_ridge_on_weighed_columns(many_effects):
    Z, y = many_effects
    found = of_numbers(Z, y, settings=LINEAR)
    ridge = the_ridge(found)
    Z = np.clip(Z, -NUMBERS.clip, NUMBERS.clip)
    (screened,) = screened_columns(ArraySource(Z), np.ones((1, 60)), y[:, None])
    assert ridge.index.tolist() == screened.index.tolist()
    A = Z[:, screened.index] * np.sqrt(screened.prior)
    size = (A**2).sum() / 60
    fits = [Ridge(alpha=eta * size).fit(A, y) for eta in NUMBERS.ridge_noise]
    guess = ridge.scores(ArraySource(Z))[:, 0]
    assert min(np.abs(fit.predict(A) - guess).max() for fit in fits) < 1e-6
    assert found.shares[0] > 0.9


@pytest.mark.parametrize(
    "settings", [LINEAR, RefitSettings(ridge_cut=np.inf, differences=0)], ids=["ridge", "kernel"]
)
def test_each_predicts_new_rows_where_few_columns_cannot(many_effects, settings):
    Z, y = many_effects
    train, test = np.arange(45), np.arange(45, 60)
    found = of_numbers(Z[train], y[train], settings=settings)
    (member,) = found.members
    guess = member.scores(ArraySource(Z[test]))[:, 0]
    assert 1 - ((y[test] - guess) ** 2).mean() / y[test].var() > 0.7


def test_labels_and_their_probabilities(many_effects):
    Z, y = many_effects
    labels = (y > 0).astype(int)
    found = of_classes(Z, labels, 2)
    kinds = {member.kind for member in found.members}
    assert kinds == {"ridge", "kernel ridge", "Laplace kernel ridge"}
    for member, gain in zip(found.members, found.gains, strict=True):
        odds = member.scores(ArraySource(Z))
        assert odds.shape == (60, 1)
        assert ((odds[:, 0] > 0) == labels).mean() > 0.9
        assert 0 < gain < 60 * np.log(2)


def test_many_classes_have_one_score_each(many_effects):
    Z, y = many_effects
    labels = np.digitize(y, np.quantile(y, [1 / 3, 2 / 3]))
    found = of_classes(Z, labels, 3)
    for member in found.members:
        scores = member.scores(ArraySource(Z))
        assert scores.shape == (60, 3)
        assert (scores.argmax(axis=1) == labels).mean() > 0.7
    assert found.eta(Z).shape == (60, 3)


def test_predictions_are_the_average_in_the_given_shares(many_effects):
    Z, y = many_effects
    found = of_numbers(Z, y, selected=2)
    own = found.eta(Z, "selected")
    np.testing.assert_array_equal(own, found.refit.value(found.columns(Z)))
    wanted = (1 - sum(found.shares)) * own
    for member, share in zip(found.members, found.shares, strict=True):
        wanted = wanted + share * member.scores(ArraySource(Z))
    np.testing.assert_allclose(found.eta(Z), wanted)
    assert found.member_columns.tolist() == np.arange(300).tolist()


def test_gradients_are_those_of_the_selected_columns_in_their_units(many_effects):
    Z, y = many_effects
    found = of_numbers(Z, y, selected=2)
    scaling = Scaling(np.full(300, 3.0), np.full(300, 4.0))
    scaled = replace(found, scaling=scaling)
    X = 3.0 + 4.0 * Z
    np.testing.assert_allclose(scaled.eta(X), found.eta(Z), atol=1e-7)
    np.testing.assert_allclose(4.0 * scaled.gradient(X), found.gradient(Z), atol=1e-7)
    np.testing.assert_allclose(scaled.standard_gradient(X), found.gradient(Z), atol=1e-7)
    assert found.gradient(Z).shape == (1, 60, 2)


def test_a_row_counted_twice_is_the_row_twice(many_effects):
    Z, y = many_effects
    counts = np.random.default_rng(8).integers(1, 4, size=60)
    twice = np.repeat(np.arange(60), counts)
    one = of_numbers(Z, y, weight=counts.astype(float))
    other = of_numbers(Z[twice], y[twice])
    assert one.gains == pytest.approx(other.gains)
    np.testing.assert_allclose(one.shares, other.shares, atol=1e-6)
    for a, b in zip(one.members, other.members, strict=True):
        found = [member.scores(ArraySource(Z)) for member in (a, b)]
        np.testing.assert_allclose(*found, atol=1e-6 * np.ptp(y))


def test_the_scale_and_origin_of_the_response_do_not_matter(many_effects):
    Z, y = many_effects
    one = of_numbers(Z, y)
    other = of_numbers(Z, 1e4 + 1e-3 * y)
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
    found = of_numbers(Z[train], y[train], selected=2)
    guesses = [found.eta(Z[test], use)[:, 0] for use in ("auto", "selected")]
    errors = [((guess - linear[test]) ** 2).mean() for guess in guesses]
    assert errors[0] < errors[1] + 0.01 * linear.var()

    y = Z[:, 0] ** 2 - 2 * np.abs(Z[:, 1]) + 0.3 * rng.normal(size=280)
    assert of_numbers(Z[train], y[train], selected=2).members == ()


@pytest.mark.parametrize(("n", "p"), [(40, 300), (100, 20)])
def test_noise_leaves_them_no_share(n, p):
    """One table in a hundred may: three in 60 would be a sign that something is wrong."""
    shares = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        Z, y = rng.normal(size=(n, p)), rng.normal(size=n)
        shares += len(of_numbers(Z, y).members) > 0
    assert shares <= 2


def test_they_stay_away_from_a_handful_of_rows(many_effects):
    Z, y = many_effects
    assert of_numbers(Z[:8], y[:8]).members == ()


# ------------------------------------------------ outliers, and tails that are none
def factor_table(seed, n=150, p=60):
    """Columns that share factors, and the sum of these factors in units of its spread."""
    rng = np.random.default_rng(seed)
    F = rng.normal(size=(n, 5))
    Z = F @ rng.normal(size=(5, p)) + rng.normal(size=(n, p))
    return rng, Z / Z.std(axis=0), F.sum(axis=1) / np.sqrt(5.0)


@pytest.mark.parametrize("seed", range(3))
def test_members_see_the_tail_of_a_skewed_response_with_full_weight(seed):
    """The response is even on a log scale over four decades: its mean depends on its tail."""
    rng, Z, f = factor_table(seed)
    rank = np.argsort(np.argsort(f + 0.5 * rng.normal(size=len(f))))
    y = 1e4 ** (rank / len(f))
    found = of_numbers(Z, y, selected=2, settings=LINEAR)
    assert (found.refit.robust_weight < 1.0).mean() > 1 / 8
    assert the_ridge(found).scores(ArraySource(Z)).mean() == pytest.approx(y.mean())


@pytest.mark.parametrize("share", [0.1, 0.15])
@pytest.mark.parametrize("seed", range(3))
def test_members_see_outliers_on_one_side_with_lowered_weight(seed, share):
    rng, Z, f = factor_table(seed)
    y = f + 0.3 * rng.normal(size=len(f))
    clean = y.mean()
    y[rng.choice(len(y), int(share * len(y)), replace=False)] += 20.0
    found = of_numbers(Z, y, selected=2, settings=LINEAR)
    assert the_ridge(found).scores(ArraySource(Z)).mean() == pytest.approx(clean, abs=0.3)
