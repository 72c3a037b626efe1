"""Families in plain language: who could be the one that acts, and what speaks for it."""

from __future__ import annotations

from typing import Any

from gradsift.explain import FamilySummary, FamilyTest
from gradsift.report._findings import Findings
from gradsift.report._text import capital, join, percent, short_percent, sure_percent

MOST_MEMBERS = 5
"""Members named in a sentence."""
MOST_IN_LEAD = 3
"""Families named in the first sentence of a page."""
LEAST_SAID = 0.005
"""Members less probable than this are counted, not named."""


def family_rows(findings: Findings) -> list[dict[str, Any]] | None:
    """Families as plain data and words; None where nobody looked for them."""
    if findings.families is None:
        return None
    return [family_row(findings, number, row) for number, row in enumerate(findings.families, 1)]


def family_row(findings: Findings, number: int, row: FamilySummary) -> dict[str, Any]:
    """One family as plain data, and the sentences that are said of it."""
    test = row.test
    return {
        "number": number,
        "probability": row.probability,
        "standard_error": row.standard_error,
        "shape": row.shape,
        "members": [[m.name, m.probability, m.correlation, m.selected] for m in row.members],
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
    """A family as one paragraph."""
    names = f": {row['names']}" if row["names"] else ""
    said = f"{short_percent(row['probability'])} {row['title']}{names}. {row['evidence']}"
    return f"{said} {capital(row['chosen'])}.".strip() if row["chosen"] else said


def title(row: FamilySummary) -> str:
    """'one of 16 variables', 'x5', 'a product of x3 with x7'."""
    if row.shape == "product":
        return f"a product of {side(row.names)} with {side(row.partners)}"
    return row.names[0] if row.is_named else f"one of {len(row.members):,} variables"


def side(names: Any) -> str:
    return str(names[0]) if len(names) == 1 else f"one of {len(names):,} variables ({join(names)})"


def member_words(row: FamilySummary) -> str:
    """'a 42 %, b 18 % and 3 more'; nothing for a family of one."""
    if row.shape == "product" or len(row.members) == 1:
        return ""
    shown = [
        f"{m.name} {sure_percent(m.probability)}"
        for m in row.members[:MOST_MEMBERS]
        if m.probability >= LEAST_SAID
    ]
    return join([*shown, *[""] * (len(row.members) - len(shown))], most=max(len(shown), 1))


def evidence(findings: Findings, row: FamilySummary) -> str:
    """The form of the effect, the test, and what explains the response without the family."""
    shape = "a category" if row.shape == "category" else row.shape
    if row.test is None:
        return "" if row.shape == "product" else f"{shape}."
    q = f"q = {q_words(row.test.q_value)}".replace("= <", "<")
    if row.shape == "product":
        return f"{q}."
    return f"{shape}, {q}; {without(findings, row, row.test)}."


def without(findings: Findings, row: FamilySummary, test: FamilyTest) -> str:
    """What explains the response without a family."""
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


def chosen(row: FamilySummary) -> str:
    """Who was selected for the family, where another member is likelier to act; else nothing."""
    likeliest, selected = row.members[0], [m for m in row.members if m.selected]
    if row.shape == "product" or not selected or likeliest.selected:
        return ""
    who = join([f"{m.name} ({sure_percent(m.probability)})" for m in selected])
    explain = "explains" if len(selected) == 1 else "explain"
    return (
        f"selected for it: {who}, which {explain} much beside the other selected variables; over "
        f"all explanations, {likeliest.name} ({sure_percent(likeliest.probability)}) is likelier "
        "to act"
    )


def repeated(findings: Findings, row: FamilySummary) -> str:
    """How often a member came back in half samples, beside chance; nothing without halves."""
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


def chance_words(expected: float) -> str:
    """'0.2', or 'fewer than 0.1'."""
    return "fewer than 0.1" if expected < 0.1 else f"{expected:.1f}"


def needed(findings: Findings) -> list[FamilySummary]:
    """Families with a q-value up to the false discovery rate that was asked for."""
    rate = findings.described.false_discovery_rate
    if rate is None:
        return []
    return [f for f in findings.families or [] if f.test is not None and f.test.q_value <= rate]


def lead(families: list[FamilySummary], verb: str) -> str:
    """'One of 6 variables acts (100 %: a, b and 4 more), and x5 acts (96 %)'."""
    said = [clause(row, verb) for row in families[:MOST_IN_LEAD]]
    hidden = len(families) - len(said)
    if hidden:
        said.append(f"{hidden:,} more {'family' if hidden == 1 else 'families'}")
    text = said[0] if len(said) == 1 else f"{'; '.join(said[:-1])}; and {said[-1]}"
    return text if families[0].is_named else capital(text)


def clause(row: FamilySummary, verb: str) -> str:
    """'one of 6 variables acts (a, b, c and 3 more; 100 %)'."""
    names = f"{join(row.names)}; " if len(row.members) > 1 and row.shape != "product" else ""
    return f"{title(row)} {verb} ({names}{sure_percent(row.probability)})"
