"""The words for an effect follow from a curve that is known."""

import numpy as np
import pytest

from gradsift.explain import Curve, describe_effect
from gradsift.explain.effects import turning_points

X = np.linspace(-2, 2, 61)
EXACT = np.zeros((61, 61))


def curve(effect, error=0.0, quartiles=(-1.0, 1.0)):
    """A curve whose values are known up to independent errors."""
    return Curve(X, effect, error**2 * np.eye(61), quartiles, 1.2)


SHAPES = {
    "increasing": lambda x: x,
    "decreasing": lambda x: -np.exp(x),
    "U-shaped": lambda x: x**2,
    "inverted U": lambda x: -(x**2),
    "wavy": lambda x: np.sin(3 * x),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("error", [0.0, 0.05])
def test_shape_of_a_known_curve(shape, error):
    effect = describe_effect(curve(SHAPES[shape](X), error))
    assert effect.shape == shape
    assert not effect.mixed
    assert effect.sign == {"increasing": "+", "decreasing": "-"}.get(shape, "±")


def test_turning_the_variable_round_turns_the_sign():
    assert describe_effect(curve(np.exp(X))).shape == "increasing"
    assert describe_effect(curve(np.exp(X)[::-1])).shape == "decreasing"
    assert describe_effect(curve((X**2)[::-1])).shape == "U-shaped"


def test_a_bend_is_named_where_it_is_shown():
    assert describe_effect(curve(3 * X + 0.1 * X**2)).words == "increasing, straight"
    assert describe_effect(curve(np.exp(X))).words == "increasing, curved"
    # as large a bend, within the noise: neither straight nor curved is said
    assert describe_effect(curve(np.exp(X), error=1.5)).words == "increasing"


def test_nothing_is_said_where_nothing_is_shown():
    for effect in (0 * X, 0.3 * X, 0.3 * X**2):
        found = describe_effect(curve(effect, error=1.0))
        assert (found.shape, found.sign, found.words) == ("unclear", "0", "not clear")


def test_a_dip_within_noise_is_no_turn():
    dip = np.where(X < -1, -0.3 * (X + 1), 2 * (X + 1))
    assert describe_effect(curve(dip, error=0.3)).shape == "increasing"
    deep = np.where(X < 0, -2 * X, 2 * X)
    assert describe_effect(curve(deep, error=0.3)).shape == "U-shaped"
    assert turning_points(curve(0 * X)) == [60]


def test_a_rise_beside_something_unclear_is_told_with_its_place():
    """A U whose left arm is within noise: the rise is shown, and where it begins."""
    effect = np.where(X < 0, -0.8 * X, 3 * X)
    V = np.diag(np.where(X < 0, 1.0, 0.01))
    found = describe_effect(Curve(X, effect, V, (-1.0, 1.0), 1.2))
    assert found.words == "increasing above 0"
    assert found.span == (0.0, 2.0)
    assert found.change[0] == pytest.approx(6.0)


def test_large_errors_far_out_hide_nothing():
    """Where samples are few the band is wide; what the rest shows stays shown."""
    V = np.diag(np.where(np.abs(X) > 1.5, 25.0, 0.01))
    assert describe_effect(Curve(X, X, V, (-1.0, 1.0), 1.2)).shape == "increasing"


def test_the_middle_half_has_a_say():
    """Ends that rise far out do not outweigh a fall where the samples are."""
    effect = np.where(np.abs(X) <= 1, -0.2 * X, np.sign(X) * (3 * (np.abs(X) - 1) - 0.2))
    found = describe_effect(curve(effect))
    assert found.shape == "wavy"
    assert found.change[0] < 0


def test_a_product_without_an_effect_of_its_own_acts_through_interactions():
    found = describe_effect(curve(0.01 * X, error=0.1), shared=1.0, own=0.01)
    assert found.words == "through interactions"
    mixed = describe_effect(curve(X), shared=1.0, own=1.0)
    assert mixed.words == "increasing, depends on others"
    assert not describe_effect(curve(X), shared=0.1, own=1.0).mixed


def test_figures_are_those_of_the_curve():
    found = describe_effect(curve(3 * X, error=0.1, quartiles=(-0.5, 1.5)))
    change, low, high = found.change
    assert change == pytest.approx(6.0)
    assert (high - low) / 2 == pytest.approx(1.96 * 0.1 * np.sqrt(2), rel=0.5)
    assert found.per_unit == pytest.approx(3.0)
    assert found.per_sd == pytest.approx(3.6)
    assert found.swing == pytest.approx(12.0)


@pytest.mark.parametrize("values", [[0.0, 1.0], [0.0, 1.0, 2.0]])
def test_few_values_are_enough(values):
    x = np.array(values)
    few = Curve(x, 2 * x, 0.01 * np.eye(len(x)), (0.0, x[-1]), 0.5)
    # two values are always on a line
    assert describe_effect(few).words == ("increasing, straight" if len(x) > 2 else "increasing")
