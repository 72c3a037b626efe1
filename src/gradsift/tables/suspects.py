"""What often goes wrong in tables: identifiers and dates among the variables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradsift.data.odd_cells import as_argument, is_dates
from gradsift.data.source import windows
from gradsift.data.text import BEWARE
from gradsift.protocols import Array
from gradsift.tables.frame import Frame, counted, listed

FEWEST_ROWS = 10
"""Rows from which on an order is no chance: a column is sorted with probability 2 / n!."""
NAMES_ROWS = re.compile(r"(^|[^a-z])(id|iid|uid|idx|index|nr|no|number|key|code)s?$", re.IGNORECASE)
MISSING_CODES = (-9, -99, -999, -9999)
"""Numbers that often stand for a missing value."""
WIDTH = 1024
ROUNDING = 1e-12
"""Part of its size by which a column may vary that never changes."""


def constant_notes(X: Array, origins: Sequence[str]) -> list[str]:
    """A note on columns of the table that never change; `origins` names the one behind each of X.

    Examples
    --------
    >>> constant_notes(np.array([[1.0, 2.0], [1.0, 3.0]]), ["a", "b"])
    ["1 column ('a') holds the same value in every row: it is not counted as a variable"]
    """
    varies = {origins[int(k)] for k in np.flatnonzero(~never_change(X))}
    found = [name for name in dict.fromkeys(origins) if name not in varies]
    return [constant_words(len(found), f" ({listed(found)})")] if found else []


def constant_words(count: int, which: str = "") -> str:
    """A note on so many columns that never change."""
    holds, so = ("holds", "it is") if count == 1 else ("hold", "they are")
    what = "a variable" if count == 1 else "variables"
    return (
        f"{counted(count, 'column')}{which} {holds} the same value in every row: {so} not counted "
        f"as {what}"
    )


def never_change(X: Array) -> NDArray[np.bool_]:
    """Which columns hold one value wherever they hold one, but for rounding."""
    out = np.zeros(X.shape[1], dtype=bool)
    for where in windows(X.shape[1], WIDTH):
        low, high = np.fmin.reduce(X[:, where], axis=0), np.fmax.reduce(X[:, where], axis=0)
        with np.errstate(invalid="ignore"):  # of infinity, which the estimators refuse
            out[where] = high - low <= ROUNDING * np.maximum(np.abs(low), np.abs(high))
    return out


def identifier_notes(frame: Frame, numbers: Sequence[str]) -> list[str]:
    """A note on columns of whole numbers, different in every row, that may name the rows.

    So they seem if they are sorted, or called like an identifier.
    """
    if frame.n_rows < FEWEST_ROWS:
        return []
    found = []
    for name, values in whole_numbers(frame, numbers):
        steps = np.diff(values)
        ordered = (steps > 0).all() or (steps < 0).all()
        named = NAMES_ROWS.search(name) is not None and len(np.unique(values)) == len(values)
        if ordered or named:
            found.append(name)
    if not found:
        return []
    holds, names = ("holds", "it names") if len(found) == 1 else ("hold", "they name")
    return [
        f"{BEWARE}{listed(found)} {holds} another whole number in every row, as identifiers do. If "
        f"{names} the samples, give --id {as_argument(found[0])} or "
        f"--drop {as_argument(*found[:3])}"
    ]


def whole_numbers(frame: Frame, numbers: Sequence[str]) -> Iterator[tuple[str, Array]]:
    """The columns of whole numbers in which nothing is missing."""
    wanted = set(numbers)
    for where in windows(len(frame.names), WIDTH):
        block = frame.numbers[:, where]
        whole = np.isfinite(block) & (block == np.round(block))
        for k in np.flatnonzero(whole.all(axis=0)):
            name = frame.names[where.start + int(k)]
            if name in wanted:
                yield name, block[:, k]


def date_notes(frame: Frame, numbers: Sequence[str], categories: Sequence[str]) -> list[str]:
    """A note on columns of dates, written as texts or as whole numbers like 20231001."""
    found = [name for name, values in whole_numbers(frame, numbers) if _are_dates(values)]
    texts = [name for name in categories if name in frame.texts]
    found += [name for name in texts if is_dates([v for v in frame.texts[name] if v is not None])]
    if not found:
        return []
    return [
        f"{BEWARE}{listed(found)} {'looks' if len(found) == 1 else 'look'} like dates, which are "
        f"no amounts: leave out with --drop {as_argument(*found[:3])}, or put the days since a "
        "first day in their place"
    ]


def _are_dates(values: Array) -> bool:
    """Whether whole numbers are dates of this or the last century, year, month, day."""
    year, month, day = values // 10_000, values // 100 % 100, values % 100
    valid = (year >= 1900) & (year < 2100) & (month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)
    return bool(len(values) and valid.all())


def code_notes(y: Any, target: str) -> list[str]:
    """A note on a negative number among others that are not, where it often means missing."""
    if np.asarray(y).dtype.kind != "f" or not len(y) or y.min() not in MISSING_CODES:
        return []
    code, count = int(y.min()), int((y == y.min()).sum())
    if count < 2 or (y[y != code] < 0).any():
        return []
    return [
        f"{BEWARE}{code} is the only negative number in {target!r}, in {count} rows. If it stands "
        f"for a missing value, give --na={code}"
    ]
