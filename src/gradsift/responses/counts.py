"""Counts: the negative binomial law with a log link, of which Poisson's is a limit.

Problem: y_i is a count of mean mu_i = exp(c + eta_i) and variance mu_i + a mu_i^2. The constant c
and the dispersion a are profiled out: the deviance is that of their best values at eta, and its
derivative in eta is that at fixed values, because it is flat in them. An exposure enters as the
offset log(exposure).

The dispersion is estimated even where counts follow Poisson's law: while a model still lacks some
effects, these make counts vary more than Poisson's law allows, and a likelihood with a = 0 would
take that for evidence of any column (1.3 false variables a table in place of .1).

References
----------
:cite:`lawless-1987`
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple, Self

import numpy as np
from scipy.special import gammaln, psi, zeta

from gradsift.data.responses import to_floats
from gradsift.protocols import Array, IntArray
from gradsift.responses.likelihood import Likelihood

STEPS = 60
"""Newton steps for constant and dispersion at most; eight are usual."""
TOL = 1e-7
"""Rounding: last step of both; the deviance is flat there."""
DISPERSIONS = (1e-5, 1e3)
"""Range of the dispersion: below it the law is Poisson's, and a thousand is a law of outliers."""
LARGEST_LOG = 60.0
"""Largest absolute logarithm of a mean."""


@dataclass(frozen=True)
class LogMean:
    """The part of counts that a fitted model keeps: means exp(constant + eta), and the dispersion.

    Attributes
    ----------
    constant : float
    dispersion : float
        a in the variance mu + a mu^2.
    """

    constant: float
    dispersion: float

    def predict(self, eta: Array) -> Array:
        """(n,) expected counts."""
        return np.asarray(np.exp(np.clip(self.constant + eta[:, 0], -LARGEST_LOG, LARGEST_LOG)))


class Law(NamedTuple):
    """The best law at some eta."""

    constant: float
    dispersion: float
    mean: Array
    """(n,)"""


def limited(value: float, least: float, most: float) -> float:
    """A number, or the nearest limit."""
    return float(min(max(value, least), most))


