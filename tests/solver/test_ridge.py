"""GL: the ridge solver in n dimensions against cvxpy and a brute-force linear system."""

import numpy as np
import pytest
from helpers import (
    affine_features,
    cvxpy_optimum,
    kkt_violation,
    loop_gradient,
    make_assembly,
    make_data,
    plain_weights,
    split_outputs,
)

from gradsift.data import ArraySource
from gradsift.solver.problem import Ridge
from gradsift.solver.ridge import expand, solve_ridge

N = 12


# also p > n, where X X' is all there is
@pytest.mark.parametrize(("alpha", "p"), [(1e-3, 6), (0.1, 6), (0.01, 14)])
def test_ridge_matches_cvxpy(task, alpha, p):
    X, y = make_data(task, n=N, p=p, seed=3)
    assembly = make_assembly(task, X, y)
    A, v = solve_ridge(assembly.problem.datafit, X @ X.T, alpha)
    B = expand(ArraySource(X), A)
    datafit = assembly.problem.datafit
    ours = datafit.value(datafit.predict(X @ B, v), v) + Ridge().value(B, alpha)
    W = plain_weights(X) / N**2
    twin, fields = cvxpy_optimum(task, X, y, affine_features(X), W, alpha, ridge=True)
    assert ours == pytest.approx(twin, rel=1e-6)
    near = split_outputs(B, assembly.factor.L)
    np.testing.assert_allclose(near, fields, atol=1e-3 * np.abs(fields).max())
    # optimality, pair by pair: gradient + 2 alpha B = 0, and the offset's gradient is zero
    G, g = loop_gradient(task, X, y, W, assembly.factor.L, B, v)
    assert kkt_violation(G + 2 * alpha * B, B, np.zeros(p)) < 1e-7
    assert np.abs(g).max(initial=0.0) < 1e-7


def test_no_columns_in_play():
    X, y = make_data("regression", n=N, p=3)
    datafit = make_assembly("regression", X, y).problem.datafit
    A, _ = solve_ridge(datafit, np.zeros((N, N)), 0.1)
    assert (A == 0).all()
