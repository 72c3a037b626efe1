"""Tables with categories and missing values: fits are made to encoded columns of numbers, and
results are reported for the columns of the table.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import validate_data

from gradsift._run.threads import same_bits
from gradsift._typing import Array, IntArray, Source
from gradsift.data import ArraySource, is_storage, read_target
from gradsift.data.arrays import array_like
from gradsift.data.formats.arrow import ArrowSource, holds_text
from gradsift.data.mixed import TableEncoder, make_encoder
from gradsift.data.responses import check_all_known
from gradsift.data.slices import check_rows
from gradsift.estimators._validation import (
    check_finite,
    check_same_columns,
    check_shape,
    check_unique_names,
    column_names,
    remember_columns,
    rows_with_target,
    warn_if_far,
)
from gradsift.exceptions import ExtrapolationWarning
from gradsift.trust.original import (
    association_of_table,
    confidence_of_table,
    each_finding,
    significance_of_table,
    unique_origins,
)


def find_encoder(X: Any, missing: str, y: Any = None) -> TableEncoder | None:
    """How a table becomes columns of numbers; None where nothing has to be done."""
    X = without_target(X, y)
    if is_storage(X) and not holds_text(X):
        if missing == "indicator":
            raise ValueError(
                "missing='indicator' needs a table in memory, and X is stored elsewhere. Use "
                "missing='mean', or read the table first."
            )
        return None
    if hasattr(X, "columns"):
        check_unique_names(column_names(X))
    elif missing == "indicator" and np.asarray(X).dtype.kind not in "biuf":
        return None
    return make_encoder(X, missing)


def without_target(X: Any, y: Any) -> Any:
    """A table of Arrow without the response that y names; anything else as it is."""
    if not (isinstance(y, str) and hasattr(X, "column_names")):
        return X
    return X.select([name for name in X.column_names if name != y])


def check_names(door: Any, X: Any, *, reset: bool) -> None:
    """Keep the number and names of columns, or compare them; scikit-learn knows none of Arrow."""
    if not hasattr(X, "column_names"):
        validate_data(door, X, reset=reset, skip_check_array=True)
        return
    source = ArrowSource(X, tuple(X.column_names), X.num_rows)
    (remember_columns if reset else check_same_columns)(door, source)


def check_mixed_X(door: Any, encoder: TableEncoder, X: Any, y: Any) -> tuple[Source, Any]:
    """The encoded table of a fit; `door` is told about the columns of the table itself."""
    table = without_target(X, y)
    name, y = (None, check_all_known(y)) if table is X else (y, read_target(X, y))
    encoded: Source = encoded_source(encoder, table, door.missing)
    if name is not None:
        encoded, y = rows_with_target(encoded, y, name)
    y = validate_data(door, "no_validation", y)
    check_names(door, table, reset=True)
    door._source = encoded
    check_shape(encoded, type(door).__name__)
    check_rows(encoded, y)
    return encoded, y


def check_new_mixed_X(model: Any, X: Any) -> ArraySource:
    """The encoded table of new samples; categories that the fit has not seen get a warning, and so
    do rows far outside those of the fit.
    """
    X, encoder = array_like(X), model.encoder_
    check_names(model, X, reset=False)
    encoded = encoded_source(encoder, X, model.missing)
    for note in encoder.unseen(X):
        warnings.warn(note, ExtrapolationWarning, stacklevel=5)
    warn_if_far(model, encoded, encoder.names)
    return encoded


def encoded_source(encoder: TableEncoder, X: Any, missing: str) -> ArraySource:
    """The encoded columns, missing values refused unless asked for."""
    holes = encoder.without_category(X) if missing == "error" else {}
    if holes:
        name, row = next(iter(holes.items()))
        more = f", and {len(holes) - 1} more columns have such rows" if len(holes) > 1 else ""
        raise ValueError(
            f"Input X contains NaN: column {name!r} has no category in row {row}{more}. Leave "
            "those rows out, or set missing='mean' (no category is a category of its own) or "
            "missing='indicator' (and it is named as such)."
        )
    encoded = np.ascontiguousarray(encoder.encode(X))
    check_finite(encoded, encoder.names, allow_missing=missing != "error")
    return ArraySource(encoded)


def encoded_columns(columns: IntArray, encoder: TableEncoder | None) -> IntArray:
    """The encoded columns of some columns of the table."""
    if encoder is None:
        return columns
    return np.flatnonzero(np.isin(encoder.origins, columns))


def encoded_labels(labels: IntArray | None, encoder: TableEncoder | None) -> IntArray | None:
    """The variable of each encoded column; None where each is its own."""
    if encoder is None or len(encoder.names) == len(encoder.columns):
        return labels
    return encoder.origins if labels is None else labels[encoder.origins]


def best_of_each(ranking: IntArray, origins: IntArray) -> IntArray:
    """Ranks of the columns of the table by their best ranked encoded columns, 1 = best."""
    best = np.full(int(origins.max()) + 1, len(ranking) + 1)
    np.minimum.at(best, origins, ranking)
    out = np.empty(len(best), dtype=np.intp)
    out[np.argsort(best, kind="stable")] = np.arange(1, len(best) + 1)
    return out


def largest_of_each(values: Array, origins: IntArray) -> Array:
    """The largest value among the encoded columns of each column of the table."""
    out = np.zeros(int(origins.max()) + 1)
    np.maximum.at(out, origins, values)
    return out


def table_attributes(
    found: dict[str, Any], importances: Array, encoder: TableEncoder
) -> dict[str, Any]:
    """Attributes of a fit to encoded columns, told of the columns of the table; `importances`:
    for each encoded column, that of its column of the table.
    """
    origins = encoder.origins
    out = {
        **found,
        "feature_importances_": largest_of_each(importances, origins),
        "variable_importances_": largest_of_each(found["variable_importances_"], origins),
        "ranking_": best_of_each(found["ranking_"], origins),
        "interactions_": pairs_of_table(found["interactions_"], origins),
    }
    if found["association_"] is not None:
        out["association_"] = association_of_table(found["association_"], origins)
    if "findings_" in found:
        out["findings_"] = each_finding(found["findings_"], origins)
        out["confidence_"] = confidence_of_table(found["confidence_"], origins, found["findings_"])
    if "significance_" in found:
        out["significance_"] = significance_of_table(found["significance_"], origins)
    return out


def pairs_of_table(pairs: list[Any], origins: IntArray) -> list[Any]:
    """Products of columns of the table, strongest first, each once."""
    out: dict[tuple[int, ...], Any] = {}
    for pair in pairs:
        both = tuple(sorted(unique_origins((pair.first, pair.second), origins)))
        if len(both) == 2:
            out.setdefault(both, pair._replace(first=both[0], second=both[1]))
    return list(out.values())


@same_bits
def mixed_gradient(model: Any, source: Source) -> Array:
    """Gradient (outputs, n, p) at encoded samples, in the columns of the table. A category has no
    derivative: its column holds the difference to its most frequent level.
    """
    columns, origins = model.encoder_.columns, model.encoder_.origins
    X = source.columns(np.arange(source.shape[1]))
    inside = model.field_.gradient(source)
    out = np.zeros((len(inside), len(X), len(columns)))
    first = np.searchsorted(origins, np.arange(len(columns)))  # not what says where it is missing
    for j, k in enumerate(model.field_.index.tolist()):
        if k in first and not columns[origins[k]].levels:
            out[:, :, origins[k]] = inside[:, :, j]
    here = field_values(model, X)
    for k in model.get_support(indices=True).tolist():
        if columns[k].levels:
            out[:, :, k] = here - field_values(model, most_frequent(model, X, k))
    return out


def most_frequent(model: Any, X: Array, k: int) -> Array:
    """Encoded samples with the most frequent level of the fit in a column of the table."""
    own = np.flatnonzero(model.encoder_.origins == k)
    levels = own[: len(model.encoder_.columns[k].levels)]
    changed = X.copy()
    changed[:, own] = 0.0
    changed[:, levels[int(np.argmax(model.field_.scaling.mean[levels]))]] = 1.0
    return changed


def field_values(model: Any, X: Array) -> Array:
    """(outputs, n) what the gradient is the derivative of, at encoded samples."""
    refit = model.refit_
    score = refit.decision_function if is_classifier(model) else refit.predict
    return np.atleast_2d(np.asarray(score(model.field_.columns(X))).T)
