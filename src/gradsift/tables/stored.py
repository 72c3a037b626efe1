"""Formats for large data (`.npy`, Zarr, PLINK, AnnData): a frame like any other, where they fit."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from gradsift._run.memory import available_memory
from gradsift.data import open_source, read_target
from gradsift.data.categories import to_column, to_text
from gradsift.data.opening import names_beside, read_ids
from gradsift.data.text import ROW_NAMES, names_apart
from gradsift.exceptions import SkippedColumnsWarning
from gradsift.protocols import Source
from gradsift.tables.frame import Frame, make_frame
from gradsift.tables.match import INDIVIDUAL
from gradsift.tables.notes import Note

IN_MEMORY = 1 << 30
"""Bytes of numbers up to which a table is taken into memory, whatever its format."""
COPIES = 6
"""Of a table: what reading, fitting and folds hold at once."""


def fits_memory(n_rows: int, n_columns: int) -> bool:
    """Whether a table of this size is taken into memory."""
    size = 8 * n_rows * n_columns
    return size <= IN_MEMORY and COPIES * size <= available_memory()


def opened(path: Path, exclude: Sequence[str] = ()) -> tuple[Source, list[Note]]:
    """A source, and what its reader warns of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SkippedColumnsWarning)
        source = open_source(path, exclude=exclude)
    return source, [Note("left out", str(w.message).rstrip(".")) for w in caught]


def stored_frame(path: Path, source: Source, asked: Collection[str]) -> Frame:
    """The columns of a source, and those beside them that are asked for, in memory.

    Parameters
    ----------
    path : Path
    source : Source
        Opened from it.
    asked : collection of str
        Names that have a role: of what is kept beside the columns, only these are read.

    Returns
    -------
    frame : Frame
        Columns without a name are called x0, x1, ..., as in Python.
    """
    n, p = source.shape
    numbers = np.empty((n, p))
    for where, block in source.blocks():
        numbers[:, where] = block
    ids, families = read_ids(path)
    texts: dict[str, Any] = {}
    if ids is not None and len(set(ids)) == n:
        texts[ROW_NAMES if families is None else INDIVIDUAL] = to_text(ids)
    beside = {
        name: to_column(np.asarray(read_target(path, name)).tolist())
        for name in names_beside(path)
        if name in asked
    }
    names = source.names() or [f"x{k}" for k in range(p)]
    variables = names_apart(names, {*texts, *beside})
    frame = make_frame(
        [*texts, *variables, *beside], [*texts.values(), *numbers.T, *beside.values()]
    )
    return replace(frame, id=next(iter(texts), None), expects_missing=source.expects_missing)
