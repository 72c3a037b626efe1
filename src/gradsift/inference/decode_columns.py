"""Findings on encoded columns, in terms of the columns of the table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from gradsift.inference.findings import Finding, Findings
from gradsift.inference.marginal_tests import Association
from gradsift.inference.results import ColumnTest, ProductTest, Rival, Significance
from gradsift.inference.settings import DEFAULT
from gradsift.protocols import Array, IntArray


def unique_origins(columns: IntArray | tuple[int, ...], origins: IntArray) -> tuple[int, ...]:
    """The columns of the table behind some encoded ones, each once, in their order."""
    return tuple(dict.fromkeys(origins[np.asarray(columns, dtype=np.intp)].tolist()))


def finding_of_table(finding: Finding, origins: IntArray) -> Finding:
    """A finding of encoded columns as one of columns of the table; the confidences of the levels of
    a category add up, to that of the finding at most.
    """
    columns = unique_origins(finding.columns, origins)
    behind, most = origins[finding.columns], finding.confidence
    members = [min(float(finding.members[behind == k].sum()), most) for k in columns]
    return replace(
        finding,
        columns=np.array(columns, dtype=np.intp),
        members=np.array([most] if len(columns) == 1 else members),
        partners=np.array(unique_origins(finding.partners, origins), dtype=np.intp),
    )


def each_finding(findings: Iterable[Finding], origins: IntArray) -> list[Finding]:
    """Findings of columns of the table, each once: those of two levels of a category are one."""
    out: dict[frozenset[int], Finding] = {}
    for finding in findings:  # the most certain first
        one = finding_of_table(finding, origins)
        out.setdefault(frozenset(one.columns.tolist()), one)
    return list(out.values())


def confidence_of_table(confidence: Array, origins: IntArray, findings: Iterable[Finding]) -> Array:
    """Confidence of every column of the table, by any of its encoded columns; that of a member of a
    finding is the one stated there.
    """
    most = np.where(np.bincount(origins, confidence == 1.0) > 0, 1.0, DEFAULT.most_confidence)
    total = np.minimum(np.bincount(origins, confidence), most)
    for finding in reversed(each_finding(findings, origins)):
        total[finding.columns] = finding.members
    return total


def findings_of_table(found: Findings, origins: IntArray) -> Findings:
    """Findings and confidences of the columns of the table."""
    confidence = confidence_of_table(found.confidence, origins, found.findings)
    return Findings(tuple(each_finding(found.findings, origins)), confidence)


def association_of_table(found: Association, origins: IntArray) -> Association:
    """The same of the columns of the table. The encoded columns of one have one p-value."""
    first = np.unique(origins, return_index=True)[1]
    return Association(found.p_values[first], found.q_values[first])


def significance_of_table(found: Significance, origins: IntArray) -> Significance:
    """Tests of the columns of the table. The encoded columns of one column have one p-value."""
    first = np.unique(origins, return_index=True)[1]

    def rival(one: Rival) -> Rival:
        return replace(one, columns=unique_origins(one.columns, origins))

    tests: dict[int, ColumnTest] = {}
    for test in found.tests:  # most certain first
        column = int(origins[test.column])
        together = tuple(sorted(unique_origins(test.together, origins)))
        tests.setdefault(
            column, ColumnTest(column, together, rival(test.alone), rival(test.as_finding))
        )
    pairs: dict[tuple[int, int], ProductTest] = {}
    for pair in found.products:
        a, b = sorted((int(origins[pair.first]), int(origins[pair.second])))
        if a != b:
            pairs.setdefault((a, b), replace(pair, first=a, second=b))
    return Significance(
        p_values=found.p_values[first],
        q_values=found.q_values[first],
        finding_p_values=found.finding_p_values[first],
        finding_q_values=found.finding_q_values[first],
        tests=tuple(tests.values()),
        products=tuple(pairs.values()),
    )
