"""From a path to a table: in memory, or read column by column where that is too large."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Collection
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradsift._typing import Array, IntArray
from gradsift.data import open_source, read_target, take_rows
from gradsift.data.categories import to_column
from gradsift.data.missing import known
from gradsift.data.opening import holds_target, read_ids
from gradsift.data.read_options import ReadOptions
from gradsift.data.text import BEWARE
from gradsift.exceptions import ExtrapolationWarning
from gradsift.tables.frame import Frame, counted, is_or_are, listed
from gradsift.tables.joining import (
    INDIVIDUAL,
    Samples,
    joined_target,
    samples_of,
    with_column,
    without_plink_codes,
)
from gradsift.tables.prepare import Table, check_some_known, left_out, prepare, response
from gradsift.tables.reading import (
    arrow_rows,
    can_be_transposed,
    check_transposed,
    read_arrow,
    read_frame,
    reader_for,
    with_options,
)
from gradsift.tables.recipe import Choices, Recipe, as_texts
from gradsift.tables.stored import fits_memory, opened, stored_frame
from gradsift.tables.task import read_target_as

WHOLE_FILE = 1 << 30
"""Bytes of a file up to which a fingerprint covers all of it."""


def open_table(path: Path, choices: Choices, target_from: Path | None = None) -> Table:
    """Read or open a table.

    Parameters
    ----------
    path : Path
    choices : Choices
    target_from : Path, optional
        Another table with the target. Its rows are found by identifier, in any order; where
        nothing names the samples in both, they must be in the same order.

    Returns
    -------
    table : Table
    """
    if not path.exists():
        raise FileNotFoundError(f"no such file: {path}")
    asked = [choices.target, *chain(*choices.roles.values())]
    frame = frame_in_memory(path, choices.options, asked)
    if frame is None:
        return _open_storage(path, choices, target_from)
    if target_from is not None:
        frame = _joined(frame, path, target_from, choices)
    elif reader_for(path) is None and choices.target not in frame.order:
        read_target(path, choices.target)  # says what it has instead
    elif reader_for(path) is not None and {INDIVIDUAL, choices.target} <= set(frame.order):
        frame = _known_to_plink(frame, choices.target)
    return prepare(frame, choices)


def frame_in_memory(path: Path, options: ReadOptions, asked: Collection[str] = ()) -> Frame | None:
    """The table in a file, whatever its format; None if it is too large to be taken into memory.

    Parameters
    ----------
    path : Path
    options : ReadOptions
        How it is written.
    asked : collection of str
        Names that have a role: formats that keep columns beside the table add only these to it.
    """
    reader = reader_for(path)
    if reader is None:
        source, notes = opened(path)
        if not fits_memory(*source.shape):
            return None
        check_transposed(path, options)
        frame = with_options(stored_frame(path, source, asked), options)
        return replace(frame, notes=tuple(notes))
    if reader is read_arrow:
        stored, n_rows = arrow_rows(path)
        if not fits_memory(n_rows, len(stored.schema.names)):
            return None
    return read_frame(path, options)


def _joined(frame: Frame, path: Path, target_from: Path, choices: Choices) -> Frame:
    """The frame with the target from another table."""
    samples = samples_of(frame, path.name, choices.id)
    if choices.id is None and reader_for(path) is None:
        ids, families = read_ids(path)
        samples = Samples(path.name, frame.n_rows, ids, families)
    values, notes = _target_from(samples, target_from, choices)
    frame = with_column(frame, choices.target, values)
    return replace(frame, notes=(*frame.notes, *notes))


def _target_from(samples: Samples, path: Path, choices: Choices) -> tuple[Any, list[str]]:
    """The target of samples, from another table."""
    other = read_frame(path, replace(choices.options, transpose=False, sheet=None))
    values, notes = joined_target(samples, other, path.name, choices.target, choices.id)
    return values, [*other.notes, *notes]


def _known_to_plink(frame: Frame, target: str) -> Frame:
    """A frame of PLINK's own (with a column IID), without its codes for a missing target."""
    values, notes = without_plink_codes(frame.column(target), target)
    if target in frame.texts:
        frame = replace(frame, texts={**frame.texts, target: values})
    else:
        frame.numbers[:, frame.names.index(target)] = values
    return replace(frame, notes=(*frame.notes, *notes))


def _open_storage(path: Path, choices: Choices, target_from: Path | None) -> Table:
    """A table that is too large for memory, where it lies."""
    arrow = holds_target(path)
    _check_applies(path, choices, arrow)
    ids, families = _storage_ids(path, choices, arrow)
    beside = [choices.target] if arrow and target_from is None else []
    source, notes = opened(path, beside + ([choices.id] if arrow and choices.id else []))
    if target_from is not None:
        samples = Samples(path.name, source.shape[0], ids, families, choices.id)
        found, said = _target_from(samples, target_from, choices)
        notes += said
    else:
        found = read_target(path, choices.target)
    y = to_column(np.asarray(found).tolist())
    if len(y) != source.shape[0]:
        raise ValueError(f"{len(y)} targets were found for {source.shape[0]} rows.")
    there = known(y)
    check_some_known(there, choices.target)
    names = None if ids is None else np.array([str(name) for name in ids])
    if not there.all():
        notes.append(left_out(there, choices.target))
        source, y = take_rows(source, np.flatnonzero(there)), y[there]
        names = None if names is None else names[there]
    reading = read_target_as(y, choices.task, choices.target)
    notes += [reading.note] if reading.note else []
    recipe = Recipe(choices.target, reading.task, (), {}, missing=choices.missing)
    return Table(source, response(y, recipe), None, recipe, names, notes=tuple(notes))


