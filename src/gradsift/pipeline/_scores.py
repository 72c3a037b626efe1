"""Held-out scores and tests in the form that an answer has them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.base import BaseEstimator

from gradsift.answer import Answer, Prediction, Score, Sheet
from gradsift.answer.words import TOGETHER
from gradsift.evaluate import HeldOut, Scores
from gradsift.evaluate.scores import OUTCOME
from gradsift.inference.marginal_tests import RATE
from gradsift.protocols import Array, IntArray

CLEARLY_BETTER = 0.05
"""Difference of R² or accuracy from which another way to predict is worth advice, where it is also
larger than the standard deviation over the folds.
"""
MOST_LISTED = 1_000
"""Rows of a sheet."""
CALLED = {
    "together": TOGETHER,
    "simple": "{} on all columns",
    "baseline": "the {} for every row",
}
"""What ways to predict are called, by their names in held-out scores."""


def prediction_of(held: HeldOut, target: str, outcomes: Sequence[str] = ()) -> Prediction:
    """The scores of held-out folds, with advice where something else predicts clearly better."""
    metric = held.metric

    def score(way: str, name: str, scores: Scores) -> Score:
        called = CALLED.get(way, "{}").format(name)
        return Score(called, scores.mean(metric), scores.spread(metric))

    model, *others = (score(*way) for way in held.ways(target))
    best = max(others, key=lambda s: s.mean)
    gain, advice = best.mean - model.mean, ""
    if gain > max(CLEARLY_BETTER, best.spread, model.spread):
        way = "--predict-with all" if best.name == TOGETHER else best.name
        advice = f"For predicting, use {way}."
    where = f"{held.n_folds} held-out folds"
    each = of_outcomes(held.selected, outcomes)
    beaten = held.better_than_nothing or model.mean > held.baseline.mean(metric)
    constant = model.mean <= 0.0 or not beaten
    return Prediction(metric, model, tuple(others), where, constant, advice, each)


def of_outcomes(scores: Scores, outcomes: Sequence[str]) -> tuple[Score, ...]:
    """The score of each of several outcomes."""
    parts = [OUTCOME.format(j) for j in range(len(outcomes))]
    return tuple(
        Score(name, scores.mean(part), scores.spread(part)) for name, part in zip(outcomes, parts)
    )


def new_rows_prediction(scores: Scores, count: int, outcomes: Sequence[str] = ()) -> Prediction:
    """The scores of a saved model on rows that its fit has not seen: the first that has a meaning,
    which some have not for one row, or one value of the target.
    """
    metric = next((m for m in scores.values if np.isfinite(scores.mean(m))), "R²")
    rows = f"{count:,} row{'' if count == 1 else 's'} that the fit has not seen"
    model = Score("the model", scores.mean(metric), float("nan"))
    each = of_outcomes(scores, outcomes) if metric == "R²" else ()
    return Prediction(metric, model, (), rows, outcomes=each)


def test_sheet(model: BaseEstimator, answer: Answer, names: Sequence[str]) -> Sheet | None:
    """p- and q-values of the tests that a false discovery rate was asked of."""
    found = getattr(model, "significance_", None)
    if found is None:
        return None
    order = np.argsort(found.p_values, kind="stable")
    order = order[found.p_values[order] < 1.0]  # nan where a column was not tested
    rows = by_variable(
        model, names, order, (found.p_values, found.q_values, found.finding_q_values)
    )
    text = (
        "Each variable is tested given the best model that does without it. q is the share of "
        "false ones among all up to this row."
    )
    clear = {m.name for f in answer.of("clear") for m in f.members[:1]}
    if any(name in clear and float(q) > 0.5 for name, _, q, *_ in rows):
        text += (
            " A clear finding can have a large q: all columns count as tests, and a near-copy can "
            "take its place."
        )
    head = ("variable", "p", "q", "q with its near-copies", "selected")
    return Sheet("Tests", text, head, rows)


def association_sheet(model: BaseEstimator, names: Sequence[str]) -> Sheet | None:
    """Variables that are associated with the response one by one."""
    found = getattr(model, "association_", None)
    if found is None:
        return None
    rate = model.false_discovery_rate or RATE
    columns = found.associated(rate)
    text = (
        f"{len(columns):,} columns are associated one by one at a false discovery rate of "
        f"{rate:.0%}, nothing else held fixed: near-copies of what acts, and what shares a cause "
        "with it, are on this list too."
    )
    rows = by_variable(model, names, columns, (found.p_values, found.q_values))
    return Sheet("Associated", text, ("variable", "p", "q", "selected"), rows)


def by_variable(
    model: BaseEstimator, names: Sequence[str], columns: IntArray, values: Sequence[Array]
) -> tuple[tuple[str | float, ...], ...]:
    """A row for each variable, with the values of its first column: itself, or the category that
    it is part of; and whether it was selected.
    """
    labels, selected = getattr(model, "feature_groups_", None), model.get_support()
    rows: dict[str, tuple[str | float, ...]] = {}
    for k in columns[:MOST_LISTED].tolist():
        name = (names if labels is None else labels)[k]
        numbers = (float(each[k]) for each in values)
        rows.setdefault(name, (name, *numbers, "yes" if selected[k] else "no"))
    return tuple(rows.values())
