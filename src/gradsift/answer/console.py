"""An answer as at most twenty lines of plain text."""

from __future__ import annotations

import textwrap
from typing import NamedTuple

import numpy as np

from gradsift._run.printable import printable
from gradsift.answer.results import AnswerData, Comparison, Finding
from gradsift.answer.words import (
    RATIOS,
    adjusted_text,
    confidence_meaning,
    confidence_text,
    counted,
    effects_on,
    fitting,
    headline,
    level_texts,
    others_text,
    outcome_text,
    outcomes_text,
    predicted,
    prediction_text,
    remark,
    row_name,
    shortened,
    shows_interval,
    size_meaning,
    size_of_table,
    size_text,
    values_texts,
)

MOST_LINES = 19
"""One less than a reader should meet: where the files are is said below."""
LEAST_ROWS = 8
"""Rows of findings for which what is of less interest is left out."""
SURE = "confidence"
LEAST_TEXT, LEAST_NAME = 16, 8
"""Characters that names leave for the words of an effect, where these need them; and of a name."""
CAUTION_WORD = "Caution:"
CAUTION, LEGEND = 1, 2
"""Rank of all cautions but the first, and of what the confidence means: they are left out only
where clear findings, or two findings, have no room.
"""


class Row(NamedTuple):
    """A line of the table: a comparison of a finding, or the name of a pair above those of it."""

    finding: Finding
    place: int
    """Which comparison; -1 for the name of a pair."""

    @property
    def comparison(self) -> Comparison | None:
        return self.finding.effect.comparisons[self.place] if self.place >= 0 else None


def rows_of(f: Finding) -> list[Row]:
    """The lines of a finding."""
    return [Row(f, k) for k in range(-1 if f.partner else 0, len(f.effect.comparisons))]


def to_console(a: AnswerData, width: int = 80, *, details: bool = False) -> str:
    """The answer as plain text; with `details`, all findings, predictions and notes."""

    def wrapped(text: str, lines: int = 2) -> list[str]:
        most = None if details else lines
        return textwrap.wrap(
            printable(text), width, max_lines=most, placeholder=" …", break_on_hyphens=False
        )

    top = [*wrapped(f"{headline(a)}  {size_of_table(a)}"), ""]
    rows = [row for f in a.findings for row in rows_of(f)]
    clear = min(sum(row.finding.certainty == "clear" for row in rows), LEAST_ROWS)
    room = max(MOST_LINES - len(top) - 2, 0)
    paragraphs = [(rank, wrapped(text, 4)) for rank, text in texts(a, details)]
    while paragraphs and not details:
        least = max(range(len(paragraphs)), key=lambda k: (paragraphs[k][0], k))
        rank = paragraphs[least][0]
        needed = min(len(rows), LEAST_ROWS if rank > LEGEND else max(clear, 2))
        if rank == 0 or sum(len(p) for _, p in paragraphs) <= room - needed:
            break
        del paragraphs[least]
    cautions = [p for _, p in paragraphs if p[0].startswith(CAUTION_WORD)]
    above = [line for p in cautions for line in p]
    bottom = [line for _, p in paragraphs if p not in cautions for line in p]
    if hidden := sum(note.caution for note in a.notes) - len(cautions):
        above.append(f"{counted(hidden, 'more caution')} (--details)")
    if details:
        bottom += [line for f in a.findings for line in detail_lines(a, f, width)]
        bottom += [line for n in a.notes if not n.caution for line in wrapped(f"Note: {n.text}")]
    top[-1:] = [*above, ""]
    room = max(room - len(bottom) - len(above), 2)
    ends = np.cumsum([len(rows_of(f)) for f in a.findings]).tolist()
    number = len(ends)
    if not details and len(rows) > room:  # whole findings: both rows of a pair
        number = max(sum(end < room for end in ends), 1)
    table = outcome_lines if a.outcomes else table_lines
    lines = table(a, rows[: ends[number - 1]] if ends else [], width)
    if number < len(ends):
        lines.append(f"  and {len(ends) - number} more (--details)")
    return "\n".join([*top, *lines, *([""] if lines else []), *bottom])


def texts(a: AnswerData, details: bool) -> list[tuple[int, str]]:
    """What is said about the findings, and its rank: the largest is left out first. Cautions stand
    above the findings.
    """
    cautions = [note.text for note in a.notes if note.caution]
    decisions = "" if details else " ".join(n.text for n in a.notes if n.decision)
    out = [
        (0, size_meaning(a) if a.findings else ""),
        (LEGEND, confidence_meaning(a) if a.findings else ""),
        (0, prediction_text(a.prediction) if a.prediction else ""),
        (4, others_text(a)),
        (3, adjusted_text(a)),
        *((min(k, CAUTION), f"{CAUTION_WORD} {text}") for k, text in enumerate(cautions)),
        (5, f"Data: {decisions}" if decisions else ""),
    ]
    return [(rank, text) for rank, text in out if text]


