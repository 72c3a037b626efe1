"""`gradsift reproduce`: run experiments of the paper, show progress, say what was written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from gradsift.reproduce import EXPERIMENTS, Settings
from gradsift.reproduce._leukemia_data import DataMissing
from gradsift.reproduce.page import write_page

Report = Callable[[int, int, str], None]
console = Console(highlight=False, soft_wrap=True)


def run(
    name: str, out: Path, data: Path | None, repeats: int | None, docs: Path | None = None
) -> None:
    """Run one experiment, or all of them, and print the files."""
    if name != "all" and name not in EXPERIMENTS:
        raise typer.BadParameter(
            f"no experiment {name!r}. There are: {', '.join(EXPERIMENTS)}, all."
        )
    if repeats is not None and repeats < 1:
        raise typer.BadParameter("--repeats must be at least 1.")
    if docs is not None and not docs.is_file():
        raise typer.BadParameter(f"--docs: {docs} is not a file.")
    names = list(EXPERIMENTS) if name == "all" else [name]
    settings = Settings(repeats=repeats, data=data)
    missing = False
    for each in names:
        console.print(f"{each}: {EXPERIMENTS[each].title}", markup=False)
        start = perf_counter()
        try:
            with _reporting() as report:
                result = EXPERIMENTS[each].compute(settings, report)
            paths = EXPERIMENTS[each].write(result, out)
        except DataMissing as error:
            missing = True
            console.print(f"{each} is left out: {error}", markup=False)
            continue
        except ImportError as error:
            console.print(str(error), markup=False)
            raise typer.Exit(1) from None
        console.print(f"  {perf_counter() - start:.0f} s", markup=False)
        for path in paths:
            console.print(f"  {path}", markup=False)
    if docs is not None:
        console.print(f"  {write_page(docs, out)}", markup=False)
    if missing:
        raise typer.Exit(1)


@contextmanager
def _reporting() -> Iterator[Report]:
    """A progress bar in a terminal; elsewhere a line at every tenth of the way."""
    if not console.is_terminal:
        yield _plain_lines()
        return
    columns = (
        TextColumn("  {task.description}"),
        BarColumn(),
        TextColumn("{task.completed}/{task.total}"),
    )
    with Progress(*columns, TimeElapsedColumn(), TimeRemainingColumn(), console=console) as bar:
        tasks: dict[str, object] = {}

        def report(done: int, total: int, what: str) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=total)
            bar.update(tasks[what], completed=done)  # type: ignore[arg-type]

        yield report


def _plain_lines() -> Report:
    tenths: dict[str, int] = {}

    def report(done: int, total: int, what: str) -> None:
        tenth = 10 * done // max(total, 1)
        if tenth > tenths.get(what, 0):
            tenths[what] = tenth
            console.print(f"  {what}: {done} of {total}", markup=False)

    return report
