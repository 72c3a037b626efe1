"""The solver against cvxpy, and its certificate against a recomputation from scratch."""

from dataclasses import replace

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
)

from gradsift.solver import Rows, Solver, Status, null_solution, solve
from gradsift.solver.path import fit_path, fit_to
from gradsift.solver.working_set import worst_offenders

N, P = 12, 6
FACTORS = {"plain": np.ones(P), "factors": np.array([0.0, 1.0, 0.5, 2.0, 1.0, 1.0])}
SHARP = Solver(tol=1e-9, max_iter=200_000)


def small(task, kernel="affine", omega=None):
    X, y = make_data(task, n=N, p=P, seed=3)
    return X, y, make_assembly(task, X, y, kernel=kernel, penalty_factor=omega)


@pytest.mark.parametrize("factors", FACTORS)
@pytest.mark.parametrize("share", [0.5, 0.05])
def test_solution_matches_cvxpy(task, share, factors):
    omega = FACTORS[factors]
    X, y, assembly = small(task, omega=omega)
    null = null_solution(assembly.problem)
    alpha = share * null.alpha
    ours = solve(assembly.problem, alpha, null=null, solver=SHARP)
    W = plain_weights(X) / N**2
    twin, fields = cvxpy_optimum(task, X, y, affine_features(X), W, alpha, omega=omega)
    assert ours.certificate.primal == pytest.approx(twin, rel=1e-6)
    assert ours.certificate.dual <= twin * (1 + 1e-6)  # the bound we report is a bound
    # the same variables, up to the interior point method's blur
    sizes = np.linalg.norm(fields, axis=(0, 1))
    assert set(np.flatnonzero(sizes > 1e-3 * sizes.max())) <= set(ours.rows.index)
    if factors == "factors":
        assert 0 in ours.rows.index  # never penalised: always in


def test_gaussian_kernel_matches_cvxpy():
    X, y, assembly = small("regression", kernel="gaussian")
    null = null_solution(assembly.problem)
    alpha = 0.1 * null.alpha
    ours = solve(assembly.problem, alpha, null=null, solver=SHARP)
    W = plain_weights(X)  # by default the kernel uses the same rule for its scale
    phi = np.linalg.cholesky(W)
    twin, _ = cvxpy_optimum("regression", X, y, phi, W / N**2, alpha)
    assert ours.certificate.primal == pytest.approx(twin, rel=1e-6)


@pytest.mark.parametrize("factors", FACTORS)
def test_alpha_max_is_the_smallest_that_selects_nothing(task, factors):
    omega = FACTORS[factors]
    X, y, assembly = small(task, omega=omega)
    null = null_solution(assembly.problem)
    free = np.flatnonzero(omega == 0).tolist()
    for share in (1.0, 1.5):
        at = solve(assembly.problem, share * null.alpha, null=null, solver=SHARP)
        assert at.rows.index.tolist() == free
        assert at.certificate.gap < 1e-7
    below = solve(assembly.problem, 0.99 * null.alpha, null=null, solver=SHARP)
    assert len(below.rows.index) > len(free)
    # straight from the optimality conditions: the largest gradient of a penalised row
    B = null.rows.dense(P)
    W, L = plain_weights(X) / N**2, assembly.factor.L
    G, g = loop_gradient(task, X, y, W, L, B, null.v)
    norms = np.linalg.norm(G, axis=1)
    penalised = omega > 0
    assert null.alpha == pytest.approx((norms[penalised] / omega[penalised]).max(), rel=1e-6)
    assert np.linalg.norm(g) < 1e-7 * max(1, null.alpha)  # f0 is at its optimum


@pytest.mark.parametrize("tol", [1e-2, 1e-6])
def test_certificate_is_honest(task, tol):
    """KKT and gap recomputed pair by pair, over all variables."""
    omega = FACTORS["factors"]
    X, y, assembly = small(task, omega=omega)
    null = null_solution(assembly.problem)
    alpha = 0.2 * null.alpha
    ours = solve(assembly.problem, alpha, null=null, solver=Solver(tol=tol, max_iter=100_000))
    best = solve(assembly.problem, alpha, null=null, solver=SHARP)
    B = ours.rows.dense(P)
    G, g = loop_gradient(task, X, y, plain_weights(X) / N**2, assembly.factor.L, B, ours.v)
    worst = max(kkt_violation(G, B, alpha * omega), np.linalg.norm(g))
    assert ours.certificate.violation * null.alpha == pytest.approx(worst, rel=1e-6, abs=1e-12)
    np.testing.assert_allclose(ours.norms, np.linalg.norm(G, axis=1), atol=1e-10)
    assert ours.status is Status.CONVERGED
    assert ours.certificate.gap <= tol
    # the gap is no smaller than the true distance to the optimum
    short = (ours.certificate.primal - best.certificate.primal) / null.certificate.primal
    assert short <= ours.certificate.gap + 1e-9


