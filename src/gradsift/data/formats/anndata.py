"""AnnData, in memory or backed by an .h5ad file; and results written back into it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from gradsift._run.extras import require
from gradsift._run.suggest import did_you_mean
from gradsift.data.formats.registry import open_source
from gradsift.data.formats.sparse import check_indices
from gradsift.data.missing import as_response
from gradsift.data.read_errors import file_name, reading
from gradsift.data.source import NamedSource, block_width, windows
from gradsift.protocols import Array, IntArray, Source

H5AD = "an AnnData (.h5ad) file"


@dataclass(frozen=True)
class Hdf5Source(Source):
    """Columns of a dense matrix, or of a CSC matrix, inside an HDF5 file."""

    X: Any

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.X.shape[0]), int(self.X.shape[1])

    def columns(self, index: IntArray) -> Array:
        if len(index) == 0:
            return np.zeros((self.shape[0], 0))
        wanted, place = np.unique(index, return_inverse=True)  # HDF5 reads in increasing order
        with reading("the .h5ad file", H5AD):
            return as_dense(self.X[:, wanted])[:, place]

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        n, p = self.shape
        for where in windows(p, block_width(n)):
            with reading("the .h5ad file", H5AD):
                block = as_dense(self.X[:, where])
            yield where, block


def as_dense(part: Any) -> Array:
    """Values of some columns; indices of sparse ones come from a file, which may be damaged."""
    if sparse.issparse(part):
        check_indices(part)
        part = part.toarray()
    return np.asarray(part, dtype=np.float64)


def open_file(X: Any) -> Any:
    """AnnData from a path, backed by the file; or itself."""
    if isinstance(X, (str, os.PathLike)):
        anndata = require("anndata", "genomics", "reading this format")
        with reading(X, H5AD):
            if not os.path.exists(os.fspath(X)):
                raise FileNotFoundError(f"no such file: {os.fspath(X)}")
            return anndata.read_h5ad(os.fspath(X), backed="r")
    return X


def open(X: Any) -> Source:
    """From a path or an AnnData; columns are named by ``var_names``.

    A backed CSR matrix is read once and turned into CSC in memory, still sparse: its file is
    stored by rows, and every block of columns would read all of it.
    """
    table = open_file(X)
    if not hasattr(table, "var_names"):
        raise TypeError(f"cannot read columns from an anndata {type(table).__name__}.")
    with reading(X, H5AD):
        values = None if nothing_in(table) else table.X
    if values is None:
        raise ValueError(f"{file_name(X)} holds no matrix X: there are no columns to read.")
    if hasattr(values, "to_memory") and getattr(values, "format", None) == "csr":
        with reading(X, H5AD):
            values = values.to_memory()
    in_file = hasattr(values, "to_memory") or type(values).__module__.startswith("h5py")
    base = Hdf5Source(values) if in_file else open_source(values)
    return NamedSource(base, table.var_names)


def nothing_in(table: Any) -> bool:
    """Whether a backed AnnData has no X; asking it for X would fail."""
    return bool(table.isbacked) and "X" not in table.file._file


def read_target(X: Any, name: str) -> Any:
    """A column of ``obs``: as it is, or with None or NaN where it is missing."""
    table = open_file(X)
    if name not in table.obs:
        raise ValueError(
            f"y={name!r}: obs has no such column (it has {list(table.obs)[:10]})."
            f"{did_you_mean(name, table.obs)}"
        )
    return as_response(np.asarray(table.obs[name]))


def stored_names(X: Any) -> list[str]:
    """The columns of ``obs``."""
    return [str(name) for name in open_file(X).obs]


def read_ids(X: Any) -> tuple[list[str], None]:
    """The names of the observations."""
    return [str(name) for name in open_file(X).obs_names], None


def annotate(adata: Any, model: Any) -> Any:
    """Write what a fitted estimator found into an AnnData.

    Parameters
    ----------
    adata : AnnData
        With the columns the model was fitted on.
    model : estimator
        Any fitted estimator of this package.

    Returns
    -------
    adata : AnnData
        The same object, with ``var["gradsift_selected"]`` (bool), ``var["gradsift_score"]``
        (importance), ``varm["gradsift_edr"]`` (directions, one per column) and
        ``obsm["X_gradsift"]`` (samples projected on them).
    """
    projected = model.transform(adata)
    if hasattr(projected, "to_numpy"):  # set_output may ask for a frame
        projected = projected.to_numpy()
    adata.var["gradsift_selected"] = model.get_support()
    adata.var["gradsift_score"] = model.feature_importances_
    adata.varm["gradsift_edr"] = np.ascontiguousarray(model.components_.T)
    adata.obsm["X_gradsift"] = projected
    return adata
