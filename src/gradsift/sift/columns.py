"""Columns as the sift sees them: clipped, kept rows only, one block at a time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gradsift._typing import Source
from gradsift.sift.features import N_FEATURES, PARTS, clipped, own_features
from gradsift.sift.rows import Array, IntArray, Rows

BLOCK_VALUES = 4_000_000
"""Feature values made at a time (32 MB)."""


def clipped_columns(source: Source, index: IntArray, rows: Rows) -> Array:
    """Clipped columns by index, (n, k)."""
    return clipped(source.columns(index), rows)


def clipped_blocks(source: Source, rows: Rows) -> Iterator[tuple[slice, Array]]:
    """One pass over all columns, clipped, in pieces small enough for their features to fit in
    `BLOCK_VALUES`.
    """
    width = max(1, BLOCK_VALUES // (N_FEATURES * source.shape[0]))
    for where, block in source.blocks():
        for start in range(0, block.shape[1], width):
            piece = block[:, start : start + width]
            first = where.start + start
            yield slice(first, first + piece.shape[1]), clipped(piece, rows)


def part_statistics(X: Array, R: Array, rows: Rows) -> Array:
    """||Z_g R||_F^2 / n of the three groups of clipped columns X: (3, width); features are thrown
    away.
    """
    U = own_features(X, rows).reshape(-1, X.shape[0]) @ R
    squares = (U * U).sum(axis=1).reshape(X.shape[1], N_FEATURES)
    return np.stack([squares[:, part].sum(axis=1) for part in PARTS]) / rows.total
