"""Inner solver: its curvature bound, descent, and what happens where there is nothing to do."""

import numpy as np
import pytest
from helpers import make_assembly, make_data

from gradsift.pairwise.datafit import GramForm, ResidualForm
from gradsift.solver.forward_backward import (
    InnerSolver,
    curvature_along,
    feasibility,
    forward_backward,
    step_bound,
)
from gradsift.solver.newton import manifold_newton
from gradsift.solver.problem import GroupLasso, row_norms


@pytest.fixture(params=[GramForm, ResidualForm])
def squares(request):
    """The regression data term on three columns, in either form."""
    X, y = make_data("regression", n=8, p=3)
    datafit = make_assembly("regression", X, y).problem.datafit
    return request.param(datafit, X), datafit.n_tasks, datafit.start()


def test_step_bound_is_the_largest_eigenvalue(squares):
    """For squares the Hessian is fixed: power iteration comes close, 5 % on the safe side."""
    phi, q, v = squares

    def slope(B):
        return phi.gradient(phi.image(B, v), B, v)[0]

    units = np.eye(3 * q).reshape(-1, 3, q)
    H = [(slope(unit) - slope(0 * unit)).ravel() for unit in units]
    largest = np.linalg.eigvalsh(np.array(H))[-1]
    start = np.random.default_rng(0).normal(size=(3, q))
    assert 0.99 * largest <= step_bound(phi, start, v, n_iter=50) <= 1.051 * largest


def test_columns_of_zeros_change_nothing():
    X, y = make_data("regression", n=8, p=3)
    datafit = make_assembly("regression", X, y).problem.datafit
    B, penalty = np.zeros((2, datafit.n_tasks)), GroupLasso(np.ones(2))
    for form in (GramForm, ResidualForm):
        phi = form(datafit, np.zeros((8, 2)))
        for solver in (forward_backward, manifold_newton):
            got = solver(phi, penalty, B, datafit.start(), 0.1, InnerSolver(1e-6, 50))
            assert got.n_iter == 0
            assert (got.B == 0).all()


def test_plain_steps_never_go_uphill(task):
    """Forward-backward splitting descends at every step; the paper's convergence rests on it."""
    X, y = make_data(task, n=10, p=4)
    datafit = make_assembly(task, X, y).problem.datafit
    phi, penalty, alpha = ResidualForm(datafit, X), GroupLasso(np.ones(4)), 0.01
    B, v, last = np.zeros((4, datafit.n_tasks)), datafit.start(), np.inf
    for _ in range(30):
        B, v, n_iter = forward_backward(phi, penalty, B, v, alpha, InnerSolver(-1.0, 1))
        now = phi.value(phi.image(B, v), B, v) + float(penalty.limits(alpha) @ row_norms(B))
        assert n_iter == 1
        assert now <= last + 1e-12
        last = now


def test_feasibility():
    """Shrinking stops at the worst ratio; a free row pays its Fenchel residual instead."""
    limits, norms, sizes = np.array([2.0, 1.0, 0.0]), np.array([1.0, 4.0, 0.5]), np.array([1, 1, 3])
    got = feasibility(limits, norms, sizes)
    assert got.shrink == 0.25
    assert got.residual == 1.5
    assert feasibility(limits[:1], norms[:1], sizes[:1]).shrink == 1.0


def test_curvature_along_steps_whose_squares_vanish():
    """Columns of values around 1e200 move by 1e-200: the step is short, its curvature is not 0."""
    dB, dv = np.array([[3e-170, 0.0]]), np.array([4e-170])
    assert curvature_along(2.0 * (5e-170 * 1e150) ** 2, dB, dv) == pytest.approx(2e300)
    assert curvature_along(0.0, dB, dv) == 0.0
    assert curvature_along(1.0, 0 * dB, 0 * dv) == 0.0
