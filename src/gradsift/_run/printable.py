"""Text for a terminal: nothing in it moves the cursor, changes colours or reorders letters."""

from __future__ import annotations


def printable(text: object) -> str:
    """One line; line breaks become spaces, and characters that do not show are written as escapes.

    Examples
    --------
    >>> print(printable("gene\\x1b[31m"))
    gene\\x1b[31m
    >>> print(printable("two\\nlines"))
    two lines
    """
    line = " ".join(str(text).splitlines())
    if line.isprintable():
        return line
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in line)
