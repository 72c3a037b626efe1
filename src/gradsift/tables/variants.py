"""Genotypes: variants that are too rare or too often missing, and where they are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from gradsift._typing import Array
from gradsift.data.opening import variants
from gradsift.tables.frame import Frame, counted
from gradsift.tables.recipe import Choices

BIM = ("chromosome", "position", "allele", "other_allele")
"""What files of genotypes say of a variant, besides its name."""
GENOTYPES = (".bed", ".pgen", ".bgen")


def without_rare(frame: Frame, choices: Choices) -> Frame:
    """A frame without the columns that --maf and --max-missing leave out, and notes on how many."""
    if choices.maf is None and choices.max_missing is None:
        return frame
    notes, kept = list(frame.notes), np.ones(len(frame.names), dtype=bool)
    special = {choices.target, *choices.keep, *choices.drop, choices.group, choices.id}
    variables = np.array([name not in special for name in frame.names], dtype=bool)
    if choices.max_missing is not None:
        check_share(choices.max_missing, "--max-missing", 1.0)
        lost = variables & (np.isnan(frame.numbers).mean(axis=0) > choices.max_missing)
        kept &= ~lost
        what = f"missing in more than {choices.max_missing:g} of the samples"
        notes.append(f"{counted(int(lost.sum()), 'column')} {what} left out")
    if choices.maf is not None:
        check_share(choices.maf, "--maf", 0.5)
        lost = variables & kept & (minor_frequency(frame, variables) < choices.maf)
        kept &= ~lost
        what = f"whose rarer allele is less frequent than {choices.maf:g}"
        notes.append(f"{counted(int(lost.sum()), 'variant')} {what} left out")
    if not (kept & variables).any():
        raise ValueError("--maf and --max-missing leave no column: give other values.")
    return replace(frame.only(kept), notes=tuple(notes))


def check_share(value: float, option: str, most: float) -> None:
    if not 0.0 <= value <= most:
        raise ValueError(f"{option} {value:g}: use a share from 0 to {most:g}.")


def minor_frequency(frame: Frame, variables: Array) -> Array:
    """Frequency of the rarer allele in each column of counts 0, 1, 2 (or dosages between)."""
    X = frame.numbers
    with np.errstate(invalid="ignore"):
        low, high = np.nanmin(X, axis=0, initial=np.inf), np.nanmax(X, axis=0, initial=-np.inf)
    strange = variables & ((low < 0.0) | ((high > 2.0) & np.isfinite(high)))
    if strange.any():
        name = frame.names[int(np.flatnonzero(strange)[0])]
        raise ValueError(
            f"--maf counts alleles, but column {name!r} holds values outside of 0 to 2. It works "
            "on genotypes, such as PLINK's .bed and .pgen."
        )
    count = np.maximum((~np.isnan(X)).sum(axis=0), 1)
    share = np.nansum(X, axis=0) / (2.0 * count)
    return np.asarray(np.minimum(share, 1.0 - share))


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
