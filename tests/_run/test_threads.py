"""Threads change the time, never the answer."""

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from contextvars import copy_context

import numpy as np
import pytest
from sklearn.base import clone
from threadpoolctl import threadpool_info, threadpool_limits

from gradsift import (
    GradientSiftRegressor,
    RidgeGradientRegressor,
    SiftOptions,
    SparseGradientRegressor,
)
from gradsift._run import threads
from gradsift._run.threads import map_blocks, one_blas_thread
from gradsift.sift import Limits, SiftSettings


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
            assert threads.count_blocks() == max(before)  # what BLAS may not use, blocks do
            seen = set(map_blocks(lambda _: threading.current_thread().name, range(4)))
            assert (threading.main_thread().name in seen) == (max(before) == 1)
        with one_blas_thread(most=1):  # a job beside others
            assert threads.count_blocks() == 1
        assert blas_threads() == before
    assert threads.count_blocks() == 1


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
        few = SiftSettings(limits=Limits(most_values=10 * 120 * 50))
        monkeypatch.setattr(GradientSiftRegressor, "sift_settings", few)
    monkeypatch.setattr("gradsift.data.source.BLOCK_BYTES", 8 * 120 * 70)  # several blocks
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 300))
    y = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + 0.3 * rng.normal(size=120)
    used, pool = set(), threads._pool
    monkeypatch.setattr(threads, "_pool", lambda workers: used.add(workers) or pool(workers))
    answers = []
    for n_jobs in (1, 3, -1, None):
        model = GradientSiftRegressor(options=SiftOptions(n_jobs=n_jobs)).fit(X, y)
        answers.append([model.feature_importances_, model.ranking_, model.predict(X)])
        if n_jobs == 1:
            assert used == set()
        if n_jobs == 3:
            assert used == {3}
    for other in answers[1:]:
        for one, two in zip(answers[0], other):
            np.testing.assert_array_equal(one, two)
    assert threads.count_blocks() == 1
    with pytest.raises(ValueError, match="n_jobs=0: use a number of threads"):
        GradientSiftRegressor(options=SiftOptions(n_jobs=0)).fit(X, y)


# ------------------------------------------------------------------ several fits at once

MODELS = [
    GradientSiftRegressor(),
    SparseGradientRegressor(kernel="gaussian"),
    RidgeGradientRegressor(),
]


def blas_threads():
    return [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"]


@pytest.fixture
def two_blas_threads():
    with threadpool_limits(2, user_api="blas"):
        yield blas_threads()


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_fits_at_once_give_the_bits_of_fits_in_turn(model, two_blas_threads):
    """200 rows are enough for BLAS to split a product, which it must not while anyone fits."""
    tables = []
    for seed in range(8):
        X = np.random.default_rng(seed).normal(size=(200 + 10 * seed, 12))
        tables.append((X, X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2])))

    def answer(table):
        fitted = clone(model).fit(*table)
        return [fitted.feature_importances_, fitted.predict(table[0]), fitted.gradient(table[0])]

    in_turn = [answer(table) for table in tables]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(2):
            for one, other in zip(in_turn, pool.map(answer, tables)):
                for expected, found in zip(one, other):
                    np.testing.assert_array_equal(found, expected)
            assert blas_threads() == two_blas_threads


def test_blas_stays_on_one_thread_until_the_last_has_left(two_blas_threads):
    """Hundreds of short stays that overlap at random; everyone sees one thread from start to end,
    and the count of workers that BLAS gave up.
    """
    start = threading.Barrier(8)

    def stay(seed):
        rng = np.random.default_rng(seed)
        seen = set()
        start.wait()
        for _ in range(100):
            with one_blas_thread():
                seen.add((max(blas_threads()), threads.count_blocks()))
                time.sleep(rng.uniform(0, 3e-4))
                seen.add((max(blas_threads()), threads.count_blocks()))
        return seen

    with ThreadPoolExecutor(8) as pool:
        for seen in pool.map(stay, range(8)):
            assert seen == {(1, max(two_blas_threads))}
    assert blas_threads() == two_blas_threads


