"""Which rows a model was fitted to, as fingerprints: enough to know them again, not to read."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from gradsift.data.slices import take_columns
from gradsift.estimators.validation import used_columns
from gradsift.protocols import IntArray

MORE_COLUMNS = 32
"""Columns other than those that the model uses, so that rows that agree in a few stay apart."""


@dataclass(frozen=True, eq=False)
class Training:
    """The rows of a fit.

    Attributes
    ----------
    columns : (c,) int array
        Columns that the fingerprints cover, besides the target.
    digests : (n,) int array
        One per row, sorted.
    """

    columns: NDArray[np.int64]
    digests: NDArray[np.int64]

    def unseen(self, X: Any, y: Any) -> NDArray[np.bool_]:
        """Which rows of a table are not rows of the fit."""
        return ~np.isin(row_digests(X, y, self.columns), self.digests)


def record_training(model: BaseEstimator, X: Any, y: Any) -> Training:
    """The fingerprints of the rows that a model was fitted to.

    Examples
    --------
    >>> from gradsift import GradientSiftRegressor
    >>> X = np.random.default_rng(0).normal(size=(60, 5))
    >>> y = X[:, 1]
    >>> training = record_training(GradientSiftRegressor().fit(X[:40], y[:40]), X[:40], y[:40])
    >>> int(training.unseen(X, y).sum())
    20
    """
    columns = np.union1d(used_columns(model), best_unselected(model, MORE_COLUMNS))
    digests = np.sort(row_digests(X, y, columns))
    return Training(columns.astype(np.int64), digests)


def row_digests(X: Any, y: Any, columns: IntArray) -> NDArray[np.int64]:
    """A number for each row that depends on its target and on every bit of these columns."""
    values = np.ascontiguousarray(take_columns(X, np.asarray(columns, dtype=np.intp)))
    values = np.where(np.isnan(values), np.nan, values + 0.0)  # one NaN, one zero
    labels = np.asarray(y)
    texts = labels.astype(str) if labels.dtype.kind not in "fV" else map(repr, labels.tolist())
    found = [
        blake2b(row.tobytes() + text.encode(), digest_size=8).digest()
        for row, text in zip(values, texts, strict=True)
    ]
    return np.frombuffer(b"".join(found), dtype="<i8").astype(np.int64)


def best_unselected(model: BaseEstimator, most: int) -> IntArray:
    """Columns that were not selected, best ranked first, at most `most` of them."""
    support = model.get_support()
    # ranks are 1 .. p: the ones asked for lie among the first, whatever the number of columns
    near = np.flatnonzero(~support & (model.ranking_ <= most + support.sum()))
    return np.asarray(near[np.argsort(model.ranking_[near], kind="stable")][:most])
