"""The correlation of each column with the response."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradsift.data import open_source
from gradsift.protocols import Array, TableLike


def correlations(X: TableLike, y: ArrayLike) -> Array:
    """Correlation of every column with the response, or with the second of two classes.

    Parameters
    ----------
    X : (n, p) array, data frame or source
        Read in blocks of columns.
    y : (n,) array
        Numbers, or labels of two classes.

    Returns
    -------
    r : (p,) array
        0 for constant columns.

    Examples
    --------
    >>> X = np.array([[1.0, 5.0, 0.0], [2.0, 5.0, 1.0], [3.0, 5.0, 0.0]])
    >>> correlations(X, [1.0, 2.0, 3.0]).round(2).tolist()
    [1.0, 0.0, 0.0]
    """
    target = as_numbers(np.asarray(y))
    target = target - target.mean()
    target /= max(float(np.linalg.norm(target)), 1e-300)
    source = open_source(X)
    out = np.zeros(source.shape[1])
    for where, block in source.blocks():
        centred = block - block.mean(axis=0)
        size = np.linalg.norm(centred, axis=0)
        varies = size > 1e-12 * np.maximum(np.abs(block).max(axis=0, initial=0.0), 1e-300)
        out[where] = np.where(varies, target @ centred / np.where(varies, size, 1.0), 0.0)
    return np.clip(out, -1.0, 1.0)


def as_numbers(y: NDArray[Any]) -> Array:
    """Numbers as they are; two classes as 0 and 1."""
    if y.dtype.kind == "f":
        return np.asarray(y, dtype=np.float64)
    classes, codes = np.unique(y.astype(str) if y.dtype == object else y, return_inverse=True)
    if y.dtype.kind in "iu" and len(classes) > 2:
        return np.asarray(y, dtype=np.float64)
    if len(classes) != 2:
        raise ValueError(
            f"y holds {len(classes)} classes: a correlation needs numbers or two classes."
        )
    return codes.astype(np.float64)
