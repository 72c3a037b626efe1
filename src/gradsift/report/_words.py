"""The findings in plain language."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradsift.explain import VariableSummary, effect_clause, pair_clause
from gradsift.report._findings import Findings

FEW_ROWS, FEW_PER_CLASS = 50, 10


@dataclass(frozen=True)
class Facts:
    """Numbers the sentences are about."""

    rows: int
    columns: int
    variables: list[VariableSummary]
    n_selected: int
    labels: bool
    score: float
    runners_up: list[str]

    @property
    def metric(self) -> str:
        return "accuracy" if self.labels else "R²"


def join(names: Sequence[str], most: int = 5) -> str:
    """'a, b and c', or 'a, b, c and 4 more'.

    Examples
    --------
    >>> join(["a", "b", "c"]), join(list("abcdefg"), most=3)
    ('a, b and c', 'a, b, c and 4 more')
    """
    names = list(names)
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most:,} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def percent(share: float) -> str:
    """A share in whole percent, never rounded up to everything or down to nothing.

    Examples
    --------
    >>> percent(0.876), percent(0.999), percent(0.001)
    ('88\xa0%', 'more than 99\xa0%', 'less than 1\xa0%')
    """
    if 0.995 <= share < 1.0:
        return "more than 99\u00a0%"
    return "less than 1\u00a0%" if 0.0 < share < 0.005 else f"{100 * share:.0f}\u00a0%"


def headline(facts: Facts, target: str) -> str:
    if facts.n_selected == 0:
        return f"Nothing stands out among {facts.columns:,} variables"
    if facts.n_selected == facts.columns:
        return f"How {target} changes with {facts.columns:,} variables"
    verb = "tells apart" if facts.labels else "explains"
    if facts.n_selected == 1:
        what = f"the classes of {target}" if facts.labels else target
        return f"{facts.variables[0].name} {verb} {what}, out of {facts.columns:,} variables"
    verb = "tell apart" if facts.labels else "explain"
    what = f"the classes of {target}" if facts.labels else target
    return f"{facts.n_selected:,} of {facts.columns:,} variables {verb} {what}"


def sentences(findings: Findings, facts: Facts) -> list[str]:
    """What was found, in three sentences."""
    if facts.n_selected == 0:
        return nothing(findings, facts)
    names = [row.name for row in facts.variables]
    kept = (
        f"Every one of the {facts.columns:,} columns keeps some weight; the strongest are "
        f"{join(names[:5])}."
        if facts.n_selected == facts.columns
        else f"Out of {facts.columns:,} columns, {facts.n_selected:,} "
        f"{'was' if facts.n_selected == 1 else 'were'} kept: {join(names)}."
    )
    return [kept, strongest(facts, findings.target), quality(findings, facts)]


def strongest(facts: Facts, target: str) -> str:
    """What the best variable does, and who acts together."""
    best = facts.variables[0]
    text = f"Ranked first is {best.name}: {effect_clause(best, target)}"
    pair = pair_clause(facts.variables)
    if pair and best.effect.shape != "through interactions":
        text += f"; {pair}"
    return text + "."


def quality(findings: Findings, facts: Facts) -> str:
    """How well the selected variables predict."""
    held = findings.held_out
    if held is None and hasattr(findings.model, "cv_scores_"):
        return held_out_error(findings.model, facts.labels)
    if held is None:
        share = percent(max(facts.score, 0.0))
        if facts.labels:
            return (
                f"On the rows they were chosen from, they give the right class {share} of the "
                "time; on new rows it will be less, and no held-out check was run."
            )
        return (
            f"On the rows they were chosen from, they explain {share} of the variation; on new "
            "rows it will be less, and no held-out check was run."
        )
    folds = len(held.scores)
    if held.mean <= held.baseline:
        guess = "the most frequent class" if facts.labels else "the mean"
        return (
            f"On held-out rows ({folds} folds, selection repeated in each) variables chosen this "
            f"way predict no better than {guess}: take the list with great care."
        )
    if facts.labels:
        return (
            f"On held-out rows ({folds} folds, selection repeated in each) the right class comes "
            f"out {percent(held.mean)} of the time; always naming the most frequent one would "
            f"reach {percent(held.baseline)}."
        )
    return (
        f"On held-out rows ({folds} folds, selection repeated in each) variables chosen this "
        f"way explain {percent(held.mean)} of the variation."
    )


def held_out_error(model: Any, labels: bool) -> str:
    """What the choice of alpha saw of held-out rows."""
    loss = -model.cv_scores_.mean(axis=1)
    chosen = float(loss[int(np.abs(model.alphas_ - model.alpha_).argmin())])
    kind = "log loss" if labels else "mean squared error"
    gain = f", {percent(1.0 - chosen / loss[0])} less" if 0.0 < chosen < loss[0] else ""
    return (
        f"On held-out rows ({model.cv_scores_.shape[1]} folds) the {kind} goes from {loss[0]:.3g} "
        f"at the largest penalty to {chosen:.3g}{gain}; the penalty was chosen by it, so expect a "
        "little less on new rows."
    )


def nothing(findings: Findings, facts: Facts) -> list[str]:
    """Nothing selected, and why that may be."""
    model = findings.model
    level = getattr(model, "false_positives", None)
    if level is not None:
        first = (
            f"No column is related to {findings.target} more closely than chance would make it "
            f"look, at a level that lets in {level:g} false variables on average."
        )
        try_next = "a larger false_positives admits weaker ones"
    else:
        first = (
            f"At the penalty used (alpha {model.alpha_:.3g}, alpha_max {model.alpha_max_:.3g}) no "
            "column earns its place."
        )
        try_next = "a smaller alpha lets variables in"
    second = f"The nearest to coming in are {join(facts.runners_up)}; each of them may be luck."
    third = (
        f"Either there is nothing to find, or {facts.rows:,} rows are too few to see it among "
        f"{facts.columns:,} columns: more rows, or fewer columns chosen beforehand, would help; "
        f"{try_next}."
    )
    return [first, second, third]


def cautions(findings: Findings, facts: Facts) -> list[tuple[str, str]]:
    """(short title, sentence) of each thing to beware of."""
    out: list[tuple[str, str]] = []
    rows, model = facts.variables, findings.model
    if facts.rows < FEW_ROWS:
        out.append(
            ("Few rows", f"{facts.rows:,} rows can be matched by accident: treat the list as "
             "candidates, and check it on other data.")
        )  # fmt: skip
    elif facts.n_selected and facts.rows < 5 * facts.n_selected < 5 * facts.columns:
        out.append(
            ("Few rows per variable", f"{facts.rows:,} rows for {facts.n_selected:,} selected "
             "variables: effects and directions are rough.")
        )  # fmt: skip
    if facts.labels:
        names, counts = np.unique(np.asarray(findings.y), return_counts=True)
        small = int(counts.argmin())
        if counts[small] < FEW_PER_CLASS:
            out.append(
                ("A small class", f"{names[small]} has {counts[small]} "
                 f"row{'s' if counts[small] > 1 else ''}: what tells it apart may be accident.")
            )  # fmt: skip
    crowded = [row for row in rows if row.stand_ins.total]
    for row in crowded[:5]:
        total = row.stand_ins.total
        out.append(
            (f"{row.name} has {total:,} near-cop{'y' if total == 1 else 'ies'}",
             f"{join(_with_total(row))} {'is' if total == 1 else 'are'} correlated with it by 0.8 "
             "or more and could stand in for it; the data hardly tell which one matters.")
        )  # fmt: skip
    if len(crowded) > 5:
        out.append(
            ("More correlated families", f"{join([row.name for row in crowded[5:]])} have "
             "near-copies too: see the table.")
        )  # fmt: skip
    shaky = [
        row.name for row in rows if row.family_frequency is not None and row.family_frequency < 0.5
    ]
    if shaky:
        verb = "was" if len(shaky) == 1 else "were each"
        out.append(
            ("Not stable", f"{join(shaky)} {verb} selected again, stand-ins counted, in fewer than "
             "half of the half samples.")
        )  # fmt: skip
    held = findings.held_out
    if held is not None and facts.n_selected and facts.score - held.mean > 0.3:
        out.append(
            ("A gap to new rows", f"{facts.metric} is {facts.score:.2f} on the rows of the fit and "
             f"{held.mean:.2f} on held-out rows.")
        )  # fmt: skip
    if getattr(model, "dual_gap_", 0.0) > getattr(model, "tol", np.inf):
        out.append(
            ("Not converged", f"The solver stopped at a duality gap of {model.dual_gap_:.1e}, "
             f"above the {model.tol:.1e} asked for: raise max_iter.")
        )  # fmt: skip
    out += [("Warning", " ".join(str(text).split())) for text in findings.warnings]
    out.append(
        ("Association, not cause", "A selected variable predicts the response in this table. "
         "Whether changing it would change the response is another question.")
    )  # fmt: skip
    return out


def _with_total(row: VariableSummary) -> list[str]:
    """Names of the stand-ins, padded so that those not named still count."""
    return [*row.stand_in_names, *[""] * (row.stand_ins.total - len(row.stand_in_names))]


def sureness(findings: Findings, facts: Facts) -> list[tuple[str, str]]:
    """(what, sentence) of each kind of evidence."""
    model, out = findings.model, []
    held, stable = findings.held_out, findings.stability
    if held is not None:
        spread = f", from {min(held.scores):.2f} to {max(held.scores):.2f}"
        out.append(
            ("Held-out rows", f"{held.metric} {held.mean:.2f} over {len(held.scores)} folds"
             f"{spread}; the whole procedure, selection included, was repeated in every fold. "
             f"Guessing would give {held.baseline:.2f}.")
        )  # fmt: skip
    if stable is not None:
        again = [
            row.family_frequency for row in facts.variables if row.family_frequency is not None
        ]
        steady = sum(f >= 0.8 for f in again)
        size = np.mean([len(s) for s in stable.selections])
        out.append(
            ("Half samples", f"{steady} of the {len(again)} selected variables came back, "
             f"themselves or by a stand-in, in at least 80\u00a0% of {stable.n_subsamples} random "
             f"halves ({stable.n_rows:,} rows each, {size:.1f} variables selected on average). "
             "Halves hold less evidence: true but weak variables come back less often too.")
        )  # fmt: skip
    if hasattr(model, "cv_scores_"):
        kind = "log loss" if facts.labels else "mean squared error"
        loss = -model.cv_scores_.mean(axis=1)
        out.append(
            ("Choice of the penalty", f"alpha {model.alpha_:.3g} out of {len(model.alphas_)} by "
             f"held-out {kind} ({model.cv_scores_.shape[1]} folds, rule '{model.selection}'); best "
             f"{loss.min():.3g}, with nothing selected {loss[0]:.3g}.")
        )  # fmt: skip
    if hasattr(model, "dual_gap_"):
        out.append(
            ("Certificate", f"The answer is optimal over all {facts.columns:,} variables within a "
             f"relative duality gap of {model.dual_gap_:.1e}; no variable violates the optimality "
             f"conditions by more than {model.kkt_violation_:.1e} of alpha_max.")
        )  # fmt: skip
    if hasattr(model, "false_positives"):
        out.append(
            ("False variables", f"The levels are set so that {model.false_positives:g} variables "
             "would be selected on average if nothing in the table mattered.")
        )  # fmt: skip
    if held is None and facts.n_selected and not hasattr(model, "cv_scores_"):
        out.append(
            ("Not checked", "No score on held-out rows was computed; the score on the rows of the "
             f"fit ({facts.metric} {facts.score:.2f}) is too good.")
        )  # fmt: skip
    return out


def asked(findings: Findings, facts: Facts) -> str:
    """The question, in one sentence."""
    where = f" in {findings.source}" if findings.source else ""
    if facts.labels:
        classes: Any = findings.model.classes_
        kind = (
            f"the {len(classes)} classes of {findings.target} ({join([str(c) for c in classes])})"
        )
        question = f"Which of {facts.columns:,} variables tell apart {kind}"
    else:
        question = f"Which of {facts.columns:,} variables does {findings.target} depend on"
    return f"{question}{where}? {facts.rows:,} rows."