def test_one_that_leaves_early_does_not_free_blas_for_the_others(two_blas_threads):
    """The order that save and restore by each on its own gets wrong: in, in, out, out."""

    def cross():
        first, second = one_blas_thread(), one_blas_thread()
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        assert set(blas_threads()) == {1}
        second.__exit__(None, None, None)

    copy_context().run(cross)  # two fits of one thread never cross: what they leave stays inside
    assert blas_threads() == two_blas_threads


def test_errors_and_nesting_restore_blas(two_blas_threads):
    with pytest.raises(KeyboardInterrupt), one_blas_thread(), one_blas_thread():
        raise KeyboardInterrupt
    assert blas_threads() == two_blas_threads
    with one_blas_thread(workers=1):
        with one_blas_thread():
            assert threads.count_blocks() == 1  # n_jobs=1 holds for everything inside
        with pytest.raises(ZeroDivisionError), one_blas_thread():
            raise ZeroDivisionError
        assert set(blas_threads()) == {1}
    assert blas_threads() == two_blas_threads
    with pytest.raises(ValueError, match="n_jobs=0"), one_blas_thread(workers=0):
        pass
    assert blas_threads() == two_blas_threads


def test_a_limit_raised_inside_by_others_is_lowered_again_at_the_next_entry(two_blas_threads):
    with one_blas_thread(), threadpool_limits(2, user_api="blas"), one_blas_thread():
        assert set(blas_threads()) == {1}
    assert blas_threads() == two_blas_threads


def test_blocks_may_limit_blas_themselves(two_blas_threads):
    """A block on a worker thread is alone: it must not wait for threads of its own pool."""

    def job(x):
        with one_blas_thread():
            return sum(map_blocks(lambda k: k * x, range(5)))

    with one_blas_thread():
        assert list(map_blocks(job, range(20))) == [10 * x for x in range(20)]


class ThreadsOfOpenMP(threading.local):
    """A BLAS on OpenMP as threadpoolctl shows it: every thread has a setting of its own."""

    threading_layer = "openmp"
    num_threads = 3

    def set_num_threads(self, count):
        self.num_threads = count


def test_a_blas_with_a_setting_for_each_thread_is_restored_in_each(monkeypatch):
    library = ThreadsOfOpenMP()
    monkeypatch.setattr(threads, "_blas", lambda: [library])
    both_in, one_out = threading.Barrier(2, timeout=60), threading.Event()

    def stay(leaves_first):
        with one_blas_thread():
            both_in.wait()
            with one_blas_thread():
                seen = (library.num_threads, threads.count_blocks())
            if not leaves_first:
                assert one_out.wait(60)
        one_out.set()
        return *seen, library.num_threads

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(stay, [True, False])) == [(1, 3, 3)] * 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize("inside", [False, True], ids=["outside", "inside"])
def test_a_fork_keeps_the_stay_of_its_own_thread_and_forgets_the_others(inside, two_blas_threads):
    """Threads that fit in the parent do not exist in the child, so nobody there would restore."""
    held, done = threading.Event(), threading.Event()

    def other():
        with one_blas_thread():
            held.set()
            done.wait(60)

    thread = threading.Thread(target=other)
    thread.start()
    assert held.wait(60)
    with one_blas_thread() if inside else nullcontext():
        child = os.fork()
        if child == 0:
            right = blas_threads() == ([1] * len(two_blas_threads) if inside else two_blas_threads)
            with one_blas_thread():
                right &= set(blas_threads()) == {1}
                right &= sum(map_blocks(lambda x: x, range(9))) == 36
            os._exit(0 if right else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert set(blas_threads()) == {1}
    done.set()
    thread.join()
    assert blas_threads() == two_blas_threads
