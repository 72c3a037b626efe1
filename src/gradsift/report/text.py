"""Lists and shares as people write them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

Bound = Literal["", ">", "<"]
WORDS: dict[Bound, str] = {"": "", ">": "more than ", "<": "less than "}


def join(names: Sequence[str], most: int = 5) -> str:
    """'a, b and c', or 'a, b, c and 4 more'.

    Examples
    --------
    >>> join(["a", "b", "c"]), join(list("abcdefg"), most=3)
    ('a, b and c', 'a, b, c and 4 more')
    """
    names = list(names)
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most:,} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def percent(share: float) -> str:
    """A share in whole percent, never rounded up to everything or down to nothing.

    Examples
    --------
    >>> percent(0.876), percent(0.999), percent(0.001)
    ('88\xa0%', 'more than 99\xa0%', 'less than 1\xa0%')
    """
    bound, number = bounded(share)
    return f"{WORDS[bound]}{number:.0f}\u00a0%"


def bounded(share: float) -> tuple[Bound, float]:
    """The number of percent to show, and whether the share is more or less than that."""
    if 0.995 <= share < 1.0:
        return ">", 99.0
    return ("<", 1.0) if 0.0 < share < 0.005 else ("", 100.0 * share)


def sure(probability: float) -> float:
    """A probability that is estimated, and so neither certain nor impossible."""
    return min(max(probability, 1e-3), 1.0 - 1e-3)


def at_least(probability: float) -> str:
    """'88 % or more', or 'more than 99 %'.

    Examples
    --------
    >>> at_least(0.876), at_least(1.0)
    ('88\xa0% or more', 'more than 99\xa0%')
    """
    bound, _ = bounded(sure(probability))
    return f"{sure_percent(probability)}{'' if bound == '>' else ' or more'}"


def sure_percent(probability: float) -> str:
    """A probability in whole percent: nothing that is estimated is certain or impossible.

    Examples
    --------
    >>> sure_percent(0.876), sure_percent(1.0), sure_percent(0.0)
    ('88\xa0%', 'more than 99\xa0%', 'less than 1\xa0%')
    """
    return percent(sure(probability))


def short_percent(probability: float) -> str:
    """The same for a cell of a table.

    Examples
    --------
    >>> short_percent(0.876), short_percent(1.0), short_percent(0.0)
    ('88\xa0%', '>\xa099\xa0%', '<\xa01\xa0%')
    """
    bound, number = bounded(sure(probability))
    sign = f"{bound}\u00a0" if bound else ""
    return f"{sign}{number:.0f}\u00a0%"


def capital(text: str) -> str:
    """The same with a capital letter first, and every other letter as it is."""
    return text[:1].upper() + text[1:]
