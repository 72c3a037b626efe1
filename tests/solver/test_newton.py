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
from gradsift.solver.newton import Standing, admitted, lengths, manifold_newton, newton_step
from gradsift.solver.problem import GroupLasso, row_norms

P = 6


def restricted(task, omega=None):
    X, y = make_data(task, n=14, p=P, seed=2)
    datafit = make_assembly(task, X, y).problem.datafit
    penalty = GroupLasso(np.ones(P) if omega is None else omega)
    zero = np.zeros((P, datafit.n_tasks))
    return ResidualForm(datafit, X), penalty, zero, datafit.start()


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
    slow = forward_backward(phi, penalty, B, v, alpha, InnerSolver(1e-8, 100_000))
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
        hard = size > 1.0  # both preconditioners
        new, products = newton_step(
            phi, limits, Standing.at(phi, limits, at), 1.0, budget=20, hard=hard
        )
        assert objective(phi, limits, new) <= objective(phi, limits, at) * (1 + 1e-15)
        assert products <= 20
        assert (new.B[1] == 0.0).all()  # only a forward-backward step lets a row in
        np.testing.assert_allclose(new.image, phi.image(new.B, new.v))


def test_only_so_many_rows_come_in_those_first_that_want_to_most():
    slope = np.array([[3.0], [1.5], [0.5], [0.1], [2.0]])
    inside = np.array([False, False, False, True, False])
    assert admitted(slope, np.ones(5), inside, 2).tolist() == [True, False, False, True, True]
    assert admitted(slope, np.ones(5), inside, 9).tolist() == [True, True, False, True, True]


@pytest.mark.parametrize("n_stops", [0, 1, 2, 5])
def test_lengths_of_a_step_fall_and_end_before_any_row_has_turned(n_stops):
    stops = np.linspace(0.1, 0.9, n_stops)
    tried = list(lengths(stops))
    assert tried[0] == 1.0
    assert (np.diff(tried) < 0).all()
    assert tried[-1] < 0.1
    assert n_stops == 0 or stops[0] in tried


def test_near_copies_of_a_column_take_few_products():
    """Spectra: neighbouring columns are nearly the same, and most that come in leave again."""
    rng = np.random.default_rng(0)
    waves = np.linspace(0.0, 6.0, 200)
    X = sum(
        rng.normal(size=(40, 1)) * np.exp(-((waves - centre) ** 2)) for centre in np.arange(0, 7, 1)
    )
    X += 1e-3 * rng.normal(size=X.shape)
    y = X[:, 50] - X[:, 120] + 0.01 * rng.normal(size=40)
    path = gradient_path(X, y, n_alphas=15, eps=0.02)
    assert path.converged.all()
    assert path.n_iter.sum() < 1500  # 105,000 where a step that leads uphill is only halved


def test_correlated_columns_cost_no_rejected_steps(monkeypatch):
    """Genes in three programmes: every Newton step should go somewhere."""
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(40, 3))
    X = factors @ rng.normal(size=(3, 1500)) + 0.2 * rng.normal(size=(40, 1500))
    y = np.sign(factors[:, 0] + 0.5 * factors[:, 1])
    taken = []

    def watched(phi, limits, now, *rest, **options):
        new, products = newton_step(phi, limits, now, *rest, **options)
        taken.append(new is not now.point)
        return new, products

    monkeypatch.setattr(newton, "newton_step", watched)
    path = gradient_path(X, y, n_alphas=15)
    assert len(taken) > 15
    assert np.mean(taken) > 0.97
    assert path.n_iter.sum() < 850
