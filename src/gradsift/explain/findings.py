"""Findings as a page or a terminal shows them: one row each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradsift.data.slices import take_columns
from gradsift.evaluate import Stability
from gradsift.explain.variables import came_back
from gradsift.inference import Significance
from gradsift.inference.findings import Finding
from gradsift.inference.results import ColumnTest
from gradsift.inference.settings import PRODUCT
from gradsift.protocols import Array, IntArray

MOST_CORRELATED = 100
"""Members whose correlations with the first are looked at."""


@dataclass(frozen=True)
class Member:
    """A variable of a finding.

    Attributes
    ----------
    name : str
    column : int
        Its column of the largest confidence.
    confidence : float
        How sure it is that this variable acts.
    correlation : float
        With the first member; nan beyond the first hundred.
    selected : bool
    """

    name: str
    column: int
    confidence: float
    correlation: float
    selected: bool


@dataclass(frozen=True)
class FindingTest:
    """What tests say about a finding.

    Attributes
    ----------
    p_value, q_value : float
    rival : tuple of str or None
        What explains the response best without the finding; None for a product, which is tested
        beyond all that its two sides do alone.
    rival_unexplained : float
        Share of the variance that this leaves.
    """

    p_value: float
    q_value: float
    rival: tuple[str, ...] | None
    rival_unexplained: float


@dataclass(frozen=True)
class FindingSummary:
    """What is known about one finding.

    Attributes
    ----------
    confidence : float
        How sure it is that at least one member acts.
    shape : str
        "straight", "curved" or "product"; reports also say "category".
    members : tuple of Member
        That of the largest confidence first.
    partners : tuple of str
        Variables that it acts with, where it acts in a product.
    test : FindingTest or None
        None where findings were not tested.
    came_back : float or None
        Share of the half samples that selected some member; None where there were none.
    by_chance : float or None
        The same for as many columns drawn at random.
    """

    confidence: float
    shape: str
    members: tuple[Member, ...]
    partners: tuple[str, ...]
    test: FindingTest | None
    came_back: float | None
    by_chance: float | None

    @property
    def names(self) -> list[str]:
        return [member.name for member in self.members]

    @property
    def is_named(self) -> bool:
        """Whether it is a single variable, which acts by itself."""
        return len(self.members) == 1 and self.shape != "product"


def summarise_findings(
    model: Any,
    findings: Sequence[Finding],
    X: Any,
    name_of: Callable[[int], str],
    *,
    significance: Significance | None = None,
    stability: Stability | None = None,
) -> list[FindingSummary]:
    """Everything that is shown of findings, the most certain first.

    Parameters
    ----------
    model : fitted estimator
    findings : sequence of Finding
    X : (n, p) array, data frame or source
        Samples to compute correlations from.
    name_of : function
        The name of the variable that a column belongs to. Columns of one variable, such as the 0/1
        columns of a category, are one member.
    significance : Significance, optional
        With tests of these findings.
    stability : Stability, optional
        Selections on half samples.

    Returns
    -------
    rows : list of FindingSummary

    Examples
    --------
    >>> from gradsift import GradientSiftRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 30))
    >>> X[:, 8] = X[:, 3] + 0.1 * rng.normal(size=100)      # nearly a copy
    >>> y = X[:, 3] ** 2 + X[:, 5] + rng.normal(size=100)
    >>> model = GradientSiftRegressor(inference=True).fit(X, y)
    >>> rows = summarise_findings(model, model.findings_, X, "x{}".format)
    >>> sorted((row.names, row.shape) for row in rows)
    [(['x3', 'x8'], 'curved'), (['x5'], 'straight')]
    """
    selected = model.get_support()
    return [
        FindingSummary(
            confidence=finding.confidence,
            shape=plain_shape(finding.shape),
            members=finding_members(finding, X, name_of, selected),
            partners=distinct(finding.partners, name_of),
            test=None if significance is None else finding_test(finding, significance, name_of),
            came_back=again[0],
            by_chance=again[1],
        )
        for finding in findings
        for again in [came_back(stability, finding.columns)]
    ]


def plain_shape(shape: str) -> str:
    """The form of an effect in one word."""
    return {"linear": "straight", "product": "product"}.get(shape, "curved")


def distinct(columns: IntArray, name_of: Callable[[int], str]) -> tuple[str, ...]:
    """The variables of some columns, each once."""
    return tuple(dict.fromkeys(map(name_of, columns.tolist())))


def finding_members(
    finding: Finding, X: Any, name_of: Callable[[int], str], selected: Array
) -> tuple[Member, ...]:
    """Variables of a finding; confidences of columns of one variable add up."""
    correlations = with_first(take_columns(X, finding.columns[:MOST_CORRELATED]))
    found: dict[str, Member] = {}
    for j, (k, weight) in enumerate(zip(finding.columns.tolist(), finding.members.tolist())):
        name = name_of(k)
        if name in found:
            old = found[name]
            found[name] = Member(
                name,
                old.column,
                min(old.confidence + weight, finding.confidence),
                old.correlation,
                old.selected or bool(selected[k]),
            )
        else:
            r = float(correlations[j]) if j < len(correlations) else float("nan")
            found[name] = Member(name, k, weight, r, bool(selected[k]))
    return tuple(sorted(found.values(), key=lambda member: -member.confidence))


def with_first(values: Array) -> Array:
    """Correlations of columns with the first of them; 0 for constant ones."""
    Z = np.asarray(values, dtype=float)
    Z = Z - Z.mean(axis=0)
    length = np.linalg.norm(Z, axis=0)
    return np.asarray(Z.T @ Z[:, 0] / np.maximum(length * length[0], 1e-300))


def finding_test(
    finding: Finding, significance: Significance, name_of: Callable[[int], str]
) -> FindingTest | None:
    """The most certain test of a finding; None where it was not tested."""
    if finding.shape == PRODUCT:
        return product_test(finding, significance)
    columns = tuple(sorted(finding.columns.tolist()))
    tests: list[ColumnTest] = [t for t in significance.tests if t.together == columns]
    if not tests:
        return None
    best = min(tests, key=lambda t: (t.as_finding.log_p, t.column))
    return FindingTest(
        float(significance.finding_p_values[best.column]),
        float(significance.finding_q_values[best.column]),
        distinct(np.array(best.as_finding.columns, dtype=np.intp), name_of),
        best.as_finding.unexplained,
    )


def product_test(finding: Finding, significance: Significance) -> FindingTest | None:
    """The most certain product of one column of each side."""
    one, other = set(finding.columns.tolist()), set(finding.partners.tolist())
    found = [
        t
        for t in significance.products
        if (t.first in one and t.second in other) or (t.first in other and t.second in one)
    ]
    if not found:
        return None
    return FindingTest(found[0].p_value, found[0].q_value, None, float("nan"))
