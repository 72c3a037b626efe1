"""From a path to a table: in memory, or read column by column where that is too large."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from gradsift.data import read_target
from gradsift.data.formats.registry import main_target, read_ids
from gradsift.tables.covariate_file import (
    by_of,
    choose_rows,
    read_on_samples,
    response_of_samples,
)
from gradsift.tables.frame import Frame
from gradsift.tables.match import (
    FAMILY,
    INDIVIDUAL,
    Samples,
    sample_columns,
    samples_of,
    turned,
    with_column,
    without_plink_codes,
)
from gradsift.tables.notes import TableError, listed
from gradsift.tables.out_of_core import frame_of
from gradsift.tables.prepare import (
    Table,
    prepare,
)
from gradsift.tables.reading import can_be_transposed, read_frame, reader_for
from gradsift.tables.recipe import Choices
from gradsift.tables.variants import GENOTYPES, variant_places, with_chosen_columns

WHOLE_FILE = 1 << 30
"""Bytes of a file up to which a fingerprint covers all of it."""


def open_table(
    path: Path, choices: Choices, target_from: Path | None = None, *, on_disk: bool = False
) -> Table:
    """Read or open a table.

    Parameters
    ----------
    path : Path
    choices : Choices
    target_from : Path, optional
        Another table with the target. Its rows are found by the pair of columns whose values
        match best, in any order.
    on_disk : bool
        Whether columns that are read one by one stay on disk even if they would fit into memory.

    Returns
    -------
    table : Table
    """
    if not path.exists():
        raise FileNotFoundError(f"no such file: {path}")
    asked = [name for name in (choices.id, choices.group) if name is not None]
    asked += choices.response.names if target_from is None else ()
    wanted = [*chain(*choices.roles.values())]
    frame = frame_of(path, choices.options, asked, wanted, choices.drop, on_disk=on_disk)
    if frame.stored is not None:
        check_applies(path, choices)
    if target_from is not None:
        frame = with_target(frame, path, target_from, choices)
    elif in_rows(frame, path, choices):
        frame = read_frame(path, replace(choices.options, transpose=True))
    elif choices.target not in frame.order and (frame.stored or reader_for(path) is None):
        read_target(path, choices.target)  # says what it has instead
    elif reader_for(path) is not None and {INDIVIDUAL, choices.target} <= set(frame.order):
        frame = _known_to_plink(frame, choices.target)
    places = variant_places(path, None if frame.stored is not None else frame.names)
    frame = with_other_tables(frame, path, choices)
    return replace(prepare(with_chosen_columns(frame, choices), choices), places=places)


def check_applies(path: Path, choices: Choices) -> None:
    """Refuse options that only work on a table in memory, such as one row for each group."""
    asked: dict[str, Any] = {
        "categorical": choices.categorical,
        "more than one target": choices.more_targets,
        choices.transform: bool(choices.transform) and choices.aggregate is None,
        "transpose": choices.options.transpose,
        "missing=drop": choices.missing == "drop",
        "missing=indicator": choices.missing == "indicator",
    }
    for choice, given in asked.items():
        if given:
            raise TableError(
                f"{path.name} is too large to be taken into memory and is read column by column, "
                f"where {choice} does not work."
            )


def with_other_tables(
    frame: Frame, path: Path, choices: Choices, *, leave_out: bool = True
) -> Frame:
    """The samples that count, with the columns that other files have of them."""
    if not choices.asks_for_samples:
        return frame
    found = choose_rows(_samples(frame, path, choices), choices, leave_out=leave_out)
    frame = frame if len(found.rows) == frame.n_rows else frame.take(found.rows)
    return replace(frame, given=found.given, notes=(*frame.notes, *found.notes))


def _samples(frame: Frame, path: Path, choices: Choices) -> Samples:
    """The names of the samples of a table in memory."""
    if choices.id is None and reader_for(path) is None:
        return Samples(path.name, frame.n_rows, *read_ids(path), stored=True)
    return samples_of(frame, path.name, choices.id)


def target_of(path: Path, target: str | None, target_from: Path | None) -> str:
    """The target that was asked for, or the only one there is: that of PLINK's files."""
    if target is not None:
        return target
    if target_from is not None:
        names = [n for n in read_frame(target_from).order if n not in (FAMILY, INDIVIDUAL)]
        if len(names) == 1:
            return names[0]
        raise TableError(
            f"{target_from.name} has {listed(names, 5)}: say which is the target.", "target"
        )
    kept = main_target(path) if path.suffix.lower() in GENOTYPES else None
    if kept is None:
        raise TableError(f"say which column of {path.name} is the target.", "target")
    return kept


def in_rows(frame: Frame, path: Path, choices: Choices) -> bool:
    """Whether the target is the name of a row: the table has its variables in rows."""
    first = frame.order[0] if frame.order else ""
    if choices.target in frame.order or first not in frame.texts or not can_be_transposed(path):
        return False
    return not choices.options.transpose and choices.target in frame.texts[first].tolist()


def with_target(frame: Frame, path: Path, target_from: Path, choices: Choices) -> Frame:
    """The frame with the target from another table, whose samples may be its columns."""
    if by_of(choices) is None and can_be_transposed(path) and not choices.options.transpose:
        other = read_on_samples(target_from, choices, Samples(path.name, frame.n_rows, None))
        if samples := sample_columns(frame, other, choices.target):
            frame = turned(frame, samples, path.name)
    found, notes = response_of_samples(_samples(frame, path, choices), target_from, choices)
    for name, values in found.items():
        frame = with_column(frame, name, values)
    return replace(frame, notes=(*frame.notes, *notes))


def _known_to_plink(frame: Frame, target: str) -> Frame:
    """A frame of PLINK's own (with a column IID), without its codes for a missing target."""
    values, notes = without_plink_codes(frame.column(target), target)
    if target in frame.texts:
        frame = replace(frame, texts={**frame.texts, target: values})
    else:
        frame.numbers[:, frame.names.index(target)] = values
    return replace(frame, notes=(*frame.notes, *notes))


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
