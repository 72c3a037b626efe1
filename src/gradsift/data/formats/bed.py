"""PLINK .bed files: 0, 1 or 2 copies of an allele, two bits each; no calls are missing values."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradsift.data.plink_samples import (
    TOGETHER,
    GenotypeFile,
    SampleFile,
    each_piece,
    read_psam,
    sums_by_genotype,
)
from gradsift.data.read_errors import reading
from gradsift.data.source import Variant
from gradsift.protocols import Array, GenotypeSums, IntArray

HEADER = 3
PACKED_BYTES, LEAST_TOGETHER = 8 << 20, 1_024
"""Bytes of packed variants read at a time, and variants at least."""
CODES = (np.arange(256)[:, None] >> 2 * np.arange(4)) & 3
"""(256, 4) of the four samples of a byte; 3, 2 and 0 are 0, 1 and 2 copies of allele 1, 1 no call.
"""
COPIES = np.array([2.0, np.nan, 1.0, 0.0])[CODES]
HAS_COPIES = (np.array([3, 2, 0])[:, None, None] == CODES).astype(np.float32)
"""(3, 256, 4) whether the samples of a byte have 0, 1 or 2 copies."""
MOST_ENDS = 10_000
"""Variants whose bits after the last sample are looked at: zero, unless there are more samples."""
FAM_NAMES = {"PHENO1": "phenotype", "SEX": "sex"}
"""What columns are called in the files of PLINK 2 -> here, of a .fam file."""


@dataclass(frozen=True)
class BedSource(GenotypeFile):
    """Genotypes (counts of allele 1), read in blocks of variants.

    The names of the variants stay in the .bim file until somebody asks for them.
    """

    def packed(self, where: slice | IntArray) -> NDArray[np.uint8]:
        """Some variants (w, bytes) as they are stored, four samples in a byte."""
        p, each = self.shape[1], (self.shape[0] + 3) // 4
        with reading(self.path, "PLINK genotypes"):
            if not isinstance(where, slice):
                return np.array(np.memmap(self.path, np.uint8, "r", HEADER, (p, each))[where])
            count, start = where.stop - where.start, where.start * each
            found = np.fromfile(self.path, np.uint8, count * each, offset=HEADER + start)
            return found.reshape(count, each)

    def read(self, where: slice | IntArray) -> Array:
        packed = self.packed(where)
        return COPIES.take(packed, axis=0).reshape(len(packed), -1)[:, : self.shape[0]].T

    def genotype_sums(self, D: Array, which: slice | None = None) -> GenotypeSums:
        """Sums by genotype from the packed bytes, a few variants at a time."""
        n, p = self.shape
        each = (n + 3) // 4
        width = max(LEAST_TOGETHER, PACKED_BYTES // max(1, each) // TOGETHER * TOGETHER)
        D = np.vstack([D, np.zeros((4 * each - n, D.shape[1]))])
        which = slice(0, p) if which is None else which
        return each_piece(which, width, lambda where: packed_sums(D, self.packed(where)))

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


def packed_sums(D: Array, packed: NDArray[np.uint8]) -> Array:
    """Sums of D (4 b, m) over the samples with 0, 1 and 2 copies, (3, w, m), of packed variants
    (w, b).

    Examples
    --------
    >>> packed = np.array([[0b11_01_10_00]], dtype=np.uint8)  # 2 copies, 1, missing, 0
    >>> packed_sums(np.array([[1.0], [10.0], [100.0], [1000.0]]), packed).ravel().tolist()
    [1000.0, 10.0, 1.0]
    """
    return sums_by_genotype(D, packed, has_copies, all_called)


def has_copies(packed: NDArray[np.uint8], copies: int) -> NDArray[np.float32]:
    """Which samples (w, 4 b) of packed variants (w, b) have so many copies, 1 or 0."""
    return HAS_COPIES[copies].take(packed, axis=0).reshape(len(packed), -1)


def all_called(packed: NDArray[np.uint8]) -> bool:
    return not (packed & ~(packed >> 1) & 0b01_01_01_01).any()


def open(X: Any) -> BedSource:
    """From the path of a .bed file with its .fam and .bim next to it."""
    path = sister_file(X)
    fam, bim = sister_file(X, ".fam"), sister_file(X, ".bim")
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


def samples(X: Any) -> SampleFile:
    """What the .fam file says of the samples."""
    fam = sister_file(X, ".fam")
    columns = {FAM_NAMES.get(name, name): cells for name, cells in read_psam(fam).items()}
    return SampleFile(fam.name, columns)


def sister_file(X: Any, suffix: str | None = None) -> Path:
    """The file itself, or one of the same name with another suffix, which must be there."""
    path = Path(os.fspath(X))
    found = path if suffix is None else path.with_suffix(suffix)
    if not found.exists():
        raise FileNotFoundError(f"no such file: {str(found)!r} (PLINK data are three files).")
    return found
