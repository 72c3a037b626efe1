"""Latent responses of labels, and exchange moves, against brute force."""

import numpy as np
import pytest
from helpers import monte_carlo_error
from scipy.special import log_ndtr

from gradsift import GradientSiftClassifier
from gradsift.sift.rows import make_rows
from gradsift.trust.draws import Tally, one_sweep
from gradsift.trust.exchange import oriented, turned
from gradsift.trust.latent import (
    LatentLabels,
    above_zero,
    all_above_slopes,
    class_basis,
    log_ndtr_table,
)
from gradsift.trust.looks import Looks, look_at_all
from gradsift.trust.single_effects import Candidates, EffectPrior
from gradsift.trust.slots import Noise, start_chains
from gradsift.trust.tempering import at_powers


def linear_candidates(X, variance=8.0):
    """Standardised columns that act by straight lines of one size."""
    Z = ((X - X.mean(axis=0)) / X.std(axis=0)).T[None]
    prior = EffectPrior(
        np.array([[variance]]), np.zeros(1), np.zeros(1, dtype=np.intp), ("linear",)
    )
    k, n = Z.shape[1:]
    return Candidates(
        Z.astype(np.float32), np.zeros(1, dtype=np.intp), prior, np.full(k, -np.log(k)), float(n)
    )


def evidence(sign, z, variance):
    """Integral over intercept (flat prior) and slope of the probability of the labels."""
    n = len(sign)
    a = np.linspace(-4.0, 4.0, 401)
    b = np.linspace(-8.0, 8.0, 801) * np.sqrt(variance / n)
    density = np.exp(-(b**2) * n / (2 * variance))
    log_p = np.zeros((len(a), len(b)))
    for s, x in zip(sign, z, strict=True):
        log_p += log_ndtr(s * (a[:, None] + b * x))
    return float((np.exp(log_p) * density).sum() / density.sum())


@pytest.mark.parametrize("powers", [(1.0,), (1.0, 0.6, 0.3)])
@pytest.mark.parametrize("likely", [[0, 1, 2], [0, 2]])
def test_draws_of_labels_give_the_integrated_posterior(powers, likely):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(20, 3))
    X[:, 1] = 0.9 * X[:, 0] + 0.44 * X[:, 1]
    codes = (X[:, 0] + 0.7 * rng.normal(size=20) > 0).astype(int)
    some = linear_candidates(X)
    sign = 2.0 * codes - 1.0
    each = [evidence(sign, z, 8.0) / 3 for z in some.Z[0].astype(float)]
    exact = np.array(each) / (sum(each) + evidence(sign, np.zeros(20), 8.0))

    labels, b = LatentLabels(codes, 2, make_rows(20, None), np.zeros((0, 20))), 64
    start = np.broadcast_to(labels.start.T, (b, 1, 20))
    chance = np.full(3, 0.4)
    chance[likely] = 1.0
    looks = Looks(oriented(some, labels.start[:, 0]), np.array(likely), chance)
    chains = at_powers(start_chains(start, [np.zeros((b, 1, 20))]), powers)
    tally, rng = Tally(b), np.random.default_rng(0)
    for sweep in range(450):
        tallies = [tally] if sweep >= 50 else []
        chains = one_sweep(chains, [looks], np.zeros(1, dtype=int), labels, rng, tallies, sweep)
    error = monte_carlo_error(tally)
    assert error.max() < 0.015
    assert np.abs(tally.means.mean(axis=0) - exact).max() < 4 * error.max()


