"""A variable of several columns (the 0/1 columns of one category) as one variable."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradsift.data import fill_holes
from gradsift.data.slices import take_columns, take_rows
from gradsift.estimators.columns import encoded_model
from gradsift.evaluate import Stability
from gradsift.explain import FindingSummary, VariableSummary, came_back, gradient_covariance
from gradsift.numerics.sampling import evenly_spaced
from gradsift.protocols import Array, IntArray

MOST_ROWS = 1_000
"""Rows that the levels of a category are compared at."""


@dataclass(frozen=True)
class LevelEffect:
    """What is predicted on average if every row had one level, and nothing else changed.

    Attributes
    ----------
    levels : tuple of str
        From the highest prediction to the lowest.
    values : tuple of float
        Predicted numbers, or log odds of `output`.
    output : str or None
        The class they are about; None for numbers.
    """

    levels: tuple[str, ...]
    values: tuple[float, ...]
    output: str | None

    @property
    def words(self) -> str:
        """Which levels are high and which are low.

        Examples
        --------
        >>> LevelEffect(("f", "m"), (2.0, 0.0), None).words
        'higher for f than for m'
        """
        if len(self.levels) == 2:
            return f"higher for {self.levels[0]} than for {self.levels[1]}"
        return f"highest for {self.levels[0]}, lowest for {self.levels[-1]}"


def merge_groups(
    rows: Sequence[VariableSummary],
    groups: Sequence[str],
    stability: Stability | None,
    importance: Callable[[IntArray], float],
) -> list[VariableSummary]:
    """One row for each group: that of its best ranked column, under the name of the group, with
    the `importance` that its selected columns have together. Ranks count groups.
    """
    labels = np.asarray(groups)
    out: dict[str, list[VariableSummary]] = {}
    for row in rows:
        out.setdefault(str(labels[row.column]), []).append(row)
    merged = [_merged(name, parts, labels, stability, importance) for name, parts in out.items()]
    return [replace(row, rank=rank) for rank, row in enumerate(merged, start=1)]


def name_categories(found: Sequence[FindingSummary], groups: Sequence[str]) -> list[FindingSummary]:
    """Findings led by a category are no curve, straight or not: their shape is 'category'."""
    columns = Counter(groups)
    return [
        replace(row, shape="category")
        if row.shape != "product" and columns[row.names[0]] > 1
        else row
        for row in found
    ]


def _merged(
    name: str,
    parts: list[VariableSummary],
    labels: Any,
    stability: Stability | None,
    importance: Callable[[IntArray], float],
) -> VariableSummary:
    columns = np.flatnonzero(labels == name)
    if len(columns) == 1:
        return _with_group_partners(parts[0], labels)
    own = {part.name for part in parts}
    partners: dict[str, Any] = {}
    for part in parts:
        for column, curves in zip(part.partner_columns, part.partner_curves):
            if labels[column] != name:
                partners.setdefault(str(labels[column]), (column, curves))
    again, chance = came_back(stability, columns)
    return replace(
        parts[0],
        name=name,
        importance=importance(np.array([part.column for part in parts])),
        came_back=again,
        by_chance=chance,
        stand_in_names=tuple(n for n in parts[0].stand_in_names if n not in own),
        partners=tuple(partners),
        partner_columns=tuple(column for column, _ in partners.values()),
        partner_curves=tuple(curves for _, curves in partners.values()),
    )


def _with_group_partners(row: VariableSummary, labels: Any) -> VariableSummary:
    """Partners under the names of their groups, each once."""
    kept: dict[str, int] = {}
    for k, column in enumerate(row.partner_columns):
        kept.setdefault(str(labels[column]), k)
    which = list(kept.values())
    return replace(
        row,
        partners=tuple(kept),
        partner_columns=tuple(row.partner_columns[k] for k in which),
        partner_curves=tuple(row.partner_curves[k] for k in which),
    )


def importance_together(model: Any, X: Any, columns: IntArray) -> float:
    """Importance of some selected columns as one variable: as the model knows it, if it was told
    that they are one, else from its gradient at the rows of X.
    """
    known = model.describe().variable_importances
    if known is not None and np.ptp(known[columns]) == 0.0:
        return float(known[columns[0]])
    values, scale = take_columns(X, columns), model.scale_[columns]
    values = (values - values.mean(axis=0)) / scale
    products = gradient_covariance(model, X, columns) * (values.T @ values) / len(values)
    # rows in which none of the columns changes say nothing of them together
    alone = float(np.linalg.norm(model.feature_importances_[columns]))
    return float(np.sqrt(max(products.sum(), 0.0))) or alone


def level_effect(
    model: Any, X: Any, columns: Sequence[int], levels: Sequence[str], classes: Sequence[str]
) -> LevelEffect:
    """Predictions with every row put to each level in turn."""
    table = np.array(take_rows(X, evenly_spaced(X.shape[0], MOST_ROWS)), dtype=float)
    found = []
    for column in columns:
        table[:, list(columns)] = 0.0
        table[:, column] = 1.0
        score = model.decision_function if classes else model.predict
        scores = score(table, **model.describe().at_the_mean)
        found.append(np.atleast_1d(np.mean(scores, axis=0)))
    values: Array = np.array(found)
    which = int(np.ptp(values, axis=0).argmax())
    order = np.argsort(-values[:, which], kind="stable")
    output = None if not classes else classes[-1] if values.shape[1] == 1 else classes[which]
    return LevelEffect(
        tuple(levels[k] for k in order), tuple(float(values[k, which]) for k in order), output
    )


def encoded_view(
    model: Any, X: Any, groups: Sequence[str] | None, stability: Stability | None
) -> dict[str, Any]:
    """Arguments that make findings of a mixed table: the model of its encoded columns, grouped by
    the columns of the table, or by the variables that some of them make up.
    """
    described = model.describe()
    labels, encoder = described.feature_groups, described.encoder
    if encoder is None:
        return {} if labels is None or groups is not None else {"groups": labels}
    origins = encoder.origins
    if labels is None:
        labels = [column.name for column in encoder.columns]
    if stability is not None:
        inside = tuple(np.flatnonzero(np.isin(origins, one)) for one in stability.selections)
        stability = replace(stability, selections=inside, n_features=len(origins))
    return {
        "model": encoded_model(model),
        "X": fill_holes(encoder.encode(X), model.mean_),
        "names": encoder.names,
        "groups": [labels[k] for k in origins],
        "stability": stability,
    }
