"""From the columns of a user's table to the encoded columns of a fit, and back.

A table may hold categories and missing values. Models are fitted to encoded columns of numbers,
which the columns of covariates follow in a sift, and results are reported for the columns of the
table. `ColumnMap` converts in both directions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from gradsift._run.threads import same_bits
from gradsift._run.warn import warn_user
from gradsift.data import ArraySource, is_storage, read_target
from gradsift.data.arrays import array_like
from gradsift.data.formats.arrow import ArrowSource, holds_text
from gradsift.data.missing import as_response, is_null
from gradsift.data.responses import check_all_known
from gradsift.data.slices import check_rows
from gradsift.estimators.validation import (
    Columns,
    check_column_names,
    check_columns,
    check_finite,
    check_missing,
    check_same_columns,
    check_shape,
    column_names,
    is_plain,
    remember_columns,
    rows_with_target,
    warn_if_far,
)
from gradsift.exceptions import ExtrapolationWarning, SkippedColumnsWarning
from gradsift.inference.findings import Finding, Findings
from gradsift.inference.marginal_tests import Association
from gradsift.inference.results import ColumnTest, ProductTest, Significance
from gradsift.inference.settings import DEFAULT
from gradsift.protocols import Array, IntArray, Source, TableLike
from gradsift.refit import OutcomePredictors, Predictor
from gradsift.sift import SiftResult
from gradsift.tables.columns import TableEncoder, is_missing
from gradsift.tables.frame import Frame, as_frame
from gradsift.tables.prepare import encode_frame, group_notes, left_out_notes


class Interaction(NamedTuple):
    """A product of two variables that the sift found in the response."""

    first: int
    second: int
    strength: float


@dataclass(frozen=True, eq=False)
class ColumnMap:
    """The columns of a table, the encoded columns of a fit, and the columns of covariates.

    Attributes
    ----------
    n_encoded : int
        Encoded columns p.
    variable : (p,) int array or None
        Columns with the same number are one variable: a feature group, or the levels of a category.
        None = each column is one variable.
    always : int array
        Encoded columns that are always selected, and do not count.
    encoder : TableEncoder or None
        How the table became numbers; None where it was numbers.
    n_covariates : int
        Columns of covariates, with the numbers p, p + 1, ... inside a sift.
    """

    n_encoded: int
    variable: IntArray | None
    always: IntArray
    encoder: TableEncoder | None = None
    n_covariates: int = 0

    @cached_property
    def origins(self) -> IntArray:
        """(p,) the column of the table behind each encoded one."""
        return np.arange(self.n_encoded) if self.encoder is None else self.encoder.origins

    @property
    def n_table(self) -> int:
        """Columns of the table."""
        return self.n_encoded if self.encoder is None else len(self.encoder.table)

    def encoded(self, columns: IntArray) -> IntArray:
        """The encoded columns of some columns of the table."""
        if self.encoder is None:
            return columns
        return np.flatnonzero(np.isin(self.origins, columns))

    def mask(self, selected: IntArray) -> NDArray[np.bool_]:
        """(n_features,) the columns of the table behind some encoded ones."""
        out = np.zeros(self.n_table, dtype=bool)
        out[list(self.behind(selected))] = True
        return out

    @property
    def always_in_sift(self) -> list[int]:
        """Columns that the sift always keeps: those of the user, and all covariates."""
        p = self.n_encoded
        return [*self.always.tolist(), *range(p, p + self.n_covariates)]

    @property
    def variable_in_sift(self) -> IntArray | None:
        """The variable of each column of the sift; each column of covariates is one variable."""
        if self.variable is None:
            return None
        return np.concatenate(
            [self.variable, self.variable.max() + 1 + np.arange(self.n_covariates)]
        )

    def choose(
        self, selected: IntArray, most: int | None = None, ranking: IntArray | None = None
    ) -> IntArray:
        """All columns of the variables that the selected columns belong to, sorted: of `most`
        variables at most, the best ranked ones, and of those that are always selected.
        """
        if self.variable is None:
            free = np.setdiff1d(selected, self.always)
            if ranking is not None:
                free = free[np.argsort(ranking[free], kind="stable")][:most]
            return np.union1d(free, self.always).astype(np.intp)
        always = np.unique(self.variable[self.always])
        free = selected[~np.isin(self.variable[selected], always)]
        if ranking is not None:
            free = free[np.argsort(ranking[free], kind="stable")]
        order = list(dict.fromkeys(self.variable[free].tolist()))[:most]
        return np.flatnonzero(np.isin(self.variable, [*order, *always.tolist()]))

    def limited(self, found: SiftResult, most: int | None) -> SiftResult:
        """The same result with whole variables, the best ranked ones where there are too many."""
        if self.variable is None and most is None:
            return found
        return with_selected(found, self.choose(found.selected, most, found.ranking))

    def result(self, found: SiftResult) -> SiftResult:
        """The result of a sift without the columns of covariates."""
        p = self.n_encoded
        if len(found.ranking) == p:
            return found
        ranking = np.empty(p, dtype=found.ranking.dtype)
        ranking[np.argsort(found.ranking[:p], kind="stable")] = np.arange(1, p + 1)
        inside = with_selected(found, found.selected[found.selected < p])
        return replace(inside, ranking=ranking, scores=found.scores[:p])

    # Results on encoded columns, as results on the columns of the table.

    def behind(self, columns: IntArray | tuple[int, ...]) -> tuple[int, ...]:
        """The columns of the table behind some encoded ones, each once, in their order."""
        known: IntArray = np.asarray(columns, dtype=np.intp)
        known = known if self.encoder is None else self.origins[known]
        return tuple(dict.fromkeys(known.tolist()))

    def importances(self, values: Array) -> Array:
        """The largest value among the encoded columns of each column of the table."""
        if self.encoder is None:
            return values
        out = np.zeros(self.n_table)
        np.maximum.at(out, self.origins, values)
        return out

    def ranking(self, ranking: IntArray) -> IntArray:
        """Ranks of the columns of the table by their best ranked encoded columns, 1 = best."""
        if self.encoder is None:
            return ranking
        best = np.full(self.n_table, len(ranking) + 1)
        np.minimum.at(best, self.origins, ranking)
        out = np.empty(len(best), dtype=np.intp)
        out[np.argsort(best, kind="stable")] = np.arange(1, len(best) + 1)
        return out

    def interactions(self, pairs: Iterable[tuple[int, int, float]]) -> list[Interaction]:
        """Products of columns of the table, strongest first, each once."""
        if self.encoder is None:
            return [Interaction(*pair) for pair in pairs]
        out: dict[tuple[int, ...], Interaction] = {}
        for first, second, strength in pairs:
            both = sorted(self.behind((first, second)))
            if len(both) == 2:
                out.setdefault((both[0], both[1]), Interaction(both[0], both[1], strength))
        return list(out.values())

    def association(self, found: Association) -> Association:
        """Tests of the columns of the table, each by itself."""
        return Association(self.p_values(found.p_values), self.p_values(found.q_values))

    def p_values(self, values: Array) -> Array:
        """p- or q-values of the columns of the table, whose encoded columns have one; 1 for columns
        of which nothing was made.
        """
        if self.encoder is None:
            return values
        out = np.ones(self.n_table)
        out[self.origins[::-1]] = values[::-1]
        return out

    def findings(self, found: Findings) -> Findings:
        """Findings and confidences of the columns of the table."""
        if self.encoder is None:
            return found
        each: dict[frozenset[int], Finding] = {}
        for finding in found:  # the most certain first; those of two levels of a category are one
            one = self._finding(finding)
            each.setdefault(frozenset(one.columns.tolist()), one)
        of_some, most = self.importances(found.confidence == 1.0), DEFAULT.most_confidence
        added = np.bincount(self.origins, found.confidence, self.n_table)
        total: Array = np.minimum(added, np.where(of_some > 0.0, 1.0, most))
        for finding in reversed(each.values()):
            total[finding.columns] = finding.members
        return Findings(tuple(each.values()), total)

    def _finding(self, finding: Finding) -> Finding:
        """A finding of columns of the table; the confidences of the levels of a category add up, to
        that of the finding at most.
        """
        columns, origins = self.behind(finding.columns), self.origins[finding.columns]
        most = finding.confidence
        members = [min(float(finding.members[origins == k].sum()), most) for k in columns]
        return replace(
            finding,
            columns=np.array(columns, dtype=np.intp),
            members=np.array([most] if len(columns) == 1 else members),
            partners=np.array(self.behind(finding.partners), dtype=np.intp),
        )

    def significance(self, found: Significance) -> Significance:
        """Tests of the columns of the table. The encoded columns of one column have one p-value."""
        if self.encoder is None:
            return found
        tests: dict[int, ColumnTest] = {}
        for test in found.tests:  # most certain first
            column, together = int(self.origins[test.column]), self.behind(test.together)
            alone, as_finding = (
                replace(model, columns=self.behind(model.columns))
                for model in (test.alone, test.as_finding)
            )
            one = ColumnTest(column, tuple(sorted(together)), alone, as_finding)
            tests.setdefault(column, one)
        pairs: dict[tuple[int, int], ProductTest] = {}
        for pair in found.products:
            a, b = sorted((int(self.origins[pair.first]), int(self.origins[pair.second])))
            if a != b:
                pairs.setdefault((a, b), replace(pair, first=a, second=b))
        return Significance(
            p_values=self.p_values(found.p_values),
            q_values=self.p_values(found.q_values),
            finding_p_values=self.p_values(found.finding_p_values),
            finding_q_values=self.p_values(found.finding_q_values),
            tests=tuple(tests.values()),
            products=tuple(pairs.values()),
        )


def with_selected(found: SiftResult, selected: IntArray) -> SiftResult:
    """The same result with other selected columns: products and terms are those of them alone, and
    columns that the sift did not select were not tested.
    """
    kept = set(selected.tolist())
    tails = dict(zip(found.selected.tolist(), found.chi_square_tails.tolist(), strict=True))
    return replace(
        found,
        selected=selected,
        interactions=tuple(pair for pair in found.interactions if kept.issuperset(pair[:2])),
        groups=tuple(term for term in found.groups if kept.issuperset(term.variables)),
        chi_square_tails=np.array([tails.get(k, np.nan) for k in selected.tolist()]),
    )


def make_columns(
    p: int,
    encoder: TableEncoder | None,
    always: IntArray,
    feature_groups: tuple[str, ...] | None,
) -> ColumnMap:
    """The map of a table with p encoded columns; `always` and `feature_groups` are about the
    columns of the table.
    """
    labels: IntArray | None = None
    if feature_groups is not None:
        labels = np.unique(feature_groups, return_inverse=True)[1]
    if encoder is not None and len(encoder.names) != len(encoder.table):
        labels = encoder.origins if labels is None else labels[encoder.origins]
    columns = ColumnMap(p, labels, always, encoder)
    return columns if encoder is None else replace(columns, always=columns.encoded(always))


def several_of_each(labels: IntArray) -> list[IntArray]:
    """Indices of each label that occurs several times, one array for each label."""
    order = np.argsort(labels, kind="stable")
    variables = np.split(order, np.flatnonzero(np.diff(labels[order])) + 1)
    return [places for places in variables if len(places) > 1]


def check_feature_groups(
    feature_groups: Mapping[str, Columns] | ArrayLike | None, n_features: int, names: Array | None
) -> tuple[str, ...] | None:
    """The variable behind each column: a group of columns, or the column itself."""
    if feature_groups is None:
        return None
    single = [f"x{k}" for k in range(n_features)] if names is None else list(map(str, names))
    if not isinstance(feature_groups, Mapping):
        labels = np.asarray(feature_groups, dtype=object)
        if labels.shape != (n_features,):
            raise ValueError(
                f"feature_groups has shape {labels.shape}: give one label for each of the "
                f"{n_features} columns, or a dict from names of groups to lists of columns."
            )
        return tuple(single[k] if is_null(v) else str(v) for k, v in enumerate(labels.tolist()))
    taken: dict[int, str] = {}
    for group, columns in feature_groups.items():
        where = f"feature_groups[{group!r}]"
        for k in check_columns(columns, n_features, names, where).tolist():
            if k in taken:
                raise ValueError(
                    f"column {single[k]!r} is in the groups {taken[k]!r} and {str(group)!r} of "
                    "feature_groups: a column is part of one variable."
                )
            taken[k] = str(group)
    alone = {single[k] for k in range(n_features) if k not in taken}
    if both := sorted(alone.intersection(taken.values())):
        raise ValueError(
            f"feature_groups names a group {both[0]!r}, as a column outside of it is called. Give "
            "the group another name."
        )
    return tuple(taken.get(k, single[k]) for k in range(n_features))


def encoder_of(model: BaseEstimator, X: TableLike, y: ArrayLike) -> TableEncoder | None:
    """The encoder of a table; None of an array of numbers without missing values to mark."""
    if is_plain(X):
        gaps = X.size > 0 and bool(np.isnan(X.min()))
        if not gaps or model.missing not in ("auto", "indicator"):
            return None
    check_missing(model)
    return find_encoder(X, model.missing, y, named_columns(model))


def named_columns(model: BaseEstimator) -> set[str]:
    """Columns named in parameters: they are variables, also where they look like identifiers."""
    asked = [] if model.always_keep is None else np.ravel(model.always_keep).tolist()
    groups = model.feature_groups
    if isinstance(groups, Mapping):
        asked += [name for columns in groups.values() for name in np.ravel(columns).tolist()]
    return {name for name in asked if isinstance(name, str)}


def find_encoder(
    X: TableLike, missing: str, y: object = None, used: Iterable[str] = ()
) -> TableEncoder | None:
    """How a table becomes columns of numbers; None where nothing has to be done.

    Parameters
    ----------
    X : table
    missing : {'auto', 'error', 'mean', 'indicator'}
    y : array, or the name of a column
    used : iterable of str
        Columns that are variables, also where they look like identifiers or free text.
    """
    table = without_target(X, y)
    if is_storage(table) and not holds_text(table):
        if missing == "indicator":
            raise ValueError(
                "missing='indicator' needs a table in memory, and X is stored elsewhere. Use "
                "missing='mean', or read the table first."
            )
        return None
    named = hasattr(table, "columns")
    if named:
        check_column_names(column_names(table))
    elif missing not in ("auto", "indicator") or not has_gaps(table):
        return None
    frame = as_frame(table)
    encoder, notes = encode_frame(frame, response_of(X, y, frame.n_rows), missing, set(used))
    if not encoder.names:
        out = " ".join(note.text for note in notes)
        raise ValueError(f"Found array with 0 feature(s): no column is a variable. {out}")
    return None if encoder.is_plain else encoder


def warn_of_columns(encoder: TableEncoder, independent: bool) -> None:
    """Warn of columns that were left out because of what they hold; `independent`: the response
    assumes independent rows.
    """
    for note in left_out_notes(encoder.special):
        warn_user(
            f"{note.text} left out. To use them, name them in always_keep or feature_groups, or "
            "turn them into numbers or categories.",
            SkippedColumnsWarning,
        )
    for note in group_notes(encoder.special, independent):
        advice = "Make one row of each group first" if independent else "Pass that column as groups"
        warn_user(f"{note.text}. {advice}.", SkippedColumnsWarning)


def has_gaps(X: TableLike) -> bool:
    """Whether an array of numbers has missing values."""
    values = np.asarray(array_like(X))
    return values.dtype.kind == "f" and values.ndim == 2 and bool(np.isnan(values).any())


def response_of(X: TableLike, y: object, n: int) -> NDArray[Any]:
    """The response as numbers or texts, NaN or None where it is missing; the same in all rows where
    it cannot be read, which is refused later.
    """
    try:
        values = as_response(read_target(X, y) if isinstance(y, str) else array_like(y, "y"))
        if values.dtype.names is not None:  # survival times
            fields = values.dtype.names
            values = values[next(name for name in fields if values[name].dtype.kind != "b")]
        values = values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
        if values.dtype.kind in "OU":
            frame = as_frame({"y": values.astype(object)})
            values = frame.column("y")
    except (TypeError, ValueError, OverflowError, KeyError, StopIteration):
        return np.zeros(n)
    known = values.ndim in (1, 2) and len(values) == n and values.dtype.kind in "biufO"
    if not known:
        return np.zeros(n)
    return values if values.dtype.kind == "O" else values.astype(float)


def without_target(X: TableLike, y: object) -> TableLike:
    """A table of Arrow without the response that y names; anything else as it is."""
    if not (isinstance(y, str) and hasattr(X, "column_names") and hasattr(X, "select")):
        return X
    return X.select([name for name in X.column_names if name != y])


def check_names(estimator: BaseEstimator, X: TableLike, *, reset: bool) -> None:
    """Keep the number and names of columns, or compare them; scikit-learn knows none of Arrow."""
    if not (hasattr(X, "column_names") and hasattr(X, "num_rows")):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        return
    source = ArrowSource(X, tuple(X.column_names), X.num_rows)
    (remember_columns if reset else check_same_columns)(estimator, source)


def check_mixed_X(
    estimator: BaseEstimator, encoder: TableEncoder, X: TableLike, y: ArrayLike
) -> tuple[Source, Array]:
    """The encoded table of a fit; `estimator` gets the names and number of the table's columns."""
    table = without_target(X, y)
    encoded: Source = encoded_source(encoder, table, estimator.missing)
    if isinstance(y, str) and table is not X:
        encoded, values = rows_with_target(encoded, read_target(X, y), y)
    else:
        values = check_all_known(y)
    values = validate_data(estimator, "no_validation", values)
    check_names(estimator, table, reset=True)
    check_shape(encoded, type(estimator).__name__)
    check_rows(encoded, values)
    return encoded, values


