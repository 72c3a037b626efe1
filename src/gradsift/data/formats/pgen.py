"""PLINK 2 .pgen files: dosages, or counts, of the alternate allele; no calls are missing values."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradsift._run.extras import require
from gradsift.data.plink_samples import (
    TOGETHER,
    GenotypeFile,
    SampleFile,
    each_piece,
    read_psam,
    sums_by_genotype,
)
from gradsift.data.read_errors import reading
from gradsift.data.source import Variant, positions
from gradsift.protocols import Array, GenotypeSums, IntArray

NO_CALL = -9
VARIANTS = 1 << 14
"""Variants whose calls are read with the file opened once."""
FIXED_CALLS, VARIABLE = (1, 2), 16
"""Storage modes of files of hard calls alone, and of records of any length."""
RECORD_BLOCK = 1 << 16
"""Records whose types stand together in the header."""
DOSAGE_BITS = 0x60
"""Bits of the type of a record that holds dosages."""


@dataclass(frozen=True)
class PgenSource(GenotypeFile):
    """Dosages of the alternate allele, read through pgenlib in column blocks.

    The names of the variants stay in the .pvar file until somebody asks for them.
    """

    hard_calls: bool
    """Whether no variant has dosages."""

    def read(self, where: slice | IntArray) -> Array:
        index = positions(where) if isinstance(where, slice) else where
        out = np.empty((len(index), self.shape[0]), dtype=np.float32)
        with reading(self.path, "PLINK 2 genotypes"), opened(self.path) as file:
            if isinstance(where, slice):
                file.read_dosages_range(where.start, where.stop, out)
            else:
                file.read_dosages_list(index.astype(np.uint32), out)
        return as_dosages(out)

    def genotype_sums(self, D: Array, which: slice | None = None) -> GenotypeSums | None:
        """Sums by genotype from hard calls; None where a variant has dosages."""
        if not self.hard_calls:
            return None
        which = slice(0, self.shape[1]) if which is None else which
        return each_piece(which, VARIANTS, partial(self.call_sums, D))

    def call_sums(self, D: Array, where: slice) -> Array:
        """Sums by genotype (3, w, m) of some variants, the file opened once."""
        out = np.empty((3, where.stop - where.start, D.shape[1]))
        room = np.empty((TOGETHER, self.shape[0]), dtype=np.int8)
        with reading(self.path, "PLINK 2 genotypes"), opened(self.path) as file:
            for first in range(where.start, where.stop, TOGETHER):
                calls = room[: where.stop - first]
                file.read_range(first, first + len(calls), calls)
                at = first - where.start
                out[:, at : at + len(calls)] = sums_by_genotype(D, calls, has_copies, all_called)
        return out

    def names(self, index: IntArray | None = None) -> list[str]:
        """Variant identifiers of the .pvar file."""
        if index is None:
            return [variant.name for variant in variants(self.path)]
        rest, found, at = variants(self.path), {}, 0
        for k in np.unique(index).tolist():
            found[k], at = next(islice(rest, k - at, None)).name, k + 1
        return [found[int(k)] for k in index]


def opened(path: Path) -> Any:
    """A reader of the file."""
    return require("pgenlib", "dosages", "reading this format").PgenReader(os.fsencode(path))


def as_dosages(values: Array) -> Array:
    """(samples, variants) from what pgenlib reads, NaN for what was not called."""
    out = values.T.astype(np.float64)
    out[out == NO_CALL] = np.nan
    return out


def has_copies(calls: NDArray[np.int8], copies: int) -> NDArray[np.float32]:
    """Which calls are so many copies, 1 or 0."""
    return (calls == copies).astype(np.float32)


def all_called(calls: NDArray[np.int8]) -> bool:
    return bool((calls != NO_CALL).all())


def only_hard_calls(path: Path) -> bool:
    """Whether no variant of a file has dosages, by the types of the records in its header; False
    where they stand elsewhere.
    """
    with path.open("rb") as file:
        head = file.read(12)
        if head[2] != VARIABLE:
            return head[2] in FIXED_CALLS
        p, layout = int.from_bytes(head[3:7], "little"), head[11]
        if layout & 8:
            return False
        if not layout & 4:  # types of four bits have none for dosages
            return True
        file.seek(8 * -(-p // RECORD_BLOCK), os.SEEK_CUR)
        for first in range(0, p, RECORD_BLOCK):
            count = min(RECORD_BLOCK, p - first)
            if (np.frombuffer(file.read(count), np.uint8) & DOSAGE_BITS).any():
                return False
            lengths, alleles = 1 + (layout & 3), layout >> 4 & 3
            flags = (count + 7) // 8 if layout >> 6 == 3 else 0
            file.seek(count * (lengths + alleles) + flags, os.SEEK_CUR)
    return True


def open(X: Any) -> PgenSource:
    """From the path of a .pgen file with its .psam and .pvar next to it."""
    path = Path(os.fspath(X))
    if not path.exists():
        raise FileNotFoundError(f"no such file: {str(path)!r}.")
    n_samples = len(samples(path).ids[0])
    listed = 0
    for variant in variants(path):
        listed += 1
        if "," in variant.counted:
            raise ValueError(
                f"variant {variant.name!r} of {path.name} has more than two alleles "
                f"({variant.other}, {variant.counted}): leave such variants out with plink2 "
                "--max-alleles 2 --make-pgen, or split them first."
            )
    with reading(path, "PLINK 2 genotypes"), opened(path) as file:
        n, p = int(file.get_raw_sample_ct()), int(file.get_variant_ct())
    if (n, p) != (n_samples, listed):
        raise ValueError(
            f"{path.name} holds {p:,} variants of {n:,} samples, but the files next to it list "
            f"{listed:,} variants of {n_samples:,} samples: one of them belongs to another."
        )
    return PgenSource(path, (n, p), only_hard_calls(path))


def sister_file(path: Path, *suffixes: str) -> Path:
    """The first of some files of the same name that exists."""
    for suffix in suffixes:
        if (found := path.with_suffix(suffix)).exists():
            return found
    if path.with_suffix(f"{suffixes[0]}.zst").exists():
        raise ValueError(
            f"{path.with_suffix(suffixes[0]).name}.zst is compressed: plink2 --zst-decompress "
            "makes a text file of it."
        )
    raise FileNotFoundError(
        f"no such file: {str(path.with_suffix(suffixes[0]))!r} (PLINK 2 data are three files)."
    )


def samples(X: Any) -> SampleFile:
    """What the .psam file says of the samples, or the .fam file in its place."""
    psam = sister_file(Path(os.fspath(X)), ".psam", ".fam")
    return SampleFile(psam.name, read_psam(psam))


def variants(X: Any) -> Iterator[Variant]:
    """The variants of the .pvar file, or of the .bim file in its place, one by one."""
    path = sister_file(Path(os.fspath(X)), ".pvar", ".bim")
    head = ["CHROM", "ID", "CM", "POS", "ALT", "REF"]  # a .bim file
    with path.open("rb") as file:
        for k, line in enumerate(file, start=1):
            cells = line.decode(errors="replace").split()
            if not cells or cells[0].startswith("##"):
                continue
            if cells[0].startswith("#"):
                head = [cells[0][1:], *cells[1:]]
                continue
            if len(cells) == 5 and len(head) == 6:
                cells.insert(2, "0")  # without a position in centimorgans
            if len(cells) < len(head):
                raise ValueError(f"{path.name}, line {k} has {len(cells)} of {len(head)} columns.")
            found = dict(zip(head, cells, strict=False))
            try:
                yield Variant(*(found[name] for name in ("ID", "CHROM", "POS", "ALT", "REF")))
            except KeyError as error:
                raise ValueError(f"{path.name} has no column {error.args[0]!r}.") from None
