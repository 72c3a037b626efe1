"""How a table is written: what the user says of it, and how its numbers are told from text."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

NAMED_DELIMITERS = {
    "tab": "\t",
    "\\t": "\t",
    "comma": ",",
    "semicolon": ";",
    "pipe": "|",
    "space": " ",
    "whitespace": " ",
}
BLANK = " "
"""The delimiter of cells that stand apart by one or more spaces or tabs."""
SPACES = " \u00a0\u202f\u2009"
"""Characters that a thousands separator of a space stands for: plain, no-break, narrow, thin."""


@dataclass(frozen=True)
class ReadOptions:
    """How a table is written. What is None is found out from the file.

    Parameters
    ----------
    delimiter : str, optional
        One character between cells, or its name: 'tab', 'space' (any run of spaces and tabs).
    decimal : str
        The decimal mark, '.' or ','.
    thousands : str, optional
        The mark between groups of three digits; none is expected unless given.
    encoding : str, optional
        Such as 'utf-16-le' or 'cp1252'.
    sheet : str, optional
        Of a workbook: its name, or its number from 1 on.
    comment : str, optional
        Lines that begin with it are remarks.
    na : tuple of str
        Cells that are missing, besides those that always are.
    transpose : bool
        Whether the file has variables in rows and samples in columns.

    Examples
    --------
    >>> german = ReadOptions(decimal=",", thousands=".")
    >>> german.number("-1.234,5"), german.number("1.5")
    (-1234.5, None)
    """

    delimiter: str | None = None
    decimal: str = "."
    thousands: str | None = None
    encoding: str | None = None
    sheet: str | None = None
    comment: str | None = None
    na: tuple[str, ...] = ()
    transpose: bool = False

    def __post_init__(self) -> None:
        if self.delimiter is not None:
            mark = NAMED_DELIMITERS.get(self.delimiter.lower(), self.delimiter)
            if len(mark) != 1 or mark in '"\r\n':
                raise ValueError(
                    f"--delimiter {self.delimiter!r}: use one character, or {_names()}."
                )
            object.__setattr__(self, "delimiter", mark)
        if self.decimal not in (".", ","):
            raise ValueError(f"--decimal {self.decimal!r}: use . or ,")
        if self.thousands is not None and not re.fullmatch(r"[^\w+\-]|_", self.thousands):
            raise ValueError(
                f"--thousands {self.thousands!r}: use one character such as , . ' _ or a space."
            )
        if self.thousands == self.decimal:
            raise ValueError(f"--thousands and --decimal are both {self.decimal!r}: use two.")
        if self.delimiter is not None and self.delimiter in (self.decimal, self.thousands):
            raise ValueError(
                f"--delimiter {self.delimiter!r} is also a mark inside numbers: use another."
            )
        if self.comment == "":
            raise ValueError("--comment needs at least one character.")
        if self.encoding is not None:
            try:
                "".encode(self.encoding)  # a codec that is no encoding of text raises too
            except LookupError:
                raise ValueError(
                    f"--encoding {self.encoding!r} is not known: use for instance utf-8, utf-16, "
                    "cp1252 or latin-1."
                ) from None

    @cached_property
    def codes(self) -> tuple[float, ...]:
        """The numbers among `na`."""
        found = (self.number(text) for text in self.na)
        return tuple(value for value in found if value is not None)

    @property
    def plain(self) -> bool:
        """Whether numbers are written as Python writes them."""
        return self.decimal == "." and self.thousands is None

    @property
    def pattern(self) -> str:
        """What a number looks like, as a regular expression; for marks that are not plain."""
        whole = r"\d+"
        if self.thousands is not None:
            whole = rf"(\d+|\d{{1,3}}({self._thousands}\d{{3}})+)"
        mark = re.escape(self.decimal)
        return rf"^[+-]?({whole}({mark}\d*)?|{mark}\d+)([eE][+-]?\d+)?$"

    @property
    def _thousands(self) -> str:
        marks = SPACES if self.thousands == " " else str(self.thousands)
        return "[" + re.escape(marks) + "]"

    @property
    def marks(self) -> list[tuple[str, str]]:
        """(regular expression, what to put in its place) that make a number a plain one."""
        out = [] if self.thousands is None else [(self._thousands, "")]
        return [*out, (",", ".")] if self.decimal == "," else out

    def number(self, text: str) -> float | None:
        """The number that a text is, None where it is none."""
        if not self.plain:
            if not re.search(self.pattern, text, re.ASCII):
                return None
            for mark, instead in self.marks:
                text = re.sub(mark, instead, text)
        try:
            return None if "_" in text else float(text)  # Python reads 1_01 as 101
        except ValueError:
            return None

    def given(self, **options: Any) -> ReadOptions:
        """These options, but for those that are given (neither None, empty nor False)."""
        return replace(self, **{name: value for name, value in options.items() if value})


def _names() -> str:
    return ", ".join(name for name in NAMED_DELIMITERS if name.isalpha())


PLAIN = ReadOptions()
