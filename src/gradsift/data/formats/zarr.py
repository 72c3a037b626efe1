"""Zarr arrays, chunked by columns: a block is one or more whole chunks."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradsift._run.extras import require
from gradsift.data.missing import as_response
from gradsift.data.read_errors import reading
from gradsift.data.source import NamedSource, block_width, windows
from gradsift.protocols import Array, IntArray, Source

ZARR = "a Zarr array"
NAMES = "names"
TARGET = "target"
IDS = "ids"
COMPLETE = "all_chunks_written"
"""Attributes of the array: the names of its columns; the response, as {name: values}; the names of
its rows; whether every chunk was written, so that none may be missing."""


@dataclass(frozen=True)
class ZarrSource(Source):
    """Columns of a two-dimensional Zarr array."""

    X: Any

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.X.shape[0]), int(self.X.shape[1])

    def columns(self, index: IntArray) -> Array:
        if len(index) == 0:
            return np.zeros((self.shape[0], 0))
        # each chunk is read once when the columns come in order
        order = np.argsort(index, kind="stable")
        with reading(stored_name(self.X), ZARR):
            found = self.X.oindex[:, np.asarray(index)[order]]
        out = np.empty(found.shape)
        out[:, order] = found
        return out

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        n, p = self.shape
        chunk = int(self.X.chunks[1])
        for where in windows(p, max(block_width(n) // chunk, 1) * chunk):
            with reading(stored_name(self.X), ZARR):
                block = np.asarray(self.X[:, where], dtype=np.float64)
            yield where, block


def open_array(X: Any) -> Any:
    """The array behind a path, or the array itself."""
    if not isinstance(X, (str, os.PathLike)):
        return X
    path, zarr = os.fspath(X), require("zarr", "big", "reading this format")
    if not os.path.exists(path):
        raise FileNotFoundError(f"no such file: {path}")
    with reading(path, ZARR):
        try:
            return zarr.open_array(path, mode="r")
        except FileNotFoundError as error:
            found = "a group of arrays: pass the array inside it" if is_group(path) else "no array"
            raise ValueError(f"it holds {found}") from error


def is_group(path: str) -> bool:
    """Whether a folder is a Zarr group."""
    try:
        require("zarr", "big", "reading this format").open_group(path, mode="r")
    except Exception:  # damaged in whatever way: no group that could be opened
        return False
    return True


def check_chunks(array: Any) -> None:
    """Refuse an array of ours that lacks a chunk; warn of chunks that others did not store.

    Zarr reads what is not stored as the fill value, and by default stores no chunk that holds
    nothing else: in arrays of others, lost chunks look the same. Stores that are no folders are
    not looked at.
    """
    root = getattr(getattr(array, "store", None), "root", None)
    if root is None:
        return
    sides = array.shards or array.chunks  # every stored object is a chunk, or a shard of them
    places = np.ndindex(*(-(-n // side) for n, side in zip(array.shape, sides)))
    keys = [array.metadata.encode_chunk_key(place) for place in places]
    missing = [key for key in keys if not os.path.exists(os.path.join(root, array.path, key))]
    if not missing:
        return
    which = f"{len(missing)} of {len(keys)} chunks are missing (the first is {missing[0]})"
    if array.attrs.get(COMPLETE):
        raise ValueError(f"{stored_name(array)} is damaged: {which}. Convert the table again.")
    warnings.warn(
        f"{stored_name(array)}: {which}; all their values are read as {array.fill_value}, which is "
        "right if they were never stored because they hold nothing else.",
        stacklevel=4,
    )


def stored_name(array: Any) -> str:
    """The name of the folder an array lies in."""
    return str(getattr(array, "store_path", "the Zarr array")).rstrip("/")


def open(X: Any) -> Source:
    """From a path or a zarr.Array; names from its attribute 'names', if it has one."""
    array = open_array(X)
    if getattr(array, "ndim", 0) != 2 or array.dtype.kind not in "biuf":
        raise ValueError(
            f"expected a Zarr array of numbers in two dimensions, found {array!r}. Of a group, "
            "pass the array inside it."
        )
    check_chunks(array)
    names = array.attrs.get(NAMES)
    if names is None:
        return ZarrSource(array)
    if len(names) != array.shape[1]:
        raise ValueError(
            f"the attribute 'names' of the Zarr array holds {len(names)} names for "
            f"{array.shape[1]} columns."
        )
    return NamedSource(ZarrSource(array), names)


def read_target(X: Any, name: str) -> Any:
    """The response kept in the attribute 'target'."""
    kept = open_array(X).attrs.get(TARGET, {})
    if name not in kept:
        raise ValueError(
            f"the Zarr array keeps no response {name!r} (it has {sorted(kept)}): pass the values "
            "of y."
        )
    return as_response(kept[name])


def stored_names(X: Any) -> list[str]:
    """The name of the response kept in the attribute 'target'."""
    return list(open_array(X).attrs.get(TARGET, {}))


def read_ids(X: Any) -> tuple[list[str] | None, None]:
    """The names of the rows in the attribute 'ids', if it has one."""
    kept = open_array(X).attrs.get(IDS)
    return (None if kept is None else [str(name) for name in kept]), None
