"""Shared fixtures, and the hypothesis profiles: no deadline in either.

`quick`, the default, tries the same few examples every run. `fuzz` (HYPOTHESIS_PROFILE=fuzz, as
`make fuzz` sets it) tries thousands of new ones.
"""

import os

import numpy as np
import pytest
from helpers import TASKS, make_data
from hypothesis import HealthCheck, settings

settings.register_profile(
    "quick",
    max_examples=40,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
settings.register_profile(
    "fuzz",
    settings.get_profile("quick"),
    max_examples=2000,
    derandomize=False,
    print_blob=True,
    suppress_health_check=list(HealthCheck),
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


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
