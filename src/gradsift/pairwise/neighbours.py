"""Nearest samples without an n x n array: exact searches in memory or over blocks of columns, and
an approximate one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn.neighbors import NearestNeighbors

from gradsift._run.extras import require
from gradsift._run.threads import map_blocks
from gradsift._typing import Array, IntArray, Source
from gradsift.numerics.distances import products

IN_MEMORY = 1 << 27  # numbers (1 GB) up to which the columns are loaded to search in them
TILE_BYTES = 64 << 20  # one tile of distances


class Near(NamedTuple):
    """The k nearest others of some samples, and each sample itself.

    Attributes
    ----------
    rows : (a, k + 1) int array
        Ascending.
    sqdist : (a, k + 1) array
        Squared distances to them.
    """

    rows: IntArray
    sqdist: Array


def nearest_in(sqdist: Array, own: IntArray, k: int) -> Near:
    """From distances of samples `own` to all samples, (a, n). Ties go to the lower row number."""
    others = sqdist.copy()
    others[np.arange(len(own)), own] = -1.0  # a sample is its own nearest, whatever its copies
    at = np.argpartition(others, k, axis=1)[:, : k + 1]
    reach = np.take_along_axis(others, at, axis=1).max(axis=1, keepdims=True)
    tied = np.flatnonzero((others <= reach).sum(axis=1) > k + 1)
    at[tied] = np.argsort(others[tied], axis=1, kind="stable")[:, : k + 1]
    at = np.sort(at, axis=1)
    return Near(at, np.take_along_axis(sqdist, at, axis=1))


def find_nearest(source: Source, k: int, anchors: IntArray, *, approximate: bool = False) -> Near:
    """The k nearest others of every anchor among all samples of a source.

    Exact unless `approximate`; a sample counts as its own neighbour. Where several samples are
    equally far, which of them is taken is the same on every run, but not further specified.
    """
    n, p = source.shape
    if approximate or n * p <= IN_MEMORY:
        X = source.columns(np.arange(p))
        rows = (_by_descent if approximate else _by_search)(X, k, anchors)
        return _with_self(X, rows, anchors)
    height = max(1, TILE_BYTES // (8 * n))
    tiles = [anchors[a : a + height] for a in range(0, len(anchors), height)]
    found = list(
        map_blocks(lambda tile: nearest_in(products(source, tile).sqdist.T, tile, k), tiles)
    )
    return Near(np.concatenate([f.rows for f in found]), np.concatenate([f.sqdist for f in found]))


def _by_search(X: Array, k: int, anchors: IntArray) -> IntArray:
    search = NearestNeighbors(n_neighbors=k + 1).fit(X)  # a tree or all distances, as X asks for
    return np.asarray(search.kneighbors(X[anchors], return_distance=False), dtype=np.intp)


def _by_descent(X: Array, k: int, anchors: IntArray) -> IntArray:
    what = "an approximate search for neighbours (approximate=True)"
    pynndescent = require("pynndescent", "neighbors", what)
    index = pynndescent.NNDescent(X, n_neighbors=k + 1, random_state=0, n_jobs=1)
    return np.asarray(index.neighbor_graph[0][anchors], dtype=np.intp)


def _with_self(X: Array, rows: IntArray, own: IntArray) -> Near:
    """Sorted by row number, with the sample itself in (its copies may have taken its place)."""
    lost = (rows != own[:, None]).all(axis=1)
    rows[lost, -1] = own[lost]  # neighbours come nearest first
    rows = np.sort(rows, axis=1)
    sqdist = np.empty(rows.shape)
    height = max(1, TILE_BYTES // (8 * rows.shape[1] * X.shape[1]))
    for a in range(0, len(own), height):
        tile = slice(a, a + height)
        step = X[rows[tile]] - X[own[tile], None]
        sqdist[tile] = np.einsum("akp,akp->ak", step, step)
    return Near(rows, sqdist)
