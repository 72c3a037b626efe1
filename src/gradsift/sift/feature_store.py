"""The univariate features of k pooled columns, (k, features, n): exact for fits, one byte each
for scans of all groups.

Ten features per value are ten times the table. A pool of more than a few columns keeps them as
whole numbers from -127 to 127 times a scale per feature. That is enough to see which groups follow
a residual: rounding moves a statistic z by about .01, where noise moves it by 1. What a fit rests
on is made anew from the column, in double precision; the groups used last are remembered.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from gradsift._run.memory import in_own_pages
from gradsift.data import ArraySource
from gradsift.protocols import Array, IntArray, Source
from gradsift.sift.features import (
    READ_VALUES,
    Single,
    at_a_time,
    read_pieces,
    unit_known,
    univariate_features,
)
from gradsift.sift.rows import Rows
from gradsift.sift.settings import DEFAULT, SiftSettings

KEPT_COLUMNS = 128
"""Pools of up to so many columns keep all features as they are."""
DOUBLE_VALUES = 40_000_000
"""Feature values up to which those are in double precision, beyond it in single."""
MOST_CODE = 127
PIECE_VALUES = 30_000
"""Feature values made at a time (.2 MB, and some temporaries of that size)."""
DECODED_VALUES = (100_000, 800_000)
"""Least and most feature values decoded at a time (.4 to 3 MB in single precision)."""
SQUARED_VALUES = 50_000
"""Squares summed at a time (.4 MB)."""
REMEMBERED = 640
"""Exact features remembered, n values each."""

LOCAL = 2
Group = tuple[int, int]
"""Pooled column and part (0 linear, 1 quadratic, 2 local)."""


class FeatureStore(Protocol):
    """Univariate features of k pooled columns on n rows, scaled by root weight."""

    def stack(self, groups: list[Group]) -> list[Array]:
        """Features of some groups, (m, n) each."""

    def squares(self, R: Array, mix: Array) -> Array:
        """||Z_g R_i||_F^2, (b, 3, k), for residuals R_i = R mix_i: R (n, w), mix (b, w, q)."""

    def only(self, used: list[int]) -> FeatureStore:
        """Some of the columns."""


def by_parts(along: Array, b: int, settings: SiftSettings) -> Array:
    """Squares of Z R, (k * features, b * q), summed over features and responses: (b, 3, k)."""
    each = settings.n_features
    k = len(along) // each
    out = np.empty((b, len(settings.parts), k))
    step = max(1, SQUARED_VALUES // (each * along.shape[1]))
    for start in range(0, k, step):
        squares = np.square(along[start * each : (start + step) * each], dtype=np.float64)
        if along.shape[1] > b:
            squares = squares.reshape(len(squares), b, -1).sum(axis=2)
        squares = squares.reshape(-1, each, b)
        for own, part in zip(out.transpose(1, 2, 0), settings.parts, strict=True):
            if part.stop - part.start == 1:
                own[start : start + step] = squares[:, part.start]
            else:
                squares[:, part].sum(axis=1, out=own[start : start + step])
    return out


def in_cheaper_order(R: Array, mix: Array) -> tuple[Array, Array | None]:
    """Two factors of all R mix_i side by side, (n, b q): the first, by which features are
    multiplied, as narrow as can be; None in place of a second that is not needed.
    """
    every = mix.transpose(1, 0, 2).reshape(R.shape[1], -1)
    return (R @ every, None) if every.shape[1] <= R.shape[1] else (R, every)


@dataclass(frozen=True)
class DenseFeatures:
    """All features, as they are."""

    Z: Array | Single
    """(k, features, n)"""
    settings: SiftSettings = DEFAULT

    def stack(self, groups: list[Group]) -> list[Array]:
        return [self.Z[j, self.settings.parts[part]] for j, part in groups]

    def squares(self, R: Array, mix: Array) -> Array:
        first, second = in_cheaper_order(R, mix)
        along = self.Z.reshape(-1, self.Z.shape[2]) @ first.astype(self.Z.dtype, copy=False)
        return by_parts(along if second is None else along @ second, len(mix), self.settings)

    def only(self, used: list[int]) -> DenseFeatures:
        return DenseFeatures(self.Z[used], self.settings)


class QuantisedFeatures:
    """One byte per feature, and the columns to make exact ones from, of which the last are kept.

    Parameters
    ----------
    codes : (k, features, n) int8 array
        Of features without root weight, so that counts mean copies.
    scale : (k, features) array
    table : Source
    where : (k,) int array
        Pooled columns among those of `table`.
    rows : Rows
    settings : SiftSettings
    """

    def __init__(
        self,
        codes: NDArray[np.int8],
        scale: Single,
        table: Source,
        where: IntArray,
        rows: Rows,
        settings: SiftSettings = DEFAULT,
    ) -> None:
        self.codes, self.scale, self.table, self.where = codes, scale, table, where
        self.rows, self.settings = rows, settings
        self.cache: dict[Group, Array] = {}

    def stack(self, groups: list[Group]) -> list[Array]:
        found = {g: self.cache.pop(g) for g in dict.fromkeys(groups) if g in self.cache}
        wanted: dict[int, list[int]] = {}
        for j, part in groups:
            if (j, part) not in found:
                wanted.setdefault(j, []).append(part)
        for local in (False, True):
            some = {j: parts for j, parts in wanted.items() if (LOCAL in parts) is local}
            if some:
                found |= self.exact(some, local)
        self.cache.update(found)  # at the end: what was used last is forgotten last
        self.forget()
        return [found[g] for g in groups]

    def exact(self, wanted: dict[int, list[int]], local: bool) -> dict[Group, Array]:
        """Some parts of some pooled columns, made from the table."""
        numbers, parts = sorted(wanted), self.settings.parts
        where, out = self.where[numbers], dict[Group, Array]()
        for some, Z in feature_pieces(self.table, where, self.rows, self.settings, local=local):
            for j, exact in zip(numbers[some], Z, strict=True):
                out |= {(j, part): exact[parts[part]].copy() for part in wanted[j]}
        return out

    def forget(self) -> None:
        spare = sum(map(len, self.cache.values())) - REMEMBERED
        for g in list(self.cache):
            if spare <= 0:
                break
            spare -= len(self.cache.pop(g))

    def squares(self, R: Array, mix: Array) -> Array:
        first, second = in_cheaper_order(R, mix)
        flat = (first * np.reshape(self.rows.root, (-1, 1))).astype(np.float32)
        k, each, n = self.codes.shape
        codes = self.codes.reshape(-1, n)
        along = np.empty((k * each, flat.shape[1]), dtype=np.float32)
        least, most = DECODED_VALUES
        step = max(1, min(max(least, codes.size // 16), most) // n)
        room = np.empty((min(step, len(codes)), n), dtype=np.float32)
        for start in range(0, len(codes), step):
            some = codes[start : start + step]
            Z = room[: len(some)]
            Z[...] = some
            np.matmul(Z, flat, out=along[start : start + step])
        along *= self.scale.reshape(-1, 1)
        return by_parts(along if second is None else along @ second, len(mix), self.settings)

    def only(self, used: list[int]) -> QuantisedFeatures:
        codes, scale, where = self.codes[used], self.scale[used], self.where[used]
        return QuantisedFeatures(codes, scale, self.table, where, self.rows, self.settings)


def feature_pieces(
    source: Source,
    columns: IntArray,
    rows: Rows,
    settings: SiftSettings,
    *,
    weighted: bool = True,
    local: bool = True,
) -> Iterator[tuple[slice, Array]]:
    """`univariate_features` of some columns, a few at a time: (which of them, (w, features, n))."""
    step = max(1, PIECE_VALUES // (settings.n_features * max(source.shape[0], 1)))
    for first, X in read_pieces(source, columns, rows, settings):
        for start in range(0, X.shape[1], step):
            some = X[:, start : start + step]
            lines = None
            if not settings.clip_lines:
                these = columns[first + start : first + start + some.shape[1]]
                lines = unit_known(rows.take(source.columns(these)), rows)
            Z = univariate_features(
                some, rows, settings, weighted=weighted, local=local, lines=lines
            )
            yield slice(first + start, first + start + len(Z)), Z


def in_memory(source: Source, columns: IntArray) -> ArraySource:
    """Some columns of a table that is not, read a few at a time: a mapped file is let go in
    between.
    """
    n = source.shape[0]
    X, step = np.empty((n, len(columns))), at_a_time(source, READ_VALUES, n)
    for first in range(0, len(columns), step):
        X[:, first : first + step] = source.columns(columns[first : first + step])
    return ArraySource(X)


def pooled_features(
    source: Source, columns: IntArray, rows: Rows, settings: SiftSettings = DEFAULT
) -> FeatureStore:
    """Features of some columns of a table."""
    n, k, each = rows.count(source.shape[0]), len(columns), settings.n_features
    if k <= KEPT_COLUMNS:
        double = k * each * n <= DOUBLE_VALUES
        Z = in_own_pages((k, each, n), np.float64 if double else np.float32)
        for some, piece in feature_pieces(source, columns, rows, settings):
            Z[some] = piece
        return DenseFeatures(Z, settings)
    if source.array is None:  # on disk, compressed, or elsewhere: read its columns once
        source, columns = in_memory(source, columns), np.arange(k)
    codes = in_own_pages((k, each, n), np.int8)
    scale = np.empty((k, each), dtype=np.float32)
    for some, piece in feature_pieces(source, columns, rows, settings, weighted=False):
        largest = np.maximum(np.abs(piece).max(axis=2), 1e-30)
        scale[some] = largest / MOST_CODE
        piece *= (MOST_CODE / largest)[:, :, None]
        codes[some] = np.rint(piece, out=piece)
    return QuantisedFeatures(codes, scale, source, columns, rows, settings)
