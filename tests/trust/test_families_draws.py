"""Slots, Bayes factors and draws against brute force."""

from dataclasses import replace

import numpy as np
import pytest
from helpers import monte_carlo_error

from gradsift.sift.features import clipped, own_features
from gradsift.sift.rows import make_rows
from gradsift.trust.draws import FixedResponse, Tally, one_sweep
from gradsift.trust.family_settings import FamilySettings
from gradsift.trust.looks import EMPTY, Looks, look_at_all, look_at_likely, outside
from gradsift.trust.single_effects import (
    Candidates,
    beside,
    effect_sizes,
    orthonormal,
    own_prior,
)
from gradsift.trust.slots import Noise, draw_slot, slot_posterior, start_chains
from gradsift.trust.tempering import at_powers, swapped

PART = np.array([0, 1] + [2] * 8)
PART_SIZES = (1, 1, 8)
STARTS = (0, 1, 2)


def features(X):
    rows = make_rows(len(X), None)
    return orthonormal(own_features(clipped(X, rows), rows), len(X), STARTS)


def candidates(Z, **changed):
    n = Z.shape[2]
    options = {
        "Z": Z.transpose(1, 0, 2).astype(np.float32),
        "part": PART,
        "prior": own_prior(n, PART_SIZES, FamilySettings()),
        "log_prior": np.full(len(Z), -np.log(len(Z))),
        "total": float(n),
    }
    return Candidates(**(options | changed))


def everything(some, b=1):
    """A look at all candidates."""
    return look_at_all(some).likely_look(b)


def log_evidence(y, Z, prior, effects):
    """log p(y | effects) up to a constant, all coefficients and the noise variance integrated
    out by a determinant and a solve of the size of the rows; `effects`: (column, setting).
    """
    n = len(y)
    cov = np.eye(n)
    for j, c in effects:
        cov += (Z[j].T * prior.variance[c][PART]) @ Z[j] / n
    return -0.5 * np.linalg.slogdet(cov)[1] - (n - 1) / 2 * np.log(y @ np.linalg.solve(cov, y))


def enumerated(y, Z, prior):
    """Exact inclusion probabilities of two slots: every column and setting in both."""
    p = len(Z)
    single = [((), np.log(0.5))]
    single += [
        (((j, c),), np.log(0.5 / p) + w) for j in range(p) for c, w in enumerate(prior.log_weight)
    ]
    log_p, inside = [], []
    for a, log_a in single:
        for b, log_b in single:
            log_p.append(log_a + log_b + log_evidence(y, Z, prior, a + b))
            inside.append([any(j == column for column, _ in a + b) for j in range(p)])
    weight = np.exp(np.array(log_p) - max(log_p))
    return weight @ np.array(inside) / weight.sum()


