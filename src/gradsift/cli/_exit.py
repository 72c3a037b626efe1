"""Exit codes: 0 done, 1 usage, 2 data, 3 another pass is needed, 128 + n stopped."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import typer

from gradsift._run.printable import printable
from gradsift._run.processes import end_processes
from gradsift.cli._app import app

UsageError = typer.BadParameter.__base__  # typer brings its own click and exports only this child
USAGE, DATA, INTERRUPTED = 1, 2, 130
STOPS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


class Stopped(BaseException):
    """The process was asked to end; files that are not finished go on the way out."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextmanager
def orderly_stop() -> Iterator[None]:
    """SIGTERM and SIGHUP end the work as Ctrl-C does, instead of cutting it off."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise Stopped(number)

    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may say what signals do
        return
    before = {number: signal.signal(number, stop) for number in STOPS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def run(arguments: list[str] | None = None) -> int:
    """Run a command line and give its exit code; errors become one plain message.

    Set GRADSIFT_DEBUG to see where an error came from.
    """
    try:
        with orderly_stop():
            code = app(arguments, standalone_mode=False)
    except UsageError as error:  # type: ignore[misc]
        error.show()
        return USAGE
    except typer.Exit as asked:
        code = int(asked.exit_code)
    except (typer.Abort, KeyboardInterrupt) as stop:
        if isinstance(stop.__cause__, EOFError):  # typer takes it for a closed terminal
            return refused(stop.__cause__)
        return stopped(INTERRUPTED)
    except Stopped as signalled:
        return stopped(128 + signalled.number)
    except (ValueError, OSError, ImportError, TypeError, MemoryError, EOFError) as error:
        if os.environ.get("GRADSIFT_DEBUG"):
            raise
        return refused(error)
    if code == INTERRUPTED:
        return stopped(INTERRUPTED)
    return code if isinstance(code, int) else 0


def stopped(code: int) -> int:
    end_processes()
    print("stopped: nothing unfinished was written.", file=sys.stderr)
    return code


def refused(error: BaseException) -> int:
    """One plain sentence on an error of the data, and its exit code."""
    from gradsift.pipeline import in_options, option_words

    end_processes()
    said = printable(in_options(str(error)))
    said += option_words(getattr(error, "change", ""))  # of a table that cannot be used
    if isinstance(error, MemoryError):
        said = f"out of memory{f' ({said})' if said else ''}: use fewer columns or rows, or store"
        said += " the table by columns with `gradsift convert`."
    print(f"gradsift: {said or type(error).__name__}", file=sys.stderr)
    return DATA
