"""`gradsift select`: the main job."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from datetime import datetime
from pathlib import Path
from textwrap import wrap
from time import perf_counter
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table as Grid
from threadpoolctl import threadpool_limits

from gradsift.cli._printable import printable
from gradsift.pipeline import Place, Settings, results_place, select_in_stages, write_each
from gradsift.report import (
    Findings,
    check_report_packages,
    predictor_name,
    score_table,
    summarise,
)
from gradsift.report.finding_words import confidence_words, finding_rows, q_words
from gradsift.report.sure_words import alarms, picked_words
from gradsift.report.text import join
from gradsift.report.words import adjusted_words, headline, told_apart
from gradsift.tables import BEWARE, Choices, fingerprint, open_table

NOT_CONVERGED = 3
MOST_SHOWN = 20
WIDEST_VARIABLE = 30
"""Characters of a variable's name that stay in one line, whatever else must go on in the next."""
WIDEST_WORD = 20
"""Characters of a word of an effect that is not broken."""
NARROW = 90
"""Width of a terminal below which long heads of columns take two lines."""
WIDEST_NAME = 13
"""Characters of a name above a column of scores: longer ones go on in the next line."""
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
    inputs = [path, target_from, choices.covariates]
    with limits, shown as status, results(out, force=force, inputs=inputs) as place:

        def say(what: str) -> None:
            if status is None:
                console.print(f"[dim]{perf_counter() - start:6.1f} s  {what}[/dim]")
            else:
                status.update(what)

        table = open_table(path, choices, target_from, scratch=place.scratch)
        for note in table.notes:
            console.print(shown_note(note))
        stages = select_in_stages(
            table,
            settings,
            say,
            source=path.name,
            command=command_line(),
            fingerprint=fingerprint(path),
            created=datetime.now().astimezone().isoformat(timespec="seconds"),
        )
        findings = write_each(place, table, stages, say)
    show(findings, out, perf_counter() - start)
    if not findings.converged:
        raise typer.Exit(NOT_CONVERGED)


@contextmanager
def results(out: Path, **kwargs: Any) -> Iterator[Place]:
    """The place of the results; a run that ends early says what it holds, and one that can write no
    report says so before it begins.
    """
    with results_place(out, **kwargs) as place:
        try:
            check_report_packages()
        except ImportError as error:
            console.print(f"[yellow]beware:[/yellow] no report.html: {shown_text(error)}")
        try:
            yield place
        except BaseException:
            if place.written:
                print(f"{printable(out)} holds what was finished before.", file=sys.stderr)
            raise


def shown_text(text: object) -> str:
    """Text from a file as a terminal may have it: no control characters, no markup."""
    return escape(printable(str(text).replace("\u00a0%", "%").replace("\u00a0", " ")))


def shown_note(note: str) -> str:
    """A note, dim unless it must not be overlooked."""
    if note.startswith(BEWARE):
        return f"[yellow]beware:[/yellow] {shown_text(note.removeprefix(BEWARE))}"
    return f"[dim]{shown_text(note)}[/dim]"


def command_line() -> str:
    """The command as it was given, to run again."""
    return shlex.join(["gradsift", *sys.argv[1:]])


def show(findings: Findings, out: Path, seconds: float) -> None:
    """The selected variables, how sure, and where everything is."""
    console.print(f"\n[bold]{shown_text(headline(findings))}[/bold] ({findings.rows:,} rows)")
    if findings.covariate_names:
        console.print(f"beside {shown_text(join(findings.covariate_names))}, kept as asked")
    if findings.adjusted_for:
        console.print(shown_text(adjusted_words(findings)))
    if findings.found and not told_apart(findings):
        show_findings(findings)
        if findings.variables:
            console.print("\nselected variables")
    if findings.variables:
        console.print(grid(findings))
    if findings.n_selected > MOST_SHOWN:
        console.print(f"and {findings.n_selected - MOST_SHOWN} more in selected.csv")
    longer = summarise(findings)["associated"]
    if longer is not None and longer["count"] > findings.n_selected:
        console.print(shown_text(f"{longer['words'].removesuffix('.')}: associated.csv"))
    if findings.picked:
        console.print(f"half samples picked {shown_text(picked_words(findings))}")
    if findings.held_out is not None:
        show_scores(findings)
    loud = [note.removeprefix(BEWARE) for note in findings.notes if note.startswith(BEWARE)]
    for title, text in alarms(findings):
        end = "" if title.endswith("?") else ":"
        console.print(f"[bold red]{title}{end}[/bold red] {shown_text(text)}")
    for message in dict.fromkeys([*loud, *findings.warnings]):
        console.print(f"[yellow]beware:[/yellow] {shown_text(message)}")
    page = out / "report.html"
    where = page if page.exists() else f"{out}, without report.html,"
    console.print(f"{shown_text(where)} tells the whole story ({seconds:.1f} s)")


