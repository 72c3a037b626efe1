"""How the letters of a text file are encoded, as its first bytes tell."""

from __future__ import annotations

import codecs
import os
from collections.abc import Callable
from typing import Any

PEEK_BYTES = 1 << 16
MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
DECODERS = ("utf-8-sig", "cp1252", "latin-1")
"""What a file without a mark is tried as, in this order."""
TITLES = {"cp1252": "Windows-1252", "latin-1": "Latin-1"}
CONTROLS = bytes(set(range(32)) - set(b"\t\n\r")) + b"\x7f"
MOST_CONTROLS = 0.05
"""Bytes that text hardly holds, and their part of a file above which it is none."""


def encoding_of(path: Any, opened: Callable[..., Any]) -> str:
    """The encoding that the first bytes tell; files that are no text are refused.

    Parameters
    ----------
    path : path
    opened : callable
        From a path and a mode to an open file.
    """
    with opened(path, "rb") as file:
        start = file.read(PEEK_BYTES)
    for mark, encoding in MARKS:
        if start.startswith(mark):
            return encoding
    strange = len(start) - len(start.translate(None, CONTROLS))
    if b"\0" in start or strange > MOST_CONTROLS * len(start):
        name = os.path.basename(os.fspath(path))
        raise ValueError(
            f"{name} holds binary data, not text. If it is another format, give it the suffix of "
            "that format; if it is UTF-16 text without a mark, give --encoding utf-16-le."
        )
    return DECODERS[0]
