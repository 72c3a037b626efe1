"""Docstrings that refer to each other are complete when they are read."""

import inspect

import pytest

import gradsift
from gradsift.estimators.docstrings import AS_IN, SECTION, completed, documented, entries

ESTIMATORS = [one for name in gradsift.__all__ if hasattr(one := getattr(gradsift, name), "fit")]


class First:
    """One.

    Parameters
    ----------
    a, b : int
        Numbers.
    d : float

    Examples
    --------
    >>> 1
    1
    """


@completed(First)
class Second:
    """Two.

    Parameters
    ----------
    d, b
        As in `First`.
    c : str
        As in `First`, but a text.

    Attributes
    ----------
    e : int
    """


def test_entries_come_from_the_class_that_is_referred_to():
    assert inspect.cleandoc(First.__doc__).endswith(">>> 1\n1")
    assert (
        Second.__doc__
        == """Two.

Parameters
----------
b : int
    Numbers.
d : float
c : str
    As in `First`, but a text.

Attributes
----------
e : int"""
    )


def test_an_argument_that_nobody_describes_is_refused():
    with pytest.raises(KeyError, match="unheard"):
        documented("Do.")(lambda self, unheard: None)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda one: one.__name__)
def test_help_of_an_estimator_sends_nobody_elsewhere(estimator):
    for _, section in SECTION.findall(inspect.cleandoc(estimator.__doc__)):
        for entry in entries(section):
            assert not AS_IN.fullmatch(entry.text), entry.names
