"""How sure, and what to beware of, in plain language."""

from __future__ import annotations

import numpy as np

from gradsift.evaluate.scores import number
from gradsift.explain import VariableSummary
from gradsift.report._findings import Findings
from gradsift.report._score_words import predictor_name
from gradsift.report._suspicion import too_good
from gradsift.report.text import join
from gradsift.tables import BEWARE

FEW_ROWS, FEW_PER_CLASS = 50, 10
STABLE, SHAKY = 0.8, 0.5
"""Shares of the half samples: selected again in most of them, in fewer than half of them."""
GAP = 0.3
Points = list[tuple[str, str]]
"""(short title, sentence) of each point."""


# ------------------------------------------------------------------ how sure
def sureness(findings: Findings) -> Points:
    """What vouches for the answer."""
    level = findings.described.false_positives
    out = [
        *finding_points(findings),
        *score_points(findings),
        *half_sample_points(findings),
        *penalty_points(findings),
    ]
    if findings.described.false_discovery_rate is not None:
        out.append(("False discoveries", tested_words(findings)))
    elif level is not None:
        out.append(
            ("False variables", f"The levels are set so that {level:g} variables would be selected "
             "on average if nothing in the table mattered.")
        )  # fmt: skip
    return out


def finding_points(findings: Findings) -> Points:
    """What the confidence of findings means, what it rests on, and what it does not say."""
    if not findings.found:
        return []
    out = [
        ("Confidence", "How sure it is that some member of a finding acts. From 95\u00a0% on it "
         "holds as stated (clear); below it is a rough order (likely, possible). It compares "
         "explanations by a few smooth effects of single variables or products, all "
         "variables equally likely beforehand. It does not say that the response has no other "
         "kind of explanation, nor that a member is a cause.")
    ]  # fmt: skip
    if any(row.test is not None for row in findings.found):
        out.append(
            ("q", "The variables are sifted again without the finding, and the finding is tested "
             "given the best explanation that this finds. If findings up to some q were "
             "believed, about that share of them would be wrong. All "
             f"{n_tests(findings):,} variables count as tests, so that a finding of high "
             "confidence can have a q of 1: a near-copy can take its place, or chance among "
             "so many is not excluded.")
        )  # fmt: skip
    return out


def n_tests(findings: Findings) -> int:
    """Variables that q-values count, those that are always kept included."""
    if findings.groups is None:
        return findings.described.n_features
    return len(set(findings.groups))


def tested_words(findings: Findings) -> str:
    """What a false discovery rate promises, and what it rests on."""
    rate = findings.described.false_discovery_rate or 0.0
    return (
        "Every selected variable was tested beside the best explanation that does without it, and "
        f"at most about {rate:.0%} of such a list is expected to be false. That holds where what "
        "the explanation leaves is noise, or the many small effects of other variables."
    )


def score_points(findings: Findings) -> Points:
    """What the scores were computed on, and from which rows."""
    held, described = findings.held_out, findings.described
    out: Points = []
    if held is not None:
        scores = held.selected.values[held.metric]
        low, high = float(np.nanmin(scores)), float(np.nanmax(scores))
        out.append(
            ("Held-out rows", f"{held.metric} {number(held.mean)} over {held.n_folds} folds, from "
             f"{number(low)} to {number(high)}, for the selected "
             "variables alone; the whole procedure, selection included, was repeated in every fold "
             "on the other rows. All other ways to predict were scored on the same folds.")
        )  # fmt: skip
        if described.ensemble is not None:
            out.append(
                ("What the model predicts with", f"The saved model predicts with "
                 f"{predictor_name(findings.model)}.")
            )  # fmt: skip
    elif findings.new_scores is not None:
        known = len(findings.y) - int(np.sum(findings.unseen))
        rest = f" {known:,} others are rows of the fit and were left out." if known else ""
        out.append(
            ("New rows", "The score is one of rows that the fit has not seen: none of them has the "
             f"fingerprint of a row of the fit.{rest}")
        )  # fmt: skip
    elif findings.n_selected and described.penalty_choice is None:
        out.append(
            ("Not checked", "No held-out rows were scored for this page; the score on the rows of "
             f"the fit ({findings.metric} {number(findings.score)}) is too good.")
        )  # fmt: skip
    return out


def half_sample_points(findings: Findings) -> Points:
    """How often the selected variables came back, and what else did."""
    stable = findings.stability
    if stable is None:
        return []
    what = "findings" if findings.found else "selected variables"
    again = [row.came_back for row in findings.found or findings.variables]
    steady, count = sum(f is not None and f >= STABLE for f in again), stable.n_subsamples
    by = "by some member" if findings.found else "themselves or by a near-copy"
    out = [
        ("Half samples", f"{steady} of the {len(again)} {what} came back, {by}, in at least "
         f"{100 * STABLE:.0f}\u00a0% of {count} random halves "
         f"({stable.n_rows:,} rows each, {np.mean(stable.sizes):.1f} variables selected on "
         "average). Halves hold less evidence: true but weak variables come back less often too.")
    ]  # fmt: skip
    if findings.picked:
        out.append(("Picked most often", f"{picked_words(findings)}."))
    return out


