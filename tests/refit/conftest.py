"""Small problems shared by the tests of the refit."""

from __future__ import annotations

import numpy as np
import pytest

from gradsift.numerics.ard_kernels import Anova, Gaussian, Linear

D = 3
AXES = np.linalg.qr(np.random.default_rng(7).normal(size=(D, D)))[0]
KERNELS = {
    "ard": Gaussian(np.log([0.8, 1.5, 3.0])),
    "ard with prior": Gaussian(np.log([0.8, 1.5, 3.0]), prior=(1.0, 0.7)),
    "rotated": Gaussian(np.log([0.8, 1.5, 3.0]), AXES),
    "anova": Anova(np.log([0.5, 2.0, 0.1]), np.log([0.9, 2.0, 3.0])),
    "linear": Linear(D),
}


@pytest.fixture(params=KERNELS)
def kernel(request):
    return KERNELS[request.param]


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def smooth(rng):
    """X (60, 3), y (60,): two relevant variables, one not."""
    X = rng.normal(size=(60, D))
    return X, np.sin(1.5 * X[:, 0]) + 0.5 * X[:, 1] ** 2 + 0.1 * rng.normal(size=60)


@pytest.fixture
def circle(rng):
    """X (120, 3), labels 0/1: inside or outside a circle in two of the variables."""
    X = rng.normal(size=(120, D))
    odds = 2.0 * (1.6 - (X[:, :2] ** 2).sum(1))
    return X, (rng.random(120) < 1 / (1 + np.exp(-odds))).astype(int)


def numeric_gradient(f, X, step=1e-5):
    """Central differences of f: (n, d) -> (n,), at the rows of X."""
    columns = []
    for k in range(X.shape[1]):
        shift = step * np.eye(X.shape[1])[k]
        columns.append((f(X + shift) - f(X - shift)) / (2 * step))
    return np.stack(columns, axis=1)
