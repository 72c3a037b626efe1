"""From a path to a table: in memory, or read column by column where that is too large."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from gradsift._typing import IntArray
from gradsift.data import read_target, take_rows
from gradsift.data.categories import to_column
from gradsift.data.missing import known
from gradsift.data.opening import holds_target, main_target, read_ids
from gradsift.data.read_options import ReadOptions
from gradsift.tables.beside import choose_rows, read_beside
from gradsift.tables.blocks import RowGroups, read_groups
from gradsift.tables.frame import Frame, listed
from gradsift.tables.joining import (
    FAMILY,
    INDIVIDUAL,
    Samples,
    joined_target,
    samples_of,
    with_column,
    without_plink_codes,
)
from gradsift.tables.prepare import (
    Table,
    check_some_known,
    left_out,
    prepare,
    response,
    with_beside,
)
from gradsift.tables.reading import (
    arrow_rows,
    check_transposed,
    read_arrow,
    read_frame,
    reader_for,
    with_options,
)
from gradsift.tables.recipe import Choices, Recipe
from gradsift.tables.stored import fits_memory, opened, stored_frame
from gradsift.tables.task import read_target_as
from gradsift.tables.variants import GENOTYPES, variant_places, without_rare

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
        frame = with_target(frame, path, target_from, choices)
    elif reader_for(path) is None and choices.target not in frame.order:
        read_target(path, choices.target)  # says what it has instead
    elif reader_for(path) is not None and {INDIVIDUAL, choices.target} <= set(frame.order):
        frame = _known_to_plink(frame, choices.target)
    places = variant_places(path, frame.names)
    frame = with_rows_beside(frame, path, choices)
    return replace(prepare(without_rare(frame, choices), choices), places=places)


def with_rows_beside(
    frame: Frame, path: Path, choices: Choices, *, leave_out: bool = True
) -> Frame:
    """The samples that count, and what other files know of them."""
    if not choices.asks_for_samples:
        return frame
    found = choose_rows(_samples(frame, path, choices), choices, leave_out=leave_out)
    frame = frame if len(found.rows) == frame.n_rows else frame.take(found.rows)
    return replace(frame, beside=found.beside, notes=(*frame.notes, *found.notes))


def _samples(frame: Frame, path: Path, choices: Choices) -> Samples:
    """What names the samples of a table in memory."""
    if choices.id is None and reader_for(path) is None:
        return Samples(path.name, frame.n_rows, *read_ids(path))
    return samples_of(frame, path.name, choices.id)


def target_of(path: Path, target: str | None, target_from: Path | None) -> str:
    """The target that was asked for, or the only one there is: that of PLINK's files."""
    if target is not None:
        return target
    if target_from is not None:
        names = [n for n in read_frame(target_from).order if n not in (FAMILY, INDIVIDUAL)]
        if len(names) == 1:
            return names[0]
        raise ValueError(
            f"{target_from.name} has {listed(names, 5)}: say which is the target with --target "
            "(or --pheno-name)."
        )
    kept = main_target(path) if path.suffix.lower() in GENOTYPES else None
    if kept is None:
        raise ValueError(f"say which column of {path.name} is the target.")
    return kept


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


def with_target(frame: Frame, path: Path, target_from: Path, choices: Choices) -> Frame:
    """The frame with the target from another table."""
    values, notes = _target_from(_samples(frame, path, choices), target_from, choices)
    frame = with_column(frame, choices.target, values)
    return replace(frame, notes=(*frame.notes, *notes))


def _target_from(samples: Samples, path: Path, choices: Choices) -> tuple[Any, list[str]]:
    """The target of samples, from another table."""
    other = read_beside(path, choices, samples)
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
    inside = [choices.id, choices.group, None if target_from else choices.target]
    source, notes = opened(path, [n for n in inside if n and n in _own_columns(path, arrow)])
    samples = Samples(path.name, source.shape[0], ids, families, choices.id)
    if target_from is not None:
        found, said = _target_from(samples, target_from, choices)
        notes += said
    else:
        found = read_target(path, choices.target)
    y = to_column(np.asarray(found).tolist())
    if len(y) != source.shape[0]:
        raise ValueError(f"{len(y)} targets were found for {source.shape[0]} rows.")
    chosen = choose_rows(samples, choices)
    notes += chosen.notes
    there = known(y[chosen.rows])
    check_some_known(there, choices.target)
    if not there.all():
        notes.append(left_out(there, choices.target))
    rows = chosen.rows[there]
    beside = {name: values[there] for name, values in chosen.beside.items()}
    names = None if ids is None else np.array([str(name) for name in ids])[rows]
    source, y = take_rows(source, rows), y[rows]
    reading = read_target_as(y, choices.task, choices.target)
    notes += [reading.note] if reading.note else []
    recipe = Recipe(choices.target, reading.task, (), {}, missing=choices.missing)
    table = Table(source, response(y, recipe), None, recipe, names, notes=tuple(notes))
    table = replace(table, places=variant_places(path))
    if choices.group is not None:
        table = replace(table, groups=_stored_groups(path, choices.group, beside, rows))
    return with_beside(table, beside, choices)


def _own_columns(path: Path, arrow: bool) -> list[str]:
    """The columns of a stored table that may have another role than that of a variable."""
    return arrow_rows(path)[0].schema.names if arrow else []


def _stored_groups(path: Path, group: str, beside: dict[str, Any], rows: IntArray) -> RowGroups:
    """Which rows of a stored table belong together."""
    values = beside.get(group)
    if values is None:
        values = to_column(np.asarray(read_target(path, group)).tolist())[rows]
    labels = Frame((), np.zeros((len(rows), 0)), {}, (), {}, beside={group: values})
    return read_groups(labels, group)


def _check_applies(path: Path, choices: Choices, arrow: bool) -> None:
    """Refuse what only works on a table in memory."""
    asked: dict[str, Any] = {option: names for option, names in choices.roles.items() if names}
    asked |= {
        "--log": choices.log,
        "--transpose": choices.options.transpose,
        "--aggregate": choices.aggregate,
        "--maf": choices.maf,
        "--max-missing": choices.max_missing,
    }
    asked.pop("--group", None)
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