def leads(rows: list[Row], width: int, rest: int) -> tuple[str, list[str]]:
    """Certainty, name and confidence of each row in columns, and their header; long names are
    shortened, to leave `rest` characters of a line.
    """
    words = [row.finding.certainty for row in rows]
    named = [row.place == (-1 if row.finding.partner else 0) for row in rows]
    confidences = [confidence_text(r.finding) if name else "" for r, name in zip(rows, named)]
    sure, word = len(SURE) if any(confidences) else 0, max(map(len, words))
    longest = max(len(printable(row_name(row.finding, row.place))) for row in rows)
    fixed = word + 6 + (sure + 2 if sure else 0)
    wide = min(longest, max(width // 3, LEAST_NAME), max(width - fixed - rest, LEAST_NAME))
    lines = []
    for row, group, before, confidence in zip(rows, words, ["", *words], confidences):
        label = "" if group == before else group
        name = row_name(row.finding, row.place, wide)
        lines.append(
            f"  {label:{word}}  {name:{wide}}  {f'{confidence:>{sure}}  ' if sure else ''}"
        )
    return f"{'':{word + wide + 6}}{f'{SURE}  ' if sure else ''}", lines


def table_lines(a: AnswerData, rows: list[Row], width: int) -> list[str]:
    """Rows in columns; long names and words are shortened."""
    if not rows:
        return []
    sizes, forms, least = [], [], 0
    for f, c in ((row.finding, row.comparison) for row in rows):
        sizes.append("" if c is None else size_text(c, a.scale, interval=shows_interval(f)))
        forms.append([""] if c is None else values_texts(a, f, f.effect, c))
        end = -2 if c is not None and c.shape in ("rises", "falls") else -1
        least = max(least, len(printable(forms[-1][end])))
    changes = "ratio" if a.scale in RATIOS else "change"
    intervals = any(shows_interval(row.finding) for row in rows)
    for more in (" (95% interval)", " (95%)"):
        title = f"{changes}{more * intervals}"
        wide = max(len(title), *map(len, sizes))
        head, starts = leads(rows, width, wide + 2 + min(least, LEAST_TEXT))
        if not any("…" in start for start in starts):
            break
    head = f"{head}{title:{wide}}  "
    starts = [f"{start}{size:{wide}}  " for start, size in zip(starts, sizes)]
    left = width - len(starts[0])
    remarks = ["" if row.comparison is None else remark(a, row.finding) for row in rows]
    said = [fitting(texts, more, left) for texts, more in zip(forms, remarks)]
    what = printable(predicted(a, a.classes[1] if len(a.classes) == 2 else "the class"))
    titles = [f"{what} (where)"] * any(text.endswith(")") for text in said) + [what, "predicted"]
    title = next((text for text in titles if len(text) <= left), "")
    body = [f"{start}{text}".rstrip()[:width] for start, text in zip(starts, said)]
    return [f"{head}{title}".rstrip()[:width], *body]


def outcome_lines(a: AnswerData, rows: list[Row], width: int) -> list[str]:
    """Variables by outcomes: each change; where these do not fit, the outcomes that change."""
    if not rows:
        return []
    head, starts = leads(rows, width, LEAST_TEXT)
    found = [effects_on(a, row.finding) for row in rows]
    cells = [
        [outcome_text(e, row.place) if row.place >= 0 else "" for e in each]
        for row, each in zip(rows, found)
    ]
    cells = [list(map(printable, a.outcomes)), *cells]
    sizes = [max(map(len, column)) for column in zip(*cells)]
    if len(head) + sum(size + 2 for size in sizes) <= width + 2:
        shown = ["  ".join(f"{text:>{n}}" for text, n in zip(line, sizes)) for line in cells]
        return [f"{lead}{line}".rstrip() for lead, line in zip([head, *starts], shown)]
    left = max(width - len(head), LEAST_TEXT)
    said = [
        outcomes_text(each, row.place, left) if row.place >= 0 else ""
        for each, row in zip(found, rows)
    ]
    return [head.rstrip(), *(f"{start}{text}".rstrip() for start, text in zip(starts, said))]


def detail_lines(a: AnswerData, f: Finding, width: int) -> list[str]:
    """Members, and predictions at every value and for every class."""
    lines = ["", printable(f.name)]
    if len(f.members) > 1:
        names = ", ".join(m.name for m in f.members)
        lines += textwrap.wrap(printable(f"one of: {names}"), width, subsequent_indent="  ")
    for e in (f.effect, *f.others):
        what = f"{e.outcome} at " if e.outcome else ""
        for level in e.levels:
            mean, interval = level_texts(e, level)
            text = f"  {what}{level.label}: {mean} ({interval})"
            lines.append(shortened(printable(text), width))
    return lines
