"""What a variable does to the response, read off the gradient along it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from gradsift._typing import Array

Shape = Literal[
    "increasing", "decreasing", "U-shaped", "inverted U", "wavy", "through interactions", "flat"
]

MOST_BINS, PER_BIN = 12, 8
OWN = 0.2  # below this share of E g^2, what the variable does depends on others altogether
MIXED = 0.7  # below this one, it depends on others in part
MINOR = 0.15  # a rise or fall smaller than this share of all of them is not worth a name
STRAIGHT = 0.25  # the gradient's variation along the variable, relative to its mean


@dataclass(frozen=True)
class Effect:
    """How the response changes with one variable.

    Attributes
    ----------
    shape : str
        'increasing', 'decreasing', 'U-shaped', 'inverted U', 'wavy', 'through interactions' (its
        own mean effect cancels) or 'flat'.
    sign : {'+', '-', '±', '0'}
    straight : bool
        Whether the gradient is nearly constant along the variable.
    mixed : bool
        Whether the gradient also varies at a given value of the variable: other variables take
        part.
    own_share : float
        Share of the mean squared gradient that the variable's own value explains, 0 to 1.
    quantiles : (low, median, high)
        5, 50 and 95 % quantiles of the gradient over the samples, in the units of the table.
    """

    shape: Shape
    sign: Literal["+", "-", "±", "0"]
    straight: bool
    mixed: bool
    own_share: float
    quantiles: tuple[float, float, float]

    @property
    def words(self) -> str:
        """The shape with what qualifies it, for people."""
        if self.shape in ("increasing", "decreasing"):
            curve = "straight" if self.straight else "curved"
            return f"{self.shape}, {'depends on others' if self.mixed else curve}"
        if self.mixed and self.shape in ("U-shaped", "inverted U", "wavy"):
            return f"{self.shape}, depends on others"
        return self.shape


def mean_gradient(x: Array, g: Array) -> tuple[Array, Array, float]:
    """E[g | x] in groups of nearby samples.

    Groups are values where there are few of them (labels, genotypes), and equally many samples
    otherwise.

    Returns
    -------
    centres, means : (groups,) arrays
    own_share : float
        Share of the mean of g^2 that lies in E[g | x], corrected for the number of groups.
    """
    values, group = np.unique(x, return_inverse=True)
    if len(values) > MOST_BINS:
        count = int(np.clip(len(x) // PER_BIN, 2, MOST_BINS))
        rank = np.argsort(np.argsort(x, kind="stable"), kind="stable")
        group = rank * count // len(x)
    size = np.bincount(group)
    centres = np.bincount(group, weights=x) / size
    means = np.bincount(group, weights=g) / size
    # between the centres the curve is straight; what it leaves over is due to other variables
    left = ((g - np.interp(x, centres, means)) ** 2).sum() / max(len(x) - len(centres), 1)
    total = np.mean(g**2)
    return centres, means, 0.0 if total == 0.0 else float(np.clip(1.0 - left / total, 0.0, 1.0))


def runs(centres: Array, means: Array) -> list[float]:
    """Rises (> 0) and falls (< 0) of the integral of E[g | x], from left to right."""
    if len(centres) == 1:
        return [float(means[0])]
    grid = np.linspace(centres[0], centres[-1], 401)
    h = np.interp(grid, centres, means)
    step = 0.5 * (h[1:] + h[:-1])
    sign = np.sign(step)
    edges = np.flatnonzero(np.diff(sign)) + 1
    return [float(part.sum()) for part in np.split(step, edges) if part.any()]


def without_minor(parts: list[float]) -> list[float]:
    """Leave out small rises and falls, and join the neighbours they separated."""
    least = MINOR * sum(abs(p) for p in parts)
    kept: list[float] = []
    for part in parts:
        if abs(part) < least:
            continue
        if kept and (kept[-1] > 0) == (part > 0):
            kept[-1] += part
        else:
            kept.append(part)
    return kept


def describe_effect(x: Array, g: Array, *, floor: float = 0.0, alone: bool = False) -> Effect:
    """Sign, shape and size of one variable's effect.

    Parameters
    ----------
    x : (n,) array
        The variable.
    g : (n,) array
        The partial derivative along it at the same samples.
    floor : float, default=0
        A root mean square gradient up to this counts as flat.
    alone : bool, default=False
        Whether the variable is the only one the gradient depends on.

    Returns
    -------
    effect : Effect

    Examples
    --------
    >>> x = np.linspace(-1, 1, 100)
    >>> describe_effect(x, 2 * x).shape
    'U-shaped'
    >>> describe_effect(x, np.exp(x)).words
    'increasing, curved'
    """
    low, median, high = (float(q) for q in np.quantile(g, [0.05, 0.5, 0.95]))
    quantiles = (low, median, high)
    if np.sqrt(np.mean(g**2)) <= floor or not g.any():
        return Effect("flat", "0", True, False, 0.0, quantiles)
    centres, means, own = mean_gradient(x, g)
    own = 1.0 if alone else own
    if own < OWN:
        return Effect("through interactions", "±", False, True, own, quantiles)
    parts = without_minor(runs(centres, means))
    mixed = own < MIXED
    if len(parts) == 1:
        straight = float(np.std(means)) <= STRAIGHT * abs(float(np.mean(means)))
        if parts[0] > 0:
            return Effect("increasing", "+", straight, mixed, own, quantiles)
        return Effect("decreasing", "-", straight, mixed, own, quantiles)
    if len(parts) == 2:
        shape: Shape = "U-shaped" if parts[0] < 0 else "inverted U"
        return Effect(shape, "±", False, mixed, own, quantiles)
    return Effect("wavy", "±", False, mixed, own, quantiles)