def show_findings(findings: Findings) -> None:
    """Each finding in a few lines: how sure, who, what speaks for it."""
    rows = finding_rows(findings) or []
    console.print("findings")
    out = Grid.grid(padding=(0, 2))
    out.add_column()
    out.add_column(justify="right")
    out.add_column(overflow="fold")
    for row in rows[:MOST_SHOWN]:
        who = f"[bold]{shown_text(row['title'])}[/bold]"
        if row["names"]:
            who += f": {shown_text(row['names'])}"
        said = [who, *(shown_text(row[k]) for k in ("evidence", "chosen", "repeated") if row[k])]
        out.add_row(
            str(row["number"]), shown_text(confidence_words(row["confidence"])), "\n".join(said)
        )
    console.print(out)
    if len(rows) > MOST_SHOWN:
        console.print(f"and {len(rows) - MOST_SHOWN} more in findings.csv")


def show_scores(findings: Findings) -> None:
    """Every way to predict, scored on the same held-out rows: a column each, to fit 80 of text."""
    ways = score_table(findings)
    out = Grid(box=None, pad_edge=False)
    out.add_column("", no_wrap=True)
    for way in ways:
        name = "\n".join(map(shown_text, wrap(way.name, WIDEST_NAME)))
        out.add_column(name, justify="right", no_wrap=True)
    for metric in ways[0].scores.values:
        out.add_row(metric, *(way.cell(metric) for way in ways))
    console.print(f"\nheld-out rows, {ways[0].scores.n_folds} folds")
    console.print(out)
    for way in ways:
        if way.key in ("together", "simple"):
            console.print(f"[dim]{way.name}: {shown_text(way.detail)}[/dim]")
    console.print(f"[dim]the saved model predicts with {predictor_name(findings.model)}[/dim]")


def grid(findings: Findings) -> Grid:
    """The first rows of selected.csv, for a terminal."""
    steady = findings.stability is not None
    tested, told = findings.described.significance is not None, findings.found is not None
    rows = summarise(findings)["variables"][:MOST_SHOWN]
    narrow = console.width < NARROW
    together = any(row["partners"] for row in rows) and not narrow
    out = Grid("rank", box=None, pad_edge=False)
    out.add_column("variable", overflow="fold", no_wrap=longest(rows) <= WIDEST_VARIABLE)
    out.add_column("import-\nance" if narrow else "importance", no_wrap=True)
    numbered = told and not told_apart(findings)
    if numbered:
        out.add_column("finding", justify="right")
    if told:
        out.add_column("confi-\ndence" if narrow else "confidence", justify="right", no_wrap=True)
    if tested:
        out.add_column("q", justify="right")
    if steady and not told:
        out.add_column("came\nback", justify="right")
        out.add_column("by\nchance", justify="right")
    effects = [effect_words(row, with_partners=narrow) for row in rows]
    words = [len(word) for effect in effects for word in effect.split()]
    out.add_column("effect", overflow="fold", min_width=min(max(words, default=0), WIDEST_WORD))
    if together:
        out.add_column("acts with", overflow="fold")
    for row, effect in zip(rows, effects):
        cells: list[Any] = [str(row["rank"]), shown_text(row["name"]), f"{row['importance']:.3g}"]
        if numbered:
            cells.append("-" if row["finding"] is None else str(row["finding"]))
        if told:
            cells += [shown_text(confidence_words(row["confidence"] or 0.0))]
        if tested:
            cells.append(q_words(row["test"]["q_value"]))
        if steady and not told:
            cells += [f"{row['came_back']:.0%}", f"{row['by_chance']:.0%}"]
        cells.append(effect)
        out.add_row(*cells, *([shown_text(", ".join(row["partners"]))] if together else []))
    return out


def effect_words(row: Any, *, with_partners: bool) -> str:
    """What a variable does, and with which others, where these have no column of their own."""
    partners = row["partners"] if with_partners else []
    return shown_text(row["effect"] + (f"; acts with {', '.join(partners)}" if partners else ""))


def longest(rows: Sequence[Any]) -> int:
    """Characters of the longest name."""
    return max((len(shown_text(row["name"])) for row in rows), default=0)
