"""Shared fixtures, and one hypothesis profile: the same examples every run, no deadline."""

import numpy as np
import pytest
from helpers import TASKS, make_data
from hypothesis import HealthCheck, settings

settings.register_profile(
    "suite",
    max_examples=40,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
settings.load_profile("suite")


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture(params=TASKS)
def task(request):
    return request.param


@pytest.fixture
def table():
    """(X, y) of a small regression table with two relevant columns."""
    return make_data("regression", n=40, p=6)
