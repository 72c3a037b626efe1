"""What `sample_weight` means: counts of rows, or how much a row counts beside the others."""

from __future__ import annotations

import warnings
from typing import Any, Literal

import numpy as np

from gradsift._typing import Array, IntArray, Source
from gradsift.data.responses import to_floats
from gradsift.exceptions import CountedRowsWarning
from gradsift.trust.splits import MIN_SAMPLES

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
