"""The checked input of a fit: rows of positive weight, their response, groups and covariates.

`make_sample` (in `sift`) makes a `Sample` from the arguments of `fit`. It is the only input of the
steps of a fit.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from gradsift._run.warn import warn_user
from gradsift.data.arrays import array_like
from gradsift.data.responses import to_floats
from gradsift.data.row_groups import constant_in_groups, group_codes, group_means, mean_rows
from gradsift.estimators.columns import ColumnMap
from gradsift.estimators.covariates import Covariates
from gradsift.estimators.splits import MIN_SAMPLES
from gradsift.exceptions import CountedRowsWarning, FewGroupsWarning
from gradsift.numerics.statistics import intraclass_correlation
from gradsift.protocols import Array, IntArray, Source
from gradsift.responses import Response

WeightKind = Literal["frequency", "importance"]


@dataclass(frozen=True, eq=False)
class Sample:
    """A checked table: rows of positive weight, their response, groups and covariates.

    Attributes
    ----------
    source : Source
        Encoded columns (n, p) of the rows that count; values are checked as they are read.
    response : Response
    weight : (n,) array or None
        Numbers of samples.
    groups : (n,) int array or None
        Rows that belong together.
    covariates : (n, k) array or None
        Columns of mean zero that are adjusted for.
    columns : ColumnMap
    covariate_map : Covariates or None
        How covariates became columns.
    learned : dict
        Fitted attributes that follow from the input alone: the number and names of the columns, the
        classes, whether there are groups and an offset.
    """

    source: Source
    response: Response
    weight: Array | None
    groups: IntArray | None
    covariates: Array | None
    columns: ColumnMap
    covariate_map: Covariates | None = None
    learned: dict[str, Any] = field(default_factory=dict)

    @property
    def one_per_group(self) -> bool:
        """Whether the response never changes inside a group: then the groups are the rows."""
        return self.groups is not None and constant_in_groups(self.response.values, self.groups)

    def independent(self) -> Self:
        """The rows that the sift compares: themselves, or the means of their groups."""
        if self.groups is None or not self.one_per_group:
            return self
        first = np.unique(self.groups, return_index=True)[1]
        C = self.covariates
        return replace(
            self,
            source=mean_rows(self.source, self.groups, self.weight),
            response=self.response.take(first),
            weight=None,
            groups=None,
            covariates=None if C is None else group_means(self.groups, self.weight, C),
        )

    def refuse(self, what: str, *, groups: bool = False, changing: bool = False) -> None:
        """Refuse what tests and findings cannot take into account: an offset of labels, `groups` of
        rows, or groups inside of which the response is `changing`.
        """
        if self.response.codes is not None and not self.response.exchangeable:
            raise ValueError(
                f"{what} cannot take an offset of labels into account. Give it among the "
                "covariates instead, where its weight is estimated."
            )
        if groups:
            refuse_with_groups(self.groups, what)
        if changing and not self.one_per_group:
            refuse_with_groups(self.groups, f"{what} of a response that differs inside of a group")


# Sample weights: counts of rows, or weights relative to those of other rows.

MOST_RATIO = 1e12
"""Rounding: largest ratio of two weights; beyond it, the lighter row is lost."""
MOST_COPIES = 1e6
"""Words: largest weight that can be a count of rows; larger ones are refused."""
OTHER_EVIDENCE = 1.5
"""Words: a warning is given where counts of rows mean this many times as many samples as relative
weights would, or as few as one over it.
"""


def check_weights(
    sample_weight: ArrayLike | None, X: Array | Source, kind: WeightKind = "importance"
) -> tuple[IntArray, Array | None]:
    """(rows with positive weight, their weights as numbers of samples or None if all are one).

    Weights of kind "frequency" are such numbers; those of kind "importance" only say how much a row
    counts relative to the others, and are scaled by `relative_weights`.
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
            "weight_kind='importance' for weights that only compare rows with each other."
        )
    return rows, None if (weight == 1.0).all() else weight


def relative_weights(weight: Array) -> Array:
    """Positive weights of any unit as numbers of samples.

    Scaled by sum w / sum w^2 they sum to the effective sample size (Kish, Survey Sampling, 1965),
    and a weighted sum of noise has the variance that the chi-square levels of the sift assume,
    sum w^2 = sum w. Equal weights become ones.
    """
    weight = weight / weight.max()  # squares neither overflow nor vanish
    if weight.min() == 1.0:
        return weight
    return np.asarray(weight * (weight.sum() / (weight @ weight)))


def warn_of_counts(weight: Array) -> None:
    """Warn where counts of rows mean many more, or fewer, samples than relative weights would.

    The ratio of both is sum w^2 / sum w: one without weights, two if every row counts twice, and
    1 / n for weights that sum to one.
    """
    ratio = float(weight @ weight / weight.sum())
    if 1.0 / OTHER_EVIDENCE <= ratio <= OTHER_EVIDENCE:
        return
    effective = weight.sum() / ratio
    warn_user(
        f"sample_weight is taken as counts of rows: {weight.sum():.6g} samples in {len(weight)} "
        "rows. If it says how much a row counts relative to others, as survey weights do, set "
        f"weight_kind='importance': then they are as good as {effective:.6g} samples.",
        CountedRowsWarning,
    )


