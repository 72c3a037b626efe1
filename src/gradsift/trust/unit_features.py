"""Orthonormal features of columns and of products, for blocks of rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from gradsift._typing import Array, Source
from gradsift.sift.columns import known_columns
from gradsift.sift.features import known_mean, whitener
from gradsift.sift.rows import Rows
from gradsift.sift.settings import SiftSettings

Single = NDArray[np.float32]
Raw = Callable[[slice, slice], Array]
"""From some rows and some candidates to their raw features (k, f, rows)."""

LEAST_LENGTH = 0.5
"""Features with a smaller squared length depend on others: a column of two values has one feature,
not ten. The ridge of the sift brings a feature to this length whose own part is .001.
"""
LEAST_OWN_PART = 1e-3
"""Squared length of a feature given the kept columns; what is below is rounding."""
FEATURE_VALUES = 3_000_000
"""Feature values made at a time (24 MB, and some temporaries of that size)."""


class Basis:
    """Orthonormal features of a list of candidates, as functions of their raw features.

    Raw features (k, f, n) are centred, projected on the complement of the kept columns, and
    orthonormal in their order of parts: each part without what earlier parts explain, turned to its
    principal axes.
    """

    def __init__(self, k: int, starts: Sequence[int], f: int, kept: Array, rows: Rows) -> None:
        self.kept, self.rows, self.starts = kept, rows, starts
        self.mean, self.map = np.zeros((k, f, 1)), np.zeros((k, f, f))
        self.given = np.zeros((k, f, len(kept)))

    def centred(self, P: Array, some: slice, which: slice) -> Array:
        """Raw features of some candidates and rows less their means, scaled by root weight."""
        root = self.rows.root
        scale = root if isinstance(root, float) else root[which]
        return np.nan_to_num(P - self.mean[some]) * scale

    def fit(self, some: slice, P: Array, settings: SiftSettings) -> None:
        """Learn the map of some candidates from their raw features of all rows."""
        total, (w, f, n) = self.rows.total, P.shape
        self.mean[some] = known_mean(P.reshape(-1, n).T, self.rows).reshape(w, f, 1)
        P = self.centred(P, some, slice(None))
        cov = P @ P.transpose(0, 2, 1) / total
        first = whitener(cov, settings)
        first = orthonormal_map(transformed(cov, first), self.starts, LEAST_LENGTH) @ first
        given = first @ (P @ self.kept.T / total)
        rest = transformed(cov, first) - given @ given.transpose(0, 2, 1)
        second = orthonormal_map(rest, self.starts, LEAST_OWN_PART)
        self.map[some], self.given[some] = second @ first, second @ given

    def features(self, P: Array, which: slice) -> Single:
        """Unit features (k f, m) of some rows from their raw features (k, f, m)."""
        A = self.map @ self.centred(P, slice(None), which) - self.given @ self.kept[:, which]
        A /= np.sqrt(self.rows.total)
        return A.reshape(-1, A.shape[2]).astype(np.float32)


def transformed(cov: Array, T: Array) -> Array:
    """Covariances (k, f, f) of features after maps T (k, f, f)."""
    return np.asarray(T @ cov @ T.transpose(0, 2, 1))


def orthonormal_map(cov: Array, starts: Sequence[int], least: float) -> Array:
    """T (k, f, f) such that features with these covariances become orthonormal: each part, from one
    of `starts` to the next, without what earlier parts explain, on its principal axes. Axes of a
    squared length below `least` become zero.
    """
    f = cov.shape[1]
    T = np.zeros_like(cov)
    for first, end in zip(starts, [*starts[1:], f], strict=True):
        before = T[:, :first]
        E = np.eye(f)[first:end] - (cov[:, first:end] @ before.transpose(0, 2, 1)) @ before
        values, vectors = np.linalg.eigh(E @ cov @ E.transpose(0, 2, 1))
        scale = np.where(values > least, 1 / np.sqrt(np.maximum(values, least)), 0.0)
        T[:, first:end] = (vectors * scale[:, None, :]).transpose(0, 2, 1)[:, ::-1] @ E
    return T


def kept_features(source: Source, columns: Sequence[int], rows: Rows) -> Array:
    """Orthonormal rows (m, n) that span the columns that are always kept."""
    X = np.nan_to_num(known_columns(source, np.array(columns, dtype=np.intp), rows))
    X = (X - rows.mean(X)).T * rows.root
    values, vectors = np.linalg.eigh(X @ X.T / rows.total)
    used = values > 1e-6
    return np.asarray((vectors[:, used] / np.sqrt(values[used])).T @ X)


def fitted_basis(
    raw: Raw,
    k: int,
    starts: Sequence[int],
    f: int,
    kept: Array,
    rows: Rows,
    settings: SiftSettings,
) -> Basis:
    """The basis of k candidates whose raw features `raw` gives, by rows and by candidates."""
    basis = Basis(k, starts, f, kept, rows)
    step = max(1, FEATURE_VALUES // (f * rows.count(kept.shape[1])))
    for first in range(0, k, step):
        some = slice(first, min(first + step, k))
        basis.fit(some, raw(slice(None), some), settings)
    return basis
