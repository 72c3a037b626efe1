"""`gradsift convert`: a wide text table to columns on disk."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Any

from gradsift._run.printable import printable
from gradsift.data import convert
from gradsift.data.read_options import ReadOptions


def run(
    path: Path,
    out: Path,
    target: str | None,
    drop: tuple[str, ...],
    id: str | None,
    reading: dict[str, Any],
) -> None:
    """Stream the table, and say what came of it."""
    start = perf_counter()
    done = convert(path, out, target=target, drop=drop, id=id, options=ReadOptions(**reading))
    for note in done.notes:
        print(printable(note))
    print(f"{out} written in {perf_counter() - start:.1f} s")
