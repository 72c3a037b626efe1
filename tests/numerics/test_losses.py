"""Losses: slopes, conjugates and curvature bounds are exact statements about psi."""

import numpy as np
import pytest
from helpers import finite_difference
from hypothesis import given
from hypothesis import strategies as st

from gradsift.numerics.losses import Logistic, Multinomial, Squared, log_sum_exp, softmax

CASES = {
    "squared": (Squared(), np.array([0.7, -1.2, 0.4])),
    "logistic": (Logistic(), np.array([-1.0])),
    "multinomial": (Multinomial(), np.array([0.0, 1.0, 0.0])),
}
numbers = st.floats(-6, 6, allow_nan=False)
vectors = st.lists(numbers, min_size=3, max_size=3).map(np.array)


@pytest.fixture(params=CASES)
def case(request):
    return CASES[request.param]


def cut(a, t):
    return a[: len(t)]


def second_derivative(loss, e, t, d):
    """d . psi''(e) d, exact up to the differences of the exact slope."""
    h = 1e-5
    return d @ (loss.slope(e + h * d, t) - loss.slope(e - h * d, t)) / (2 * h)


@given(e=vectors)
def test_slope_is_the_derivative_of_the_value(case, e):
    loss, t = case
    e = cut(e, t)
    numeric = finite_difference(lambda x: float(loss.value(x, t)), e)
    np.testing.assert_allclose(loss.slope(e, t), numeric, atol=1e-6)


def test_values_at_known_points():
    """Scaling as the paper prints it: no 1/2 in the square, log 2 at zero log odds."""
    one = np.ones(1)
    assert Squared().value(np.array([3.0]), one) == 4.0
    assert Logistic().value(np.zeros(1), one) == pytest.approx(np.log(2))
    assert Multinomial().value(np.zeros(4), np.eye(4)[0]) == pytest.approx(np.log(4))
    # no overflow far from the boundary
    assert Logistic().value(np.array([-800.0]), one) == pytest.approx(800.0)
    assert log_sum_exp(np.array([900.0, 0.0])) == pytest.approx(900.0)
    assert softmax(np.array([900.0, 0.0])).tolist() == [1.0, 0.0]


@given(e=vectors, other=vectors)
def test_fenchel_young(case, e, other):
    """psi(e) + psi*(g) >= g . e for every slope g, with equality where g is the slope at e."""
    loss, t = case
    e, other = cut(e, t), cut(other, t)

    def excess(g):
        return float(loss.value(e, t) + loss.conjugate(g, t) - g @ e)

    assert excess(loss.slope(e, t)) == pytest.approx(0.0, abs=1e-9)
    for shrink in (1.0, 0.4, 0.0):  # the solver shrinks slopes to make them dual feasible
        assert excess(shrink * loss.slope(other, t)) >= -1e-9


@given(e=vectors, d=vectors)
def test_curvature_bounds_the_whole_segment(case, e, d):
    """A step judged by it is never longer than a descent step may be; nor is it above the worst."""
    loss, t = case
    e, d = cut(e, t), cut(d, t)
    bound = float(loss.curvature(e, t, d))
    for at in np.linspace(0, 1, 9):
        assert second_derivative(loss, e + at * d, t, d) <= bound * (1 + 1e-6) + 1e-7
    assert bound <= loss.steepest * (d @ d) * (1 + 1e-12)


@given(e=vectors, d=vectors)
def test_hessian_is_the_derivative_of_the_slope(case, e, d):
    loss, t = case
    e, d, h = cut(e, t), cut(d, t), 1e-5
    slopes = loss.slope(e + h * d, t) - loss.slope(e - h * d, t)
    np.testing.assert_allclose(loss.hessian(e, t)(d), slopes / (2 * h), atol=1e-4)


def test_one_number_per_pair(rng, case):
    """Outputs sum over axis 0; every pair is its own problem."""
    loss, t = case
    E = rng.normal(size=(len(t), 4, 5))
    T = np.broadcast_to(t[:, None, None], E.shape)
    for got, one in (
        (loss.value(E, T), lambda e: loss.value(e, t)),
        (loss.curvature(E, T, 0.3 * E), lambda e: loss.curvature(e, t, 0.3 * e)),
        (loss.conjugate(loss.slope(E, T), T), lambda e: loss.conjugate(loss.slope(e, t), t)),
    ):
        assert got.shape == (4, 5)
        assert got[2, 3] == pytest.approx(float(one(E[:, 2, 3])))
