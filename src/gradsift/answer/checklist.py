"""The TRIPOD+AI checklist, filled with what an answer knows.

Collins et al., TRIPOD+AI statement, BMJ 2024;385:e078378, doi 10.1136/bmj-2023-078378. Items are in
short words; what only the authors can say stays blank.
"""

from __future__ import annotations

from collections.abc import Mapping

from gradsift.answer.results import AnswerData, Score
from gradsift.answer.words import counted, join

ITEMS: dict[str, str] = {
    "1": "Title: prediction model, population, outcome",
    "2": "Abstract (TRIPOD+AI for abstracts)",
    "3a": "Health care context and rationale",
    "3b": "Target population, intended purpose and users",
    "3c": "Known health inequalities",
    "4": "Objectives: development, evaluation or both",
    "5a": "Sources of data",
    "5b": "Dates of the data",
    "6a": "Setting and centres",
    "6b": "Eligibility criteria",
    "6c": "Treatments received",
    "7": "Data preparation",
    "8a": "Outcome, and how it was assessed",
    "8b": "Assessors of the outcome",
    "8c": "Blinding of the assessment of the outcome",
    "9a": "Initial predictors, and their choice",
    "9b": "Predictors, and how they were measured",
    "9c": "Assessors of predictors",
    "10": "Sample size, and how it was arrived at",
    "11": "Missing data",
    "12a": "Use of the data: development, evaluation",
    "12b": "Handling of predictors",
    "12c": "Type of model, building steps, internal validation",
    "12d": "Heterogeneity across clusters",
    "12e": "Measures of performance",
    "12f": "Model updating",
    "12g": "How predictions were calculated",
    "13": "Class imbalance",
    "14": "Fairness",
    "15": "Output of the model",
    "16": "Differences between development and evaluation data",
    "17": "Ethical approval",
    "18a": "Funding",
    "18b": "Conflicts of interest",
    "18c": "Protocol",
    "18d": "Registration",
    "18e": "Data sharing",
    "18f": "Code sharing",
    "19": "Patient and public involvement",
    "20a": "Flow of participants",
    "20b": "Characteristics of participants",
    "20c": "Comparison of development and evaluation data",
    "21": "Participants and events in each analysis",
    "22": "Full model",
    "23a": "Performance, with intervals, and in subgroups",
    "23b": "Heterogeneity of performance",
    "24": "Results of model updating",
    "25": "Interpretation",
    "26": "Limitations",
    "27a": "Poor quality or unavailable input data",
    "27b": "User interaction and expertise",
    "27c": "Next steps of research",
}
MOST_NAMED = 21
"""Variables that are named in an item; all are in selected.csv."""


def tripod(answer: AnswerData, counts: Mapping[str, int], missing: str, version: str) -> str:
    """The checklist as Markdown.

    Parameters
    ----------
    answer : Answer
    counts : mapping of str to int
        Samples of each class; empty where the response is a number.
    missing : str
        What was done with missing values.
    version : str
        Of gradsift.

    Examples
    --------
    >>> from gradsift.answer.results import AnswerData
    >>> page = tripod(AnswerData("age", (), 120, 30, ()), {}, "", "0.1.0")
    >>> [line for line in page.splitlines() if line.startswith(("| 21", "| 17"))]
    ['| 17 | Ethical approval |  |',
     '| 21 | Participants and events in each analysis | 120 samples. |']
    """
    known = facts(answer, counts, missing, version)
    rows = [f"| {item} | {text} | {cell(known.get(item, ''))} |" for item, text in ITEMS.items()]
    lead = (
        f"Filled by gradsift {version} with what it knows of this analysis, {len(known)} of "
        f"{len(ITEMS)} items. Check each, add what is missing: blank items are for the authors."
    )
    head = [
        "# TRIPOD+AI checklist",
        "",
        lead,
        "",
        "| item | topic | reported |",
        "| --- | --- | --- |",
    ]
    source = "Items: Collins et al., BMJ 2024;385:e078378, doi 10.1136/bmj-2023-078378."
    return "\n".join([*head, *rows, "", source, ""])


def facts(
    answer: AnswerData, counts: Mapping[str, int], missing: str, version: str
) -> dict[str, str]:
    """What is known of each item; items without anything are left out."""
    made, prediction = dict(answer.made), answer.prediction
    chosen = counted(len(answer.selected), "variable")
    used = join(answer.selected, MOST_NAMED) if answer.selected else ""
    by_class = ", ".join(f"{name}: {n:,}" for name, n in counts.items())
    samples = f"{counted(answer.rows, 'sample')}{f' ({by_class})' if by_class else ''}."
    decisions = " ".join(note.text for note in answer.notes if note.decision)
    folds = made.get("cv", "0")
    cross = f"{folds}-fold cross-validation of the whole procedure, selection included"
    found = {
        "5a": f"{answer.source}; {made.get('data', '')}".strip("; "),
        "7": decisions,
        "8a": f"{answer.target}" + (f" ({', '.join(answer.classes)})." if answer.classes else "."),
        "9a": f"{counted(answer.variables, 'candidate variable')}, all offered to the selection.",
        "10": samples,
        "11": missing,
        "12a": f"{samples} All were used for development" + (f"; {cross}." if prediction else "."),
        "12b": "Columns were standardised; linear, quadratic and local effects and products of two "
        "variables were considered." + adjustment(answer),
        "12c": f"{made.get('method', 'sift')}: variables selected at an expected "
        f"{made.get('false_positives', '0.3')} false ones, then a kernel model of the selected "
        "ones, its parameters set by marginal likelihood."
        + (f" Internal validation: {cross}." if prediction else ""),
        "12g": "By the saved model, model.gradsift (gradsift predict).",
        "13": f"{by_class}. No resampling or class weights." if by_class else "",
        "15": "Probability of each class."
        if answer.classes
        else "A number, in the unit of the outcome.",
        "18f": f"gradsift {version}. {made.get('command', '')}".strip(),
        "21": samples,
        "22": f"{chosen}{f': {used}' if used else ''}. The model is in model.gradsift."
        if answer.selected
        else "No variable was selected.",
        "26": " ".join(note.text for note in answer.notes if note.caution),
    }
    if prediction is not None:
        others = "; ".join(map(score, prediction.others))
        found["12e"] = f"{prediction.metric}, {prediction.where}."
        found["16"] = f"None: held-out folds of the same table ({folds} folds)."
        found["23a"] = f"{prediction.metric}: {score(prediction.score)}." + (
            f" Compared with {others}." if others else ""
        )
    return {item: text for item, text in found.items() if text}


def adjustment(answer: AnswerData) -> str:
    """Covariates, as a sentence."""
    if not answer.adjusted_for:
        return ""
    return f" Adjusted for {join(answer.adjusted_for, MOST_NAMED)}."


def score(value: Score) -> str:
    """Mean and standard deviation over folds."""
    return f"{value.name} {value.mean:.3g} ± {value.spread:.2g}"


def cell(text: str) -> str:
    """A text in a cell of a Markdown table."""
    return " ".join(text.replace("|", "\\|").split())
