"""Findings as plain numbers, words and lists: what the page, a JSON file or a terminal shows."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_classifier

from gradsift.explain import VariableSummary, best_unselected, summarise_variables, variable_names
from gradsift.explain.displays._style import readable
from gradsift.report import _words as words
from gradsift.report._findings import Findings

SCHEMA = 1
MOST_LISTED = 20_000  # unselected variables named, best ranked first


def describe_variables(findings: Findings) -> list[VariableSummary]:
    """The table of selected variables, as given or computed now."""
    if findings.variables is not None:
        return list(findings.variables)
    return summarise_variables(
        findings.model,
        findings.X,
        findings.y,
        names=findings.names,
        stability=findings.stability,
    )


def collect_facts(findings: Findings, variables: list[VariableSummary]) -> words.Facts:
    """Numbers the sentences are about."""
    model = findings.model
    names = variable_names(model, findings.names)
    others = best_unselected(model, 3)
    return words.Facts(
        rows=len(findings.y) if findings.n_samples is None else findings.n_samples,
        columns=len(names),
        variables=variables,
        n_selected=int(model.get_support().sum()),
        labels=is_classifier(model),
        score=float(model.score(findings.X, findings.y)),
        runners_up=[names[k] for k in others],
    )


def summarise(findings: Findings, variables: list[VariableSummary] | None = None) -> dict[str, Any]:
    """Everything the report says, without its pictures, as a dict that JSON can hold.

    Parameters
    ----------
    findings : Findings
    variables : list of VariableSummary, optional
        None = `findings.variables`, or computed.

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
    variables = describe_variables(findings) if variables is None else variables
    facts = collect_facts(findings, variables)
    model = findings.model
    directions = int(model.n_components_)
    return clean(
        {
            "schema": SCHEMA,
            "headline": words.headline(facts, findings.target),
            "asked": words.asked(findings, facts),
            "found": words.sentences(findings, facts),
            "rows": facts.rows,
            "columns": facts.columns,
            "n_selected": facts.n_selected,
            "task": "classification" if facts.labels else "regression",
            "target": findings.target,
            "source": findings.source,
            "metric": facts.metric,
            "score": facts.score,
            "held_out": None if findings.held_out is None else findings.held_out.mean,
            "n_directions": directions,
            "variables": [variable_row(row) for row in variables],
            "others": other_variables(findings),
            "sure": [list(item) for item in words.sureness(findings, facts)],
            "beware": [list(item) for item in words.cautions(findings, facts)],
            "redo": {
                "command": findings.command,
                "model": " ".join(repr(model).split()),
                "seed": findings.seed,
                "fingerprint": findings.fingerprint,
                "seconds": findings.seconds,
                "versions": dict(findings.versions),
            },
            "created": findings.created,
        }
    )


def variable_row(row: VariableSummary) -> dict[str, Any]:
    """One selected variable as plain values."""
    change, low, high = row.effect.change
    return {
        "rank": row.rank,
        "column": row.column,
        "name": row.name,
        "importance": row.importance,
        "frequency": row.frequency,
        "family_frequency": row.family_frequency,
        "sign": row.effect.sign,
        "shape": row.effect.shape,
        "effect": row.words,
        "output": row.output,
        "classes": [
            [output, effect.sign, effect.words]
            for output, effect in row.effects
            if output is not None
        ],
        "span": list(row.effect.span),
        "change": change,
        "change_low": low,
        "change_high": high,
        "per_sd": row.effect.per_sd,
        "per_unit": row.effect.per_unit,
        "swing": row.effect.swing,
        "partners": list(row.partners),
        "stand_ins": [
            [name, float(r)] for name, r in zip(row.stand_in_names, row.stand_ins.correlations)
        ],
        "n_stand_ins": row.stand_ins.total,
    }


def other_variables(findings: Findings) -> list[list[Any]]:
    """[rank, name] of variables that were not selected, best first."""
    model = findings.model
    names = variable_names(model, findings.names)
    order = best_unselected(model, MOST_LISTED)
    return [[int(model.ranking_[k]), names[k]] for k in order.tolist()]


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
