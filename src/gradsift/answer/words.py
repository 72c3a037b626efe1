"""The words and numbers of an answer: one function for each, used by the console and the page."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, isfinite, log10

from gradsift._run.printable import printable
from gradsift.answer.results import (
    MOST_SHOWN,
    AnswerData,
    Comparison,
    Effect,
    Finding,
    Level,
    Prediction,
    Scale,
    Score,
)
from gradsift.inference.findings import CLEAR, LIKELY, POSSIBLE

MOST_NAMED = 4
"""Findings that a headline names."""
TOGETHER = "averaged with predictors on all columns"
"""What the average of selected variables and all columns is called."""
TURNS = ("U-shaped", "inverted U")
RATIOS = {"rate": "rate ratio", "hazard": "hazard ratio"}
SIZES = {
    "number": "Change",
    "probability": "Change in percentage points",
    "rate": "Rate ratio (×)",
    "hazard": "Hazard ratio (×)",
}
UNCLEAR = "·"
"""In place of a size on one of several outcomes that is not clear."""
SHORT_NAMES = 16, 9, 7, 6
"""Characters that names of categories are shortened to."""
UNSURE = "unclear"
NEAR_ZERO = 0.1
"""R² of a baseline below which it is not worth a word."""


# ---- text from a file, as a screen may have it


def shortened(text: str, width: int) -> str:
    """A text of at most `width` characters, its middle left out.

    Examples
    --------
    >>> shortened("ENSG00000141510", 9)
    'ENSG0…510'
    """
    tail = width // 3
    return text if len(text) <= width else f"{text[: width - 1 - tail]}…{text[len(text) - tail :]}"


def join(names: Sequence[str], most: int | None = None) -> str:
    """A list in words.

    Examples
    --------
    >>> join(["a", "b", "c"]), join(list("abcdef"), 3)
    ('a, b and c', 'a, b and 4 more')
    """
    names = list(names)
    if most is not None and len(names) > most:
        names = [*names[: most - 1], f"{len(names) - most + 1:,} more"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


# ---- numbers


def percent(p: float) -> str:
    """A probability.

    Examples
    --------
    >>> percent(0.9962), percent(0.962)
    ('> 99%', '96%')
    """
    return "> 99%" if p > MOST_SHOWN else f"{100 * p:.0f}%"


def confidence_text(f: Finding) -> str:
    """The confidence as a number where numbers were measured to hold; else a word says it."""
    if f.confidence is None or f.certainty != "clear":
        return ""
    return percent(f.confidence)


def decimals(c: Comparison, scale: Scale) -> int:
    """Decimals of a size and of the predictions it is between: two digits of its error, but three
    of the predictions at most, or four where the error is less than their last digit, and two of
    the size at least. Of values that a
    ratio is between, three digits of the smaller one.
    """
    if c.is_ratio:
        return three_digits(min(c.before, c.after))
    share = scale == "probability"
    unit = 100.0 if share else 1.0
    half, size = 0.5 * unit * (c.size.high - c.size.low), abs(unit * c.size.value)
    wanted = 2 if not isfinite(half) or half <= 0 else 1 - floor(log10(half))
    largest = unit * max(abs(c.before), abs(c.after), abs(c.size.value))
    if largest > 0:
        most = 2 - floor(log10(largest))
        wanted = min(wanted, most + (half < 10.0**-most))
    if size > 0:
        wanted = max(wanted, (0 if share else 1) - floor(log10(size)))
    return min(max(wanted, 0), 1 if share and size < 2 else 0 if share else 6)


def three_digits(value: float) -> int:
    """Decimals of a positive number so that it has three digits.

    Examples
    --------
    >>> three_digits(0.0312), three_digits(1.2), three_digits(1234.5)
    (4, 2, 0)
    """
    return min(max(2 - floor(log10(value)), 0), 6) if value > 0 else 2


def rounded(value: float, c: Comparison, scale: Scale) -> float:
    """A value in the unit of the words, with the decimals of a size."""
    return round((100.0 if scale == "probability" else 1.0) * value, decimals(c, scale)) + 0.0


def number(value: float, c: Comparison, scale: Scale) -> str:
    """A prediction with the decimals of a size; probabilities in per cent."""
    text = f"{rounded(value, c, scale):,.{decimals(c, scale)}f}"
    return f"{text}%" if scale == "probability" else text


def size_text(c: Comparison, scale: Scale, *, interval: bool = True) -> str:
    """The size with its interval, '+63 (47 to 78)'; of probabilities in percentage points, of
    rates and hazards as a factor, '× 2.31 (1.60 to 3.34)'.

    A difference is that of the two predictions as they are printed.
    """
    if c.is_ratio:
        value, low, high = (ratio_text(v) for v in (c.size.value, c.size.low, c.size.high))
        return f"× {value} ({low} to {high})" if interval else f"× {value}"
    places = decimals(c, scale)
    size = rounded(c.after, c, scale) - rounded(c.before, c, scale) + 0.0
    text = f"{size:+,.{places}f}"
    if float(text.replace(",", "")) == 0.0:
        text = text.lstrip("+-")
    if not interval:
        return text
    low, high = (f"{rounded(v, c, scale):,.{places}f}" for v in (c.size.low, c.size.high))
    return f"{text} ({low} to {high})"


def ratio_text(value: float) -> str:
    """A ratio with two decimals, small ones with two digits.

    Examples
    --------
    >>> ratio_text(2.314), ratio_text(0.0231), ratio_text(123.4)
    ('2.31', '0.023', '123')
    """
    if value >= 100:
        return f"{value:,.0f}" if value < 1e6 else "> 1,000,000"
    return f"{value:.2f}" if value >= 0.1 else f"{value:.2g}" if value >= 1e-4 else "< 0.0001"


def shows_interval(f: Finding) -> bool:
    """Intervals are of the effect, not of whether it is this variable that acts: they are shown
    where that is clear.
    """
    return f.certainty in ("clear", "selected")


# ---- a finding


def values_texts(a: AnswerData, f: Finding, e: Effect, c: Comparison) -> list[str]:
    """Texts of the predictions at the two values that a size compares, the longest first."""
    first = f.members[0].name
    before, after = (number(v, c, e.scale) for v in (c.before, c.after))
    what = f"{class_text(e.outcome)} " if len(a.classes) > 2 else ""
    what = f"{e.outcome} " if a.outcomes else what
    brief, least = (f"{begun(what[:-1], w)} " if what else "" for w in SHORT_NAMES[1:3])
    what = "hazard " if e.scale == "hazard" else what
    if c.shape == "unclear":
        return [f"no clear direction ({first} {c.start} to {c.end})", "no clear direction", UNSURE]
    if c.shape == "differs":
        ends = [(begun(c.start, w), begun(c.end, w)) for w in SHORT_NAMES]
        named = [f"{brief}{low} {before}, {high} {after}" for low, high in ends]
        full = f"{what.rstrip()}{': ' * bool(what)}{c.start} {before}, {c.end} {after}"
        highest = f"{brief}{before} → {after} ({c.end if c.after > c.before else c.start})"
        return [full, *named, highest, f"{brief}{before} → {after}", f"{least}{before}→{after}"]
    if c.shape in TURNS:
        full = f"{what}{c.shape}: {before} at {first} {c.start}, {after} in {c.end}"
        short = f"{what}{c.shape}: {before} in the middle", f"{brief}{c.shape}: {before} → {after}"
        return [full, *short, f"{brief}{c.shape}"]
    verb = f"{c.shape} " if e.scale == "hazard" else ""
    moved = f"{before} → {after}"
    return [
        f"{what}{verb}{moved} ({first} {c.start} → {c.end})",
        f"{what}{verb}{moved} ({c.start} → {c.end})",
        f"{what}{verb}{moved}",
        f"{brief}{moved}",
        f"{least}{before}→{after}",
        f"{brief}{c.shape}",
    ]


def begun(text: str, width: int) -> str:
    """The beginning of a text.

    Examples
    --------
    >>> begun("Meningioma", 9), begun("glioma", 9)
    ('Meningio…', 'glioma')
    """
    return text if len(text) <= width else f"{text[: width - 1]}…"


def row_name(f: Finding, place: int, width: int = 1000) -> str:
    """The name of a finding; of a comparison of a pair, the value of the second variable; at most
    `width` characters.
    """
    if f.partner and place >= 0:
        given = f.effect.comparisons[place].given
        forms = [printable(f"  at {t}") for t in (given, given.removeprefix(f.partner).strip())]
        return next((text for text in forms if len(text) <= width), shortened(forms[-1], width))
    first, more = f.members[0].name, len(f.members) - 1
    name, tail = printable(f.name), f" (or {more} other{'s' * (more > 1)})" if more else ""
    if f.partner:
        tail += f" × {printable(f.partner)}"
    if len(name) <= width:
        return name
    if tail and len(printable(first)) + len(tail) <= width:
        return f"{printable(first)}{tail}"
    if tail and width - len(tail) >= SHORT_NAMES[-1]:
        return f"{shortened(printable(first), width - len(tail))}{tail}"
    return shortened(name, width)


def outcome_text(e: Effect, place: int, *, interval: bool = False) -> str:
    """The size on one of several outcomes: a dot where it is not clear, and U for a turn."""
    c = e.comparisons[place]
    if c.shape == "unclear":
        return UNCLEAR
    turn = " U" if c.shape in TURNS else ""
    return f"{size_text(c, e.scale, interval=interval)}{turn}"


def effects_on(a: AnswerData, f: Finding) -> list[Effect]:
    """The effects of a finding in the order of the outcomes."""
    found = {e.outcome: e for e in (f.effect, *f.others)}
    return [found[name] for name in a.outcomes]


def outcomes_text(effects: Sequence[Effect], place: int, width: int) -> str:
    """The outcomes that clearly change, by the word for it, with names as long as there is room."""
    changed: dict[str, list[str]] = {}
    for e in effects:
        changed.setdefault(e.comparisons[place].shape, []).append(e.outcome)
    changed.pop("unclear", None)
    if not changed:
        return "no clear direction"
    text = ""
    for room in (width, *SHORT_NAMES):
        named = {shape: [begun(name, room) for name in names] for shape, names in changed.items()}
        parts = [f"{shape}: {join(names, MOST_NAMED)}" for shape, names in named.items()]
        text = printable("; ".join(parts))
        if len(text) <= width:
            return text
    return begun(text, width)


def class_text(name: str) -> str:
    """The name of a class, known for one where it is a number.

    Examples
    --------
    >>> class_text("Barolo"), class_text("5")
    ('Barolo', 'class 5')
    """
    return name if any(c.isalpha() for c in name) else f"class {name}"


def remark(a: AnswerData, f: Finding) -> str:
    """What qualifies a finding."""
    if f.within:
        return f", on average: see {f.within}"
    return ", alone" if f.alone and a.adjusted else ""


def described(a: AnswerData, f: Finding, e: Effect, c: Comparison) -> str:
    """The values that a size compares, and what qualifies it."""
    return f"{values_texts(a, f, e, c)[0]}{remark(a, f)}"


def fitting(forms: Sequence[str], more: str, width: int) -> str:
    """The longest of some forms that fits, with what qualifies it where there is room."""
    *longer, least = map(printable, forms)
    more = printable(more)
    for text in [*(f"{form}{more}" for form in longer), *longer, f"{least}{more}", least]:
        if len(text) <= width:
            return text
    return ""


def level_texts(e: Effect, level: Level) -> tuple[str, str]:
    """The prediction at a level, and its interval."""
    scale, end = (100.0, "%") if e.scale == "probability" else (1.0, "")
    m = level.mean
    mean, low, high = (f"{scale * v:.3g}" for v in (m.value, m.low, m.high))
    return f"{mean}{end}", f"{low} to {high}{end}"


# ---- sentences


def subject(a: AnswerData) -> str:
    """The response, with its classes."""
    if not a.classes:
        return a.target
    few = len(a.classes) < 4
    return f"{a.target} ({' or '.join(a.classes) if few else f'{len(a.classes)} classes'})"


def headline(a: AnswerData) -> str:
    """The answer in one sentence."""
    what = subject(a)
    clear, likely = names_of(a.of("clear")), names_of(a.of("likely"))
    possible = names_of(a.of("possible"))
    if a.findings and not a.has_confidence:
        named = names_of(a.findings)
        verb = "was" if len(named) == 1 else "were"
        return f"{join(named, MOST_NAMED)} {verb} selected to predict {what}."
    if clear:
        return f"{join(clear, MOST_NAMED)} {'goes' if len(clear) == 1 else 'go'} with {what}."
    if likely:
        verb = "goes" if len(likely) == 1 else "go"
        return f"{join(likely, MOST_NAMED)} likely {verb} with {what}."
    if possible:
        return f"Nothing clearly goes with {what}; {join(possible, 3)} possibly."
    if a.variables == 0:
        return f"There was no variable to choose for {what}."
    if a.variables == 1:
        return f"The one variable is not shown to go with {what}."
    return f"None of {a.variables:,} variables is shown to go with {what}."


def size_of_table(a: AnswerData) -> str:
    """Rows and variables."""
    return f"{counted(a.rows, 'row')}, {counted(a.variables, 'variable')}"


def counted(count: int, noun: str) -> str:
    """A number of things.

    Examples
    --------
    >>> counted(1, "row"), counted(1200, "row")
    ('1 row', '1,200 rows')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def names_of(findings: Sequence[Finding]) -> list[str]:
    """Names of findings. A pair of two variables that are findings themselves is not listed."""
    single = {f.members[0].name for f in findings if not f.partner}
    return [f.name for f in findings if not {f.members[0].name, f.partner} <= single]


