"""What files of genotypes have in common."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gradsift.protocols import Source


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
