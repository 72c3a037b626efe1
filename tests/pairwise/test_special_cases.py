"""Special cases of design.md 2.4: other people's methods must come out exactly."""

import numpy as np
import pytest
from helpers import loop_sqdist, make_data, plain_weights
from sklearn.linear_model import Lasso

from gradsift import (
    OuterProductGradient,
    RidgeGradientRegressor,
    SolverSettings,
    SparseGradientRegressor,
)
from gradsift.data import ArraySource
from gradsift.pairwise.assemble import PairResponse, Settings, assemble
from gradsift.pairwise.local_linear import local_gradients
from gradsift.solver import Solver, null_solution, solve


@pytest.mark.parametrize("share", [0.6, 0.1])
def test_constant_kernel_is_a_lasso_on_pair_differences(share):
    """f is one vector: minimise 1/n^2 sum w_ij (y_j - y_i - f.(x_j - x_i))^2 + alpha |f|_1.

    scikit-learn's Lasso has 1/(2 N) in front of the squares, N = n^2 rows: half of ours.
    """
    n, p = 15, 6
    X, y = make_data("regression", n=n, p=p)
    model = SparseGradientRegressor(
        kernel="constant", standardize=False, solver=SolverSettings(tol=1e-10)
    )
    top = model.fit(X, y).alpha_max_
    alpha = share * top
    model.set_params(alpha=alpha).fit(X, y)
    root = np.sqrt(plain_weights(X)).ravel()
    rows = (X[None] - X[:, None]).reshape(-1, p) * root[:, None]
    change = (y[None] - y[:, None]).ravel() * root
    lasso = Lasso(alpha=alpha / 2, fit_intercept=False, tol=1e-12, max_iter=100_000)
    slope = lasso.fit(rows, change).coef_
    np.testing.assert_allclose(model.feature_importances_, np.abs(slope), atol=1e-5)
    np.testing.assert_allclose(model.gradient(X), np.tile(slope, (n, 1)), atol=1e-5)
    assert top == pytest.approx(2 * np.abs(rows.T @ change).max() / n**2)  # the lasso's own


@pytest.mark.parametrize("share", [0.0, 1e-9])
def test_delta_kernel_without_penalty_is_opg(share):
    """p < neighbours and alpha = 0: an independent weighted least squares fit at each sample."""
    X, y = make_data("regression", n=14, p=3)
    assembly = assemble(
        ArraySource(X), PairResponse.numbers(y), Settings(kernel="delta", standardize=False)
    )
    null = null_solution(assembly.problem)
    sharp = Solver(tol=1e-13, max_iter=200_000)
    best = solve(assembly.problem, share * null.alpha, null=null, solver=sharp)
    F = assembly.factor.L @ best.rows.dense(3).T
    by_hand = local_gradients(X, y, plain_weights(X))
    np.testing.assert_allclose(F, by_hand, atol=1e-3 * np.abs(by_hand).max())
    opg = OuterProductGradient(standardize=False).fit(X, y)
    np.testing.assert_allclose(opg.gradient(X), by_hand, atol=1e-8)


@pytest.mark.parametrize("kernel", ["affine", "gaussian"])
def test_ridge_is_closed_form_gl(kernel):
    """One dense linear system in all n p values of C, built pair by pair (Mukherjee & Zhou)."""
    n, p, alpha = 9, 3, 0.02
    X, y = make_data("regression", n=n, p=p)
    W = plain_weights(X) / n**2
    K = 1 + X @ X.T if kernel == "affine" else plain_weights(X)
    # f^k(x_i) = sum_l C_kl K_li; normal equations of the squares plus alpha sum_k C_k K C_k'
    A, b = np.zeros((n * p, n * p)), np.zeros(n * p)
    for i in range(n):
        for j in range(n):
            row = np.kron(X[j] - X[i], K[i])
            A += W[i, j] * np.outer(row, row)
            b += W[i, j] * (y[j] - y[i]) * row
    A += alpha * np.kron(np.eye(p), K)
    C = np.linalg.lstsq(A, b, rcond=1e-13)[0].reshape(p, n)
    model = RidgeGradientRegressor(alpha, kernel=kernel, standardize=False).fit(X, y)
    np.testing.assert_allclose(model.gradient(X), (C @ K).T, atol=1e-6)
    sizes = np.sqrt(np.einsum("kl,lm,km->k", C, K, C))
    np.testing.assert_allclose(model.feature_importances_, sizes, atol=1e-6)
    # anywhere else too: f^k(x) = sum_i c_i^k K(x, x_i)
    new = np.random.default_rng(1).normal(size=(4, p))
    D = loop_sqdist(X, X)
    s2 = 0.25 * np.median(D[D > 0])
    K_new = 1 + new @ X.T if kernel == "affine" else np.exp(-loop_sqdist(new, X) / (2 * s2))
    np.testing.assert_allclose(model.gradient(new), K_new @ C.T, atol=1e-6)
