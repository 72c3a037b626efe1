"""Notes on a table and a run: what was found, what it means and which option changes it."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from shlex import quote
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from gradsift.answer import Answer, Note
from gradsift.data import fill_missing
from gradsift.exceptions import (
    DependentRowsWarning,
    FewGroupsWarning,
    NothingSelectedWarning,
    RepeatedRowsWarning,
)
from gradsift.inference.proportional_hazards import proportional_hazards
from gradsift.protocols import Source
from gradsift.responses import Survival
from gradsift.tables import Choices, ReadOptions, Table
from gradsift.tables import Note as TableNote

TOO_GOOD_R2, TOO_GOOD_ACCURACY = 0.995, 0.999
"""Held-out scores beyond belief."""
DECISIONS = ("joined", "left out", "filled", "suggestion")
"""Kinds of notes on a table that the first screen repeats: they change what is analysed."""
BRIEF: dict[type[Warning], str] = {
    DependentRowsWarning: (
        "Rows depend on the rows before them, so confidences are too high. Name the column of "
        "their day, plate or subject with --group or --covariates."
    ),
    FewGroupsWarning: (
        "The rows form few groups, so confidences are inaccurate. Use the order of the findings "
        "as a ranking."
    ),
}
"""Short forms of warnings whose messages are long."""


@contextmanager
def gathered(warned: list[warnings.WarningMessage]) -> Iterator[None]:
    """Warnings are kept instead of written to stderr."""
    with warnings.catch_warnings(record=True) as met:
        warnings.simplefilter("always")
        yield
    warned += met


def sentence(clause: str) -> str:
    """A clause as a sentence: names of files and columns at its beginning stay as they are."""
    clause = clause.rstrip(".")
    word = clause.split(" ")[0].rstrip(":,;")
    if word.isalpha() and word.isascii():
        clause = clause[0].upper() + clause[1:]
    return f"{clause}."


def note_of(note: TableNote) -> Note:
    """A note of a table, with the option that changes what was decided.

    Examples
    --------
    >>> note_of(TableNote("left out", "'id' (identifier)", ("id",), "use")).text
    "Left out: 'id' (identifier) [--use]."
    """
    kind = "" if note.kind in ("read", "joined", "new rows", "caution") else f"{note.kind}: "
    text = sentence(f"{kind}{note.text}{option_words(note.change)}")
    return Note(text, note.kind == "caution", note.kind in DECISIONS)


def option_words(change: str) -> str:
    """Names of choices as options of the command line, in brackets; names of columns are quoted.

    Examples
    --------
    >>> option_words("group=sample_id, covariate_names")
    ' [--group sample_id, --covariate-names]'
    >>> option_words("group=Patient no, left")
    " [--group 'Patient no, left']"
    """
    options = []
    known = "|".join(field.name for cls in (Choices, ReadOptions) for field in fields(cls))
    for choice in re.split(rf", (?=(?:{known})(?:=|, |$))", change):
        option, given, value = choice.partition("=")
        options.append(f"--{option.replace('_', '-')}{' ' * bool(given)}{value and quote(value)}")
    return f" [{', '.join(options)}]" if change else ""


PARAMETERS = {
    r"gradsift\.aggregate\(X, y, groups\) \(on the command line, (.*?)\)": r"\1",
    r"(?:GradientSiftRegressor\()?family='[a-z-]+'\)?": "--task counts",
    r"missing='(\w+)'": r"--missing \1",
    r"\bfalse_discovery_rate\b": "--fdr",
    r"\balways_keep\b": "--keep",
    r"\b(false_positives|max_features|predict_with)\b": r"--\1",
    r"(?:fit\()?\bgroups=(?:\.\.\.\))?": "--group",
    r"\bcovariates=(?:\.\.\.)?": "--covariates",
    r"\bn_jobs\b": "--threads",
}
"""Parameters of the estimators in messages, and what they are called on the command line."""


def in_options(text: str) -> str:
    """A message of the library in words of the command line.

    Examples
    --------
    >>> in_options("missing='mean' fills them, and false_positives is no promise.")
    '--missing mean fills them, and --false-positives is no promise.'
    """
    for parameter, option in PARAMETERS.items():
        text = re.sub(parameter, option, text)
    return re.sub(r"--[a-z]+(?:_[a-z]+)+", lambda found: found[0].replace("_", "-"), text)


def table_notes(table: Table) -> list[Note]:
    """Decisions that were made when the table was read."""
    notes = [note_of(note) for note in table.notes]
    if table.groups is not None:
        count, column = table.groups.count, table.groups.column
        groups = f"{count:,} groups ({column})"
        notes.append(Note(f"{len(table.y):,} rows belong to {groups}; folds hold whole groups."))
    return notes


def fit_notes(model: BaseEstimator, table: Table) -> list[Note]:
    """Limits of the fit: columns that never change, products that were not searched."""
    notes = []
    constant = int(np.isinf(model.scale_).sum()) if isinstance(table.X, Source) else 0
    if constant:
        what = (
            "1 column never changes and was"
            if constant == 1
            else f"{constant:,} columns never change and were"
        )
        notes.append(Note(f"{what} left out."))
    paired, p = getattr(model, "n_paired_columns_", 0), len(model.scale_)
    if 0 < paired < p:
        text = (
            f"Products of two columns were searched among the {paired:,} most promising of {p:,} "
            "columns only; a search among all would take too long."
        )
        notes.append(Note(text))
    return notes


def hazard_notes(model: Any, table: Table) -> list[Note]:
    """A caution where a test shows that effects on a hazard change with time."""
    if not model.get_support().any():
        return []
    risk = model.predict(fill_missing(table.X, model.mean_), **table.sample_params)
    found = proportional_hazards(Survival.of(table.y), risk)
    return [] if found.holds else [Note(str(found), caution=True)]


def warning_notes(warned: Sequence[warnings.WarningMessage], table: Table) -> list[Note]:
    """Warnings as cautions, each once; nothing that the answer says anyway."""
    # that nothing was selected is the headline, and a table in memory has a note on repeated rows
    said = {NothingSelectedWarning, *(() if isinstance(table.X, Source) else {RepeatedRowsWarning})}
    texts = [
        BRIEF.get(w.category, in_options(str(w.message)))
        for w in warned
        if issubclass(w.category, UserWarning) and w.category not in said
    ]
    return [Note(sentence(text), caution=True) for text in dict.fromkeys(texts)]


def alarm_notes(answer: Answer) -> list[Note]:
    """A held-out score beyond belief: a sign of a leak."""
    p, labels = answer.prediction, bool(answer.classes)
    if p is None or p.score.mean <= (TOO_GOOD_ACCURACY if labels else TOO_GOOD_R2):
        return []
    first = answer.selected[:1]
    such = f", such as {first[0]}," if first else ""
    text = (
        f"{p.metric} {p.score.mean:.4f} on held-out rows is rarely true. Check whether a column"
        f"{such} is a copy or a consequence of {answer.target}, or rows are copies. Leave "
        "out with --drop what would not be known before it."
    )
    return [Note(text, caution=True)]
