"""Responses: what is explained, as every step of a fit sees it."""

from gradsift.responses.base import Response
from gradsift.responses.labels import Labels, class_contrasts
from gradsift.responses.likelihood import Likelihood, Link
from gradsift.responses.numbers import Numbers

__all__ = ["Labels", "Likelihood", "Link", "Numbers", "Response", "class_contrasts"]