@dataclass(frozen=True, eq=False)
class Counts(Likelihood):
    """Counts of a negative binomial law.

    Examples
    --------
    >>> y = Counts.of(np.array([0, 2, 1, 9]))
    >>> bool(y.score(np.zeros((4, 1)), np.ones(4)).argmax() == 3)
    True
    """

    fallback: ClassVar[str] = "the mean count"

    @classmethod
    def of(cls, y: Array, weight: Array | None = None) -> Self:
        """The response of counts y (n,), checked; weights have no influence."""
        values = to_floats(y, "y")
        odd = (values < 0) | (values != np.round(values))
        if odd.any():
            raise ValueError(
                f"y holds {values[odd][0]:g}, which is no count: counts are 0, 1, 2, .... For "
                "rates, pass the counts as y and the time or area they refer to as exposure."
            )
        if np.ptp(values) == 0:
            raise ValueError(f"all {len(values)} counts are {values[0]:g}: nothing to explain.")
        return cls(values)

    @cached_property
    def distinct(self) -> tuple[Array, IntArray]:
        """The different counts, and which of them each row has."""
        return np.unique(self.y, return_inverse=True)

    @cached_property
    def last(self) -> dict[tuple[bytes, bytes], Law]:
        """The law at the last eta: its deviance, score and information follow each other."""
        return {}

    def law(self, eta: Array, weight: Array) -> Law:
        """The best constant and dispersion at eta."""
        key = (eta.tobytes(), weight.tobytes())
        if key not in self.last:
            law = self.best_law(eta, weight)
            self.last.clear()
            self.last[key] = law
        return self.last[key]

    def best_law(self, eta: Array, weight: Array) -> Law:
        """The best constant and dispersion at eta, by Newton steps in both. Their expected
        information has no common part, but the observed one has: steps without it converge slowly.
        """
        u = eta[:, 0] if self.offset is None else (eta + self.offset)[:, 0]
        top = u.max()
        c = float(np.log(weight @ self.y) - np.log(weight @ np.exp(u - top)) - top)
        mu = np.exp(np.clip(u + c, -LARGEST_LOG, LARGEST_LOG))
        excess = float(weight @ ((self.y - mu) ** 2 - mu) / (weight @ mu**2))
        least, most = np.log(DISPERSIONS)
        log_a = limited(np.log(max(excess, 1e-300)), least + 2.3, most - 2.3)
        for _ in range(STEPS):
            a = float(np.exp(log_a))
            thick = 1.0 + a * mu
            rest = weight * (self.y - mu) / thick
            rise, bend = rest.sum(), float((weight * mu / thick) @ ((1.0 + a * self.y) / thick))
            moved = log_a
            if abs(rise / bend) <= 0.1:  # residuals of a wrong constant are no dispersion
                slope, curve = self.slope(log_a, mu, weight)
                common = -a * float(rest @ (mu / thick))
                slope, curve = slope + common * rise / bend, curve + common**2 / bend
                step = -slope / curve if curve < 0.0 else np.sign(slope)
                moved = limited(log_a + limited(step, -1.0, 1.0), least, most)
                rise += common * (moved - log_a)
            along = limited(rise / bend, -2.0, 2.0)
            done = abs(moved - log_a) < TOL and abs(along) < TOL
            c, log_a = c + along, moved
            mu = np.exp(np.clip(u + c, -LARGEST_LOG, LARGEST_LOG))
            if done:
                break
        return Law(c, float(np.exp(log_a)), mu)

    def slope(self, log_a: float, mu: Array, weight: Array) -> tuple[float, float]:
        """First and second derivative of the log likelihood in the logarithm of the dispersion, at
        given means.
        """
        a = float(np.exp(log_a))
        counts, place = self.distinct
        often, thick = np.bincount(place, weight), 1.0 + a * mu
        gammas = often @ (psi(1.0 / a) - psi(counts + 1.0 / a)) + weight @ np.log1p(a * mu)
        bends = often @ (zeta(2.0, counts + 1.0 / a) - zeta(2.0, 1.0 / a))
        rest = (self.y - mu) / thick
        slope = gammas / a + weight @ rest
        curve = bends / a**2 - gammas / a + weight @ (mu / thick * (1.0 - a * rest))
        return float(slope), float(curve)

    def deviance(self, eta: Array, weight: Array) -> float:
        _, a, mu = self.law(eta, weight)
        counts, place = self.distinct
        gammas = (gammaln(counts + 1.0 / a) - gammaln(1.0 / a) + counts * np.log(a))[place]
        terms = gammas + self.y * np.log(mu) - (self.y + 1.0 / a) * np.log1p(a * mu)
        return float(-2.0 * weight @ terms)

    def score(self, eta: Array, weight: Array) -> Array:
        _, a, mu = self.law(eta, weight)
        return np.asarray((self.y - mu) / (1.0 + a * mu))[:, None]

    def information(self, eta: Array, weight: Array) -> Array:
        _, a, mu = self.law(eta, weight)
        return np.asarray(mu / (1.0 + a * mu))[:, None]

    def informative_rows(self, weight: Array) -> float:
        """The number of counted events, at most that of rows."""
        return float(min(weight @ self.y, weight.sum()))

    def curvature(self, D: Array, eta: Array, weight: Array) -> Array:
        """(m, m) the second derivative, the constant profiled out, at a given dispersion."""
        _, a, mu = self.law(eta, weight)
        w = weight * mu * (1.0 + a * self.y) / (1.0 + a * mu) ** 2
        sums = D.T @ w
        return np.asarray(D.T @ (w[:, None] * D) - np.outer(sums, sums) / w.sum())

    def link(self, eta: Array, weight: Array) -> LogMean:
        constant, a, _ = self.law(eta, weight)
        return LogMean(constant, a)
