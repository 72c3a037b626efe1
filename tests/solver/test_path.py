"""Paths: the grid, its checks, and what a result reports."""

import numpy as np
import pytest
from helpers import make_assembly, make_data

from gradsift.solver import Solver, null_solution
from gradsift.solver.path import check_alphas, fit_path, fit_to, geometric_grid, steps_to


@pytest.fixture
def problem():
    X, y = make_data("regression", n=20, p=8)
    return make_assembly("regression", X, y).problem


def test_grid():
    np.testing.assert_allclose(geometric_grid(8.0, 4, 1 / 8), [8, 4, 2, 1])
    assert geometric_grid(8.0, 3, 0.1)[0] == 8.0  # to the bit: alpha_max selects nothing
    with pytest.raises(ValueError, match="n_alphas=0: a path needs at least one alpha"):
        geometric_grid(1.0, 0, 0.1)
    for eps in (0.0, -1.0, 1.5, np.nan):
        with pytest.raises(ValueError, match="0 < eps <= 1"):
            geometric_grid(1.0, 3, eps)


def test_check_alphas():
    assert check_alphas([1, 3, 2]).tolist() == [3, 2, 1]
    assert check_alphas(0.5).tolist() == [0.5]
    for bad in ([], [1.0, -1e-3], [np.nan], [np.inf, 1.0]):
        with pytest.raises(ValueError, match="alphas must be a list of finite numbers >= 0"):
            check_alphas(bad)


def test_result_reports_each_answer(problem):
    seen = []
    path = fit_path(
        problem,
        lambda top: geometric_grid(top, 6, 0.05),
        Solver(1e-6),
        progress=seen.append,
    )
    assert seen == list(path.solutions)
    assert path.importances.shape == (6, 8)
    for row, support in zip(path.importances, path.supports):
        assert np.flatnonzero(row).tolist() == support.tolist()
    assert len(path.supports[0]) == 0
    assert path.alphas[0] == path.alpha_max == null_solution(problem).alpha
    assert path.converged.all()
    assert (path.dual_gaps <= 1e-6).all()
    assert path.n_iter.shape == path.kkt_violations.shape == (6,)
    # as alpha falls the whole objective falls, and the data term with it
    primal = [s.certificate.primal for s in path.solutions]
    assert (np.diff(primal) < 0).all()
    fit = np.array(primal) - path.alphas * path.importances.sum(axis=1)
    assert (np.diff(fit) < 0).all()


def test_order_of_alphas_does_not_matter(problem):
    top = null_solution(problem).alpha
    a, b = (fit_path(problem, top * np.array(s), Solver()) for s in ([0.5, 0.1], [0.1, 0.5]))
    np.testing.assert_array_equal(a.importances, b.importances)


def test_fit_to_reaches_the_path(problem):
    null, sharp = null_solution(problem), Solver(1e-9, 100_000)
    seen = []
    one = fit_to(problem, 0.02 * null.alpha, sharp, null=null, progress=seen.append)
    assert [found.alpha for found in seen] == steps_to(0.02 * null.alpha, null.alpha)
    assert seen[-1].rows is one.rows
    assert one.n_iter == sum(found.n_iter for found in seen)  # the whole way down
    path = fit_path(problem, null.alpha * np.geomspace(1, 0.02, 5), sharp)
    assert one.certificate.primal == pytest.approx(path.solutions[-1].certificate.primal, rel=1e-8)


def test_a_free_column_that_is_constant_is_in_no_support():
    X, y = make_data("regression", n=20, p=4)
    X[:, 2] = 0.0
    problem = make_assembly("regression", X, y, penalty_factor=np.zeros(4)).problem
    path = fit_path(problem, lambda top: np.array([1.0, top]), Solver(1e-6))
    for support, importances in zip(path.supports, path.importances):
        assert support.tolist() == np.flatnonzero(importances).tolist() == [0, 1, 3]


def test_a_violation_has_a_unit_where_nothing_is_penalised():
    X, y = make_data("regression", n=20, p=4)
    for size in (1e-30, 1.0, 1e30):
        problem = make_assembly("regression", X, size * y, penalty_factor=np.zeros(4)).problem
        assert null_solution(problem).alpha == 0.0
        assert null_solution(problem).certificate.violation < 1e-6
