"""The words for an effect follow from a gradient whose potential is known."""

import numpy as np
import pytest

from gradsift.explain import describe_effect
from gradsift.explain.effects import mean_gradient, runs, without_minor

N = 200


@pytest.fixture(params=["even", "normal"])
def x(request, rng):
    return np.linspace(-2, 2, N) if request.param == "even" else rng.normal(size=N)


SHAPES = {
    "increasing": lambda x: 1 + 0 * x,
    "decreasing": lambda x: -np.exp(x),
    "U-shaped": lambda x: 2 * x,
    "inverted U": lambda x: -2 * x,
    "wavy": lambda x: 3 * np.cos(3 * x),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_shape_of_a_known_potential(shape, x, rng):
    g = SHAPES[shape](x) + 0.05 * rng.normal(size=N)
    effect = describe_effect(x, g)
    assert effect.shape == shape
    assert not effect.mixed
    assert effect.sign == {"increasing": "+", "decreasing": "-"}.get(shape, "±")


def test_order_of_the_samples_does_not_matter(x, rng):
    g = np.sin(2 * x) + 0.3 * rng.normal(size=N)
    shuffled = rng.permutation(N)
    a, b = describe_effect(x, g), describe_effect(x[shuffled], g[shuffled])
    assert (a.shape, a.sign) == (b.shape, b.sign)
    assert a.own_share == pytest.approx(b.own_share)


def test_turning_the_variable_round_turns_the_sign(x):
    assert describe_effect(x, np.exp(x)).shape == "increasing"
    assert describe_effect(-x, -np.exp(x)).shape == "decreasing"
    # u(-x) of a U-shaped potential is U-shaped
    assert describe_effect(-x, -2 * x).shape == "U-shaped"


def test_a_pure_product_acts_through_the_other_variable(rng):
    x, other = rng.normal(size=(2, N))
    effect = describe_effect(x, other)
    assert effect.shape == "through interactions"
    assert effect.words == "through interactions"


def test_a_main_effect_that_others_change_is_called_mixed(rng):
    x, other = rng.normal(size=(2, N))
    effect = describe_effect(x, 1 + other)
    assert effect.shape == "increasing"
    assert effect.mixed
    assert effect.words == "increasing, depends on others"


@pytest.mark.parametrize("levels", [2, 3])
def test_few_values_are_their_own_groups(levels, rng):
    x = rng.integers(levels, size=N).astype(float)
    assert describe_effect(x, 1 + 0.01 * x).words == "increasing, straight"
    assert len(mean_gradient(x, x)[0]) == levels


def test_a_dominant_allele_pair_is_an_inverted_u():
    x = np.repeat([0.0, 1.0, 2.0], 20)
    assert describe_effect(x, 1.0 - x).shape == "inverted U"


def test_nothing_and_next_to_nothing_are_flat(x):
    assert describe_effect(x, 0 * x).shape == "flat"
    assert describe_effect(x, 0.1 + 0 * x, floor=0.2).sign == "0"
    assert describe_effect(np.ones(N), 1 + 0 * x).shape == "increasing"  # a constant column


def test_quantiles_are_those_of_the_gradient(x, rng):
    g = rng.normal(size=N)
    assert describe_effect(x, g).quantiles == pytest.approx(np.quantile(g, [0.05, 0.5, 0.95]))


def test_runs_add_up_to_the_integral():
    centres, means = np.array([0.0, 1.0, 2.0]), np.array([-1.0, 0.0, 1.0])
    fall, rise = runs(centres, means)
    assert fall == pytest.approx(-rise)
    assert without_minor([5.0, -0.1, 5.0]) == [10.0]
