"""The options of all commands, each once, and how a command takes some of them."""

from __future__ import annotations

import csv
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from functools import wraps
from inspect import Parameter
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from typer.core import TyperCommand

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
Asked = dict[str, Any]
"""What a command was asked for: option -> value."""


class Names(tuple[str, ...]):
    """The type of options that take names of columns, separated by commas or one by one."""


@dataclass(frozen=True)
class Option:
    """An option of a command.

    Parameters
    ----------
    kind : type or tuple of str
        Its type, or the words that it may be.
    help : str
    default : object
    flags : tuple of str
        What it is called; by its name unless given.
    least, most : int, optional
        Of numbers.
    is_rare : bool
        Whether the first help leaves it out.
    """

    kind: Any
    help: str
    default: Any = None
    flags: tuple[str, ...] = ()
    least: int | None = None
    most: int | None = None
    is_rare: bool = False

    def parameter(self, name: str) -> Parameter:
        """The option as typer takes it: a parameter of a function."""
        kind, metavar, flags, default = self.kind, None, self.flags, self.default
        if isinstance(kind, tuple):
            kind = enum(name, kind)
        elif kind is Names:
            kind, metavar = list[str], "A,B,..."
        elif kind is bool and default is None:
            flags, default = (f"--{name.replace('_', '-')}",), False  # without a --no-...
        known = typer.Option(*flags, help=self.help, metavar=metavar, min=self.least, max=self.most)
        annotation: Any = Annotated[kind if default is not None else kind | None, known]
        return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


OPTIONS: dict[str, Option] = {
    "force": Option(bool, "Replace what is there."),
    "target": Option(
        list[str],
        "The column to explain; several times for several outcomes.",
        flags=("--target", "--pheno-name"),
    ),
    "time": Option(
        str, "In place of --target: the column of survival times to explain, with their --event."
    ),
    "task": Option(
        ("auto", "regression", "classification", "counts", "ordinal", "survival"),
        "Read from the target unless given.",
        "auto",
    ),
    "event": Option(
        str,
        "The target is a time: the column that says whether it ended in an event, or COLUMN=VALUE, "
        "where VALUE is the event. Without it, every --time is one.",
    ),
    "entry": Option(
        str,
        "Of survival times: the column of times from which rows were observed.",
        is_rare=True,
    ),
    "strata": Option(
        str,
        "Of survival times: rows that agree in this column share a baseline hazard.",
        is_rare=True,
    ),
    "at": Option(
        Names,
        "Of survival times: predict the probability of no event until these times, such as "
        "12,36,60. Quartiles of the event times of the fit unless given.",
    ),
    "exposure": Option(str, "The target is a count: the column of times or areas it refers to."),
    "drop": Option(Names, "Columns to leave out; this and other lists may be given several times."),
    "use": Option(
        Names,
        "Columns that are variables, whatever they look like: undoes what was left out.",
        is_rare=True,
    ),
    "id": Option(str, "The column that names the rows."),
    "keep": Option(Names, "Columns never penalised, such as age,sex."),
    "categorical": Option(Names, "Columns of categories: 0 and 1 per level, in or out together."),
    "group": Option(str, "The column that says which rows belong together, such as subject."),
    "aggregate": Option(
        ("mean", "sum"), "Make one row of each group: the mean or the sum of its rows."
    ),
    "target_from": Option(
        Path,
        "Another table that holds the target; its rows are found by --by.",
        flags=("--target-from", "--pheno"),
    ),
    "by": Option(
        str,
        "How rows of other tables are found: COLUMN, COLUMN=COLUMN of both, or position. Unless "
        "given, by the columns whose values match best.",
    ),
    "covariates": Option(
        Path,
        "Another table of known influences, such as age, batch or principal components. They are "
        "adjusted for and are never findings; its rows are found by --by.",
        flags=("--covariates", "--covar"),
    ),
    "covariate_names": Option(
        Names,
        "Columns of it; all unless given.",
        flags=("--covariate-names", "--covar-name"),
        is_rare=True,
    ),
    "offset": Option(
        str,
        "A column of --covariates: a known part of the target, such as a polygenic score (for "
        "classes, of the log odds).",
        is_rare=True,
    ),
    "keep_samples": Option(
        Path,
        "A list of the only samples to use: FID and IID, or a name, per line.",
        is_rare=True,
    ),
    "remove_samples": Option(
        Path, "A list of samples to leave out, written likewise.", is_rare=True
    ),
    "maf": Option(
        float, "Leave out variants whose rarer allele is less frequent than this.", is_rare=True
    ),
    "max_missing": Option(
        float, "Leave out columns in which more than this share is missing.", is_rare=True
    ),
    "log": Option(bool, "Take log2(1 + x) of the columns, but not of --keep."),
    "clr": Option(
        bool,
        "Take the centred log ratio of the columns, such as counts of taxa, but not of --keep; a "
        "zero counts as half the smallest positive value of its row.",
        is_rare=True,
    ),
    "missing": Option(
        ("auto", "mean", "indicator", "drop", "error"),
        "Missing values: fill, and mark where that goes with the target (auto); fill (mean); fill "
        "and mark (indicator); drop the rows; refuse.",
        "auto",
    ),
    "false_positives": Option(float, "Expected number of false variables.", 0.3),
    "false_discovery_rate": Option(
        float,
        "Select by tests instead: at most about this share of the variables is false, such as 0.1.",
        flags=("--fdr",),
    ),
    "interactions": Option(
        bool, "Look for products too.", True, ("--interactions/--no-interactions",)
    ),
    "cv": Option(int, "Folds for the held-out score; 0 = none.", 5),
    "time_order": Option(
        bool,
        "Rows are in the order of time: held-out rows are later than those learnt from.",
        is_rare=True,
    ),
    "max_features": Option(int, "Select no more than this many; --keep comes on top.", least=1),
    "predict_with": Option(
        ("selected", "all"),
        "What the saved model predicts with: the selected variables alone, which is usual, or "
        "their average with predictors on all columns.",
        is_rare=True,
    ),
    "associated": Option(
        bool, "Also list what is associated with the target one by one.", is_rare=True
    ),
    "details": Option(bool, "Print all findings, predictions and notes."),
    "format": Option(("csv", "tsv"), "Of the tables that are written.", "csv", is_rare=True),
    "threads": Option(int, "Most threads and processes to use.", least=1),
    "seed": Option(
        int, "Seed of the refit and the findings.", 0, least=0, most=2**32 - 1, is_rare=True
    ),
    "delimiter": Option(
        str,
        "What separates cells: one character, tab or space. Found unless given.",
        is_rare=True,
    ),
    "decimal": Option(str, "Decimal mark of numbers: . or ,", is_rare=True),
    "encoding": Option(str, "Such as cp1252. Found unless given.", is_rare=True),
    "sheet": Option(str, "Of a workbook: name or number.", is_rare=True),
    "comment": Option(str, "Lines that begin with this are remarks.", is_rare=True),
    "na": Option(list[str], "A cell that means missing; may be given several times.", is_rare=True),
    "transpose": Option(bool, "Variables (genes) are in rows, samples in columns.", is_rare=True),
}
READING = ("delimiter", "decimal", "encoding", "sheet", "comment", "na", "transpose")
"""How a table is written: options of all commands that read one."""


