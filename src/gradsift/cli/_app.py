"""The commands."""

from __future__ import annotations

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
def info() -> None:
    """Print versions, for bug reports."""
    from importlib.metadata import version

    for package in ("gradsift", "numpy", "scipy", "scikit-learn"):
        typer.echo(f"{package:14s}{version(package)}")
