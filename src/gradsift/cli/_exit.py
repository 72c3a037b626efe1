"""Exit codes: 0 done, 1 usage, 2 data, 3 done but not converged, 130 interrupted."""

from __future__ import annotations

import os
import sys

import typer

from gradsift.cli._app import app
from gradsift.cli._printable import printable

UsageError = typer.BadParameter.__base__  # typer brings its own click and exports only this child
USAGE, DATA, NOT_CONVERGED, INTERRUPTED = 1, 2, 3, 130


def run(arguments: list[str] | None = None) -> int:
    """Run a command line and give its exit code; errors become one plain message.

    Set GRADSIFT_DEBUG to see where an error came from.
    """
    try:
        code = app(arguments, standalone_mode=False)
    except UsageError as error:  # type: ignore[misc]
        error.show()
        return USAGE
    except typer.Exit as asked:
        code = int(asked.exit_code)
    except (typer.Abort, KeyboardInterrupt) as stop:
        if isinstance(stop.__cause__, EOFError):  # typer takes it for a closed terminal
            return refused(stop.__cause__)
        code = INTERRUPTED
    except (ValueError, OSError, ImportError, TypeError, MemoryError, EOFError) as error:
        if os.environ.get("GRADSIFT_DEBUG"):
            raise
        return refused(error)
    if code == INTERRUPTED:
        print("stopped: nothing was written.", file=sys.stderr)
    return code if isinstance(code, int) else 0


def refused(error: BaseException) -> int:
    """One plain sentence on an error of the data, and its exit code."""
    said = printable(error)
    if isinstance(error, MemoryError):
        said = f"out of memory{f' ({said})' if said else ''}: use fewer columns or rows, or store"
        said += " the table by columns with `gradsift convert`."
    print(f"gradsift: {said or type(error).__name__}", file=sys.stderr)
    return DATA
