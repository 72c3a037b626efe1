"""Docstrings that estimators share: each description is written once, and `help` shows all of them.

`documented` makes the docstring of a method from its signature, and `completed` replaces what a
class describes "As in" another class by the description there.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from textwrap import dedent, fill, indent
from typing import NamedTuple, TypeVar

C = TypeVar("C", bound=type)
F = TypeVar("F", bound=Callable[..., object])

ARGUMENTS = {
    "X": "(n, p) array or data frame",
    "y": "(n,) array",
    "sample_weight": """(n,) array, optional
        How much each row counts; a pair of rows, the product of both.""",
    "X_unlabeled": """(u, p) array or data frame, optional
        Samples without a response; they shape the field through ``Penalties(smoothness=...)``.""",
    "groups": """(n,) array of labels, optional
        Rows that belong together, such as the visits of a subject: folds hold out whole groups.""",
    "covariates": """array, data frame or dict of columns, optional
        Of these rows, where the model was fitted with covariates; ``"mean"`` predicts for rows
        whose covariates are as in the mean of the fit.""",
    "offset": """(n,) array or number, optional
        Of these rows, where the model was fitted with an offset.""",
}
"""Arguments of methods: their type, and below it what they are."""


def documented(summary: str, returns: str = "self", **other: str) -> Callable[[F], F]:
    """A decorator: the docstring of a method with these arguments, described here or in `other`.

    Examples
    --------
    >>> @documented("Predict the response.", returns="y : (n,) array")
    ... def predict(self, X): ...
    >>> print(predict.__doc__)
    Predict the response.
    <BLANKLINE>
    Parameters
    ----------
    X : (n, p) array or data frame
    <BLANKLINE>
    Returns
    -------
    y : (n,) array
    """

    def write(method: F) -> F:
        names = [name for name in inspect.signature(method).parameters if name != "self"]
        described = [(name, *(ARGUMENTS | other)[name].partition("\n")) for name in names]
        parameters = "\n".join(
            f"{name} : {kind}{end}{indent(dedent(text), '    ')}"
            for name, kind, end, text in described
        )
        method.__doc__ = (
            f"{fill(summary, 80)}\n\nParameters\n----------\n{parameters}\n\n"
            f"Returns\n-------\n{inspect.cleandoc(returns)}"
        )
        return method

    return write


class Entry(NamedTuple):
    """One or more names with their type (may be empty) and the indented text below them."""

    names: tuple[str, ...]
    kind: str
    text: str


SECTION = re.compile(r"\n(Parameters|Attributes)\n-+\n(.*?)(?=\n\n[A-Z]\w+\n-+\n|\Z)", re.DOTALL)
AS_IN = re.compile(r"\s*As in `(\w+)`\.\s*")


def entries(section: str) -> Iterator[Entry]:
    """What a section of a docstring describes."""
    for part in re.split(r"\n(?=\S)", section.strip("\n")):
        head, _, text = part.partition("\n")
        names, _, kind = head.partition(" : ")
        yield Entry(tuple(name.strip() for name in names.split(",")), kind, text)


def completed(*others: type) -> Callable[[C], C]:
    """A decorator of classes: entries of the docstring whose text is "As in `Other`." get the text
    that they have in the same section of that class, which is one of `others`.
    """
    known = {other.__name__: inspect.cleandoc(other.__doc__ or "") for other in others}

    def written(entry: Entry, title: str) -> Iterator[str]:
        found = AS_IN.fullmatch(entry.text)
        if not found:
            head = ", ".join(entry.names)
            head += f" : {entry.kind}" if entry.kind else ""
            yield f"{head}\n{entry.text}" if entry.text else head
            return
        for other in entries(dict(SECTION.findall(known[found[1]]))[title]):
            if shared := tuple(name for name in other.names if name in entry.names):
                yield from written(other._replace(names=shared), title)

    def section(found: re.Match[str]) -> str:
        title, text = found.groups()
        body = "\n".join(line for entry in entries(text) for line in written(entry, title))
        return f"\n{title}\n{'-' * len(title)}\n{body}"

    def complete(cls: C) -> C:
        cls.__doc__ = SECTION.sub(section, inspect.cleandoc(cls.__doc__ or ""))
        return cls

    return complete