def check_new_mixed_X(model: BaseEstimator, X: TableLike) -> ArraySource:
    """The encoded table of new samples; what is odd about its rows gets a warning, and so do rows
    far outside those of the fit.
    """
    X, encoder = array_like(X), model.encoder_
    check_names(model, X, reset=False)
    frame = as_frame(X, encoder.table)
    encoded = encoded_source(encoder, frame, model.missing)
    for note in encoder.read(frame)[1]:
        warn_user(f"{note.text}.", ExtrapolationWarning)
    warn_if_far(model, encoded, encoder.names)
    return encoded


def encoded_source(encoder: TableEncoder, X: TableLike, missing: str) -> ArraySource:
    """The encoded columns; missing values are refused where `missing` is 'error'."""
    frame = X if isinstance(X, Frame) else as_frame(X, encoder.table)
    if missing == "error":
        check_categories(encoder, frame)
    encoded = np.ascontiguousarray(encoder.read(frame)[0])
    check_finite(encoded, list(encoder.names), allow_missing=missing != "error")
    return ArraySource(encoded)


def check_categories(encoder: TableEncoder, frame: Frame) -> None:
    """Refuse rows without a category."""
    gone = {c.name: is_missing(c.read(frame.column(c.name))) for c in encoder.of("category")}
    lost = {name: int(np.argmax(rows)) for name, rows in gone.items() if rows.any()}
    if lost:
        name, row = next(iter(lost.items()))
        more = f", and {len(lost) - 1} more columns have such rows" if len(lost) > 1 else ""
        raise ValueError(
            f"Input X contains NaN: column {name!r} has no category in row {row}{more}. Leave "
            "those rows out, or set missing='auto' (no category is a category of its own)."
        )


