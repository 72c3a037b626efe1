"""Checks of user input: they return arrays, or raise errors that say what, where and what to do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias, TypeGuard, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from gradsift._run.suggest import did_you_mean
from gradsift._run.warn import warn_user
from gradsift.data import (
    ArraySource,
    NamedSource,
    checked,
    is_storage,
    open_source,
    read_target,
)
from gradsift.data.arrays import array_like
from gradsift.data.checked_source import all_good, labels_of, refuse
from gradsift.data.extrapolation import far_note
from gradsift.data.formats.registry import holds_target
from gradsift.data.missing import known
from gradsift.data.responses import check_all_known, odd_cell, refuse_times
from gradsift.data.slices import check_rows
from gradsift.data.source import LabelledRows
from gradsift.estimators.splits import MIN_SAMPLES
from gradsift.exceptions import ExtrapolationWarning, MissingTargetWarning, RareClassWarning
from gradsift.protocols import Array, IntArray, Source, TableLike
from gradsift.responses.labels import class_codes

S = TypeVar("S")
Columns: TypeAlias = str | Iterable[int | str] | NDArray[Any] | None
"""Columns by number or by name, or a mask of them."""
FEW_CASES = 8
"""Words: rows of a class below which a warning says that the sift's level is no promise
(`docs/guarantees.md`).
"""
MOST_NAMES = 1_000_000
"""Memory: tables of more columns keep no `feature_names_in_`; their source knows the names."""


def column_names(X: TableLike) -> list[str] | None:
    """Names of the columns of a data frame, None for arrays."""
    columns = getattr(X, "column_names", getattr(X, "columns", None))
    return None if columns is None or callable(columns) else [str(c) for c in columns]


def check_column_names(names: list[str] | None) -> None:
    """Refuse a table without columns, and columns of the same name."""
    if names is not None and not names:
        raise ValueError("Found array with 0 feature(s) while a minimum of 1 is required.")
    found = Counter(names or ()).items()
    repeated = [f"{name!r} ({count} times)" for name, count in found if count > 1]
    if repeated:
        raise ValueError(
            f"column names are not unique: {', '.join(repeated[:5])}. Rename the columns, or pass "
            "the values as an array."
        )


def is_plain(X: object) -> TypeGuard[NDArray[Any]]:
    """Whether X is an array of numbers in memory: neither a frame, nor masked, nor stored."""
    return type(X) is np.ndarray and X.dtype.kind in "biuf"


def check_table(X: TableLike) -> None:
    """Refuse what no conversion would explain: repeated names, columns that are not of numbers."""
    frame: Any = X
    names = column_names(X)
    if names is None:
        cells = np.asarray(X)
        refuse_times(cells, "X")
        if cells.size and cells.dtype.kind in "OUST":
            for column, values in enumerate(cells.reshape(len(cells), -1).T):
                _check_cells(column, values)
        return
    check_column_names(names)
    for name in frame.columns:
        values = np.asarray(frame[name])
        refuse_times(values, f"column {name!r}")
        if values.dtype.kind in "OUSTV" or values.ndim > 1:
            _check_cells(name, values)


def _check_cells(name: object, values: NDArray[Any]) -> None:
    row, cell = odd_cell(values) if values.ndim == 1 else (0, values[0])
    if isinstance(cell, (str, bytes)):
        raise ValueError(
            f"column {name!r} holds text (row {row}: {cell!r:.60}). Drop it, or encode it as "
            "numbers first, e.g. with sklearn.preprocessing.OneHotEncoder."
        )
    if row >= 0:
        raise TypeError(
            f"column {name!r} holds {cell!r:.60} (row {row}). Each cell of this argument must be a "
            "number, or a string of one number, and not too large. Drop the column."
        )


def check_finite(X: Array, names: list[str] | None = None, *, allow_missing: bool = False) -> None:
    """Refuse NaN (unless it will be filled) and infinity, naming the columns."""
    if not all_good(X, allow_missing):

        def label(columns: IntArray) -> list[str]:
            return labels_of(columns, names and [names[c] for c in columns])

        refuse(ArraySource(X), label, allow_missing)


def check_missing(estimator: BaseEstimator) -> str:
    """What is done with missing values of encoded columns: 'error' or 'mean'."""
    missing = getattr(estimator, "missing", "error")
    more = ("auto", "indicator") if hasattr(estimator, "feature_groups") else ()
    if missing not in ("error", "mean", *more):
        marked = ", 'indicator' to mark them, or 'auto' to mark them where that is telling"
        raise ValueError(
            f"missing={missing!r}: use 'error' to refuse missing values, or 'mean' to fill them"
            f"{marked if more else ''}."
        )
    return "error" if missing == "error" else "mean"


def check_fit_X(estimator: BaseEstimator, X: TableLike, y: ArrayLike) -> tuple[Source, Array]:
    """X as a source of columns, y as scikit-learn checks it.

    Arrays and data frames become a float64 array (C order). Data stored elsewhere, such as files,
    are not read but wrapped, and are checked as they are read. A string y names the response inside
    such data; rows where it is missing are left out, with a warning. In an array, missing responses
    are refused.
    """
    missing, names, table = check_missing(estimator), None, X
    if not is_plain(X):
        table = sparse_frame(X)
        if is_storage(table):
            source, response = open_with_target(table, y)
            check_shape(source, type(estimator).__name__)
            response = validate_data(estimator, "no_validation", response)
            check_rows(source, response)
            remember_columns(estimator, source)
            return checked(source, missing), response
        table = array_like(table)
        check_table(table)
        names = column_names(table)
    values, response = validate_data(
        estimator, table, check_all_known(y), dtype=np.float64, order="C",
        ensure_all_finite=False, ensure_min_samples=MIN_SAMPLES,
    )  # fmt: skip
    check_finite(values, names, allow_missing=missing == "mean")
    return ArraySource(values), response


def open_with_target(X: TableLike, y: ArrayLike) -> tuple[Source, Any]:
    """The source, and its response where y is a name: the rows that have one."""
    if not isinstance(y, str):
        return open_source(X), check_all_known(y)
    source = open_source(X, exclude=[y] if holds_target(X) else [])
    return rows_with_target(source, np.asarray(read_target(X, y)), y)


def rows_with_target(source: Source, values: Array, y: str) -> tuple[Source, Array]:
    """The rows for which the response y is known, with a warning where others are left out."""
    there = known(values)
    if there.all():
        return source, values
    if not there.any():
        raise ValueError(f"y={y!r} is missing in all {len(values)} rows.")
    check_rows(source, values)
    warn_user(
        f"{(~there).sum()} of {len(there)} rows have no {y!r}: they were left out.",
        MissingTargetWarning,
    )
    return LabelledRows(source, np.flatnonzero(there)), values[there]


def sparse_frame(X: TableLike) -> TableLike:
    """A pandas frame of sparse columns as what it stores; anything else as it is."""
    frame: Any = X
    try:
        stored = frame.sparse
        zeros = frame.shape[1] > 0 and all(kind.fill_value == 0 for kind in frame.dtypes)
    except (AttributeError, TypeError):
        return X
    if not zeros:
        return stored.to_dense()
    return NamedSource(open_source(stored.to_coo()), [str(name) for name in frame.columns])


def check_shape(source: Source, name: str) -> None:
    """Enough rows and columns, in scikit-learn's words."""
    for count, least, what in zip(source.shape, (MIN_SAMPLES, 1), ("sample", "feature")):
        if count < least:
            raise ValueError(
                f"Found array with {count} {what}(s) (shape={source.shape}) while a minimum of "
                f"{least} is required by {name}."
            )


