"""`gradsift convert`: a wide text table to columns on disk."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter

from gradsift.cli._printable import printable
from gradsift.data import convert


def run(path: Path, out: Path, target: str | None, drop: tuple[str, ...]) -> None:
    """Stream the table, and say what came of it."""
    start = perf_counter()
    done = convert(path, out, target=target, drop=drop)
    for note in done.notes:
        print(printable(note))
    print(f"{out} written in {perf_counter() - start:.1f} s")
