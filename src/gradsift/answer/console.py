"""An answer as at most twenty lines of plain text."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gradsift._run.printable import printable
from gradsift.answer.results import AnswerData, Comparison, Finding
from gradsift.answer.words import (
    RATIOS,
    adjusted_text,
    confidence_meaning,
    confidence_text,
    effects_on,
    fitting,
    headline,
    others_text,
    outcome_text,
    outcomes_text,
    predicted,
    prediction_text,
    shortened,
    shows_interval,
    size_meaning,
    size_text,
)

MOST_LINES = 19
"""One less than a reader should meet: where the files are is said below."""
LEAST_ROWS = 8
"""Rows of findings for which what is of less interest is left out."""
SURE = "confidence"
LEAST_TEXT = 12
"""Characters that names leave for the words of an effect."""
MOST_CAUTIONS = 3


class Row(NamedTuple):
    """A line of the table: a comparison of a finding, and its cells."""

    finding: Finding
    comparison: Comparison
    word: str
    name: str
    confidence: str
    size: str
    place: int


def to_console(a: AnswerData, width: int = 80, *, details: bool = False) -> str:
    """The answer as plain text; with `details`, all findings, predictions and notes."""

    def wrapped(text: str, lines: int = 2) -> list[str]:
        most = None if details else lines
        return textwrap.wrap(printable(text), width, max_lines=most, placeholder=" …")

    size = f"{a.rows:,} rows, {a.variables:,} variables"
    top = [*wrapped(f"{headline(a)}  {size}"), ""]
    rows = [row for f in a.findings for row in rows_of(a, f)]
    room = max(MOST_LINES - len(top) - 2, 0)
    paragraphs = [(rank, wrapped(text, 3)) for rank, text in texts(a, details)]
    while sum(len(p) for _, p in paragraphs) > room - min(len(rows), LEAST_ROWS) and not details:
        least = max(range(len(paragraphs)), key=lambda k: (paragraphs[k][0], k))
        if paragraphs[least][0] == 0:
            break
        del paragraphs[least]
    bottom = [line for _, p in paragraphs for line in p]
    if details:
        bottom += [line for f in a.findings for line in detail_lines(a, f, width)]
        bottom += [line for n in a.notes if not n.caution for line in wrapped(f"Note: {n.text}")]
    room = max(room - len(bottom), 2)
    ends = np.cumsum([len(f.effect.comparisons) for f in a.findings]).tolist()
    number = len(ends)
    if not details and len(rows) > room:  # whole findings: both rows of a pair
        number = max(sum(end < room for end in ends), 1)
    table = outcome_lines if a.outcomes else table_lines
    lines = table(a, rows[: ends[number - 1]] if ends else [], width)
    if number < len(ends):
        lines.append(f"  and {len(ends) - number} more (--details)")
    return "\n".join([*top, *lines, *([""] if lines else []), *bottom])


def texts(a: AnswerData, details: bool) -> list[tuple[int, str]]:
    """What is said below the findings, and its rank: the largest is left out first."""
    cautions = [note.text for note in a.notes if note.caution]
    decisions = "" if details else " ".join(n.text for n in a.notes if n.decision)
    out = [
        (0, size_meaning(a) if a.findings else ""),
        (0, confidence_meaning(a) if a.findings else ""),
        (0, prediction_text(a.prediction) if a.prediction else ""),
        (2, others_text(a)),
        (1, adjusted_text(a)),
        *((0, f"Caution: {text}") for text in (cautions if details else cautions[:MOST_CAUTIONS])),
        (3, f"Data: {decisions}" if decisions else ""),
    ]
    return [(rank, text) for rank, text in out if text]


def rows_of(a: AnswerData, f: Finding) -> list[Row]:
    """The lines of a finding: one, or two of a pair."""
    out = []
    for k, c in enumerate(f.effect.comparisons):
        size = size_text(c, f.effect.scale, interval=shows_interval(f))
        head = (f.certainty, f.name, confidence_text(f)) if k == 0 else ("", "", "")
        out.append(Row(f, c, *head, size, k))
    return out


def table_lines(a: AnswerData, rows: list[Row], width: int) -> list[str]:
    """Rows in columns; long names and words are shortened."""
    if not rows:
        return []
    sure = len(SURE) if any(row.confidence for row in rows) else 0
    word = max(len(row.word) for row in rows)
    changes = f"{'ratio' if a.scale in RATIOS else 'change'} (95% interval)"
    size = max(len(changes), *(len(row.size) for row in rows))
    fixed = 2 + word + 2 + (sure + 2 if sure else 0) + size + 2
    names = [printable(row.name) for row in rows]
    wide = min(max(map(len, names)), max(width // 3, 12), max(width - fixed - LEAST_TEXT, 8))
    head = f"{'':{word + wide + 6}}{SURE if sure else '':{sure + 2 if sure else 0}}{changes:{size}}"
    what = printable(predicted(a, a.classes[1] if len(a.classes) == 2 else "the class"))
    titles = [f"{head}  {what} (where)", f"{head}  {what}", head]
    lines, group = [next((t for t in titles if len(t) <= width), "").rstrip()], ""
    for row, name in zip(rows, names):
        label = row.word if row.word != group else ""
        group = row.word or group
        middle = f"{row.confidence:>{sure}}  " if sure else ""
        head = f"  {label:{word}}  {shortened(name, wide):{wide}}  {middle}{row.size:{size}}  "
        left = max(width - len(head), 0)
        lines.append(f"{head}{fitting(a, row.finding, row.comparison, left)}".rstrip()[:width])
    return lines


def outcome_lines(a: AnswerData, rows: list[Row], width: int) -> list[str]:
    """Variables by outcomes: each change; where these do not fit, the outcomes that change."""
    if not rows:
        return []
    sure = len(SURE) if any(row.confidence for row in rows) else 0
    word, names = max(len(row.word) for row in rows), [printable(row.name) for row in rows]
    wide = min(max(map(len, names)), max(width // 3, 12))
    found = [effects_on(a, row.finding) for row in rows]
    cells = [[outcome_text(e, row.place) for e in each] for row, each in zip(rows, found)]
    sizes = [max(map(len, column)) for column in zip(map(printable, a.outcomes), *cells)]
    given = [printable(row.comparison.given) for row in rows]
    start = word + wide + 6 + (sure + 2 if sure else 0)
    fits = start + sum(size + 2 for size in sizes) + max(map(len, given)) <= width

    def line(head: str, texts: Sequence[str], more: str) -> str:
        cells = "  ".join(f"{text:>{size}}" for text, size in zip(texts, sizes))
        return f"{head}{cells}  {more}".rstrip()

    head = f"{'':{word + wide + 6}}{SURE if sure else ''}".ljust(start)
    lines, group = [line(head, [*map(printable, a.outcomes)], "") if fits else head.rstrip()], ""
    for k, (row, name) in enumerate(zip(rows, names)):
        label = row.word if row.word != group else ""
        group = row.word or group
        middle = f"{row.confidence:>{sure}}  " if sure else ""
        head = f"  {label:{word}}  {shortened(name, wide):{wide}}  {middle}"
        text = printable(outcomes_text(found[k], row.place)) or "no clear direction"
        text += f", {given[k]}" if given[k] else ""
        short = f"{head}{shortened(text, max(width - start, LEAST_TEXT))}"
        lines.append(line(head, cells[k], given[k]) if fits else short)
    return lines


def detail_lines(a: AnswerData, f: Finding, width: int) -> list[str]:
    """Members, and predictions at every value and for every class."""
    lines = ["", printable(f.name)]
    if len(f.members) > 1:
        names = ", ".join(m.name for m in f.members)
        lines += textwrap.wrap(printable(f"one of: {names}"), width, subsequent_indent="  ")
    for e in (f.effect, *f.others):
        scale = 100.0 if e.scale == "probability" else 1.0
        for level in e.levels:
            m = level.mean
            mean, low, high = (scale * v for v in (m.value, m.low, m.high))
            what = f"{e.outcome} at " if e.outcome else ""
            text = f"  {what}{level.label}: {mean:.3g} ({low:.3g} to {high:.3g})"
            lines.append(shortened(printable(text), width))
    return lines
