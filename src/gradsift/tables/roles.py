"""Roles of columns: variable, identifier, group of rows, event, free text, constant.

Some roles are inferred from names, in English and a few words of other languages. A column that is
left out for its name gets a note, and `use` takes it back in.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradsift.data.row_groups import constant_in_groups, group_codes
from gradsift.data.source import windows
from gradsift.protocols import Array, IntArray
from gradsift.tables.columns import (
    LEAST_ROWS,
    MOST_LEVELS,
    Column,
    Role,
    as_texts,
    common_levels,
    is_missing,
)
from gradsift.tables.frame import Frame, columns_at
from gradsift.tables.notes import Note, listed
from gradsift.tables.parse import (
    COMPACT,
    NumberStyle,
    are_days,
    date_format,
    date_words,
    is_ambiguous,
    number_style,
)

FEWEST_ROWS = 10
"""Rows from which on values that all differ, or count up, are no chance."""
WIDTH = 1024
ROUNDING = 1e-12
"""Part of its size by which a column may vary that never changes."""
SAMPLE = 64
"""Rows that tell of most columns that they are not whole."""
RARE = 0.02
"""Part of the rows: names of places beyond it are units; of fewer, the commonest are categories."""
FEWEST_TIMES = 2
"""Different values beyond which numbers may be times."""
MOST_AREAS = 20
"""Different numbers of a place or a family, beyond which they are units and no codes."""
CHANCE = np.log(1e-6)
"""Log probability below which a target that never changes inside of blocks is no chance."""
UNIT = "subject|patient|individual|donor|mouse|animal|person|participant|household|family|proband"


def _called(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


PLACE = "county|country|state|district|school|class|village|comm|community|municipality|hospital"
KIN = "mom|mother|father|kid|child|litter|brood|dam|sire"
ID_NAME = _called(
    r"(^|[^a-z])(id|ids|iid|uid|idx|index|nr|no|obs|key|mrn|pidnum|identifier|barcode|number)$",
    r"(?-i:(?<=[a-z])(ID|Id|Nr|No))$|(doc|case|rec|ref|serial)no$",
    r"^(row|sample[ _]?(name|id)|accession)$",
    rf"^(p|c|hh|town|firm|store|user|customer|student|{UNIT}|{PLACE}|{KIN})id$",
)
UNIT_NAME = _called(rf"(^|[^a-z])({UNIT}|sample|plate)s?(?![a-z])")
AREA_NAME = _called(rf"^({PLACE}|{KIN}|sid|ticket)$")
"""Names of units where there are many of them; of few, these are categories."""
COUNT_NAME = _called(r"^(nr|no|obs|idx|index|number)$")
"""Names of rows that are counted, and so of no groups of them."""
CODE_NAME = _called(r"(^|[^a-z])(id|code|nr)$", r"(?-i:(?<=[a-z])(ID|Id|Nr))$")
WHO = _called(rf"^(id|{UNIT})$")
MATCHED_NAME = _called(
    r"^(stratum|strata|pair|pairs|set|match|matched[ _.]?set|twin|litter|block)$"
)
TIME_NAME = _called(
    r"^(t|os|pfs|dfs|rfs|efs|survtime|futime|duration|followup|follow_up|stop|lifetime)$",
    r"^(weeks?|years)$",
    r"(^|[._ ])(time|days|months|survival)$",
    r"^durat(ion)?[._ ]|^durat$|^(days|weeks|months|years|time)[._ ]?to[._ ]",
    r"^[a-z]{0,4}time$|(?-i:^([Dd]ays|[Ww]eeks|[Mm]onths|[Yy]ears|[Tt]ime)To(?=[A-Z]))",
)
EVENT_NAME = _called(
    r"^(events?|cens|censors?|censored|censoring|dead|died|arrest|relapse|recurrence|div|outcome)$",
    r"^(fail|failure|e|delta|uncensored|observed|death|recur|recurred|relapsed|deceased)$",
    r"(^|[._ ])(event|status|cens|dead|death)$",
)
CENSORED = _called(r"(^|[._ ])(un)?cens(or(ed|ing)?)?$|^event[._ ]?(observed|occurred)$")
"""Names that only the event of a survival time has, whatever the time is called."""
NUMBERED_TIME = re.compile(r"t(?:ime)?[._]?(\d+)", re.IGNORECASE)
FREE_NAME = _called(
    r"(first|last|sur|fore|given|middle)[ _.]?name|^name$",
    r"address|phone|e-?mail|comment|remark|^notes?$|bemerkung|adresse|anschrift",
)
CALENDAR = _called(
    "year|yr|date|day|time|week|month|hour|season|jahr|datum|tag|monat|zeit",
    r"(^|[^a-z])(age|rank|visit|wave|period|round)$",
)
YEARS = (1700.0, 2100.0)
"""Whole numbers that count up between these are years."""
EVENTS = {"0", "1", "2", "yes", "no", "true", "false", "dead", "alive", "deceased", "living",
          "censored", "event"}  # fmt: skip
ORDERS = tuple(tuple(words.split()) for words in (
    "none mild moderate severe", "absent mild moderate severe", "none low medium high",
    "none low moderate high", "very_low low medium high very_high", "bad medium good",
    "poor fair good very_good excellent", "low average good excellent",
    "never rarely sometimes often always", "never seldom sometimes often always",
    "i ii iii iv v", "small medium large", "xs s m l xl xxl", "1st 2nd 3rd 4th",
    "strongly_disagree disagree neutral agree strongly_agree", "fair good very_good premium ideal",
    "jan feb mar apr may jun jul aug sep oct nov dec", "mon tue wed thu fri sat sun",
    "january february march april may june july august september october november december",
    "monday tuesday wednesday thursday friday saturday sunday",
    "below_college college bachelor master doctor", "niedrig mittel hoch", "klein mittel gross",
))  # fmt: skip
"""Answers that have an order, lowest first, in small letters."""


def parse_columns(
    frame: Frame, categories: Collection[str] = (), decimal: str | None = None
) -> tuple[dict[str, Column], list[Note]]:
    """How the columns of a frame that are no plain numbers are read: numbers written as texts,
    dates, categories.

    Parameters
    ----------
    frame : Frame
    categories : collection of str
        Columns to take for categories, whatever they hold.
    decimal : str, optional
        The decimal mark of the file.
    """
    found: dict[str, Column] = {}
    said: dict[str, list[str]] = {}
    unclear = {*frame.texts, *categories}
    for name in (name for name in frame.order if name in unclear):
        values, column = frame.column(name), Column(name, "category")
        if name in frame.declared and name not in categories:
            ordered = frame.declared[name]
            column = replace(
                column, role="ordered category" if ordered else "category", levels=ordered
            )
        elif values.dtype.kind == "M":
            column = Column(name, "date")
        elif name not in categories and values.dtype.kind == "O":
            column = _text_column(name, values, decimal, said)
        found[name] = column
    notes = [Note("read", f"{listed(v)}: {k}", tuple(v), "categorical") for k, v in said.items()]
    return found, notes


def _text_column(
    name: str, values: NDArray[Any], decimal: str | None, said: dict[str, list[str]]
) -> Column:
    """Numbers, dates or categories, by how the texts of a column are written."""
    texts = values.tolist()
    if all(text is None for text in texts):
        return Column(name, "number", style=NumberStyle())
    if style := number_style(texts, decimal):
        if words := style.words_for(decimal):
            said.setdefault(words, []).append(name)
        return Column(name, "number", style=style)
    if form := date_format(texts):
        if is_ambiguous(texts, form):
            order = "month before day" if form.startswith("%m") else "day before month"
            said.setdefault(f"dates read as {order}, the other way would fit too", []).append(name)
        if lost := date_words(texts):
            some = ", ".join(map(repr, lost))
            said.setdefault(f"{some} read as missing", []).append(name)
        return Column(name, "date", format=form)
    return Column(name, "category")


@dataclass(frozen=True)
class NumberFacts:
    """What is known of the columns of numbers of a frame after one pass; arrays (k,)."""

    constant: NDArray[np.bool_]
    whole: NDArray[np.bool_]
    missing: IntArray
    low: Array
    high: Array


def _whole(X: Array) -> NDArray[np.bool_]:
    """Columns in which whatever is there is a whole number."""
    return np.asarray(((np.round(X) == X) | np.isnan(X)).all(axis=0))


def number_facts(X: Array) -> NumberFacts:
    """Facts of all columns, by blocks."""
    k = X.shape[1]
    facts = NumberFacts(
        np.zeros(k, bool), np.zeros(k, bool), np.zeros(k, np.intp), np.zeros(k), np.zeros(k)
    )
    for where in windows(k, WIDTH):
        block = X[:, where]
        low, high = np.fmin.reduce(block, axis=0), np.fmax.reduce(block, axis=0)
        gone = np.isnan(block)
        facts.low[where], facts.high[where] = low, high
        facts.missing[where] = gone.sum(axis=0)
        with np.errstate(invalid="ignore"):
            size = np.maximum(np.abs(low), np.abs(high))
            facts.constant[where] = np.isfinite(size) & (high - low <= ROUNDING * size)
        first = _whole(block[:SAMPLE])
        likely = where.start + np.flatnonzero(first)
        facts.whole[likely] = _whole(columns_at(X, likely))
    return facts


def assign_roles(
    frame: Frame,
    parsed: dict[str, Column],
    y: NDArray[Any],
    target: str,
    used: Collection[str] = (),
) -> dict[str, Column]:
    """The columns that are not plain numbers, with their roles.

    Parameters
    ----------
    frame : Frame
        Without the columns that were given a role by the user, but for the target.
    parsed : dict
        From `parse_columns`.
    y : (n,) or (n, q) array
        The target, nothing missing.
    target : str
    used : collection of str
        Columns that are variables whatever they look like.
    """
    codes = row_codes(y)
    facts = number_facts(frame.numbers)
    events = set(event_columns(frame, parsed, y, target))
    found: dict[str, Column] = {}
    plain = ~(facts.whole | facts.constant | (facts.missing == frame.n_rows))
    for name in frame.order:
        at = frame.where.get(name)
        if at is not None and plain[at] and name not in parsed and name not in events:
            continue
        column = parsed.get(name, Column(name))
        if name in used:
            found |= {name: parsed[name]} if name in parsed else {}
        elif name in events:
            found[name] = replace(column, role="event", why=f"belongs to {target!r}")
        elif at is None or name in parsed:
            first = name == frame.order[0]
            declared = name in frame.declared
            found[name] = parsed_role(column, frame.column(name), codes, first, declared)
        elif facts.missing[at] == frame.n_rows:
            found[name] = replace(column, role="constant", why="empty")
        elif facts.constant[at] and not facts.missing[at]:
            found[name] = replace(column, role="constant", why="the same in every row")
        elif facts.whole[at]:
            column = with_whole_role(column, frame.numbers[:, at], codes)
            found |= {} if column == Column(name) else {name: column}
    return found | panel_units(frame, found, facts, used)


def panel_units(
    frame: Frame, found: dict[str, Column], facts: NumberFacts, used: Collection[str]
) -> dict[str, Column]:
    """Columns with many values each of which occurs equally often and once at each time: the units
    of a panel.
    """
    whole = [name for name in frame.names if facts.whole[frame.where[name]]]
    times = [name for name in whole if CALENDAR.search(name) and name not in found]
    texts = [name for name, column in found.items() if column.role == "free text"]
    units = [name for name in whole if name not in found and not CALENDAR.search(name)]
    if not times or len(units) > WIDTH:
        return {}
    out = {}
    for name in (*units, *texts):
        if name in used:
            continue
        texts_of = as_texts(frame.column(name)).astype(str)
        codes = np.unique(texts_of, return_inverse=True)[1]
        sizes = np.unique(np.bincount(codes))
        if codes.max() < MOST_AREAS or len(sizes) > 1 or sizes[0] < 2:
            continue
        for time in times:
            values = np.unique(frame.column(time), return_inverse=True)[1]
            if len(np.unique(codes * (values.max() + 1) + values)) == frame.n_rows:
                why = f"names a unit, once for each value of {time!r}"
                out[name] = replace(found.get(name, Column(name)), role="group of rows", why=why)
    return out


def row_codes(y: NDArray[Any]) -> IntArray:
    """(n,) numbers of the distinct responses."""
    labels = y.astype(str) if y.dtype.kind == "O" else y
    axis = None if labels.ndim == 1 else 0
    codes: IntArray = np.unique(labels, return_inverse=True, axis=axis)[1]
    return codes.ravel()


def parsed_role(
    column: Column, values: NDArray[Any], codes: IntArray, first: bool, declared: bool
) -> Column:
    """A column of texts or dates with its role."""
    read = column.read(values)
    gone = is_missing(read)
    if gone.all():
        return replace(column, role="constant", why="empty")
    if not gone.any() and (read == read[0]).all():
        return replace(column, role="constant", why="the same in every row")
    if column.role == "number" and (read[~gone] == np.round(read[~gone])).all():
        return with_whole_role(column, read, codes)
    if column.role == "category" and not declared:
        role, why = text_role(column.name, read, codes, first=first)
        column = replace(column, role=role, why=why)
    if column.role == "ordered category" and not column.levels:
        return replace(column, levels=known_order(read))
    return column


def with_whole_role(column: Column, values: Array, codes: IntArray) -> Column:
    """A column of whole numbers with its role."""
    role, why = whole_role(column.name, values, codes)
    return replace(column, role=role, why=why, format=COMPACT if role == "date" else "")


def whole_role(name: str, values: Array, codes: IntArray | None = None) -> tuple[Role, str]:
    """What a column of whole numbers is."""
    n = len(values)
    if are_days(values):
        return "date", ""
    named = any(kind.search(name) for kind in (ID_NAME, UNIT_NAME, AREA_NAME))
    there = values[~np.isnan(values)]
    years = len(there) > 0 and YEARS[0] <= there.min() and there.max() <= YEARS[1]
    if n >= FEWEST_ROWS and len(there) == n and not CALENDAR.search(name) and not years:
        steps = np.diff(np.sort(values))
        if (steps == 1).all():
            return "identifier", "another whole number in every row"
    if not named and not MATCHED_NAME.search(name):
        return "number", ""
    count = len(np.unique(there))
    if count == n >= FEWEST_ROWS and not CALENDAR.search(name):
        return "identifier", "another whole number in every row"
    group = unit_role(name, there, count, n, codes if len(there) == n else None)
    equal = len(set(np.unique(there, return_counts=True)[1].tolist())) == 1
    if group is not None and (equal or not COUNT_NAME.search(name)):
        return group
    if 2 < count <= MOST_LEVELS and (CODE_NAME.search(name) or UNIT_NAME.search(name)):
        return "category", "a code"
    return "number", ""


def text_role(
    name: str, values: NDArray[Any], codes: IntArray | None = None, *, first: bool = False
) -> tuple[Role, str]:
    """What a column of texts is; `codes` are those of the target."""
    there = [text for text in values.tolist() if text is not None]
    counts, n = Counter(there), len(values)
    if len(counts) == n and (n >= FEWEST_ROWS or (first and n > 1)):
        return "identifier", "another text in every row"
    if FREE_NAME.search(name) and len(counts) > 0.5 * len(there):
        return "free text", "its name is that of a person, an address or a remark"
    group = unit_role(name, np.array(there), len(counts), n, codes if len(there) == n else None)
    if group is not None:
        return group
    if known_order(there) and not MATCHED_NAME.search(name):  # blocks I, II, III have none
        return "ordered category", ""
    if len(counts) > MOST_LEVELS:
        kept = [counts[level] for level in common_levels(counts) if counts[level] >= LEAST_ROWS]
        if sum(kept) < 0.5 * len(there):
            if AREA_NAME.search(name) and n >= 2 * len(counts):
                return "group of rows", "names a unit of several rows"
            return "free text", f"{len(counts):,} different texts"
    elif len(counts) > 10 and len(counts) > 0.5 * len(there):
        return "free text", f"{len(counts):,} different texts in {len(there):,} rows"
    return "category", ""


def unit_role(
    name: str, there: NDArray[Any], count: int, n: int, codes: IntArray | None
) -> tuple[Role, str] | None:
    """A group of rows or an identifier that repeats, by name and by what it holds."""
    named = bool(ID_NAME.search(name) or UNIT_NAME.search(name))
    most = max(MOST_LEVELS, 0.1 * n)
    if AREA_NAME.search(name):
        if there.dtype.kind in "OU":  # texts of which some are common are categories
            sizes = np.unique(there, return_counts=True)[1]
            most = max(MOST_LEVELS, RARE * n)
            named = len(np.unique(sizes)) == 1
        else:
            most, named = MOST_AREAS, True
        named &= count > most
    if MATCHED_NAME.search(name) and count >= FEWEST_ROWS:
        sizes = np.unique(np.unique(there, return_counts=True)[1])
        if len(sizes) == 1 and 2 <= sizes[0] <= 10:
            return "group of rows", "matched sets of equal size"
    written = count >= FEWEST_ROWS and _numbered(there)
    if codes is not None and (named or written) and same_inside(there, codes):
        return "group of rows", "the target is the same in all rows with one value of it"
    exactly = WHO.search(name) is not None and count > FEWEST_ROWS
    if exactly or (named and count > most):
        if n >= 2 * count:
            return "group of rows", "names a unit of several rows"
        return "identifier", "called like one"
    return None


def _numbered(there: NDArray[Any]) -> bool:
    """Whether texts are written as identifiers are: with one number in each."""
    if there.dtype.kind not in "OU":
        return False
    return all(re.fullmatch(r"\D*\d+\D*", text) for text in set(there.tolist()))


def same_inside(labels: NDArray[Any], codes: IntArray) -> bool:
    """Whether the target never changes inside of the values of a column, more of them than the
    target has, and not by chance.
    """
    count, share = len(np.unique(labels)), np.bincount(codes) / len(codes)
    same = float(np.log(np.maximum(share @ share, 1e-300)))
    if not len(share) < count <= len(labels) / 2 or (len(labels) - count) * same >= CHANCE:
        return False
    return constant_in_groups(codes, group_codes(labels, len(labels)))


def block_columns(frame: Frame, special: dict[str, Column], y: NDArray[Any]) -> Iterator[str]:
    """Variables that divide the rows into blocks in which the target never changes.

    Examples
    --------
    >>> from gradsift.tables.frame import make_frame
    >>> site = np.repeat(np.arange(6.0), 10)
    >>> y = np.where(np.isin(site, [1, 2, 5]), "ill", "well").astype(object)
    >>> list(block_columns(make_frame(["site"], [site]), {}, y))
    ['site']
    """
    codes = row_codes(y)
    plain = _whole(frame.numbers[:SAMPLE])
    for name in frame.order:
        at = frame.where.get(name)
        if at is not None and not plain[at]:
            continue
        column = special.get(name, Column(name))
        if not column.is_variable or column.role == "date":
            continue
        values = column.read(frame.column(name))
        if is_missing(values).any():
            continue
        if at is not None and values.dtype.kind == "f":
            far = np.ptp(values) >= frame.n_rows**2
            if far or (values != np.round(values)).any():
                continue
        if same_inside(as_texts(values).astype(str), codes):
            yield name


def known_order(levels: Any) -> tuple[str, ...]:
    """The levels in their order, lowest first, if they are answers that have one; else none."""
    kinds = {level for level in (levels.tolist() if hasattr(levels, "tolist") else levels) if level}
    small = {re.sub(r"[\s_-]+", "_", str(level).casefold()): level for level in kinds}
    for order in ORDERS:
        if len(small) == len(kinds) > 2 and set(small) <= set(order):
            return tuple(small[word] for word in order if word in small)
    return ()


def is_time(name: str) -> bool:
    """Whether the name of a column is that of a survival time."""
    return bool(TIME_NAME.search(name) or NUMBERED_TIME.fullmatch(name))


def survival_columns(frame: Frame) -> tuple[str, str] | None:
    """The first time that has a column of events, and this column; None where there is none."""
    times = [name for name in frame.order if is_time(name)]
    parsed, _ = parse_columns(frame, (), frame.options.decimal) if times else ({}, [])
    for name in times:
        values = parsed.get(name, Column(name)).read(frame.column(name))
        if values.dtype.kind != "f":
            continue
        if events := event_columns(frame, parsed, values[~np.isnan(values)], name):
            return name, events[0]
    return None


def event_columns(
    frame: Frame, parsed: dict[str, Column], y: NDArray[Any], target: str
) -> list[str]:
    """The other half of survival times: columns of events where the target is a time, or of times
    where it is an event.
    """
    others = [name for name in frame.order if name != target]

    def values_of(name: str) -> NDArray[Any]:
        return parsed.get(name, Column(name)).read(frame.column(name))

    if y.size and y.dtype.kind != "O" and y.min() >= 0:
        number, most = NUMBERED_TIME.fullmatch(target), 2
        event = CENSORED
        if TIME_NAME.search(target):
            event, most = EVENT_NAME, 3
        elif number:
            event = _called(rf"^(d|delta|event|status|cens)[._]?{number[1]}$")
            if not any(map(event.search, others)) and target.casefold().startswith("time"):
                event = EVENT_NAME  # start and stop of an interval, and what ended it
        called = [name for name in others if event.search(name) or CENSORED.search(name)]
        kinds = {name: {text for text in as_texts(values_of(name)) if text} for name in called}
        found = [name for name in called if 2 <= len(kinds[name]) <= most]
        if found and len(np.unique(y)) > FEWEST_TIMES:
            return sorted(found, key=lambda name: CENSORED.search(name) is not None)
    named = re.compile(rf"(time|days|weeks|months|years)[._ ]?to[._ ]?{re.escape(target)}$", re.I)
    if target and (times := [name for name in others if named.match(name)]):
        return times
    if EVENT_NAME.search(target) and {str(v).casefold().removesuffix(".0") for v in y} <= EVENTS:
        times = [name for name in others if TIME_NAME.search(name)]
        return [name for name in times if values_of(name).dtype.kind == "f"][:1]
    return []
