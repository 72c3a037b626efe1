"""Responses: numbers, labels, and anything with a likelihood, behind one protocol.

`Response` is what every step of a fit needs of a response; `Numbers`, `Labels` and the subclasses
of `Likelihood` are its kinds.
"""

from gradsift.responses.base import Response
from gradsift.responses.counts import Counts
from gradsift.responses.labels import Labels, class_contrasts
from gradsift.responses.likelihood import Likelihood, Link
from gradsift.responses.numbers import Numbers
from gradsift.responses.ordinal import Ordinal
from gradsift.responses.survival import Survival

__all__ = [
    "Counts",
    "Labels",
    "Likelihood",
    "Link",
    "Numbers",
    "Ordinal",
    "Response",
    "Survival",
    "class_contrasts",
]
