"""Kernels against their formulas and finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import AXES, KERNELS, numeric_gradient
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime


def textbook(name, x, z):
    """k(x, z) of two points, written out."""
    k = KERNELS[name]
    if name == "linear":
        return x @ z / 3
    if name == "anova":
        c, length = np.exp(k.log_weights), np.exp(k.log_scales)
        return np.prod((1 + c * np.exp(-((x - z) ** 2) / (2 * length**2))) / (1 + c))
    delta = AXES.T @ (x - z) if name == "rotated" else x - z
    return np.exp(-0.5 * np.sum((delta / np.exp(k.log_scales)) ** 2))


@pytest.mark.parametrize("name", KERNELS)
def test_value_is_the_formula(name, rng):
    A, B = rng.normal(size=(4, 3)), rng.normal(size=(5, 3))
    expected = [[textbook(name, a, b) for b in B] for a in A]
    assert_allclose(KERNELS[name](A, B), expected, rtol=1e-12)


def test_the_evaluator_gives_the_same_value(kernel, rng):
    X = rng.normal(size=(9, 3))
    assert_allclose(kernel.evaluator(X)(kernel.theta)[0], kernel(X, X), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("triangle", [False, True], ids=["full", "lower triangle"])
def test_pullback_matches_finite_differences(kernel, rng, triangle):
    X, M = rng.normal(size=(9, 3)), rng.normal(size=(9, 9))
    M = np.tril(M) if triangle else M

    def total(theta):
        return float((M * kernel.with_theta(theta)(X, X)).sum())

    expected = approx_fprime(kernel.theta, total, 1e-7) if len(kernel.theta) else np.zeros(0)
    assert_allclose(kernel.evaluator(X)(kernel.theta)[1](M), expected, rtol=1e-5, atol=1e-5)


def test_gradient_matches_finite_differences(kernel, rng):
    Z, P, a = rng.normal(size=(6, 3)), rng.normal(size=(5, 3)), rng.normal(size=5)
    expected = numeric_gradient(lambda X: kernel(X, P) @ a, Z)
    assert_allclose(kernel.gradient(Z, P, a), expected, rtol=1e-6, atol=1e-8)


def test_log_prior_matches_finite_differences(kernel):
    value, slope = kernel.log_prior()
    assert value <= 0.0
    if len(kernel.theta):
        numeric = approx_fprime(kernel.theta, lambda t: kernel.with_theta(t).log_prior()[0], 1e-7)
        assert_allclose(slope, numeric, rtol=1e-4, atol=1e-5)


def test_stretch_multiplies_every_length_scale(kernel, rng):
    if kernel.name == "linear":
        return
    A, B = rng.normal(size=(4, 3)), rng.normal(size=(5, 3))
    assert_allclose(kernel.stretched(2.0)(2 * A, 2 * B), kernel(A, B), rtol=1e-12)
