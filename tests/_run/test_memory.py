"""Requests that cannot be met are refused before any work, with what to do instead."""

import numpy as np
import pytest

from gradsift import GradientSiftRegressor, SparseGradientClassifier, SparseGradientRegressor
from gradsift._run import memory


def test_there_is_some_memory():
    assert memory.available_memory() > 1e8


def test_resident_memory_counts_what_is_held(tmp_path, monkeypatch):
    before = memory.resident_memory()
    if before is not None:  # not every system tells
        held = np.ones(30_000_000)
        assert memory.resident_memory() - before == pytest.approx(held.nbytes, rel=0.1)
    monkeypatch.setattr(memory, "STATM", tmp_path / "nothing")
    assert memory.resident_memory() is None


def test_a_containers_limit_counts(tmp_path, monkeypatch):
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(memory, "CGROUP_LIMIT", limit)
    free = memory.available_memory()  # no such file: no limit
    limit.write_text("1000000\n")
    assert memory.available_memory() == 1e6
    limit.write_text("max\n")
    assert memory.available_memory() == pytest.approx(free, rel=0.5)


def test_pairs_that_do_not_fit_are_refused_with_a_way_out(monkeypatch):
    """200 samples take 8 n^2 bytes times ten arrays, 3.2 MB; more outputs, more arrays."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), rng.normal(size=200)
    y += 3 * X[:, 0]
    monkeypatch.setattr(memory, "available_memory", lambda: 3.0e6)
    with pytest.raises(ValueError, match=r"pairs of 200 samples need about .* use GradientSiftReg"):
        SparseGradientRegressor().fit(X, y)
    with pytest.raises(ValueError, match="fit on a sample of the rows"):
        SparseGradientClassifier().fit(X, np.digitize(y, [-1, 1]))
    assert GradientSiftRegressor().fit(X, y).get_support()[0]  # the way out is one
    monkeypatch.setattr(memory, "available_memory", lambda: 3.5e6)
    SparseGradientRegressor().fit(X, y)


def test_an_array_in_its_own_pages_goes_back_to_the_system():
    before = memory.resident_memory()
    if before is None:
        pytest.skip("this system does not tell")
    A = memory.in_own_pages((100, 50_000), np.float32)
    assert A.shape == (100, 50_000)
    assert A.dtype == np.float32
    assert not A.any()
    A[:] = 1.0
    assert memory.resident_memory() - before > 0.9 * A.nbytes
    del A
    assert memory.resident_memory() - before < 2e6


def test_an_empty_array_needs_no_pages():
    assert memory.in_own_pages((0, 3), np.float64).shape == (0, 3)
