"""Paths stay cheap: passes over the data and products per alpha, counted; time as a loose ratio.

Counts are the same on every machine, so they are held tight. The ratio of a path to one product
X'M only catches what the counts cannot see; it has much room for a busy machine.
"""

import time

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import gradsift.solver.working_set as working_set
from gradsift import gradient_path


def surface(n, p):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    height = X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * X[:, 3] ** 2 - 0.5 + 0.3 * rng.normal(size=n)
    return X, np.sign(height)


@pytest.mark.parametrize(
    ("task", "kernel", "products"),
    [
        ("regression", "gaussian", 10),
        ("classification", "gaussian", 16),
        ("regression", "affine", 60),
        ("classification", "affine", 100),
    ],
)
def test_passes_and_products_per_alpha(monkeypatch, task, kernel, products):
    X, y = surface(60, 1_000)
    passes, one_pass = [], working_set.gradient_norms
    monkeypatch.setattr(
        working_set, "gradient_norms", lambda *args: passes.append(1) or one_pass(*args)
    )
    path = gradient_path(X, y, task=task, kernel=kernel)
    assert path.converged.all()
    assert len(passes) <= 1.1 * len(path.alphas)  # a certificate needs one, and rarely two
    assert path.n_iter.mean() <= products


def test_a_path_costs_a_few_products_over_the_table():
    """Some 3 in units of X'M per alpha; 25 would mean that something is wrong, not slow."""
    X, y = surface(72, 7_129)
    M = np.random.default_rng(1).normal(size=(72, 72))
    with threadpool_limits(1, user_api="blas"):
        ratios = []
        for _ in range(3):
            start = time.process_time()
            for _ in range(10):
                X.T @ M
            one = (time.process_time() - start) / 10
            start = time.process_time()
            path = gradient_path(X, y, kernel="gaussian")
            ratios.append((time.process_time() - start) / len(path.alphas) / one)
    assert path.dual_gaps.max() <= 1e-4
    assert min(ratios) < 25
