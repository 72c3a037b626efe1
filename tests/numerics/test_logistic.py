"""Ridge-penalised logistic regression: the solution is that of a general optimiser."""

import numpy as np
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.special import logsumexp

from gradsift.numerics.logistic import fit_binary, fit_multinomial


def test_binary_solution_and_leave_one_out_match_brute_force(rng):
    n, penalty = 40, 0.5
    Phi = np.column_stack([rng.normal(size=(n, 3)), np.ones(n)])
    t = (Phi @ [1.0, -1.0, 0.5, 0.3] + rng.normal(size=n) > 0).astype(float)

    def objective(beta, keep):
        u = Phi[keep] @ beta
        return np.sum(np.logaddexp(0, u) - t[keep] * u) + 0.5 * penalty * beta[:3] @ beta[:3]

    def solve(keep):
        return minimize(objective, np.zeros(4), args=(keep,), tol=1e-10).x

    fit = fit_binary(Phi, t, np.ones(n), penalty, np.zeros(4))
    assert_allclose(fit.beta[:, 0], solve(np.arange(n)), atol=1e-3)
    left = [Phi[i] @ solve(np.delete(np.arange(n), i)) for i in range(n)]
    exact = np.mean(np.logaddexp(0, left) - t * left)
    assert_allclose(fit.loo_loss, exact, rtol=0.03)


def test_multinomial_solution_matches_a_general_optimiser(rng):
    n, C, penalty = 60, 3, 0.7
    Phi = np.column_stack([rng.normal(size=(n, 2)), np.ones(n)])
    T = np.eye(C)[rng.integers(0, C, n)]
    w = rng.uniform(0.5, 2.0, n)

    def objective(flat):
        B = flat.reshape(3, C)
        U = Phi @ B
        fit = w @ (logsumexp(U, axis=1) - (T * U).sum(1))
        return fit + 0.5 * penalty * (B[:2] ** 2).sum() + 0.5e-6 * (B[2] ** 2).sum()

    expected = minimize(objective, np.zeros(3 * C), tol=1e-12).x.reshape(3, C)
    found = fit_multinomial(Phi, T, w, penalty, np.zeros((3, C)))
    assert objective(found.ravel()) <= objective(expected.ravel()) + 1e-5
    assert_allclose(found, expected - expected.mean(1, keepdims=True), atol=1e-2)
