"""The commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    name="gradsift",
    help="Which variables matter, which directions explain the response, how does it change here?",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
)


@app.callback()
def _options() -> None:
    """Keep `gradsift COMMAND` even while there is one command only."""


@app.command()
def demo() -> None:
    """Run the main job on data that comes with the package, and show what to look at."""
    from gradsift.cli._demo import run

    run()


@app.command()
def reproduce(
    experiment: Annotated[
        str, typer.Argument(help="table1, figure1, circles, leukemia, convergence or all.")
    ],
    out: Annotated[Path, typer.Option(help="Folder for tables and figures.")] = Path("reproduced"),
    data: Annotated[
        Path | None, typer.Option(help="Leukemia data (.npz). Without it, OpenML is asked.")
    ] = None,
    repeats: Annotated[
        int | None, typer.Option(help="Simulated data sets per setting, instead of the default.")
    ] = None,
) -> None:
    """Regenerate tables and figures of the paper."""
    from gradsift.cli._reproduce import run

    run(experiment, out, data, repeats)


@app.command()
def info() -> None:
    """Print versions, for bug reports."""
    from importlib.metadata import version

    for package in ("gradsift", "numpy", "scipy", "scikit-learn"):
        typer.echo(f"{package:14s}{version(package)}")
