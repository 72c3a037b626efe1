"""A generator in a process of its own, so that what takes too long can be stopped."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from typing import Any


class Worker:
    """`with Worker(generate, *args) as worker:` and `worker.next(seconds)`; killed at the end."""

    def __init__(self, generate: Callable[..., Iterator[Any]], *args: Any) -> None:
        spawn = multiprocessing.get_context("spawn")
        self._here, there = spawn.Pipe(duplex=False)
        self._process = spawn.Process(target=_send_all, args=(there, generate, *args))
        self._process.start()
        there.close()  # so that the end of the process is the end of the pipe

    def next(self, limit: float | None = None) -> Any:
        """What comes next, or None if nothing does within `limit` seconds; EOFError at the end."""
        return self._here.recv() if limit is None or self._here.poll(max(0.0, limit)) else None

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *error: object) -> None:
        self._process.join(2.0)  # one that is done cleans up after itself
        self._process.kill()
        self._process.join()


def _send_all(there: Connection, generate: Callable[..., Iterator[Any]], *args: Any) -> None:
    for item in generate(*args):
        there.send(item)
