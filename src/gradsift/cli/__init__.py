"""The command line: parse, call, print. Slow imports stay inside the commands."""

from __future__ import annotations

import gc
import sys

NEW_OBJECTS = 50_000
"""New objects after which cycles are looked for. Importing makes some 300,000 that all stay: with
Python's own 700, looking through them again and again takes .4 s of every command.
"""


def main() -> None:
    """Entry point of the ``gradsift`` command."""
    gc.set_threshold(NEW_OBJECTS)
    try:
        from gradsift.cli._exit import run
    except ModuleNotFoundError as missing:
        if missing.name not in ("typer", "rich"):
            raise
        sys.exit(
            f"the command line needs {missing.name}, which is not installed: "
            "pip install 'gradsift[cli]'"
        )
    sys.exit(run())
