"""What a variable does to the response: its curve, and the words that the curve bears out."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
from scipy.stats import norm

from gradsift.protocols import Array

Shape = Literal[
    "increasing", "decreasing", "U-shaped", "inverted U", "wavy", "through interactions", "unclear"
]

MINOR = 0.15  # a rise or fall smaller than this share of all of them is not worth a name
CLEAR = 2.5  # standard errors, somewhere along a rise, a fall or a bend, that show it is there
TURNED = 2.0  # standard errors of a further rise or fall beside one that is clear
PLACES = 7  # points of a rise or fall that are compared with each other
STRAIGHT = 0.15  # root mean square distance from the straight line, as a share of the curve's
OWN = 0.2  # below this share of its effect, a variable acts through others altogether
MIXED = 0.7  # below this one, its effect depends on others


@dataclass(frozen=True, eq=False)
class Curve:
    """How the response changes with one variable, the others held where they are.

    Attributes
    ----------
    x : (m,) array
        Values of the variable, increasing, over the middle 95 % of the samples.
    effect : (m,) array
        The response there less its mean, or the log odds of a class; others held fixed.
    covariance : (m, m) array
        Of the effect.
    quartiles : (float, float)
        Lower and upper quartile of the variable; where they are the same value, the ends of `x`.
    sd : float
        Standard deviation of the variable.
    samples : (k, 2) array, optional
        Values of the variable at some samples; beside them the effect plus what the model leaves
        unexplained (numbers), or whether the sample is of the class (1 or 0).
    """

    x: Array
    effect: Array
    covariance: Array
    quartiles: tuple[float, float]
    sd: float
    samples: Array | None = None

    @property
    def error(self) -> Array:
        """Standard errors of the effect."""
        return np.sqrt(np.diagonal(self.covariance).clip(0.0))

    def between(self, low: float, high: float) -> tuple[float, float]:
        """(change, standard error) from one value of the variable to another."""
        w = weights_at(self.x, high) - weights_at(self.x, low)
        return float(w @ self.effect), float(np.sqrt(max(float(w @ self.covariance @ w), 0.0)))


def weights_at(x: Array, at: float) -> Array:
    """Weights of the grid points whose sum is the value at a point between them."""
    place = np.interp(at, x, np.arange(len(x)))
    return np.maximum(0.0, 1.0 - np.abs(np.arange(len(x)) - place))


@dataclass(frozen=True, eq=False)
class Effect:
    """How the response changes with one variable. Words and figures all come from `curve`.

    Attributes
    ----------
    shape : str
        'increasing', 'decreasing', 'U-shaped', 'inverted U', 'wavy', 'through interactions' (others
        decide what it does) or 'unclear' (these samples show no rise and no fall).
    sign : {'+', '-', '±', '0'}
    bend : {'straight', 'curved', None}
        None where neither is shown.
    mixed : bool
        Whether other variables change its effect.
    size : float
        Standard deviation of what the variable does to the response, products included.
    curve : Curve
    above, below : float or None
        Values of the variable between which a rise or fall is shown, where it is not everywhere.
    alone : bool, default=False
        Whether the curve is that of the variable on its own, because nothing is clear beside the
        others.
    """

    shape: Shape
    sign: Literal["+", "-", "±", "0"]
    bend: Literal["straight", "curved"] | None
    mixed: bool
    size: float
    curve: Curve
    above: float | None = None
    below: float | None = None
    alone: bool = False

    @property
    def words(self) -> str:
        """The shape with what qualifies it, for people."""
        if self.shape == "unclear":
            return "not clear"
        if self.shape == "through interactions":
            return self.shape
        limits = {"above": self.above, "below": self.below}
        where = " and ".join(f"{k} {v:.3g}" for k, v in limits.items() if v is not None)
        shape = f"{self.shape} {where}" if where else self.shape
        if self.alone:
            return f"{shape} on its own"
        if self.mixed:
            return f"{shape}, depends on others"
        return f"{shape}, {self.bend}" if self.bend else shape

    @property
    def span(self) -> tuple[float, float]:
        """Values of the variable that `change` is between.

        Its quartiles, or the ends of the part where a rise or fall is shown.
        """
        if self.above is None and self.below is None:
            return self.curve.quartiles
        low, high = float(self.curve.x[0]), float(self.curve.x[-1])
        return (
            low if self.above is None else self.above,
            high if self.below is None else self.below,
        )

    @property
    def change(self) -> tuple[float, float, float]:
        """Change of the response over `span`, with its 95 % interval."""
        change, error = self.curve.between(*self.span)
        return change, change - 1.96 * error, change + 1.96 * error

    @property
    def per_unit(self) -> float:
        """The same change for one unit of the variable."""
        low, high = self.span
        return self.change[0] / (high - low) if high > low else 0.0

    @property
    def per_sd(self) -> float:
        """The same change for one standard deviation of the variable."""
        return self.per_unit * self.curve.sd

    @property
    def swing(self) -> float:
        """Distance from the lowest to the highest point of the curve."""
        return float(np.ptp(self.curve.effect))


def clear_errors(outputs: int) -> float:
    """Standard errors that show a rise or fall: more where several curves of a variable are judged.

    So the chance that noise makes one of them look clear is that of a single curve.

    Examples
    --------
    >>> clear_errors(1), round(clear_errors(3), 2)
    (2.5, 2.87)
    """
    return CLEAR if outputs == 1 else float(norm.isf(norm.sf(CLEAR) / outputs))


def turning_points(curve: Curve, clear: float = CLEAR) -> list[int]:
    """Grid points between which the curve rises or falls, as far as the samples show it.

    Starts from all local extremes and takes out the smallest rise or fall again and again, while
    it is minor beside the others or within noise. One point means that no rise and no fall is
    shown.
    """
    step = np.sign(np.diff(curve.effect))
    turns = np.flatnonzero(step[1:] * step[:-1] < 0) + 1
    points = sorted({0, *turns.tolist(), len(curve.x) - 1})  # of a constant variable, one
    while len(points) > 1:
        sizes = np.abs(np.diff(curve.effect[points]))
        scores = np.array([standard_errors(curve, a, b) for a, b in pairwise(points)])
        least = TURNED if scores.max() > clear else clear
        doubtful = (sizes < MINOR * sizes.sum()) | (scores <= least)
        if not doubtful.any():
            break
        run = int(np.where(doubtful, sizes, np.inf).argmin())
        del points[_without(run, len(points))]
    return points


def _without(run: int, count: int) -> slice:
    """The points that go with a run: an end, or the two turns between which it lies."""
    if run == 0:
        return slice(0, 1)
    return slice(count - 1, count) if run == count - 2 else slice(run, run + 2)


def standard_errors(curve: Curve, a: int, b: int) -> float:
    """By how many standard errors the curve rises or falls somewhere between two grid points.

    Any part of the way will do: far out, where samples are few, the errors are large.
    """
    points = np.unique(np.linspace(a, b, PLACES).round().astype(int))
    h, V = curve.effect[points], curve.covariance[np.ix_(points, points)]
    change = (h - h[:, None]) * np.sign(h[-1] - h[0])
    variance = np.diagonal(V) + np.diagonal(V)[:, None] - 2 * V
    later = np.triu_indices(len(points), 1)
    error = np.sqrt(np.maximum(variance[later], np.finfo(float).tiny))
    return float((change[later] / error).max())


def bend_of(curve: Curve) -> Literal["straight", "curved"] | None:
    """'straight' where the curve is close to a line, 'curved' where it shows that it is not.

    None where it shows neither; two values of a variable cannot.
    """
    if len(curve.x) < 3:
        return None
    x = curve.x - curve.x.mean()
    A = np.column_stack([np.ones(len(x)), x / (np.ptp(x) or 1.0)])
    off = np.eye(len(x)) - A @ np.linalg.pinv(A)
    distance = off @ curve.effect
    if np.sqrt(np.mean(distance**2)) <= STRAIGHT * float(curve.effect.std()):
        return "straight"
    error = np.sqrt(np.maximum(np.diagonal(off @ curve.covariance @ off), 0.0))
    return "curved" if (np.abs(distance) > CLEAR * error).any() else None


def describe_effect(
    curve: Curve, *, shared: float = 0.0, own: float = 1.0, outputs: int = 1
) -> Effect:
    """The words that a curve bears out.

    Parameters
    ----------
    curve : Curve
    shared : float, default=0
        Variance of the products that the variable takes part in; 0 where none is shown.
    own : float, default=1
        Variance of its own curve.
    outputs : int, default=1
        Number of curves that the variable has: one for each of several classes.

    Returns
    -------
    effect : Effect

    Examples
    --------
    >>> x = np.linspace(-1, 1, 41)
    >>> exact = np.zeros((41, 41))
    >>> describe_effect(Curve(x, x**2, exact, (-0.5, 0.5), 0.6)).shape
    'U-shaped'
    >>> describe_effect(Curve(x, np.exp(2 * x), exact, (-0.5, 0.5), 0.6)).words
    'increasing, curved'
    >>> describe_effect(Curve(x, 0.1 * x, np.eye(41), (-0.5, 0.5), 0.6)).words
    'not clear'
    """
    points = turning_points(curve, clear_errors(outputs))
    shape, sign = _shape_of((np.diff(curve.effect[points]) > 0).tolist())
    above, below = limits_of(curve, points) if sign in "+-" else (None, None)
    if sign in "+-" and above is None and below is None:
        middle, error = curve.between(*curve.quartiles)
        if middle * (1 if sign == "+" else -1) < 0:  # against what the ends say
            shape, sign = ("wavy", "±") if abs(middle) > TURNED * error else ("unclear", "0")
    if shared > 0 and (shape == "unclear" or own < OWN * (own + shared)):
        shape, sign, above, below = "through interactions", "±", None, None
    return Effect(
        shape,
        sign,
        bend_of(curve) if sign in "+-" and above is None and below is None else None,
        mixed=shared > 0 and own < MIXED * (own + shared),
        size=float(np.sqrt(own + shared)),
        curve=curve,
        above=above,
        below=below,
    )


def limits_of(curve: Curve, points: list[int]) -> tuple[float | None, float | None]:
    """Where a rise or fall begins and ends, if the curve does something else before or after."""
    first, last = points[0], points[-1]
    least = MINOR * float(np.ptp(curve.effect))
    return (
        float(curve.x[first]) if np.ptp(curve.effect[: first + 1]) > least else None,
        float(curve.x[last]) if np.ptp(curve.effect[last:]) > least else None,
    )


def _shape_of(rises: list[bool]) -> tuple[Shape, Literal["+", "-", "±", "0"]]:
    """A name for rises (True) and falls (False) from left to right."""
    if not rises:
        return "unclear", "0"
    if len(rises) == 1:
        return ("increasing", "+") if rises[0] else ("decreasing", "-")
    if len(rises) == 2:
        return ("inverted U" if rises[0] else "U-shaped"), "±"
    return "wavy", "±"
