"""Options that commands share, and the words that some of them take."""

from __future__ import annotations

import csv
import inspect
from collections.abc import Callable
from enum import StrEnum
from functools import wraps
from inspect import Parameter
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import typer
from typer.core import TyperCommand


class Aggregate(StrEnum):
    mean = "mean"
    sum = "sum"


class Format(StrEnum):
    csv = "csv"
    tsv = "tsv"


Task = StrEnum("Task", ["auto", "regression", "classification", "counts", "ordinal", "survival"])
Method = StrEnum("Method", {"sift": "sift", "sparse_gradient": "sparse-gradient"})
Missing = StrEnum("Missing", ["auto", "mean", "indicator", "drop", "error"])
Checklist = StrEnum("Checklist", ["tripod"])
Rule = StrEnum("Rule", {"min": "min", "one_se": "1se"})
Way = StrEnum("Way", ["selected", "all"])
WAYS: dict[Way, Literal["selected", "auto"]] = {Way.selected: "selected", Way.all: "auto"}
"""What estimators call them."""

Table = Annotated[
    Path,
    typer.Argument(
        help="CSV, TSV (also .gz; - reads standard input), Excel, .ods, Parquet, Arrow, Feather, "
        ".npz, .npy, .h5ad, Zarr or PLINK .bed, .pgen or .bgen."
    ),
]
Model = Annotated[
    Path, typer.Argument(help="A folder `gradsift select` wrote, or a .gradsift file.")
]
READING: dict[str, Any] = {
    "delimiter": Annotated[
        str | None,
        typer.Option(help="What separates cells: one character, tab or space. Found unless given."),
    ],
    "decimal": Annotated[str | None, typer.Option(help="Decimal mark of numbers: . or ,")],
    "encoding": Annotated[str | None, typer.Option(help="Such as cp1252. Found unless given.")],
    "sheet": Annotated[str | None, typer.Option(help="Of a workbook: name or number.")],
    "comment": Annotated[str | None, typer.Option(help="Lines that begin with this are remarks.")],
    "na": Annotated[
        list[str] | None,
        typer.Option(help="A cell that means missing; may be given several times."),
    ],
    "transpose": Annotated[
        bool, typer.Option("--transpose", help="Variables (genes) are in rows, samples in columns.")
    ],
}
"""How a table is written: options of all commands that read one."""
Reading: TypeAlias = dict[str, Any]
Covariates = Annotated[
    Path | None,
    typer.Option(
        "--covariates",
        "--covar",
        help="Another table of known influences, such as age, batch or principal components. They "
        "are adjusted for and are never findings; its rows are found by --by.",
    ),
]
Offset = Annotated[
    str | None,
    typer.Option(
        help="A column of --covariates: a known part of the target, such as a polygenic score "
        "(for classes, of the log odds)."
    ),
]
Event = Annotated[
    str | None,
    typer.Option(
        help="The target is a time: the column that says whether it ended in an event, or "
        "COLUMN=VALUE, where VALUE is the event.",
    ),
]
Entry = Annotated[
    str | None,
    typer.Option(
        help="Of survival times: the column of times from which rows were observed.",
    ),
]
Strata = Annotated[
    str | None,
    typer.Option(
        help="Of survival times: rows that agree in this column share a baseline hazard.",
    ),
]
Exposure = Annotated[
    str | None,
    typer.Option(
        help="The target is a count: the column of times or areas it refers to.",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Replace what is there.")]
Names = list[str] | None
SEVERAL = "A,B,..."
Drop = Annotated[
    Names,
    typer.Option(
        help="Columns to leave out; this and other lists may be given several times.",
        metavar=SEVERAL,
    ),
]
Use = Annotated[
    Names,
    typer.Option(
        help="Columns that are variables, whatever they look like: undoes what was left out.",
        metavar=SEVERAL,
    ),
]
CovariateNames = Annotated[
    Names,
    typer.Option(
        "--covariate-names",
        "--covar-name",
        help="Columns of it; all unless given.",
        metavar=SEVERAL,
    ),
]


RARE = {
    "entry", "strata", "method", "selection", "use", "covariate_names", "offset", "keep_samples",
    "remove_samples", "maf", "max_missing", "clr", "time_order", "predict_with", "associated",
    "format", "checklist", "seed", *READING,
}  # fmt: skip
"""Options that the first help leaves out."""


class UsualOptions(TyperCommand):
    """A command whose help leaves out rare options, unless `show_all` asks for it."""

    def get_help(self, ctx: Any) -> str:
        for option in self.params:
            vars(option)["hidden"] = option.name in RARE and not ctx.meta.get("all")
        return super().get_help(ctx)


def show_all(context: typer.Context, asked: bool) -> None:
    """The help with all options."""
    if asked:
        context.meta["all"] = True
        typer.echo(context.get_help())
        raise typer.Exit


HelpAll = Annotated[
    bool, typer.Option("--help-all", help="Show all options.", callback=show_all, is_eager=True)
]


def reads_table(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command `--help-all` and the options `READING`. It gets those that were given of the
    latter as `reading`.
    """
    own = list(inspect.signature(command, eval_str=True).parameters.values())
    options = [
        Parameter(
            name,
            Parameter.POSITIONAL_OR_KEYWORD,
            default=False if name == "transpose" else None,
            annotation=kind,
        )
        for name, kind in READING.items()
    ]
    every = Parameter(
        "help_all", Parameter.POSITIONAL_OR_KEYWORD, default=False, annotation=HelpAll
    )

    @wraps(command)
    def run(**values: Any) -> None:
        del values["help_all"]
        asked = {name: values.pop(name) for name in READING}
        kept = {k: tuple(v) if isinstance(v, list) else v for k, v in asked.items()}
        command(**values, reading={name: value for name, value in kept.items() if value})

    parameters = [*(p for p in own if p.name != "reading"), *options, every]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    return run


def transform_of(log: bool, clr: bool) -> str:
    """The name of what is taken of the columns."""
    if log and clr:
        raise typer.BadParameter("take --log or --clr, not both.")
    return "log" if log else "clr" if clr else ""


def names(texts: Names) -> tuple[str, ...]:
    """Names in lists that are separated by commas; quotes keep a comma inside of a name.

    Examples
    --------
    >>> names(["a, b", '"dose, mg",c'])
    ('a', 'b', 'dose, mg', 'c')
    """
    parts = chain.from_iterable(csv.reader(texts or [], skipinitialspace=True))
    return tuple(part.strip() for part in parts if part.strip())
