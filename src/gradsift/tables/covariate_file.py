"""Lists of samples to use or leave out, and covariates of the samples, in other files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gradsift.data.missing import known
from gradsift.data.row_groups import aggregate_response, group_codes
from gradsift.protocols import IntArray
from gradsift.tables.frame import Frame, read_rows
from gradsift.tables.match import (
    FAMILY,
    INDIVIDUAL,
    Samples,
    joined_rows,
    samples_of,
    taken,
    target_of,
    without_plink_codes,
)
from gradsift.tables.notes import Note, TableError, counted, listed
from gradsift.tables.reading import read_frame
from gradsift.tables.recipe import Choices

PARENTS = ("PAT", "MAT")
"""Columns of PLINK's tables of samples that are names, too."""


class Chosen(NamedTuple):
    """The rows that are used, and their values in other files."""

    rows: IntArray
    given: dict[str, Any]
    """Name -> one value for each of the rows, NaN or None where it is missing."""
    notes: list[Note]


def choose_rows(samples: Samples, choices: Choices, *, leave_out: bool = True) -> Chosen:
    """Apply the lists of samples, and join the table of covariates.

    Parameters
    ----------
    samples : Samples
    choices : Choices
    leave_out : bool
        Whether samples that are not in the table of covariates are left out.
    """
    rows, notes = np.arange(samples.n), list[Note]()
    for path, keep in ((choices.keep_samples, True), (choices.remove_samples, False)):
        if path is not None:
            inside = in_list(samples, path)
            rows = rows[inside[rows] == keep]
            notes.append(list_note(samples, path, keep, int(inside.sum())))
    if len(rows) == 0:
        raise TableError(f"no sample of {samples.file} is left by the lists of samples.")
    if choices.covariates is None:
        return Chosen(rows, {}, notes)
    file = choices.covariates.name
    other = read_on_samples(choices.covariates, choices, samples)
    where, said = joined_rows(samples, other, file, by_of(choices))
    where = where[rows]
    lost = int((where < 0).sum())
    if leave_out and lost:
        rows, where = rows[where >= 0], where[where >= 0]
        said_lost = f"{counted(lost, 'sample')} left out for want of covariates in {file}"
        notes.append(Note("caution", said_lost))
    given = {}
    if choices.target in other.order and not choices.covariate_names:
        text = f"{choices.target!r} of {file} is the target, so it is not used as a covariate"
        said = [*said, Note("read", text, (choices.target,))]
    for name in covariate_names(other, samples, choices):
        values, missing = other.column(name), list[Note]()
        if INDIVIDUAL in other.order:
            values, missing = without_plink_codes(values, name, response=False)
        given[name] = taken(values, where)
        said += missing
    return Chosen(rows, given, [*notes, *said])


def covariate_names(other: Frame, samples: Samples, choices: Choices) -> list[str]:
    """The columns of a table of covariates that do not name its rows."""
    key = samples_of(other, "", None).column
    names = {choices.id, samples.column, key, FAMILY, INDIVIDUAL, *PARENTS}
    found = [name for name in other.order if name not in {*names, *choices.response.names}]
    wanted = choices.covariate_names
    if twice := [name for name in choices.response.names if name in wanted]:
        raise TableError(
            f"{twice[0]!r} is the target, which cannot be adjusted for.", "covariate_names"
        )
    lost = [name for name in wanted if name not in other.order]
    if lost or not found:
        file = choices.covariates.name if choices.covariates is not None else ""
        what = f"no column {listed(lost)}" if lost else "no column but the names of the samples"
        raise TableError(f"{file} has {what}. It has {listed(other.order, 5)}.")
    extra = [n for n in (choices.group, choices.offset) if n is not None and n in other.order]
    return list(dict.fromkeys([*wanted, *extra])) if wanted else found


def read_on_samples(path: Path, choices: Choices, samples: Samples) -> Frame:
    """Another table on the same samples; PLINK's may have no header."""
    options = replace(choices.options, transpose=False, sheet=None)
    first = next(iter(plain_lines(path, 1)), [])
    if without_header(first, samples):
        width = len(first)
        what = "PC" if path.suffix == ".eigenvec" else "column"
        header = [FAMILY, INDIVIDUAL, *(f"{what}{k}" for k in range(1, width - 1))]
        return read_rows(header, plain_lines(path), options)
    return read_frame(path, options, (*choices.response.names, *choices.covariate_names))


