"""The same bits whatever the number of threads.

A multi-threaded BLAS may split one product differently from run to run, and so round differently.
Here a long pass over columns is cut into fixed blocks, each product runs on one thread, and the
blocks run side by side: the number of threads changes the time, never the answer.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, wraps
from itertools import islice
from typing import Any, TypeVar, cast

from joblib import cpu_count
from threadpoolctl import ThreadpoolController

T = TypeVar("T")
R = TypeVar("R")
F = TypeVar("F", bound=Callable[..., Any])

_workers: ContextVar[int] = ContextVar("gradsift_workers", default=1)


@cache
def _controller() -> ThreadpoolController:
    # finding the loaded libraries takes milliseconds: once per process is enough
    return ThreadpoolController()


@cache
def _pool(workers: int) -> ThreadPoolExecutor:
    # starting threads takes as long as a pass over a small table: once per process is enough
    return ThreadPoolExecutor(workers, thread_name_prefix="gradsift")


if hasattr(os, "register_at_fork"):  # a fork has the pool but not its threads
    os.register_at_fork(after_in_child=_pool.cache_clear)


def count_workers(n_jobs: int) -> int:
    """Threads that scikit-learn's `n_jobs` asks for.

    Examples
    --------
    >>> count_workers(3), count_workers(-1) == cpu_count()
    (3, True)
    """
    if n_jobs == 0:
        raise ValueError("n_jobs=0: use a number of threads, -1 (one per core) or None.")
    return n_jobs if n_jobs > 0 else max(1, cpu_count() + 1 + n_jobs)


@contextmanager
def one_blas_thread(most: int | None = None, *, workers: int | None = None) -> Iterator[None]:
    """Run BLAS on one thread inside; what it was allowed outside becomes block-level threads.

    Parameters
    ----------
    most : int, optional
        At most so many of them: jobs that run side by side must share the machine.
    workers : int, optional
        So many of them, whatever BLAS was allowed; -1 = one per core, as `n_jobs` counts.
    """
    blas = _controller().select(user_api="blas")
    allowed = max((lib["num_threads"] for lib in blas.info()), default=1)
    allowed = allowed if most is None else min(allowed, most)
    count = max(allowed, _workers.get()) if workers is None else count_workers(workers)
    with blas.limit(limits=1):
        token = _workers.set(count)
        try:
            yield
        finally:
            _workers.reset(token)


def same_bits(method: F) -> F:
    """A method that runs its BLAS on one thread: the same call, the same bits."""

    @wraps(method)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        with one_blas_thread():
            return method(*args, **kwargs)

    return cast(F, wrapped)


def map_blocks(function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
    """function over items, in order, several at a time; at most a few items are held at once."""
    workers = _workers.get()
    if workers == 1:
        yield from map(function, items)
        return
    source = iter(items)
    first = list(islice(source, 2 * workers))
    if len(first) == 1:  # waking a thread takes longer than small work
        yield function(first[0])
        return
    pool = _pool(workers)
    waiting: list[Future[R]] = [pool.submit(function, x) for x in first]
    while waiting:
        done = waiting.pop(0).result()
        waiting += [pool.submit(function, x) for x in islice(source, 1)]
        yield done
