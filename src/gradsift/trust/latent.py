"""Labels as signs of a latent response with unit noise (probit), drawn anew in every sweep.

Two classes: the label says on which side of zero z = a + f(x) + e lies. Several: every class has a
z, and the label is the largest. Given the effects, z is a truncated normal; given z, effects are
those of a response of numbers with known noise (Albert and Chib, 1993). So a perfect fit of n
labels is worth what they hold, at most n log 2 for two classes, and not infinitely much.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, reduce

import numpy as np
from scipy.special import log_ndtr, ndtr, ndtri_exp, softmax

from gradsift._typing import Array, IntArray
from gradsift.sift.rows import Rows
from gradsift.trust.exchange import among_likely, exchange, exchange_any
from gradsift.trust.looks import Looks, outside
from gradsift.trust.single_effects import Candidates
from gradsift.trust.slots import Chains, Noise
from gradsift.trust.tempering import swapped

INNER_STEPS = 4
"""Gibbs steps for the z of several classes, after which they have forgotten the effects before."""
QUADRATURE = 10
"""Points of the integral over the z of the largest class."""


@cache
def quadrature() -> tuple[Array, Array]:
    """Points and weights of the integral over a standard normal."""
    at, weight = np.polynomial.hermite_e.hermegauss(QUADRATURE)
    return at, weight / np.sqrt(2 * np.pi)


@cache
def class_basis(n_classes: int) -> Array:
    """(C, C - 1) orthonormal columns that sum to zero; for two classes (-1, 1) in place of them,
    so that one z with unit noise tells which class it is.
    """
    if n_classes == 2:
        return np.array([[-1.0], [1.0]])
    full = np.linalg.qr(np.column_stack([np.ones(n_classes), np.eye(n_classes)[:, 1:]]))[0]
    return np.asarray(full[:, 1:])


def above_zero(mean: Array, rng: np.random.Generator) -> Array:
    """Draws of e ~ N(0, 1) given mean + e > 0."""
    return np.asarray(-ndtri_exp(np.log(1.0 - rng.random(mean.shape)) + log_ndtr(mean)))


def log_density(x: Array) -> Array:
    """Logarithm of the density of the standard normal."""
    return np.asarray(-(x**2) / 2 - np.log(2 * np.pi) / 2)


TABLE_ENDS, TABLE_STEP = (-14.0, 8.0), 1 / 64
TABLE = log_ndtr(np.arange(TABLE_ENDS[0], TABLE_ENDS[1] + 2 * TABLE_STEP, TABLE_STEP))
STEPS = np.diff(TABLE).astype(np.float32)
TABLE = TABLE.astype(np.float32)


def log_ndtr_table(x: Array) -> Array:
    """log Phi(x) for single precision, interpolated: right to 4e-5, and ten times as fast; below
    -14 it stays what it is there.
    """
    at = np.clip(x, *TABLE_ENDS)
    at -= np.float32(TABLE_ENDS[0])
    at *= np.float32(1 / TABLE_STEP)
    place = at.astype(np.intp)
    at -= place
    return np.asarray(TABLE[place] + STEPS[place] * at)


def all_above(ahead: Array) -> Array:
    """Probability that e_0 + ahead_c > e_c for all c, of independent standard normals; `ahead`
    (C - 1, ...).
    """
    total = np.zeros(ahead[0].shape)
    for e, w in zip(*quadrature(), strict=True):
        total += w * reduce(np.multiply, ndtr(ahead + e))
    return total


def all_above_slopes(ahead: Array) -> Array:
    """Slopes (C - 1, ...) of the logarithm of `all_above` in its arguments.

    The points of the integral are moved to where labels that are far off have their z, so that
    slopes are right however improbable the label is.
    """
    at, weight = quadrature()
    move = np.maximum(-ahead.min(axis=0) / 2, 0.0)
    each = [log_ndtr(ahead + move + e) for e in at]
    log_parts = np.stack(
        [one.sum(axis=0) + np.log(w) - move * e for one, e, w in zip(each, at, weight, strict=True)]
    )
    parts = softmax(log_parts, axis=0)
    hazards = (
        part * np.exp(log_density(ahead + move + e) - one)
        for part, one, e in zip(parts, each, at, strict=True)
    )
    return np.asarray(sum(hazards))


def effects_of(chains: Chains) -> Array:
    """Sum of all effects (b, q, n), rows scaled."""
    return np.asarray(chains.fit.sum(axis=0, dtype=np.float64))


@dataclass(frozen=True)
class LatentLabels:
    """Labels of n rows (class numbers) with the weights of the rows."""

    codes: IntArray
    n_classes: int
    rows: Rows
    kept: Array
    """(m, n) orthonormal features of columns that always act, rows scaled by root weight."""

    @property
    def noise(self) -> Noise:
        return Noise(unit=True)

    @property
    def weight(self) -> Array | float:
        return 1.0 if self.rows.weight is None else self.rows.weight

    @property
    def start(self) -> Array:
        """(n, q) a response that agrees with the labels, rows scaled by root weight."""
        Y = class_basis(self.n_classes)[self.codes]
        return np.asarray((Y - self.rows.mean(Y)) * np.reshape(self.rows.root, (-1, 1)))

    def redraw(
        self, chains: Chains, slots: Sequence[Looks], turn: int, rng: np.random.Generator
    ) -> Chains:
        """Draw what always acts given z; swap powers and exchange columns given the labels; draw z
        given all.
        """
        root, scale = self.rows.root, np.sqrt(chains.power)[:, None, None]
        z = (chains.residual + effects_of(chains)) / root  # (b, q, n)
        always = self.draw_always(chains.residual * scale, rng) / scale
        if len(chains.powers) > 1:
            mean = effects_of(chains) / root + always
            order = swapped(
                lambda power: self.log_likelihood(mean * np.sqrt(power)[:, None, None]),
                chains.powers,
                turn,
                rng.random(len(mean)),
                outside(chains.chosen, slots),
            )
            chains, always, z = chains.take(order, chains.powers), always[order], z[order]
        self.exchange(chains, slots, always, rng)
        mean = np.asarray((effects_of(chains) / root + always) * scale)
        new = self.draw_latent(mean, z * scale, rng)
        chains.residual = (new / scale * root - effects_of(chains)).astype(np.float32)
        return chains

    def exchange(
        self, chains: Chains, slots: Sequence[Looks], always: Array, rng: np.random.Generator
    ) -> None:
        """Exchange the columns of all slots, given the labels."""
        root, scale = self.rows.root, np.sqrt(chains.power)[:, None, None]
        if self.n_classes == 2:
            likelihoods = self.likelihoods(always, scale)
        else:
            now = self.log_likelihood((effects_of(chains) / root + always) * scale)

        def log_likelihood(some: IntArray, effects: Array) -> Array:
            return self.log_likelihood((effects / root + always[some]) * scale[some])

        for i, looks in enumerate(slots):

            def move(candidates: Candidates, i: int = i) -> None:
                if self.n_classes == 2:
                    exchange_any(chains, i, candidates, likelihoods, rng)
                else:
                    exchange(chains, i, candidates, log_likelihood, now, rng)

            among_likely(chains, i, looks, move)

    def likelihoods(self, always: Array, scale: Array) -> Callable[[IntArray, Array], Array]:
        """log probability (s, m) of labels of two classes for effects (s, m, n) of some chains."""
        sign = scale * (2.0 * self.codes - 1.0)
        unit = (sign / self.rows.root).astype(np.float32)
        start = (sign * always).astype(np.float32)

        def log_likelihood(some: IntArray, effects: Array) -> Array:
            chance = log_ndtr_table(effects * unit[some] + start[some])
            return np.asarray((chance * self.weight).sum(axis=2, dtype=np.float64))

        return log_likelihood

    def draw_always(self, rest: Array, rng: np.random.Generator) -> Array:
        """Intercept and kept columns (b, q, n) given z less the effects, rows scaled; their
        coefficients have a flat prior.
        """
        root, total = np.ones(rest.shape[2]) * self.rows.root, self.rows.total
        basis = np.vstack([root, self.kept])
        B = rest @ basis.T / total
        B += rng.standard_normal(B.shape) / np.sqrt(total)
        return np.asarray(B @ basis / root)

    def log_likelihood(self, mean: Array) -> Array:
        """(b,) log probability of the labels for means of z (b, q, n)."""
        if self.n_classes == 2:
            return (log_ndtr(mean[:, 0] * (2.0 * self.codes - 1.0)) * self.weight).sum(axis=1)
        log_chance = np.log(np.maximum(all_above(self.ahead(mean)), 1e-300))
        return np.asarray((log_chance * self.weight).sum(axis=1))

    @property
    def rivals(self) -> IntArray:
        """(C - 1, n) the classes that are not the label."""
        C = self.n_classes
        return np.asarray((self.codes + np.arange(1, C)[:, None]) % C)

    def ahead(self, mean: Array) -> Array:
        """(C - 1, b, n) by how much the mean of the label's z is above those of its rivals."""
        M = np.einsum("cq,bqn->bcn", class_basis(self.n_classes), mean)
        rows = np.arange(len(self.codes))
        return np.asarray(M[:, self.codes, rows] - M[:, self.rivals, rows].transpose(1, 0, 2))

    def draw_latent(self, mean: Array, z: Array, rng: np.random.Generator) -> Array:
        """z given its means (b, q, n), and where it was before; a row of weight w has the mean of w
        draws (exact in its first two moments).
        """
        if self.n_classes == 2:
            z = self.draw_two(mean, rng)
        else:
            for _ in range(INNER_STEPS):
                z = self.draw_several(mean, z, rng)
        if np.ndim(self.weight) == 0:
            return z
        centre = mean + self.expected(mean)
        return np.asarray(centre + (z - centre) / np.sqrt(self.weight))

    def expected(self, mean: Array) -> Array:
        """(b, q, n) expected z less its mean, which is the slope of the log probability of the
        label in that mean (a normal distribution cut off anywhere has this property).
        """
        if self.n_classes == 2:
            sign = 2.0 * self.codes - 1.0
            return np.asarray(sign * np.exp(log_density(mean) - log_ndtr(sign * mean)))
        slopes = all_above_slopes(self.ahead(mean))
        basis = class_basis(self.n_classes)
        own, rivals = basis[self.codes].T, basis[self.rivals].transpose(0, 2, 1)
        return np.asarray(sum(s[:, None] * (own - r) for s, r in zip(slopes, rivals, strict=True)))

    def draw_two(self, mean: Array, rng: np.random.Generator) -> Array:
        sign = 2.0 * self.codes - 1.0
        return np.asarray(mean + sign * above_zero(sign * mean, rng))

    def draw_several(self, mean: Array, z: Array, rng: np.random.Generator) -> Array:
        """A Gibbs step for the z of all classes. What they have in common, of which labels say
        nothing, is drawn anew from N(0, 1).
        """
        basis, rows = class_basis(self.n_classes), np.arange(len(self.codes))
        M = np.einsum("cq,bqn->bcn", basis, mean)
        common = rng.standard_normal((len(z), 1, len(rows))) / np.sqrt(self.n_classes)
        Z = np.einsum("cq,bqn->bcn", basis, z) + common
        own = self.codes
        top = Z[:, own, rows][:, None]
        below = M - above_zero(top - M, rng)
        below[:, own, rows] = -np.inf
        rival = below.max(axis=1)
        mine = M[:, own, rows]
        below[:, own, rows] = mine + above_zero(mine - rival, rng)
        return np.einsum("cq,bcn->bqn", basis, below)
