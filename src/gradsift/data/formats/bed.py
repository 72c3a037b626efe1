"""PLINK .bed files: 0, 1 or 2 copies of an allele, two bits each; no calls are missing values."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from gradsift._typing import Array, IntArray
from gradsift.data.opening import needs
from gradsift.data.source import block_width, windows

NO_CALL = -127
HEADER = 3


@dataclass(frozen=True)
class BedSource:
    """Genotypes (counts of allele 1), read through bed-reader in column blocks.

    The names of the variants stay in the .bim file until somebody asks for them.
    """

    path: Path
    shape: tuple[int, int]
    holes_expected = True

    def read(self, where: slice | IntArray) -> Array:
        open_bed = needs("bed_reader", "genomics").open_bed
        n, p = self.shape
        with open_bed(self.path, iid_count=n, sid_count=p, skip_format_check=True) as bed:
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
        with self.path.with_suffix(".bim").open() as lines:
            if index is None:
                return [line.split(maxsplit=2)[1] for line in lines]
            found, at = {}, 0
            for k in np.unique(index).tolist():
                line = next(islice(lines, k - at, None))
                found[k], at = line.split(maxsplit=2)[1], k + 1
            return [found[int(k)] for k in index]


def open(X: Any) -> BedSource:
    """From the path of a .bed file with its .fam and .bim beside it."""
    path = Path(os.fspath(X))
    for beside in (path, path.with_suffix(".fam"), path.with_suffix(".bim")):
        if not beside.exists():
            raise FileNotFoundError(f"no such file: {str(beside)!r} (PLINK data are three files).")
    with path.open("rb") as file:
        if file.read(HEADER) != b"\x6c\x1b\x01":
            raise ValueError(f"{str(path)!r} is no variant-major PLINK 1 .bed file.")
    n = _count_lines(path.with_suffix(".fam"))
    size = path.stat().st_size - HEADER
    per_variant = (n + 3) // 4
    if n == 0 or size % per_variant:
        raise ValueError(
            f"{str(path)!r} does not fit its .fam file of {n} samples: it is cut short, or "
            "belongs to another."
        )
    return BedSource(path, (n, size // per_variant))


def _count_lines(path: Path) -> int:
    with path.open("rb") as lines:
        return sum(1 for line in lines if line.strip())


def read_target(X: Any, name: str) -> Any:
    """The phenotype, last column of the .fam file."""
    if name != "phenotype":
        raise ValueError(f"y={name!r}: PLINK files hold one response, 'phenotype' (.fam file).")
    with Path(os.fspath(X)).with_suffix(".fam").open() as lines:
        values = np.array([float(line.split()[5]) for line in lines if line.strip()])
    unknown = np.flatnonzero(values == -9)
    if len(unknown):
        raise ValueError(
            f"the phenotype is missing (-9) for {len(unknown)} sample(s), the first in row "
            f"{unknown[0]}: pass y and the rows that have one."
        )
    return values
