"""Warnings where rows repeat others, or depend on their neighbours in time or in space.

Problem: the level of the sift assumes independent rows. It is wrong where both a column x (n,) and
the residual r (n,) of the response are autocorrelated: the score sum_i x_i r_i then has

    1 + 2 sum_k (autocorrelation of the column at lag k) (that of the residual at lag k)

times the variance that it has for independent rows (Bartlett 1935). If only one of them is
autocorrelated, the level holds. Rows sorted by the response, or by class, therefore need no
warning: columns follow that order only through the response. For this reason autocorrelations of
columns are computed within classes of rows with nearly the same response.

References
----------
:cite:`bartlett-1935`
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gradsift._run.warn import warn_user
from gradsift.data import Scaling
from gradsift.estimators.sample import Sample
from gradsift.exceptions import DependentRowsWarning, RepeatedRowsWarning
from gradsift.numerics.sampling import MOST_COLUMNS, evenly_spaced, repeat_words, repeated_rows
from gradsift.numerics.statistics import autocorrelations, rank_classes, within_classes
from gradsift.protocols import Array, IntArray

LAGS = 5
"""Words: autocorrelations that the warning looks at."""
LEAST_ROWS = 30
"""Words: no warning is given for fewer rows."""
RESIDUAL_Z, COLUMNS_Z = 2.33, 3.1
"""Words: standard errors (1 / sqrt n at most, for independent rows) that the first autocorrelation
of the residual and the upper quartile of those of columns have to reach for a warning:
probabilities .01 and .001.
"""
MATTERS = 1.1
"""Words: ratio of variances from which on a warning is given."""
N_CLASSES = 10
"""Words: classes of rows with nearly the same response, where it is numbers; only the warning uses
them.
"""
SORTED = 0.9
"""Words: part of the steps from row to row that rise, or fall, where rows were sorted by the
response, perhaps inside of blocks; half of them do in other orders.
"""

SERIES_ADVICE = (
    "Pass blocks of consecutive rows that are longer than the dependence as groups, e.g. "
    "fit(X, y, groups=numpy.arange(len(y)) // 30), and hold out later rows, e.g. "
    "held_out(model, X, y, cv=sklearn.model_selection.TimeSeriesSplit())."
)
SORTED_ADVICE = (
    "The rows are sorted by class, so what changed in the course of measuring appears as a "
    "difference of classes, and shuffling the rows hides that without mending it. Pass what was "
    "measured together (the day, the plate, the batch) as covariates, or as groups where each has "
    "one class only; without a record of it, take the list for a ranking."
)


class RowOrder(NamedTuple):
    """Autocorrelations from row to row, and by how much they increase the variance of a score."""

    residual: float
    """Autocorrelation of the residual at lag 1."""
    columns: float
    """That of the upper quartile of the columns."""
    inflation: float
    """Variance of a score over that of independent rows."""
    dependent: bool
    """Whether both are beyond what chance gives, and matter."""


def row_order(X: Array, residual: Array, classes: IntArray) -> RowOrder:
    """How rows depend on their neighbours.

    Parameters
    ----------
    X : (n, m) array
        Some columns.
    residual : (n, q) array
    classes : (n,) int array
        Rows with nearly the same response.
    """
    n = len(X)
    size = np.square(residual - residual.mean(axis=0)).sum(axis=0)
    of_residual = autocorrelations(residual, LAGS) @ (size / max(float(size.sum()), 1e-300))
    of_columns = np.quantile(autocorrelations(within_classes(X, classes), LAGS), 0.75, axis=1)
    sure = of_residual[0] * np.sqrt(n) > RESIDUAL_Z and of_columns[0] * np.sqrt(n) > COLUMNS_Z
    inflation = 1.0 + 2.0 * float(np.maximum(of_residual, 0.0) @ np.maximum(of_columns, 0.0))
    dependent = bool(sure and inflation >= MATTERS)
    return RowOrder(float(of_residual[0]), float(of_columns[0]), inflation, dependent)


def warn_of_row_order(sample: Sample, residual: Array, scaling: Scaling) -> None:
    """Warn if rows without groups depend on their neighbours."""
    n, p = sample.source.shape
    if n < LEAST_ROWS or len(residual) != n:
        return
    index = evenly_spaced(p, MOST_COLUMNS)
    codes = sample.response.codes
    if codes is None:
        values = np.asarray(sample.response.values, float)
        values = values if values.ndim == 1 else values[:, 0]
        if is_sorted(values):  # the order of the residual is that of the response
            return
        codes = rank_classes(values, min(N_CLASSES, n // 10))
    X = scaling.apply(sample.source.columns(index), index)
    # equal rows in a row are taken as a count, as a weight is, and not as dependence
    every = np.column_stack([X, residual, codes])
    rows = np.flatnonzero(np.append(True, (every[1:] != every[:-1]).any(axis=1)))
    if len(rows) < LEAST_ROWS:
        return
    found = row_order(X[rows], residual[rows], codes[rows])
    if not found.dependent:
        return
    sorted_rows = sample.response.codes is not None and in_blocks(codes)
    warn_user(
        "rows depend on the rows before them: the residual of the selected variables has an "
        f"autocorrelation of {found.residual:.2f} from row to row, and columns of X have one of "
        f"{found.columns:.2f}{' among rows of the same class' if sorted_rows else ''}. Such rows "
        "(a series in time, neighbours in space, samples measured together) hold less evidence "
        "than as many independent ones, so false_positives is no promise. "
        f"{SORTED_ADVICE if sorted_rows else SERIES_ADVICE}",
        DependentRowsWarning,
    )


def is_sorted(values: Array) -> bool:
    """Whether rows are in the order of these values (n,), or are so in each of a few blocks.

    Examples
    --------
    >>> is_sorted(np.tile(np.arange(20.0), 3)), is_sorted(np.arange(60.0) % 7 * np.arange(60.0) % 5)
    (True, False)
    """
    steps = np.diff(values)
    rising = float(np.mean(steps[steps != 0.0] > 0.0)) if steps.any() else 0.5
    return max(rising, 1.0 - rising) >= SORTED


def warn_of_repeats(sample: Sample) -> None:
    """Warn if rows without groups are repeated measurements or copies."""
    n, p = sample.source.shape
    found = repeated_rows(sample.source.columns(evenly_spaced(p, MOST_COLUMNS)))
    if found:
        pair = [f"row {k}" for k in found[0]]
        words = (
            f"{repeat_words(found, pair, n)} Pass groups= with one label for all rows of a sample"
        )
        warn_user(f"{words}; leave copies out.", RepeatedRowsWarning)


def in_blocks(codes: IntArray) -> bool:
    """Whether rows are sorted by class, or nearly so: two runs for each class at most."""
    runs = 1 + int((codes[1:] != codes[:-1]).sum())
    return runs <= 2 * len(np.unique(codes))
