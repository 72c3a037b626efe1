"""Pairs that act together are shown; nothing else is."""

import numpy as np
import pytest

from gradsift.explain.additive import fit_additive, target_of
from gradsift.explain.dependence import coefficient_tests, fit_with_pairs, score_tests

PAIRS = [(0, 1), (0, 2), (1, 2)]


def draw(kind, f, rng, strength=1.0):
    """(target) with the additive or interacting function f, strongly or weakly separated."""
    f = strength * f
    if kind == "numbers":
        return target_of(f + rng.normal(size=len(f)))
    if kind == "two":
        return target_of(f + rng.logistic(size=len(f)) > 0, np.array([False, True]))
    scores = np.column_stack([f, -f, 0 * f]) + rng.gumbel(size=(len(f), 3))
    return target_of(scores.argmax(axis=1), np.arange(3))


@pytest.mark.parametrize("kind", ["numbers", "two", "three"])
@pytest.mark.parametrize("strength", [1.0, 6.0])
def test_additive_effects_show_no_pair(kind, strength):
    """However well the classes are separated: 36 tables, three pairs each, at a level of 5 %."""
    found = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(150, 3))
        X[:, 1] += X[:, 0]
        target = draw(kind, X[:, 0] - X[:, 1] + X[:, 2], rng, strength)
        found += len(fit_with_pairs(X, target).design.pairs)
    assert found <= 2


@pytest.mark.parametrize("kind", ["numbers", "two", "three"])
@pytest.mark.parametrize("form", ["product", "xor"])
def test_a_pair_is_shown_and_no_other(kind, form):
    right = 0
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(250, 3))
        together = X[:, 0] * X[:, 2]
        together = np.sign(together) if form == "xor" else together
        target = draw(kind, X[:, 1] + 1.5 * together, rng, 1.5)
        right += fit_with_pairs(X, target).design.pairs == ((0, 2),)
    assert right >= 4


def test_p_values_of_true_null_hypotheses_are_not_too_small():
    p = []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(120, 3))
        fit = fit_additive(X, draw("two", X[:, 0] + X[:, 1], rng))
        p.append(score_tests(X, fit, PAIRS)[seed % 3])
    assert np.mean(np.array(p) < 0.05) < 0.08
    assert 0.05 < np.mean(np.array(p) < 0.2) < 0.28


def test_a_pair_whose_plain_product_cancels():
    """sin(pi x0 x1), of Friedman: hardly a product, yet each changes the other's slope."""
    rng = np.random.default_rng(1000)
    X = rng.uniform(size=(200, 3))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 5 * X[:, 2] + rng.normal(size=200)
    assert fit_with_pairs(X, target_of(y)).design.pairs == ((0, 1),)


def test_unequal_noise_is_no_interaction():
    small = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(200, 2))
        y = X[:, 0] + np.abs(X[:, 0] * X[:, 1]) * rng.normal(size=200)
        small += score_tests(X, fit_additive(X, target_of(y)), [(0, 1)])[0] < 0.05
    assert small <= 9  # 3 are expected


def test_pairs_inside_and_outside_the_model_agree(rng):
    """The score test before and the coefficient test after taking a pair in say the same."""
    X = rng.normal(size=(400, 2))
    target = draw("two", X[:, 0] + 0.4 * X[:, 0] * X[:, 1], rng)
    before = score_tests(X, fit_additive(X, target), [(0, 1)])[0]
    after = coefficient_tests(fit_additive(X, target, [(0, 1)]))[0]
    assert np.log(before) == pytest.approx(np.log(after), rel=0.5)


def test_one_variable_and_constant_columns(rng):
    X = rng.normal(size=(60, 2))
    target = target_of(X[:, 0] + rng.normal(size=60))
    assert fit_with_pairs(X[:, :1], target).design.pairs == ()
    X[:, 1] = 3.0
    assert fit_with_pairs(X, target).design.pairs == ()
