"""Starts: what the strong rule says, and a line that is followed exactly where a path is a line."""

import numpy as np
import pytest
from helpers import make_assembly, make_data

from gradsift.solver import Certificate, Rows, Solution, Solver, Status, null_solution
from gradsift.solver.path import fit_path
from gradsift.solver.problem import GroupLasso
from gradsift.solver.working_set import STRAY, after, along

PENALTY = GroupLasso(np.array([1.0, 2.0, 1.0]))
PROOF = Certificate(1.0, 1.0, 0.0, 0.0)


def answer(alpha, index, values, norms, v=0.0):
    rows = Rows(np.array(index), np.array(values, dtype=float))
    v = np.full((1, 1), v)
    return Solution(alpha, rows, v, np.array(norms), PROOF, Status.CONVERGED, 1)


def test_strong_rule():
    """In reach of its limit at 0.8 where the norm is at least 2 * 0.8 - 1 times its factor."""
    last = answer(1.0, [0], [[1.0, 0.0]], [1.0, 1.19, 0.61])
    start = after(last, 0.8, PENALTY)
    assert (start.reach >= PENALTY.limits(0.8)).tolist() == [True, False, True]
    assert start.rows is last.rows


def test_line_through_two_answers():
    before = answer(1.0, [0, 2], [[3.0, 0.0], [1.0, 1.0]], [1.0, 0.5, 1.0], v=1.0)
    last = answer(0.9, [0, 1], [[2.0, 0.0], [0.0, 1.0]], [0.9, 1.8, 0.8], v=2.0)
    start = along(last, before, 0.8, PENALTY)
    assert start.rows.index.tolist() == [0, 1]  # the row that left stays away
    np.testing.assert_allclose(start.rows.values, [[1.0, 0.0], [0.0, 2.0]])
    np.testing.assert_allclose(start.v, 3.0)
    np.testing.assert_allclose(start.reach, [0.8, 3.1, 0.6] + STRAY * 0.1 * PENALTY.omega)
    further = along(last, before, 0.6, PENALTY)
    np.testing.assert_allclose(further.rows.values[0], 0.0)  # it would have turned round


def test_without_a_line_the_last_answer_serves():
    last = answer(0.9, [0], [[2.0, 0.0]], [0.9, 1.0, 0.8])
    for before in (last, answer(0.8, [0], [[9.0, 9.0]], [0.9, 1.0, 0.8])):
        assert along(last, before, 0.7, PENALTY).rows is last.rows


@pytest.mark.parametrize("kernel", ["affine", "gaussian"])
def test_a_line_saves_steps(kernel):
    """Halfway down a path, the next answer is nearer to the line than to the last answer."""
    X, y = make_data("regression", n=30, p=20, seed=1)
    problem = make_assembly("regression", X, y, kernel=kernel).problem
    null = null_solution(problem)
    path = fit_path(problem, null.alpha * np.geomspace(1, 0.1, 20), Solver(tol=1e-8), null=null)

    def off(start, k):
        here = path.solutions[k].rows.dense(20)
        return np.linalg.norm(start.rows.dense(20) - here)

    for k in (8, 12, 16):
        before, last, alpha = *path.solutions[k - 2 : k], path.alphas[k]
        line, plain = (
            along(last, before, alpha, problem.penalty),
            after(last, alpha, problem.penalty),
        )
        assert off(line, k) < 0.7 * off(plain, k)
