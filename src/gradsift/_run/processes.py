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
pools: dict[int, Any] = {}
"""The executor in use by its number of processes, if there is one. It is our own: joblib would take
loky's reusable one for one of its own, and fail.
"""


def begin(workers: int, function: Callable[..., Any], calls: Sequence[Any]) -> list[Future[Any]]:
    """Calls that other processes begin; none where processes cannot be had."""
    if workers <= 0:
        return []
    for _ in range(2):  # the second time with a new executor, if a process of the first has died
        try:
            return [executor(workers, len(calls)).submit(function, *call) for call in calls]
        except RuntimeError:
            pools.clear()
        except (ImportError, NotImplementedError, OSError):
            break
    return []


def executor(workers: int, calls: int) -> Any:
    """The executor in use, where no more than `workers` of its processes would get a call."""
    at_once = next((size for size in pools if min(size, calls) == min(workers, calls)), None)
    if at_once is None:
        from joblib.externals.loky import ProcessPoolExecutor

        while pools:
            pools.popitem()[1].shutdown(wait=False)
        pools[workers] = ProcessPoolExecutor(workers, timeout=IDLE_SECONDS, env=ONE_THREAD)
        at_once = workers
    return pools[at_once]


def end_processes() -> None:
    """End the other processes with what they have begun: its results are not needed any more."""
    if pools:
        pools.popitem()[1].shutdown(wait=False)
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
