"""Approximate inverses of the Hessian: exact where what they leave out is not there."""

import tracemalloc

import numpy as np
import pytest
from helpers import assert_same_sums

from gradsift.protocols import MeanHessian
from gradsift.solver.newton import (
    LEAST_BEND,
    TOGETHER,
    MeanInverse,
    RowBend,
    TaskMean,
    inner_products,
)
from gradsift.solver.problem import row_norms


def alike(H, n_tasks):
    """The same Hessian in every task."""
    return MeanHessian(H, np.ones(n_tasks), np.eye(n_tasks))


def test_row_bend_is_the_second_derivative_of_the_norms(rng):
    B, D, limits = rng.normal(size=(4, 3)), rng.normal(size=(4, 3)), rng.uniform(size=4)

    def slope(B):
        return limits[:, None] * B / row_norms(B)[:, None]

    bend, h = RowBend.at(B, limits), 1e-6
    derivative = (slope(B + h * D) - slope(B - h * D)) / (2 * h)
    np.testing.assert_allclose(bend.times(D), derivative, atol=1e-8)
    solved = bend.solve(D, 0.7)
    np.testing.assert_allclose(0.7 * solved + bend.times(solved), D, atol=1e-12)


@pytest.mark.parametrize("kind", [TaskMean, MeanInverse])
def test_none_where_the_hessian_is_rounding_only(kind, rng):
    bend = RowBend.at(rng.normal(size=(3, 2)), np.ones(3))
    rounding = 1e-16 * np.array([[0, 1, 0], [1, 0, -1], [0, -1, 1]])
    assert kind.of(bend, alike(np.zeros((3, 3)), 2)) is None
    assert kind.of(bend, alike(rounding, 2)) is None


def test_task_mean_inverts_each_part_where_all_tasks_bend_alike(rng):
    """Along one row alone, and across all of them at once with one stiffness, it is exact."""
    root, B = rng.normal(size=(9, 5)), rng.normal(size=(5, 3))
    H = root.T @ root
    bend = RowBend.at(B, np.full(5, 0.8) * row_norms(B))
    mean = TaskMean.of(bend, alike(H, 3))
    floor = LEAST_BEND * np.trace(H) / 5
    alone = np.zeros((5, 3))
    alone[2] = 1.7 * bend.unit[2]
    pulled = (H @ mean.solve(alone) + floor * mean.solve(alone)) * bend.unit
    np.testing.assert_allclose(pulled.sum(axis=1), [0, 0, 1.7, 0, 0], atol=1e-10)
    one_row = TaskMean.of(RowBend.at(B[:1], np.array([0.8])), alike(H[:1, :1], 3))
    R = rng.normal(size=(1, 3))
    step = one_row.solve(R)
    back = H[0, 0] * step + RowBend.at(B[:1], np.array([0.8])).times(step)
    np.testing.assert_allclose(back, R, rtol=2 * LEAST_BEND)


def test_inner_products_take_little_memory_and_are_those_of_all_axes(rng):
    w, m = 150, 80
    rows, unit = rng.normal(size=(w, w)), rng.normal(size=(w, 1, m))
    inverse = rng.uniform(0.1, 1.0, size=(w, m))
    tracemalloc.start()
    try:
        found = inner_products(rows, unit, inverse)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    half = (rows[:, :, None] * (unit * np.sqrt(inverse)[None])).reshape(w, -1)
    assert_same_sums(found, half @ half.T)
    assert peak <= 4 * 8 * TOGETHER + 4 * 8 * w * w  # all axes together would take 14 MB


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_mean_inverse_inverts_columns_times_tasks_and_the_penalty(n_outputs, rng):
    w, m = 5, 4
    root, axes = rng.normal(size=(9, w)), np.linalg.qr(rng.normal(size=(m, m)))[0]
    H, sizes = root.T @ root, np.array([0.1, 0.4, 1.0, 2.5])
    B, limits = rng.normal(size=(w, n_outputs * m)), rng.uniform(0.5, 2.0, size=w)
    limits[1] = 0.0  # never penalised
    bend = RowBend.at(B, limits)
    inverse = MeanInverse.of(bend, MeanHessian(H, sizes, axes))
    lifted = H + LEAST_BEND * np.trace(H) / w * np.eye(w)
    A = np.kron(np.eye(n_outputs), (axes * sizes) @ axes.T)
    R = rng.normal(size=B.shape)
    step = inverse.solve(R)
    np.testing.assert_allclose(lifted @ step @ A + bend.times(step), R, atol=1e-7)
