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
from gradsift.data.plink_samples import Columns, GenotypeFile, column_values, read_sample, traits
from gradsift.data.read_errors import reading
from gradsift.data.source import Variant, block_width, windows
from gradsift.protocols import Array, IntArray


@dataclass(frozen=True)
class BgenSource(GenotypeFile):
    """Expected counts of the second allele, read through bgen in column blocks."""

    def read(self, index: IntArray) -> Array:
        out = np.empty((self.shape[0], len(index)))
        if len(index):
            with reading(self.path, "BGEN genotypes"), opened(self.path) as file:
                for k, j in enumerate(index.tolist()):
                    out[:, k] = dosages(file[j])
        return out

    def columns(self, index: IntArray) -> Array:
        return self.read(np.asarray(index))

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        n, p = self.shape
        for where in windows(p, block_width(n)):
            yield where, self.read(np.arange(where.start, where.stop))

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
    if (listed := samples(path)) is not None and len(listed["ID_2"]) != n:
        raise ValueError(
            f"{path.name} holds {n:,} samples, but {path.with_suffix('.sample').name} lists "
            f"{len(listed['ID_2']):,}: one of them belongs to another."
        )
    return BgenSource(path, (n, p))


def variant_names(path: Path) -> list[str]:
    """Names of all variants."""
    with reading(path, "BGEN genotypes"), opened(path) as file:
        named = enumerate(file.rsids())
        return [rsid if rsid not in ("", ".") else file[k].varid for k, rsid in named]


def samples(path: Path) -> Columns | None:
    """The columns of the .sample file, if there is one."""
    beside = path.with_suffix(".sample")
    return read_sample(beside) if beside.exists() else None


def variants(X: Any) -> Iterator[Variant]:
    """The variants, one by one."""
    path = Path(os.fspath(X))
    names = variant_names(path)
    with reading(path, "BGEN genotypes"), opened(path) as file:
        for name, one in zip(names, file, strict=True):
            other, counted = one.alleles[:2]
            yield Variant(name, str(one.chrom), str(one.pos), counted, other)


def names_beside(X: Any) -> tuple[str, ...]:
    """What the .sample file says of the samples."""
    columns = samples(Path(os.fspath(X))) or {}
    return (*traits(columns), *(name for name in columns if name == "sex"))


def main_target(X: Any) -> str | None:
    """The first phenotype of the .sample file."""
    return next(iter(names_beside(X)), None)


def read_target(X: Any, name: str) -> Any:
    """A column of the .sample file; NaN or None where it is missing."""
    path = Path(os.fspath(X))
    columns = samples(path)
    if columns is None:
        raise ValueError(
            f"y={name!r}: {path.name} has no {path.with_suffix('.sample').name} beside it, and "
            "holds no response itself."
        )
    return column_values(columns, name, path.with_suffix(".sample").name)


def read_ids(X: Any) -> tuple[list[str], list[str]]:
    """(individuals, families): the second and the first column of the .sample file, or the names
    that the file itself has for both.
    """
    path = Path(os.fspath(X))
    if (columns := samples(path)) is not None:
        return columns["ID_2"], columns["ID_1"]
    with reading(path, "BGEN genotypes"), opened(path) as file:
        names = [str(name) for name in file.samples]
    return names, names
