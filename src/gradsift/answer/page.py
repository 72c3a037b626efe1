"""An answer as one HTML page: the answer on the first screen, and folded details below it.

It needs no other file and no JavaScript; it is readable in dark mode, on a phone and on paper.
"""

from __future__ import annotations

from collections.abc import Sequence

from gradsift.answer.effects import LEAST_SHARE, value_text
from gradsift.answer.pictures import (
    Axis,
    curve_picture,
    level_picture,
    median_text,
    rules,
    safe,
    scale,
    step_picture,
    svg,
    whisker,
)
from gradsift.answer.results import AnswerData, Effect, Finding
from gradsift.answer.words import (
    RATIOS,
    adjusted_text,
    confidence_meaning,
    confidence_text,
    described,
    effects_on,
    headline,
    level_texts,
    others_text,
    outcome_text,
    percent,
    predicted,
    prediction_text,
    shows_interval,
    size_meaning,
    size_of_table,
    size_text,
    unit,
)

MOST_ROWS, MOST_CARDS, MOST_MEMBERS, MOST_LINES = 12, 6, 20, 60
"""Findings and pictures on the first screen; members of a set and lines of a table below it."""
LONG_HEADLINE = 90
ENDS = (8.0, 312.0)
"""Places of the axis of the forest plot, in a picture of width 320."""

STYLE = """<style>
.gs{--ink:#1b1f24;--muted:#5b6570;--faint:#e3e6ea;--paper:#fff;--card:#f7f8fa;--blue:#0066a8;
 --warm:#b34700;color:var(--ink);background:var(--paper);
 font:15px/1.45 system-ui,-apple-system,"Segoe UI",sans-serif}
@media (prefers-color-scheme:dark){.gs{--ink:#e8eaed;--muted:#a2abb5;--faint:#343a41;
 --paper:#15181c;--card:#1d2126;--blue:#5ab2f0;--warm:#ff9a56}}
.gs main{max-width:1180px;margin:0 auto;padding:22px 24px 60px}
.gs h1{font-size:28px;line-height:1.2;margin:2px 0 12px;overflow-wrap:anywhere}
.gs h1.long{font-size:22px}
.gs p{margin:6px 0;overflow-wrap:anywhere}
.gs .hint{color:var(--muted);font-size:13px;margin:0}
.gs table{border-collapse:collapse;width:100%}
.gs .forest td,.gs .forest th{padding:0 12px 0 0;text-align:left;font-weight:400}
.gs .forest th{font-weight:600;min-width:130px;max-width:280px;overflow-wrap:anywhere}
.gs .forest .c{width:84px;white-space:nowrap}.gs .forest .p{width:30%}
.gs .forest .p svg{display:block;width:100%}
.gs .forest .maybe th,.gs .forest .sub th{font-weight:400}
.gs .forest .sub th{padding-left:16px;color:var(--muted)}
.gs .forest .head *,.gs .forest .group td{color:var(--muted);font-size:12px;font-weight:400}
.gs .size{font-weight:600;white-space:nowrap}
.gs .say{color:var(--muted);margin-left:8px;overflow-wrap:anywhere}
.gs .cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(250px,1fr));gap:12px;
 margin:14px 0 10px}
.gs figure{margin:0;background:var(--card);border-radius:10px;padding:10px 12px 6px;min-width:0}
.gs figure svg{width:100%;display:block}
.gs figcaption{font-size:13px;color:var(--muted);overflow-wrap:anywhere}
.gs figcaption b{font-size:15px;color:var(--ink)}
.gs .grid{stroke:var(--faint)}.gs .zero{stroke:var(--muted)}
.gs .whisker{stroke-width:2.5;stroke:var(--blue)}.gs .dot{fill:var(--blue)}
.gs .dot.maybe{fill:var(--paper);stroke:var(--muted);stroke-width:2}
.gs .tick{fill:var(--muted);font-size:11px}.gs .label{fill:var(--ink);font-size:12px}
.gs .rows{fill:var(--muted);opacity:.35}.gs .band{fill:var(--blue);opacity:.16}
.gs .curve{fill:none;stroke:var(--blue);stroke-width:2.2}.gs .s1.curve{stroke:var(--warm)}
.gs .s1.band{fill:var(--warm)}.gs .k0{color:var(--blue)}.gs .k1{color:var(--warm)}
.gs .s2.curve{stroke:var(--ink);stroke-dasharray:6 3}.gs .k2{color:var(--ink)}
.gs .caution{border-left:3px solid var(--warm);padding:2px 10px;margin:6px 0;font-size:13px}
.gs details{border-top:1px solid var(--faint);padding:9px 0}
.gs summary{cursor:pointer;font-weight:600}.gs .scroll{overflow-x:auto}
.gs .data td,.gs .data th{border-bottom:1px solid var(--faint);padding:4px 12px 4px 0;
 text-align:left;overflow-wrap:anywhere;vertical-align:top}
@media (max-width:760px){.gs main{padding:14px 14px 40px}.gs h1,.gs h1.long{font-size:21px}
 .gs .forest tr{display:grid;grid-template-columns:minmax(0,1fr) auto;padding:6px 0;
  border-top:1px solid var(--faint)}
 .gs .forest th,.gs .forest .c{width:auto;min-width:0}
 .gs .forest .c:not(:empty)::before{content:"confidence ";color:var(--muted);font-size:12px}
 .gs .forest .p,.gs .forest .t{grid-column:1/3;width:auto}
 .gs .data td,.gs .data th{min-width:84px}
 .gs .forest .head{border:0}.gs .head .t,.gs .head th,.gs .head .c{display:none}}
@media print{.gs main{max-width:none;padding:0}.gs figure,.gs tr{break-inside:avoid}}
</style>"""


