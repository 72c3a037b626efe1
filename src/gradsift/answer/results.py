"""What an answer consists of: findings with their effects, scores and notes, as frozen data.

All forms of an answer (console, page, data frame, JSON) are made of these and compute nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, log
from typing import Literal

from gradsift.inference.findings import certainty

Shape = Literal["rises", "falls", "U-shaped", "inverted U", "differs", "unclear"]
Certainty = Literal["clear", "likely", "possible", "selected"]
Scale = Literal["number", "probability", "rate", "hazard"]
"""What is predicted; changes of the last two are ratios, of the others differences."""
MOST_SHOWN = 0.99
"""Largest confidence that is shown as a number: beyond, all are alike."""
NEAR_NAME = 12
"""Longest name of a second member that stands in the name of a finding."""


@dataclass(frozen=True)
class Estimate:
    """A number with its 95 % interval."""

    value: float
    low: float
    high: float

    def excludes(self, value: float) -> bool:
        """Whether a value is outside of the interval."""
        return self.low > value or self.high < value


@dataclass(frozen=True)
class Level:
    """A value or range of values of a variable, the prediction there, and the share of the rows
    (nan where it is not known).
    """

    label: str
    mean: Estimate
    share: float = float("nan")


@dataclass(frozen=True)
class Line:
    """Predictions along a variable; `label` says at which value of its partner."""

    label: str
    x: tuple[float, ...]
    y: tuple[Estimate, ...]


@dataclass(frozen=True)
class Comparison:
    """Predictions at two values of a variable, and their difference.

    Attributes
    ----------
    start, end : str
        The two values: the means of the lower and the upper quarter of the rows, two categories,
        or the middle half and the outer quarters.
    before, after : float
        Predictions there.
    size : Estimate
        The difference; of rates and hazards, the ratio.
    shape : str
        The word for it; 'unclear' where the interval holds no change.
    given : str
        The value of the partner, in a pair.
    is_ratio : bool
        Whether the size is a ratio, so that 1 is no change.
    """

    start: str
    end: str
    before: float
    after: float
    size: Estimate
    shape: Shape
    given: str = ""
    is_ratio: bool = False

    @property
    def strength(self) -> float:
        """The size without its sign; of a ratio its logarithm."""
        return abs(log(self.size.value)) if self.is_ratio else abs(self.size.value)


@dataclass(frozen=True)
class Effect:
    """What a finding does to the response, by the additive model.

    Attributes
    ----------
    outcome : str
        The class whose probability it is about, or which of several outcomes; '' where the response
        is one number.
    comparisons : tuple of Comparison
        One; of a pair two, the effect of the first variable at two values of the second.
    levels : tuple of Level
        Predictions at categories, at single values, or in parts of the rows.
    lines : tuple of Line
        Curves of numbers, none of categories; two of a pair.
    spread : tuple of float
        How the rows lie along the curve, the fullest bin 1.
    scale : str
        'number', 'probability', 'rate' (expected counts), or 'hazard' (relative to the average).
    unit : float
        What sizes are compared in: the standard deviation of each of several outcomes.
    """

    outcome: str
    comparisons: tuple[Comparison, ...]
    levels: tuple[Level, ...]
    lines: tuple[Line, ...] = ()
    spread: tuple[float, ...] = ()
    scale: Scale = "number"
    unit: float = 1.0

    @property
    def is_clear(self) -> bool:
        """Whether some interval excludes zero."""
        return any(c.shape != "unclear" for c in self.comparisons)

    @property
    def largest(self) -> float:
        """The largest size in its unit, without its sign."""
        return max(c.strength for c in self.comparisons) / self.unit


@dataclass(frozen=True)
class Member:
    """A variable that may be the one that acts, and how sure that is."""

    name: str
    confidence: float | None


@dataclass(frozen=True)
class Finding:
    """A variable, or a set of variables of which one acts; or a pair that acts together.

    Attributes
    ----------
    members : tuple of Member
        That of the largest confidence first; the effect is that of the first.
    confidence : float or None
        Probability that one of them acts; None where it was not computed.
    effect : Effect
        On the response, or on the class or outcome that it changes most.
    others : tuple of Effect
        On further classes or outcomes.
    alone : bool
        Whether the effect is that of the variable alone, because it is not clear given the others.
    partner : str
        The second variable of a pair, '' where there is none.
    within : str
        The pair that this variable also acts in: its own effect is then an average.
    used : str
        What the fitted model predicts with: a member, or a near-copy of one; '' = neither.
    """

    members: tuple[Member, ...]
    confidence: float | None
    effect: Effect
    others: tuple[Effect, ...] = ()
    alone: bool = False
    partner: str = ""
    within: str = ""
    used: str = ""

    @property
    def certainty(self) -> Certainty:
        """The word for the confidence; 'selected' where there is none."""
        if self.confidence is None:
            return "selected"
        word = certainty(self.confidence)
        return "clear" if word == "clear" else "likely" if word == "likely" else "possible"

    @property
    def name(self) -> str:
        """The variable, 'a (or b)' or 'a (or 4 others)'; of a pair, that of the first variable
        and '× b'.
        """
        name, *rest = (m.name for m in self.members)
        if len(rest) == 1:
            name = f"{name} (or {rest[0] if len(rest[0]) <= NEAR_NAME else '1 other'})"
        elif rest:
            name = f"{name} (or {len(rest)} others)"
        return f"{name} × {self.partner}" if self.partner else name


@dataclass(frozen=True)
class Score:
    """What one way to predict reaches on held-out rows: mean and standard deviation over folds."""

    name: str
    mean: float
    spread: float


@dataclass(frozen=True)
class Prediction:
    """Scores of the model, and of what it must be compared with.

    Attributes
    ----------
    metric : str
        'R²' or 'accuracy'.
    score : Score
        Of the selected variables alone.
    others : tuple of Score
        Of other models on all columns, of covariates alone, and of a constant.
    where : str
        On which rows, such as '5 held-out folds'.
    is_constant : bool
        Whether the model predicts no better than a constant does.
    advice : str
        What to use for predicting instead, where that is clearly better; '' otherwise.
    outcomes : tuple of Score
        Of the model for each of several outcomes; `score` is their mean.
    """

    metric: str
    score: Score
    others: tuple[Score, ...]
    where: str
    is_constant: bool = False
    advice: str = ""
    outcomes: tuple[Score, ...] = ()


@dataclass(frozen=True)
class Note:
    """Something a reader should know. A caution may change what they do, and says what to do; a
    decision was made for them when the data were read, and names the option that changes it.
    """

    text: str
    caution: bool = False
    decision: bool = False


@dataclass(frozen=True)
class Direction:
    """A combination of variables along which the response changes: its share of the squared
    gradient, and weights of standardised variables, the largest first.
    """

    share: float
    weights: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class RiskGroup:
    """Rows of similar predicted risk: the share without an event by time (Kaplan-Meier), as steps
    (time, share), and the rows at risk at some times.
    """

    label: str
    steps: tuple[tuple[float, float], ...]
    at_risk: tuple[tuple[float, int], ...]

    @property
    def median(self) -> float:
        """The time by which half had the event; infinite where fewer did."""
        return next((t for t, share in self.steps if share <= 0.5), inf)


@dataclass(frozen=True)
class Sheet:
    """A table for statisticians that was asked for: tests, half samples, associations."""

    title: str
    text: str
    head: tuple[str, ...]
    rows: tuple[tuple[str | float, ...], ...]


@dataclass(frozen=True)
class AnswerData:
    """What was found, as data; for its attributes see `Answer`."""

    target: str
    classes: tuple[str, ...]
    rows: int
    variables: int
    findings: tuple[Finding, ...]
    selected: tuple[str, ...] = ()
    adjusted_for: tuple[str, ...] = ()
    adjusted: bool = True
    prediction: Prediction | None = None
    directions: tuple[Direction, ...] = ()
    risk_groups: tuple[RiskGroup, ...] = ()
    notes: tuple[Note, ...] = ()
    sheets: tuple[Sheet, ...] = ()
    source: str = ""
    made: tuple[tuple[str, str], ...] = ()
    outcomes: tuple[str, ...] = ()

    def of(self, *words: Certainty) -> tuple[Finding, ...]:
        """Findings of these certainties."""
        return tuple(f for f in self.findings if f.certainty in words)

    @property
    def scale(self) -> Scale:
        """What is predicted, the same for all findings."""
        return self.findings[0].effect.scale if self.findings else "number"

    @property
    def has_confidence(self) -> bool:
        return all(f.confidence is not None for f in self.findings)

    @property
    def also_used(self) -> tuple[str, ...]:
        """Variables that the model predicts with and that are in no finding."""
        known = {m.name for f in self.findings for m in f.members}
        known |= {f.partner for f in self.findings} | {f.used for f in self.findings}
        return tuple(name for name in self.selected if name not in known)

    @property
    def others(self) -> int:
        """Variables that are in no finding and that the model does not predict with."""
        known = {m.name for f in self.findings for m in f.members}
        known |= {f.partner for f in self.findings if f.partner} | set(self.selected)
        return max(self.variables - len(known), 0)