def unit(a: AnswerData) -> str:
    """The unit of sizes."""
    if a.scale in RATIOS:
        return RATIOS[a.scale]
    if not a.classes:
        return f"change of {a.target}"
    of = f" of {a.classes[1]}" if len(a.classes) == 2 else ""
    return f"change of the probability{of}, percentage points"


def predicted(a: AnswerData, outcome: str) -> str:
    """The label of the vertical axis of a curve."""
    if a.scale == "probability":
        return f"probability of {outcome}, %"
    what = outcome if a.outcomes else a.target
    return "hazard, 1 = average" if a.scale == "hazard" else f"predicted {what}"


def confidence_meaning(a: AnswerData) -> str:
    """The meaning of confidence, in one sentence."""
    if not a.has_confidence:
        return f"How sure this is was not computed{'' if a.source else ' (inference=True)'}."
    clear, likely, possible = (f"{100 * level:.0f}%" for level in (CLEAR, LIKELY, POSSIBLE))
    unclear = any(not shows_interval(f) for f in a.findings)
    where = ", for some outcome" if a.outcomes else ""
    what = "it is this variable and no other in its place"
    if any(f.members[1:] for f in a.findings):
        what = "this variable (or one of the others in its row) acts"
    return (
        f"Confidence that {what}{where}: "
        f"clear from {clear}, likely from {likely}, possible from {possible}"
        f"{'; intervals of clear ones only' if unclear else ''}."
    )


