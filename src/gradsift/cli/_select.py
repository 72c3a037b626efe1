"""`gradsift select`: the main job."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from datetime import datetime
from pathlib import Path
from time import perf_counter
from typing import Any, Literal

from rich.console import Console
from rich.text import Text
from threadpoolctl import threadpool_limits

from gradsift._run.printable import printable
from gradsift._run.progress import describe_time
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
FOLD = 1.3
"""Time that a held-out fold, with the baselines, takes in that of the fit."""
EVERY = 10.0
"""Seconds between two lines of a log."""
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


class Progress:
    """What is being done, what part of the work is behind it, and the time that is left.

    Folds repeat the fit, so that its time tells how long they will take. Before the fit has ended
    nothing is known, and only the time is shown.

    Parameters
    ----------
    cv : int
        Held-out folds to come.
    """

    def __init__(self, cv: int) -> None:
        self.work = 1.0 + FOLD * cv
        self.start = perf_counter()
        self.text = "reading"
        self.total: float | None = None
        self.is_log = False
        self.said = -EVERY

    def say(self, text: str) -> None:
        """What is being done; a log has the beginning of each stage, and a line now and then."""
        self.text = text
        passed = perf_counter() - self.start
        if self.is_log and passed - self.said >= EVERY:
            self.said = passed
            print(f"{describe_time(passed)}  {printable(text)}", file=sys.stderr, flush=True)

    def follow(self, stages: Iterable[Selection]) -> Iterator[Selection]:
        """The same stages; the time of the fit is taken from the first."""
        for found in stages:
            if self.total is None:
                before = perf_counter() - self.start - found.seconds
                self.total = before + found.seconds * self.work
            self.said = -EVERY
            yield found

    def __rich__(self) -> Text:
        """The line at this moment."""
        passed = perf_counter() - self.start
        if self.total is None:
            return Text(f"{printable(self.text)}  {describe_time(passed)}")
        share = min(passed / self.total, 0.99)
        left = describe_time(max(self.total - passed, 0.0))
        return Text(f"{printable(self.text)}  {share:.0%}, about {left} left")

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Show it while the body runs."""
        console = Console(stderr=True)
        self.is_log = not console.is_terminal
        if self.is_log:
            yield
            return
        with console.status(self):
            yield
