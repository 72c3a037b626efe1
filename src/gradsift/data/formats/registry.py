"""What opens as a source: by suffix for paths, by type for objects already in hand.

Each format lives in its own module, and its library is imported when such data is opened.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from scipy import sparse

from gradsift.data.arrays import array_like, refuse_lazy
from gradsift.data.plink_samples import SampleFile
from gradsift.data.responses import to_floats
from gradsift.data.source import ArraySource, Variant
from gradsift.protocols import Source

SUFFIXES = {
    ".npy": "memmap",
    ".parquet": "arrow",
    ".feather": "arrow",
    ".arrow": "arrow",
    ".zarr": "zarr",
    ".h5ad": "anndata",
    ".bed": "bed",
    ".pgen": "pgen",
    ".bgen": "bgen",
}
PACKAGES = {
    "zarr": "zarr",
    "dask": "dask",
    "anndata": "anndata",
    "pyarrow": "arrow",
}
"""Library an object comes from -> module of ours that reads it."""


def format_module(X: object) -> str | None:
    """The module that reads X, None for what is no storage format (arrays, lists, data frames)."""
    if isinstance(X, (str, os.PathLike)):
        path = os.fspath(X).rstrip("/")
        suffix = os.path.splitext(path)[1].lower()
        if suffix in SUFFIXES:
            return SUFFIXES[suffix]
        if os.path.isdir(path):
            return "arrow"  # a data set of several files
        csv = " Turn a wide CSV into one of these once, with gradsift.data.convert."
        raise ValueError(
            f"cannot tell the format of {path!r}: expected a path ending in "
            f"{', '.join(SUFFIXES)}, or a directory of Parquet files."
            + (csv if ".csv" in path or ".tsv" in path or ".txt" in path else "")
        )
    if isinstance(X, np.memmap):
        return "memmap"
    if sparse.issparse(X):
        return "sparse"
    refuse_lazy(X)
    return PACKAGES.get(type(X).__module__.split(".")[0])


def is_storage(X: object) -> bool:
    """Whether X is a source, or opens as one without becoming an array first."""
    if isinstance(X, np.ndarray) and not isinstance(X, np.memmap):
        return False
    return isinstance(X, Source) or format_module(X) is not None


def open_source(X: Any, *, exclude: Sequence[str] = ()) -> Source:
    """A source of columns from data in memory, on disk, or already open.

    Parameters
    ----------
    X : array, path or object
        NumPy arrays and memmaps, scipy.sparse matrices, pyarrow tables and data sets, Zarr arrays,
        dask arrays, AnnData, a source; or the path of a ``.npy``, ``.parquet``, ``.feather``,
        ``.arrow``, ``.zarr``, ``.h5ad``, ``.bed``, ``.pgen`` or ``.bgen`` file, or of a directory
        of Parquet files.
    exclude : list of str
        Names of columns to leave out (the response, say). Parquet and Arrow only.

    Returns
    -------
    source : Source
        With ``shape``, ``columns(index)``, ``blocks()``, and ``names(index)`` if it has names.

    Examples
    --------
    >>> import numpy as np
    >>> source = open_source(np.eye(3, dtype=np.float32))
    >>> source.shape, source.columns(np.array([2])).ravel().tolist()
    ((3, 3), [0.0, 0.0, 1.0])
    """
    if isinstance(X, np.ndarray) and not isinstance(X, np.memmap):
        X = array_like(X)
        if X.ndim != 2:
            raise ValueError(f"X has shape {X.shape}: need (n, p), a row for each sample.")
        return ArraySource(X if X.dtype.kind in "biuf" else to_floats(X, "X"))
    if isinstance(X, Source):
        return X
    module = format_module(X)
    if module is None:
        raise TypeError(
            f"cannot read columns from {type(X).__name__}: pass a NumPy array or a source (a class "
            "of your own inherits gradsift.data.Source)."
        )
    if module == "arrow":
        return reader(module).open(X, exclude=exclude)
    if exclude:
        raise ValueError(
            f"exclude={list(exclude)}: only Parquet and Arrow tables hold more than X. Leave the "
            "columns out when writing the file."
        )
    return reader(module).open(X)


def read_target(X: Any, name: str) -> Any:
    """The response stored next to the columns, by name.

    Parameters
    ----------
    X : path or object
        Parquet and Arrow: a column. AnnData: a column of ``obs``. Zarr: the response kept by
        `convert`. PLINK: ``"phenotype"`` and ``"sex"``, the last columns of the ``.fam`` file; a
        column of the ``.psam`` file, or of the ``.sample`` file next to a ``.bgen``.
    name : str

    Returns
    -------
    y : (n,) array
    """
    samples = sample_file(X)
    read = able(X, "read_target") if samples is None else samples.read
    if read is None:
        raise ValueError(
            f"y={name!r} names a column, but {type(X).__name__} data holds no response: pass the "
            "values of y."
        )
    return read(name)


def stored_names(X: Any) -> list[str]:
    """Names that `read_target` knows: of columns that are stored next to the table.

    Parameters
    ----------
    X : path or object
        AnnData: the columns of ``obs``. PLINK: ``phenotype`` and ``sex``, of the ``.fam`` file, or
        the columns of the ``.psam`` or ``.sample`` file. Zarr: the response kept by `convert`.
        Parquet and Arrow keep all columns in one table.
    """
    if (samples := sample_file(X)) is not None:
        return samples.names
    read = able(X, "stored_names")
    return [] if read is None else list(read())


def able(X: Any, what: str) -> Any:
    """A function of the module that reads X, bound to X; None where it has no such function."""
    module = None if isinstance(X, np.ndarray) else format_module(X)
    found = None if module is None else getattr(reader(module), what, None)
    return None if found is None else partial(found, X)


def sample_file(X: Any) -> SampleFile | None:
    """What is known of the samples of a file of genotypes; None for other data."""
    read = able(X, "samples")
    return None if read is None else read()


def main_target(X: Any) -> str | None:
    """The name of the response that files of genotypes keep next to them; None without any."""
    samples = sample_file(X)
    return None if samples is None else next(iter(samples.traits), None)


def variants(X: Any) -> Iterator[Variant] | None:
    """The variants of a file of genotypes, one by one; None for other data."""
    read = able(X, "variants")
    return None if read is None else read()


def read_ids(X: Any) -> tuple[list[str] | None, list[str] | None]:
    """What names the samples in storage, and PLINK's families; None where nothing does.

    Parameters
    ----------
    X : path or object
        AnnData: ``obs_names``. PLINK: the second and the first column of the ``.fam`` file. Zarr:
        the names that `convert` kept.
    """
    if (samples := sample_file(X)) is not None:
        return samples.ids
    read = able(X, "read_ids")
    return (None, None) if read is None else read()


def holds_target(X: Any) -> bool:
    """Whether the response is one of the columns, so that it must be left out of them."""
    return format_module(X) == "arrow"


def reader(module: str) -> Any:
    return import_module(f"gradsift.data.formats.{module}")
