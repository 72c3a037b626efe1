"""`gradsift scan` and `gradsift merge`: a selection whose passes over the table are job arrays."""

from __future__ import annotations

import json
from pathlib import Path
from time import perf_counter
from typing import Any

import typer

from gradsift._run.printable import printable
from gradsift.data.stored_passes import (
    PassNeededError,
    last_pass,
    missing,
    n_blocks,
    run_part,
    with_passes,
    write,
)
from gradsift.protocols import Source

FORMAT = 1
STATE = "state.json"
ANOTHER_ROUND = 3
"""Exit code of `merge` when another pass is to be done."""


def begin(state: Path, table: Path, request: dict[str, Any]) -> None:
    """Note what is asked for, and write the jobs of the first pass."""
    if (state / STATE).exists():
        raise ValueError(f"{state} holds a scan already: remove it, or name another --state.")
    state.mkdir(parents=True, exist_ok=True)
    files = {k: str(v.resolve()) for k, v in request.items() if isinstance(v, Path)}
    about = {"format": FORMAT, "table": str(table.resolve()), "bytes": size_of(table)}
    write(state / STATE, json.dumps(about | request | files, indent=1).encode())
    say_next(select(state, None))


def part(state: Path, which: str) -> None:
    """Do part i/N of the pass under way."""
    number, _, parts = which.partition("/")
    if not (number.isdigit() and parts.isdigit() and 1 <= int(number) <= int(parts)):
        raise typer.BadParameter(f"--part {which}: expected i/N with i from 1 to N, such as 3/22.")
    start = perf_counter()
    done = run_part(opened(state).X, state, int(number), int(parts))
    what = "done" if done else "nothing left to do"
    print(f"{last_pass(state).name}, part {which}: {what} ({perf_counter() - start:.1f} s)")


def merge(state: Path, out: Path, *, force: bool = False) -> None:
    """Go on with the selection: to the next pass (exit code 3), or to its results."""
    say_next(select(state, out, force=force))
    print(f"{printable(out / 'report.html')} has the pictures")


def status(state: Path) -> None:
    """Which blocks of the pass under way are not done."""
    folder = last_pass(state)
    left, total = missing(folder), n_blocks(folder)
    todo = sum(last - first for first, last in left)
    print(f"{folder.name}: {total - todo:,} of {total:,} blocks are done")
    for first, last in left:
        print(f"  blocks {first:,} to {last - 1:,} are missing")


def say_next(needed: Path | None) -> None:
    """The pass that is to be done, and exit code 3; nothing where there is none."""
    if needed is not None:
        print(
            f"{needed.name} is to be done: gradsift scan --part i/N, N at most {n_blocks(needed)}"
        )
        raise typer.Exit(ANOTHER_ROUND)


def size_of(table: Path) -> int:
    """Bytes of a file or folder."""
    return sum(f.stat().st_size for f in ([table] if table.is_file() else table.rglob("*")))


def opened(state: Path) -> Any:
    """The table, as it was when the scan began."""
    from gradsift.tables import Choices
    from gradsift.tables.opening import open_table

    asked = read(state)
    table = Path(asked["table"])
    if size_of(table) != asked["bytes"]:
        raise ValueError(f"{table.name} has changed since the scan began: begin the scan again.")
    target_from, covariates = (
        Path(asked[k]) if k in asked else None for k in ("target_from", "covariates")
    )
    known = tuple(asked["covariate_names"])
    choices = Choices(asked["target"], covariates=covariates, covariate_names=known)
    found = open_table(table, choices, target_from, on_disk=True)
    if not isinstance(found.X, Source):
        raise ValueError(f"{table.name} is not read column by column: use gradsift select.")
    return found


def read(state: Path) -> dict[str, Any]:
    """What was asked for."""
    if not (state / STATE).exists():
        raise FileNotFoundError(f"{state} holds no scan: begin with gradsift scan TABLE --init.")
    asked: dict[str, Any] = json.loads((state / STATE).read_text())
    if asked["format"] != FORMAT:
        raise ValueError(f"{state} was written by another version: begin the scan again.")
    return asked


def select(state: Path, out: Path | None, *, force: bool = False) -> Path | None:
    """Select from the passes that are done, and write the results; or the pass that is needed."""
    from dataclasses import replace

    from gradsift.pipeline import Settings, results_place, select_in_stages, write_each

    asked, table = read(state), opened(state)
    table = replace(table, X=with_passes(table.X, state))
    settings = Settings(
        false_positives=asked["false_positives"], interactions=asked["interactions"], cv=0
    )
    stages = select_in_stages(table, settings, made={"source": Path(asked["table"]).name})
    try:
        if out is None:
            next(iter(stages))
            return None
        with results_place(out, force=force, inputs=[Path(asked["table"])]) as place:
            selection = write_each(place, table, stages)
    except PassNeededError as needed:
        return needed.folder
    print(selection.answer.to_console(100))
    return None
