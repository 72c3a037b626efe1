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
from typing import Any, Generic, TypeVar

from gradsift._run.threads import count_workers

R = TypeVar("R")

ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "BLIS")}
IDLE_SECONDS = 60
"""After so long without a call a process ends."""


def executor(workers: int) -> Any:
    """Processes that stay for the calls to come; None where they cannot be had."""
    try:
        from joblib.externals.loky import get_reusable_executor

        return get_reusable_executor(workers, timeout=IDLE_SECONDS, env=ONE_THREAD)
    except (ImportError, NotImplementedError, OSError, RuntimeError):
        return None


def warm(n_jobs: int, module: str) -> None:
    """Let the processes that `n_jobs` jobs need import a module meanwhile."""
    workers = count_workers(n_jobs) - 1
    if workers > 0 and (pool := executor(workers)) is not None:
        for _ in range(workers):
            submit(pool, import_module, module)


def submit(pool: Any, function: Callable[..., R], *arguments: Any) -> Future[Any] | None:
    """A call to be made in another process; None where that is not possible."""
    try:
        future: Future[Any] = pool.submit(function, *arguments)
    except (OSError, RuntimeError):  # of a broken or closed pool
        return None
    return future


@dataclass(frozen=True)
class Batch(Generic[R]):
    """Calls of a function.

    Attributes
    ----------
    function : importable by name
    calls : sequence of tuples
        Arguments of each call.
    futures : list
        Calls that other processes may have begun.
    """

    function: Callable[..., R]
    calls: Sequence[tuple[Any, ...]]
    futures: list[Future[Any] | None]

    @classmethod
    def begin(
        cls, function: Callable[..., R], calls: Sequence[tuple[Any, ...]], n_jobs: int | None
    ) -> Batch[R]:
        """Begin the calls in up to `n_jobs` processes, this one included."""
        workers = min(count_workers(n_jobs or 1) - 1, len(calls))
        pool = executor(workers) if workers > 0 else None
        if pool is None:
            return cls(function, calls, [None] * len(calls))
        return cls(function, calls, [submit(pool, recorded, function, call) for call in calls])

    def cancel(self) -> None:
        """Leave out what has not begun."""
        for future in self.futures:
            if future is not None:
                future.cancel()

    def results(self) -> list[R]:
        """Their results, in order, with the warnings of each."""
        found: dict[int, R] = {}
        for k in reversed(range(len(self.calls))):
            future = self.futures[k]
            if future is None or future.cancel():
                found[k] = self.function(*self.calls[k])
        return [found[k] if k in found else self.result(k) for k in range(len(self.calls))]

    def result(self, k: int) -> R:
        """The result of a call that another process has begun."""
        future = self.futures[k]
        assert future is not None
        try:
            result, seen = future.result()
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