def picked_words(findings: Findings, most: int = 5) -> str:
    """'a in 7 of 10 halves, b in 5 (not selected)'."""
    total = 0 if findings.stability is None else findings.stability.n_subsamples
    return ", ".join(
        f"{name} in {count}{f' of {total} halves' if j == 0 else ''}"
        f"{'' if chosen else ' (not selected)'}"
        for j, (name, count, chosen) in enumerate(findings.picked[:most])
    )


def penalty_points(findings: Findings) -> Points:
    """How the penalty was chosen, and the proof of optimality."""
    choice, proof = findings.described.penalty_choice, findings.described.optimality
    out: Points = []
    if choice is not None:
        losses = choice.mean_losses
        out.append(
            ("Choice of the penalty", f"alpha {choice.alpha:.3g} out of {len(choice.alphas)} by "
             f"held-out {choice.measure} ({choice.n_folds} folds, rule '{choice.rule}'); best "
             f"{losses.min():.3g}, with nothing selected {losses[0]:.3g}.")
        )  # fmt: skip
    if proof is not None:
        out.append(
            ("Certificate", f"The answer is optimal over all {findings.described.n_features:,} "
             f"columns within a relative duality gap of {proof.dual_gap:.1e}; no column violates "
             f"the optimality conditions by more than {proof.kkt_violation:.1e} of alpha_max.")
        )  # fmt: skip
    return out


# ------------------------------------------------------------------ what to beware of
def cautions(findings: Findings) -> Points:
    """What to beware of, the loudest first."""
    proof = findings.described.optimality
    out = [*alarms(findings), *small_samples(findings), *not_unique(findings), *gaps(findings)]
    if proof is not None and not proof.reached:
        out.append(
            ("Not converged", f"The solver stopped at a duality gap of {proof.dual_gap:.1e}, "
             f"above the {proof.tol:.1e} asked for: raise max_iter.")
        )  # fmt: skip
    out += [("Warning", on_one_line(text)) for text in findings.warnings]
    loud = [text for text in findings.notes if text.startswith(BEWARE)]
    out += [("Beware", on_one_line(text.removeprefix(BEWARE))) for text in loud]
    out.append(
        ("Association, not cause", "A selected variable predicts the response in this table. "
         "Whether changing it would change the response is another question.")
    )  # fmt: skip
    return out


def alarms(findings: Findings) -> Points:
    """What looks like a leak: the answer is too good, or one variable gives the target away."""
    held, target, out = findings.held_out, findings.target, []
    score = None if held is None else too_good(held)
    if score is not None:
        out.append(
            ("Too good to be true?", f"Held-out {score}: look for a leak before you believe it. "
             f"Was a variable measured after {target}, or made from it? Do rows of one subject lie "
             "in several folds?")
        )  # fmt: skip
    if findings.giveaways:
        verb = "reproduces" if len(findings.giveaways) == 1 else "each reproduce"
        out.append(
            ("A possible leak", f"{join(findings.giveaways)} alone {verb} {target} in these rows. "
             f"A true cause or marker can do so too; what was made from {target}, or is known only "
             "after it, must be left out (--drop).")
        )  # fmt: skip
    return out


def small_samples(findings: Findings) -> Points:
    """Few rows, few rows per variable, small classes."""
    out: Points = []
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
    return out


def not_unique(findings: Findings) -> Points:
    """Near-copies that could stand in, where findings do not say it, and what did not come back."""
    rows, out = findings.variables, []
    crowded = [] if findings.found else [row for row in rows if row.stand_ins.total]
    for row in crowded[:5]:
        total = row.stand_ins.total
        out.append(
            (f"{row.name} has {total:,} near-cop{'y' if total == 1 else 'ies'}",
             f"{join(_with_total(row))} {'is' if total == 1 else 'are'} correlated with it by 0.8 "
             "or more, or by −0.8 or less, and could stand in for it; the data hardly tell which "
             "one matters.")
        )  # fmt: skip
    if len(crowded) > 5:
        out.append(
            ("More near-copies", f"{join([row.name for row in crowded[5:]])} have "
             "near-copies too: see the table.")
        )  # fmt: skip
    shaky = [row.name for row in rows if row.came_back is not None and row.came_back < SHAKY]
    if shaky:
        verb = "was" if len(shaky) == 1 else "were each"
        whom = "other members of the finding" if findings.found else "near-copies"
        out.append(
            ("Not repeated", f"{join(shaky)} {verb} selected again, {whom} counted, in fewer than "
             "half of the half samples.")
        )  # fmt: skip
    return out


def gaps(findings: Findings) -> Points:
    """A score on the rows of the fit that new rows will not repeat."""
    held = findings.held_out
    if held is None or not findings.n_selected or findings.score - held.mean <= GAP:
        return []
    return [
        ("A gap to new rows", f"{findings.metric} is {number(findings.score)} on the rows of the "
         f"fit and {number(held.mean)} on held-out rows.")
    ]  # fmt: skip


def decisions(findings: Findings) -> list[str]:
    """What was decided while the table was read, but for what is to beware of."""
    return [on_one_line(text) for text in findings.notes if not text.startswith(BEWARE)]


def on_one_line(text: str) -> str:
    return " ".join(str(text).split())


def _with_total(row: VariableSummary) -> list[str]:
    """Names of the stand-ins, padded so that those not named still count."""
    return [*row.stand_in_names, *[""] * (row.stand_ins.total - len(row.stand_in_names))]
