"""Rows that belong together, as `fit(groups=...)` takes them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from gradsift._typing import Array, IntArray, Source
from gradsift.data.arrays import array_like
from gradsift.data.row_groups import group_codes
from gradsift.exceptions import FewGroupsWarning

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
