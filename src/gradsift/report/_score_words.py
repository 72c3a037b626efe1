"""What each score is a score of: the table of scores, and sentences about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gradsift.estimators import EnsemblePart, PenaltyChoice
from gradsift.evaluate import HeldOut, Scores
from gradsift.evaluate.scores import number
from gradsift.report._findings import Findings
from gradsift.report.text import join, percent
from gradsift.tables.frame import counted


@dataclass(frozen=True)
class ScoredWay:
    """One way to predict, under the name that terminal and page show.

    Attributes
    ----------
    key : str
        'selected', 'together', 'simple', 'covariates' or 'baseline', as in `HeldOut`.
    name : str
    detail : str
        What else to know about it; may be empty.
    scores : Scores
    """

    key: str
    name: str
    detail: str
    scores: Scores

    def cell(self, metric: str) -> str:
        """'0.43 ± 0.20': mean and standard deviation over the folds."""
        return self.scores.cell(metric)


def score_table(findings: Findings) -> list[ScoredWay]:
    """Every way to predict that was scored on the same held-out rows."""
    held = findings.held_out
    if held is None:
        return []
    known = join(findings.adjusted_for) if findings.adjusted_for else "the offset"
    details = {
        "selected": "alone, chosen anew in every fold",
        "together": ensemble_words(findings, held),
        "simple": f"on all {findings.columns:,} variables, penalty tuned by cross-validation",
        "covariates": f"{known}, no variable",
        "baseline": "no variable at all",
    }
    ways = held.ways(findings.target)
    return [ScoredWay(key, name, details[key], scores) for key, name, scores in ways]


def ensemble_words(findings: Findings, held: HeldOut) -> str:
    """What the selected variables are averaged with, and in which parts."""
    ensemble = findings.described.ensemble
    over = percent(held.ensemble_share)
    if ensemble is not None and findings.described.n_selected == 0:
        return (
            f"{members_named(ensemble)}, as nothing is selected; over the folds, all but the "
            f"selected had a part of {over} on average"
        )
    if ensemble is None:
        return (
            "the selected variables averaged with predictors on all columns, whose part over the "
            f"folds was {over} on average; on all rows they have none"
        )
    return (
        f"the selected variables averaged with {members_named(ensemble)}; over the folds, all "
        f"but the selected had a part of {over} on average"
    )


def members_named(ensemble: EnsemblePart) -> str:
    """Each predictor on all columns, and its part."""
    return join(
        [
            f"a {member.kind} on {member.n_columns:,} columns ({percent(member.share)})"
            for member in ensemble.members
        ]
    )


def quality(findings: Findings) -> str:
    """How well the selected variables predict, and on which rows that was measured."""
    held, choice = findings.held_out, findings.described.penalty_choice
    if held is not None:
        return f"{held_out_sentence(findings, held)}{compared(held)}"
    if findings.new_scores is not None:
        return new_rows_sentence(findings, findings.new_scores)
    if choice is not None:
        return held_out_error(choice)
    share = percent(max(findings.score, 0.0))
    what = (
        f"give the right class {share} of the time"
        if findings.labels
        else f"explain {share} of the variation"
    )
    return (
        f"On the rows they were chosen from, they {what}; on new rows it will be less, and no "
        "held-out rows were scored here."
    )


def held_out_sentence(findings: Findings, held: HeldOut) -> str:
    """What the selected variables alone reach."""
    where = f"On held-out rows ({held.n_folds} folds, selection repeated in each)"
    if not held.better_than_nothing:
        guess = "the shares of the classes" if held.classes else "the mean"
        return (
            f"{where} variables chosen this way predict no better than {guess} "
            f"({held.loss} {number(held.selected.mean(held.loss))} against "
            f"{number(held.baseline.mean(held.loss))}): take the list with great care."
        )
    if held.classes:
        return (
            f"{where} the selected variables alone give the right class {percent(held.mean)} of "
            f"the time (balanced accuracy {number(held.selected.mean('balanced accuracy'))}, ROC "
            f"AUC {number(held.selected.mean('ROC AUC'))}); always naming the most frequent class "
            f"would reach {percent(held.baseline.mean('accuracy'))}."
        )
    return f"{where} the selected variables alone explain {percent(held.mean)} of the variation."


def compared(held: HeldOut) -> str:
    """The same for all columns together and for a simple tool on them."""
    parts = []
    if held.together is not None:
        parts.append(f"all columns together reach {number(held.together.mean(held.metric))}")
    if held.simple is not None:
        parts.append(f"{held.tool} on all columns {number(held.simple.mean(held.metric))}")
    if not parts:
        return ""
    return f" In {held.metric}: {number(held.mean)} alone, {join(parts)}."


def used_ensemble(model: Any) -> EnsemblePart | None:
    """The predictors on all columns that a model predicts with, if it does."""
    ensemble: EnsemblePart | None = model.describe().ensemble
    return ensemble if ensemble is not None and ensemble.used else None


def uses_variables(model: Any) -> bool:
    """Whether the predictions of a model depend on any variable."""
    return used_ensemble(model) is not None or bool(np.any(model.get_support()))


def predictor_name(model: Any) -> str:
    """What a saved model predicts with."""
    if not uses_variables(model):
        return "no variable, as none was selected"
    ensemble = used_ensemble(model)
    if ensemble is None:
        return "the selected variables alone"
    members = members_named(ensemble)
    if not np.any(model.get_support()):
        return f"{members}, as no variable was selected"
    return f"the selected variables averaged with {members}"


def new_rows_sentence(findings: Findings, scores: Scores) -> str:
    """What a saved model reaches on rows that its fit has not seen."""
    count, total = int(np.sum(findings.unseen)), len(findings.y)
    known = total - count
    aside = "" if known == 0 else f" ({known:,} others are rows of the fit and do not count here)"
    who = predictor_name(findings.model) if uses_variables(findings.model) else "predictions"
    where = f"On {counted(count, 'row')} that the fit has not seen{aside}, {who}"
    if findings.labels:
        what = f"give the right class {percent(scores.mean('accuracy'))} of the time"
        if np.isnan(scores.mean("ROC AUC")):
            return f"{where} {what}{'; all of them are of one class' if count > 1 else ''}."
        return (
            f"{where} {what} (balanced accuracy {number(scores.mean('balanced accuracy'))}, ROC "
            f"AUC {number(scores.mean('ROC AUC'))})."
        )
    error = f"RMSE {number(scores.mean('RMSE'))}"
    if np.isnan(scores.mean("R²")):
        same = f"; {findings.target} is the same in all of them, so there is no R²"
        return f"{where} reach {error}{same if count > 1 else ''}."
    return f"{where} reach R² {number(scores.mean('R²'))}, {error}."


def held_out_error(choice: PenaltyChoice) -> str:
    """What the choice of alpha saw of held-out rows."""
    first, chosen = float(choice.mean_losses[0]), choice.chosen_loss
    gain = f", {percent(1.0 - chosen / first)} less" if 0.0 < chosen < first else ""
    return (
        f"On held-out rows ({choice.n_folds} folds) the {choice.measure} goes from {first:.3g} at "
        f"the largest penalty to {chosen:.3g}{gain}; the penalty was chosen by it, so expect a "
        "little less on new rows."
    )


def scores_as_data(findings: Findings) -> dict[str, Any] | None:
    """The table of scores for summary.json."""
    held = findings.held_out
    if held is None:
        return None
    return {
        "folds": held.n_folds,
        "metric": held.metric,
        "classes": list(held.classes),
        "average_precision_of": held.positive,
        "ways": {
            way.key: {"name": way.name, "detail": way.detail, **as_data(way.scores)}
            for way in score_table(findings)
        },
        "ensemble_share_over_folds": held.ensemble_share,
    }


def as_data(scores: Scores) -> dict[str, Any]:
    """Scores as plain numbers."""
    return {
        "mean": {name: scores.mean(name) for name in scores.values},
        "spread": {name: scores.spread(name) for name in scores.values},
        "folds": {name: values.tolist() for name, values in scores.values.items()},
        "confusion": None if scores.confusion is None else scores.confusion.tolist(),
    }
