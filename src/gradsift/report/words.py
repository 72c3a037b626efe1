"""The findings in plain language."""

from __future__ import annotations

import numpy as np

from gradsift.explain import VariableSummary, effect_clause, pair_clause
from gradsift.inference.findings import CLEAR
from gradsift.report._findings import Findings
from gradsift.report._score_words import quality
from gradsift.report.finding_words import graded, lead, needed, title
from gradsift.report.text import capital, join, percent
from gradsift.tables.frame import counted


def headline(findings: Findings) -> str:
    if findings.n_selected == 0:
        return headline_of_nothing(findings)
    by_tests = findings.described.false_discovery_rate is not None
    if findings.found is not None and not by_tests and not told_apart(findings):
        return headline_of_findings(findings)
    if findings.n_selected == findings.columns:
        return f"How {findings.target} changes with {findings.columns:,} variables"
    verb = "tells apart" if findings.labels else "explains"
    if findings.n_selected == 1:
        what = f"the classes of {findings.target}" if findings.labels else findings.target
        return f"{findings.variables[0].name} {verb} {what}, out of {findings.columns:,} variables"
    verb = "tell apart" if findings.labels else "explain"
    what = f"the classes of {findings.target}" if findings.labels else findings.target
    return f"{findings.n_selected:,} of {findings.columns:,} variables {verb} {what}"


def told_apart(findings: Findings) -> bool:
    """Whether each finding is one variable, and those are what was selected."""
    found = findings.found or []
    alone = {name for row in found for name in (row.names + list(row.partners))}
    return all(len(row.members) == 1 and len(row.partners) <= 1 for row in found) and alone == {
        row.name for row in findings.variables
    }


def headline_of_findings(findings: Findings) -> str:
    """What is known where selected variables stand for others."""
    found = findings.found or []
    what = f"the classes of {findings.target}" if findings.labels else findings.target
    out_of = f", out of {findings.columns:,}"
    if not found:
        verb = "tells apart" if findings.labels else "explains"
        may = "1 variable may" if findings.n_selected == 1 else f"{findings.n_selected:,} may"
        return f"No variable {verb} {what} for certain; {may}{out_of}"
    sure = sum(row.confidence >= CLEAR for row in found)
    one, more = ("tells apart", "tell apart") if findings.labels else ("explains", "explain")
    if len(found) == 1:
        who = title(found[0]) if found[0].is_named else capital(title(found[0]))
        return f"{who} {one if sure else f'may {more}'} {what}{out_of}"
    if sure == 0:
        return f"{len(found):,} findings may {more} {what}{out_of}"
    rest = f"; {len(found) - sure:,} more may" if sure < len(found) else ""
    who = "1 finding" if sure == 1 else f"{sure:,} findings"
    return f"{who} {one if sure == 1 else more} {what}{rest}{out_of}"


def headline_of_nothing(findings: Findings) -> str:
    """No variable was selected; with tests, findings may still be needed."""
    if findings.columns == 0:
        return f"All variables were kept as asked: there was none to choose for {findings.target}"
    found = needed(findings)
    if findings.found and findings.described.false_discovery_rate is None:
        return headline_of_findings(findings)
    what = f"explain {findings.target}"
    if findings.labels:
        what = f"tell apart the classes of {findings.target}"
    if not found:
        return f"Nothing stands out among {findings.columns:,} variables"
    if len(found) == 1:
        one = capital(title(found[0]))
        return f"{one} is needed to {what}, and no single one for certain"
    return f"{len(found):,} findings are needed to {what}, and no single variable"


def sentences(findings: Findings) -> list[str]:
    """What was found, in three sentences."""
    if findings.n_selected == 0:
        return nothing(findings)
    names = [row.name for row in findings.variables]
    kept = (
        f"Every one of the {findings.columns:,} variables keeps some weight; the strongest are "
        f"{join(names[:5])}."
        if findings.n_selected == findings.columns
        else f"Out of {findings.columns:,} variables, {findings.n_selected:,} "
        f"{'was' if findings.n_selected == 1 else 'were'} kept: {join(names)}."
    )
    if findings.found and findings.described.false_discovery_rate is None:
        kept = finding_sentence(findings, kept)
    return [kept, strongest(findings), quality(findings)]


def finding_sentence(findings: Findings, kept: str) -> str:
    """Which findings act; where each is one variable, what was kept and how sure that is."""
    found = findings.found or []
    if told_apart(findings):
        return f"{kept} {graded(found)}."
    return f"{lead(found, 'acts')}. {selected_words(findings)}"


