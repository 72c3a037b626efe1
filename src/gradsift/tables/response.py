"""The response of a table: numbers, classes, counts, ordered answers, survival times or several
outcomes; and suggestions where it could be read in another way.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

import numpy as np
from numpy.typing import NDArray

from gradsift.data.categories import number_text, text_levels, whole_labels
from gradsift.protocols import Array
from gradsift.responses.survival import survival_records
from gradsift.tables.columns import as_texts
from gradsift.tables.notes import Note, TableError, listed
from gradsift.tables.roles import known_order

Task = Literal["regression", "classification", "counts", "ordinal", "survival"]
MOST_CLASSES = 10
"""Distinct whole numbers in a row up to which a target is taken for class numbers."""
MOST_CODES = 5
"""... where these are not in a row."""
MOST_ANSWERS = 20
"""Distinct numbers of ordered answers."""
LEAST_RATINGS = 4
"""Whole numbers in a row, from which on they look like ratings or counts."""
COUNT_NAME = re.compile(
    r"(^|[._ ])(freq|frequency|frequencies|counts?|cases|anzahl)$", re.IGNORECASE
)
"""Names of counts, wherever they begin."""
EVENT_WORDS = re.compile(
    r"1|y(es)?|t(rue)?|event|dead|died|deceased|death|fail(ed|ure)|relapsed?|recur(red|rence)"
    r"|progress(ed|ion)|uncensored|observed|churned"
)
CENSORED_WORDS = re.compile(
    r"0|no?|f(alse)?|censored|alive|living|survived|lost|none|no.?event|event.?free"
)
"""Texts that say whether a time ended in an event, in small letters."""
CENSORED_NAME = re.compile(r"^(is[ _.]?)?censored$", re.IGNORECASE)
"""Name of a column in which 1 says that there was no event."""


@dataclass(frozen=True)
class ResponseColumns:
    """The columns of a table that hold its response.

    Attributes
    ----------
    target : str
    more_targets : tuple of str
        Other outcomes that are explained together with it.
    event, entry, strata : str, optional
        Of survival times, which `target` holds: whether they ended in an event (None = all did),
        from when on rows were observed, and which rows have a baseline hazard of their own.
    event_value : str
        What means the event; '' = not yet known.
    exposure : str, optional
        Of counts: the time or area that they refer to.
    """

    target: str
    more_targets: tuple[str, ...] = ()
    event: str | None = None
    entry: str | None = None
    strata: str | None = None
    exposure: str | None = None
    event_value: str = ""

    @property
    def targets(self) -> tuple[str, ...]:
        return self.target, *self.more_targets

    @property
    def names(self) -> tuple[str, ...]:
        """All columns, the target first."""
        more = (self.event, self.entry, self.strata, self.exposure)
        return (*self.targets, *(name for name in more if name is not None))

    def task(self, asked: str) -> str:
        """The task that these columns imply; refused where another one was asked for."""
        implied = {
            "survival": "event" if self.event else "",
            "counts": "exposure" if self.exposure else "",
            "regression": "several targets" if self.more_targets else "",
        }
        found = [task for task, why in implied.items() if why] or [asked]
        if len(found) > 1 or asked not in ("auto", found[0]):
            given = " and ".join(why for why in implied.values() if why)
            raise TableError(f"{given} cannot be combined with task {(*found[1:], asked)[0]!r}.")
        aside = [n for n in ("entry", "strata") if getattr(self, n) and found[0] != "survival"]
        if aside:
            raise TableError(f"{aside[0]} belongs to survival times: name their event.", "event")
        return found[0]

    def read(self, values: dict[str, Any], task: Task, levels: Sequence[str]) -> NDArray[Any]:
        """The response as an estimator takes it, from its columns, in which nothing is missing.

        Parameters
        ----------
        values : dict
            Name -> (n,) column.
        task : str
        levels : sequence of str
            Of ordered answers, lowest first.
        """
        y = values[self.target]
        if y.dtype.kind == "O" and task in ("regression", "counts", "survival"):
            raise TableError(f"the target {self.target!r} holds text, but this task needs numbers.")
        if task == "survival":
            ends = [] if self.event is None else as_texts(values[self.event]).tolist()
            died = [text == self.event_value for text in ends] if self.event else [True] * len(y)
            entry = None if self.entry is None else values[self.entry]
            strata = None if self.strata is None else as_texts(values[self.strata]).astype(str)
            return survival_records(y, np.array(died), entry, strata)
        if self.more_targets:
            return np.column_stack([values[name] for name in self.targets])
        if task == "ordinal":
            rank = {level: float(k) for k, level in enumerate(levels)}
            texts = as_texts(y).tolist()
            if unknown := sorted({text for text in texts if text not in rank}):
                raise TableError(
                    f"{listed(unknown)} of {self.target!r} is no answer that the model knows "
                    f"({listed(levels, 5)})."
                )
            return np.array([rank[text] for text in texts])
        return labels_of(y) if task == "classification" else y


def labels_of(y: NDArray[Any]) -> NDArray[Any]:
    """Labels as texts; as whole numbers where all are, because classes are in the order of their
    labels.
    """
    if y.dtype.kind == "O":
        return whole_labels(y.astype(str))
    values, codes = np.unique(y, return_inverse=True)
    return whole_labels(np.array([number_text(v) for v in values]))[codes]


def exposures(values: NDArray[Any], name: str) -> Array:
    """The exposure of counts: positive numbers."""
    if values.dtype.kind == "O" or not (np.isfinite(values) & (values > 0)).all():
        raise TableError(f"the exposure {name!r} must hold positive numbers.", "exposure")
    return np.asarray(values, dtype=float)


def find_event(values: NDArray[Any], name: str, asked: str = "") -> tuple[str, Note]:
    """The value of a column that means the event, and a note that says so.

    Parameters
    ----------
    values : (n,) array
        Nothing missing.
    name : str
    asked : str
        The value that the user names; '' = it is inferred.

    Examples
    --------
    >>> find_event(np.array([1.0, 2.0, 2.0]), "status")[1].text
    "2 in 'status' means the event, in 2 of 3 rows"
    """
    texts = as_texts(values).tolist()
    kinds = text_levels(set(texts))
    value = asked if asked in kinds else "" if asked else event_value(kinds, name)
    if not value:
        what = (
            f"has no {asked!r} (it has {listed(kinds, 5)})" if asked else f"has {listed(kinds, 5)}"
        )
        raise TableError(
            f"the event {name!r} {what}. Say which value means that a time ended in the event.",
            f"event={name}=VALUE",
        )
    others = [kind for kind in kinds if kind != value]
    said = f"{value} in {name!r} means the event, in {texts.count(value):,} of {len(texts):,} rows"
    unclear = (value, *others) not in (("1", "0"), ("1",)) and not asked and others
    change = f"event={name}={others[0]}" if unclear else ""
    return value, Note("read", said, (name,), change)


def event_value(kinds: Sequence[str], name: str) -> str:
    """Which of the values of a column means the event; '' where that is not clear."""
    folded = {kind: re.sub(r"^\d\s*[:=-]\s*|\s", "", kind.casefold()) for kind in kinds}
    dead = [kind for kind, word in folded.items() if EVENT_WORDS.fullmatch(word)]
    alive = [kind for kind, word in folded.items() if CENSORED_WORDS.fullmatch(word)]
    if CENSORED_NAME.search(name):
        dead, alive = alive, dead
    if set(kinds) == {"1", "2"}:
        return "2"
    if len(kinds) > 2:
        return ""
    if len(dead) == 1:
        return dead[0]
    others = [kind for kind in kinds if kind not in alive]
    return others[0] if len(alive) == 1 and len(others) == 1 else ""


def answer_levels(y: NDArray[Any], declared: Sequence[str], target: str) -> tuple[str, ...]:
    """Ordered answers, lowest first: numbers by their size, texts that have a known order."""
    if y.dtype.kind == "O":
        there = set(y.tolist())
        levels = tuple(level for level in declared if level in there) or known_order(y)
        if not levels:
            raise TableError(
                f"the order of the answers in {target!r} ({listed(text_levels(there), 5)}) is not "
                "known. Write numbers, or '1 low', '2 middle', ...",
                "task=classification",
            )
        return levels
    distinct = np.unique(y)
    if not 2 < len(distinct) <= MOST_ANSWERS:
        raise TableError(
            f"{target!r} holds {len(distinct)} different numbers, but ordered answers have 3 to "
            f"{MOST_ANSWERS}.",
            "task=regression" if len(distinct) > 2 else "task=classification",
        )
    return tuple(map(number_text, distinct))


def read_task(y: Array | NDArray[Any], asked: str, target: str) -> tuple[Task, list[Note]]:
    """The task, and notes on other tasks that the target would suit.

    Texts, two values, and few whole numbers in a row are classes.

    Parameters
    ----------
    y : (n,) array of numbers, or of texts; or (n, q) array of numbers
    asked : {'auto', 'regression', 'classification', 'counts', 'ordinal', 'survival'}
    target : str
        The name of the column.

    Examples
    --------
    >>> read_task(np.repeat([1.0, 2.0, 3.0], 9), "auto", "grade")[0]
    'classification'
    """
    if asked not in ("auto", *get_args(Task)):
        raise TableError(
            f"task {asked!r}: use auto, regression, classification, counts, ordinal or survival."
        )
    if len(y) > 1 and y.ndim == 1 and (y == y[0]).all():
        raise TableError(
            f"the target {target!r} is {y[0]} in all {len(y):,} rows: there is nothing to explain."
        )
    if y.dtype.kind == "O":
        if asked in ("regression", "counts", "survival"):
            raise TableError(
                f"the target {target!r} holds text such as {y[0]!r}, but this task needs numbers.",
                "task=classification",
            )
        if asked == "auto" and known_order(y):
            said = f"the answers in {target!r} have an order, but are read as unordered classes"
            return "classification", [Note("suggestion", said, (target,), "task=ordinal")]
        return "ordinal" if asked == "ordinal" else "classification", []
    distinct = np.unique(np.asarray(y, dtype=float))
    if asked != "auto":
        if asked == "counts":
            check_counts(distinct, target)
        return cast(Task, asked), []
    count, whole = len(distinct), bool((distinct == np.round(distinct)).all())
    in_a_row = whole and count > 1 and distinct[-1] - distinct[0] == count - 1
    most = min(MOST_CLASSES if in_a_row else MOST_CODES, len(y) / 5)
    few = count == 2 or (whole and count <= most and distinct[0] >= 0)
    span = f"{number_text(distinct[0])} to {number_text(distinct[-1])}"
    if few and count < 3:
        return "classification", []
    if few:
        ordered = count >= LEAST_RATINGS
        other = "; they may be ordered answers" if ordered else ""
        said = f"{target!r} holds the {count} whole numbers {span}, read as classes{other}"
        change = "task=ordinal, task=regression" if ordered else "task=regression"
        return "classification", [Note("suggestion", said, (target,), change)]
    if looks_like_counts(np.asarray(y, dtype=float), distinct, target):
        said = f"{target!r} looks like a count ({span}), but is read as a continuous number"
        return "regression", [Note("suggestion", said, (target,), "task=counts")]
    return "regression", []


def looks_like_counts(y: Array, distinct: Array, target: str) -> bool:
    """Whether numbers are whole, begin at 0 or 1 or are called counts, and vary more than their
    mean.
    """
    if len(distinct) < 3 or distinct[0] < 0 or (distinct != np.round(distinct)).any():
        return False
    mean = float(y.mean())
    if COUNT_NAME.search(target):
        return bool(y.var() > mean)
    if distinct[0] > 1:
        return False
    few = len(distinct) < 0.5 * len(y)
    return bool(y.var() > mean and mean < 0.5 * distinct[-1] and few)


def check_counts(distinct: Array, target: str) -> None:
    odd = distinct[(distinct < 0) | (distinct != np.round(distinct))]
    if len(odd):
        raise TableError(
            f"the target {target!r} holds {odd[0]:g}, but counts are whole numbers from 0 on.",
            "task=regression",
        )
