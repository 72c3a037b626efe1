"""Missing values of columns that other columns predict: near-copies, neighbours on a chromosome.

A missing value is filled with what a ridge on the columns that go with its column predicts, where
that explains enough of the known values, each predicted from the others. The response has no part
in it, so that a column that has nothing to do with the response still has not. Columns of which
little is missing are left as they are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gradsift.data.source import ArraySource
from gradsift.protocols import Array, IntArray, Source


@dataclass(frozen=True)
class FillSettings:
    """Every number that changes what is filled, each with its reason."""

    n_predictors: int = 8
    """Columns that predict another at most; fewer where rows are few, ten for each."""
    least_explained: float = 0.2
    """Part of the variance that they explain at least; otherwise the values stay missing."""
    least_z: float = 3.0
    """Correlation, in standard errors, of a column that may predict another."""
    fill_ridge: float = 0.01
    """Penalty, as a part of the variance of a predictor."""
    least_missing: float = 0.05
    """Part of a column that is missing at least; fewer cost too little to be worth the time.
    """


FILLING = FillSettings()
MOST_VALUES, MOST_PRODUCTS = 50_000_000, 5 * 10**9
"""Values of a table, and multiplications to compare columns with all others (about a second), above
which nothing is done.
"""
AT_A_TIME = 256


def with_predicted(source: Source, weight: Array | None = None) -> Source:
    """Standardised columns, missing values that other columns predict filled; itself where that
    would be none, or where the table is too large to compare all columns with each other. Weights
    (n,) are numbers of samples.
    """
    n, p = source.shape
    if n * p > MOST_VALUES or is_whole(source):
        return source
    Z = source.columns(np.arange(p))
    columns = with_many_missing(Z, weight)
    if len(columns) == 0 or n * p * len(columns) > MOST_PRODUCTS:
        return source
    return ArraySource(fill_predicted(Z, weight))


def with_many_missing(
    Z: Array, weight: Array | None = None, settings: FillSettings = FILLING
) -> IntArray:
    """Columns of Z (n, p) of which enough is missing."""
    gaps = np.isnan(Z)
    share = gaps.mean(axis=0) if weight is None else weight @ gaps / weight.sum()
    return np.flatnonzero(share >= settings.least_missing)


def is_whole(source: Source) -> bool:
    """Whether a table in memory has no missing value; False for others, which are not read."""
    return source.array is not None and source.shape[1] > 0 and not np.isnan(source.array.min())


def fill_predicted(
    Z: Array, weight: Array | None = None, settings: FillSettings = FILLING
) -> Array:
    """A copy of standardised columns Z (n, p) in which what other columns predict is filled.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> Z = rng.normal(size=(100, 1)) + 0.3 * rng.normal(size=(100, 4))
    >>> gappy = Z.copy()
    >>> gappy[:30, 0] = np.nan
    >>> bool(np.corrcoef(fill_predicted(gappy)[:30, 0], Z[:30, 0])[0, 1] > 0.9)
    True
    """
    columns, gaps = with_many_missing(Z, weight, settings), np.isnan(Z)
    weight = np.ones(len(Z)) if weight is None else weight
    filled, out = np.where(gaps, 0.0, Z), Z.copy()
    known = (~gaps).astype(np.float64)
    for start in range(0, len(columns), AT_A_TIME):
        some = columns[start : start + AT_A_TIME]
        together = (known[:, some].T * weight) @ known
        z = np.abs((filled[:, some].T * weight) @ filled) / np.sqrt(np.maximum(together, 1.0))
        z[np.arange(len(some)), some] = 0.0
        for k, strength in zip(some.tolist(), z, strict=True):
            there = ~gaps[:, k]
            chosen = strongest(strength, float(weight @ there), settings)
            if len(chosen):
                P, x = filled[:, chosen], Z[there, k]
                predicted = predict_missing(P, x, there, weight[there], settings)
                if predicted is not None:
                    out[~there, k] = predicted
    return out


def strongest(strength: Array, n_known: float, settings: FillSettings) -> IntArray:
    """The columns that go most with another, by their correlation in standard errors."""
    most = min(settings.n_predictors, int(n_known / 10))
    likely = np.flatnonzero(strength > settings.least_z)
    return np.asarray(likely[np.argsort(-strength[likely], kind="stable")[:most]])


def predict_missing(
    P: Array, x: Array, there: NDArray[np.bool_], weight: Array, settings: FillSettings
) -> Array | None:
    """Values of a column at the rows that are not `there`, from columns P (n, k) and its values x
    at the others; None where too little is explained when each is predicted from the others.
    """
    total = float(weight.sum())
    at, mean = weight @ P[there] / total, float(weight @ x / total)
    A, r = P[there] - at, x - mean
    lever = A.T * weight
    gram = lever @ A
    gram[np.diag_indices_from(gram)] += settings.fill_ridge * total
    slope = np.linalg.solve(gram, lever @ r)
    own = np.einsum("ij,ji->i", A, np.linalg.solve(gram, A.T)) + 1.0 / total
    left = (r - A @ slope) / np.maximum(1.0 - own, 1e-9)
    if weight @ np.square(left) > (1.0 - settings.least_explained) * float(weight @ np.square(r)):
        return None
    return np.asarray(mean + (P[~there] - at) @ slope)
