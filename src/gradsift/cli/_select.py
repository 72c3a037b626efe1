"""`gradsift select`: the main job."""

from __future__ import annotations

import shlex
import sys
from contextlib import nullcontext
from datetime import datetime
from pathlib import Path
from time import perf_counter
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table as Grid
from threadpoolctl import threadpool_limits

from gradsift.cli._printable import printable
from gradsift.explain import VariableSummary
from gradsift.pipeline import Answer, Settings, findings_of, select, whole_folder, write_files
from gradsift.tables import BEWARE, Choices, fingerprint, open_table

NOT_CONVERGED = 3
MOST_SHOWN = 20
console = Console(highlight=False)


def run(
    path: Path,
    choices: Choices,
    settings: Settings,
    out: Path,
    *,
    force: bool = False,
    target_from: Path | None = None,
    threads: int | None = None,
) -> None:
    """Read, select, write, and print the short of it."""
    start = perf_counter()
    limits: Any = threadpool_limits(threads) if threads else nullcontext()
    shown: Any = console.status("reading") if console.is_terminal else nullcontext()
    inputs = [path, target_from]
    with limits, shown as status, whole_folder(out, force=force, inputs=inputs) as folder:

        def say(what: str) -> None:
            if status is None:
                console.print(f"[dim]{perf_counter() - start:6.1f} s  {what}[/dim]")
            else:
                status.update(what)

        table = open_table(path, choices, target_from)
        for note in table.notes:
            console.print(shown_note(note))
        answer = select(table, settings, say)
        say("writing")
        findings = findings_of(
            answer,
            source=path.name,
            command=command_line(),
            fingerprint=fingerprint(path),
            created=datetime.now().astimezone().isoformat(timespec="seconds"),
        )
        write_files(folder, answer, findings)
    show(answer, out, perf_counter() - start)
    if not answer.converged:
        raise typer.Exit(NOT_CONVERGED)


def shown_text(text: object) -> str:
    """Text from a file as a terminal may have it: no control characters, no markup."""
    return escape(printable(text))


def shown_note(note: str) -> str:
    """A note, dim unless it must not be overlooked."""
    if note.startswith(BEWARE):
        return f"[yellow]beware:[/yellow] {shown_text(note.removeprefix(BEWARE))}"
    return f"[dim]{shown_text(note)}[/dim]"


def command_line() -> str:
    """The command as it was given, to run again."""
    return shlex.join(["gradsift", *sys.argv[1:]])


def show(answer: Answer, out: Path, seconds: float) -> None:
    """The selected variables, how sure, and where everything is."""
    table, rows = answer.table, answer.variables
    n, p = table.X.shape
    count = int(answer.model.get_support().sum())
    what = shown_text(table.recipe.target)
    console.print(f"\n[bold]{count} of {p:,} variables explain {what}[/bold] ({n:,} rows)")
    if rows:
        console.print(grid(rows))
    if count > MOST_SHOWN:
        console.print(f"and {count - MOST_SHOWN} more in selected.csv")
    if answer.held_out is not None:
        scored = answer.held_out
        console.print(
            f"held-out {scored.metric}: {scored.mean:.2f} "
            f"(without any variable {scored.baseline:.2f})"
        )
    again = [note.removeprefix(BEWARE) for note in table.notes if note.startswith(BEWARE)]
    said = [*again, *answer.warnings, *answer.notes[len(table.notes) :]]
    for message in dict.fromkeys(said):
        console.print(f"[yellow]beware:[/yellow] {shown_text(message)}")
    console.print(f"{out / 'report.html'} tells the whole story ({seconds:.1f} s)")


def grid(rows: list[VariableSummary]) -> Grid:
    """The first rows of selected.csv, for a terminal."""
    steady = rows[0].frequency is not None
    out = Grid("rank", "variable", "importance", box=None, pad_edge=False)
    if steady:
        out.add_column("stable", justify="right")
    out.add_column("effect")
    out.add_column("acts with")
    for row in rows[:MOST_SHOWN]:
        cells: list[Any] = [str(row.rank), shown_text(row.name), f"{row.importance:.3g}"]
        if steady:
            cells.append(f"{row.frequency:.0%}")
        out.add_row(*cells, shown_text(row.words), shown_text(", ".join(row.partners)))
    return out
