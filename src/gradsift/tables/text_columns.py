"""What a column of text is: the names of the rows, categories, or nothing that can be used."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gradsift.data.categories import MOST_LEVELS, text_levels
from gradsift.data.odd_cells import OddCells, as_argument, is_dates, odd_cells, told
from gradsift.data.text import BEWARE
from gradsift.tables.frame import Frame, listed
from gradsift.tables.recipe import Choices, as_texts, without_category

WITH_UNIT = re.compile(r"[+-]?\d[\d.,]*\s*(?P<unit>[^\W\d_][\w/°µ·^-]*)")
"""A number and its unit, such as '70.5 kg' or '3mg/l'."""


@dataclass(frozen=True)
class TextColumns:
    """What the columns of text are taken for.

    Attributes
    ----------
    id : str or None
        The column that names the rows.
    levels : tuple of str
        Columns of categories.
    notes : tuple of str
    """

    id: str | None
    levels: tuple[str, ...]
    notes: tuple[str, ...]

    def levels_of(self, frame: Frame) -> dict[str, tuple[str, ...]]:
        """Column -> its categories, those of them that occur."""
        found = {name: tuple(text_levels(as_texts(frame, name))) for name in self.levels}
        return {name: levels for name, levels in found.items() if levels}


def row_names(frame: Frame) -> str | None:
    """The column that names the rows, where none was asked for.

    The one that the file marks as such; else the first column, if it holds texts that are not
    numbers, all different.
    """
    if frame.id is not None or not frame.order:
        return frame.id
    first = frame.order[0]
    if first not in frame.texts:
        return None
    values = frame.texts[first]
    if None in values or len(set(values)) < frame.n_rows or frame.n_rows < 2:
        return None
    return None if _odd(frame, first) is not None else first


def _odd(frame: Frame, name: str) -> OddCells | None:
    """The cells that keep a column from being one of numbers."""
    return odd_cells(name, frame.texts[name], lambda k: frame.places.of(name, k), frame.options)


def text_columns(frame: Frame, choices: Choices) -> TextColumns:
    """What each column of text is, asked for or plain to see; all that cannot be used are told."""
    automatic = row_names(frame) if choices.target != frame.order[0] else frame.id
    given = (choices.group, *choices.drop, *choices.categorical, *choices.keep)
    if automatic in (choices.target, *given):
        automatic = None
    id_column = choices.id or automatic
    notes, levels = [], list(choices.categorical)
    problems: list[tuple[str, OddCells | str]] = []
    if choices.id is None and id_column is not None:
        notes.append(f"{id_column!r} names the rows (its texts all differ)")
    aside = {*choices.drop, *choices.categorical, choices.group, id_column, frame.id}
    for name, values in frame.texts.items():
        if name in aside or (name == choices.target and choices.task == "classification"):
            continue
        if odd := _odd(frame, name):
            problems.append((name, odd))
        elif name != choices.target:
            count = len(text_levels(values))
            if count <= min(MOST_LEVELS, max(frame.n_rows - 1, 1)):
                levels.append(name)
                notes += _category_notes(name, values)
            else:
                problems.append((name, _no_use(name, values)))
    if problems:
        ways = [_ways_out(frame, name, choices.target) for name, _ in problems]
        raise ValueError(told(problems, *ways))
    return TextColumns(id_column, tuple(levels), tuple(notes))


def _category_notes(name: str, values: Any) -> list[str]:
    """What a column of text is taken for, and what its empty cells are."""
    found, lost = text_levels(values), sum(value is None for value in values)
    if len(found) == 1 and lost == 0:
        return [f"{name!r} holds {found[0]!r} in every row, which explains nothing"]
    kinds = "1 category" if len(found) == 1 else f"{len(found)} categories"
    note = f"{name!r} holds text: taken for {kinds}"
    if lost:
        note += f"; {without_category(name, lost)} as none of them"
    alike: dict[str, list[str]] = {}
    for level in found:
        alike.setdefault(level.casefold(), []).append(level)
    twice = [
        f"{BEWARE}{listed(levels)} in {name!r} differ in capitals only and count as "
        f"{len(levels)} categories: write them alike if they are one"
        for levels in alike.values()
        if len(levels) > 1
    ]
    return [note, *twice]


def _unit(texts: Sequence[str]) -> str | None:
    """The unit behind every one of these numbers; None where they are none, or have several."""
    found = [WITH_UNIT.fullmatch(text) for text in texts]
    units = {None if one is None else one["unit"] for one in found}
    return units.pop() if len(units) == 1 else None


def _ways_out(frame: Frame, name: str, target: str) -> list[str]:
    """Options for a column that is not to be one of numbers."""
    if name == target:
        return ["--task classification"]
    column = as_argument(name)
    out = [f"--drop {column}", f"--categorical {column}"]
    return [f"--id {column}", *out] if name == frame.order[0] else out


def _no_use(name: str, values: Any) -> str:
    found = text_levels(values)
    what = "dates" if is_dates(found) else "different texts"
    column = as_argument(name)
    if unit := _unit(found):
        return (
            f"column {name!r} holds numbers with a unit ({listed(found, 2)}): write them without "
            f"{unit!r}, or give --drop {column}."
        )
    advice = f"give --drop {column}, --id {column} or --categorical {column}"
    if len(found) < len(values):
        advice += f" (or --group {column}, if rows with the same text belong together)"
    if what == "dates":
        advice = (
            f"give --drop {column} or --id {column}, or put the days since a first day in place"
        )
    return f"column {name!r} holds {len(found)} {what} ({listed(found, 2)}): {advice}."
