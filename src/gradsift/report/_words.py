"""The findings in plain language."""

from __future__ import annotations

import numpy as np

from gradsift.explain import VariableSummary, effect_clause, pair_clause
from gradsift.report._findings import Findings
from gradsift.report._score_words import quality
from gradsift.report._text import join, percent


def headline(findings: Findings) -> str:
    if findings.n_selected == 0:
        return f"Nothing stands out among {findings.columns:,} variables"
    if findings.n_selected == findings.columns:
        return f"How {findings.target} changes with {findings.columns:,} variables"
    verb = "tells apart" if findings.labels else "explains"
    if findings.n_selected == 1:
        what = f"the classes of {findings.target}" if findings.labels else findings.target
        return f"{findings.variables[0].name} {verb} {what}, out of {findings.columns:,} variables"
    verb = "tell apart" if findings.labels else "explain"
    what = f"the classes of {findings.target}" if findings.labels else findings.target
    return f"{findings.n_selected:,} of {findings.columns:,} variables {verb} {what}"


def sentences(findings: Findings) -> list[str]:
    """What was found, in three sentences."""
    if findings.n_selected == 0:
        return nothing(findings)
    names = [row.name for row in findings.variables]
    kept = (
        f"Every one of the {findings.columns:,} columns keeps some weight; the strongest are "
        f"{join(names[:5])}."
        if findings.n_selected == findings.columns
        else f"Out of {findings.columns:,} columns, {findings.n_selected:,} "
        f"{'was' if findings.n_selected == 1 else 'were'} kept: {join(names)}."
    )
    return [kept, strongest(findings), quality(findings)]


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
    level, proof = findings.described.false_positives, findings.described.optimality
    if findings.described.significance is not None:
        rate = findings.described.false_discovery_rate or 0.0
        first = (
            f"No variable is needed for certain: without any one of them {findings.target} can be "
            f"explained as well, at a false discovery rate of {rate:.0%}."
        )
        try_next = "--fdr left out shows what was selected before the tests"
    elif level is not None:
        first = (
            f"No column is related to {findings.target} more closely than chance would make it "
            f"look, at a level that lets in {level:g} false variables on average."
        )
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
        f"{findings.columns:,} columns: more rows, or fewer columns chosen beforehand, would help; "
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
    shown = len(findings.y)
    rows = f"{findings.rows:,} rows"
    if findings.unseen is not None and np.any(findings.unseen):
        rows = f"Fitted to {rows}, shown on {shown:,} rows"
    return f"{question}{where}? {rows}.{beside}"
