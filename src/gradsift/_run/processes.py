"""The same calls in processes: folds and half samples on all cores, the same bits for any number.

A `Batch` begins calls in other processes (loky, from joblib) while this one does something else,
and makes those that none of them has begun itself. Each process runs BLAS on one thread. Where
processes cannot be had, all calls are made here.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from importlib import import_module
from multiprocessing import active_children
from typing import Any, Generic, TypeVar

from gradsift._run.threads import count_workers

R = TypeVar("R")

ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "BLIS")}
IDLE_SECONDS = 60
"""After so long without a call a process ends."""
pools: list[Any] = []
"""The executor in use, if there is one."""


def begin(workers: int, function: Callable[..., Any], calls: Sequence[Any]) -> list[Future[Any]]:
    """Calls that other processes begin; none where processes cannot be had."""
    if workers <= 0:
        return []
    try:
        from joblib.externals.loky import get_reusable_executor

        pool = get_reusable_executor(workers, timeout=IDLE_SECONDS, env=ONE_THREAD)
        pools[:] = [pool]
        return [pool.submit(function, *call) for call in calls]
    except (ImportError, NotImplementedError, OSError, RuntimeError):
        return []


def end_processes() -> None:
    """End the other processes with what they have begun: its results are not needed any more."""
    if pools:
        pools.pop().shutdown(wait=False, kill_workers=True)
        for process in active_children():  # a worker in the middle of a call would be waited for
            process.terminate()


def warm(n_jobs: int, module: str) -> None:
    """Let the processes that `n_jobs` jobs need import a module meanwhile."""
    workers = count_workers(n_jobs) - 1
    begin(workers, import_module, [(module,)] * workers)


@dataclass(frozen=True)
class Batch(Generic[R]):
    """Calls of a function.

    Attributes
    ----------
    function : importable by name
    calls : sequence of tuples
        Arguments of each call.
    futures : list
        Calls that other processes may have begun; empty without processes.
    """

    function: Callable[..., R]
    calls: Sequence[tuple[Any, ...]]
    futures: list[Future[Any]]

    @classmethod
    def begin(
        cls, function: Callable[..., R], calls: Sequence[tuple[Any, ...]], n_jobs: int | None
    ) -> Batch[R]:
        """Begin the calls in up to `n_jobs` processes, this one included."""
        workers = min(count_workers(n_jobs or 1) - 1, len(calls))
        return cls(function, calls, begin(workers, recorded, [(function, c) for c in calls]))

    def results(self) -> list[R]:
        """Their results, in order, with the warnings of each."""
        found: dict[int, R] = {}
        for k in reversed(range(len(self.calls))):
            if not self.futures or self.futures[k].cancel():
                found[k] = self.function(*self.calls[k])
        return [found[k] if k in found else self.result(k) for k in range(len(self.calls))]

    def result(self, k: int) -> R:
        """The result of a call that another process has begun."""
        try:
            result, seen = self.futures[k].result()
        except Exception:  # the process may have died: if the call is at fault, it says so here
            return self.function(*self.calls[k])
        for message, category, file, line in seen:
            warnings.warn_explicit(message, category, file, line)
        return result  # type: ignore[no-any-return]


def recorded(function: Callable[..., R], call: tuple[Any, ...]) -> tuple[R, list[Any]]:
    """The result of a call, and its warnings: message, category, file and line."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        result = function(*call)
    return result, [(w.message, w.category, w.filename, w.lineno) for w in seen]
