"""The one door: user input in, trusted arrays out, errors that say what, where and what to do."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from gradsift._typing import Array, IntArray

MIN_SAMPLES = 3


def column_names(X: Any) -> list[str] | None:
    """Names of the columns of a data frame, None for arrays."""
    columns = getattr(X, "columns", None)
    return None if columns is None or callable(columns) else [str(c) for c in columns]


def check_table(X: Any) -> None:
    """Refuse what no conversion would explain: repeated names, columns of text."""
    names = column_names(X)
    if names is None:
        if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "OUT":
            for column, values in enumerate(X.T):
                _check_text(column, values)
        return
    repeated = [f"{name!r} ({count} times)" for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise ValueError(
            f"column names are not unique: {', '.join(repeated[:5])}. Rename the columns, or pass "
            "the values as an array."
        )
    for name in X.columns:
        values = np.asarray(X[name])
        if values.dtype.kind in "OUST":
            _check_text(name, values)
        elif values.dtype.kind in "mM":
            raise ValueError(
                f"column {name!r} holds dates or times. Drop it, or turn it into numbers first, "
                "e.g. days since a start."
            )


def _check_text(name: object, values: Any) -> None:
    for row, value in enumerate(values):
        if isinstance(value, str):
            try:
                float(value)
            except ValueError:
                raise ValueError(
                    f"column {name!r} holds text (row {row}: {str(value)!r}). Drop it, or encode "
                    "it as numbers first, e.g. with sklearn.preprocessing.OneHotEncoder."
                ) from None


def check_finite(X: Array, names: list[str] | None = None) -> None:
    """Refuse NaN and infinity, naming the columns."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(X.sum()):  # one pass, no temporary: the usual case
            return
    bad = ~np.isfinite(X)
    if not bad.any():
        return
    columns = np.flatnonzero(bad.any(axis=0))
    rows = np.flatnonzero(bad[:, columns[0]])
    shown = ", ".join(_name(c, names) for c in columns[:5]) + (", ..." if len(columns) > 5 else "")
    value = X[rows[0], columns[0]]
    what = "NaN" if np.isnan(value) else "infinity (inf)"
    raise ValueError(
        f"Input X contains {what}: {bad.sum()} bad value(s) (NaN or infinity) in {len(columns)} "
        f"column(s): {shown}; the first in row {rows[0]}. Drop those rows or columns, or fill "
        "them, e.g. with sklearn.impute.SimpleImputer."
    )


def _name(column: int, names: list[str] | None) -> str:
    return f"column {column}" if names is None else repr(names[column])


def check_fit_X(estimator: Any, X: Any, y: Any, **kwargs: Any) -> tuple[Array, Any]:
    """X as a float array (C order, float64), y as scikit-learn checks it."""
    check_table(X)
    names = column_names(X)
    X, y = validate_data(
        estimator, X, y, dtype=np.float64, order="C",
        ensure_all_finite=False, ensure_min_samples=MIN_SAMPLES, **kwargs,
    )  # fmt: skip
    check_finite(X, names)
    return X, y


def check_new_X(estimator: Any, X: Any) -> Array:
    """X for a fitted estimator."""
    check_table(X)
    names = column_names(X)
    X = validate_data(estimator, X, dtype=np.float64, ensure_all_finite=False, reset=False)
    check_finite(X, names)
    return X


def check_numbers(y: Array) -> Array:
    """A response that varies."""
    y = np.asarray(y, dtype=float)
    if np.ptp(y) == 0.0:
        raise ValueError(
            f"y is constant (all {len(y)} values are {y[0]:g}): there is no change to explain."
        )
    return y


def check_labels(y: Array) -> tuple[Array, IntArray]:
    """(classes, codes 0 .. C-1), refusing fewer than two classes."""
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"y holds one class only ({classes[0]!r}, {len(y)} times): a classifier needs at least "
            "two classes."
        )
    return classes, codes


def check_weights(sample_weight: Any, X: Array) -> tuple[IntArray, Array | None]:
    """(rows with positive weight, their weights or None when no weights were given)."""
    if sample_weight is None:
        return np.arange(len(X)), None
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.ndim == 0:
        weight = np.full(len(X), float(weight))
    if weight.shape != (len(X),):
        raise ValueError(
            f"sample_weight has shape {weight.shape} but X has {len(X)} rows: need ({len(X)},)."
        )
    bad = np.flatnonzero(~np.isfinite(weight) | (weight < 0))
    if len(bad):
        raise ValueError(
            f"sample_weight[{bad[0]}] is {weight[bad[0]]}: weights are finite and not negative."
        )
    rows = np.flatnonzero(weight > 0)
    if len(rows) == 0:
        raise ValueError("all sample weights are zero: no row is left to learn from.")
    if len(rows) < MIN_SAMPLES:
        raise ValueError(
            f"only {len(rows)} sample(s) have a weight above zero, while a minimum of "
            f"{MIN_SAMPLES} is required."
        )
    return rows, weight[rows]


def check_columns(columns: Any, n_features: int, names: Array | None, parameter: str) -> IntArray:
    """Column numbers from a list of numbers or names, sorted."""
    if columns is None:
        return np.zeros(0, dtype=int)
    known = {} if names is None else {str(name): k for k, name in enumerate(names)}
    found = []
    for column in [columns] if isinstance(columns, str) else columns:
        if isinstance(column, str):
            if column not in known:
                what = "X has no column names" if names is None else "no column has that name"
                raise ValueError(f"{parameter} names {column!r}, but {what}.")
            found.append(known[column])
        elif 0 <= int(column) < n_features:
            found.append(int(column))
        else:
            raise ValueError(
                f"{parameter} holds column {column}, but the columns are 0 to {n_features - 1}."
            )
    return np.unique(np.array(found, dtype=int))
