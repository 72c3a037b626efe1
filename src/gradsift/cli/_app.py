"""The commands and their options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gradsift.cli._options import READING, Asked, Model, Table, UsualOptions, takes, those_of

FOLDER = "gradsift-out"
FIRST_NAMES, LAST_NAMES = 15, 5
"""Columns that are listed where no target is given; the target is often among the last."""

app = typer.Typer(
    name="gradsift",
    help="Which variables matter, which directions explain the response, how does it change here?",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def show_version(asked: bool) -> None:
    if asked:
        from gradsift import __version__

        typer.echo(f"gradsift {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version.", callback=show_version, is_eager=True),
    ] = False,
) -> None:
    """Keep `gradsift COMMAND` even while there is one command only."""


def columns_of(table: Path) -> str:
    """The first and the last columns of a table that can be read, and the command for survival
    times where it holds them.
    """
    from shlex import quote

    from gradsift._run.printable import printable
    from gradsift.tables import TableError
    from gradsift.tables.notes import listed
    from gradsift.tables.reading import read_frame
    from gradsift.tables.roles import survival_columns

    try:
        frame = read_frame(table)
    except (OSError, TableError):
        return "."
    names, more = frame.order, len(frame.order) - FIRST_NAMES - LAST_NAMES
    said = f": {listed(names, len(names))}."
    if more > 0:
        first, last = names[:FIRST_NAMES], names[-LAST_NAMES:]
        said = f": {listed(first, FIRST_NAMES)}, ... {more:,} more ..., {listed(last, LAST_NAMES)}."
    if found := survival_columns(frame):
        time, event = map(quote, found)
        said += f" {listed(found)} look like survival times; to explain them:\n"
        said += printable(f"gradsift select {quote(str(table))} --time {time} --event {event}")
    return said


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the report.")] = Path("gradsift-demo"),
) -> None:
    """Run the main job on data that comes with the package, and leave a report to open."""
    from gradsift.cli._demo import run

    run(out)


@app.command(cls=UsualOptions)
@takes(
    "target", "force", "time", "task", "event", "entry", "strata", "exposure", "drop", "use", "id",
    "keep", "categorical", "group", "aggregate", "target_from", "by", "covariates",
    "covariate_names", "offset", "keep_samples", "remove_samples", "maf", "max_missing", "log",
    "clr", "missing", "false_positives", "false_discovery_rate", "interactions", "cv",
    "time_order", "max_features", "predict_with", "associated", "details", "format", "threads",
    "seed", *READING,
)  # fmt: skip
def select(
    table: Table,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the results: gradsift-out unless given, or gradsift-out-2 and so on "
            "where there are results already."
        ),
    ] = None,
    *,
    asked: Asked,
) -> None:
    """Find the variables that matter, and write a report about them.

    Writes findings.csv, selected.csv, directions.csv, projection.csv, summary.json, model.gradsift
    and report.html; tests.csv and associated.csv where asked for.
    """
    from gradsift._run.processes import warm

    n_jobs = asked.get("threads", -1)
    if asked["cv"]:
        warm(n_jobs, "gradsift.evaluate")  # while this process imports the same
    from gradsift.cli._select import run
    from gradsift.pipeline import Settings, unused_folder
    from gradsift.tables import Choices, ReadOptions
    from gradsift.tables.opening import target_of
    from gradsift.tables.variants import GENOTYPES

    if (time := asked.pop("time", None)) is not None:
        asked = as_survival(asked, time)
    first, *more = asked.pop("target", (None,))
    target_from, force = asked.get("target_from"), "force" in asked
    if first is None and target_from is None and table.suffix.lower() not in GENOTYPES:
        raise typer.BadParameter(f"give the column to explain with --target{columns_of(table)}")
    if "log" in asked and "clr" in asked:
        raise typer.BadParameter("take --log or --clr, not both.")
    choices = Choices(
        target_of(table, first, target_from),
        more_targets=tuple(more),
        transform="log" if "log" in asked else "clr" if "clr" in asked else "",
        options=ReadOptions(**those_of(ReadOptions, asked)),
        **those_of(Choices, asked),
    )
    settings = Settings(n_jobs=n_jobs, **those_of(Settings, asked | way(asked)))
    if out is None:
        out = Path(FOLDER) if force else unused_folder(FOLDER)
    run(
        table, choices, settings, out, force=force, target_from=target_from,
        threads=asked.get("threads"), details="details" in asked, form=asked["format"],
    )  # fmt: skip


def as_survival(asked: Asked, time: str) -> Asked:
    """What was asked for with --time, as a target and a task."""
    if "target" in asked or asked["task"] not in ("auto", "survival"):
        other = "--target" if "target" in asked else f"--task {asked['task']}"
        raise typer.BadParameter(f"take --time, which is for survival times, or {other}, not both.")
    return {**asked, "target": (time,), "task": "survival"}


def reading(asked: Asked) -> Asked:
    """How the table is written, where it is said."""
    return {name: asked[name] for name in READING if name in asked}


def way(asked: Asked) -> Asked:
    """What to predict with as estimators call it, where it is said."""
    known = {"selected": "selected", "all": "auto"}
    return {"predict_with": known[asked["predict_with"]]} if "predict_with" in asked else {}


@app.command(cls=UsualOptions)
@takes("force", "predict_with", "at", "covariates", "offset", *READING)
def predict(
    model: Model,
    table: Table,
    out: Annotated[Path, typer.Option(help="CSV file.")] = Path("predictions.csv"),
    *,
    asked: Asked,
) -> None:
    """Predict the response of new samples, and place them on the directions."""
    from gradsift.cli._apply import Request
    from gradsift.cli._apply import predict as run

    request = Request(model, table, reading(asked), **those_of(Request, asked | way(asked)))
    run(request, out, force="force" in asked)


@app.command(cls=UsualOptions)
@takes("force", "target_from", "covariates", "offset", *READING)
def report(
    model: Model,
    table: Table,
    out: Annotated[Path, typer.Option(help="HTML file.")] = Path("report.html"),
    *,
    asked: Asked,
) -> None:
    """Write the report of a saved model again, on a table that holds the target."""
    from gradsift.cli._apply import Request
    from gradsift.cli._apply import report as run

    request = Request(model, table, reading(asked), **those_of(Request, asked))
    run(request, out, force="force" in asked)


@app.command(cls=UsualOptions)
@takes("drop", "id", *READING)
def convert(
    table: Annotated[Path, typer.Argument(help="A wide CSV or TSV file (also .gz).")],
    out: Annotated[Path, typer.Argument(help="A .zarr or .parquet path to write.")],
    target: Annotated[str | None, typer.Option(help="The column with the response.")] = None,
    *,
    asked: Asked,
) -> None:
    """Turn a wide text table into columns on disk, once: everything after that is fast."""
    from time import perf_counter

    from gradsift._run.printable import printable
    from gradsift.data import convert as converted
    from gradsift.data.read_options import ReadOptions

    start = perf_counter()
    options = ReadOptions(**those_of(ReadOptions, asked))
    drop, id = asked.get("drop", ()), asked.get("id")
    done = converted(table, out, target=target, drop=drop, id=id, options=options)
    for note in done.notes:
        print(printable(note))
    print(f"{out} written in {perf_counter() - start:.1f} s")


State = Annotated[Path, typer.Option(help="Folder of the passes, where all jobs see it.")]


@app.command(cls=UsualOptions)
@takes("target_from", "covariates", "covariate_names", "false_positives", "interactions")
def scan(
    table: Annotated[
        Path | None, typer.Argument(help="With --init: .bed, .pgen, .npy, .zarr or .h5ad.")
    ] = None,
    init: Annotated[bool, typer.Option("--init", help="Begin: write the first pass.")] = False,
    part: Annotated[str | None, typer.Option(help="Do part i/N of the pass, such as 3/22.")] = None,
    state: State = Path("gradsift-scan"),
    target: Annotated[
        str | None, typer.Option("--target", "--pheno-name", help="The column to explain.")
    ] = None,
    *,
    asked: Asked,
) -> None:
    """Select from a large table by job arrays: begin, or do one part of a pass."""
    from gradsift.cli._scan import begin
    from gradsift.cli._scan import part as run

    if init == (part is not None):
        raise typer.BadParameter("give either --init, with a table, or --part i/N.")
    if part is not None:
        run(state, part)
        return
    if table is None:
        raise typer.BadParameter("give the table that --init begins with.")
    from gradsift.tables.opening import target_of

    found = target_of(table, target, asked.get("target_from"))
    begin(state, table, {"covariate_names": (), **asked, "target": found})


@app.command()
def merge(
    state: State = Path("gradsift-scan"),
    out: Annotated[Path, typer.Option(help="Folder for the results.")] = Path(FOLDER),
    force: Annotated[bool, typer.Option("--force", help="Replace what is there.")] = False,
    status: Annotated[bool, typer.Option("--status", help="Say which blocks are missing.")] = False,
) -> None:
    """Go on with what the parts of a scan found. Exit code 3: another pass is to be done."""
    from gradsift.cli import _scan

    if status:
        _scan.status(state)
    else:
        _scan.merge(state, out, force=force)
