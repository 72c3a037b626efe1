"""Dask on a real cluster of two processes: the same answer, also when one of them is killed."""

import os
import signal
import threading
import time

import numpy as np
import pytest

from gradsift import (
    GradientSiftRegressor,
    RidgeGradientRegressor,
    SparseGradientRegressor,
    gradient_path,
)
from gradsift._run.passes import each_block, elsewhere
from gradsift.data import ArraySource, open_source
from gradsift.data.simulate import turlach

da = pytest.importorskip("dask.array", reason="dask is not installed")
distributed = pytest.importorskip("distributed", reason="distributed is not installed")

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
    assert elsewhere(source) is not None
    assert elsewhere(ArraySource(X)) is None
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
        SparseGradientRegressor(tol=1e-9),
        SparseGradientRegressor(kernel="gaussian", tol=1e-9),
        RidgeGradientRegressor(),
    ],
    ids=["sift", "affine", "gaussian", "ridge"],
)
def test_a_cluster_gives_the_same_answer(estimator, client, problem):
    X, y = problem
    far = estimator.fit(chunked(X), y)
    importances, gradient = far.feature_importances_, far.gradient(X)
    near = estimator.fit(X, y)
    np.testing.assert_array_equal(far.get_support(), near.get_support())
    largest = near.feature_importances_.max()
    np.testing.assert_allclose(importances, near.feature_importances_, atol=1e-10 * largest, rtol=0)
    np.testing.assert_allclose(gradient, near.gradient(X), rtol=1e-8, atol=1e-10)


def test_bad_values_on_a_worker_are_named_here(client, problem):
    X, y = problem
    X = X.copy()
    X[3, 77] = np.nan
    with pytest.raises(ValueError, match=r"1 bad value\(s\).*column 77; the first in row 3"):
        SparseGradientRegressor().fit(chunked(X), y)
    assert GradientSiftRegressor(missing="mean").fit(chunked(X), y).get_support().any()


def test_a_killed_worker_costs_time_not_the_answer(client, problem):
    """kill -9 in the middle of a path; the rest of the cluster does its work again."""
    X, y = problem
    slow = da.map_blocks(slowly, chunked(X), dtype=float)
    expected = gradient_path(X, y, n_alphas=8, tol=1e-9)
    victims = [w["pid"] for w in workers(client)]
    done = {}

    def fit():
        done["path"] = gradient_path(slow, y, n_alphas=8, tol=1e-9)

    job = threading.Thread(target=fit)
    job.start()
    time.sleep(1.0)
    assert job.is_alive()
    os.kill(victims[0], signal.SIGKILL)
    job.join(timeout=120)
    assert "path" in done
    assert victims[0] not in [w["pid"] for w in workers(client)]
    largest = expected.importances.max()
    np.testing.assert_allclose(
        done["path"].importances, expected.importances, atol=1e-10 * largest, rtol=0
    )


def slowly(block):
    import time

    time.sleep(0.03)
    return block


def workers(client):
    return [{"pid": pid} for pid in client.run(os.getpid).values()]