@pytest.fixture(scope="module")
def small():
    """Three columns, two of them alike, and a response of two."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(24, 3))
    X[:, 1] = 0.8 * X[:, 0] + 0.6 * X[:, 1]
    y = 0.6 * X[:, 0] + 0.3 * X[:, 2] ** 2 + rng.normal(size=24)
    return features(X), y - y.mean()


def test_features_are_orthonormal_and_ties_leave_few():
    rng = np.random.default_rng(0)
    X = np.stack([rng.normal(size=80), rng.integers(0, 2, 80), rng.integers(0, 3, 80)], axis=1)
    Z = features((X - X.mean(0)) / X.std(0))
    for z in Z:
        gram = z @ z.T / 80
        present = np.diag(gram) > 0.5
        np.testing.assert_allclose(gram, np.diag(present.astype(float)), atol=1e-9)
    assert [int(z.any(axis=1).sum()) for z in Z] == [7, 1, 2]


def test_features_beside_kept_columns_do_not_see_them():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 4))
    X[:, 3] = X[:, 0]  # a copy of what is kept
    Z = features(X)
    basis = Z[:1, 0].copy()
    rest = beside(Z[1:], basis, 50.0, STARTS)
    np.testing.assert_allclose(rest @ basis[0], 0.0, atol=1e-9)
    assert not rest[2, 0].any()  # nothing linear is left of the copy
    np.testing.assert_array_equal(rest[0].any(axis=1), Z[1].any(axis=1))


def test_bayes_factors_of_one_slot_are_ratios_of_evidence(small):
    Z, y = small
    some = candidates(Z)
    noise = Noise(unit=False, dof=len(y) - 1.0)
    R = y.astype(np.float32)[None, None]
    found = slot_posterior(everything(some), noise, R, np.zeros(1), np.zeros(1))
    prior = some.prior
    nothing = log_evidence(y, Z, prior, ())
    factors = np.array(
        [
            [
                np.exp(log_evidence(y, Z, prior, ((j, c),)) - nothing + prior.log_weight[c]) / 3
                for j in range(3)
            ]
            for c in range(len(prior.log_weight))
        ]
    )
    assert found.evidence[0] == pytest.approx(factors.sum(), rel=1e-4)
    expected = factors.sum(axis=0) / (1 + factors.sum())
    np.testing.assert_allclose(found.weights[:, 0], expected, rtol=1e-4)


def test_what_is_elsewhere_takes_its_part(small):
    Z, y = small
    noise, R = Noise(unit=False, dof=len(y) - 1.0), y.astype(np.float32)[None, None]
    alone, beside_others = (
        slot_posterior(everything(candidates(Z, elsewhere=e)), noise, R, np.zeros(1), np.zeros(1))
        for e in (0.0, 3.0)
    )
    e = alone.evidence[0]
    assert beside_others.weights.sum() == pytest.approx(e / (1 + e + 3.0), rel=1e-5)


@pytest.mark.parametrize("likely", [[0, 1, 2], [2], [1, 2]])
@pytest.mark.parametrize("powers", [(1.0,), (1.0, 0.6, 0.3)])
def test_draws_give_the_enumerated_posterior(small, powers, likely):
    """Two slots over three columns with 12 settings each: 1,369 models. Hotter chains that swap
    with those that count change nothing, and neither do columns that are looked at by chance.
    """
    Z, y = small
    some, noise = candidates(Z), Noise(unit=False, dof=len(y) - 1.0)
    b = 64
    chains = start_chains(np.broadcast_to(y, (b, 1, len(y))), [np.zeros((b, 1, len(y)))] * 2)
    chains = at_powers(chains, powers)
    tally, rng = Tally(b), np.random.default_rng(0)
    response, kinds = FixedResponse(noise), np.zeros(2, dtype=int)
    chance = np.array([0.4, 0.3, 0.2])
    chance[likely] = 1.0
    looks = Looks(some, np.array(likely), chance)
    for sweep in range(260):
        tallies = [tally] if sweep >= 20 else []
        chains = one_sweep(chains, [looks, looks], kinds, response, rng, tallies, sweep)
    error = monte_carlo_error(tally)
    exact = enumerated(y, Z, some.prior)
    assert error.max() < 0.01
    assert np.abs(tally.means.mean(axis=0) - exact).max() < 4 * error.max()


def test_hot_chains_are_those_of_rows_that_count_less(small):
    """A power of the likelihood is a weight of all rows: the same slot, rows scaled by its root."""
    Z, y = small
    power = 0.4
    R = y.astype(np.float32)[None, None]
    some = candidates(Z)
    dof = len(y) - 1.0
    zero = np.zeros(1)
    hot = slot_posterior(everything(some), Noise(False, dof), R, zero, zero, (power,))
    prior = replace(some.prior, variance=power * some.prior.variance)
    lighter = candidates(Z * np.sqrt(power), prior=prior, total=power * len(y))
    light = np.float32(np.sqrt(power)) * R
    same = slot_posterior(everything(lighter), Noise(False, power * dof), light, zero, zero)
    np.testing.assert_allclose(hot.weights, same.weights, rtol=1e-4)
    assert hot.evidence[0] == pytest.approx(same.evidence[0], rel=1e-4)


def test_swaps_go_by_the_density_and_move_whole_states():
    """The chain that fits better goes to power one; with equal powers all swap."""
    powers, u = (1.0, 0.5), np.full(4, 0.5)

    def density(power):
        return power * np.array([-40.0, 0.0, 0.0, -40.0])

    np.testing.assert_array_equal(swapped(density, powers, 0, u), [2, 1, 0, 3])
    np.testing.assert_array_equal(swapped(density, powers, 1, u), np.arange(4))
    np.testing.assert_array_equal(swapped(density, (1.0, 1.0), 0, u), [2, 3, 0, 1])


def test_residuals_follow_the_draws(small):
    Z, y = small
    noise, rng = Noise(unit=False, dof=len(y) - 1.0), np.random.default_rng(0)
    chains = start_chains(np.broadcast_to(y, (8, 1, len(y))), [np.zeros((8, 1, len(y)))] * 2)
    for i in (0, 1, 0):
        draw_slot(chains, i, look_at_all(candidates(Z)), noise, rng)
    np.testing.assert_allclose(
        chains.residual + chains.fit.sum(axis=0), np.tile(y, (8, 1, 1)), atol=1e-5
    )
    empty = chains.chosen == EMPTY
    assert not chains.fit[empty].any()
    assert (chains.used[empty] == 0).all()
    assert (chains.used[~empty] > 0).all()


def test_sizes_of_effects_reach_from_just_visible_to_large():
    np.testing.assert_allclose(effect_sizes(600, FamilySettings()), [16.0, 120.0, 900.0])
    np.testing.assert_allclose(effect_sizes(60, FamilySettings()), [16.0, 90.0])
    np.testing.assert_allclose(effect_sizes(4, FamilySettings()), [16.0, 16.0])


def test_unlikely_candidates_are_looked_at_by_chance_and_count_as_much_more(small):
    Z, _ = small
    some = candidates(np.concatenate([Z, Z, Z]))
    seems = np.array([0.5, 0.1, 0.02, 0.02, 0.0, 0.0, 0.0, 0.0, 0.0])
    looks = look_at_likely(some, np.array([0, 1]), seems, 4)
    assert looks.chance[:2].tolist() == [1.0, 1.0]
    assert looks.chance[2:].sum() == pytest.approx(2 * (2 * 2 / 4 + 2 / 7) + 5 * 2 / 7 - 2 * 2 / 7)
    np.testing.assert_allclose(np.exp(-looks.rise), looks.chance, rtol=1e-6)
    assert look_at_likely(some, np.array([0, 1]), seems, 7).complete
    rng, chosen = np.random.default_rng(0), np.array([0, 8, EMPTY])
    times = np.zeros(9)
    for _ in range(2000):
        look = looks.look(chosen, rng)
        times[look.index] += 1
        assert look.held[0] == look.held[2] == EMPTY
        assert look.held[1] == (EMPTY if 8 in look.index else 8)
    np.testing.assert_allclose(times / 2000, looks.chance, atol=0.04)


def test_chains_that_hold_unlikely_candidates_do_not_swap(small):
    Z, _ = small
    looks = Looks(candidates(Z), np.array([0, 2]), np.array([1.0, 0.5, 1.0]))
    chosen = np.array([[0, 1, EMPTY, 2], [2, 2, EMPTY, 1]])
    stays = outside(chosen, [looks, looks])
    np.testing.assert_array_equal(stays, [False, True, False, True])
    order = swapped(lambda power: 0.0 * power, (1.0, 0.5), 0, np.full(4, 0.5), stays)
    np.testing.assert_array_equal(order, [2, 1, 0, 3])
