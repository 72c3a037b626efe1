import numpy as np
import pytest

from gradsift import gradient_path
from gradsift.solver import problem as problems
from gradsift.solver.problem import Screen


@pytest.mark.parametrize("scale", [1e-100, 1.0, 1e100])
def test_norms_to_six_digits_and_nobody_near_a_limit_is_missed(scale, rng):
    X = rng.normal(size=(40, 300)) * rng.choice([1e-3, 1.0, 1e3], size=300)
    X[:, 7] = 0.0
    M = scale * rng.normal(size=(40, 9))
    exact = np.linalg.norm(X.T @ M, axis=1)
    for factor in (1.0, 1.0 - 1e-7, 1.0 + 1e-7):  # limits that single precision cannot tell apart
        norms, close = Screen.of(X).norms(M, factor * exact)
        np.testing.assert_allclose(norms, exact, rtol=2e-6, atol=1e-9 * exact.max())
        np.testing.assert_array_equal(close, np.arange(300))
    _, close = Screen.of(X).norms(M, 1.01 * exact + 1e-12 * exact.max())
    assert len(close) == 0


def test_paths_are_certified_as_in_double_precision(rng, monkeypatch):
    X = rng.normal(size=(50, 400))
    y = X[:, 0] + X[:, 1] ** 2 + 0.1 * rng.normal(size=50)
    double = gradient_path(X, y, n_alphas=12, tol=1e-8)
    monkeypatch.setattr(problems, "LEAST_COLUMNS", 1)
    single = gradient_path(X, y, n_alphas=12, tol=1e-8)
    assert single.dual_gaps.max() <= 1e-8
    np.testing.assert_allclose(single.importances, double.importances, rtol=1e-4, atol=1e-9)
    for a, b in zip(single.solutions, double.solutions):
        np.testing.assert_allclose(a.norms, b.norms, rtol=1e-4)


def test_a_column_at_its_limit_is_seen_in_double(rng, monkeypatch):
    """Copies of a selected column sit exactly at the limit: the violation must not show 1e-7."""
    monkeypatch.setattr(problems, "LEAST_COLUMNS", 1)
    X = rng.normal(size=(60, 30))
    X[:, 20] = X[:, 0]
    y = 2 * X[:, 0] + 0.1 * rng.normal(size=60)
    path = gradient_path(X, y, n_alphas=5, tol=1e-12)
    assert path.kkt_violations.max() < 1e-6
    assert path.dual_gaps.max() <= 1e-12