def test_exchanges_alone_give_the_posterior_of_the_column():
    """Given its coefficient, a column is drawn by the likelihood of the labels."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    X[:, 1:] += 2 * X[:, :1]
    codes = (X[:, 0] + rng.normal(size=30) > 0).astype(int)
    labels = LatentLabels(codes, 2, make_rows(30, None), np.zeros((0, 30)))
    some = oriented(linear_candidates(X), labels.start[:, 0])
    assert (some.Z[0] @ labels.start[:, 0] >= 0).all()
    b = 4000
    fit = np.broadcast_to(0.8 * some.Z[0, 0], (b, 1, 30))
    chains = start_chains(np.broadcast_to(labels.start.T, (b, 1, 30)), [fit])
    chains.chosen[0] = 0
    always = np.full((b, 1, 30), 0.1)
    for _ in range(3):
        labels.exchange(chains, [look_at_all(some)], always, rng)
    log_p = log_ndtr((2 * codes - 1) * (0.8 * some.Z[0] + 0.1)).sum(axis=1)
    exact = np.exp(log_p - log_p.max())
    share = np.bincount(chains.chosen[0], minlength=3) / b
    np.testing.assert_allclose(share, exact / exact.sum(), atol=0.03)
    moved = chains.fit[0, :, 0]
    np.testing.assert_allclose(moved, 0.8 * some.Z[0][chains.chosen[0]], atol=1e-5)


def test_interpolated_logarithms_are_close():
    x = np.linspace(-13.9, 9.0, 5000).astype(np.float32)
    np.testing.assert_allclose(log_ndtr_table(x), log_ndtr(x.astype(float)), atol=5e-5)
    assert log_ndtr_table(np.float32([-50.0]))[0] == pytest.approx(log_ndtr(-14.0), abs=1e-3)


def test_truncated_draws_have_the_right_mean_and_side():
    rng = np.random.default_rng(0)
    for mean in (-6.0, -0.5, 2.0):
        e = above_zero(np.full(20_000, mean), rng)
        assert (mean + e > 0).all()
        expected = np.exp(-(mean**2) / 2 - log_ndtr(mean)) / np.sqrt(2 * np.pi)
        assert e.mean() == pytest.approx(expected, abs=0.03)


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_a_row_of_weight_four_is_the_mean_of_four_draws(n_classes):
    """Of a chain of draws, of which each begins where the last one ended."""
    n, b, rng = 5, 6000, np.random.default_rng(n_classes)
    codes, q = np.arange(n) % n_classes, class_basis(n_classes).shape[1]
    mean = np.broadcast_to(rng.normal(size=(q, n)), (b, q, n))

    def drawn(weight):
        rows = make_rows(n, weight)
        labels = LatentLabels(codes, n_classes, rows, np.zeros((0, n)))
        z = np.broadcast_to(labels.start.T / rows.root, (b, q, n))
        for _ in range(12):
            z = labels.draw_latent(mean, z, rng)
        return z

    four = np.mean([drawn(None) for _ in range(4)], axis=0)
    one = drawn(np.full(n, 4.0))
    np.testing.assert_allclose(one.mean(axis=0), four.mean(axis=0), atol=0.04)
    np.testing.assert_allclose(one.std(axis=0), four.std(axis=0), rtol=0.06)


@pytest.mark.parametrize("far", [2.0, -1.0, -5.0, -12.0, -40.0])
def test_slopes_of_improbable_labels_are_those_of_the_integral(far):
    ahead = np.array([far, 0.8 * far, 1.0])
    e = np.linspace(-12.0, 60.0, 200_001)
    each = log_ndtr(ahead[:, None] + e)
    density = np.exp(-(e**2) / 2 + each.sum(axis=0) - (-(e**2) / 2 + each.sum(axis=0)).max())
    hazard = np.exp(-((ahead[:, None] + e) ** 2) / 2 - each) / np.sqrt(2 * np.pi)
    exact = (hazard * density).sum(axis=1) / density.sum()
    np.testing.assert_allclose(all_above_slopes(ahead), exact, rtol=0.02, atol=1e-3)


def test_a_mislabelled_row_of_small_weight_does_no_harm():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    total = X[:, :2].sum(axis=1)
    y = np.digitize(total + 0.1 * rng.normal(size=300), np.quantile(total, [1 / 3, 2 / 3]))
    weight, odd = np.ones(300), int(np.argmax(total))
    y[odd], weight[odd] = 0, 0.5
    model = GradientSiftClassifier(inference=True, random_state=0).fit(X, y, sample_weight=weight)
    assert (model.inclusion_probabilities_[:2] > 0.99).all()
    assert (model.inclusion_probabilities_[2:] < 0.3).all()


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_bases_of_classes_are_contrasts(n_classes):
    basis = class_basis(n_classes)
    np.testing.assert_allclose(basis.sum(axis=0), 0.0, atol=1e-12)
    if n_classes > 2:
        np.testing.assert_allclose(basis.T @ basis, np.eye(n_classes - 1), atol=1e-12)


def test_the_likelihood_of_three_classes_is_how_often_they_win():
    rng = np.random.default_rng(0)
    codes = np.array([0, 1, 2])
    labels = LatentLabels(codes, 3, make_rows(3, None), np.zeros((0, 3)))
    mean = rng.normal(size=(1, 2, 3))
    M = np.einsum("cq,qn->cn", class_basis(3), mean[0])
    z = M + rng.normal(size=(200_000, 3, 3))
    wins = [float((z[:, :, i].argmax(axis=1) == codes[i]).mean()) for i in range(3)]
    assert labels.log_likelihood(mean)[0] == pytest.approx(np.log(wins).sum(), abs=0.02)


def test_draws_of_several_classes_agree_with_the_labels():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, 40)
    labels = LatentLabels(codes, 3, make_rows(40, None), np.zeros((0, 40)))
    assert labels.noise == Noise(unit=True)
    z = np.broadcast_to(labels.start.T, (5, 2, 40))
    for _ in range(3):
        z = labels.draw_several(np.zeros((5, 2, 40)), z, rng)
        utilities = np.einsum("cq,bqn->bcn", class_basis(3), z)
        assert (utilities.argmax(axis=1) == codes).all()


def test_an_exchange_there_and_back_changes_nothing():
    rng = np.random.default_rng(0)
    Z = np.linalg.qr(rng.normal(size=(4, 30, 3)))[0].transpose(2, 0, 1) * np.sqrt(30)
    part = np.array([0, 1, 1])
    prior = EffectPrior(np.ones((1, 2)), np.zeros(1), np.zeros(1, dtype=np.intp), ("any",))
    some = Candidates(Z.astype(np.float32), part, prior, np.zeros(4), 30.0)
    old, new = np.array([0, 1]), np.array([2, 3])
    fit = np.einsum("fbn,bf->bn", Z[:, old], rng.normal(size=(2, 3)))[:, None]
    there, alike = turned(some, old, new, fit)
    back, _ = turned(some, new, old, there)
    assert alike.all()
    np.testing.assert_allclose(back, fit, atol=1e-5)
    np.testing.assert_allclose(np.square(there).sum(), np.square(fit).sum(), rtol=1e-5)
    assert np.abs(there - fit).max() > 0.1


def test_what_always_acts_is_drawn_around_its_least_squares_fit():
    rng = np.random.default_rng(0)
    weight = rng.integers(1, 4, 50).astype(float)
    rows = make_rows(50, weight)
    x = rng.normal(size=50)
    x = (x - rows.mean(x)) / np.sqrt(rows.mean((x - rows.mean(x)) ** 2))
    labels = LatentLabels(np.arange(50) % 2, 2, rows, (x * rows.root)[None])
    z = 0.5 + 2.0 * x
    drawn = labels.draw_always(np.tile(z * rows.root, (4000, 1, 1)), rng)
    np.testing.assert_allclose(drawn.mean(axis=0)[0], z, atol=0.02)
    expected = np.sqrt((1 + x**2) / rows.total)
    np.testing.assert_allclose(drawn.std(axis=0)[0], expected, rtol=0.1)
