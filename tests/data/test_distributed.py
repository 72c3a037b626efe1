"""Dask on a real cluster of two processes: the same answer, also when one of them is killed."""

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from helpers import REFIT_TOL, assert_same_answer
from sklearn.base import clone

from gradsift import (
    GradientSiftRegressor,
    RidgeGradientRegressor,
    SolverSettings,
    SparseGradientRegressor,
    gradient_path,
)
from gradsift._run.passes import each_block
from gradsift.data import ArraySource, open_source
from gradsift.data.simulate import turlach

da = pytest.importorskip("dask.array", reason="dask is not installed")
distributed = pytest.importorskip("distributed", reason="distributed is not installed")

TOL = 1e-9
PATIENCE = 300  # seconds after which something is broken, and not only slow

pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # those of a cluster that is shut down on purpose
    pytest.mark.xdist_group("cluster"),
]


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def problem():
    X, y, _ = turlach(n_samples=60, n_features=240, random_state=3)
    return X, y


def chunked(X):
    """Five column chunks of unequal size."""
    return da.from_array(X, chunks=(len(X), (50, 50, 50, 50, X.shape[1] - 200)))


def test_jobs_go_to_the_blocks(client, problem):
    X, _ = problem
    source = open_source(chunked(X))
    assert source.runner is not None
    assert ArraySource(X).runner is None
    here = os.getpid()
    found = list(each_block(source, lambda where: who_am_i, width=20))
    assert [(w.start, w.stop) for w, _ in found][:3] == [(0, 20), (20, 40), (40, 50)]
    assert found[-1][0].stop == 240
    assert all(pid != here for _, pid in found)


def who_am_i(block):
    import os

    assert block.dtype == float
    return os.getpid()


@pytest.mark.parametrize(
    "estimator",
    [
        GradientSiftRegressor(),
        SparseGradientRegressor(solver=SolverSettings(tol=TOL)),
        SparseGradientRegressor(kernel="gaussian", solver=SolverSettings(tol=TOL)),
        RidgeGradientRegressor(),
    ],
    ids=["sift", "affine", "gaussian", "ridge"],
)
def test_a_cluster_gives_the_same_answer(estimator, client, problem):
    X, y = problem
    far, near = clone(estimator).fit(chunked(X), y), clone(estimator).fit(X, y)
    np.testing.assert_array_equal(far.get_support(), near.get_support())
    tol = REFIT_TOL if isinstance(estimator, GradientSiftRegressor) else TOL
    assert_same_answer(far.feature_importances_, near.feature_importances_, tol)
    assert_same_answer(far.gradient(X), near.gradient(X), tol)


def test_bad_values_on_a_worker_are_named_here(client, problem):
    X, y = problem
    X = X.copy()
    X[3, 77] = np.nan
    with pytest.raises(ValueError, match=r"1 bad value\(s\).*column 77; the first in row 3"):
        SparseGradientRegressor().fit(chunked(X), y)
    assert GradientSiftRegressor(missing="mean").fit(chunked(X), y).get_support().any()


def test_a_killed_worker_costs_time_not_the_answer(client, problem, tmp_path):
    """kill -9 while a worker has a block in hand; the rest of the cluster does its work again."""
    X, y = problem
    expected = gradient_path(X, y, n_alphas=8, tol=TOL)
    victim, in_hand = min(workers(client)), tmp_path / "in hand"
    held = da.map_blocks(held_by, chunked(X), victim=victim, sign=in_hand, dtype=float)
    with ThreadPoolExecutor(1) as pool:
        path = pool.submit(gradient_path, held, y, n_alphas=8, tol=TOL)
        wait_until(lambda: in_hand.exists() or path.done())
        assert not path.done()
        os.kill(victim, signal.SIGKILL)
        found = path.result(timeout=PATIENCE)
    assert victim not in workers(client)
    assert_same_answer(found.importances, expected.importances, TOL)
    for a, b in zip(found.supports, expected.supports, strict=True):
        np.testing.assert_array_equal(a, b)


def held_by(block, victim, sign):
    """A block that one process never lets go of: it says that it has it, and waits for its end."""
    import os
    import time

    if os.getpid() == victim:
        sign.touch()
        while True:
            time.sleep(0.01)
    return block


def wait_until(true):
    """Wait for an event, however long a busy machine takes."""
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, f"nothing happened for {PATIENCE} seconds"
        time.sleep(0.01)


def workers(client):
    """Process numbers."""
    return list(client.run(os.getpid).values())
