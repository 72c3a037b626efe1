"""PLINK .bed files: 0, 1 or 2 copies of an allele, two bits each; no calls are missing values."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from gradsift._run.extras import require
from gradsift.data.plink_samples import GenotypeFile, column_values, read_psam
from gradsift.data.read_errors import reading
from gradsift.data.source import Variant, block_width, windows
from gradsift.protocols import Array, IntArray

NO_CALL = -127
HEADER = 3
MOST_ENDS = 10_000
"""Variants whose bits after the last sample are looked at: zero, unless there are more samples."""
FAM_NAMES = {"phenotype": "PHENO1", "sex": "SEX", "FID": "FID"}
"""What columns of the .fam file are called here -> in the files of PLINK 2."""


@dataclass(frozen=True)
class BedSource(GenotypeFile):
    """Genotypes (counts of allele 1), read through bed-reader in column blocks.

    The names of the variants stay in the .bim file until somebody asks for them.
    """

    def read(self, where: slice | IntArray) -> Array:
        open_bed = require("bed_reader", "genomics", "reading this format").open_bed
        n, p = self.shape
        with (
            reading(self.path, "PLINK genotypes"),
            open_bed(self.path, iid_count=n, sid_count=p, skip_format_check=True) as bed,
        ):
            calls = bed.read(index=np.s_[:, where], dtype="int8", order="F")
        out = calls.astype(np.float64)
        out[calls == NO_CALL] = np.nan
        return out

    def columns(self, index: IntArray) -> Array:
        if len(index) == 0:
            return np.zeros((self.shape[0], 0))
        return self.read(index)

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        n, p = self.shape
        for where in windows(p, block_width(n)):
            yield where, self.read(where)

    def names(self, index: IntArray | None = None) -> list[str]:
        """Variant identifiers, second column of the .bim file."""
        bim = self.path.with_suffix(".bim")
        with bim.open("rb") as file:
            lines = (line for line in file if line.strip())
            if index is None:
                return [_variant(line, k, bim) for k, line in enumerate(lines)]
            found, at = {}, 0
            for k in np.unique(index).tolist():
                line = next(islice(lines, k - at, None))
                found[k], at = _variant(line, k, bim), k + 1
            return [found[int(k)] for k in index]


def open(X: Any) -> BedSource:
    """From the path of a .bed file with its .fam and .bim beside it."""
    path = file_beside(X)
    fam, bim = file_beside(X, ".fam"), file_beside(X, ".bim")
    with path.open("rb") as file:
        if file.read(HEADER) != b"\x6c\x1b\x01":
            raise ValueError(f"{str(path)!r} is no variant-major PLINK 1 .bed file.")
    n = _count_lines(fam)
    size = path.stat().st_size - HEADER
    per_variant = (n + 3) // 4
    if n == 0 or size % per_variant:
        raise ValueError(
            f"{str(path)!r} does not fit its .fam file of {n} samples: it is cut short, or "
            "belongs to another."
        )
    p, listed = size // per_variant, _count_lines(bim)
    if p != listed:
        raise ValueError(
            f"{str(path)!r} holds {p:,} variants of {n:,} samples, but its .bim file lists "
            f"{listed:,}: one of them is cut short, or belongs to another."
        )
    if n % 4 and p:
        ends = np.memmap(path, np.uint8, "r", HEADER, (p, per_variant))[:: -(-p // MOST_ENDS), -1]
        if (ends >> 2 * (n % 4)).any():
            raise ValueError(
                f"{str(path)!r} holds genotypes of more than the {n:,} samples of its .fam file, "
                "which is cut short, or belongs to another."
            )
    return BedSource(path, (n, p))


def _variant(line: bytes, row: int, path: Path) -> str:
    """The identifier in a line of a .bim file."""
    parts = line.split(maxsplit=2)
    if len(parts) < 2:
        raise ValueError(f"{path.name}, row {row + 1} has no second column with an identifier.")
    return parts[1].decode(errors="replace")


def _count_lines(path: Path) -> int:
    with path.open("rb") as lines:
        return sum(1 for line in lines if line.strip())


def variants(X: Any) -> Iterator[Variant]:
    """The variants of the .bim file, one by one; allele 1 is counted."""
    bim = Path(os.fspath(X)).with_suffix(".bim")
    with bim.open("rb") as file:
        for k, line in enumerate(line for line in file if line.strip()):
            parts = [*line.decode(errors="replace").split(), "", "", "", ""][:6]
            yield Variant(_variant(line, k, bim), parts[0], *parts[3:])


def main_target(X: Any) -> str:
    """The phenotype of the .fam file."""
    return "phenotype"


def names_beside(X: Any) -> tuple[str, ...]:
    """What else the .fam file says of the samples."""
    return tuple(FAM_NAMES)


def read_target(X: Any, name: str) -> Any:
    """The phenotype, the sex or the family in the .fam file; NaN or None where it is missing."""
    if name not in FAM_NAMES:
        raise ValueError(f"y={name!r}: PLINK files hold one response, 'phenotype' (.fam file).")
    fam = file_beside(X, ".fam")
    return column_values(read_psam(fam), FAM_NAMES[name], fam.name)


def read_ids(X: Any) -> tuple[list[str], list[str]]:
    """(individuals, families): the second and the first column of the .fam file."""
    columns = read_psam(file_beside(X, ".fam"))
    return columns["IID"], columns["FID"]


def file_beside(X: Any, suffix: str | None = None) -> Path:
    """The file itself, or one of the same name with another suffix, which must be there."""
    path = Path(os.fspath(X))
    found = path if suffix is None else path.with_suffix(suffix)
    if not found.exists():
        raise FileNotFoundError(f"no such file: {str(found)!r} (PLINK data are three files).")
    return found
