"""Small problems shared by the tests of the refit."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import KERNELS, N_AXES, standard


@pytest.fixture(params=KERNELS)
def kernel(request):
    return KERNELS[request.param]


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def smooth(rng):
    """X (60, 3), y (60,): two relevant variables, one not."""
    X = rng.normal(size=(60, N_AXES))
    return X, np.sin(1.5 * X[:, 0]) + 0.5 * X[:, 1] ** 2 + 0.1 * rng.normal(size=60)


@pytest.fixture
def circle(rng):
    """X (120, 3), labels 0/1: inside or outside a circle in two of the variables."""
    X = rng.normal(size=(120, N_AXES))
    odds = 2.0 * (1.6 - (X[:, :2] ** 2).sum(1))
    return X, (rng.random(120) < 1 / (1 + np.exp(-odds))).astype(int)


@pytest.fixture
def many_effects():
    """60 rows, 300 columns, three hidden factors seen through all of them."""
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(60, 3))
    Z = standard(hidden @ rng.normal(size=(3, 300)) + rng.normal(size=(60, 300)))
    return Z, hidden @ [1.0, 0.7, -0.5] + 0.3 * rng.normal(size=60)
