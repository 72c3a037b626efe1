"""Findings as plain numbers, words and lists: what the page, a JSON file or a terminal shows."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradsift.explain import VariableSummary, best_unselected
from gradsift.explain.displays._style import readable
from gradsift.report import _words as words
from gradsift.report._findings import Findings

SCHEMA = 1
MOST_LISTED = 20_000  # unselected variables named, best ranked first


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
    held, proof = findings.held_out, findings.described.optimality
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
            "held_out": None if held is None else held.mean,
            "n_directions": int(findings.model.n_components_),
            "variables": [variable_row(row) for row in findings.variables],
            "others": other_variables(findings),
            "sure": [list(item) for item in words.sureness(findings)],
            "beware": [list(item) for item in words.cautions(findings)],
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


def variable_row(row: VariableSummary) -> dict[str, Any]:
    """One selected variable as plain values."""
    low, median, high = row.effect.quantiles
    return {
        "rank": row.rank,
        "column": row.column,
        "name": row.name,
        "importance": row.importance,
        "frequency": row.frequency,
        "family_frequency": row.family_frequency,
        "sign": row.effect.sign,
        "shape": row.effect.shape,
        "effect": row.effect.words,
        "output": row.output,
        "gradient_low": low,
        "gradient_median": median,
        "gradient_high": high,
        "partners": list(row.partners),
        "stand_ins": [
            [name, float(r)] for name, r in zip(row.stand_in_names, row.stand_ins.correlations)
        ],
        "n_stand_ins": row.stand_ins.total,
    }


def other_variables(findings: Findings) -> list[list[Any]]:
    """[rank, name] of variables that were not selected, best first."""
    ranking, names = findings.model.ranking_, findings.all_names
    order = best_unselected(findings.model, MOST_LISTED)
    return [[int(ranking[k]), names[k]] for k in order.tolist()]


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