# ---- the first screen


def forest(a: AnswerData, findings: Sequence[Finding]) -> str:
    """Confidence, size and interval of every finding on one axis; of a pair, its effect at two
    values of the partner.
    """
    ends = [1.0 if a.scale in RATIOS else 0.0]
    for f in findings:
        for c in f.effect.comparisons:
            ends += [c.size.low, c.size.high] if shows_interval(f) else [c.size.value]
    axis = Axis.around(ends, a.scale, ratio=a.scale in RATIOS)

    def row(css: str, cells: tuple[str, str, str, str]) -> str:
        name, sure, drawn, text = cells
        return (
            f'<tr class="{css}"><th scope="row">{safe(name)}</th><td class="c">{safe(sure)}</td>'
            f'<td class="p">{drawn}</td><td class="t">{text}</td></tr>'
        )

    head = "finding", "confidence" if a.has_confidence else ""
    interval = " (95% interval)" * any(map(shows_interval, findings))
    title = f"{RATIOS.get(a.scale, 'change')}{interval}"
    rows, group = [row("head", (*head, safe(unit(a)), title))], ""
    for f in findings:
        if f.certainty != group:
            group = f.certainty
            rows.append(f'<tr class="group"><td colspan="4">{group}</td></tr>')
        css = "clear" if shows_interval(f) else "maybe"
        pair = len(f.effect.comparisons) > 1
        if pair:
            rows.append(row(css, (f.name, confidence_text(f), "", "")))
        for c in f.effect.comparisons:
            size = size_text(c, f.effect.scale, interval=shows_interval(f))
            say = described(a, f, f.effect, c)
            drawn = rules(axis, ENDS, 0, 28) + whisker(c.size, axis, 14, ENDS, css)
            text = f'<span class="size">{safe(size)}</span><span class="say">{safe(say)}</span>'
            name = f"at {c.given}" if pair else f.name
            sure = "" if pair else confidence_text(f)
            picture = svg(320, 28, f"{name}: {size}", drawn)
            rows.append(row(f"{css} sub" if pair or f.within else css, (name, sure, picture, text)))
    rows.append(row("head", ("", "", svg(320, 16, unit(a), scale(axis, ENDS, 12)), "")))
    return f'<table class="forest">{"".join(rows)}</table>'


def by_outcome(a: AnswerData, findings: Sequence[Finding]) -> str:
    """Variables by outcomes: the change of each with its interval."""
    head = ["", "finding", "confidence" if a.has_confidence else "", *a.outcomes]
    rows = []
    for f in findings:
        for k, c in enumerate(f.effect.comparisons):
            name = f"{f.members[0].name} at {c.given}" if c.given else f.name
            effects = effects_on(a, f)
            sizes = [outcome_text(e, k, interval=shows_interval(f)) for e in effects]
            rows.append([f.certainty, name, confidence_text(f), *sizes])
    return data_table(head, rows)


def cards(a: AnswerData, findings: Sequence[Finding]) -> str:
    """A small picture of each finding, all on one axis of the response; of several outcomes, on
    that of the outcome it changes most.
    """
    ends: dict[str, list[float]] = {}
    for e in (f.effect for f in findings):
        common = [level for level in e.levels if not level.share < LEAST_SHARE] or e.levels
        means = [*(m for line in e.lines for m in line.y), *(level.mean for level in common)]
        own = ends.setdefault(e.outcome if a.outcomes else "", [])
        own += [v for m in means for v in (m.low, m.high)]
    ratio = a.scale == "hazard"
    axes = {name: Axis.around(own, a.scale, ratio=ratio) for name, own in ends.items() if own}
    shown = ((f, axes.get(f.effect.outcome if a.outcomes else "")) for f in findings)
    return "".join(card(a, f, axis) for f, axis in shown if axis is not None)


