"""Columns of numbers with cells that are none: which, where, and what would help."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from gradsift.data.missing import is_missing, to_number
from gradsift.data.read_options import PLAIN, ReadOptions

MOST_SHOWN = 3
MOST_KEPT = 100
"""Different cells that are looked at for what helps."""
MOST_TOLD = 10
"""Columns of a message that tells of many."""
MOSTLY = 0.5
"""Part of the cells above which a column is one of numbers."""
NUMBER_LIKE = re.compile(
    r"[<>=≤≥~≈±$€£'\"]*\s*[+\-\u2212\u2013]?\s*\d[\d.,'’_\s]*([eE][+\-\u2212]?\d+)?\s*[%‰$€£'\"]*"
)
DATE = re.compile(
    r"(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2}))([ T]\d{1,2}:\d{2}.*)?"
)
FLAGS = (
    (ReadOptions(decimal=","), "--decimal ','"),
    (ReadOptions(thousands=","), "--thousands ','"),
    (ReadOptions(thousands=" "), "--thousands ' '"),
    (ReadOptions(thousands="'"), '--thousands "\'"'),
    (ReadOptions(thousands="’"), "--thousands ’"),
)
BOTH_FLAGS = (
    (ReadOptions(decimal=",", thousands="."), "--decimal ',' --thousands ."),
    (ReadOptions(decimal=",", thousands=" "), "--decimal ',' --thousands ' '"),
)
"""Ways to write numbers, and the options that read them."""
PLAIN_FLAG = "--decimal . if all numbers of the table are written so (else write these alike)"


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

    @property
    def flags(self) -> list[str]:
        """The options that read all cells of the column as numbers."""
        return fitting_flags([*(cell for _, cell in self.odd), *self.numbers])

    @property
    def same_texts(self) -> str:
        """The few texts that are no numbers, as a key; empty where they are many."""
        cells = sorted(cell for _, cell in self.odd)
        few = self.n_odd < self.n_cells and len(cells) <= MOST_SHOWN
        return "\n".join(cells) if few else ""

    def sentence(self, *others: str) -> str:
        """What was found, where, and what to do: the options that help, or any of `others`."""
        some = ", ".join(f"{cell!r} ({place})" for place, cell in self.odd[:MOST_SHOWN])
        more = " and others" if len(self.odd) > MOST_SHOWN else ""
        are = "is" if self.n_odd == 1 else "are"
        return (
            f"column {self.column!r} holds numbers, but {self.n_odd} of its {self.n_cells} cells "
            f"{are} not written as one: {some}{more}. {self.remedy(others)}"
        )

    def remedy(self, others: Sequence[str] = ()) -> str:
        """The options that help."""
        cells = [cell for _, cell in self.odd]
        missing = " ".join(f"--na {quoted(cell)}" for cell in cells[:MOST_SHOWN])
        # nothing would be left of a column that is written so throughout
        them = "it" if self.n_odd == 1 else "them"
        give = [f"{missing} to read {them} as missing"] if self.n_odd < self.n_cells else []
        mend = ""
        if flags := self.flags:
            give = [" or ".join(flags) + (" (whichever is meant)" if len(flags) > 1 else "")]
        elif all(cell.endswith(("%", "‰")) for cell in cells):
            mend = "Write them without the sign. Or "
        elif any(mark in cell for mark in "\u2212\u2013" for cell in cells):
            mend = "Write them with a plain minus sign (-). Or "
        elif not give:
            mend = "Write them as plain numbers. Or "
        return f"{mend}{'give' if mend else 'Give'} {', or '.join([*give, *others])}."


def quoted(cell: str) -> str:
    """A cell as an argument in a shell."""
    return cell if re.fullmatch(r"[\w.]+", cell) else '"' + cell.replace('"', '\\"') + '"'


def as_argument(*names: str) -> str:
    """Names of columns as one argument of an option in a shell.

    Examples
    --------
    >>> print(as_argument("dose", "age"), as_argument("mean area"))
    dose,age "mean area"
    """
    joined = ",".join(names)
    return joined if re.fullmatch(r"[\w.,-]+", joined) else quoted(joined)


def fitting_flags(cells: Sequence[str]) -> list[str]:
    """The options with which all of these cells are numbers, one of them if one is enough.

    Examples
    --------
    >>> fitting_flags(["1,234", "12"]), fitting_flags(["1.234,5"]), fitting_flags(["<5"])
    (["--decimal ','", "--thousands ','"], ["--decimal ',' --thousands ."], [])
    """
    if all(PLAIN.number(cell) is not None for cell in cells):  # other marks were asked for
        return [PLAIN_FLAG]
    for flags in (FLAGS, BOTH_FLAGS):
        if fit := [flag for how, flag in flags if all(how.number(c) is not None for c in cells)]:
            return fit
    return []


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
    --na "<0.1" to read it as missing, or --drop dose.
    """
    cells = list(cells)
    written = {c: count for c, count in Counter(cells).items() if not is_missing(c, options)}
    plain = [cell for cell in written if to_number(cell, options) is not None]
    odd = [cell for cell in written if to_number(cell, options) is None]
    if not odd or is_dates([str(cell) for cell in odd]):
        return None
    alike = [cell for cell in odd if NUMBER_LIKE.fullmatch(str(cell))]
    n_cells, n_plain, n_alike = (sum(written[c] for c in some) for some in (written, plain, alike))
    mostly = n_plain + n_alike > MOSTLY * n_cells or n_plain >= MOSTLY * n_cells
    if not (mostly and (plain or len(alike) == len(odd))):
        return None
    first = {cell: k for k, cell in reversed(list(enumerate(cells)))}
    places = [(place(first[cell]), str(cell)) for cell in odd[:MOST_KEPT]]
    n_odd = n_cells - n_plain
    return OddCells(column, n_cells, [str(cell) for cell in plain[:MOST_KEPT]], places, n_odd)


def is_dates(cells: Sequence[str]) -> bool:
    """Whether texts are dates, nearly all of them."""
    if not cells:
        return False
    return sum(DATE.fullmatch(cell) is not None for cell in cells) >= 0.9 * len(cells)


def told(problems: Sequence[tuple[str, OddCells | str]], *others: Sequence[str]) -> str:
    """One message for all columns that cannot be used.

    Parameters
    ----------
    problems : sequence of (column, what is wrong)
        A sentence, or cells that are no numbers. Columns that the same options read are told of
        once.
    others : sequences of str
        For each column, options that help besides.
    """
    alike: dict[str, list[str]] = {}
    sentences = []
    for (column, found), ways in zip(problems, others):
        if isinstance(found, str):
            sentences.append((found, column))
            continue
        key = " ".join(found.flags) or found.same_texts
        if key and key in alike:
            alike[key].append(column)
            continue
        alike[key or column] = []
        sentences.append((found.sentence(*ways), key or column))
    texts = [text + _so_are(alike.get(key, [])) for text, key in sentences]
    if len(texts) == 1:
        return texts[0]
    numbered = " ".join(f"({k}) {text}" for k, text in enumerate(texts[:MOST_TOLD], start=1))
    more = len(texts) - MOST_TOLD
    beyond = f" And {more} columns more." if more > 0 else ""
    return f"{len(problems)} columns cannot be used as they are. {numbered}{beyond}"


def _so_are(names: Sequence[str]) -> str:
    if not names:
        return ""
    some = ", ".join(repr(name) for name in names[:MOST_SHOWN])
    more = f" and {len(names) - MOST_SHOWN} more" if len(names) > MOST_SHOWN else ""
    return f" The same holds for {some}{more}."
