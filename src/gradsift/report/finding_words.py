"""Findings in plain language: who could be the one that acts, and what speaks for it."""

from __future__ import annotations

from typing import Any

from gradsift.explain import FindingSummary, FindingTest
from gradsift.inference.findings import CLEAR, certainty
from gradsift.report._findings import Findings
from gradsift.report.text import at_least, capital, join, percent, sure_percent

MOST_MEMBERS = 5
"""Members named in a sentence."""
MOST_IN_LEAD = 3
"""Findings named in the first sentence of a page."""


def finding_rows(findings: Findings) -> list[dict[str, Any]] | None:
    """Findings as plain data and words; None where nobody looked for them."""
    if findings.found is None:
        return None
    return [finding_row(findings, number, row) for number, row in enumerate(findings.found, 1)]


def finding_row(findings: Findings, number: int, row: FindingSummary) -> dict[str, Any]:
    """One finding as plain data, and the sentences that are said of it."""
    test = row.test
    return {
        "number": number,
        "confidence": row.confidence,
        "certainty": certainty(row.confidence),
        "shape": row.shape,
        "members": [[m.name, m.confidence, m.correlation, m.selected] for m in row.members],
        "partners": list(row.partners),
        "p_value": None if test is None else test.p_value,
        "q_value": None if test is None else test.q_value,
        "rival": None if test is None or test.rival is None else list(test.rival),
        "rival_unexplained": None if test is None else test.rival_unexplained,
        "came_back": row.came_back,
        "by_chance": row.by_chance,
        "title": title(row),
        "names": member_words(row),
        "evidence": evidence(findings, row),
        "chosen": chosen(row),
        "repeated": repeated(findings, row),
    }


def in_a_line(row: dict[str, Any]) -> str:
    """A finding as one paragraph."""
    names = f": {row['names']}" if row["names"] else ""
    said = f"{confidence_words(row['confidence'])} {row['title']}{names}. {row['evidence']}"
    return f"{said} {capital(row['chosen'])}.".strip() if row["chosen"] else said


def confidence_words(confidence: float) -> str:
    """A percentage where that holds on all planted tables, below it a word.

    Examples
    --------
    >>> confidence_words(0.97), confidence_words(0.84)
    ('97\u00a0%', 'likely')
    """
    return sure_percent(confidence) if confidence >= CLEAR else certainty(confidence)


def title(row: FindingSummary) -> str:
    """'one of 16 variables', 'x5', 'x3 with x7'."""
    who = row.names[0] if len(row.members) == 1 else f"one of {len(row.members):,} variables"
    return f"{who} with {side(row.partners)}" if row.partners else who


def side(names: Any) -> str:
    return str(names[0]) if len(names) == 1 else f"one of {len(names):,} variables ({join(names)})"


def member_words(row: FindingSummary) -> str:
    """'a, b, c and 3 more'; nothing for a finding of one."""
    return "" if len(row.members) == 1 else join(row.names, most=MOST_MEMBERS)


def evidence(findings: Findings, row: FindingSummary) -> str:
    """The form of the effect, the test, and what explains the response without the finding."""
    shape = "a category" if row.shape == "category" else row.shape
    if row.test is None:
        return "" if row.shape == "product" else f"{shape}."
    q = f"q = {q_words(row.test.q_value)}".replace("= <", "<")
    if row.shape == "product":
        return f"{q}."
    return f"{shape}, {q}; {without(findings, row, row.test)}."


def without(findings: Findings, row: FindingSummary, test: FindingTest) -> str:
    """What explains the response without a finding."""
    it = "it" if len(row.members) == 1 else "them"
    if not test.rival:
        return f"without {it} nothing was found to explain {findings.target}"
    left = percent(test.rival_unexplained)
    best = join(test.rival)
    return f"without {it} the best explanation is {best}, which leaves {left} of the variance"


def q_words(q: float) -> str:
    """A q-value for people.

    Examples
    --------
    >>> q_words(0.0312), q_words(1e-9), q_words(1.0)
    ('0.031', '< 0.001', '1')
    """
    return "< 0.001" if q < 0.001 else f"{q:.2g}"


def chosen(row: FindingSummary) -> str:
    """Who was selected for the finding, where another member is likelier to act; else nothing."""
    likeliest, selected = row.members[0], [m for m in row.members if m.selected]
    if not selected or likeliest.selected:
        return ""
    who = join([m.name for m in selected])
    explain = "explains" if len(selected) == 1 else "explain"
    return (
        f"selected for it: {who}, which {explain} much given the other selected variables; over "
        f"all explanations, {likeliest.name} is likelier to act"
    )


def repeated(findings: Findings, row: FindingSummary) -> str:
    """How often a member came back in half samples, and by chance; nothing without halves."""
    if row.came_back is None or row.by_chance is None or findings.stability is None:
        return ""
    count = findings.stability.n_subsamples
    size = len(row.members)
    what = "a random variable" if size == 1 else f"{size:,} random variables"
    who = "it" if size == 1 else "a member"
    return (
        f"{who} came back in {row.came_back * count:.0f} of {count} half samples "
        f"({what}: {chance_words(row.by_chance * count)})"
    )


def graded(found: list[FindingSummary]) -> str:
    """'All are clear', or 'a is likely; b and c are possible'."""
    if all(row.confidence >= CLEAR for row in found):
        return f"Each is clear, with a confidence of {at_least(min(r.confidence for r in found))}"
    names: dict[str, list[str]] = {}
    for row in found:
        names.setdefault(certainty(row.confidence), []).append(title(row))
    said = [f"{join(who)} {'is' if len(who) == 1 else 'are'} {how}" for how, who in names.items()]
    return "; ".join(said)


def chance_words(expected: float) -> str:
    """'0.2', or 'fewer than 0.1'."""
    return "fewer than 0.1" if expected < 0.1 else f"{expected:.1f}"


def needed(findings: Findings) -> list[FindingSummary]:
    """Findings with a q-value up to the false discovery rate that was asked for."""
    rate = findings.described.false_discovery_rate
    if rate is None:
        return []
    return [f for f in findings.found or [] if f.test is not None and f.test.q_value <= rate]


def lead(found: list[FindingSummary], verb: str) -> str:
    """'One of 6 variables acts (100 %: a, b and 4 more), and x5 acts (96 %)'."""
    said = [clause(row, verb) for row in found[:MOST_IN_LEAD]]
    hidden = len(found) - len(said)
    if hidden:
        said.append(f"{hidden:,} more {'finding' if hidden == 1 else 'findings'}")
    text = said[0] if len(said) == 1 else f"{'; '.join(said[:-1])}; and {said[-1]}"
    return text if found[0].is_named else capital(text)


def clause(row: FindingSummary, verb: str) -> str:
    """'one of 6 variables acts (a, b, c and 3 more; 100 %)'."""
    names = f"{join(row.names)}; " if len(row.members) > 1 else ""
    if verb == "acts" and row.confidence < CLEAR:
        verb = "may act"
    return f"{title(row)} {verb} ({names}{confidence_words(row.confidence)})"
