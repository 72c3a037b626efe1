"""Findings as plain numbers, words and lists: what the page, a JSON file or a terminal shows."""

from __future__ import annotations

from dataclasses import asdict
from math import nan
from typing import Any

import numpy as np

from gradsift.estimators.columns import confidence_of_table
from gradsift.explain import VariableSummary
from gradsift.explain.displays.style import readable
from gradsift.report import words
from gradsift.report._associated import associated
from gradsift.report._findings import Findings
from gradsift.report._score_words import as_data, predictor_name, scores_as_data
from gradsift.report.finding_words import finding_rows
from gradsift.report.sure_words import cautions, decisions, sureness

SCHEMA = 4


def summarise(findings: Findings) -> dict[str, Any]:
    """Everything the report says, without its pictures, as a dict that JSON can hold.

    Parameters
    ----------
    findings : Findings

    Returns
    -------
    summary : dict

    Examples
    --------
    >>> from gradsift import GradientSiftRegressor
    >>> X = np.random.default_rng(0).normal(size=(100, 10))
    >>> y = 2 * X[:, 4]
    >>> model = GradientSiftRegressor().fit(X, y)
    >>> summarise(Findings(model, X, y, target="yield"))["headline"]
    'x4 explains yield, out of 10 variables'
    """
    held, new, proof = findings.held_out, findings.new_scores, findings.described.optimality
    ensemble = findings.described.ensemble
    return clean(
        {
            "schema": SCHEMA,
            "headline": words.headline(findings),
            "asked": words.asked(findings),
            "found": words.sentences(findings),
            "rows": findings.rows,
            "columns": findings.columns,
            "n_selected": findings.n_selected,
            "task": "classification" if findings.labels else "regression",
            "target": findings.target,
            "source": findings.source,
            "metric": findings.metric,
            "score": findings.score,
            "score_rows": score_rows(findings),
            "held_out": None if held is None else held.mean,
            "scores": scores_as_data(findings),
            "new_rows": None if new is None else as_data(new),
            "predicts_with": predictor_name(findings.model),
            "ensemble": None if ensemble is None else asdict(ensemble),
            "covariates": [*findings.covariate_names, *findings.adjusted_for],
            "covariates_explain": findings.described.covariates_explain,
            "n_directions": int(findings.model.n_components_),
            "directions_share": words.directions_share(findings),
            "findings": finding_rows(findings),
            "variables": [variable_row(findings, row) for row in findings.variables],
            "associated": associated(findings),
            "others": [list(item) for item in findings.others],
            "picked": [list(item) for item in findings.picked],
            "sure": [list(item) for item in sureness(findings)],
            "beware": [list(item) for item in cautions(findings)],
            "decisions": decisions(findings),
            "certificate": None if proof is None else vars(proof),
            "settings": dict(findings.settings),
            "redo": {
                "command": findings.command,
                "model": " ".join(repr(findings.model).split()),
                "seed": findings.seed,
                "fingerprint": findings.fingerprint,
                "seconds": findings.seconds,
                "versions": dict(findings.versions),
            },
            "created": findings.created,
        }
    )


def score_rows(findings: Findings) -> str:
    """Which rows `score` was computed on."""
    if findings.unseen is None or not np.any(findings.unseen):
        return "rows of the fit"
    return "new rows" if np.all(findings.unseen) else "new rows and rows of the fit"


def variable_row(findings: Findings, row: VariableSummary) -> dict[str, Any]:
    """One selected variable as plain values."""
    change, low, high = row.effect.change
    levels = findings.level_effects.get(row.column)
    per_sd, per_unit = row.effect.per_sd, row.effect.per_unit
    if levels is not None:  # from the highest level to the lowest, not along a 0/1 column
        change, low, high = levels.values[0] - levels.values[-1], nan, nan
        per_sd = per_unit = nan
    return {
        "rank": row.rank,
        "column": row.column,
        "name": row.name,
        "place": findings.variant_places.get(row.name),
        "importance": row.importance,
        "finding": findings.finding_numbers.get(row.name),
        "confidence": confidence(findings, row),
        "came_back": row.came_back,
        "by_chance": row.by_chance,
        "sign": row.effect.sign,
        "shape": row.effect.shape,
        "effect": row.words if levels is None else levels.words,
        "output": row.output if levels is None else levels.output,
        "levels": None
        if levels is None
        else [list(item) for item in zip(levels.levels, levels.values)],
        "classes": [
            [output, effect.sign, effect.words]
            for output, effect in row.effects
            if output is not None
        ],
        "span": list(row.effect.span),
        "alone": row.effect.alone and levels is None,
        "above": row.effect.above,
        "below": row.effect.below,
        "change": change,
        "change_low": low,
        "change_high": high,
        "per_sd": per_sd,
        "per_unit": per_unit,
        "swing": row.effect.swing,
        "partners": list(row.partners),
        "stand_ins": [
            [name, float(r)] for name, r in zip(row.stand_in_names, row.stand_ins.correlations)
        ],
        "n_stand_ins": row.stand_ins.total,
        "test": tested(findings, row.column),
    }


def confidence(findings: Findings, row: VariableSummary) -> float | None:
    """How sure it is that a variable acts; of several columns, some of them."""
    found = findings.described.confidence
    if found is None:
        return None
    if findings.groups is None:
        return float(found[row.column])
    variables = np.unique(findings.groups, return_inverse=True)[1]
    whole = confidence_of_table(found, variables, findings.described.findings or ())
    return float(whole[variables[row.column]])


def tested(findings: Findings, column: int) -> dict[str, Any] | None:
    """p- and q-values of a variable and of its finding, and what explains the response without
    it; None where nothing was tested.
    """
    found = findings.described.significance
    if found is None:
        return None
    one = next((t for t in found.tests if t.column == column), None)
    # sets that overlap count once: the q-value of a set is with its most certain column
    same = [] if one is None else [t.column for t in found.tests if t.together == one.together]
    rival = None if one is None else [findings.all_names[k] for k in one.alone.columns]
    return {
        "p_value": float(found.p_values[column]),
        "q_value": float(found.q_values[column]),
        "finding_q_value": float(found.finding_q_values[[column, *same]].min()),
        "finding": [] if one is None else [findings.all_names[k] for k in one.together],
        "part": None if one is None else one.alone.part,
        "rival": rival,
        "rival_unexplained": None if one is None else one.alone.unexplained,
    }


def clean(value: Any) -> Any:
    """The same with every text printable, every number finite or None: safe for any file format."""
    if isinstance(value, dict):
        return {clean(k): clean(v) for k, v in value.items()}
    if isinstance(value, list):
        return [clean(v) for v in value]
    if isinstance(value, str):
        return readable(value)
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    return value
