"""The same bits whatever the number of threads.

A multi-threaded BLAS may split one product differently from run to run, and so round differently.
Here a long pass over columns is cut into fixed blocks, each product runs on one thread, and the
blocks run side by side: the number of threads changes the time, never the answer.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, wraps
from itertools import islice
from typing import Any, NamedTuple, TypeVar, cast

from joblib import cpu_count
from threadpoolctl import ThreadpoolController

T = TypeVar("T")
R = TypeVar("R")
F = TypeVar("F", bound=Callable[..., Any])

_workers: ContextVar[int | None] = ContextVar("gradsift_workers", default=None)
"""Block-level threads of the work under way in this thread; None = none is under way."""


@cache
def _blas() -> list[Any]:
    # finding the loaded libraries takes milliseconds: once per process is enough
    return list(ThreadpoolController().select(user_api="blas").lib_controllers)


def _set_threads(library: Any, count: int) -> None:
    """Set the number of threads, also where threadpoolctl listens to one thread only, which is
    what newer versions do while that thread has a limit of its own.
    """
    set_free = getattr(library, "clear_controlling_thread", lambda force: None)
    set_free(force=True)
    library.set_num_threads(count)
    set_free(force=True)


class _Hold(NamedTuple):
    thread: int
    own: list[tuple[Any, int]]
    """Libraries whose setting belongs to the thread, as they were."""


class _OneThread:
    """One BLAS thread for the whole process while anyone holds it.

    The number of BLAS threads belongs to the process, not to the thread that sets it. If each of
    several fits at once saved and restored it on its own, the first to leave would free BLAS
    under the others, and the last to leave would restore the limit of one that it found. So the
    first to come remembers what BLAS was allowed, and the last to leave gives it back. A BLAS that
    runs on OpenMP has one setting for each thread instead, so each thread restores its own.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._holds: dict[object, _Hold] = {}
        self._before: list[tuple[Any, int]] = []

    def hold(self, who: object) -> int:
        """Limit BLAS; the number of threads it was allowed before anyone did."""
        with self.lock:
            found = [(library, int(library.num_threads)) for library in _blas()]
            own = [(lib, n) for lib, n in found if getattr(lib, "threading_layer", "") == "openmp"]
            if not self._holds:
                self._before = [pair for pair in found if pair not in own]
            self._holds[who] = _Hold(threading.get_ident(), own)
            for library, count in found:
                if count > 1:
                    _set_threads(library, 1)
            return max((count for _, count in [*self._before, *own]), default=1)

    def release(self, who: object) -> None:
        """Give up one hold; without any left, BLAS gets back what it was allowed."""
        with self.lock:
            hold = self._holds.pop(who, None)
            if hold is None:
                return
            for library, count in hold.own if self._holds else [*hold.own, *self._before]:
                _set_threads(library, count)

    def keep_own(self) -> None:
        """In a fork: its other threads are gone, and so are their holds."""
        here = threading.get_ident()
        for who in [who for who, hold in self._holds.items() if hold.thread != here]:
            self._holds[who] = _Hold(here, [])
            self.release(who)


_one_thread = _OneThread()


@cache
def _pool(workers: int) -> ThreadPoolExecutor:
    # starting threads takes as long as a pass over a small table: once per process is enough
    return ThreadPoolExecutor(workers, "gradsift", initializer=_workers.set, initargs=(1,))


def _begin_child() -> None:
    _pool.cache_clear()  # a fork has the pool but not its threads
    _one_thread.keep_own()
    _one_thread.lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_one_thread.lock.acquire,
        after_in_parent=_one_thread.lock.release,
        after_in_child=_begin_child,
    )


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

    Inside another such block, in the same thread, the number of block-level threads stays as it
    is. Blocks of several threads may overlap: BLAS is set free when the last of them is left.

    Parameters
    ----------
    most : int, optional
        At most so many of them: jobs that run side by side must share the machine.
    workers : int, optional
        So many of them, whatever BLAS was allowed; -1 = one per core, as `n_jobs` counts.
    """
    who, outside = object(), _workers.get()
    try:
        allowed = _one_thread.hold(who)
        if workers is not None:
            count = count_workers(workers)
        elif outside is not None:
            count = outside
        else:
            count = allowed if most is None else min(allowed, most)
        token = _workers.set(count)
        try:
            yield
        finally:
            _workers.reset(token)
    finally:
        _one_thread.release(who)


def count_blocks() -> int:
    """Blocks that the work under way in this thread may run side by side."""
    return _workers.get() or 1


def same_bits(method: F) -> F:
    """A method that runs its BLAS on one thread: the same call, the same bits."""

    @wraps(method)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        with one_blas_thread():
            return method(*args, **kwargs)

    return cast(F, wrapped)


def map_blocks(function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
    """function over items, in order, several at a time; at most a few items are held at once."""
    workers = count_blocks()
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
