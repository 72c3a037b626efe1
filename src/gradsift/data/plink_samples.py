"""Files of genotypes, and of their samples: .fam and .psam (PLINK), .sample (Oxford)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradsift._run.passes import count_columns, pieces
from gradsift._run.threads import map_blocks
from gradsift.data.missing import is_missing, to_number
from gradsift.data.source import block_width, windows
from gradsift.protocols import Array, GenotypeSums, IntArray, Source

FAM = ("FID", "IID", "PAT", "MAT", "SEX", "PHENO1")
"""Columns of a .fam file, and of a .psam file without a header."""
NO_TRAIT = frozenset({"FID", "IID", "SID", "PAT", "MAT", "SEX", "ID_1", "ID_2", "missing", "sex"})
"""Columns of sample files that are no phenotypes."""
SEXES = {"1": 1.0, "2": 2.0, "M": 1.0, "F": 2.0, "m": 1.0, "f": 2.0}
NO_TEXT = frozenset({"NONE", "-9"})
"""Texts of PLINK that stand for a missing category, next to the usual ones."""

Columns = dict[str, list[str]]
"""Name -> the cells of a column, as texts."""

PART, TOGETHER = 2_000, 128
"""Samples, and variants, whose calls are unpacked at a time (1 MB in single precision)."""


@dataclass(frozen=True)
class GenotypeFile(Source):
    """A file of n samples and p variants, some of which were not called in some samples."""

    path: Path
    size: tuple[int, int]

    @property
    def shape(self) -> tuple[int, int]:
        return self.size

    @property
    def expects_missing(self) -> bool:
        return True

    def read(self, where: slice | IntArray) -> Array:
        """Genotypes (n, k) of some variants, NaN where they were not called."""
        raise NotImplementedError

    def columns(self, index: IntArray) -> Array:
        return self.read(np.asarray(index)) if len(index) else np.zeros((self.shape[0], 0))

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        n, p = self.shape
        for where in windows(p, block_width(n)):
            yield where, self.read(where)


def each_piece(which: slice, width: int, sums_of: Callable[[slice], Array]) -> GenotypeSums:
    """Sums by genotype of the variants `which`, `width` at a time."""
    for where, found in map_blocks(lambda where: (where, sums_of(where)), pieces(which, width)):
        count_columns(where.stop - where.start)
        yield where, found


def sums_by_genotype(
    D: Array,
    calls: NDArray[Any],
    has_copies: Callable[[NDArray[Any], int], NDArray[np.float32]],
    all_called: Callable[[NDArray[Any]], bool],
) -> Array:
    """Sums of D (n, m) over the samples with 0, 1 and 2 copies, (3, w, m).

    Sums over `PART` samples are in single precision, sums of these in double: the error is below
    1e-5 of the sum of absolute values, and none for counts. Where all samples are called, the sum
    over those without a copy is what is left of the sum over all.

    Parameters
    ----------
    D : (n, m) array
    calls : (w, b) array
        Calls of w variants as they are stored, each element for n / b samples.
    has_copies : function
        From a part of `calls` and a number of copies to which of its samples have so many, 1 or 0.
    all_called : function
        Whether no call is missing in a part of `calls`.
    """
    w, b = calls.shape
    out = np.zeros((3, w, D.shape[1]))
    each = len(D) // max(b, 1)
    for start in range(0, len(D), PART):
        of_part = D[start : start + PART]
        single = of_part.astype(np.float32)
        stored = slice(start // each, (start + PART) // each)
        for first in range(0, w, TOGETHER):
            some = calls[first : first + TOGETHER, stored]
            called = all_called(some)
            found = [has_copies(some, k) @ single for k in range(1 if called else 0, 3)]
            if called:
                found.insert(0, of_part.sum(axis=0) - found[0] - found[1])
            out[:, first : first + TOGETHER] += found
    return out


def read_psam(path: Path) -> Columns:
    """The columns of a .psam file, or of a .fam file."""
    with path.open(encoding="utf-8", errors="replace") as file:
        lines = [(k, line.split()) for k, line in enumerate(file, start=1) if line.strip()]
    lines = [(k, cells) for k, cells in lines if not cells[0].startswith("##")]
    head: tuple[str, ...] = FAM
    if lines and lines[0][1][0].startswith("#"):
        head = (lines[0][1][0][1:], *lines[0][1][1:])
        lines = lines[1:]
    if head[0] not in ("FID", "IID"):
        raise ValueError(f"{path.name}: expected a header that begins with '#FID' or '#IID'.")
    return as_columns(path, head, lines)


def read_sample(path: Path) -> Columns:
    """The columns of a .sample file: a line of names, a line of types, then the samples."""
    with path.open(encoding="utf-8", errors="replace") as file:
        lines = [(k, line.split()) for k, line in enumerate(file, start=1) if line.strip()]
    if len(lines) < 2 or lines[0][1][:2] != ["ID_1", "ID_2"] or lines[1][1][:2] != ["0", "0"]:
        raise ValueError(
            f"{path.name}: expected a line of names that begins with 'ID_1 ID_2', and a line of "
            "types that begins with '0 0'."
        )
    return as_columns(path, lines[0][1], lines[2:])


def as_columns(path: Path, head: Any, lines: list[tuple[int, list[str]]]) -> Columns:
    """Rows of cells by column; every row must have all of them."""
    for k, cells in lines:
        if len(cells) != len(head):
            raise ValueError(
                f"{path.name}, line {k} has {len(cells)} columns: expected {len(head)} "
                f"({', '.join(head)})."
            )
    return {name: [cells[j] for _, cells in lines] for j, name in enumerate(head)}


@dataclass(frozen=True)
class SampleFile:
    """What is known of the samples of a file of genotypes.

    Attributes
    ----------
    file : str
        The name of the file that says so.
    columns : dict
        Name -> cells.
    individual, family : str
        The columns that name samples.
    """

    file: str
    columns: Columns
    individual: str = "IID"
    family: str = "FID"

    @property
    def ids(self) -> tuple[list[str], list[str]]:
        """(individuals, families); without families, each is its own."""
        names = self.columns[self.individual]
        return names, self.columns.get(self.family, names)

    @property
    def traits(self) -> list[str]:
        """Names of the phenotypes, in the order of the file."""
        return [name for name in self.columns if name not in NO_TRAIT]

    @property
    def names(self) -> list[str]:
        """Columns that may be a response or a group."""
        return [*self.traits, *(n for n in ("SEX", "sex", "FID") if n in self.columns)]

    def read(self, name: str) -> Any:
        """A column as a response: numbers, NaN where they are missing, or texts, None where they
        are.
        """
        if name not in self.columns:
            known = ", ".join(map(repr, self.columns))
            raise ValueError(f"y={name!r}: {self.file} has no such column, only {known}.")
        cells = self.columns[name]
        if name in ("FID", "IID", "SID"):
            return np.array(cells, dtype=object)
        if name in ("SEX", "sex"):
            return np.array([SEXES.get(cell, np.nan) for cell in cells])
        numbers = [to_number(cell) for cell in cells]
        if None in numbers:
            texts = [None if is_missing(cell) or cell in NO_TEXT else cell for cell in cells]
            return np.array(texts, dtype=object)
        return with_codes_of_plink(np.array(numbers, dtype=np.float64))[0]


def with_codes_of_plink(values: Any, *, response: bool = True) -> tuple[Any, int]:
    """NaN or None for -9, and of a response also for 0 where the others are 1 (control) and 2
    (case), as PLINK has it; and how many there were.
    """
    out = values.copy()
    if values.dtype.kind == "O":
        unknown = values == "-9"
    else:
        unknown = values == -9
        there = values[~np.isnan(values) & ~unknown]
        if response and np.isin(there, (0, 1, 2)).all() and (there == 2).any():
            unknown |= values == 0
    out[unknown] = None if values.dtype.kind == "O" else np.nan
    return out, int(unknown.sum())
