"""The longer list in plain language: what is associated with the response, one by one."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradsift.inference.marginal_tests import RATE
from gradsift.protocols import IntArray
from gradsift.report._findings import MOST_LISTED, Findings
from gradsift.report.text import percent

MEANING = (
    "Associated means that the response differs along the variable when nothing else is held "
    "fixed: near-copies of what acts, and variables that share a cause with it, are on this list "
    "too. It does not say that a variable acts by itself; that is what the selected ones are "
    "judged by."
)


def associated(findings: Findings) -> dict[str, Any] | None:
    """The list as plain data and words; None where nobody tested."""
    found = findings.described.association
    if found is None:
        return None
    rate = findings.described.false_discovery_rate or RATE
    columns = found.associated(rate)
    count = n_variables(findings, columns)
    looked_at = np.setdiff1d(np.flatnonzero(~np.isnan(found.p_values)), findings.constant)
    tested = n_variables(findings, looked_at)
    chosen = {row.name for row in findings.variables}
    rows: dict[str, list[Any]] = {}
    for k in columns[:MOST_LISTED].tolist():
        name = findings.variable_of(k)
        values = float(found.p_values[k]), float(found.q_values[k])
        rows.setdefault(name, [name, *values, name in chosen])
    return {
        "false_discovery_rate": rate,
        "count": count,
        "tested": tested,
        "words": list_words(findings, count, tested, rate),
        "meaning": MEANING,
        "variables": list(rows.values()),
    }


def n_variables(findings: Findings, columns: IntArray) -> int:
    """Variables that some columns belong to."""
    if findings.groups is None:
        return len(columns)
    return len({findings.groups[k] for k in columns.tolist()})


def list_words(findings: Findings, count: int, tested: int, rate: float) -> str:
    """How long the list is, and what it is a list of."""
    at = f"associated with {findings.target} at a false discovery rate of {percent(rate)}"
    if count == 0:
        return f"Looked at one by one, none of {tested:,} variables is {at}."
    verb = "is" if count == 1 else "are"
    return f"Looked at one by one, {count:,} of {tested:,} variables {verb} {at}."
