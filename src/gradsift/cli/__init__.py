"""The command line: parse, call, print. Slow imports stay inside the commands."""

from __future__ import annotations

import sys


def main() -> None:
    """Entry point of the ``gradsift`` command."""
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