def card(a: AnswerData, f: Finding, axis: Axis) -> str:
    """One picture, with the names of its axes."""
    e = f.effect
    what = predicted(a, e.outcome) + (", alone" if f.alone else "")
    lines = [(k, line.label) for k, line in enumerate(e.lines) if line.label]
    key = "".join(f'<br><span class="k{k}">{safe(label)}</span>' for k, label in lines)
    said = [f"{c.given}{': ' * bool(c.given)}{described(a, f, e, c)}" for c in e.comparisons]
    title = f"{f.name}: {'; '.join(said)}"
    if e.lines:
        drawing = curve_picture(e, axis, f.members[0].name, title)
    else:
        drawing = level_picture(e, axis, what, title)
    head = f"<b>{safe(f.name)}</b><br>{safe(what)}{key}"
    return f"<figure><figcaption>{head}</figcaption>{drawing}</figure>"


def grid(pictures: str) -> str:
    return f'<div class="cards">{pictures}</div>' if pictures else ""


def over_time(a: AnswerData) -> str:
    """Kaplan-Meier curves by thirds of the risk."""
    key = "".join(
        f'<br><span class="k{k}">{safe(g.label)}</span>' for k, g in enumerate(a.risk_groups)
    )
    head = (
        f"<b>{safe(f'without {a.target}, %')}</b><br>"
        f"of the rows that the risk was fitted to: curves of new rows are closer{key}"
    )
    drawing = step_picture(a.risk_groups)
    return f"<figure><figcaption>{head}</figcaption>{drawing}</figure>"


def on_first_screen(a: AnswerData) -> tuple[Finding, ...]:
    """Findings with a picture at the top."""
    sure = a.of("clear", "selected") or a.of("likely") or a.of("possible")
    return tuple(f for f in sure if not f.within)[:MOST_CARDS]


def answer_html(a: AnswerData) -> str:
    """Sentence, forest plot, curves and prediction."""
    about = f"{a.source} · {size_of_table(a)}" if a.source else size_of_table(a)
    css = ' class="long"' if len(headline(a)) > LONG_HEADLINE else ""
    parts = [f'<p class="hint">{safe(about)}</p><h1{css}>{safe(headline(a))}</h1>']
    parts += [f'<p class="caution">{safe(n.text)}</p>' for n in a.notes if n.caution]
    if a.findings:
        shown = a.findings[:MOST_ROWS]
        parts.append(by_outcome(a, shown) if a.outcomes else forest(a, shown))
        if len(a.findings) > len(shown):
            parts.append(f'<p class="hint">and {len(a.findings) - len(shown)} more below</p>')
        for text in (size_meaning(a), confidence_meaning(a)):
            parts.append(f'<p class="hint">{safe(text)}</p>')
    curves = over_time(a) if a.risk_groups else ""
    parts.append(grid(cards(a, on_first_screen(a)) + curves))
    predicted = prediction_text(a.prediction) if a.prediction else ""
    for text in (predicted, others_text(a), adjusted_text(a)):
        parts += [paragraph(text)] if text else []
    if decisions := " ".join(n.text for n in a.notes if n.decision):
        parts.append(f'<p class="hint">Data: {safe(decisions)}</p>')
    return "".join(parts)


def first_screen(a: AnswerData) -> str:
    """The first screen for a notebook."""
    return f'<div class="gs">{STYLE}{answer_html(a)}</div>'


# ---- what is folded away


