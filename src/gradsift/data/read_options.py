"""How a table is written: what the user says of it, and which texts are numbers."""

from __future__ import annotations

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


@dataclass(frozen=True)
class ReadOptions:
    """How a table is written. What is None is found out from the file.

    Parameters
    ----------
    delimiter : str, optional
        One character between cells, or its name: 'tab', 'space' (any run of spaces and tabs).
    decimal : {'.', ','}, optional
        The decimal mark.
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
    >>> german = ReadOptions(decimal=",")
    >>> german.number("-1234,5"), german.number("1.5")
    (-1234.5, None)
    """

    delimiter: str | None = None
    decimal: str | None = None
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
        if self.decimal not in (None, ".", ","):
            raise ValueError(f"--decimal {self.decimal!r}: use . or ,")
        if self.delimiter is not None and self.delimiter == self.decimal:
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

    def number(self, text: str) -> float | None:
        """The number that a text is, None where it is none."""
        if self.decimal == ",":
            if "." in text:
                return None
            text = text.replace(",", ".")
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
