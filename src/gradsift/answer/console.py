"""An answer as at most twenty lines of plain text."""

from __future__ import annotations

import textwrap
from typing import NamedTuple

from gradsift._run.printable import printable
from gradsift.answer.results import AnswerData, Comparison, Finding
from gradsift.answer.words import (
    adjusted_text,
    confidence_meaning,
    confidence_text,
    fitting,
    headline,
    others_text,
    prediction_text,
    shortened,
    shows_interval,
    size_meaning,
    size_text,
)

MOST_LINES = 19
"""One less than a reader should meet: where the files are is said below."""
LEAST_ROWS = 4
"""Rows of findings that are shown, however much there is to say below them."""
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


def to_console(a: AnswerData, width: int = 80, *, details: bool = False) -> str:
    """The answer as plain text; with `details`, all findings, predictions and notes."""

    def wrapped(text: str, lines: int = 2) -> list[str]:
        most = None if details else lines
        return textwrap.wrap(printable(text), width, max_lines=most, placeholder=" …")

    size = f"{a.rows:,} rows, {a.variables:,} variables"
    top = [*wrapped(f"{headline(a)}  {size}"), ""]
    bottom: list[str] = []
    if a.findings:
        bottom += ["", *wrapped(size_meaning(a)), *wrapped(confidence_meaning(a))]
    for text in (
        prediction_text(a.prediction) if a.prediction else "",
        others_text(a),
        adjusted_text(a),
    ):
        bottom += wrapped(text, 3)
    cautions = [note.text for note in a.notes if note.caution]
    shown = cautions if details else cautions[:MOST_CAUTIONS]
    for text in shown:
        bottom += wrapped(f"Caution: {text}")
    decisions = [note.text for note in a.notes if note.decision]
    if decisions and not details:
        bottom += wrapped(f"Data: {' '.join(decisions)}", 3)
    if details:
        bottom += [line for f in a.findings for line in detail_lines(a, f, width)]
        bottom += [line for n in a.notes if not n.caution for line in wrapped(f"Note: {n.text}")]
    room = max(MOST_LINES - len(top) - len(bottom) - 1, LEAST_ROWS)
    rows = [row for f in a.findings for row in rows_of(a, f)]
    lines = table_lines(a, rows if details else rows[: room - (len(rows) > room)], width)
    if not details and len(rows) > room:
        lines.append(f"  and {len(a.findings) - count(a, room - 1)} more (--details)")
    out = [*top, *lines, *bottom]
    return "\n".join(out if details else out[: MOST_LINES + LEAST_ROWS])


def count(a: AnswerData, room: int) -> int:
    """Findings whose rows begin among the first ones."""
    starts = 0
    for number, f in enumerate(a.findings):
        if starts >= room:
            return number
        starts += len(f.effect.comparisons)
    return len(a.findings)


def rows_of(a: AnswerData, f: Finding) -> list[Row]:
    """The lines of a finding: one, or two of a pair."""
    out = []
    for k, c in enumerate(f.effect.comparisons):
        size = size_text(c, f.effect.scale, interval=shows_interval(f))
        head = (f.certainty, f.name, confidence_text(f)) if k == 0 else ("", "", "")
        out.append(Row(f, c, *head, size))
    return out


def table_lines(a: AnswerData, rows: list[Row], width: int) -> list[str]:
    """Rows in columns; long names and words are shortened."""
    if not rows:
        return []
    sure = 6 if any(row.word == "clear" for row in rows) else 0
    word = max(len(row.word) for row in rows)
    size = max(len(row.size) for row in rows)
    fixed = 2 + word + 2 + (sure + 2 if sure else 0) + size + 2
    names = [printable(row.name) for row in rows]
    wide = min(max(map(len, names)), max(width // 3, 12), max(width - fixed - LEAST_TEXT, 8))
    lines, group = [], ""
    for row, name in zip(rows, names):
        label = row.word if row.word != group else ""
        group = row.word or group
        middle = f"{row.confidence:>{sure}}  " if sure else ""
        head = f"  {label:{word}}  {shortened(name, wide):{wide}}  {middle}{row.size:{size}}  "
        left = max(width - len(head), 0)
        lines.append(f"{head}{fitting(a, row.finding, row.comparison, left)}".rstrip()[:width])
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