def _check_applies(path: Path, choices: Choices, arrow: bool) -> None:
    """Refuse what only works on a table in memory."""
    asked: dict[str, Any] = {option: names for option, names in choices.roles.items() if names}
    asked |= {"--log": choices.log, "--transpose": choices.options.transpose}
    if arrow:
        asked.pop("--id", None)
    for option, given in asked.items():
        if given:
            raise ValueError(
                f"{option} works on tables in memory; {path.name} is too large for that and is "
                "read column by column."
            )
    if choices.missing == "drop":
        raise ValueError(
            f"--missing drop works on tables in memory; {path.name} is too large for that and is "
            "read column by column: use --missing mean."
        )


def _storage_ids(path: Path, choices: Choices, arrow: bool) -> tuple[Any, Any]:
    """Identifiers of the samples in storage, and PLINK's families; None where there are none."""
    if arrow:
        return (read_target(path, choices.id).tolist() if choices.id else None), None
    return read_ids(path)


def open_new(
    path: Path,
    recipe: Recipe,
    *,
    used: IntArray | None = None,
    fill: Array | None = None,
    options: ReadOptions | None = None,
    target_from: Path | None = None,
) -> tuple[Any, NDArray[Any] | None, NDArray[Any] | None]:
    """(X, row names or None, target or None) of a new table, made as the recipe says.

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
    """
    if not path.exists():
        raise FileNotFoundError(f"no such file: {path}")
    if not recipe.names:  # of a fit that read column by column
        return open_source(path), None, None
    options = options or recipe.options
    if not can_be_transposed(path):
        options = replace(options, transpose=False)
    needed = recipe.needed(used)
    beside = {recipe.target} if recipe.id is None else {recipe.target, recipe.id}
    frame = frame_in_memory(path, options, needed | beside)
    if frame is None:
        raise ValueError(
            f"{path.name} is too large to be taken into memory: give a table with fewer rows, or "
            f"with only the columns that the model uses ({listed(sorted(needed))})."
        )
    if target_from is not None:
        frame = _joined(frame, path, target_from, Choices(recipe.target, id=recipe.id))
    ids = None
    if recipe.id is not None and recipe.id in frame.order:
        ids = np.array([str(v) for v in as_texts(frame, recipe.id)])
    y = None
    if recipe.target in frame.order:
        y = new_response(frame.column(recipe.target), recipe)
    X = recipe.columns(frame, used, fill)
    for note in frame.notes:
        if note.startswith(BEWARE):
            warnings.warn(f"{note.removeprefix(BEWARE)}.", UserWarning, stacklevel=2)
    for note in (*recipe.unseen(frame), *_filled(X, recipe, used)):
        warnings.warn(f"{note}.", ExtrapolationWarning, stacklevel=2)
    return X, ids, y


def _filled(X: Array, recipe: Recipe, used: IntArray | None) -> list[str]:
    """A note on missing values of a new table that get the means of the fit."""
    columns = X if used is None else X[:, used]
    count = int(np.isnan(columns).sum()) if recipe.missing == "mean" else 0
    what = f"{counted(count, 'missing value')} {is_or_are(count)}"
    return [f"{what} filled with the mean of the column at the fit"] * (count > 0)


def new_response(values: Any, recipe: Recipe) -> NDArray[Any] | None:
    """The target of a new table, None or NaN where it is missing; None if it is so everywhere."""
    there = known(values)
    if there.all() or not there.any():
        return response(values, recipe) if there.any() else None
    found = response(values[there], recipe)
    if found.dtype.kind == "f":
        return np.asarray(values)
    out = np.empty(len(there), dtype=object)
    out[there] = found
    return out


def fingerprint(path: Path) -> str:
    """A digest of a file: of all of it up to 1 GB, else of its size, beginning and end.

    A folder (Zarr, a data set of several files) gives that of its files, in order of their names.
    """
    digest = hashlib.sha256()
    files = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
    for file in files:
        size = file.stat().st_size
        digest.update(f"{file.relative_to(path.parent)} {size}\n".encode())
        with file.open("rb") as stream:
            if size <= WHOLE_FILE:
                while piece := stream.read(1 << 22):
                    digest.update(piece)
            else:
                digest.update(stream.read(1 << 26))
                stream.seek(-(1 << 26), 2)
                digest.update(stream.read())
    return f"sha256:{digest.hexdigest()}"
