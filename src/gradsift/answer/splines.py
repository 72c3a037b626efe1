"""Smooth functions of one variable: natural cubic splines, split into a line and what bends."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gradsift.numerics.statistics import natural_splines
from gradsift.protocols import Array

MOST_KNOTS, ROWS_PER_KNOT = 8, 8
ENDS = (0.01, 0.99)  # quantiles between which knots lie: beyond, a natural spline is straight


@dataclass(frozen=True, eq=False)
class Spline:
    """The functions that a variable may enter an additive model by.

    The first one is the standardised value. The others bend; each is orthogonal to constants and
    lines at the samples, and the sum of squares of their coefficients is the integral of the
    squared second derivative. All have mean zero over the samples.

    Attributes
    ----------
    mean, scale : float
        Of the variable.
    knots : (K,) array
        In standard deviations from the mean; fewer than three leave the line alone.
    mix : (K - 2, K - 2) array
        From natural splines to bending functions.
    line : (2, K - 2) array
        Constant and slope that are taken off the bending functions.
    """

    mean: float
    scale: float
    knots: Array
    mix: Array
    line: Array

    @property
    def size(self) -> int:
        """Number of functions."""
        return 1 + self.mix.shape[1]

    def __call__(self, x: Array) -> Array:
        """The functions at values of the variable, (n, size)."""
        z = (x - self.mean) / self.scale
        if self.size == 1:
            return z[:, None]
        bent = natural_splines(z, self.knots) @ self.mix - self.line[0] - z[:, None] * self.line[1]
        return np.column_stack([z, bent])


def make_spline(x: Array, *, line: bool = False) -> Spline:
    """The spline functions of a variable from its values at the samples.

    Parameters
    ----------
    x : (n,) array
    line : bool
        Whether the line is all there is, without a bend.

    Returns
    -------
    spline : Spline

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=100)
    >>> basis = make_spline(x)(x)
    >>> basis.shape, bool(np.abs(basis.mean(axis=0)).max() < 1e-9)
    ((100, 7), True)
    >>> make_spline(np.array([0.0, 1.0, 1.0])).size  # two values: a line is all there is
    1
    """
    unit = float(np.abs(x).max()) or 1.0  # squares of values near 1e200 are beyond double precision
    mean, scale = unit * float((x / unit).mean()), unit * float((x / unit).std())
    scale = scale if scale > 0 else 1.0
    z = (x - mean) / scale
    knots = np.zeros(0) if line else place_knots(z)
    if len(knots) < 3:
        return Spline(mean, scale, knots, np.zeros((0, 0)), np.zeros((2, 0)))
    values, turns = np.linalg.eigh(roughness(knots))
    mix = turns[:, ::-1] / np.sqrt(values[::-1])
    taken_off = np.linalg.lstsq(
        np.column_stack([np.ones(len(z)), z]), natural_splines(z, knots) @ mix, rcond=None
    )[0]
    return Spline(mean, scale, knots, mix, taken_off)


def place_knots(z: Array) -> Array:
    """Quantiles of the samples, or the values themselves where there are few."""
    values = np.unique(z)
    count = int(np.clip(len(z) // ROWS_PER_KNOT, 3, MOST_KNOTS))
    if len(values) <= count:
        return values
    return np.unique(np.quantile(z, np.linspace(*ENDS, count)))


def roughness(knots: Array) -> Array:
    """Integrals of products of second derivatives of the natural splines, (K - 2, K - 2).

    Second derivatives are straight between knots, so Simpson's rule on each interval is exact.
    """
    middle = 0.5 * (knots[1:] + knots[:-1])
    width = np.diff(knots)
    at = np.concatenate([knots[:-1], middle, knots[1:]])
    weight = np.concatenate([width, 4 * width, width]) / 6
    hinge = 6 * np.maximum(at[:, None] - knots, 0.0)
    d = (hinge[:, :-1] - hinge[:, -1:]) / (knots[-1] - knots[:-1])
    curve = d[:, :-1] - d[:, -1:]
    return np.asarray((curve * weight[:, None]).T @ curve)
