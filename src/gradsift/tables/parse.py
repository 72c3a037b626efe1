"""Texts that are numbers or dates: how a column writes them, and their values.

One way of writing must fit all cells of a column. It is plain data, so that new rows are read in
the same way.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradsift.protocols import Array

SPACES = " \u00a0\u202f\u2009"
MONEY = (
    r"[€$£¥₹]|(?:EUR|USD|GBP|CHF|JPY|CNY|INR|SEK|NOK|DKK|PLN|CZK|AUD|CAD|BRL)(?=\s)"
    r"|(?:Fr|kr|Rs)\.?(?=\s)"
)
"""Signs and codes of currencies before a number."""
CLOCK = re.compile(r"(?:(?P<hours>\d{1,3}):)?(?P<minutes>\d{1,3}):(?P<seconds>[0-5]\d(?:\.\d+)?)")
"""Hours, minutes and seconds, or minutes and seconds (or hours and minutes)."""
REMARKS = re.compile(r"\s*(?:(?:±|\+/-)\s*\d[\d.,]*|[*†‡§]+)$")
"""What may follow a number: its error, or marks that point to footnotes."""
BRACKETS = re.compile(r"\(([^()]*\d[^()]*)\)")
"""A negative amount as accountants write it."""
NUMBER_LIKE = re.compile(
    r"(?P<bound>[<>≤≥]=?)?\s*"
    rf"(?P<money>{MONEY})?\s*"
    rf"(?P<digits>[+\-\u2212\u2013]?[.,]?\d[\d.,'’{SPACES}]*?(?:[eE][+\-\u2212]?\d+)?)"
    r"\s*(?P<unit>[%‰]|[€$£¥₹]|[^\W\d_][\w/°µ²³^·-]*)?"
)
MARKS = ((".", ""), (".", ","), (",", ""), (",", "."), (",", " "), (".", " "), (".", "'"))
"""Pairs of a decimal mark and a mark between thousands, tried in this order."""
MOST_WORDS = 5
"""Different texts without digits in a column of numbers or dates: read as missing."""
WORD_SHARE = 0.2
"""Part of the cells that they may be."""
MOST_CLASSES = 5
"""Different texts of a column of bounds, up to which these are classes."""
NO_MISSING = frozenset({"none", "no", "nil", "yes"})
"""Words that say something."""
PROBE = 50
"""Different cells that are tried before all others."""
DATES = (
    "%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%d.%m.%y", "%m/%d/%Y", "%d/%m/%Y", "%m/%d/%y", "%d/%m/%y",
    "%d-%m-%Y", "%b %d %Y", "%b-%d-%Y", "%d-%b-%Y", "%d %b %Y", "%d-%b-%y", "%b %d, %Y", "%b %Y",
    "%Y-%m",
)  # fmt: skip
"""Formats of dates; the first that reads all cells is taken. %b reads long names of months too."""
CLOCKS = (" %H:%M:%S", " %H:%M", "T%H:%M:%S", "T%H:%M", " %I:%M %p", " %I:%M:%S %p")
QUARTERS, COMPACT = ("%YQ%q", "Q%q %Y"), "%Y%m%d"
DATE_LIKE = re.compile(
    r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([T ].*)?|[^\W\d_]{3,9}\.?[ -]\d{1,2},?[ -]\d{4}"
    r"|\d{1,2}[ -][^\W\d_]{3,9}\.?[ -]\d{2,4}|[^\W\d_]{3,9} \d{4}|\d{4}[- ]?Q[1-4]"
    r"|Q[1-4][-/ ]?\d{4}|\d{4}-(0[1-9]|1[0-2])"
)
MONTHS = {
    name: k
    for k, names in enumerate(
        [
            "jan january januar",
            "feb february februar",
            "mar march mär märz",
            "apr april",
            "may mai",
            "jun june juni",
            "jul july juli",
            "aug august",
            "sep sept september",
            "oct october okt oktober",
            "nov november",
            "dec december dez dezember",
        ],
        start=1,
    )
    for name in names.split()
}
PIECES = {
    "%Y": r"(?P<Y>\d{4})", "%y": r"(?P<y>\d{2})", "%m": r"(?P<m>\d{1,2})", "%d": r"(?P<d>\d{1,2})",
    "%b": r"(?P<b>[^\W\d_]{3,9})\.?", "%H": r"(?P<H>\d{1,2})", "%M": r"(?P<M>\d{2})",
    "%S": r"(?P<S>\d{2})(?:[.,]\d+)?(?:Z|[+-]\d{2}:?\d{2})?", "%I": r"(?P<I>\d{1,2})",
    "%p": r"(?P<p>[AaPp][Mm])", "%q": r"(?P<q>[1-4])",
}  # fmt: skip


@dataclass(frozen=True)
class NumberStyle:
    """How the texts of a column are written that are numbers.

    Attributes
    ----------
    decimal, thousands : str
    unit : str
        Taken off.
    bounds : bool
        Whether some are written '<0.1', which counts as 0.1.
    words : tuple of str
        Texts that are read as missing.
    clock : bool
        Whether they are written as 1:23:45, which counts as seconds.
    remarks : bool
        Whether errors (± 0.3) or marks of footnotes follow some of them.
    """

    decimal: str = "."
    thousands: str = ""
    unit: str = ""
    bounds: bool = False
    words: tuple[str, ...] = ()
    clock: bool = False
    remarks: bool = False

    @property
    def pattern(self) -> re.Pattern[str]:
        """What the digits of a number look like."""
        mark, group = re.escape(self.decimal), f"[{re.escape(self._thousands)}]"
        whole = rf"\d+|\d{{1,3}}(?:{group}\d{{3}})+" if self.thousands else r"\d+"
        return re.compile(rf"[+-]?(?:{whole})?(?:{mark}\d*)?(?:[eE][+-]?\d+)?")

    @property
    def _thousands(self) -> str:
        return {" ": SPACES, "'": "'’"}.get(self.thousands, self.thousands)

    def number(self, text: str) -> float:
        """The number that a text is, NaN where it is none.

        Examples
        --------
        >>> NumberStyle(",", ".", "€").number("1.234,50 €"), NumberStyle().number("low")
        (1234.5, nan)
        """
        if self.clock:
            return clock_seconds(text)
        found = NUMBER_LIKE.fullmatch(bare_number(text))
        if found is None:
            return float("nan")
        digits = plain_digits(found["digits"])
        if not self.pattern.fullmatch(digits):
            return float("nan")
        for mark in self._thousands:
            digits = digits.replace(mark, "")
        return float(digits.replace(self.decimal, "."))

    def words_for(self, decimal: str | None) -> str:
        """What is odd about it, for a note; `decimal`: the mark that was announced already."""
        what = [f"unit {self.unit!r} taken off"] * bool(self.unit)
        what += ["'<x' read as x"] * self.bounds
        what += ["clock times read as seconds"] * self.clock
        what += ["errors and footnote marks taken off"] * self.remarks
        what += [f"{self.thousands!r} between thousands"] * bool(self.thousands)
        what += ["decimal commas"] * (self.decimal == "," != decimal)
        what += [f"{', '.join(map(repr, self.words))} read as missing"] * bool(self.words)
        return ", ".join(what)


def bare_number(text: str) -> str:
    """A number without quotes, its error and marks of footnotes; in brackets it is negative.

    Examples
    --------
    >>> bare_number("(1,234)"), bare_number("'5'"), bare_number("5.1 ± 0.3"), bare_number("12*")
    ('-1,234', '5', '5.1', '12')
    """
    text = REMARKS.sub("", text.strip("'\""))
    found = BRACKETS.fullmatch(text)
    return text if found is None else f"-{found[1].strip()}"


def clock_seconds(text: str) -> float:
    """The seconds of a clock, NaN where a text is none.

    Examples
    --------
    >>> clock_seconds("1:02:03.5"), clock_seconds("2:05"), clock_seconds("noon")
    (3723.5, 125.0, nan)
    """
    found = CLOCK.fullmatch(text)
    if found is None:
        return float("nan")
    return (
        3600.0 * int(found["hours"] or 0) + 60.0 * int(found["minutes"]) + float(found["seconds"])
    )


def plain_digits(text: str) -> str:
    """Digits with a plain minus sign, without blanks around them."""
    return text.replace("\u2212", "-").replace("\u2013", "-").strip()


def number_style(texts: Iterable[str | None], hint: str | None = None) -> NumberStyle | None:
    """How a column of texts writes numbers; None where it holds something else.

    Parameters
    ----------
    texts : iterable of str or None
    hint : {'.', ','}, optional
        The decimal mark of other columns, tried first.

    Examples
    --------
    >>> number_style(["12 %", "7 %", None]).unit, number_style(["1,5", "2,25"]).decimal
    ('%', ',')
    >>> number_style(["a1", "a2"]) is None
    True
    """
    counts = known_texts(texts)
    if counts and all(map(CLOCK.fullmatch, counts)):
        return NumberStyle(clock=True)
    if not looks_alike(counts, lambda cell: NUMBER_LIKE.fullmatch(bare_number(cell)) is not None):
        return None
    if all(map(BRACKETS.fullmatch, counts)):
        return None
    written, counts = counts, Counter[str]()
    for cell, count in written.items():
        counts[bare_number(cell)] += count
    found = {cell: NUMBER_LIKE.fullmatch(cell) for cell in counts}
    words = sorted(cell for cell, match in found.items() if match is None)
    good = [match for match in found.values() if match is not None]
    if not good or not mean_missing(words, counts):
        return None
    units = {match[part] for match in good for part in ("money", "unit")} - {None}
    bare = sum(not (match["money"] or match["unit"]) for match in good)
    if len(units) > 1 or (units and bare > 0.5 * len(good)):
        return None
    bounded = sum(counts[match.string] for match in good if match["bound"])
    if len(good) <= MOST_CLASSES and 2 * bounded > sum(counts[match.string] for match in good):
        return None  # '<60', '>60' are classes
    digits = [plain_digits(match["digits"]) for match in good]
    for decimal, thousands in sorted(MARKS, key=lambda marks: marks[0] != (hint or ".")):
        style = NumberStyle(decimal, thousands)
        if all(map(style.pattern.fullmatch, digits)):
            bounds = any(match["bound"] for match in good)
            remarks = any(REMARKS.search(cell) for cell in written)
            unit = next(iter(units), "")
            return NumberStyle(decimal, thousands, unit, bounds, tuple(words), remarks=remarks)
    return None


def mean_missing(words: Sequence[str], counts: Counter[str]) -> bool:
    """Whether texts among numbers or dates may stand for missing values: few without digits."""
    lost = sum(counts[word] for word in words)
    if len(words) > MOST_WORDS or lost > WORD_SHARE * counts.total():
        return False
    return not any(re.search(r"\d", word) or word.casefold() in NO_MISSING for word in words)


def known_texts(texts: Iterable[str | None]) -> Counter[str]:
    """The different texts and how often each occurs."""
    counts: Counter[Any] = Counter(texts)
    counts.pop(None, None)
    return counts


def looks_alike(counts: Counter[str], like: Callable[[str], bool]) -> bool:
    """Whether some cells match a pattern, tried before all cells are read."""
    some = [cell for cell, _ in zip(counts, range(PROBE))]
    return bool(some) and sum(map(like, some)) >= 0.5 * len(some)


def read_numbers(texts: NDArray[Any], style: NumberStyle) -> Array:
    """The numbers that texts are, NaN for all others; each different text is read once."""
    known: dict[Any, float] = {None: float("nan")}
    return np.array(
        [known[t] if t in known else known.setdefault(t, style.number(t)) for t in texts.tolist()],
        dtype=np.float64,
    )


def date_format(texts: Iterable[str | None]) -> str:
    """The format that reads all texts as dates but a few words, '' if there is none.

    Examples
    --------
    >>> date_format(["31.12.2024", "1.2.2025"]), date_format(["1974Q1"]), date_format(["a"])
    ('%d.%m.%Y', '%YQ%q', '')
    """
    counts = known_texts(texts)
    if not counts or not looks_alike(counts, lambda cell: DATE_LIKE.fullmatch(cell) is not None):
        return ""
    words = date_words(counts)
    cells = [cell for cell in counts if cell not in words]
    if not cells or not mean_missing(words, counts):
        return ""
    clocks = CLOCKS if ":" in cells[0] else ("",)
    formats = [*QUARTERS, *(date + clock for date in DATES for clock in clocks)]
    for form in formats:
        if np.isnat(read_dates(cells[:PROBE], form)).any():
            continue
        if not np.isnat(read_dates(cells, form)).any():
            return "" if form == "%Y-%m" and are_seasons(cells) else form
    return ""


def date_words(texts: Iterable[str | None]) -> list[str]:
    """The texts without digits in a column of dates."""
    return sorted({text for text in texts if text is not None and not re.search(r"\d", text)})


def are_seasons(cells: Iterable[str]) -> bool:
    """Whether texts such as '2009-10' name a year and the next one."""
    return all(int(cell[-2:]) == (int(cell[2:4]) + 1) % 100 for cell in cells)


def is_ambiguous(texts: Iterable[str | None], form: str) -> bool:
    """Whether day and month could be the other way round."""
    if not form.startswith(("%m/%d/", "%d/%m/")):
        return False
    other = form.replace("%m", "%x").replace("%d", "%m").replace("%x", "%d")
    return not np.isnat(read_dates([t for t in set(texts) if t is not None], other)).any()


def read_dates(texts: Sequence[Any] | NDArray[Any], form: str) -> NDArray[np.datetime64]:
    """Dates of one format, NaT for all other texts."""
    written = re.escape(form).replace("YQ", "Y[- ]?Q").replace(r"q\ ", "q[-/ ]?")
    pattern = re.compile(re.sub(r"%[a-zA-Z]", lambda m: PIECES[m[0]], written))
    known: dict[Any, Any] = {None: np.datetime64("NaT")}
    out = np.empty(len(texts), dtype="datetime64[s]")
    for k, text in enumerate(texts):
        if text not in known:
            known[text] = _date(pattern.fullmatch(text))
        out[k] = known[text]
    return out


def _date(found: re.Match[str] | None) -> np.datetime64:
    """The date in a match, NaT where there is none such as 31.2."""
    part = {} if found is None else found.groupdict()
    month: int | None = int(part.get("m") or 3 * int(part.get("q") or 0) - 2)
    if part.get("b"):
        month = MONTHS.get(part["b"].casefold())
    if not part or month is None:
        return np.datetime64("NaT")
    year = int(part["Y"]) if "Y" in part else _century(int(part["y"]))
    hour = int(part.get("H") or 0)
    if part.get("p"):
        hour = int(part["I"]) % 12 + 12 * (part["p"].lower() == "pm")
    clock = f"{hour:02d}:{part.get('M') or '00'}:{part.get('S') or '00'}"
    try:
        return np.datetime64(f"{year:04d}-{month:02d}-{int(part.get('d') or 1):02d}T{clock}", "s")
    except ValueError:
        return np.datetime64("NaT")


def _century(year: int) -> int:
    return year + (2000 if year < 69 else 1900)


def are_days(values: Array) -> bool:
    """Whether whole numbers are dates of this or the last century, such as 20231001.

    Examples
    --------
    >>> are_days(np.array([20231001.0, 20231031.0, 20240229.0])), are_days(np.array([20231301.0]))
    (True, False)
    """
    there = np.unique(values[~np.isnan(values)])
    if len(there) < 3 or there[0] < 19_000_101 or there[-1] > 21_001_231:
        return False
    return not np.isnat(days(there)).any()


def days(values: Array) -> NDArray[np.datetime64]:
    """Dates of numbers such as 20231001, NaT where a number is none."""
    known = np.where(np.isfinite(values), values, 0.0)
    year, month, day = (
        part.astype(int) for part in (known // 10_000, known // 100 % 100, known % 100)
    )
    valid = (year >= 1000) & (year < 10_000) & (month >= 1) & (month <= 12) & (day >= 1)
    start = (12 * (year - 1970) + month - 1).astype("datetime64[M]")
    out = start.astype("datetime64[D]") + (day - 1)
    valid &= out.astype("datetime64[M]") == start
    out[~valid] = np.datetime64("NaT")
    return np.asarray(out.astype("datetime64[s]"))
