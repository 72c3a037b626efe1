"""How far a long run is: a bar in a terminal, plain lines in a log, nothing unless asked.

Steps along a path cost more and more as more variables come in, so the time left follows the trend
of the last steps, not the mean; folds take the time the folds before them took.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from gradsift._run.memory import resident_memory
from gradsift._run.passes import Counter, counting
from gradsift.protocols import Array

EVERY = 5.0  # seconds between two lines of a log
LONG = 1.0  # seconds of a stage that deserve a line
FEWEST = 3  # steps before a time left is named

log = logging.getLogger("gradsift")
Say = Callable[[str], None]
_listener: ContextVar[Say | None] = ContextVar("_listener", default=None)


def silent(_: str) -> None:
    """Say nothing."""


@contextmanager
def progress_to(say: Say) -> Iterator[None]:
    """Fits inside report their progress to `say` alone, whatever their `verbose`.

    Only the calling thread is listened to: fits elsewhere in the process go on as before.

    Examples
    --------
    >>> with progress_to(print), stages(verbose=0) as say:
    ...     say("standardising 10 columns")
    standardising 10 columns
    done (...)
    """
    before = _listener.set(say)
    try:
        yield
    finally:
        _listener.reset(before)


@dataclass(frozen=True)
class Standing:
    """Where a run is."""

    done: int
    total: int
    selected: int | None
    columns_per_second: float | None
    memory: int | None
    seconds: float
    left: float | None

    def __str__(self) -> str:
        parts = [f"{self.done}/{self.total} alphas"]
        if self.selected is not None:
            parts.append(f"{self.selected:,} selected")
        parts.append(describe_use(self.columns_per_second, self.memory, self.seconds))
        if self.left is not None and self.done < self.total:
            parts.append(f"about {describe_time(self.left)} left")
        return ", ".join(parts)


class Display(Protocol):
    """Shows a standing; `close` comes last, whatever happened."""

    def show(self, now: Standing) -> None: ...

    def close(self) -> None: ...


@dataclass
class Lines:
    """A line every few seconds, and one for the last step."""

    say: Say
    clock: Callable[[], float] = time.monotonic
    said: float | None = None

    def show(self, now: Standing) -> None:
        if self.said is None or now.done == now.total or self.clock() - self.said >= EVERY:
            self.said = self.clock()
            self.say(str(now))

    def close(self) -> None: ...


class Bar:
    """A bar of rich, on the terminal behind stderr."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        console = Console(stderr=True)
        self.bar = Progress(BarColumn(30), TextColumn("{task.description}"), console=console)
        self.task: Any = None

    def show(self, now: Standing) -> None:
        if self.task is None:
            self.bar.start()
            self.task = self.bar.add_task("", total=now.total)
        self.bar.update(self.task, completed=now.done, description=str(now), refresh=True)

    def close(self) -> None:
        self.bar.stop()


@dataclass
class Steps:
    """Counts the steps of a run, times them, and shows where it is."""

    total: int
    period: int
    display: Display
    seen: Counter
    clock: Callable[[], float] = time.perf_counter
    costs: list[float] = field(default_factory=list)
    """Seconds of each step."""

    def __post_init__(self) -> None:
        self.began = self.before = self.clock()
        self.columns = self.seen.columns

    def __call__(self, found: Any) -> None:
        """One more answer (with `rows.index`)."""
        self.upto(len(self.costs) + 1, len(found.rows.index))

    def upto(self, done: int, selected: int | None = None) -> None:
        """So many steps are done."""
        steps, now = done - len(self.costs), self.clock()
        if steps <= 0:
            return
        took, columns = now - self.before, self.seen.columns - self.columns
        self.costs += [took / steps] * steps
        self.before, self.columns = now, self.seen.columns
        standing = Standing(
            done,
            self.total,
            selected,
            columns / took if columns and took > 0 else None,  # now, not on average
            resident_memory(),
            now - self.began,
            time_left(np.array(self.costs), self.total, self.period),
        )
        self.display.show(standing)


@contextmanager
def follow(verbose: int, total: int, period: int | None = None) -> Iterator[Steps | None]:
    """A function to call after every step; None where progress is not shown.

    Parameters
    ----------
    verbose : int
        0 = nothing.
    total : int
        Steps in all.
    period : int, optional
        Steps of one path, where several follow one another.
    """
    if not verbose and _listener.get() is None:
        yield None
        return
    display = choose_display()
    with counting() as seen:
        try:
            yield Steps(total, period or total, display, seen)
        finally:
            display.close()


