"""Threads change the time, never the answer."""

import threading
import time

import numpy as np
import pytest
from sklearn.base import clone
from threadpoolctl import threadpool_info, threadpool_limits

from gradsift import (
    GradientSiftRegressor,
    RidgeGradientRegressor,
    SparseGradientRegressor,
)
from gradsift._run import threads
from gradsift._run.threads import map_blocks, one_blas_thread


@pytest.fixture(params=[1, 2, 5])
def workers(request):
    token = threads._workers.set(request.param)
    yield request.param
    threads._workers.reset(token)


def test_results_come_in_order(workers):
    def slow_first(x):
        time.sleep(0.02 if x == 0 else 0.0)
        return x * x

    assert list(map_blocks(slow_first, range(17))) == [x * x for x in range(17)]
    assert list(map_blocks(slow_first, [])) == []


def test_few_items_are_held_at_once(workers):
    """Blocks come from disk one day: the source must not be drained ahead of the consumer."""
    taken = []

    def source():
        for x in range(50):
            taken.append(x)
            yield x

    blocks = map_blocks(lambda x: x, source())
    next(blocks)
    assert len(taken) <= 2 * workers + 1
    assert list(blocks) == list(range(1, 50))


def test_errors_come_through(workers):
    def fail(x):
        raise KeyError(x)

    with pytest.raises(KeyError):
        list(map_blocks(fail, range(3)))


def test_products_are_the_same_bits_for_any_number_of_workers(rng):
    A, M = rng.normal(size=(50, 300)), rng.normal(size=(50, 7))
    answers = []
    for count in (1, 2, 4):
        token = threads._workers.set(count)
        try:
            with one_blas_thread():
                parts = map_blocks(lambda s: A[:, s : s + 64].T @ M, range(0, 300, 64))
                answers.append(np.vstack(list(parts)))
        finally:
            threads._workers.reset(token)
    assert (answers[0] == answers[1]).all()
    assert (answers[0] == answers[2]).all()


def test_blas_runs_on_one_thread_inside_and_is_restored():
    def blas_threads():
        return {lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"}

    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with one_blas_thread():
            assert blas_threads() == {1}
            assert threads._workers.get() == max(before)  # what BLAS may not use, blocks do
            seen = set(map_blocks(lambda _: threading.current_thread().name, range(4)))
            assert (threading.main_thread().name in seen) == (max(before) == 1)
        with one_blas_thread(most=1):  # a job beside others
            assert threads._workers.get() == 1
        assert blas_threads() == before
    assert threads._workers.get() == 1


@pytest.mark.parametrize(
    "model",
    [GradientSiftRegressor(), SparseGradientRegressor(kernel="gaussian"), RidgeGradientRegressor()],
    ids=lambda model: type(model).__name__,
)
def test_same_bits_on_a_table_large_enough_for_threads(model):
    """300 rows are enough for BLAS to split a product; fit and predictions must not show it."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 200))
    y = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + 0.3 * rng.normal(size=300)
    answers = []
    for count in (1, 2):
        with threadpool_limits(count, user_api="blas"):
            fitted = clone(model).fit(X, y)
            answers.append([fitted.feature_importances_, fitted.predict(X), fitted.gradient(X)])
    for one, two in zip(*answers):
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("wide", [False, True])
def test_n_jobs_changes_the_threads_of_a_sift_and_not_its_bits(wide, monkeypatch):
    if wide:  # statistics of all columns from passes, features of a few
        monkeypatch.setattr("gradsift.sift.procedure.MOST_VALUES", 10 * 120 * 50)
    monkeypatch.setattr("gradsift.data.source.BLOCK_BYTES", 8 * 120 * 70)  # several blocks
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 300))
    y = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + 0.3 * rng.normal(size=120)
    used, pool = set(), threads._pool
    monkeypatch.setattr(threads, "_pool", lambda workers: used.add(workers) or pool(workers))
    answers = []
    for n_jobs in (1, 3, -1, None):
        model = GradientSiftRegressor(n_jobs=n_jobs).fit(X, y)
        answers.append([model.feature_importances_, model.ranking_, model.predict(X)])
        if n_jobs == 1:
            assert used == set()
        if n_jobs == 3:
            assert used == {3}
    for other in answers[1:]:
        for one, two in zip(answers[0], other):
            np.testing.assert_array_equal(one, two)
    assert threads._workers.get() == 1
    with pytest.raises(ValueError, match="n_jobs=0: use a number of threads"):
        GradientSiftRegressor(n_jobs=0).fit(X, y)