def remember_columns(estimator: BaseEstimator, source: Source) -> None:
    """n_features_in_, and feature_names_in_ where there are names and not too many."""
    estimator.n_features_in_ = source.shape[1]
    names = source.names() if source.shape[1] <= MOST_NAMES else None
    if names is not None:
        check_column_names(names)
        estimator.feature_names_in_ = np.array(names, dtype=object)


def check_new_X(estimator: BaseEstimator, X: TableLike) -> Source:
    """X for a fitted estimator; of data that is stored elsewhere only what is read is checked.

    Rows far outside those of the fit get a warning.
    """
    missing, names, table = check_missing(estimator), None, X
    if not is_plain(X):
        table = sparse_frame(X)
        if is_storage(table):
            source = checked(open_source(table), missing)
            check_same_columns(estimator, source)
            warn_if_far(estimator, source)
            return source
        table = array_like(table)
        check_table(table)
        names = column_names(table)
    values = validate_data(estimator, table, dtype=np.float64, ensure_all_finite=False, reset=False)
    check_finite(values, names, allow_missing=missing == "mean")
    warn_if_far(estimator, ArraySource(values), names)
    return ArraySource(values)


def warn_if_far(
    estimator: BaseEstimator, source: Source, names: Sequence[str] | None = None
) -> None:
    """Warn of rows far outside those of the fit, in the selected columns. Predictors on all columns
    need no warning, because they clip values.
    """
    ranges = getattr(estimator, "ranges_", None)
    if ranges is None:  # not fitted, or saved by a version that did not know them
        return

    def label(found: IntArray) -> list[str]:
        known = source.names(found) if names is None else [names[k] for k in found.tolist()]
        return labels_of(found, known)

    note = far_note(source, ranged_columns(vars(estimator)), ranges, label)
    if note is not None:
        warn_user(note, ExtrapolationWarning)


