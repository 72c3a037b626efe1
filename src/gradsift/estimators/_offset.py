"""An offset: a known part of the response that a fit starts from, such as a polygenic score."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradsift._typing import Array, IntArray, Source
from gradsift.data.responses import to_floats
from gradsift.estimators._sift_target import Labels, Numbers


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
