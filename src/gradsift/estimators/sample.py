"""The rows of a sift, and how many independent rows those of a group are worth."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradsift.data import Scaling
from gradsift.data.arrays import array_like
from gradsift.data.responses import to_floats
from gradsift.data.row_groups import constant_in_groups, group_codes, group_means, mean_rows
from gradsift.estimators.splits import MIN_SAMPLES
from gradsift.estimators.target import Labels, Numbers
from gradsift.exceptions import (
    CountedRowsWarning,
    DependentRowsWarning,
    FewGroupsWarning,
    RepeatedRowsWarning,
)
from gradsift.numerics.repeated_rows import MOST_COLUMNS, repeat_words, repeated_rows
from gradsift.numerics.sampling import evenly_spaced
from gradsift.numerics.statistics import (
    autocorrelations,
    intraclass_correlation,
    rank_classes,
    within_classes,
)
from gradsift.protocols import Array, IntArray, Source

if TYPE_CHECKING:
    from gradsift.estimators.target import Labels, Numbers


# What `sample_weight` means: counts of rows, or how much a row counts beside the others.


MOST_RATIO = 1e12
"""Weights further apart than this would leave nothing of the lighter row but rounding."""
MOST_COPIES = 1e6
"""Larger weights are no counts of rows."""
OTHER_EVIDENCE = 1.5
"""Counts that claim so many times the evidence of relative weights, or one over it, get a warning.
"""
WeightKind = Literal["frequency", "importance"]


def check_weights(
    sample_weight: Any, X: Array | Source, kind: WeightKind = "importance"
) -> tuple[IntArray, Array | None]:
    """(rows with positive weight, their weights as numbers of samples or None if all are one).

    Weights of kind "frequency" are such numbers; those of kind "importance" only say how much a row
    counts beside the others, and are scaled by `relative_weights`.
    """
    if kind not in ("frequency", "importance"):
        raise ValueError(f"weight_kind={kind!r}: use 'frequency' or 'importance'.")
    n = X.shape[0]
    if sample_weight is None:
        return np.arange(n), None
    weight = read_weights(sample_weight, X)
    rows = np.flatnonzero(weight > 0)
    if len(rows) == 0:
        raise ValueError("all sample weights are zero: no row is left to learn from.")
    if len(rows) < MIN_SAMPLES:
        raise ValueError(
            f"only {len(rows)} sample(s) have a weight above zero, while a minimum of "
            f"{MIN_SAMPLES} is required."
        )
    weight = weight[rows]
    least, most = int(weight.argmin()), int(weight.argmax())
    if weight[least] < weight[most] / MOST_RATIO:
        raise ValueError(
            f"sample_weight[{rows[least]}] is {weight[least]:.3g} and sample_weight[{rows[most]}] "
            f"is {weight[most]:.3g}: weights may differ by a factor of {MOST_RATIO:.0e} at most. "
            "Give rows that hardly count a weight of zero."
        )
    if kind == "importance":
        weight = relative_weights(weight)
    elif weight.max() > MOST_COPIES or weight.sum() < MIN_SAMPLES:
        raise ValueError(
            f"sample_weight is taken as counts of rows, but its largest value is "
            f"{weight.max():.3g} and it sums to {weight.sum():.3g} samples. Set "
            "weight_kind='importance' for weights that say how much a row counts beside others."
        )
    return rows, None if (weight == 1.0).all() else weight


def relative_weights(weight: Array) -> Array:
    """Positive weights of any unit as numbers of samples.

    Scaled by sum w / sum w^2 they sum to Kish's effective sample size, and a weighted sum of noise
    has the variance its chi2 level takes for granted, sum w^2 = sum w. Equal weights become ones.
    """
    weight = weight / weight.max()  # squares neither overflow nor vanish
    if weight.min() == 1.0:
        return weight
    return np.asarray(weight * (weight.sum() / (weight @ weight)))


def warn_of_counts(weight: Array | None, kind: WeightKind) -> None:
    """Say so where counts of rows claim other evidence than relative weights of the same spread.

    The ratio of both is sum w^2 / sum w: one without weights, two if every row counts twice, and
    1 / n for weights that sum to one.
    """
    if weight is None or kind == "importance":
        return
    ratio = float(weight @ weight / weight.sum())
    if 1.0 / OTHER_EVIDENCE <= ratio <= OTHER_EVIDENCE:
        return
    effective = weight.sum() / ratio
    warnings.warn(
        f"sample_weight is taken as counts of rows: {weight.sum():.6g} samples in {len(weight)} "
        "rows. If it says how much a row counts beside others, as survey weights do, set "
        f"weight_kind='importance': then they are as good as {effective:.6g} samples.",
        CountedRowsWarning,
        stacklevel=3,
    )


def read_weights(sample_weight: Any, X: Array | Source) -> Array:
    """One finite number, not negative, for each row of X."""
    n = X.shape[0]
    weight = to_floats(sample_weight, "sample_weight")
    if weight.ndim == 0:
        weight = np.full(n, float(weight))
    weight = X.align_rows(weight) if isinstance(X, Source) else weight
    if weight.shape != (n,):
        raise ValueError(f"sample_weight has shape {weight.shape} but X has {n} rows: need ({n},).")
    bad = np.flatnonzero(~np.isfinite(weight) | (weight < 0))
    if len(bad):
        raise ValueError(
            f"sample_weight[{bad[0]}] is {weight[bad[0]]}: weights are finite and not negative."
        )
    return weight


# Rows that belong together, as `fit(groups=...)` takes them.


AGGREGATE = (
    ", make one row of each with gradsift.aggregate(X, y, groups) (on the command line, "
    "--aggregate mean)"
)
LEAST_GROUPS = 3
"""Fewer groups say nothing about what groups have in common."""
FEW_GROUPS = 20
"""Fewer groups, counted as groups of equal size, get a warning."""


def check_groups(
    groups: Any, X: Source, kept: IntArray, weight: Array | None = None
) -> IntArray | None:
    """The group of each kept row as a number; None where no two rows belong together. A row of
    weight 2 is two rows.
    """
    if groups is None:
        return None
    labels = np.asarray(array_like(groups, "groups"))
    codes = group_codes(X.align_rows(labels) if labels.ndim == 1 else labels, X.shape[0])[kept]
    codes = np.unique(codes, return_inverse=True)[1].astype(np.intp)
    count = int(codes.max()) + 1
    if count == len(codes) and (weight is None or weight.max() <= 1.0):
        return None
    if count < LEAST_GROUPS:
        raise ValueError(
            f"groups has {count} group(s): at least {LEAST_GROUPS} are needed to see what rows of "
            "a group have in common. For batches or populations, give their 0/1 columns, or a few "
            "principal components, in covariates instead."
        )
    return codes


def warn_of_few_groups(groups: IntArray | None, weight: Array | None, constant: bool) -> None:
    """Say so where there are too few groups for the level of the sift to hold. Rows count as often
    as their weight says; `constant`: the response never changes inside a group, so that each counts
    once.
    """
    if groups is None:
        return
    size = np.bincount(groups, weight).astype(float)
    worth = size.sum() ** 2 / float(size @ size)
    if (len(size) if constant else worth) >= FEW_GROUPS:
        return
    warnings.warn(
        f"the rows come in {len(size)} groups, worth {worth:.0f} of equal size. With fewer than "
        f"{FEW_GROUPS}, false_positives is no promise: take the selected columns as a ranking"
        f"{'' if constant else AGGREGATE}, or collect more groups.",
        FewGroupsWarning,
        stacklevel=4,
    )


def refuse_with_groups(groups: Any, what: str) -> None:
    """Tests and findings take rows for independent: refuse them where rows belong together."""
    if groups is not None:
        raise ValueError(
            f"{what} takes rows for independent, which rows of a group are not. Make one row of "
            "each group with gradsift.aggregate(X, y, groups) (on the command line, --aggregate "
            "mean), and fit to those without groups. Where each row is a group already, and counts "
            "several times, leave out groups and sample_weight."
        )


# An offset: a known part of the response that a fit starts from, such as a polygenic score.


def check_offset(offset: Any, X: Source, kept: IntArray, target: Numbers | Labels) -> Array:
    """The offset of the kept rows, (n, 1), or (n, classes) with more than two classes."""
    values = read_offset(offset)
    values = X.align_rows(values) if values.ndim else np.full(X.shape[0], float(values))
    if len(values) != X.shape[0]:
        raise ValueError(f"offset has {len(values)} rows but X has {X.shape[0]}.")
    classes = target.n_classes if isinstance(target, Labels) else 0
    return as_shift(values, classes)[kept]


def read_offset(offset: Any) -> Array:
    """An offset as numbers, none of them missing or infinite."""
    values = to_floats(offset, "offset")
    bad = np.argwhere(~np.isfinite(np.atleast_1d(values)))
    if len(bad):
        raise ValueError(
            f"offset is missing or infinite in row {bad[0][0]}: give a number for each row, or "
            "leave such rows out."
        )
    return values


def as_shift(values: Array, n_classes: int) -> Array:
    """(n, 1) for numbers and two classes, (n, classes) for more."""
    expected = n_classes if n_classes > 2 else 1
    values = values[:, None] if values.ndim == 1 else values
    if values.ndim != 2 or values.shape[1] != expected:
        what = (
            f"(n, {expected}), the scores of the classes in order"
            if expected > 1
            else "(n,), the log odds of the second class"
            if n_classes
            else "(n,)"
        )
        raise ValueError(f"offset has shape {values.shape}: need {what}.")
    return values


def offset_shift(offset: Any, n: int, expected: bool, n_classes: int) -> Array | float:
    """The offset of n new rows; 0 where the model knows none."""
    if not expected:
        if offset is not None:
            raise ValueError("offset was given, but the model was fitted without one.")
        return 0.0
    if offset is None:
        raise ValueError(
            "the model was fitted with an offset: give offset= of these rows too, or offset=0 for "
            "what the model adds to it."
        )
    values = read_offset(offset)
    if values.ndim == 0:
        return float(values)
    if len(values) != n:
        raise ValueError(f"offset has {len(values)} rows but X has {n}.")
    return as_shift(values, n_classes)


def refuse_with_offset(target: Numbers | Labels, what: str) -> None:
    """Tests and findings of labels know no offset."""
    if isinstance(target, Labels) and target.offset is not None:
        raise ValueError(
            f"{what} cannot take an offset of labels into account. Give it among the covariates "
            "instead, where its weight is estimated."
        )


# Warnings where rows repeat others, or depend on their neighbours in time or in space.
#
# The level of the sift is wrong where both the columns and what they leave of the response are
# like those of the row before. The sum of their products over the rows has
#
#     1 + 2 sum_k (autocorrelation of the column at lag k) (that of the residual at lag k)
#
# times the variance it has for independent rows. One without the other does no harm. So rows that
# were sorted by the response, or by class, are no reason for a warning: there the residual
# follows the order, and columns follow it only as far as they follow the response. That part is
# taken out of them first.


LAGS = 5
LEAST_ROWS = 30
RESIDUAL_Z, COLUMNS_Z = 2.33, 3.1
"""Standard errors (1 / sqrt n at most, for independent rows) that the first autocorrelation of the
residual and the upper quartile of those of columns have to reach: probabilities .01 and .001.
"""
MATTERS = 1.1
"""Ratio of variances from which on the level of the sift is wrong enough to say so."""
N_CLASSES = 10
"""Classes of a response of numbers, inside of which columns should not follow the order."""

SERIES_ADVICE = (
    "Pass blocks of consecutive rows that are longer than the dependence as groups, e.g. "
    "fit(X, y, groups=numpy.arange(len(y)) // 30), and hold out later rows, e.g. "
    "held_out(model, X, y, cv=sklearn.model_selection.TimeSeriesSplit())."
)
SORTED_ADVICE = (
    "The rows are sorted by class, so what changed in the course of measuring looks like a "
    "difference of classes, and shuffling the rows hides that without mending it. Pass what was "
    "measured together (the day, the plate, the batch) as covariates, or as groups where each has "
    "one class only; without a record of it, take the list for a ranking."
)


class RowOrder(NamedTuple):
    """How much rows are like the row before."""

    residual: float
    """Autocorrelation of the residual at lag 1."""
    columns: float
    """That of the upper quartile of the columns."""
    inflation: float
    """Variance of a score beside that of independent rows."""
    sure: bool

    @property
    def dependent(self) -> bool:
        return self.sure and self.inflation >= MATTERS


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
    return RowOrder(float(of_residual[0]), float(of_columns[0]), inflation, bool(sure))


def first_of_copies(A: Array) -> NDArray[np.bool_]:
    """(n,) where a row is not the same as the row before: a row that stands there several times is
    a count, as a weight is.
    """
    return np.append(True, (A[1:] != A[:-1]).any(axis=1))


def warn_of_row_order(sample: SiftSample, residual: Array, scaling: Scaling) -> None:
    """Say so where rows depend on their neighbours and no groups tell of it."""
    n, p = sample.X.shape
    if sample.groups is not None or n < LEAST_ROWS or len(residual) != n:
        return
    index = evenly_spaced(p, MOST_COLUMNS)
    codes = sample.target.codes
    if codes is None:
        codes = rank_classes(np.asarray(sample.target.values, float), min(N_CLASSES, n // 10))
    X = scaling.apply(sample.X.columns(index), index)
    rows = np.flatnonzero(first_of_copies(np.column_stack([X, residual, codes])))
    if len(rows) < LEAST_ROWS:
        return
    found = row_order(X[rows], residual[rows], codes[rows])
    if not found.dependent:
        return
    sorted_rows = sample.target.codes is not None and in_blocks(codes)
    warnings.warn(
        "rows depend on the rows before them: what the selected variables leave over has an "
        f"autocorrelation of {found.residual:.2f} from row to row, and columns of X one of "
        f"{found.columns:.2f}{' among rows of the same class' if sorted_rows else ''}. Such rows "
        "(a series in time, neighbours in space, samples measured together) hold less evidence "
        "than as many independent ones, so false_positives is no promise. "
        f"{SORTED_ADVICE if sorted_rows else SERIES_ADVICE}",
        DependentRowsWarning,
        stacklevel=4,
    )


def warn_of_repeats(sample: SiftSample) -> None:
    """Say so where rows are repeated measurements, or copies, and no groups tell of it."""
    n, p = sample.X.shape
    if sample.groups is not None:
        return
    found = repeated_rows(sample.X.columns(evenly_spaced(p, MOST_COLUMNS)))
    if found:
        pair = [f"row {k}" for k in found[0]]
        words = (
            f"{repeat_words(found, pair, n)} Pass groups= with one label for all rows of a sample"
        )
        warnings.warn(f"{words}; leave copies out.", RepeatedRowsWarning, stacklevel=4)


def in_blocks(codes: IntArray) -> bool:
    """Whether rows are sorted by class, or nearly so: two runs for each class at most."""
    runs = 1 + int((codes[1:] != codes[:-1]).sum())
    return runs <= 2 * len(np.unique(codes))


class SiftSample(NamedTuple):
    """A checked table: rows that count, their response, weights, groups and covariates."""

    X: Source
    target: Numbers | Labels
    weight: Array | None
    groups: IntArray | None = None
    covariates: Array | None = None
    """(n, k) columns of mean zero that are adjusted for."""

    @property
    def one_per_group(self) -> bool:
        """Whether the response never changes inside a group: then the groups are the rows."""
        return self.groups is not None and constant_in_groups(self.target.values, self.groups)

    @property
    def extra(self) -> list[int]:
        """Numbers of the columns of covariates, which come after those of the table."""
        p = self.X.shape[1]
        return list(range(p, p + (0 if self.covariates is None else self.covariates.shape[1])))

    def independent(self) -> SiftSample:
        """The rows that the sift compares: themselves, or the means of their groups."""
        if self.groups is None or not self.one_per_group:
            return self
        first = np.unique(self.groups, return_index=True)[1]
        X = mean_rows(self.X, self.groups, self.weight)
        C = self.covariates
        means = None if C is None else group_means(self.groups, self.weight, C)
        return SiftSample(X, self.target.take(first), None, None, means)


def likeness(Z: Array, groups: IntArray, weight: Array | None = None) -> float:
    """Mean intraclass correlation of columns (n, k), of rows that count so many times."""
    labels = np.unique(groups, return_inverse=True)[1]  # of many rows, some groups were not drawn
    counts = np.ones(len(groups)) if weight is None else weight
    size = np.bincount(labels, counts).astype(float)
    count, total = len(size), float(size.sum())
    if total <= count or count < 2 or Z.shape[1] == 0:
        return 0.0
    means = np.stack([np.bincount(labels, counts * z) for z in Z.T], axis=1) / size[:, None]
    between = size @ np.square(means - counts @ Z / total) / (count - 1)
    within = counts @ np.square(Z - means[labels]) / (total - count)
    return float(intraclass_correlation(between, within, size).mean())


def worth_of_rows(weight: Array | None, groups: IntArray, correlation: float) -> Array:
    """Weights of rows in the refit: m rows of a group count as m / (1 + (m - 1) correlation), with
    the product of the intraclass correlations of the noise and of the columns (Moulton's factor).
    Rows whose columns change inside a group therefore count for more.
    """
    counts = np.ones(len(groups)) if weight is None else weight
    size = np.bincount(groups, counts)[groups]
    return np.asarray(counts / (1.0 + np.maximum(size - 1.0, 0.0) * correlation))
