"""Columns from another table, row by row through identifiers, in any order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradsift._run.suggest import did_you_mean
from gradsift.data.cells import Texts
from gradsift.data.sample_files import with_codes_of_plink
from gradsift.data.text import BEWARE
from gradsift.protocols import Array, IntArray
from gradsift.tables.frame import Frame, counted, is_or_are, listed
from gradsift.tables.recipe import as_texts
from gradsift.tables.text_columns import row_names

FAMILY, INDIVIDUAL = "FID", "IID"
"""Columns that name samples in PLINK's tables."""
PLINK_MISSING = "-9"


@dataclass(frozen=True)
class Samples:
    """The samples of a table: their number, and what names them.

    Attributes
    ----------
    file : str
    n : int
    ids : sequence of str, optional
        None where nothing names them.
    families : sequence of str, optional
        PLINK's families, where it has them.
    column : str, optional
        The column they are in.
    """

    file: str
    n: int
    ids: Sequence[str | None] | None
    families: Sequence[str | None] | None = None
    column: str | None = None

    @property
    def label(self) -> str:
        return "names of rows" if self.column is None else f"column {self.column!r}"


def samples_of(frame: Frame, file: str, id: str | None) -> Samples:
    """The samples of a frame: named by `id`, its row names, or IID."""
    label = id or row_names(frame) or (INDIVIDUAL if INDIVIDUAL in frame.order else None)
    ids = None if label is None else as_texts(frame, label)
    families = as_texts(frame, FAMILY) if label == INDIVIDUAL and FAMILY in frame.order else None
    return Samples(file, frame.n_rows, ids, families, label)


def joined_target(
    samples: Samples, other: Frame, file: str, target: str, id: str | None
) -> tuple[Array | Texts, list[str]]:
    """The target of each sample, NaN or None where there is none, and notes.

    Parameters
    ----------
    samples : Samples
        Of the table.
    other : Frame
        The table with the target.
    file : str
        Its name.
    target : str
    id : str, optional
        The column that names the samples in both tables, where the user says so.
    """
    values, notes = target_of(other, target, file)
    rows, said = joined_rows(samples, other, file, id, {target})
    return taken(values, rows), [*notes, *said]


def joined_rows(
    samples: Samples, other: Frame, file: str, id: str | None, columns: Collection[str] = ()
) -> tuple[IntArray, list[str]]:
    """The row of each sample in another table, -1 for none, and notes.

    Parameters
    ----------
    samples, other, file, id
        As in `joined_target`.
    columns : collection of str
        Columns that are no identifiers.
    """
    if samples.ids is None:
        note = _in_order(samples, other, file)
        return np.arange(samples.n), [note]
    if id is not None and id not in other.order:
        raise ValueError(
            f"{file} has no column {id!r}, which --id names. It has {listed(other.order, 5)}."
        )
    tried = []
    for label, keys, own in _keys(samples, other, columns, id):
        if set(keys) & set(own):
            rows, notes = _matched(samples, own, keys, label, file)
            return np.array(rows, dtype=np.intp), notes
        tried.append((label, keys, own))
    if not tried:
        note = _in_order(samples, other, file)
        return np.arange(samples.n), [note]
    label, keys, own = tried[0]
    raise ValueError(
        f"no sample of {samples.file} ({listed([str(v) for v in own])} in its {samples.label}) is "
        f"in {file} ({listed([str(v) for v in keys])} in its column {label!r}): give the column "
        "that names the samples in both with --id."
    )


def target_of(other: Frame, target: str, file: str) -> tuple[Array | Texts, list[str]]:
    """The target in a table of targets; PLINK's codes for missing values are missing."""
    if target not in other.order:
        raise ValueError(
            f"the table of targets, {file}, has no column {target!r}."
            f"{did_you_mean(target, other.order)} It has "
            f"{listed(other.order, 5)}."
        )
    values = other.column(target)
    return without_plink_codes(values, target) if INDIVIDUAL in other.order else (values, [])


