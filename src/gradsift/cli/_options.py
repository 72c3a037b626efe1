"""Options that commands share, and the words that some of them take."""

from __future__ import annotations

import csv
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import Annotated, Literal

import typer


class Task(StrEnum):
    auto = "auto"
    regression = "regression"
    classification = "classification"


class Method(StrEnum):
    sift = "sift"
    sparse_gradient = "sparse-gradient"


class Missing(StrEnum):
    error = "error"
    mean = "mean"
    drop = "drop"


class Aggregate(StrEnum):
    mean = "mean"
    sum = "sum"


class Rule(StrEnum):
    min = "min"
    one_se = "1se"


class Way(StrEnum):
    selected = "selected"
    all = "all"


WAYS: dict[Way, Literal["selected", "auto"]] = {Way.selected: "selected", Way.all: "auto"}
"""What estimators call them."""

Table = Annotated[
    Path,
    typer.Argument(
        help="CSV, TSV (also .gz), Excel, Parquet, Arrow, Feather, .npz, .npy, .h5ad, Zarr or "
        "PLINK .bed."
    ),
]
Model = Annotated[
    Path, typer.Argument(help="A folder `gradsift select` wrote, or a .gradsift file.")
]
Delimiter = Annotated[
    str | None,
    typer.Option(help="What separates cells: one character, tab or space. Found unless given."),
]
Decimal = Annotated[str | None, typer.Option(help="Decimal mark of numbers: . or ,")]
Thousands = Annotated[
    str | None, typer.Option(help="Mark between groups of three digits, such as , or ' '.")
]
Encoding = Annotated[str | None, typer.Option(help="Such as cp1252. Found unless given.")]
Sheet = Annotated[str | None, typer.Option(help="Of a workbook: name or number.")]
Comment = Annotated[str | None, typer.Option(help="Lines that begin with this are remarks.")]
Na = Annotated[
    list[str] | None, typer.Option(help="A cell that means missing; may be given several times.")
]
Transpose = Annotated[
    bool, typer.Option("--transpose", help="Variables (genes) are in rows, samples in columns.")
]
Covariates = Annotated[
    Path | None,
    typer.Option(
        "--covariates",
        "--covar",
        help="Another table of known influences, such as age, batch or principal components. They "
        "are adjusted for and are never findings; samples are found by --id, or by FID and IID.",
    ),
]
Offset = Annotated[
    str | None,
    typer.Option(
        help="A column of --covariates: a known part of the target, such as a polygenic score "
        "(for classes, of the log odds)."
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
CovariateNames = Annotated[
    Names,
    typer.Option(
        "--covariate-names",
        "--covar-name",
        help="Columns of it; all unless given.",
        metavar=SEVERAL,
    ),
]


def names(texts: Names) -> tuple[str, ...]:
    """Names in lists that are separated by commas; quotes keep a comma inside of a name.

    Examples
    --------
    >>> names(["a, b", '"dose, mg",c'])
    ('a', 'b', 'dose, mg', 'c')
    """
    parts = chain.from_iterable(csv.reader(texts or [], skipinitialspace=True))
    return tuple(part.strip() for part in parts if part.strip())