def choose_display() -> Display:
    """Lines for whoever listens; a bar if there is a terminal and rich; else lines."""
    if _listener.get() is not None:
        return Lines(say_line)
    if sys.stderr is not None and sys.stderr.isatty():
        try:
            return Bar()
        except ImportError:
            pass
    return Lines(say_line)


def say_line(text: str) -> None:
    """To whom `progress_to` names, else to the logger "gradsift" if it is heard, else to stderr."""
    listener = _listener.get()
    if listener is not None:
        listener(text)
    elif log.isEnabledFor(logging.INFO) and log.hasHandlers():
        log.info(text)
    else:
        print(f"gradsift: {text}", file=sys.stderr, flush=True)


@contextmanager
def stages(verbose: int) -> Iterator[Say]:
    """What to call when a stage of a fit begins; a long one also tells what it took."""
    if not verbose and _listener.get() is None:
        yield silent
        return
    with counting() as seen:
        now = Stage("", 0, began := time.perf_counter())

        def say(text: str) -> None:
            nonlocal now
            now.tell(seen)
            now = Stage(text, seen.columns, time.perf_counter())
            say_line(text)

        yield say
        now.tell(seen)
        say_line(f"done ({describe_use(None, resident_memory(), time.perf_counter() - began)})")


class Stage(NamedTuple):
    """A part of a fit: when it began, and with how many columns gone over."""

    text: str
    columns: int
    began: float

    def tell(self, seen: Counter) -> None:
        """What it took, if that is worth a line."""
        seconds, columns = time.perf_counter() - self.began, seen.columns - self.columns
        if self.text and seconds >= LONG:
            rate = columns / seconds if columns else None
            say_line(f"{self.text}: {describe_use(rate, resident_memory(), seconds)}")


def time_left(costs: Array, total: int, period: int) -> float | None:
    """Seconds for the steps to come; None while too few steps are done to estimate it.

    Parameters
    ----------
    costs : (done,) array
        Seconds of each step so far.
    total : int
        A multiple of `period`.
    period : int
        Steps of one path. Later paths cost what the last one did at the same place, scaled by how
        they compare so far; the first one follows its own trend.
    """
    if len(costs) < FEWEST or len(costs) == total:
        return None if len(costs) < total else 0.0
    path, place = divmod(len(costs), period)
    now = costs[path * period :]
    if path == 0:
        model = follow_trend(now, period)
    else:
        model = costs[(path - 1) * period : path * period]
        if (seen := model[:place].sum()) > 0:
            model = now.sum() / seen * model
    return float(model[place:].sum() + (total // period - path - 1) * model.sum())


def follow_trend(costs: Array, period: int) -> Array:
    """Costs of the first steps of a path, and from there the line through their later half, never
    falling.
    """
    places = np.arange(len(costs))
    late = places[-max(len(costs) // 2, 4) :]
    slope = np.polyfit(late, costs[late], 1)[0]
    line = costs[late].mean() + max(slope, 0.0) * (np.arange(len(costs), period) - late.mean())
    return np.append(costs, np.maximum(line, 0.0))


def describe_use(rate: float | None, memory: int | None, seconds: float) -> str:
    """Speed, memory and time so far, in words."""
    parts = [] if rate is None else [f"{rate:,.0f} columns/s"]
    if memory is not None:
        parts.append(f"{memory / 1e9:.1f} GB" if memory >= 1e9 else f"{memory / 1e6:.0f} MB")
    return ", ".join([*parts, describe_time(seconds)])


def describe_time(seconds: float) -> str:
    """Seconds in words, with no more digits than they deserve.

    Examples
    --------
    >>> describe_time(3.21), describe_time(100), describe_time(9000)
    ('3.2 s', '1 min 40 s', '2 h 30 min')
    """
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 60:
        return f"{seconds:.0f} s"
    if seconds < 3600:
        return f"{int(seconds) // 60} min {int(seconds) % 60} s"
    return f"{int(seconds) // 3600} h {int(seconds) % 3600 // 60} min"