def read_weights(sample_weight: ArrayLike | None, X: Array | Source) -> Array:
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
"""Theory: fewer groups do not allow an estimate of the variance between groups."""
FEW_GROUPS = 20
"""Words: a warning is given below this effective number of groups, that of groups of equal size."""


def check_groups(
    groups: ArrayLike, X: Source, kept: IntArray, weight: Array | None = None
) -> IntArray | None:
    """The group of each kept row as a number; None where no two rows belong together. A row of
    weight 2 is two rows.
    """
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


def warn_of_few_groups(groups: IntArray, weight: Array | None, constant: bool) -> None:
    """Warn where there are too few groups for the level of the sift to hold. `weight` are counts of
    rows; `constant`: the response never changes inside a group, so that each group counts once.
    """
    size = np.bincount(groups, weight).astype(float)
    effective = size.sum() ** 2 / float(size @ size)
    if (len(size) if constant else effective) >= FEW_GROUPS:
        return
    warn_user(
        f"the rows come in {len(size)} groups, as good as {effective:.0f} of equal size. With "
        f"fewer than {FEW_GROUPS}, false_positives is no promise: take the selected columns as a "
        f"ranking{'' if constant else AGGREGATE}, or collect more groups.",
        FewGroupsWarning,
    )


def refuse_with_groups(groups: ArrayLike | None, what: str) -> None:
    """Refuse groups of rows, because tests and findings assume independent rows."""
    if groups is not None:
        raise ValueError(
            f"{what} assumes independent rows, which rows of a group are not. Make one row of "
            "each group with gradsift.aggregate(X, y, groups) (on the command line, --aggregate "
            "mean), and fit to those without groups. Where each row is a group already, and counts "
            "several times, leave out groups and sample_weight."
        )


# Offsets: a known part of the response, such as a polygenic score, with a coefficient of one.


def check_exposure(exposure: ArrayLike, family: str) -> Array:
    """The part of the log mean of counts that their exposure has, (n,) or one number."""
    if family == "gaussian":
        raise ValueError("exposure is for counts: pass family='poisson' or 'negative-binomial'.")
    units = to_floats(exposure, "exposure")
    if not (np.isfinite(units) & (units > 0.0)).all():
        raise ValueError("exposure is a positive number for each row.")
    return np.asarray(np.log(units))


def check_offset(offset: ArrayLike) -> Array:
    """An offset as numbers, none of them missing or infinite."""
    values = to_floats(offset, "offset")
    bad = np.argwhere(~np.isfinite(np.atleast_1d(values)))
    if len(bad):
        raise ValueError(
            f"offset is missing or infinite in row {bad[0][0]}: give a number for each row, or "
            "leave such rows out."
        )
    return values


def with_known_part(
    response: Response,
    X: Source,
    kept: IntArray,
    offset: ArrayLike | None,
    exposure: ArrayLike | None,
    family: str,
) -> Response:
    """The response of the kept rows, given their exposure and their offset."""
    parts, n = [], X.shape[0]
    if exposure is not None:
        parts.append(("exposure", check_exposure(exposure, family)))
    if offset is not None:
        parts.append(("offset", check_offset(offset)))
    for what, values in parts:
        values = X.align_rows(values) if values.ndim else np.full(n, float(values))
        shift = np.asarray(as_shift(values, n, response.offset_columns, what))
        response = response.given(shift[kept])
    return response


def as_shift(values: Array, n: int, n_columns: int, what: str = "offset") -> Array | float:
    """An offset or a log exposure of n rows, in the columns of the link scale: (n, q), or one
    number.
    """
    if values.ndim == 0:
        return float(values)
    if len(values) != n:
        raise ValueError(f"{what} has {len(values)} rows but X has {n}.")
    values = values[:, None] if values.ndim == 1 else values
    if values.ndim != 2 or values.shape[1] != n_columns:
        several = f"(n, {n_columns}), one column for each class or outcome in order"
        one = "(n,), a part of y or of the log odds of the second class"
        raise ValueError(
            f"offset has shape {values.shape}: need {several if n_columns > 1 else one}."
        )
    return values


def column_correlation(Z: Array, groups: IntArray, weight: Array | None = None) -> float:
    """Mean intraclass correlation of columns Z (n, k); `weight` are counts of rows."""
    labels = np.unique(groups, return_inverse=True)[1]  # a draw of rows may leave out groups
    counts = np.ones(len(groups)) if weight is None else weight
    size = np.bincount(labels, counts).astype(float)
    count, total = len(size), float(size.sum())
    if total <= count or count < 2 or Z.shape[1] == 0:
        return 0.0
    means = np.stack([np.bincount(labels, counts * z) for z in Z.T], axis=1) / size[:, None]
    between = size @ np.square(means - counts @ Z / total) / (count - 1)
    within = counts @ np.square(Z - means[labels]) / (total - count)
    return float(intraclass_correlation(between, within, size).mean())


def effective_weights(weight: Array | None, groups: IntArray, correlation: float) -> Array:
    """Weights (n,) of rows in the refit: m rows of a group count as m / (1 + (m - 1) correlation).

    `correlation` is the product of the intraclass correlations of the noise and of the columns
    (Moulton, Random group effects and the precision of regression estimates, Journal of
    Econometrics 1986): rows whose columns change inside a group count for more.
    """
    counts = np.ones(len(groups)) if weight is None else weight
    size = np.bincount(groups, counts)[groups]
    return np.asarray(counts / (1.0 + np.maximum(size - 1.0, 0.0) * correlation))
