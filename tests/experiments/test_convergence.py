import numpy as np
import pytest

from experiments import EXPERIMENTS, convergence
from experiments.manifolds import Cube, Torus
from experiments.tools import silent
from gradsift import alpha_max
from gradsift.numerics.kernels import TheoryRate


@pytest.mark.parametrize("ambient", [4, 8, 50])
def test_torus_is_isometric_and_its_gradient_is_right(ambient, rng):
    truth = Torus(ambient).sample(5, rng)
    assert truth.X.shape == (5, ambient)
    # tangent vectors are orthonormal at every sample: the embedding keeps lengths
    gram = truth.frame @ truth.frame.transpose(0, 2, 1)
    np.testing.assert_allclose(gram, np.broadcast_to(np.eye(2), (5, 2, 2)), atol=1e-12)
    # a field whose tangent part is the gradient has no error, whatever its normal part
    field = np.einsum("nd,ndp->np", truth.gradient, truth.frame)
    assert truth.error(field) < 1e-12
    assert truth.error(0 * field) == pytest.approx(1.0)


def test_torus_gradient_by_finite_differences():
    class Angles:
        """Stands in for a generator: gives the angles it was told."""

        def __init__(self, t):
            self.t = t

        def uniform(self, low, high, size):
            return self.t

    t, h = np.array([[0.3, 1.1], [2.0, 5.0]]), 1e-6
    at = Torus(12).sample(2, Angles(t))
    for c in range(2):
        step = h * np.eye(2)[c]
        ahead, behind = (Torus(12).sample(2, Angles(t + s)) for s in (step, -step))
        np.testing.assert_allclose((ahead.f - behind.f) / (2 * h), at.gradient[:, c], atol=1e-8)
        np.testing.assert_allclose((ahead.X - behind.X) / (2 * h), at.frame[:, c], atol=1e-8)


def test_cube_gradient_by_finite_differences(rng):
    class Points:
        def __init__(self, X):
            self.X = X

        def uniform(self, size):
            return self.X

    X, h = rng.uniform(size=(3, 5)), 1e-6
    at = Cube(5).sample(3, Points(X))
    for c in range(5):
        step = h * np.eye(5)[c]
        ahead, behind = (Cube(5).sample(3, Points(X + s)) for s in (step, -step))
        np.testing.assert_allclose((ahead.f - behind.f) / (2 * h), at.gradient[:, c], atol=1e-8)


def test_errors_fall_and_the_rate_is_that_of_the_manifold(few, tmp_path):
    designs = ("cube, p = 2", "torus, d = 2 in 50 dimensions")
    result = convergence.compute(
        few, silent, sizes=(40, 100), designs=designs, bandwidths=(0.2, 0.4)
    )
    assert result.errors.shape == (2, 3, 2)
    slopes = dict(zip(convergence.SCHEDULES, result.slopes.T))
    assert np.all(slopes["tuned"] < 0)
    assert np.all(slopes["by theory"] < 0)
    # d = 2 in 50 dimensions: much steeper than a rate of the space around it allows
    assert slopes["by theory"][1] < convergence.theory_slope(2) < convergence.theory_slope(50)
    paths = EXPERIMENTS["convergence"].write(result, tmp_path)
    assert [p.name for p in paths] == [
        "convergence.json",
        "convergence.md",
        "convergence-errors.png",
        "convergence-errors.pdf",
    ]


def test_schedules_meet_at_the_smallest_n():
    design, n, alpha = Torus(8), 50, 0.01
    factor_s, by_theory, printed = convergence._constants(design, n, 0.3, alpha)
    rate = TheoryRate(2)
    assert factor_s * rate(n) == pytest.approx(0.3)
    assert by_theory * rate.alpha(n) * 0.3**4 == pytest.approx(alpha)
    assert printed * rate.alpha(n) == pytest.approx(alpha)


@pytest.mark.parametrize("n", [50, 400])
def test_with_constants_of_one_the_printed_penalty_selects_nothing(n):
    # the paper's lambda(n) and s(n) as they stand, on its Euclidean setting
    truth, y, _ = convergence._data("cube, p = 2", n, 0)
    rate = TheoryRate(2)
    top = alpha_max(truth.X, y, **convergence._settings("cube, p = 2", rate(n)))
    assert rate.alpha(n) > top
