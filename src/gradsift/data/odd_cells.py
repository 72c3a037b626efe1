"""Columns of numbers with cells that are none: which, where, and what would help."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from gradsift.data.missing import is_missing, to_number
from gradsift.data.read_options import PLAIN, ReadOptions

MOST_SHOWN = 3
MOST_TOLD = 10
"""Columns of a message that tells of many."""
MOSTLY = 0.5
"""Part of the cells above which a column is one of numbers."""
NUMBER_LIKE = re.compile(
    r"[<>=≤≥~≈±$€£]*\s*[+\-\u2212\u2013]?\s*\d[\d.,'’_\s]*([eE][+\-\u2212]?\d+)?\s*[%‰]?"
)
DATE = re.compile(
    r"(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2}))([ T]\d{1,2}:\d{2}.*)?"
)
FLAGS = (
    (ReadOptions(decimal=","), "--decimal ,"),
    (ReadOptions(thousands=","), "--thousands ,"),
    (ReadOptions(decimal=",", thousands="."), "--decimal , --thousands ."),
    (ReadOptions(thousands=" "), "--thousands ' '"),
    (ReadOptions(decimal=",", thousands=" "), "--decimal , --thousands ' '"),
    (ReadOptions(thousands="'"), '--thousands "\'"'),
    (ReadOptions(thousands="’"), "--thousands ’"),
)
"""Ways to write numbers, and the options that read them."""


@dataclass(frozen=True)
class OddCells:
    """A column of numbers, some of whose cells are none.

    Attributes
    ----------
    n_cells : int
        Cells in which something is written.
    numbers : sequence of str
        Some of the cells that are numbers.
    odd : sequence of (str, str)
        (place, cell) of those that are not; each cell once.
    n_odd : int
        How many there are.
    """

    column: str
    n_cells: int
    numbers: Sequence[str]
    odd: Sequence[tuple[str, str]]
    n_odd: int

    def sentence(self, *others: str) -> str:
        """What was found, where, and what to do: the options that help, or any of `others`."""
        some = ", ".join(f"{cell!r} ({place})" for place, cell in self.odd[:MOST_SHOWN])
        more = " and others" if len(self.odd) > MOST_SHOWN else ""
        return (
            f"column {self.column!r} holds numbers, but {self.n_odd} of its {self.n_cells} cells "
            f"{'is' if self.n_odd == 1 else 'are'} not written as one: {some}{more}. {self.remedy(others)}"
        )

    def remedy(self, others: Sequence[str] = ()) -> str:
        """The options that help."""
        cells = [cell for _, cell in self.odd]
        missing = " ".join(f"--na {quoted(cell)}" for cell in cells[:MOST_SHOWN])
        give = [f"{missing} to read them as missing"]
        mend = ""
        if flags := fitting_flags([*cells, *self.numbers]):
            give = [" or ".join(flags)]
        elif all(cell.endswith(("%", "‰")) for cell in cells):
            mend = "Write them without the sign. Or "
        elif any(mark in cell for mark in "\u2212\u2013" for cell in cells):
            mend = "Write them with a plain minus sign (-). Or "
        return f"{mend}{'give' if mend else 'Give'} {', or '.join([*give, *others])}."


def quoted(cell: str) -> str:
    """A cell as an argument in a shell."""
    return cell if re.fullmatch(r"[\w.]+", cell) else '"' + cell.replace('"', '\\"') + '"'


def fitting_flags(cells: Sequence[str]) -> list[str]:
    """The options with which all of these cells are numbers."""
    return [flag for how, flag in FLAGS if all(how.number(cell) is not None for cell in cells)]


def odd_cells(
    column: str,
    cells: Iterable[Any],
    place: Callable[[int], str],
    options: ReadOptions = PLAIN,
) -> OddCells | None:
    """The cells that keep a column of text from being one of numbers; None where it is none.

    A column is meant to be one of numbers if half of its cells are numbers or look much like
    numbers ('<0.1', '12 %', '1,5'). If none is a plain number, all of them must look so.

    Parameters
    ----------
    column : str
    cells : sequence of str or None
    place : callable
        From a row to where it is in the file.
    options : ReadOptions

    Examples
    --------
    >>> cells = ["1.5", "<0.1", None, "3"]
    >>> print(odd_cells("dose", cells, "line {}".format).sentence("--drop dose"))
    column 'dose' holds numbers, but 1 of its 3 cells is not written as one: '<0.1' (line 1). Give
    --na "<0.1" to read them as missing, or --drop dose.
    """
    written = [(k, str(cell)) for k, cell in enumerate(cells) if not is_missing(cell, options)]
    plain = [cell for _, cell in written if to_number(cell, options) is not None]
    odd = [(k, cell) for k, cell in written if to_number(cell, options) is None]
    if not odd or is_dates([cell for _, cell in odd]):
        return None
    alike = sum(NUMBER_LIKE.fullmatch(cell) is not None for _, cell in odd)
    mostly = len(plain) + alike > MOSTLY * len(written) or len(plain) >= MOSTLY * len(written)
    if not (mostly and (plain or alike == len(odd))):
        return None
    shown = {cell: place(k) for k, cell in reversed(odd)}
    places = [(where, cell) for cell, where in reversed(shown.items())]
    return OddCells(column, len(written), plain[:100], places, len(odd))


def is_dates(cells: Sequence[str]) -> bool:
    """Whether texts are dates, nearly all of them."""
    if not cells:
        return False
    return sum(DATE.fullmatch(cell) is not None for cell in cells) >= 0.9 * len(cells)


def told(problems: Sequence[str]) -> str:
    """One message for all columns that cannot be used."""
    if len(problems) == 1:
        return problems[0]
    numbered = " ".join(f"({k}) {text}" for k, text in enumerate(problems[:MOST_TOLD], start=1))
    more = len(problems) - MOST_TOLD
    others = f" And {more} columns more." if more > 0 else ""
    return f"{len(problems)} columns cannot be used as they are. {numbered}{others}"