def size_meaning(a: AnswerData) -> str:
    """The meaning of sizes, in one sentence."""
    all_shown = [e for f in a.findings for e in (f.effect, *(f.others if a.outcomes else ()))]
    kinds = {c.shape for e in all_shown for c in e.comparisons}
    what = "from the lower to the upper quarter of the rows"
    if kinds == {"differs"}:
        what = "from the lowest to the highest category"
    elif "differs" in kinds:
        what += " or the lowest to the highest category"
    more = ["U: from the middle half to the outer quarters"] * bool(
        kinds & {*TURNS} and not a.outcomes
    )
    more += ["of a pair, for its first variable"] * any(bool(f.partner) for f in a.findings)
    what += f" ({'; '.join(more)})" if more else ""
    how = "the others unchanged" if a.adjusted else "each variable alone"
    what += " (1 = average hazard)" if a.scale == "hazard" else ""
    left_out = ""
    if a.outcomes:
        turns = "; U: outer quarters less the middle half" if kinds & {*TURNS} else ""
        left_out = f" Unclear changes are left out ({UNCLEAR}){turns}."
    return f"{SIZES[a.scale]} of {of_what(a)} {what}, {how}.{left_out}"


def of_what(a: AnswerData) -> str:
    """What changes."""
    if a.scale != "probability":
        return a.target
    return f"the probability of {a.classes[1]}" if len(a.classes) == 2 else "the probability"