@pytest.mark.parametrize("task", ["regression", "binary"])
def test_solvers_agree(task):
    """Working sets, plain splitting over all columns: one minimiser."""
    _, _, assembly = small(task)
    null = null_solution(assembly.problem)
    answers = [
        solve(
            assembly.problem, 0.3 * null.alpha, null=null,
            solver=Solver(tol=1e-8, max_iter=300_000, plain=plain),
        )
        for plain in (False, True)
    ]  # fmt: skip
    assert all(a.status is Status.CONVERGED for a in answers)
    first = answers[0].rows.dense(P)
    for other in answers[1:]:
        np.testing.assert_allclose(other.rows.dense(P), first, atol=1e-3 * np.abs(first).max())
        assert other.certificate.primal == pytest.approx(answers[0].certificate.primal, rel=1e-7)


def test_working_set_finds_what_all_columns_find(monkeypatch):
    """Room for two columns at a time in a table of 60: it must come back for the others."""
    monkeypatch.setattr("gradsift.solver.working_set.MIN_ROOM", 2)
    X, y = make_data("regression", n=20, p=60, seed=4)
    problem = make_assembly("regression", X, y).problem
    null = null_solution(problem)
    few, every = (
        solve(problem, 0.1 * null.alpha, null=null, solver=Solver(1e-8, 200_000, plain=plain))
        for plain in (False, True)
    )
    assert len(few.rows.index) > 4
    assert few.rows.index.tolist() == every.rows.index.tolist()
    assert few.certificate.primal == pytest.approx(every.certificate.primal, rel=1e-7)


def test_warm_path_equals_cold_solves(task):
    _, _, assembly = small(task)
    problem, null = assembly.problem, null_solution(assembly.problem)
    path = fit_path(problem, null.alpha * np.array([1.0, 0.4, 0.15, 0.05]), SHARP, null=null)
    assert path.converged.all()
    for warm in path.solutions:
        for cold in (
            solve(problem, warm.alpha, null=null, solver=SHARP),
            fit_to(problem, warm.alpha, SHARP, null=null),
        ):
            assert warm.certificate.primal == pytest.approx(cold.certificate.primal, rel=1e-7)


def test_max_iter_is_reported(task):
    _, _, assembly = small(task)
    null = null_solution(assembly.problem)
    got = solve(assembly.problem, 0.01 * null.alpha, null=null, solver=Solver(1e-12, max_iter=7))
    assert got.status is Status.MAX_ITER
    assert got.n_iter == 7
    assert got.certificate.gap > 1e-12
    assert got.certificate.primal < null.certificate.primal  # still better than nothing


def test_no_penalised_variable_leaves_nothing_to_solve():
    X, y, assembly = small("regression", kernel="constant", omega=np.zeros(P))
    null = null_solution(assembly.problem)
    assert null.alpha == 0.0
    assert null.rows.index.tolist() == list(range(P))
    G, _ = loop_gradient(
        "regression", X, y, plain_weights(X) / N**2, assembly.factor.L, null.rows.dense(P), null.v
    )
    assert np.abs(G).max() < 1e-7


def test_rows_and_offenders():
    rows = Rows(np.array([1, 4]), np.array([[1.0, 2.0], [0.0, 0.0]]))
    assert rows.dense(5)[1].tolist() == [1.0, 2.0]
    assert rows.drop_zeros().index.tolist() == [1]
    assert rows.restrict(np.array([0, 1, 3, 4]))[:, 0].tolist() == [0.0, 1.0, 0.0, 0.0]
    norms, limits = np.array([5.0, 1.0, 4.0, 3.0]), np.array([4.5, 1.0, 1.0, 1.0])
    assert sorted(worst_offenders(norms, limits, np.arange(4), 2).tolist()) == [2, 3]
    assert worst_offenders(norms, limits, np.array([3, 0]), 2).tolist() == [3, 0]


def test_rows_whose_norm_vanishes_are_not_stored():
    rows = Rows(np.array([2, 5, 7]), np.array([[1e-300, 0.0], [0.0, 2.0], [0.0, 0.0]]))
    assert rows.drop_zeros().index.tolist() == [5]


def test_free_columns_that_fit_every_pair_are_certified():
    """Their objective is rounding: the gap is measured in that of the zero field."""
    X, y = make_data("regression", n=3, p=4)
    problem = make_assembly("regression", X, y, penalty_factor=np.zeros(4)).problem
    assert null_solution(problem).certificate.gap < 1e-9


def test_an_answer_above_alpha_max_is_certified_like_any_other():
    problem = small("binary", omega=FACTORS["factors"])[2].problem
    null = null_solution(problem)
    good = solve(problem, 2 * null.alpha, null=null, solver=Solver(tol=1e-4))
    assert good.status is Status.CONVERGED
    half = replace(null, certificate=replace(null.certificate, gap=0.1))  # as if not solved
    assert solve(problem, 2 * null.alpha, null=half).status is Status.STALLED