def selected_words(findings: Findings) -> str:
    """Which variables were selected, and how many of them are in no finding."""
    names = [row.name for row in findings.variables]
    partners = {name for row in findings.found or [] for name in row.partners}
    outside = [n for n in names if n not in findings.finding_numbers and n not in partners]
    rest = f"; {join(outside)} in no finding: too uncertain" if outside else ""
    return f"Selected {'was' if len(names) == 1 else 'were'} {join(names)}{rest}."


def strongest(findings: Findings) -> str:
    """What the best variable does, and who acts together."""
    best = findings.variables[0]
    text = f"Ranked first is {best.name}: {first_effect(findings, best)}"
    pair = pair_clause(findings.variables)
    if pair and best.effect.shape != "through interactions":
        text += f"; {pair}"
    return text + "."


def first_effect(findings: Findings, row: VariableSummary) -> str:
    """The effect of a variable of numbers or of categories, as a clause."""
    levels = findings.level_effects.get(row.column)
    if levels is None:
        return effect_clause(row, findings.target)
    verb = "is" if levels.output is None else "are"
    what = findings.target if levels.output is None else f"the odds of {levels.output}"
    return f"{what} {verb} {levels.words}"


def directions_share(findings: Findings) -> str:
    """The part of the mean squared gradient along the directions that are kept."""
    values = np.asarray(findings.model.eigenvalues_, dtype=float)
    total = float(values.sum())
    kept = float(values[: int(findings.model.n_components_)].sum())
    share = kept / total if total > 0 else 0.0
    return "all" if share > 1.0 - 1e-9 else percent(share)


def nothing(findings: Findings) -> list[str]:
    """Nothing selected, and why that may be."""
    if findings.columns == 0:
        return [f"{headline_of_nothing(findings)}."]
    level, proof = findings.described.false_positives, findings.described.optimality
    rate = findings.described.false_discovery_rate
    if rate is not None:
        first = (
            f"No variable is needed for certain: without any one of them {findings.target} can be "
            f"explained as well, at a false discovery rate of {rate:.0%}."
        )
        if found := needed(findings):
            first += f" {lead(found, 'is needed')}."
        try_next = "--fdr left out shows what was selected before the tests"
    elif level is not None:
        first = (
            f"No column is related to {findings.target} more closely than chance would make it "
            f"look, at a level that lets in {level:g} false variables on average."
        )
        if findings.found:
            first += f" Together they say more: {lead(findings.found, 'acts')}."
        try_next = "a larger false_positives admits weaker ones"
    else:
        at = "" if proof is None else f" (alpha {proof.alpha:.3g}, alpha_max {proof.alpha_max:.3g})"
        first = f"At the penalty used{at} no column earns its place."
        try_next = "a smaller alpha lets variables in"
    second = (
        f"The nearest to coming in are {join(findings.runners_up())}; each of them may be luck."
    )
    third = (
        f"Either there is nothing to find, or {findings.rows:,} rows are too few to see it among "
        f"{findings.columns:,} variables: more rows, or fewer variables chosen beforehand, would "
        f"help; "
        f"{try_next}."
    )
    return [first, second, third]


def asked(findings: Findings) -> str:
    """The question, in one sentence."""
    where = f" in {findings.source}" if findings.source else ""
    if findings.labels:
        classes = findings.described.classes
        kind = f"the {len(classes)} classes of {findings.target} ({join(classes)})"
        question = f"Which of {findings.columns:,} variables tell apart {kind}"
    else:
        question = f"Which of {findings.columns:,} variables does {findings.target} depend on"
    kept = findings.covariate_names
    beside = f" Beside {join(kept)}, kept as asked and not counted." if kept else ""
    if findings.adjusted_for:
        beside += f" {adjusted_words(findings)}"
    shown = len(findings.y)
    rows = f"{findings.rows:,} rows"
    if findings.unseen is not None and np.any(findings.unseen):
        rows = f"Fitted to {rows}, shown on {counted(shown, 'row')}"
    return f"{question}{where}? {rows}.{beside}"


def adjusted_words(findings: Findings) -> str:
    """What the response was adjusted for, and how much that explains alone."""
    share = percent(findings.described.covariates_explain)
    verb = "explains" if len(findings.adjusted_for) == 1 else "explain"
    what = "what tells the classes apart" if findings.labels else "the variation"
    return f"Adjusted for {join(findings.adjusted_for)}, which alone {verb} {share} of {what}."