def prediction_text(p: Prediction) -> str:
    """The scores in one or two sentences."""
    spread = f"standard deviation {p.score.spread:.2f}" if isfinite(p.score.spread) else ""
    reached = f"{p.metric} {score_text(p.score.mean)}"
    if p.is_constant:
        how = ", ".join(part for part in (reached, spread) if part)
        first = f"On {p.where} it predicts no better than a constant ({how})"
    else:
        first = f"On {p.where} it predicts with {reached}{f' ({spread})' if spread else ''}"
    if p.outcomes:
        each = [f"{s.name} {score_text(s.mean)}" for s in p.outcomes]
        first += f", a mean of {join(each, MOST_NAMED)}"
    rest = [f"{s.name} {score_text(s.mean)}" for s in p.others if is_telling(s, p)]
    text = f"{first}{f'; {join(rest)}' if rest else ''}."
    return f"{text} {p.advice}" if p.advice else text


def score_text(mean: float) -> str:
    """A score with two decimals, and as many as tell it from a perfect one.

    Examples
    --------
    >>> score_text(0.8349), score_text(0.99918), score_text(1.0), score_text(-0.001)
    ('0.83', '0.9992', '1.00', '0.00')
    """
    return f"{mean:.4f}" if 0.995 <= mean < 0.99995 else f"{round(mean, 2) + 0.0:.2f}"


def is_telling(s: Score, p: Prediction) -> bool:
    """Whether another score is worth a word: not that of an average which is no better."""
    if abs(s.mean) <= NEAR_ZERO:
        return False
    return s.name != TOGETHER or s.mean > p.score.mean + 0.5 * NEAR_ZERO


def others_text(a: AnswerData) -> str:
    """A sentence on variables that are no findings."""
    parts = []
    if a.also_used:
        used = join(a.also_used, 3)
        also = "also " if a.findings else ""
        parts.append(f"The model {also}predicts with {used}, without clear evidence.")
    if not a.findings:
        return " ".join(parts)  # the headline is about all variables
    if a.others == 1:
        parts.append("The other variable shows no clear effect.")
    elif a.others:
        parts.append(f"The other {a.others:,} variables show no clear effect.")
    return " ".join(parts)


def adjusted_text(a: AnswerData) -> str:
    return f"Adjusted for {join(a.adjusted_for, MOST_NAMED)}." if a.adjusted_for else ""
