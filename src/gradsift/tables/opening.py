"""From a path to a table: read whole, or opened where it lies."""

from __future__ import annotations

import hashlib
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradsift._typing import Source
from gradsift.data import open_source, read_target, take_rows
from gradsift.data.missing import known
from gradsift.exceptions import ExtrapolationWarning, SkippedColumnsWarning
from gradsift.tables.frame import Frame, listed, to_column
from gradsift.tables.prepare import (
    Choices,
    Recipe,
    Table,
    as_texts,
    check_some_known,
    guess_task,
    left_out,
    prepare,
    response,
)
from gradsift.tables.reading import read_frame, reader_for

WHOLE_FILE = 1 << 30
"""Bytes up to which a Parquet file is read whole, with its text, and a fingerprint covers all."""


def open_table(path: Path, choices: Choices, target_from: Path | None = None) -> Table:
    """Read or open a table.

    Parameters
    ----------
    path : Path
    choices : Choices
    target_from : Path, optional
        Another table with the target, one row per sample in the same order.

    Returns
    -------
    table : Table
    """
    if not path.exists():
        raise FileNotFoundError(f"no such file: {path}")
    if read_whole(path):
        frame = read_frame(path)
        if target_from is not None:
            frame = with_target(frame, choices.target, read_frame(target_from))
        return prepare(frame, choices)
    return _open_storage(path, choices, target_from)


def read_whole(path: Path) -> bool:
    """Whether a file is read into memory, text columns included."""
    if reader_for(path) is None or path.is_dir():
        return False
    arrow = path.suffix.lower() in (".parquet", ".feather", ".arrow")
    return not arrow or path.stat().st_size <= WHOLE_FILE


def with_target(frame: Frame, target: str, other: Frame) -> Frame:
    """The frame with a target column from another one."""
    values = target_of(other, target)
    if other.n_rows != frame.n_rows:
        raise ValueError(
            f"the table of targets has {other.n_rows} rows, the table {frame.n_rows}: they must "
            "list the same samples in the same order."
        )
    if target in frame.order:
        raise ValueError(f"both tables have a column {target!r}: drop or rename one.")
    if values.dtype.kind == "O":
        texts = {**frame.texts, target: values}
        return replace(frame, texts=texts, order=(*frame.order, target))
    return replace(
        frame,
        names=(*frame.names, target),
        numbers=np.column_stack([frame.numbers, values]),
        order=(*frame.order, target),
    )


def target_of(other: Frame, target: str) -> Any:
    """The target in a table of targets."""
    if target not in other.order:
        raise ValueError(
            f"the table of targets has no column {target!r}. It has {listed(other.order, 5)}."
        )
    return other.column(target)


def opened(path: Path, exclude: list[str]) -> tuple[Source, list[str]]:
    """A source, and what its reader warns of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SkippedColumnsWarning)
        source = open_source(path, exclude=exclude)
    return source, [str(w.message).rstrip(".") for w in caught]


def _open_storage(path: Path, choices: Choices, target_from: Path | None) -> Table:
    asked = {"--drop": choices.drop, "--categorical": choices.categorical, "--keep": choices.keep}
    for option, given in {**asked, "--log": choices.log, "--id": choices.id}.items():
        if given:
            raise ValueError(
                f"{option} works on tables read into memory; {path.name} is read column by column."
            )
    if choices.missing == "drop":
        raise ValueError(f"--missing drop: {path.name} is read column by column; use mean.")
    if target_from is not None:
        found: Any = target_of(read_frame(target_from), choices.target)
    else:
        found = read_target(path, choices.target)
    y = to_column(np.asarray(found).tolist())
    beside = target_from is None and path.suffix.lower() in (".parquet", ".feather", ".arrow")
    source, notes = opened(path, [choices.target] if beside else [])
    if len(y) != source.shape[0]:
        raise ValueError(f"{len(y)} targets were found for {source.shape[0]} rows.")
    there = known(y)
    check_some_known(there, choices.target)
    if not there.all():
        notes.append(left_out(there, choices.target))
        source, y = take_rows(source, np.flatnonzero(there)), y[there]
    task, why = guess_task(y, choices.task)
    if why:
        notes.append(f"task: {task}, because {why} (--task overrides)")
    recipe = Recipe(choices.target, task, (), {}, missing=choices.missing)
    return Table(source, response(y, recipe), None, recipe, notes=tuple(notes))


def open_new(path: Path, recipe: Recipe) -> tuple[Any, NDArray[Any] | None, NDArray[Any] | None]:
    """(X, row names or None, target or None) of a new table, made as the recipe says.

    Categories that the recipe does not know get a warning. Targets that are missing are NaN among
    numbers, None among labels.
    """
    if not path.exists():
        raise FileNotFoundError(f"no such file: {path}")
    if not recipe.names or not read_whole(path):
        return open_source(path), None, None
    frame = read_frame(path)
    ids = None
    if recipe.id is not None and recipe.id in frame.order:
        ids = np.array([str(v) for v in as_texts(frame, recipe.id)])
    y = None
    if recipe.target in frame.order:
        y = new_response(frame.column(recipe.target), recipe)
    for note in frame.notes:
        warnings.warn(f"{note}.", UserWarning, stacklevel=2)
    for note in recipe.unseen(frame):
        warnings.warn(f"{note}.", ExtrapolationWarning, stacklevel=2)
    return recipe.columns(frame), ids, y


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