def data_table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table of texts; long ones are cut."""
    cells = "".join(f"<th>{safe(h)}</th>" for h in head)
    shown = rows[:MOST_LINES]
    body = "".join(f"<tr>{''.join(f'<td>{safe(c)}</td>' for c in row)}</tr>" for row in shown)
    hidden = len(rows) - len(shown)
    more = f'<p class="hint">and {hidden:,} more</p>' if hidden else ""
    return f'<div class="scroll"><table class="data"><tr>{cells}</tr>{body}</table></div>{more}'


def paragraph(text: str) -> str:
    return f"<p>{safe(text)}</p>"


def level_rows(f: Finding, e: Effect) -> list[list[str]]:
    """Predictions at every level."""
    rows = []
    for level in e.levels:
        share = "" if level.share != level.share else f"{level.share:.0%}"
        rows.append([f.name, e.outcome, level.label, share, *level_texts(e, level)])
    return rows


def how_sure(a: AnswerData) -> str:
    """Meaning of the confidence, and the members of sets."""
    text = paragraph(confidence_meaning(a))
    if a.has_confidence:
        text += paragraph(
            "It is the probability by a Bayesian model of a few smooth effects and products, "
            "measured on planted effects: of findings of 95% and more, 98% were right; below, it "
            "is an order and no percentage, so that a word stands in its place. Columns that are "
            "alike share the confidence of one effect: one of them may be possible only, "
            "although its own effect is large. So intervals are shown of clear findings only."
        )
    sets = [(f, m) for f in a.findings if len(f.members) > 1 for m in f.members[:MOST_MEMBERS]]
    rows = [[f.name, m.name, percent(m.confidence or 0.0)] for f, m in sets]
    return text + (data_table(["one of", "member", "it is this one"], rows) if rows else "")


def in_numbers(a: AnswerData) -> str:
    """Pictures that the first screen has no room for, and predictions at all levels."""
    rest = [f for f in a.findings if f not in on_first_screen(a)][:MOST_ROWS]
    rows = [row for f in a.findings for e in (f.effect, *f.others) for row in level_rows(f, e)]
    head = ["finding", "outcome" if a.outcomes else "class", "at", "rows", "predicted"]
    return grid(cards(a, rest)) + data_table([*head, "95% interval"], rows)


def at_risk(a: AnswerData) -> str:
    """The time by which half had an event, and the numbers at risk."""
    groups = a.risk_groups
    text = paragraph(
        f"The share of rows without {a.target}, by Kaplan and Meier, for thirds of the rows by the "
        "risk that these variables predict."
    )
    head = ["", "half by", *(f"at risk at {value_text(t)}" for t, _ in groups[0].at_risk)]
    rows = [[g.label, median_text(g), *(f"{count:,}" for _, count in g.at_risk)] for g in groups]
    return text + data_table(head, rows)


def how_well(a: AnswerData) -> str:
    p = a.prediction
    assert p is not None
    rows = [[s.name, f"{s.mean:.3f}", f"{s.spread:.3f}"] for s in (p.score, *p.others)]
    rows += [[f"{p.score.name}, {s.name}", f"{s.mean:.3f}", f"{s.spread:.3f}"] for s in p.outcomes]
    return data_table([p.where, p.metric, "standard deviation over folds"], rows)


def combinations(a: AnswerData) -> str:
    """The directions."""
    text = paragraph(
        f"Directions along which {a.target} changes: weights of standardised variables, and the "
        "share of the squared gradient along each."
    )
    rows = [
        [f"{d.share:.0%}", ", ".join(f"{name} {w:+.2f}" for name, w in d.weights)]
        for d in a.directions
    ]
    return text + data_table(["share", "weights"], rows)


def the_rest(a: AnswerData) -> str:
    """Other variables, and what stands for findings in the model."""
    text = paragraph(others_text(a)) if others_text(a) else ""
    for f in a.findings:
        if f.used not in {m.name for m in f.members} | {f.partner}:
            instead = f"with {f.used} in its place" if f.used else "without it"
            text += paragraph(f"{f.name}: the model predicts {instead}.")
    return text + paragraph(
        "That no effect is shown is no proof that there is none: rows may be too few."
    )


def sections(a: AnswerData) -> list[tuple[str, str]]:
    """Questions and their answers as HTML."""
    out = [("How sure is this?", how_sure(a))]
    if a.risk_groups:
        out.append(("How many are at risk over time?", at_risk(a)))
    if a.findings:
        out.append(("What do they do, in numbers?", in_numbers(a)))
    if a.prediction:
        out.append(("How well does it predict?", how_well(a)))
    if a.directions:
        out.append(("Which combinations?", combinations(a)))
    out.append(("What about the rest of the table?", the_rest(a)))
    if a.sheets:
        text = "".join(
            f"<h3>{safe(s.title)}</h3>{paragraph(s.text)}{data_table(s.head, cells(s.rows))}"
            for s in a.sheets
        )
        out.append(("For statisticians", text))
    notes = "".join(paragraph(n.text) for n in a.notes if not n.caution)
    return [*out, ("How was it made?", notes + data_table(["", ""], a.made))]


def cells(rows: Sequence[Sequence[str | float]]) -> list[list[str]]:
    """Numbers with three digits."""
    return [[f"{c:.3g}" if isinstance(c, float) else str(c) for c in row] for row in rows]


def page(a: AnswerData) -> str:
    """One self-contained HTML page."""
    folded = "".join(
        f"<details><summary>{safe(ask)}</summary>{inside}</details>" for ask, inside in sections(a)
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f'<meta name="color-scheme" content="light dark"><title>{safe(headline(a))}</title>{STYLE}'
        f'</head><body class="gs" style="margin:0"><main>{answer_html(a)}{folded}</main></body>'
        "</html>\n"
    )