def without_plink_codes(values: Any, target: str) -> tuple[Any, list[str]]:
    """Values without -9, and without 0 beside 1 and 2; and a note on how many there were."""
    if values.dtype.kind == "O":
        out = values.copy()
        out[values == PLINK_MISSING] = None
        count = int((values == PLINK_MISSING).sum())
    else:
        out = with_codes_of_plink(values)
        count = int(np.isnan(out).sum() - np.isnan(values).sum())
    codes = "(-9, or 0 beside 1 and 2)"
    note = f"{counted(count, 'missing value')} of {target!r} by PLINK's codes {codes}"
    return out, [note] if count else []


def _in_order(samples: Samples, other: Frame, file: str) -> str:
    """A note that rows are taken in their order; refused where their numbers differ."""
    if other.n_rows != samples.n:
        raise ValueError(
            f"{file} has {other.n_rows} rows, {samples.file} {samples.n}, and no column names the "
            "samples in both: give one with --id, or list the same samples in the same order."
        )
    return (
        f"{BEWARE}no column names the samples in both {samples.file} and {file}: their rows are "
        "taken to be in the same order (--id names such a column)"
    )


def _keys(
    samples: Samples, other: Frame, columns: Collection[str], id: str | None
) -> Iterator[tuple[str, list[Any], list[Any]]]:
    """(name, identifiers in the other table, identifiers in the table) that may go together."""
    own = list(samples.ids or ())
    wanted = [id] if id is not None else [samples.column, INDIVIDUAL, row_names(other)]
    for label in dict.fromkeys(wanted):
        if label is None or label in columns or label not in other.order:
            continue
        keys = as_texts(other, label)
        twice = len(set(keys)) < len(keys)
        if label == INDIVIDUAL and twice and samples.families and FAMILY in other.order:
            keys = [f"{a} {b}" for a, b in zip(as_texts(other, FAMILY), keys)]
            yield label, keys, [f"{a} {b}" for a, b in zip(samples.families, own)]
        else:
            yield label, keys, own


def _matched(
    samples: Samples, own: Sequence[Any], keys: Sequence[Any], label: str, file: str
) -> tuple[list[int], list[str]]:
    """The row of each sample in the other table, -1 for none; and what did not match."""
    twice = [key for key, count in Counter(keys).items() if count > 1 and key in set(own)]
    if twice:
        raise ValueError(
            f"{file} names {listed(twice)} more than once in its column {label!r}: which row is "
            "meant?"
        )
    where = {key: k for k, key in enumerate(keys) if key is not None}
    rows = [where.get(key, -1) for key in own]
    lost = [str(key) for key, row in zip(own, rows) if row < 0]
    here = set(own)
    beyond = [str(key) for key in keys if key not in here]
    notes = [f"{samples.n - len(lost)} of {samples.n} samples were found in {file} by {label!r}"]
    if lost:
        notes.append(
            f"{BEWARE}{counted(len(lost), 'sample')} of {samples.file} {is_or_are(len(lost))} not "
            f"in {file}: {listed(lost)}"
        )
    if beyond:
        notes.append(
            f"{counted(len(beyond), 'row')} of {file} without a sample here: {listed(beyond)}"
        )
    return rows, notes


def taken(values: Any, rows: IntArray) -> Any:
    """values[rows], NaN or None for -1."""
    out = values[rows]
    out[rows < 0] = None if values.dtype.kind == "O" else np.nan
    return out


def with_column(frame: Frame, name: str, values: Any) -> Frame:
    """The frame with one column more."""
    if name in frame.order:
        raise ValueError(f"both tables have a column {name!r}: drop or rename one.")
    order = (*frame.order, name)
    if values.dtype.kind == "O":
        return replace(frame, texts={**frame.texts, name: values}, order=order)
    numbers = np.column_stack([frame.numbers, values])
    return replace(frame, names=(*frame.names, name), numbers=numbers, order=order)
