"""One table in every storage form that estimators take."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anndata
import dask.array as da
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import zarr
from scipy import sparse


def names_of(X: np.ndarray) -> list[str]:
    return [f"x{k}" for k in range(X.shape[1])]


def mapped(X: np.ndarray) -> np.ndarray:
    """A memory map whose file has no name any more, so that nothing is left to remove."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.npy"
        np.save(path, X)
        return np.load(path, mmap_mode="r")


def zarr_array(X: np.ndarray) -> Any:
    stored = zarr.create_array(
        zarr.storage.MemoryStore(),
        shape=X.shape,
        chunks=(len(X), max(4, X.shape[1] // 3)),
        dtype=X.dtype,
    )
    stored[:] = X
    return stored


FORMS: dict[str, Callable[[np.ndarray], Any]] = {
    "array": lambda X: X,
    "array by columns": np.asfortranarray,
    "strided array": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "lists": lambda X: X.tolist(),
    "pandas": lambda X: pd.DataFrame(X, columns=names_of(X)),
    "polars": lambda X: pl.DataFrame(X, schema=names_of(X)),
    "csr": sparse.csr_array,
    "csc": sparse.csc_matrix,
    "coo": sparse.coo_array,
    "memmap": mapped,
    "arrow": lambda X: pa.table(dict(zip(names_of(X), np.ascontiguousarray(X.T)))),
    "zarr": zarr_array,
    "dask": lambda X: da.from_array(X, chunks=(max(1, len(X) // 2), max(3, X.shape[1] // 3))),
    "anndata": lambda X: anndata.AnnData(
        X,
        obs=pd.DataFrame(index=[f"s{k}" for k in range(len(X))]),
        var=pd.DataFrame(index=names_of(X)),
    ),
}
