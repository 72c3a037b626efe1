"""Notes on decisions made for the user, and the error of tables that cannot be used: plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "read", "joined", "left out", "filled", "encoded", "suggestion", "caution", "new rows"
]


@dataclass(frozen=True)
class Note:
    """One decision: what it is, which columns it is about, and the choice that changes it.

    Attributes
    ----------
    kind : str
        'caution' marks what must not be overlooked.
    text : str
        One or two sentences, without the last full stop.
    columns : tuple of str
    change : str
        Names of fields of `Choices` or `ReadOptions`, with their values where it matters, such as
        'missing=drop'; several are separated by ', '. Empty where nothing changes it.
    """

    kind: Kind
    text: str
    columns: tuple[str, ...] = ()
    change: str = ""


class TableError(ValueError):
    """A table that cannot be used, with the file, line and column where that shows.

    Parameters
    ----------
    text : str
    change : str
        The choices that would help, as in `Note`.
    """

    def __init__(self, text: str, change: str = "") -> None:
        super().__init__(text)
        self.change = change


def counted(count: int, noun: str) -> str:
    """A number of things.

    Examples
    --------
    >>> counted(1, "row"), counted(12_000, "row")
    ('1 row', '12,000 rows')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def is_or_are(count: int) -> str:
    return "is" if count == 1 else "are"


def listed(names: Sequence[str], most: int = 3) -> str:
    """'a', 'b', 'c' and 4 more."""
    shown = ", ".join(repr(name) for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")
