"""Natural splines against their definition."""

import numpy as np
import pytest
from scipy.integrate import trapezoid

from gradsift.answer.additive import make_spline, natural_splines, roughness


@pytest.fixture(params=["normal", "skewed", "few values"])
def x(request, rng):
    if request.param == "few values":
        return rng.integers(5, size=120).astype(float)
    z = rng.normal(size=120)
    return np.exp(2 * z) if request.param == "skewed" else 100 + 3 * z


def test_functions_bend_without_a_line_and_without_a_mean(x):
    basis = make_spline(x)(x)
    straight = np.column_stack([np.ones(len(x)), x])
    assert np.abs(straight.T @ basis[:, 1:]).max() < 1e-6 * np.abs(straight).sum()
    assert np.abs(basis.mean(axis=0)).max() < 1e-9
    assert np.linalg.matrix_rank(basis) == basis.shape[1]


def test_squares_of_coefficients_are_the_integrated_squared_curvature(x, rng):
    spline = make_spline(x)
    b = rng.normal(size=spline.size)
    z = np.linspace(spline.knots[0], spline.knots[-1], 20_001)
    curve = spline(spline.mean + spline.scale * z) @ b
    second = np.gradient(np.gradient(curve, z), z)
    assert trapezoid(second**2, z) == pytest.approx(b[1:] @ b[1:], rel=2e-3)


def test_beyond_the_last_knots_it_is_straight(x):
    spline = make_spline(x)
    far = spline.mean + spline.scale * (spline.knots[-1] + np.array([1.0, 2.0, 3.0]))
    assert np.allclose(np.diff(spline(far), n=2, axis=0), 0, atol=1e-8)


def test_roughness_is_the_integral_of_second_derivatives():
    knots = np.array([-1.0, -0.2, 0.5, 2.0])
    z = np.linspace(-1, 2, 40_001)
    second = np.gradient(np.gradient(natural_splines(z, knots), z, axis=0), z, axis=0)
    assert np.allclose(
        roughness(knots), trapezoid(second[:, :, None] * second[:, None], z, axis=0), rtol=1e-2
    )


@pytest.mark.parametrize("values", [[2.0], [0.0, 1.0]])
def test_one_or_two_values_leave_a_line(values):
    spline = make_spline(np.repeat(values, 10))
    assert spline.size == 1
    assert np.isfinite(spline(np.array([0.0, 5.0]))).all()