def ranged_columns(found: dict[str, Any]) -> IntArray:
    """The columns whose ranges count, of a fit with these attributes."""
    for name in ("field_", "predictor_"):  # of a sift, the predictor has the gradient
        if name in found:
            return np.asarray(found[name].index)
    return np.flatnonzero(found["components_"].any(axis=0))


def used_columns(estimator: BaseEstimator) -> IntArray:
    """The columns that predictions need: the selected, and those of members of an average."""
    used = estimator.get_support(indices=True)
    if getattr(estimator, "predict_with", "selected") == "auto":
        used = np.union1d(used, estimator.predictor_.member_columns)
    return np.asarray(used, dtype=np.intp)


def check_same_columns(estimator: BaseEstimator, source: Source) -> None:
    """The columns of the fit, in number and, where both have names, by name."""
    expected = estimator.n_features_in_
    if source.shape[1] != expected:
        raise ValueError(
            f"X has {source.shape[1]} features, but {type(estimator).__name__} is expecting "
            f"{expected} features as input."
        )
    known = getattr(estimator, "feature_names_in_", None)
    names = None if known is None else source.names()
    if known is not None and names is not None:
        other = np.flatnonzero(np.array(names, dtype=object) != known)
        if len(other):
            raise ValueError(
                "The feature names should match those that were passed during fit: column "
                f"{other[0]} is {names[other[0]]!r} but was {known[other[0]]!r} "
                f"({len(other)} differ)."
            )


def check_labels(y: Array) -> tuple[Array, IntArray]:
    """(classes, codes 0 .. C-1), refusing fewer than two classes."""
    check_classification_targets(y)
    return class_codes(y)


def warn_of_rare_classes(classes: Array, codes: IntArray) -> None:
    """Warn where a class has too few rows for the level of the sift to hold."""
    counts = np.bincount(codes)
    rarest = int(counts.argmin())
    if counts[rarest] >= FEW_CASES:
        return
    rows = "1 row" if counts[rarest] == 1 else f"{counts[rarest]} rows"
    warn_user(
        f"class {classes[rarest]} has {rows}. With fewer than {FEW_CASES} rows in a class, "
        "false_positives is no promise: take the selected columns as a ranking, or collect more "
        "rows of that class.",
        RareClassWarning,
    )


def check_columns(
    columns: Columns, n_features: int, names: Array | None, parameter: str
) -> IntArray:
    """Column numbers from a list of numbers or names, or from a mask, sorted."""
    if columns is None:
        return np.zeros(0, dtype=int)
    asked = [columns] if isinstance(columns, str) else list(columns)
    if asked and all(isinstance(column, (bool, np.bool_)) for column in asked):
        if len(asked) != n_features:
            raise ValueError(
                f"{parameter} holds {len(asked)} truth values for {n_features} columns: give one "
                "for each, or a list of column numbers or names."
            )
        return np.flatnonzero(asked)
    known = {} if names is None else {str(name): k for k, name in enumerate(names)}
    return np.unique([column_number(c, known, n_features, parameter) for c in asked]).astype(int)


def column_number(column: object, known: dict[str, int], n_features: int, parameter: str) -> int:
    """The number of one column, given by its number or its name."""
    if isinstance(column, str):
        if column not in known:
            what = "no column has that name" if known else "X has no column names"
            raise ValueError(
                f"{parameter} names {column!r}, but {what}.{did_you_mean(column, known)}"
            )
        return known[column]
    if isinstance(column, (bool, np.bool_)) or not isinstance(column, (int, np.integer)):
        raise ValueError(
            f"{parameter} holds {column!r}, which is neither the number nor the name of a column."
        )
    if not 0 <= column < n_features:
        raise ValueError(
            f"{parameter} holds column {column}, but the columns are 0 to {n_features - 1}."
        )
    return int(column)


def is_whole_number(value: object) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def check_n_components(n_components: int | str) -> None:
    whole = is_whole_number(n_components)
    if n_components != "auto" and not (whole and int(n_components) >= 1):
        raise ValueError(f"n_components={n_components!r}: use 'auto' or a whole number >= 1.")


def check_max_features(max_features: int | None) -> None:
    """Refuse anything but None and whole numbers from 1 on."""
    if max_features is not None and (not is_whole_number(max_features) or max_features < 1):
        raise ValueError(f"max_features={max_features!r}: use a whole number >= 1, or None.")


def given(settings: S | None, kind: type[S], parameter: str) -> S:
    """A settings object, or its defaults where there is none."""
    if settings is None:
        return kind()
    if not isinstance(settings, kind):
        raise ValueError(f"{parameter}={settings!r}: use None or {kind.__name__}(...).")
    return settings
