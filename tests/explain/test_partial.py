"""Effects of several variables at once."""

import numpy as np
import pytest

from gradsift.explain import partial as room
from gradsift.explain import partial_effects


def test_what_is_not_clear_beside_others_is_told_of_the_variable_alone(rng):
    """Two near-copies: neither is needed beside the other, each alone is a clear rise."""
    z = rng.normal(size=80)
    X = np.column_stack([z + 0.05 * rng.normal(size=80) for _ in range(2)])
    y = z + 0.5 * rng.normal(size=80)
    effects = [effect for (effect,) in partial_effects(X, y).effects]
    assert any(effect.alone for effect in effects)
    for effect in effects:
        assert effect.sign == "+"
        assert effect.words.endswith("on its own") == effect.alone


def test_many_variables_are_described_too(rng, monkeypatch):
    monkeypatch.setattr(room, "MOST_JOINT", 3)
    X = rng.normal(size=(150, 6))
    y = X @ [3.0, -2.0, 2.0, 0.0, -1.5, 0.0] + rng.normal(size=150)
    signs = [effect.sign for (effect,) in partial_effects(X, y).effects]
    assert signs == ["+", "-", "+", "0", "-", "0"]


def test_rare_classes_keep_their_rows(rng):
    y = np.zeros(50_000, dtype=int)
    y[rng.choice(50_000, 40, replace=False)] = 1
    rows = room.some_rows(y, np.array([0, 1]))
    assert y[rows].sum() == 40
    assert len(rows) <= room.MOST_ROWS
    assert np.array_equal(room.some_rows(y[:100], None), np.arange(100))


def test_effects_do_not_depend_on_how_often_a_class_was_drawn(rng):
    X = rng.normal(size=(6000, 1))
    y = (X[:, 0] + rng.logistic(size=6000) > 4).astype(int)
    ((effect,),) = partial_effects(X, y, np.array([0, 1])).effects
    assert effect.per_sd == pytest.approx(1.0, abs=0.25)


def test_units_of_the_table(rng):
    X = rng.normal(size=(200, 1))
    y = 3 * X[:, 0] + 0.1 * rng.normal(size=200)
    ((plain,),) = partial_effects(X, y).effects
    ((scaled,),) = partial_effects(100 * X, 10 * y).effects
    assert scaled.per_unit == pytest.approx(plain.per_unit / 10, rel=1e-6)
    assert scaled.per_sd == pytest.approx(10 * plain.per_sd, rel=1e-6)
    assert plain.per_unit == pytest.approx(3.0, abs=0.1)


def test_points_of_numbers_scatter_about_the_curve(rng):
    X = rng.normal(size=(200, 2))
    y = X[:, 0] ** 2 + X[:, 1] + 0.3 * rng.normal(size=200)
    curve = partial_effects(X, y).effects[0][0].curve
    x, seen = curve.samples.T
    inside = (x > curve.x[0]) & (x < curve.x[-1])
    off = seen[inside] - np.interp(x[inside], curve.x, curve.effect)
    assert off.std() == pytest.approx(0.3, abs=0.06)


def test_a_response_that_does_not_vary(rng):
    X = rng.normal(size=(40, 2))
    assert all(e.shape == "unclear" for (e,) in partial_effects(X, np.ones(40)).effects)
    one_class = partial_effects(X, np.zeros(40), np.array([0, 1])).effects
    assert all(e.shape == "unclear" for (e,) in one_class)


def test_beside_an_xor_nothing_is_said_of_classes_without_effect():
    """Steps that smooth products cannot follow would show up as effects on other classes."""
    said = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(200, 4))
        F = np.outer(X[:, 0], [1, 0, -1]) - np.outer(0.8 * X[:, 3], [0, -1, 1])
        F += np.outer(1.3 * np.sign(X[:, 1] * X[:, 2]), [-1, 1, 0])
        F *= 2 / F.std()
        y = np.array(["a", "b", "c"])[(F + rng.gumbel(size=F.shape)).argmax(axis=1)]
        found = partial_effects(X, y, np.array(["a", "b", "c"]))
        assert found.pairs == ((1, 2),)
        assert found.effects[1][0].shape == found.effects[2][1].shape == "through interactions"
        nothing = [found.effects[0][1], found.effects[1][2], found.effects[2][2]]
        said += sum(effect.shape != "unclear" for effect in [*nothing, found.effects[3][0]])
    assert said <= 1


def test_the_effect_on_counts_with_many_zeros_is_that_on_their_mean():
    """Rows that are not zero are no outliers: the effect was half of what least squares gives."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=500)
    some = rng.uniform(size=500) < 1 / (1 + np.exp(1.3 - 1.2 * x))
    y = np.where(some, rng.choice([1, 2, 3, 7, 12], 500), 0).astype(float)
    ((effect,),) = partial_effects(x[:, None], y).effects
    line = np.polyfit(x, y, 1)[0] * x.std()
    assert effect.size == pytest.approx(line, rel=0.15)
