"""Names that were probably meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice

MOST_COMPARED = 20_000
"""Names that are compared letter by letter; a table may have millions."""


def did_you_mean(name: str, known: Iterable[object]) -> str:
    """The end of a message about an unknown name: the nearest one that is known, or nothing.

    Parameters
    ----------
    name : str
    known : iterable of names

    Returns
    -------
    hint : str
        Begins with a space; empty where nothing is near.

    Examples
    --------
    >>> did_you_mean("tempertaure", ["pressure", "temperature"])
    " Did you mean 'temperature'?"
    >>> did_you_mean("BMI", ["bmi", "bmi2"])
    " Did you mean 'bmi'?"
    >>> did_you_mean("age", ["pressure"])
    ''
    """
    names = [str(other) for other in islice(known, MOST_COMPARED)]
    same = [other for other in names if other.lower() == name.lower()]
    near = same or get_close_matches(name, names, n=1, cutoff=0.75)
    return f" Did you mean {near[0]!r}?" if near else ""
