"""The findings in plain language."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradsift.estimators import PenaltyChoice
from gradsift.explain import VariableSummary
from gradsift.report._findings import Findings
from gradsift.tables import BEWARE

FEW_ROWS, FEW_PER_CLASS = 50, 10


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
    pairs = {
        tuple(sorted((row.name, partner))) for row in findings.variables for partner in row.partners
    }
    text = f"Ranked first is {best.name}: {effect_clause(best, findings.target)}"
    if pairs and best.effect.shape != "through interactions":
        row = next(row for row in findings.variables if row.partners)
        low, _, high = row.effect.quantiles
        pair = f"{row.name} and {row.partners[0]}"
        if high - low > 1e-6 * max(abs(low), abs(high)):
            text += f"; {pair} change each other's effect"
        else:  # the selection saw a product, the fitted surface came out flat
            text += f"; {pair} act together, too weakly to bend the fitted surface"
    return text + "."


def effect_clause(row: VariableSummary, target: str) -> str:
    """'yield rises with it, nearly in a straight line'."""
    what = target if row.output is None else f"the odds of {row.output}"
    rise, fall = ("rises", "falls") if row.output is None else ("rise", "fall")
    shape = row.effect.shape
    if shape in ("increasing", "decreasing"):
        how = ", by how much depends on other variables" if row.effect.mixed else ""
        if not how:
            how = ", nearly in a straight line" if row.effect.straight else ", along a curve"
        return f"{what} {rise if shape == 'increasing' else fall} with it{how}"
    if shape == "U-shaped":
        return f"{what} first {fall} and then {rise} with it (U-shaped)"
    if shape == "inverted U":
        return f"{what} first {rise} and then {fall} with it (an inverted U)"
    if shape == "wavy":
        return (
            f"{what} goes up and down with it"
            if row.output is None
            else (f"{what} go up and down with it")
        )
    if shape == "through interactions":
        partner = f" together with {join(row.partners, 2)}" if row.partners else ""
        return f"it acts{partner or ' together with other variables'}, hardly on its own"
    return f"its effect on {what} is small at these samples"


def quality(findings: Findings) -> str:
    """How well the selected variables predict."""
    held = findings.held_out
    choice = findings.described.penalty_choice
    if held is None and choice is not None:
        return held_out_error(choice, findings.labels)
    if held is None:
        share = percent(max(findings.score, 0.0))
        if findings.labels:
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
        guess = "the most frequent class" if findings.labels else "the mean"
        return (
            f"On held-out rows ({folds} folds, selection repeated in each) variables chosen this "
            f"way predict no better than {guess}: take the list with great care."
        )
    if findings.labels:
        return (
            f"On held-out rows ({folds} folds, selection repeated in each) the right class comes "
            f"out {percent(held.mean)} of the time; always naming the most frequent one would "
            f"reach {percent(held.baseline)}."
        )
    return (
        f"On held-out rows ({folds} folds, selection repeated in each) variables chosen this "
        f"way explain {percent(held.mean)} of the variation."
    )


def held_out_error(choice: PenaltyChoice, labels: bool) -> str:
    """What the choice of alpha saw of held-out rows."""
    first, chosen = float(choice.mean_losses[0]), choice.chosen_loss
    kind = "log loss" if labels else "mean squared error"
    gain = f", {percent(1.0 - chosen / first)} less" if 0.0 < chosen < first else ""
    return (
        f"On held-out rows ({choice.n_folds} folds) the {kind} goes from {first:.3g} at the "
        f"largest penalty to {chosen:.3g}{gain}; the penalty was chosen by it, so expect a little "
        "less on new rows."
    )


def nothing(findings: Findings) -> list[str]:
    """Nothing selected, and why that may be."""
    level, proof = findings.described.false_positives, findings.described.optimality
    if level is not None:
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


def cautions(findings: Findings) -> list[tuple[str, str]]:
    """(short title, sentence) of each thing to beware of."""
    out: list[tuple[str, str]] = []
    rows, proof = findings.variables, findings.described.optimality
    if findings.rows < FEW_ROWS:
        out.append(
            ("Few rows", f"{findings.rows:,} rows can be matched by accident: treat the list as "
             "candidates, and check it on other data.")
        )  # fmt: skip
    elif findings.n_selected and findings.rows < 5 * findings.n_selected < 5 * findings.columns:
        out.append(
            ("Few rows per variable", f"{findings.rows:,} rows for {findings.n_selected:,} "
             "selected variables: effects and directions are rough.")
        )  # fmt: skip
    if findings.labels:
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
    if held is not None and findings.n_selected and findings.score - held.mean > 0.3:
        out.append(
            ("A gap to new rows", f"{findings.metric} is {findings.score:.2f} on the rows of the "
             f"fit and {held.mean:.2f} on held-out rows.")
        )  # fmt: skip
    if proof is not None and not proof.reached:
        out.append(
            ("Not converged", f"The solver stopped at a duality gap of {proof.dual_gap:.1e}, "
             f"above the {proof.tol:.1e} asked for: raise max_iter.")
        )  # fmt: skip
    out += [("Warning", " ".join(str(text).split())) for text in findings.warnings]
    out += [noted(" ".join(str(text).split())) for text in findings.notes]
    out.append(
        ("Association, not cause", "A selected variable predicts the response in this table. "
         "Whether changing it would change the response is another question.")
    )  # fmt: skip
    return out


def noted(text: str) -> tuple[str, str]:
    """A note with its title: those that must not be overlooked say so."""
    if text.startswith(BEWARE):
        return "Beware", text.removeprefix(BEWARE)
    return "Note", text


def _with_total(row: VariableSummary) -> list[str]:
    """Names of the stand-ins, padded so that those not named still count."""
    return [*row.stand_in_names, *[""] * (row.stand_ins.total - len(row.stand_in_names))]


def sureness(findings: Findings) -> list[tuple[str, str]]:
    """(what, sentence) of each kind of evidence."""
    out, described = [], findings.described
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
            row.family_frequency for row in findings.variables if row.family_frequency is not None
        ]
        steady = sum(f >= 0.8 for f in again)
        size = np.mean([len(s) for s in stable.selections])
        out.append(
            ("Half samples", f"{steady} of the {len(again)} selected variables came back, "
             f"themselves or by a stand-in, in at least 80\u00a0% of {stable.n_subsamples} random "
             f"halves ({stable.n_rows:,} rows each, {size:.1f} variables selected on average). "
             "Halves hold less evidence: true but weak variables come back less often too.")
        )  # fmt: skip
    choice, proof = described.penalty_choice, described.optimality
    if choice is not None:
        kind = "log loss" if findings.labels else "mean squared error"
        losses = choice.mean_losses
        out.append(
            ("Choice of the penalty", f"alpha {choice.alpha:.3g} out of {len(choice.alphas)} by "
             f"held-out {kind} ({choice.n_folds} folds, rule '{choice.rule}'); best "
             f"{losses.min():.3g}, with nothing selected {losses[0]:.3g}.")
        )  # fmt: skip
    if proof is not None:
        out.append(
            ("Certificate", f"The answer is optimal over all {findings.columns:,} variables within "
             f"a relative duality gap of {proof.dual_gap:.1e}; no variable violates the optimality "
             f"conditions by more than {proof.kkt_violation:.1e} of alpha_max.")
        )  # fmt: skip
    if described.false_positives is not None:
        out.append(
            ("False variables", f"The levels are set so that {described.false_positives:g} "
             "variables would be selected on average if nothing in the table mattered.")
        )  # fmt: skip
    if held is None and findings.n_selected and choice is None:
        out.append(
            ("Not checked", "No score on held-out rows was computed; the score on the rows of the "
             f"fit ({findings.metric} {findings.score:.2f}) is too good.")
        )  # fmt: skip
    return out


def asked(findings: Findings) -> str:
    """The question, in one sentence."""
    where = f" in {findings.source}" if findings.source else ""
    if findings.labels:
        classes = findings.described.classes
        kind = f"the {len(classes)} classes of {findings.target} ({join(classes)})"
        question = f"Which of {findings.columns:,} variables tell apart {kind}"
    else:
        question = f"Which of {findings.columns:,} variables does {findings.target} depend on"
    return f"{question}{where}? {findings.rows:,} rows."
