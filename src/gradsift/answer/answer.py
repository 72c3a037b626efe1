"""The answer of a fitted model, and its forms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any

from gradsift._run.extras import require
from gradsift.answer import words
from gradsift.answer.console import to_console
from gradsift.answer.page import first_screen, page
from gradsift.answer.results import AnswerData

FRAME = (
    "finding", "confidence", "certainty", "members", "partner", "used", "outcome", "given", "shape",
    "from", "to", "before", "after", "size", "low", "high", "scale", "alone",
)  # fmt: skip
"""Columns of the data frame and of findings.csv."""


@dataclass(frozen=True)
class Answer(AnswerData):
    """What was found: findings, what they do, how well it predicts. All forms show the same.

    From `gradsift.explain`, or `answer_` of a model fitted with ``inference=True``.

    Parameters
    ----------
    target : str
    classes : tuple of str
        Empty for numbers.
    rows, variables : int
        Of the table; categories count once, covariates and columns that never change do not.
    findings : tuple of Finding
        The most certain first, then the largest.
    selected : tuple of str
        Variables that the model predicts with, best first.
    adjusted_for : tuple of str
        Covariates, and columns that are always kept.
    adjusted : bool
        Whether effects are given the other findings, or each variable alone.
    prediction : Prediction or None
    directions : tuple of Direction
    risk_groups : tuple of RiskGroup
        Thirds of the rows by their risk, of survival times.
    notes : tuple of Note
    sheets : tuple of Sheet
    source : str
        The file.
    made : tuple of (str, str)
        How it was made, as pairs of what and value.
    outcomes : tuple of str
        Names of several outcomes; empty for one.

    Examples
    --------
    >>> import numpy as np
    >>> from gradsift import GradientSiftRegressor
    >>> X = np.random.default_rng(0).normal(size=(120, 5))
    >>> model = GradientSiftRegressor(inference=True).fit(X, X[:, 2] + X[:, 4] ** 2)
    >>> print(model.answer_.headline)
    x2 and x4 go with y.
    >>> model.answer_.to_frame()[["finding", "certainty", "shape"]].to_numpy().tolist()
    [['x2', 'clear', 'rises'], ['x4', 'clear', 'U-shaped']]
    """

    @property
    def headline(self) -> str:
        """The answer in one sentence."""
        return words.headline(self)

    def to_console(self, width: int = 80, *, details: bool = False) -> str:
        """At most 20 lines of plain text; with `details`, everything."""
        return to_console(self, width, details=details)

    def to_html(self) -> str:
        """One HTML page that needs no other file."""
        return page(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain data that JSON can hold: nan and infinity become None."""
        return dict(as_json({"headline": self.headline, **asdict(self)}))

    def records(self) -> Iterator[tuple[Any, ...]]:
        """Rows of the data frame: one for each comparison, so two for a pair."""
        for f in self.findings:
            members = "; ".join(m.name for m in f.members)
            for e in (f.effect, *f.others):
                for c in e.comparisons:
                    yield (
                        f.name, f.confidence, f.certainty, members, f.partner, f.used, e.outcome,
                        c.given, c.shape, c.start, c.end, c.before, c.after, c.size.value,
                        c.size.low, c.size.high, e.scale, f.alone,
                    )  # fmt: skip

    def to_frame(self) -> Any:
        """A pandas data frame with a row for each comparison: the effect of a finding on the
        response, or on each class or outcome, at two values of the partner if it is a pair.
        """
        pandas = require("pandas", "genomics", "a data frame")
        return pandas.DataFrame(list(self.records()), columns=list(FRAME))

    def __str__(self) -> str:
        return self.to_console()

    def _repr_html_(self) -> str:
        return first_screen(self)


def as_json(value: Any) -> Any:
    """The same with lists for tuples, and None for numbers that JSON does not have."""
    if isinstance(value, dict):
        return {k: as_json(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(v) for v in value]
    return None if isinstance(value, float) and not isfinite(value) else value
