"""Lists and shares as people write them."""

from __future__ import annotations

from collections.abc import Sequence


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
    if 0.995 <= share < 1.0:
        return "more than 99\u00a0%"
    return "less than 1\u00a0%" if 0.0 < share < 0.005 else f"{100 * share:.0f}\u00a0%"


def sure_percent(probability: float) -> str:
    """A probability in whole percent: nothing that is estimated is certain or impossible.

    Examples
    --------
    >>> sure_percent(0.876), sure_percent(1.0), sure_percent(0.0)
    ('88\xa0%', 'more than 99\xa0%', 'less than 1\xa0%')
    """
    return percent(min(max(probability, 1e-3), 1.0 - 1e-3))


def short_percent(probability: float) -> str:
    """The same for a cell of a table.

    Examples
    --------
    >>> short_percent(0.876), short_percent(1.0), short_percent(0.0)
    ('88\xa0%', '>\xa099\xa0%', '<\xa01\xa0%')
    """
    text = sure_percent(probability)
    return text.replace("more than ", ">\u00a0").replace("less than ", "<\u00a0")


def capital(text: str) -> str:
    """The same with a capital letter first, and every other letter as it is."""
    return text[:1].upper() + text[1:]
