"""Penalties: the proximal step does what its definition says."""

import cvxpy as cp
import numpy as np
from helpers import finite_difference
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gradsift.solver.problem import GroupLasso, row_norms

OMEGA = np.array([1.0, 0.0, 2.0, 0.5])
PENALTY = GroupLasso(OMEGA)
matrices = arrays(float, (4, 3), elements=st.floats(-5, 5))
steps = st.floats(0.0, 4.0)


def value(B, alpha):
    """By hand: alpha sum_k omega_k ||B_k||."""
    return alpha * sum(w * np.linalg.norm(b) for w, b in zip(OMEGA, B))


@given(U=matrices, V=matrices, step=steps)
def test_prox_is_nonexpansive(U, V, step):
    moved = np.linalg.norm(PENALTY.prox(U, step) - PENALTY.prox(V, step))
    assert moved <= np.linalg.norm(U - V) + 1e-9


@given(B=matrices, step=steps, seed=st.integers(0, 2**16))
def test_prox_minimises_its_objective(B, step, seed):
    """argmin_C 1/2 ||C - B||^2 + step penalty(C): no perturbation, small or large, does better."""

    def objective(C):
        return 0.5 * ((C - B) ** 2).sum() + value(C, step)

    C = PENALTY.prox(B, step)
    rng = np.random.default_rng(seed)
    for size in (1e-4, 1e-2, 1.0):
        assert objective(C) <= objective(C + size * rng.normal(size=C.shape)) + 1e-9


@given(B=matrices, step=steps)
def test_prox_zeroes_small_rows_exactly_and_leaves_free_ones(B, step):
    C = PENALTY.prox(B, step)
    assert (C[1] == B[1]).all()  # factor 0: identity, to the bit
    out = (row_norms(B) <= step * OMEGA) & (step * OMEGA > 0)
    assert (C[out] == 0.0).all()
    assert C[~out].any(axis=1).sum() == (~out & B.any(axis=1)).sum()


def test_take_and_limits():
    assert PENALTY.take(np.array([2, 0])).limits(3.0).tolist() == [6.0, 3.0]


def test_violation_is_zero_at_a_solution_only(rng):
    """At cvxpy's minimiser of ||A C - Y||^2 + penalty the conditions hold, elsewhere they don't."""
    alpha = 2.5
    A, Y = rng.normal(size=(8, 4)), rng.normal(size=(8, 3))
    A[:, 2] *= 0.1  # so that one row is zero at the solution
    C = cp.Variable((4, 3))
    twin = sum(w * cp.norm(C[k]) for k, w in enumerate(OMEGA))
    problem = cp.Problem(cp.Minimize(cp.sum_squares(A @ C - Y) + alpha * twin))
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9)
    best = C.value.copy()
    assert row_norms(best)[2] < 1e-6
    best[2] = 0.0
    assert PENALTY.violation(best, 2 * A.T @ (A @ best - Y), alpha).max() < 1e-3
    away = best + 0.1
    assert PENALTY.violation(away, 2 * A.T @ (A @ away - Y), alpha).min() > 1e-2


@given(B=matrices, G=matrices)
def test_violation_where_smooth_is_the_gradient_norm(B, G):
    """Away from zero rows the penalty is smooth: the violation is the size of the whole slope."""
    B = B + 6.0
    slope = G + finite_difference(lambda C: value(C, 0.7), B)
    np.testing.assert_allclose(PENALTY.violation(B, G, 0.7), row_norms(slope), atol=1e-5)