# Gradients at encoded samples.


@same_bits
def table_gradient(
    predictor: Predictor | OutcomePredictors,
    encoder: TableEncoder,
    selected: IntArray,
    source: Source,
    *,
    std: bool = False,
) -> Array:
    """Gradient (outputs, n, p) at encoded samples, in the columns of the table, or its standard
    deviations. A category has no derivative: its column holds the difference to its most frequent
    level.
    """
    columns, origins = encoder.columns, encoder.origins
    X = source.columns(np.arange(source.shape[1]))
    inside = predictor.gradient_std(source) if std else predictor.gradient(source)
    out = np.zeros((len(inside), len(X), len(columns)))
    first = np.searchsorted(origins, np.arange(len(columns)))  # not the indicator of missing values
    for j, k in enumerate(predictor.index.tolist()):
        if k in first and not columns[origins[k]].categories:
            out[:, :, origins[k]] = inside[:, :, j]
    for k in selected.tolist():
        if not columns[k].categories:
            continue
        encoded = np.flatnonzero(origins == k)
        levels = encoded[: len(columns[k].categories)]
        other = X.copy()
        other[:, encoded] = 0.0
        other[:, levels[int(np.argmax(predictor.scaling.mean[levels]))]] = 1.0
        if std:
            out[:, :, k] = predictor.difference_std(X, other)
        else:
            out[:, :, k] = (predictor.eta(X, "selected") - predictor.eta(other, "selected")).T
    return out
