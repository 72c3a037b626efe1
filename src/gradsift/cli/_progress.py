"""How far a run is: one changing line in a terminal, lines on stderr in a log."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from time import perf_counter

from rich.console import Console
from rich.text import Text

from gradsift._run.printable import printable
from gradsift._run.progress import describe_time
from gradsift.pipeline import Selection

FOLD = 1.3
"""Time that a held-out fold, with the baselines, takes in that of the fit."""
EVERY = 10.0
"""Seconds between two lines of a log."""


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
