"""`gradsift select`: the main job."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from datetime import datetime
from pathlib import Path
from time import perf_counter
from typing import Any, Literal

from rich.console import Console
from threadpoolctl import threadpool_limits

from gradsift._run.printable import printable
from gradsift.cli._progress import Progress
from gradsift.pipeline import (
    Place,
    Selection,
    Settings,
    results_place,
    select_in_stages,
    write_each,
)
from gradsift.tables import Choices, fingerprint, open_table
from gradsift.tables.reading import standard_input

WIDEST = 100
"""Characters of a line."""
console = Console(highlight=False, markup=False)


def run(
    path: Path,
    choices: Choices,
    settings: Settings,
    out: Path,
    *,
    force: bool = False,
    target_from: Path | None = None,
    threads: int | None = None,
    details: bool = False,
    form: Literal["csv", "tsv"] = "csv",
) -> None:
    """Read, select, write, and print the answer."""
    start = perf_counter()
    limits: Any = threadpool_limits(threads) if threads else nullcontext()
    inputs = [target_from, choices.covariates] + [path] * (str(path) != "-")
    progress = Progress(settings.cv)
    with (
        limits,
        standard_input(path) as path,
        progress.shown(),
        results(out, force=force, inputs=inputs) as place,
    ):
        table = open_table(path, choices, target_from)
        made = {
            "source": path.name,
            "command": shlex.join(["gradsift", *sys.argv[1:]]),
            "data": fingerprint(path),
            "date": datetime.now().astimezone().isoformat(timespec="seconds"),
        }
        stages = select_in_stages(table, settings, progress.say, made)
        selection = write_each(place, table, progress.follow(stages), form)
    show(selection, out, perf_counter() - start, details=details)


@contextmanager
def results(out: Path, **kwargs: Any) -> Iterator[Place]:
    """The place of the results; a run that ends early says what it holds."""
    with results_place(out, **kwargs) as place:
        try:
            yield place
        except BaseException:
            if place.written:
                print(f"{printable(out)} holds what was finished before.", file=sys.stderr)
            raise


def show(selection: Selection, out: Path, seconds: float, *, details: bool = False) -> None:
    """The answer, and where everything is."""
    width = min(console.width, WIDEST)
    console.print(selection.answer.to_console(width, details=details), soft_wrap=True)
    console.print(
        f"{printable(out / 'report.html')} has the pictures ({seconds:.1f} s)", soft_wrap=True
    )
