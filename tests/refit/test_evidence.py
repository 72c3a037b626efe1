"""The evidence against a plain multivariate normal, its gradient against finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime
from scipy.stats import multivariate_normal

from gradsift.numerics.ard_kernels import ArdGaussian, DotProduct
from gradsift.refit.evidence import (
    RefitRows,
    linear_evidence,
    lower_inverse,
    maximise_evidence,
    pivoted_features,
    residuals_and_leverages,
    solve_ridge,
)
from gradsift.refit.evidence import negative_log_evidence as evidence_at

ETA = 0.2


def negative_log_evidence(theta, kernel, rows):
    return evidence_at(theta, kernel, rows, kernel.evaluator(rows.X))


def reference(kernel, X, Y):
    """-log p(Y) by scipy, at the best scale of every column."""
    A = kernel(X, X) + ETA * np.eye(len(X))
    scales = [y @ np.linalg.solve(A, y) / len(y) for y in Y.T]
    return -sum(multivariate_normal(cov=s * A).logpdf(y) for s, y in zip(scales, Y.T))


def test_value_matches_scipy(kernel, rng):
    X, Y = rng.normal(size=(12, 3)), rng.normal(size=(12, 2))
    rows = RefitRows(X, Y, np.ones(12))
    value, _ = negative_log_evidence(np.append(kernel.theta, np.log(ETA)), kernel, rows)
    assert_allclose(value + kernel.log_prior()[0], reference(kernel, X, Y), rtol=1e-10)


@pytest.mark.parametrize("weighted", [False, True])
def test_gradient_matches_finite_differences(kernel, rng, weighted):
    X, Y = rng.normal(size=(12, 3)), rng.normal(size=(12, 2))
    rows = RefitRows(X, Y, rng.uniform(0.3, 3.0, 12) if weighted else np.ones(12))
    theta = np.append(kernel.theta, np.log(ETA))
    _, slope = negative_log_evidence(theta, kernel, rows)
    numeric = approx_fprime(theta, lambda t: negative_log_evidence(t, kernel, rows)[0], 1e-6)
    assert_allclose(slope, numeric, rtol=1e-4, atol=1e-4)


def test_weights_are_repetitions(kernel, rng):
    """A row of weight 3 counts like three rows: same evidence, same gradient."""
    X, Y, w = rng.normal(size=(8, 3)), rng.normal(size=(8, 1)), rng.integers(1, 4, 8)
    theta = np.append(kernel.theta, np.log(ETA))
    weighted = negative_log_evidence(theta, kernel, RefitRows(X, Y, w.astype(float)))
    many = RefitRows(np.repeat(X, w, 0), np.repeat(Y, w, 0), np.ones(w.sum()))
    repeated = negative_log_evidence(theta, kernel, many)
    assert_allclose(weighted[0], repeated[0], rtol=1e-9)
    assert_allclose(weighted[1], repeated[1], rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(("n", "d"), [(30, 3), (5, 8)])
def test_the_linear_kernel_needs_no_matrix_of_all_rows(rng, n, d):
    rows = RefitRows(rng.normal(size=(n, d)), rng.normal(size=(n, 2)), rng.uniform(0.3, 3.0, n))
    kernel = DotProduct(d)
    for theta in np.log([[1e-3], [0.2], [5.0]]):
        value, slope = linear_evidence(kernel, rows)(theta)
        expected, expected_slope = negative_log_evidence(theta, kernel, rows)
        assert_allclose(value, expected, rtol=1e-10)
        assert_allclose(slope, expected_slope, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("n", [1, 63, 64, 65, 200, 301])
def test_a_triangle_is_inverted_in_halves(rng, n):
    A = rng.normal(size=(n, n))
    L = np.asfortranarray(np.linalg.cholesky(A @ A.T + n * np.eye(n)))
    assert_allclose(lower_inverse(L) @ L, np.eye(n), atol=1e-10)


def test_maximiser_improves_and_is_stationary(smooth):
    X, y = smooth
    rows = RefitRows(X, (y - y.mean())[:, None], np.ones(len(y)))
    start = ArdGaussian(np.zeros(3))
    fit = maximise_evidence(start, rows, np.log(0.1), max_iter=200, tol=1e-12)
    assert fit.loss < negative_log_evidence(np.append(start.theta, np.log(0.1)), start, rows)[0]
    theta = np.append(fit.kernel.theta, np.log(fit.noise_ratio))
    slope = negative_log_evidence(theta, fit.kernel, rows)[1]
    inside = np.append(fit.kernel.theta < np.log(999.0), True)
    assert np.abs(slope[inside]).max() < 0.05


def test_ridge_is_the_textbook_posterior(kernel, rng):
    """Mean K(Z, X) (K + eta W^-1)^-1 y, scale and leave-one-out residuals by dense algebra."""
    X, Z, y = rng.normal(size=(20, 3)), rng.normal(size=(6, 3)), rng.normal(size=20)
    w = rng.uniform(1.0, 3.0, 20)
    rows = RefitRows(X, y[:, None], w)
    features = pivoted_features(kernel, X)
    ridge = solve_ridge(features, ETA, rows)
    A = kernel(X, X) + np.diag(ETA / w)
    a = np.linalg.solve(A, y)
    assert_allclose(features.expansion(ridge.beta).value(Z)[:, 0], kernel(Z, X) @ a, atol=1e-7)
    assert_allclose(ridge.scale[0], y @ a / w.sum(), rtol=1e-7)

    unit = RefitRows(X, y[:, None], np.ones(20))
    ridge = solve_ridge(features, ETA, unit)
    inverse = np.linalg.inv(kernel(X, X) + ETA * np.eye(20))
    residuals, leverages = residuals_and_leverages(ridge, unit)
    expected = (inverse @ y) / np.diag(inverse)
    assert_allclose(residuals[:, 0] / (1 - leverages), expected, rtol=1e-5, atol=1e-7)
