"""The one door: user input in, trusted arrays out, errors that say what, where and what to do."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from gradsift._typing import Array, IntArray, Source
from gradsift.data import ArraySource, checked, is_storage, open_source, read_target, source_names
from gradsift.data.finite import all_good, labels_of, refuse
from gradsift.data.opening import holds_target

MIN_SAMPLES = 3
LARGEST = 1e70
"""Fourth powers of a response beyond this, or that varies by less than one over it, are lost."""
MOST_NAMES = 1_000_000
"""Names are kept up to so many columns; beyond, ask the source for those you need."""


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


def check_finite(X: Array, names: list[str] | None = None, *, allow_missing: bool = False) -> None:
    """Refuse NaN (unless it will be filled) and infinity, naming the columns."""
    if not all_good(X, allow_missing):

        def label(columns: IntArray) -> list[str]:
            return labels_of(columns, names and [names[c] for c in columns])

        refuse(ArraySource(X), label, allow_missing)


def check_missing(estimator: Any) -> str:
    """How the estimator treats missing values: 'error' or 'mean'."""
    missing = getattr(estimator, "missing", "error")
    if missing not in ("error", "mean"):
        raise ValueError(
            f"missing={missing!r}: use 'error' to refuse missing values, or 'mean' to put the "
            "column's mean in their place."
        )
    return str(missing)


def check_fit_X(estimator: Any, X: Any, y: Any, **kwargs: Any) -> tuple[Source, Any]:
    """X as a source of columns, y as scikit-learn checks it.

    Arrays and data frames become a float64 array (C order). What is stored otherwise stays where
    it is, and is looked at as it is read. A string y names the response inside such data.
    """
    missing = check_missing(estimator)
    if is_storage(X):
        source, y = open_with_target(X, y)
        check_shape(source, type(estimator).__name__)
        y = validate_data(estimator, "no_validation", y, **kwargs)
        check_lengths(source, y)
        remember_columns(estimator, source)
        return checked(source, missing), y
    check_table(X)
    names = column_names(X)
    X, y = validate_data(
        estimator, X, y, dtype=np.float64, order="C",
        ensure_all_finite=False, ensure_min_samples=MIN_SAMPLES, **kwargs,
    )  # fmt: skip
    check_finite(X, names, allow_missing=missing == "mean")
    return ArraySource(X), y


def open_with_target(X: Any, y: Any) -> tuple[Source, Any]:
    """The source, and its response where y is a name."""
    if not isinstance(y, str):
        return open_source(X), y
    values = read_target(X, y)
    return open_source(X, exclude=[y] if holds_target(X) else []), values


def check_shape(source: Source, name: str) -> None:
    """Enough rows and columns, in scikit-learn's words."""
    for count, least, what in zip(source.shape, (MIN_SAMPLES, 1), ("sample", "feature")):
        if count < least:
            raise ValueError(
                f"Found array with {count} {what}(s) (shape={source.shape}) while a minimum of "
                f"{least} is required by {name}."
            )


def check_lengths(source: Source, y: Any) -> None:
    if len(y) != source.shape[0]:
        raise ValueError(
            "Found input variables with inconsistent numbers of samples: "
            f"{[source.shape[0], len(y)]}"
        )


def remember_columns(estimator: Any, source: Source) -> None:
    """n_features_in_, and feature_names_in_ where there are names and not too many."""
    estimator.n_features_in_ = source.shape[1]
    names = source_names(source) if source.shape[1] <= MOST_NAMES else None
    if names is not None:
        repeated = [name for name, count in Counter(names).items() if count > 1]
        if repeated:
            raise ValueError(f"column names are not unique: {repeated[:5]}. Rename the columns.")
        estimator.feature_names_in_ = np.array(names, dtype=object)


def check_new_X(estimator: Any, X: Any) -> Source:
    """X for a fitted estimator; of data that is stored elsewhere only what is read is checked."""
    missing = check_missing(estimator)
    if is_storage(X):
        source = open_source(X)
        check_same_columns(estimator, source)
        return checked(source, missing)
    check_table(X)
    names = column_names(X)
    X = validate_data(estimator, X, dtype=np.float64, ensure_all_finite=False, reset=False)
    check_finite(X, names, allow_missing=missing == "mean")
    return ArraySource(X)


def check_same_columns(estimator: Any, source: Source) -> None:
    """The columns of the fit, in number and, where both have names, by name."""
    expected = estimator.n_features_in_
    if source.shape[1] != expected:
        raise ValueError(
            f"X has {source.shape[1]} features, but {type(estimator).__name__} is expecting "
            f"{expected} features as input."
        )
    known = getattr(estimator, "feature_names_in_", None)
    names = None if known is None else source_names(source)
    if known is not None and names is not None:
        other = np.flatnonzero(np.array(names, dtype=object) != known)
        if len(other):
            raise ValueError(
                "The feature names should match those that were passed during fit: column "
                f"{other[0]} is {names[other[0]]!r} but was {known[other[0]]!r} "
                f"({len(other)} differ)."
            )


def check_numbers(y: Array) -> Array:
    """A response that varies."""
    y = np.asarray(y, dtype=float)
    largest, spread = np.abs(y).max(), np.ptp(y)
    if spread == 0.0:
        raise ValueError(
            f"y is constant (all {len(y)} values are {y[0]:g}): there is no change to explain."
        )
    if largest > LARGEST or spread < 1.0 / LARGEST:
        what = f"reaches {largest:.3g}" if largest > LARGEST else f"varies by {spread:.3g} only"
        raise ValueError(
            f"y {what}: its powers are no numbers a computer can hold. Express y in another "
            f"unit, or remove values that stand for missing ones (row {np.abs(y).argmax()})."
        )
    return y


def check_labels(y: Array) -> tuple[Array, IntArray]:
    """(classes, codes 0 .. C-1), refusing fewer than two classes."""
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"y holds one class only ({classes.tolist()[0]!r}, {len(y)} times): a classifier needs "
            "at least two classes."
        )
    return classes, codes


def check_weights(sample_weight: Any, X: Array | Source) -> tuple[IntArray, Array | None]:
    """(rows with positive weight, their weights or None when no weights were given)."""
    n = X.shape[0]
    if sample_weight is None:
        return np.arange(n), None
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.ndim == 0:
        weight = np.full(n, float(weight))
    if weight.shape != (n,):
        raise ValueError(f"sample_weight has shape {weight.shape} but X has {n} rows: need ({n},).")
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
