"""Tables in formats that are read column by column: in memory where they fit, else on disk.

What is stored next to the columns, such as a response or the names of the samples, is read into
memory in both cases.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from gradsift._run.memory import available_memory
from gradsift.data import open_source, read_target
from gradsift.data.categories import to_column, to_text
from gradsift.data.formats.registry import read_ids, stored_names
from gradsift.data.read_options import ReadOptions
from gradsift.data.text import ROW_NAMES, names_apart
from gradsift.exceptions import SkippedColumnsWarning
from gradsift.protocols import Source
from gradsift.tables.frame import Frame, make_frame
from gradsift.tables.match import INDIVIDUAL
from gradsift.tables.notes import Note
from gradsift.tables.reading import (
    arrow_columns,
    arrow_rows,
    check_transposed,
    read_arrow,
    read_frame,
    reader_for,
    with_options,
)

IN_MEMORY = 1 << 30
"""Bytes of numbers up to which a table is taken into memory, whatever its format."""
COPIES = 6
"""Of a table: what reading, fitting and folds hold at once."""


def fits_memory(n_rows: int, n_columns: int) -> bool:
    """Whether a table of this size is taken into memory."""
    size = 8 * n_rows * n_columns
    return size <= IN_MEMORY and COPIES * size <= available_memory()


def frame_of(
    path: Path,
    options: ReadOptions,
    asked: Collection[str] = (),
    wanted: Collection[str] = (),
    exclude: Sequence[str] = (),
    *,
    on_disk: bool = False,
) -> Frame:
    """The table in a file, whatever its format.

    Parameters
    ----------
    path : Path
    options : ReadOptions
        How it is written.
    asked : collection of str
        Names that have a role: of what is stored next to columns on disk, only these are read.
    wanted : collection of str
        Other columns that the header has.
    exclude : sequence of str
        Columns that are left out where these stay on disk and the response is one of them.
    on_disk : bool
        Leave columns on disk even if they would fit into memory.
    """
    reader = reader_for(path)
    if reader is not None and reader is not read_arrow:
        return read_frame(path, options, {*asked, *wanted})
    if reader is read_arrow:
        dataset, n_rows = arrow_rows(path)
        if not on_disk and fits_memory(n_rows, len(dataset.schema.names)):
            return read_frame(path, options)
        own = [name for name in dataset.schema.names if name in asked]
        source, notes = opened(path, [*own, *(name for name in exclude if name not in own)])
        frame = replace(arrow_columns(dataset, own, n_rows, options), by_name=True)
    else:
        check_transposed(path, options)
        source, notes = opened(path)
        frame = stored_frame(path, source, {*asked, *wanted})
        if not on_disk and fits_memory(*source.shape):
            return with_options(replace(in_memory(frame, source), notes=tuple(notes)), options)
    return with_options(replace(frame, notes=tuple(notes), stored=source), options)


def opened(path: Path, exclude: Sequence[str] = ()) -> tuple[Source, list[Note]]:
    """A source, and the warnings of its reader."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SkippedColumnsWarning)
        source = open_source(path, exclude=exclude)
    return source, [Note("left out", str(w.message).rstrip(".")) for w in caught]


def stored_frame(path: Path, source: Source, asked: Collection[str]) -> Frame:
    """What is stored next to the columns of a source: the names of its samples, if they differ,
    and what is asked for.
    """
    ids, families = read_ids(path)
    columns = {
        name: to_column(np.asarray(read_target(path, name)).tolist())
        for name in stored_names(path)
        if name in asked
    }
    if ids is not None and len(set(ids)) == len(ids):
        columns = {ROW_NAMES if families is None else INDIVIDUAL: to_text(ids), **columns}
    frame = make_frame([*columns], [*columns.values()], n_rows=source.shape[0])
    label = next((name for name in (ROW_NAMES, INDIVIDUAL) if name in columns), None)
    return replace(frame, id=label, expects_missing=source.expects_missing)


def in_memory(frame: Frame, source: Source) -> Frame:
    """A frame with the columns of a source between the names of its rows and what else it has."""
    n, p = source.shape
    numbers = np.empty((n, p + len(frame.names)))
    for where, block in source.blocks():
        numbers[:, where] = block
    numbers[:, p:] = frame.numbers
    variables = names_apart(column_names(source), frame.order)
    first = [name for name in frame.order if name == frame.id]
    rest = [name for name in frame.order if name != frame.id]
    order = (*first, *variables, *rest)
    return replace(frame, names=(*variables, *frame.names), numbers=numbers, order=order)


def column_names(source: Source) -> list[str]:
    """Names of all columns; those without a name are called x0, x1, ..., as in Python."""
    return source.names() or [f"x{k}" for k in range(source.shape[1])]
