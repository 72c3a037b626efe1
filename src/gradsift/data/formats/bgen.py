"""Oxford's .bgen files: dosages of the second allele, from the probabilities of genotypes."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gradsift._run.extras import require
from gradsift.data.plink_samples import GenotypeFile, SampleFile, read_sample
from gradsift.data.read_errors import reading
from gradsift.data.source import Variant, positions
from gradsift.protocols import Array, IntArray


@dataclass(frozen=True)
class BgenSource(GenotypeFile):
    """Expected counts of the second allele, read through bgen in column blocks."""

    def read(self, where: slice | IntArray) -> Array:
        index = positions(where) if isinstance(where, slice) else where
        out = np.empty((self.shape[0], len(index)))
        with reading(self.path, "BGEN genotypes"), opened(self.path) as file:
            for k, j in enumerate(index.tolist()):
                out[:, k] = dosages(file[j])
        return out

    def names(self, index: IntArray | None = None) -> list[str]:
        """rs numbers, or the other identifiers where there are none."""
        found = variant_names(self.path)
        return found if index is None else [found[int(k)] for k in index]


def opened(path: Path) -> Any:
    """A reader of the file."""
    return require("bgen", "dosages", "reading this format").BgenReader(os.fspath(path))


def dosages(variant: Any) -> Array:
    """Expected counts (n,) of the second allele of a variant; NaN where nothing is known."""
    if len(variant.alleles) != 2:
        raise ValueError(
            f"variant {variant.rsid or variant.varid!r} has {len(variant.alleles)} alleles: leave "
            "such variants out first, for instance with plink2 --max-alleles 2 --export bgen-1.2"
        )
    with warnings.catch_warnings(), np.errstate(invalid="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)
        return np.asarray(variant.alt_dosage, dtype=np.float64)


def open(X: Any) -> BgenSource:
    """From the path of a .bgen file; samples are named by its own list, or by a .sample file of
    the same name.
    """
    path = Path(os.fspath(X))
    if not path.exists():
        raise FileNotFoundError(f"no such file: {str(path)!r}.")
    with reading(path, "BGEN genotypes"), opened(path) as file:
        n, p = len(file.samples), len(file.rsids())
    if (listed := len(samples(path).ids[0])) != n:
        raise ValueError(
            f"{path.name} holds {n:,} samples, but {path.with_suffix('.sample').name} lists "
            f"{listed:,}: one of them belongs to another."
        )
    return BgenSource(path, (n, p))


def variant_names(path: Path) -> list[str]:
    """Names of all variants."""
    with reading(path, "BGEN genotypes"), opened(path) as file:
        named = enumerate(file.rsids())
        return [rsid if rsid not in ("", ".") else file[k].varid for k, rsid in named]


def samples(X: Any) -> SampleFile:
    """What the .sample file of the same name says of the samples; else the names that the file
    itself has.
    """
    path = Path(os.fspath(X))
    sample_file = path.with_suffix(".sample")
    if sample_file.exists():
        return SampleFile(sample_file.name, read_sample(sample_file), "ID_2", "ID_1")
    with reading(path, "BGEN genotypes"), opened(path) as file:
        names = [str(name) for name in file.samples]
    return SampleFile(f"{path.name} (without {sample_file.name})", {"ID_2": names}, "ID_2")


def variants(X: Any) -> Iterator[Variant]:
    """The variants, one by one."""
    path = Path(os.fspath(X))
    names = variant_names(path)
    with reading(path, "BGEN genotypes"), opened(path) as file:
        for name, one in zip(names, file, strict=True):
            other, counted = one.alleles[:2]
            yield Variant(name, str(one.chrom), str(one.pos), counted, other)
