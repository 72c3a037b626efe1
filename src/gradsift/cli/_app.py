"""The commands and their options."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from gradsift.cli._options import (
    SEVERAL,
    WAYS,
    Aggregate,
    Checklist,
    CovariateNames,
    Covariates,
    Drop,
    Entry,
    Event,
    Exposure,
    Force,
    Format,
    Method,
    Missing,
    Model,
    Names,
    Offset,
    Reading,
    Rule,
    Strata,
    Table,
    Task,
    Use,
    UsualOptions,
    Way,
    names,
    reads_table,
    transform_of,
)

FOLDER = "gradsift-out"
MOST_NAMES = 20
"""Columns that are listed where no target is given."""
PACKAGES = (
    "gradsift", "numpy", "scipy", "scikit-learn", "typer", "rich", "pyarrow",
    "python-calamine", "matplotlib", "dask", "distributed", "zarr", "anndata", "bed-reader",
    "pgenlib", "bgen",
)  # fmt: skip
"""What `gradsift info` gives the versions of."""

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
    """The columns that a target can be, where the table can be read."""
    from gradsift.tables import TableError
    from gradsift.tables.notes import listed
    from gradsift.tables.reading import read_frame

    try:
        return f": {listed(read_frame(table).order, MOST_NAMES)}"
    except (OSError, TableError):
        return ""


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the report.")] = Path("gradsift-demo"),
) -> None:
    """Run the main job on data that comes with the package, and leave a report to open."""
    from gradsift.cli._demo import run

    run(out)


@app.command(cls=UsualOptions)
@reads_table
def select(
    table: Table,
    target: Annotated[
        Names,
        typer.Option(
            "--target",
            "--time",
            "--pheno-name",
            help="The column to explain; several times for several outcomes.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the results: gradsift-out unless given, or gradsift-out-2 and so on "
            "where there are results already."
        ),
    ] = None,
    force: Force = False,
    task: Annotated[Task, typer.Option(help="Read from the target unless given.")] = Task.auto,
    event: Event = None,
    entry: Entry = None,
    strata: Strata = None,
    exposure: Exposure = None,
    method: Annotated[
        Method, typer.Option(help="GradientSift, or the paper's estimator.")
    ] = Method.sift,
    drop: Drop = None,
    use: Use = None,
    id: Annotated[str | None, typer.Option(help="The column that names the rows.")] = None,
    keep: Annotated[
        Names, typer.Option(help="Columns never penalised, such as age,sex.", metavar=SEVERAL)
    ] = None,
    categorical: Annotated[
        Names,
        typer.Option(
            help="Columns of categories: 0 and 1 per level, in or out together.", metavar=SEVERAL
        ),
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(help="The column that says which rows belong together, such as subject."),
    ] = None,
    aggregate: Annotated[
        Aggregate | None,
        typer.Option(help="Make one row of each group: the mean or the sum of its rows."),
    ] = None,
    target_from: Annotated[
        Path | None,
        typer.Option(
            "--target-from",
            "--pheno",
            help="Another table that holds the target; its rows are found by --by.",
        ),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            help="How rows of other tables are found: COLUMN, COLUMN=COLUMN of both, or position. "
            "Unless given, by the columns whose values match best."
        ),
    ] = None,
    covariates: Covariates = None,
    covariate_names: CovariateNames = None,
    offset: Offset = None,
    keep_samples: Annotated[
        Path | None,
        typer.Option(help="A list of the only samples to use: FID and IID, or a name, per line."),
    ] = None,
    remove_samples: Annotated[
        Path | None, typer.Option(help="A list of samples to leave out, written likewise.")
    ] = None,
    maf: Annotated[
        float | None,
        typer.Option(help="Leave out variants whose rarer allele is less frequent than this."),
    ] = None,
    max_missing: Annotated[
        float | None,
        typer.Option(help="Leave out columns in which more than this share is missing."),
    ] = None,
    log: Annotated[
        bool, typer.Option("--log", help="Take log2(1 + x) of the columns, but not of --keep.")
    ] = False,
    clr: Annotated[
        bool,
        typer.Option(
            "--clr",
            help="Take the centred log ratio of the columns, such as counts of taxa, but not of "
            "--keep; a zero counts as half the smallest positive value of its row.",
        ),
    ] = False,
    missing: Annotated[
        Missing,
        typer.Option(
            help="Missing values: fill, and mark where that goes with the target (auto); fill "
            "(mean); fill and mark (indicator); drop the rows; refuse."
        ),
    ] = Missing.auto,
    false_positives: Annotated[
        float, typer.Option(help="Expected number of false variables (sift).")
    ] = 0.3,
    fdr: Annotated[
        float | None,
        typer.Option(
            help="Select by tests instead: at most about this share of the variables is false, "
            "such as 0.1 (sift)."
        ),
    ] = None,
    interactions: Annotated[bool, typer.Option(help="Look for products too (sift).")] = True,
    cv: Annotated[int, typer.Option(help="Folds for the held-out score; 0 = none.")] = 5,
    time_order: Annotated[
        bool,
        typer.Option(
            "--time-order",
            help="Rows are in the order of time: held-out rows are later than those learnt from.",
        ),
    ] = False,
    selection: Annotated[
        Rule, typer.Option(help="Which penalty of the path (sparse-gradient).")
    ] = Rule.min,
    max_features: Annotated[
        int | None,
        typer.Option(min=1, help="Select no more than this many; --keep comes on top."),
    ] = None,
    predict_with: Annotated[
        Way,
        typer.Option(
            help="What the saved model predicts with: the selected variables alone, or their "
            "average with predictors on all columns (sift)."
        ),
    ] = Way.selected,
    stability: Annotated[
        int, typer.Option(min=0, help="Half samples to select again on; 0 = none.")
    ] = 0,
    associated: Annotated[
        bool,
        typer.Option(
            "--associated", help="Also list what is associated with the target one by one (sift)."
        ),
    ] = False,
    details: Annotated[
        bool, typer.Option("--details", help="Print all findings, predictions and notes.")
    ] = False,
    format: Annotated[Format, typer.Option(help="Of the tables that are written.")] = Format.csv,
    checklist: Annotated[
        Checklist | None,
        typer.Option(help="Fill the checklist of a journal with what is known: checklist.md."),
    ] = None,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Most threads and processes to use.")
    ] = None,
    seed: Annotated[
        int,
        typer.Option(min=0, max=2**32 - 1, help="Seed of the half samples and the refit."),
    ] = 0,
    *,
    reading: Reading,
) -> None:
    """Find the variables that matter, and write a report about them.

    Writes findings.csv, selected.csv, directions.csv, projection.csv, summary.json, model.gradsift
    and report.html; tests.csv, stability.csv and associated.csv where asked for.
    """
    from gradsift._run.processes import warm

    n_jobs = threads or -1
    if cv or stability:
        warm(n_jobs, "gradsift.evaluate")  # while this process imports the same
    from gradsift.cli._select import run
    from gradsift.pipeline import Files, Settings, unused_folder
    from gradsift.tables import Choices, ReadOptions
    from gradsift.tables.opening import target_of
    from gradsift.tables.variants import GENOTYPES

    first, more = (target[0], target[1:]) if target else (None, [])
    if first is None and target_from is None and table.suffix.lower() not in GENOTYPES:
        raise typer.BadParameter(f"give the column to explain with --target{columns_of(table)}.")
    choices = Choices(
        target_of(table, first, target_from), task.value, names(drop), names(use),
        names(categorical), names(keep), id, transform_of(log, clr), missing.value,
        ReadOptions(**reading), group,
        None if aggregate is None else aggregate.value, covariates, names(covariate_names), offset,
        keep_samples, remove_samples, maf, max_missing, by, tuple(more), event, entry, strata,
        exposure,
    )  # fmt: skip
    settings = Settings(
        method=method.value, false_positives=false_positives, false_discovery_rate=fdr,
        interactions=interactions, cv=cv, time_order=time_order,
        selection=selection.value, max_features=max_features, predict_with=WAYS[predict_with],
        repeats=stability, associated=associated, seed=seed, n_jobs=n_jobs,
    )  # fmt: skip
    if out is None:
        out = Path(FOLDER) if force else unused_folder(FOLDER)
    run(
        table, choices, settings, out, force=force, target_from=target_from, threads=threads,
        details=details, files=Files(format.value, "tripod" if checklist else None),
    )  # fmt: skip


@app.command(cls=UsualOptions)
@reads_table
def predict(
    model: Model,
    table: Table,
    out: Annotated[Path, typer.Option(help="CSV file.")] = Path("predictions.csv"),
    force: Force = False,
    predict_with: Annotated[
        Way | None,
        typer.Option(help="The selected variables alone, or all columns; None = as it was saved."),
    ] = None,
    covariates: Covariates = None,
    offset: Offset = None,
    *,
    reading: Reading,
) -> None:
    """Predict the response of new samples."""
    from gradsift.cli._apply import Asked
    from gradsift.cli._apply import predict as run

    way = None if predict_with is None else WAYS[predict_with]
    run(Asked(model, table, reading, covariates, offset, way=way), out, force=force)


@app.command(cls=UsualOptions)
@reads_table
def transform(
    model: Model,
    table: Table,
    out: Annotated[Path, typer.Option(help="CSV file.")] = Path("projection.csv"),
    force: Force = False,
    covariates: Covariates = None,
    offset: Offset = None,
    *,
    reading: Reading,
) -> None:
    """Project new samples on the directions found."""
    from gradsift.cli._apply import Asked
    from gradsift.cli._apply import transform as run

    run(Asked(model, table, reading, covariates, offset), out, force=force)


@app.command(cls=UsualOptions)
@reads_table
def report(
    model: Model,
    table: Table,
    out: Annotated[Path, typer.Option(help="HTML file.")] = Path("report.html"),
    force: Force = False,
    target_from: Annotated[
        Path | None,
        typer.Option(
            "--target-from",
            "--pheno",
            help="Another table that holds the target, for genotypes and Zarr.",
        ),
    ] = None,
    covariates: Covariates = None,
    offset: Offset = None,
    *,
    reading: Reading,
) -> None:
    """Write the report of a saved model again, on a table that holds the target."""
    from gradsift.cli._apply import Asked
    from gradsift.cli._apply import report as run

    run(Asked(model, table, reading, covariates, offset, target_from), out, force=force)


@app.command(cls=UsualOptions)
@reads_table
def convert(
    table: Annotated[Path, typer.Argument(help="A wide CSV or TSV file (also .gz).")],
    out: Annotated[Path, typer.Argument(help="A .zarr or .parquet path to write.")],
    target: Annotated[str | None, typer.Option(help="The column with the response.")] = None,
    drop: Drop = None,
    id: Annotated[str | None, typer.Option(help="The column that names the rows.")] = None,
    *,
    reading: Reading,
) -> None:
    """Turn a wide text table into columns on disk, once: everything after that is fast."""
    from time import perf_counter

    from gradsift._run.printable import printable
    from gradsift.data import convert as converted
    from gradsift.data.read_options import ReadOptions

    start = perf_counter()
    options = ReadOptions(**reading)
    done = converted(table, out, target=target, drop=names(drop), id=id, options=options)
    for note in done.notes:
        print(printable(note))
    print(f"{out} written in {perf_counter() - start:.1f} s")


State = Annotated[Path, typer.Option(help="Folder of the passes, where all jobs see it.")]


@app.command()
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
    target_from: Annotated[
        Path | None,
        typer.Option("--target-from", "--pheno", help="Another table that holds the target."),
    ] = None,
    covariates: Covariates = None,
    covariate_names: CovariateNames = None,
    false_positives: Annotated[
        float, typer.Option(help="Expected number of false variables if nothing is true.")
    ] = 0.3,
    interactions: Annotated[bool, typer.Option(help="Look for products of two variables.")] = True,
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

    request = {
        "target": target_of(table, target, target_from), "covariate_names": names(covariate_names),
        "target_from": target_from and str(target_from.resolve()),
        "covariates": covariates and str(covariates.resolve()),
        "false_positives": false_positives, "interactions": interactions,
    }  # fmt: skip
    begin(state, table, request)


@app.command()
def merge(
    state: State = Path("gradsift-scan"),
    out: Annotated[Path, typer.Option(help="Folder for the results.")] = Path(FOLDER),
    force: Force = False,
    status: Annotated[bool, typer.Option("--status", help="Say which blocks are missing.")] = False,
) -> None:
    """Go on with what the parts of a scan found. Exit code 3: another pass is to be done."""
    from gradsift.cli import _scan

    if status:
        _scan.status(state)
    else:
        _scan.merge(state, out, force=force)


@app.command()
def info() -> None:
    """Print versions, for bug reports."""
    import platform
    from importlib.metadata import PackageNotFoundError, version

    machine = f"{platform.system()}, {os.cpu_count()} cores"
    print(f"{'python':14s}{platform.python_version()} on {machine}")
    for package in PACKAGES:
        try:
            print(f"{package:14s}{version(package)}")
        except PackageNotFoundError:
            print(f"{package:14s}not installed")
