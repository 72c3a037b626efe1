"""Newton steps on the rows that are in: exact second derivatives, descent, few products."""

import numpy as np
import pytest
from helpers import make_assembly, make_data

from gradsift import gradient_path
from gradsift.pairwise.datafit import ResidualForm
from gradsift.solver import newton
from gradsift.solver.forward_backward import (
    InnerSolver,
    Point,
    duality_gap,
    forward_backward,
    objective,
    slope_at,
)
from gradsift.solver.newton import RowBend, TaskMean, manifold_newton, newton_step, staying
from gradsift.solver.penalty import GroupLasso, row_norms

P = 6


def restricted(task, omega=None):
    X, y = make_data(task, n=14, p=P, seed=2)
    datafit = make_assembly(task, X, y).problem.datafit
    penalty = GroupLasso(np.ones(P) if omega is None else omega)
    zero = np.zeros((P, datafit.n_tasks))
    return ResidualForm(datafit, X), penalty, zero, datafit.start()


def test_row_bend_is_the_second_derivative_of_the_norms(rng):
    B, D, limits = rng.normal(size=(4, 3)), rng.normal(size=(4, 3)), rng.uniform(size=4)

    def slope(B):
        return limits[:, None] * B / row_norms(B)[:, None]

    bend, h = RowBend.at(B, limits), 1e-6
    derivative = (slope(B + h * D) - slope(B - h * D)) / (2 * h)
    np.testing.assert_allclose(bend.times(D), derivative, atol=1e-8)
    solved = bend.solve(D, 0.7)
    np.testing.assert_allclose(0.7 * solved + bend.times(solved), D, atol=1e-12)


def test_task_mean_is_left_out_where_the_hessian_is_rounding_only(rng):
    bend = RowBend.at(rng.normal(size=(3, 2)), np.ones(3))
    assert TaskMean.of(bend, np.zeros((3, 3))) is None
    assert TaskMean.of(bend, 1e-16 * np.array([[0, 1, 0], [1, 0, -1], [0, -1, 1]])) is None


def test_task_mean_inverts_each_part_where_all_tasks_bend_alike(rng):
    """Along one row alone, and across all of them at once with one stiffness, it is exact."""
    root, B = rng.normal(size=(9, 5)), rng.normal(size=(5, 3))
    H = root.T @ root
    bend = RowBend.at(B, np.full(5, 0.8) * row_norms(B))
    mean = TaskMean.of(bend, H)
    floor = newton.LEAST_BEND * np.trace(H) / 5
    alone = np.zeros((5, 3))
    alone[2] = 1.7 * bend.unit[2]
    pulled = (H @ mean.solve(alone) + floor * mean.solve(alone)) * bend.unit
    np.testing.assert_allclose(pulled.sum(axis=1), [0, 0, 1.7, 0, 0], atol=1e-10)
    one_row = TaskMean.of(RowBend.at(B[:1], np.array([0.8])), H[:1, :1])
    R = rng.normal(size=(1, 3))
    step = one_row.solve(R)
    back = H[0, 0] * step + RowBend.at(B[:1], np.array([0.8])).times(step)
    np.testing.assert_allclose(back, R, rtol=2 * newton.LEAST_BEND)


def test_few_products_where_rows_are_nearly_as_many_as_samples(monkeypatch):
    """What the small matrices are for; without them the same step takes three times as many."""
    X, y = make_data("regression", n=40, p=36, seed=3)
    datafit = make_assembly("regression", X, y).problem.datafit
    phi, penalty = ResidualForm(datafit, X), GroupLasso(np.ones(36))
    zero = np.zeros((36, datafit.n_tasks))
    settings = InnerSolver(1e-6, 10_000)
    few = manifold_newton(phi, penalty, zero, datafit.start(), 1e-3, settings)
    monkeypatch.setattr(newton, "MOST_DIRECT", 0)
    many = manifold_newton(phi, penalty, zero, datafit.start(), 1e-3, settings)
    np.testing.assert_allclose(row_norms(few.B), row_norms(many.B), atol=2e-2)
    assert 2 * few.n_iter < many.n_iter


@pytest.mark.parametrize("omega", [None, np.array([0.0, 1.0, 2.0, 1.0, 0.5, 1.0])])
def test_same_minimiser_as_forward_backward_steps(task, omega):
    phi, penalty, B, v = restricted(task, omega)
    alpha, sharp = 0.01, InnerSolver(1e-10, 100_000)
    fast = manifold_newton(phi, penalty, B, v, alpha, sharp)
    slow = forward_backward(phi, penalty, B, v, alpha, InnerSolver(1e-8, 100_000, "fista"))
    at = Point(fast.B, fast.v, phi.image(fast.B, fast.v))
    assert duality_gap(phi, penalty.limits(alpha), at, slope_at(phi, at)) <= 1e-10
    np.testing.assert_allclose(row_norms(fast.B), row_norms(slow.B), atol=1e-3)
    assert fast.n_iter < slow.n_iter


def test_a_newton_step_never_goes_uphill(task, rng):
    """Wherever it starts: rows that would turn round stop at zero, steps too long are halved."""
    phi, penalty, B, v = restricted(task)
    limits = penalty.limits(0.05)
    for size in (1e-3, 0.1, 3.0):
        B, v = size * rng.normal(size=B.shape), size * rng.normal(size=v.shape)
        B[1] = 0.0
        at = Point(B, v, phi.image(B, v))
        new, products = newton_step(phi, limits, at, slope_at(phi, at), 1.0, budget=20)
        assert objective(phi, limits, new) <= objective(phi, limits, at) * (1 + 1e-15)
        assert products <= 20
        assert (new.B[1] == 0.0).all()  # only a forward-backward step lets a row in
        np.testing.assert_allclose(new.image, phi.image(new.B, new.v))


def test_rows_about_to_vanish_are_no_part_of_a_newton_step():
    """A forward-backward step is 1 / bound long: what two of them would remove is left to them."""
    B = np.array([[1e-3, 0.0], [1.0, 0.0], [1e-3, 0.0], [0.0, 0.0], [0.0, 0.0]])
    shrinking, growing = [0.5, 0.0], [-2.0, 0.0]
    slope = np.array([shrinking, shrinking, growing, growing, growing])
    limits = np.array([1.0, 1.0, 1.0, 1.0, 0.0])  # the last row is always kept
    assert staying(B, slope, limits, 10.0).tolist() == [1, 2, 4]


def test_correlated_columns_cost_no_rejected_steps(monkeypatch):
    """Genes in three programmes: every Newton step should go somewhere."""
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(40, 3))
    X = factors @ rng.normal(size=(3, 1500)) + 0.2 * rng.normal(size=(40, 1500))
    y = np.sign(factors[:, 0] + 0.5 * factors[:, 1])
    taken = []

    def watched(phi, limits, at, *rest):
        new, products = newton_step(phi, limits, at, *rest)
        taken.append(new is not at)
        return new, products

    monkeypatch.setattr(newton, "newton_step", watched)
    path = gradient_path(X, y, n_alphas=15)
    assert len(taken) > 15
    assert np.mean(taken) > 0.97
    assert path.n_iter.sum() < 850