class UsualOptions(TyperCommand):
    """A command whose help leaves out rare options, unless `show_all` asks for it."""

    def get_help(self, ctx: Any) -> str:
        for option in self.params:
            rare = option.name in OPTIONS and OPTIONS[option.name].is_rare
            vars(option)["hidden"] = rare and not ctx.meta.get("all")
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


def takes(*options: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command some of `OPTIONS`, and `--help-all`. It gets as `asked` those that were given,
    or have a default.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(command, eval_str=True)
        own = [p for p in signature.parameters.values() if p.name != "asked"]
        every = Parameter("help_all", Parameter.KEYWORD_ONLY, default=False, annotation=HelpAll)
        given = [*(OPTIONS[name].parameter(name) for name in options), every]

        @wraps(command)
        def run(**values: Any) -> None:
            del values["help_all"]
            asked = {name: plain(name, values.pop(name)) for name in options}
            command(**values, asked={k: v for k, v in asked.items() if v is not None})

        run.__signature__ = inspect.Signature([*own, *given])  # type: ignore[attr-defined]
        run.__annotations__ = {p.name: p.annotation for p in (*own, *given)}
        return run

    return decorate


def plain(name: str, value: Any) -> Any:
    """The value of an option without the types of the command line; None where it is not given."""
    if isinstance(value, list):
        return (names(value) if OPTIONS[name].kind is Names else tuple(value)) or None
    if value is False and OPTIONS[name].default is None:
        return None
    return value.value if isinstance(value, StrEnum) else value


def those_of(cls: Any, asked: Asked) -> dict[str, Any]:
    """What was asked for that is a field of a dataclass."""
    return {field.name: asked[field.name] for field in fields(cls) if field.name in asked}


def enum(name: str, words: Sequence[str]) -> type[StrEnum]:
    """Some words as a type of options."""
    members = {word: word for word in words}
    return cast(type[StrEnum], StrEnum(name, members))


def names(texts: list[str]) -> tuple[str, ...]:
    """Names in lists that are separated by commas; quotes keep a comma inside of a name.

    Examples
    --------
    >>> names(["a, b", '"dose, mg",c'])
    ('a', 'b', 'dose, mg', 'c')
    """
    parts = chain.from_iterable(csv.reader(texts, skipinitialspace=True))
    return tuple(part.strip() for part in parts if part.strip())
