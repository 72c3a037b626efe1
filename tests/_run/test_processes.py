"""Calls in other processes: the same results, warnings and errors as calls made here."""

import os
import threading
import time
import warnings

import pytest
from joblib import Parallel, delayed

from gradsift._run import processes
from gradsift._run.processes import Batch


def halved(x):
    if x > 100:
        raise ValueError(f"{x} is too large")
    if x < 0:
        warnings.warn("below zero", RuntimeWarning, stacklevel=2)
    return x / 2, os.getpid()


@pytest.mark.parametrize("n_jobs", [None, 1, 2])
def test_results_come_in_order(n_jobs):
    found = Batch.begin(halved, [(x,) for x in range(7)], n_jobs).results()
    assert [half for half, _ in found] == [x / 2 for x in range(7)]


def test_a_warning_in_a_process_is_given_here():
    with pytest.warns(RuntimeWarning, match="below zero"):
        Batch.begin(halved, [(-1,), (1,), (2,)], 2).results()


def test_an_error_in_a_process_is_raised_here():
    with pytest.raises(ValueError, match="101 is too large"):
        Batch.begin(halved, [(101,), (1,), (2,)], 2).results()


def test_without_processes_all_calls_are_made_here(monkeypatch):
    monkeypatch.setattr(processes, "begin", lambda *arguments: [])
    found = Batch.begin(halved, [(2,), (4,)], 2).results()
    assert found == [(1.0, os.getpid()), (2.0, os.getpid())]


def test_a_process_that_dies_costs_nothing_but_time():
    here = os.getpid()
    found = Batch.begin(dies_unless, [(here,)] * 3, 2).results()
    assert found == [here] * 3


def dies_unless(allowed):
    if os.getpid() != allowed:
        os._exit(1)
    return allowed


def test_processes_of_joblib_work_after_ours():
    """A search over parameters after held-out folds: both keep processes of their own."""
    Batch.begin(halved, [(1,), (2,), (3,)], 3).results()
    found = Parallel(n_jobs=2)(delayed(halved)(x) for x in (2, 4))
    assert [half for half, _ in found] == [1.0, 2.0]


def test_processes_end_in_the_middle_of_many_calls(monkeypatch):
    """Calls that wait their turn end as well, and no thread with an error."""
    errors: list = []
    monkeypatch.setattr(threading, "excepthook", errors.append)
    processes.end_processes()
    futures = processes.begin(1, time.sleep, [(60.0,)] * 20)
    while not any(future.running() for future in futures):
        time.sleep(0.05)
    processes.end_processes()
    for thread in threading.enumerate():
        if "ExecutorManager" in type(thread).__name__:
            thread.join(20.0)
    assert all(future.done() for future in futures)
    assert errors == []