def response_of_samples(
    samples: Samples, path: Path, choices: Choices
) -> tuple[dict[str, Any], list[Note]]:
    """Columns of the response in another table, NaN or None for samples that it has not, and
    notes; the target must be there.
    """
    other, names = read_on_samples(path, choices, samples), choices.response.names
    there = [names[0], *(name for name in names[1:] if name in other.order)]
    found = [target_of(other, name, path.name) for name in there]
    rows, said = joined_rows(samples, other, path.name, by_of(choices), set(there))
    values = {name: taken(values, rows) for name, (values, _) in zip(there, found)}
    return values, [*other.notes, *(note for _, notes in found for note in notes), *said]


def by_of(choices: Choices) -> str | None:
    """How rows of other tables are found: as asked, by the identifier, or by the best match."""
    return choices.by or choices.id


def plain_lines(path: Path, most: int | None = None) -> list[list[str]]:
    """The first lines of a file of cells that stand apart by spaces or tabs, or all of them; none
    of a packed file.
    """
    if not path.exists():
        raise FileNotFoundError(f"no such file: {path}")
    try:
        with path.open(encoding="utf-8") as file:
            return list(islice((line.split() for line in file if line.strip()), most))
    except UnicodeDecodeError:
        return []


def without_header(first: Sequence[str], samples: Samples) -> bool:
    """Whether the first line of a table names a sample in its first two cells, as PLINK's do."""
    if samples.ids is None or len(first) < 3:
        return False
    names = set(zip(samples.families, samples.ids) if samples.families else [])
    return (first[0], first[1]) in names or (not names and first[1] in samples.ids)


def in_list(samples: Samples, path: Path) -> Any:
    """Which samples a list names: by family and individual, or by one name in each line."""
    if samples.ids is None:
        raise TableError(
            f"{samples.file} does not name its samples, so that {path.name} cannot be matched.",
            "id",
        )
    lines = [line for line in plain_lines(path) if not line[0].startswith("#")]
    single = {line[0] for line in lines if len(line) == 1}
    double = {(line[0], line[1]) for line in lines if len(line) > 1}
    families = samples.families or samples.ids
    inside = np.array(
        [
            who in single or (family, who) in double
            for family, who in zip(families, samples.ids, strict=True)
        ]
    )
    if not inside.any():
        raise TableError(
            f"no sample of {samples.file} (such as {samples.ids[0]!r}) is in {path.name}: write "
            "one name in each line, or family and individual as in PLINK."
        )
    return inside


def list_note(samples: Samples, path: Path, keep: bool, count: int) -> Note:
    what = "kept" if keep else "left out"
    said = f"{count:,} of {samples.n:,} samples are in {path.name} and were {what}"
    return Note("left out", said)


def split_given(
    given: dict[str, Any], choices: Choices
) -> tuple[dict[str, Any] | None, Any | None]:
    """(covariates or None, offset or None) among the columns of other tables."""
    aside = {choices.group, choices.offset}
    covariates = {name: values for name, values in given.items() if name not in aside}
    return covariates or None, given.get(choices.offset) if choices.offset else None


def checked_offset(values: Any, name: str) -> Any:
    """An offset of numbers, one for each row."""
    if values.dtype.kind == "O" or not known(values).all():
        row = 0 if values.dtype.kind == "O" else int(np.argmin(known(values)))
        raise TableError(
            f"the offset {name!r} of row {row + 1} is no number. It must be known of every sample: "
            "leave the others out.",
            "remove_samples",
        )
    return values


def aggregated_given(given: dict[str, Any], labels: Any) -> dict[str, Any]:
    """Covariates and offset of each group: their value in all its rows, or the mean of numbers."""
    out = {}
    for name, values in given.items():
        try:
            out[name] = aggregate_response(values, group_codes(labels, len(values)))
        except ValueError as error:
            raise TableError(f"the covariate {name!r} changes inside a group: {error}") from error
    return out
