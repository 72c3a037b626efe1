"""Small runs: one process, few repeats."""

import pytest

from experiments import Settings


@pytest.fixture
def few():
    return Settings(repeats=2, n_jobs=1)


@pytest.fixture
def seen():
    """(progress, calls): a callback that remembers."""
    calls = []
    return (lambda done, total, what: calls.append((done, total, what))), calls
