"""Penalties: the proximal step does what its definition says."""

import cvxpy as cp
import numpy as np
import pytest
from helpers import finite_difference
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gradsift.solver.problem import GroupLasso, Ridge, row_norms

OMEGA = np.array([1.0, 0.0, 2.0, 0.5])
PENALTIES = {"group": GroupLasso(OMEGA), "ridge": Ridge()}
matrices = arrays(float, (4, 3), elements=st.floats(-5, 5))
steps = st.floats(0.0, 4.0)


@pytest.fixture(params=PENALTIES)
def penalty(request):
    return PENALTIES[request.param]


@given(U=matrices, V=matrices, step=steps)
def test_prox_is_nonexpansive(penalty, U, V, step):
    moved = np.linalg.norm(penalty.prox(U, step) - penalty.prox(V, step))
    assert moved <= np.linalg.norm(U - V) + 1e-9


@given(B=matrices, step=steps, seed=st.integers(0, 2**16))
def test_prox_minimises_its_objective(penalty, B, step, seed):
    """argmin_C 1/2 ||C - B||^2 + step penalty(C): no perturbation, small or large, does better."""

    def objective(C):
        return 0.5 * ((C - B) ** 2).sum() + penalty.value(C, step)

    C = penalty.prox(B, step)
    rng = np.random.default_rng(seed)
    for size in (1e-4, 1e-2, 1.0):
        assert objective(C) <= objective(C + size * rng.normal(size=C.shape)) + 1e-9


@given(B=matrices, step=steps)
def test_prox_zeroes_small_rows_exactly_and_leaves_free_ones(B, step):
    C = PENALTIES["group"].prox(B, step)
    assert (C[1] == B[1]).all()  # factor 0: identity, to the bit
    out = (row_norms(B) <= step * OMEGA) & (step * OMEGA > 0)
    assert (C[out] == 0.0).all()
    assert C[~out].any(axis=1).sum() == (~out & B.any(axis=1)).sum()


def test_value_take_and_limits(rng):
    B, penalty = rng.normal(size=(4, 3)), PENALTIES["group"]
    by_hand = 0.3 * sum(w * np.linalg.norm(b) for w, b in zip(OMEGA, B))
    assert penalty.value(B, 0.3) == pytest.approx(by_hand)
    assert penalty.take(np.array([2, 0])).limits(3.0).tolist() == [6.0, 3.0]
    assert Ridge().value(B, 0.3) == pytest.approx(0.3 * (B**2).sum())


@pytest.mark.parametrize("name", PENALTIES)
def test_violation_is_zero_at_a_solution_only(rng, name):
    """At cvxpy's minimiser of ||A C - Y||^2 + penalty the conditions hold, elsewhere they don't."""
    penalty, alpha = PENALTIES[name], 2.5
    A, Y = rng.normal(size=(8, 4)), rng.normal(size=(8, 3))
    A[:, 2] *= 0.1  # so that one row is zero at the solution
    C = cp.Variable((4, 3))
    twin = sum(w * cp.norm(C[k]) for k, w in enumerate(OMEGA)) if name == "group" else None
    twin = cp.sum_squares(C) if twin is None else twin
    problem = cp.Problem(cp.Minimize(cp.sum_squares(A @ C - Y) + alpha * twin))
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9)
    best = C.value.copy()
    if name == "group":
        assert row_norms(best)[2] < 1e-6
        best[2] = 0.0
    assert penalty.violation(best, 2 * A.T @ (A @ best - Y), alpha).max() < 1e-3
    away = best + 0.1
    assert penalty.violation(away, 2 * A.T @ (A @ away - Y), alpha).min() > 1e-2


@given(B=matrices, G=matrices)
def test_violation_where_smooth_is_the_gradient_norm(penalty, B, G):
    """Away from zero rows the penalty is smooth: the violation is the size of the whole slope."""
    B = B + 6.0
    slope = G + finite_difference(lambda C: penalty.value(C, 0.7), B)
    np.testing.assert_allclose(penalty.violation(B, G, 0.7), row_norms(slope), atol=1e-5)
