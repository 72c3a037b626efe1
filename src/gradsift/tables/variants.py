"""Genotypes: filters by allele frequency and missing values, and the positions of variants."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gradsift._run.passes import each_block
from gradsift.data import ArraySource, NamedSource
from gradsift.data.formats.registry import variants
from gradsift.data.source import ColumnsSource
from gradsift.protocols import Array, Source
from gradsift.tables.frame import Frame, check_columns_exist
from gradsift.tables.notes import Note, TableError, counted
from gradsift.tables.out_of_core import column_names
from gradsift.tables.recipe import Choices

BIM = ("chromosome", "position", "allele", "other_allele")
"""What files of genotypes say of a variant, besides its name."""
GENOTYPES = (".bed", ".pgen", ".bgen")


def with_chosen_columns(frame: Frame, choices: Choices) -> Frame:
    """A frame without the columns that `maf` and `max_missing` leave out, and notes on how many;
    of columns on disk also without those in `drop`.
    """
    if frame.stored is not None:
        return _with_chosen_stored(frame, frame.stored, choices)
    if not choices.filters:
        return frame
    special = {*choices.response.names, *choices.keep, *choices.drop, choices.group, choices.id}
    variables = np.array([name not in special for name in frame.names], dtype=bool)
    source = NamedSource(ArraySource(frame.numbers), frame.names)
    kept, notes = common_columns(source, choices, variables)
    return replace(frame.only(kept), notes=(*frame.notes, *notes))


def _with_chosen_stored(frame: Frame, source: Source, choices: Choices) -> Frame:
    """The same for columns on disk, whose names are read only where some are asked for."""
    left, variables = np.ones(source.shape[1], dtype=bool), None
    notes = list[Note]()
    drop, keep = set() if frame.by_name else {*choices.drop}, {*choices.keep}
    if drop or keep:
        names = column_names(source)
        check_columns_exist([*names, *frame.order], [*drop, *keep])
        left = np.array([name not in drop for name in names])
        variables = left & [name not in keep for name in names]
    if choices.filters:
        common, notes = common_columns(source, choices, variables)
        left &= common
    if left.all():
        return replace(frame, notes=(*frame.notes, *notes))
    if not left.any():
        raise TableError(f"no column is left next to the target {choices.target!r}.")
    kept = np.flatnonzero(left)
    source = ColumnsSource(source, kept)
    return replace(frame, stored=source, stored_columns=kept, notes=(*frame.notes, *notes))


def common_columns(
    source: Source, choices: Choices, variables: NDArray[np.bool_] | None = None
) -> tuple[NDArray[np.bool_], list[Note]]:
    """Which columns `maf` and `max_missing` leave, from one pass over them; and notes on how many.

    Parameters
    ----------
    source : Source
    choices : Choices
    variables : (p,) bool array, optional
        Columns that can be left out; None = all.

    Examples
    --------
    >>> X = np.array([[0.0, np.nan, 0.0], [2.0, 1.0, 0.0], [1.0, np.nan, 0.0]])
    >>> common_columns(ArraySource(X), Choices("y", maf=0.1, max_missing=0.5))[0].tolist()
    [True, False, False]
    """
    maf, most = choices.maf, choices.max_missing
    for value, option, top in ((most, "max_missing", 1.0), (maf, "maf", 0.5)):
        if value is not None and not 0.0 <= value <= top:
            raise TableError(f"{option} {value:g}: use a share from 0 to {top:g}.")
    judged = np.empty((3, source.shape[1]), dtype=bool)
    job = partial(judge, maf, most)
    for where, found in each_block(source, lambda _: job):
        judged[:, where] = found if variables is None else found & variables[where]
        if judged[2, where].any():
            raise not_alleles(source, where.start + int(np.argmax(judged[2, where])))
    missing, rare, _ = judged
    rare &= ~missing
    count = source.shape[1] if variables is None else int(variables.sum())
    out_of, notes = counted(count, "column"), list[Note]()
    if most is not None:
        notes.append(
            Note("left out", f"{int(missing.sum()):,} of {out_of}: missing in more than {most:g} "
                 "of the samples", (), "max_missing")
        )  # fmt: skip
    if maf is not None:
        notes.append(
            Note("left out", f"{int(rare.sum()):,} of {out_of}: their rarer allele is less "
                 f"frequent than {maf:g}", (), "maf")
        )  # fmt: skip
    kept = ~(missing | rare)
    if not (kept if variables is None else kept & variables).any():
        raise TableError("the limits leave no column: give other values.", "maf, max_missing")
    return kept, notes


def judge(maf: float | None, most: float | None, block: Array) -> NDArray[np.bool_]:
    """Columns that are missing too often, too rare, or no counts of alleles: three rows."""
    n_missing = np.isnan(block).sum(axis=0)
    out = np.zeros((3, block.shape[1]), dtype=bool)
    if most is not None:
        out[0] = n_missing / len(block) > most
    if maf is not None:
        share = np.nansum(block, axis=0) / (2.0 * np.maximum(len(block) - n_missing, 1))
        out[1] = np.minimum(share, 1.0 - share) < maf
        out[2] = ((block < 0.0) | ((block > 2.0) & np.isfinite(block))).any(axis=0)
    return out


def not_alleles(source: Source, column: int) -> TableError:
    name = (source.names(np.array([column])) or [f"x{column}"])[0]
    return TableError(
        f"maf counts alleles, but column {name!r} holds values outside of 0 to 2. It works "
        "on genotypes, such as PLINK's .bed and .pgen."
    )


@dataclass(frozen=True)
class VariantPlaces:
    """Where variants are, by their names in the table.

    Attributes
    ----------
    path : Path
        The file of genotypes.
    names : sequence of str
        What the table calls each variant of it; None = as the file does.
    """

    path: Path
    names: Sequence[str] | None = None

    def of(self, wanted: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """Name -> (chromosome, position, allele counted, other allele) of some variants."""
        left, found = set(wanted), dict[str, tuple[str, ...]]()
        for k, variant in enumerate(variants(self.path) or ()):
            name = variant.name if self.names is None else self.names[k]
            if name in left and all(variant):
                found.setdefault(name, variant[1:])
        return found


def variant_places(path: Path, names: Sequence[str] | None = None) -> VariantPlaces | None:
    """Where the variants of a table are, if it is a file of genotypes."""
    return VariantPlaces(path, names) if path.suffix.lower() in GENOTYPES else None
