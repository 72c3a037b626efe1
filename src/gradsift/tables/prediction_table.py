"""Tables of new samples, prepared like the table of the fit."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradsift.data.formats.registry import holds_target
from gradsift.data.missing import known
from gradsift.data.read_options import ReadOptions
from gradsift.data.slices import take_rows
from gradsift.exceptions import ExtrapolationWarning
from gradsift.protocols import Array, IntArray, Source
from gradsift.tables.columns import Column, as_texts
from gradsift.tables.covariate_file import split_given
from gradsift.tables.frame import Frame
from gradsift.tables.notes import Note, TableError, counted, is_or_are, listed
from gradsift.tables.opening import with_other_tables, with_target
from gradsift.tables.out_of_core import frame_of
from gradsift.tables.reading import can_be_transposed
from gradsift.tables.recipe import Choices, Recipe
from gradsift.tables.roles import parse_columns


class NewTable(NamedTuple):
    """A table for a fitted model."""

    X: Any
    ids: NDArray[Any] | None
    y: NDArray[Any] | None
    covariates: dict[str, Any] | None = None
    offset: Any = None
    exposure: Array | None = None

    @property
    def sample_params(self) -> dict[str, Any]:
        """What a prediction needs to know of the rows."""
        given = {
            "covariates": self.covariates,
            "offset": self.offset,
            "exposure": self.exposure,
        }
        return {name: values for name, values in given.items() if values is not None}

    def take(self, rows: IntArray) -> NewTable:
        """Some of the rows."""
        C = self.covariates
        return NewTable(
            take_rows(self.X, rows),
            None if self.ids is None else self.ids[rows],
            None if self.y is None else self.y[rows],
            None if C is None else {name: values[rows] for name, values in C.items()},
            None if self.offset is None else self.offset[rows],
            None if self.exposure is None else self.exposure[rows],
        )


def open_new(
    path: Path,
    recipe: Recipe,
    *,
    used: IntArray | None = None,
    fill: Array | None = None,
    options: ReadOptions | None = None,
    target_from: Path | None = None,
    covariates: Path | None = None,
    offset: str | None = None,
) -> NewTable:
    """A new table, made as the recipe says.

    Categories that the recipe does not know get a warning. Targets that are missing are NaN among
    numbers, None among labels.

    Parameters
    ----------
    path : Path
    recipe : Recipe
    used : int array, optional
        The columns that the model uses: the table may lack the others, which get `fill`.
    fill : array, optional
        One number per column.
    options : ReadOptions, optional
        How the new table is written; None = as that of the fit.
    target_from : Path, optional
        Another table with the target, as in `open_table`.
    covariates : Path, optional
        Another table with the covariates of the samples; those it does not have are missing.
    offset : str, optional
        The column of it with the offset.
    """
    if not path.exists():
        raise FileNotFoundError(f"no such file: {path}")
    options = options or recipe.options
    asked = replace(
        response_choices(recipe),
        id=recipe.id,
        options=options,
        covariates=covariates,
        offset=offset,
    )
    if not can_be_transposed(path):
        options = replace(options, transpose=False)
    needed = recipe.needed(used)
    named = {*recipe.response.names, *(() if recipe.id is None else (recipe.id,))}
    frame = frame_of(path, options, named, needed, on_disk=not recipe.names)
    source = None if frame.stored is None else columns_on_disk(path, frame.stored, recipe, needed)
    if target_from is not None:
        frame = with_target(frame, path, target_from, asked)
    if asked.id not in frame.order:
        asked = replace(asked, id=None)
    frame = with_other_tables(frame, path, asked, leave_out=False)
    label = recipe.id or (frame.id if source is not None else None)
    names = None
    if label in frame.order:
        names = as_texts(frame.column(label)).astype(str)
    y = None
    if set(recipe.response.names) <= set(frame.order):
        y = new_response({name: read_column(frame, name) for name in recipe.response.names}, recipe)
    for note in frame.notes:
        if note.kind == "caution":
            warnings.warn(f"{note.text}.", UserWarning, stacklevel=2)
    X: Any = source
    if source is None:
        X, notes = recipe.columns(frame, used, fill)
        for note in needed_notes(X, frame, recipe, used, notes):
            warnings.warn(f"{note.text}.", ExtrapolationWarning, stacklevel=2)
    column = recipe.response.exposure
    exposure = read_column(frame, column) if column in frame.order else None
    return NewTable(X, names, y, *split_given(frame.given, asked), exposure)


def columns_on_disk(path: Path, source: Source, recipe: Recipe, needed: set[str]) -> Source:
    """The columns that the model was fitted to: by name, where the file holds more than variables;
    else by their number.
    """
    if not recipe.names:
        return recipe.of_stored(source)
    if not (holds_target(path) and recipe.encoder.is_plain and not recipe.transform):
        raise TableError(
            f"{path.name} is too large to be taken into memory: give a table with fewer rows, or "
            f"with only the columns that the model uses ({listed(sorted(needed))})."
        )
    return recipe.of_named(source)


def response_choices(recipe: Recipe) -> Choices:
    """The choices that name the columns of the response."""
    columns = recipe.response
    event = columns.event and f"{columns.event}={columns.event_value}"
    return Choices(
        columns.target, recipe.task, more_targets=columns.more_targets, event=event,
        entry=columns.entry, strata=columns.strata, exposure=columns.exposure,
    )  # fmt: skip


def read_column(frame: Frame, name: str) -> NDArray[Any]:
    """A column of the response: numbers, or texts."""
    alone = frame.without(set(frame.order) - {name})
    parsed, _ = parse_columns(alone, (), frame.options.decimal)
    return parsed.get(name, Column(name)).read(frame.column(name))


def needed_notes(
    X: Array, frame: Frame, recipe: Recipe, used: IntArray | None, notes: list[Note]
) -> list[Note]:
    """What is odd about new rows: refused where nothing fills missing values that the model needs,
    or where the table has none of its columns.
    """
    columns = np.arange(X.shape[1]) if used is None else used
    lost = [name for note in notes for name in note.columns if name not in set(frame.order)]
    needed = recipe.needed(used)
    if needed and needed <= set(lost):
        raise TableError(f"the table lacks {listed(sorted(needed))}, which the model uses.")
    gone = np.isnan(X[:, columns])
    total = int(gone.sum())
    if total == 0:
        return notes
    if recipe.missing in ("error", "drop"):
        row, k = np.argwhere(gone)[0].tolist()
        first = recipe.encoder.origin_names[columns[k]]
        raise TableError(
            f"{counted(total, 'value')} that the model needs {is_or_are(total)} missing, the first "
            f"in column {first!r}, {frame.places.of(first, row)}. The model was fitted to rows "
            "without them: write a value there, or fit again so that they are filled.",
            "missing=auto",
        )
    known = total - sum(int(gone[:, k].all()) for k in range(len(columns))) * len(X)
    if known > 0:
        what = f"{counted(known, 'missing value')} {is_or_are(known)}"
        return [*notes, Note("new rows", f"{what} filled with the mean of the column at the fit")]
    return notes


def new_response(values: dict[str, Any], recipe: Recipe) -> NDArray[Any] | None:
    """The response of a new table from its columns: numbers and times are NaN, labels are None
    where one of them is missing; None if they are so everywhere.
    """
    there = np.all([known(column) for column in values.values()], axis=0)
    if not there.any():
        return None
    some = {name: column[there] for name, column in values.items()}
    found = recipe.response.read(some, recipe.task, recipe.levels)
    if there.all():
        return found
    labels = recipe.task == "classification"
    out = np.zeros((len(there), *found.shape[1:]), dtype=object if labels else found.dtype)
    if found.dtype.names is not None:
        out["time"] = np.nan
    else:
        out[:] = None if labels else np.nan
    out[there] = found
    return out


def is_known(y: NDArray[Any]) -> NDArray[np.bool_]:
    """The rows of a response that are known."""
    if y.dtype.names is not None:
        return known(y["time"])
    there = known(y, texts=False)
    return there if there.ndim == 1 else np.asarray(there.all(axis=1))
