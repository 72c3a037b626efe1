"""Newton by conjugate gradients: it solves gradient = 0."""

import numpy as np
import pytest
from scipy.special import expit

from gradsift.numerics.newton import minimise


def test_quadratic_to_machine_accuracy(rng):
    A = rng.normal(size=(12, 6))
    H, b = A.T @ A + 0.1 * np.eye(6), rng.normal(size=6)

    def gradient(x):
        return H @ x - b

    x, used = minimise(lambda x: (0.5 * x @ H @ x - b @ x, gradient(x)), gradient, np.zeros(6))
    np.testing.assert_allclose(x, np.linalg.solve(H, b), rtol=1e-8)
    assert used < 100


@pytest.mark.parametrize("ridge", [1e-6, 1e-2, 10.0])
@pytest.mark.parametrize("start", [0.0, 3.0])
def test_logistic_from_near_and_far(rng, ridge, start):
    """Far off, full Newton steps overshoot: the line search must catch them."""
    A, t = rng.normal(size=(40, 4)), np.sign(rng.normal(size=40))

    def gradient(x):
        return A.T @ (-t * expit(-t * (A @ x))) + 2 * ridge * x

    def both(x):
        return np.logaddexp(0, -t * (A @ x)).sum() + ridge * x @ x, gradient(x)

    x0 = np.full(4, start)
    x, _ = minimise(both, gradient, x0)
    assert np.linalg.norm(gradient(x)) <= 1e-9 * np.linalg.norm(gradient(x0))
    for seed in range(5):
        away = x + 0.01 * np.random.default_rng(seed).normal(size=4)
        assert both(x)[0] < both(away)[0]


def test_nothing_to_do():
    """Already optimal, or no parameters at all (a regression with no free rows)."""
    x, used = minimise(lambda x: (x @ x, 2 * x), lambda x: 2 * x, np.zeros(3))
    assert used == 1
    assert (x == 0).all()
    x, _ = minimise(lambda x: (1.0, 0 * x), lambda x: 0 * x, np.zeros(0))
    assert x.shape == (0,)


def test_gradients_are_bounded_where_there_is_no_minimum(rng):
    """Separable labels without a ridge: it could go on for ever."""
    A = rng.normal(size=(20, 3))
    t = np.sign(A[:, 0])

    def gradient(x):
        return A.T @ (-t * expit(-t * (A @ x)))

    def both(x):
        return np.logaddexp(0.0, -t * (A @ x)).sum(), gradient(x)

    _, free = minimise(both, gradient, np.zeros(3))
    _, bounded = minimise(both, gradient, np.zeros(3), max_gradients=20)
    assert 20 <= bounded < 100 < free


def test_a_gradient_beyond_all_numbers_is_refused():
    """On every version of numpy: with an infinite norm, the start would count as the minimum."""
    huge = np.full(3, 1e200)
    with np.errstate(over="ignore"), pytest.raises(FloatingPointError, match="overflow"):
        minimise(lambda x: (0.0, huge), lambda x: huge, np.zeros(3))
