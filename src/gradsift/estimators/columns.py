"""Tables with categories and missing values: fits are made to encoded columns of numbers, and
results are reported for the columns of the table.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from gradsift._run.threads import same_bits
from gradsift.data import ArraySource, is_storage, read_target
from gradsift.data.arrays import array_like
from gradsift.data.formats.arrow import ArrowSource, holds_text
from gradsift.data.missing import is_hole
from gradsift.data.mixed import TableEncoder, make_encoder
from gradsift.data.responses import check_all_known
from gradsift.data.slices import check_rows
from gradsift.estimators.validation import (
    check_columns,
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
from gradsift.inference.decode_columns import (
    association_of_table,
    confidence_of_table,
    each_finding,
    significance_of_table,
    unique_origins,
)
from gradsift.inference.results import Significance
from gradsift.protocols import Array, IntArray, Source
from gradsift.sift import SiftResult

# Which columns go together, and how many may be selected: applied to what a sift found.


@dataclass(frozen=True, eq=False)
class ColumnRule:
    """Whole groups of columns, at most so many of them beside those that are always kept.

    Attributes
    ----------
    groups : (p,) int array or None
        Columns with the same number are in or out together and count once; None = each its own.
    keep : int array
        Columns that are always in, and do not count.
    most : int or None
        Groups that may be selected.
    origins : (p,) int array or None
        The column of the table that each encoded one comes from; None = each is its own.
    """

    groups: IntArray | None
    keep: IntArray
    most: int | None
    origins: IntArray | None = None

    def settle(self, found: SiftResult) -> SiftResult:
        """The same result with whole groups, the best ranked ones where there are too many."""
        if self.groups is None and self.most is None:
            return found
        selected = self.choose(found.selected, found.ranking)
        kept = set(selected.tolist())
        tested = dict(zip(found.selected.tolist(), found.chi_square_tails.tolist()))
        return replace(
            found,
            selected=selected,
            interactions=tuple(pair for pair in found.interactions if kept.issuperset(pair[:2])),
            groups=tuple(term for term in found.groups if kept.issuperset(term.variables)),
            # columns that only come along were not tested
            chi_square_tails=np.array([tested.get(k, np.nan) for k in selected.tolist()]),
        )

    def choose(self, selected: IntArray, ranking: IntArray | None = None) -> IntArray:
        """Column numbers, sorted; without a `ranking`, as many as there are."""
        if self.groups is None:
            free = np.setdiff1d(selected, self.keep)
            if ranking is not None:
                free = free[np.argsort(ranking[free], kind="stable")][: self.most]
            return np.union1d(free, self.keep).astype(np.intp)
        always = np.unique(self.groups[self.keep])
        free = selected[~np.isin(self.groups[selected], always)]
        if ranking is not None:
            free = free[np.argsort(ranking[free], kind="stable")]
        order = list(dict.fromkeys(self.groups[free].tolist()))[: self.most]
        return np.flatnonzero(np.isin(self.groups, [*order, *always.tolist()]))


def several_of_each(labels: IntArray) -> list[IntArray]:
    """Places of the labels that come several times, one array for each of them."""
    order = np.argsort(labels, kind="stable")
    variables = np.split(order, np.flatnonzero(np.diff(labels[order])) + 1)
    return [places for places in variables if len(places) > 1]


def check_feature_groups(
    feature_groups: Any, n_features: int, names: Array | None
) -> tuple[str, ...] | None:
    """The variable behind each column: a group of columns, or the column itself."""
    if feature_groups is None:
        return None
    own = [f"x{k}" for k in range(n_features)] if names is None else [str(name) for name in names]
    if not isinstance(feature_groups, Mapping):
        labels = np.asarray(feature_groups, dtype=object)
        if labels.shape != (n_features,):
            raise ValueError(
                f"feature_groups has shape {labels.shape}: give one label for each of the "
                f"{n_features} columns, or a dict from names of groups to lists of columns."
            )
        return tuple(own[k] if is_hole(v) else str(v) for k, v in enumerate(labels.tolist()))
    taken: dict[int, str] = {}
    for group, columns in feature_groups.items():
        where = f"feature_groups[{group!r}]"
        for k in check_columns(columns, n_features, names, where).tolist():
            if k in taken:
                raise ValueError(
                    f"column {own[k]!r} is in the groups {taken[k]!r} and {str(group)!r} of "
                    "feature_groups: a column is part of one variable."
                )
            taken[k] = str(group)
    alone = {own[k] for k in range(n_features) if k not in taken}
    if both := sorted(alone.intersection(taken.values())):
        raise ValueError(
            f"feature_groups names a group {both[0]!r}, as a column outside of it is called. Give "
            "the group another name."
        )
    return tuple(taken.get(k, own[k]) for k in range(n_features))


def check_max_features(max_features: Any) -> None:
    """Refuse anything but None and whole numbers from 1 on."""
    if max_features is not None and (
        isinstance(max_features, bool)
        or not isinstance(max_features, (int, np.integer))
        or max_features < 1
    ):
        raise ValueError(f"max_features={max_features!r}: use a whole number >= 1, or None.")


# Selection by tests of the columns.


def discovered(found: SiftResult, tested: Significance, rate: float, keep: IntArray) -> SiftResult:
    """A result with the discoveries at a false discovery rate in the place of what was selected;
    they are ranked first, most certain first.
    """
    first = tested.discoveries(rate)
    ranking = np.lexsort((found.ranking, ~np.isin(np.arange(len(found.ranking)), first)))
    order = np.concatenate([first, ranking[len(first) :]])
    selected = np.union1d(first, keep).astype(np.intp)
    kept = set(selected.tolist())
    sure = {(t.first, t.second) for t in tested.products if t.q_value <= rate}
    tails = dict(zip(found.selected.tolist(), found.chi_square_tails.tolist(), strict=True))
    ranks = np.empty_like(found.ranking)
    ranks[order] = np.arange(1, len(order) + 1)
    scores = found.scores / 2.0
    scores[first] = 2.0 - np.arange(len(first)) / max(len(first), 1)
    return replace(
        found,
        selected=selected,
        ranking=ranks,
        scores=scores,
        interactions=tuple(pair for pair in found.interactions if pair[:2] in sure),
        groups=tuple(term for term in found.groups if kept.issuperset(term.variables)),
        chi_square_tails=np.array([tails.get(k, np.nan) for k in selected.tolist()]),
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
    inside = model.predictor_.gradient(source)
    out = np.zeros((len(inside), len(X), len(columns)))
    first = np.searchsorted(origins, np.arange(len(columns)))  # not what says where it is missing
    for j, k in enumerate(model.predictor_.index.tolist()):
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
    changed[:, levels[int(np.argmax(model.predictor_.scaling.mean[levels]))]] = 1.0
    return changed


def field_values(model: Any, X: Array) -> Array:
    """(outputs, n) what the gradient is the derivative of, at encoded samples."""
    return np.asarray(model.predictor_.eta(X, "selected").T)
