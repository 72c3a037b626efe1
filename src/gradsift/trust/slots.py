"""Draws of several effects at once: blocked Gibbs sampling over slots.

The response is a sum of a few effects, one to a slot, and noise. A sweep draws every slot anew
given the others: empty or not, which candidate, which setting, which coefficients, all in one block
from `single_effects`. The draws are those of the exact posterior of the model. Many chains go side
by side, so that one matrix product serves all of them, and the probabilities of a slot given the
others are averaged instead of what was drawn (Rao-Blackwell).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gradsift._typing import Array, IntArray
from gradsift.trust.looks import EMPTY, Look, Looks
from gradsift.trust.single_effects import (
    Single,
    squared_scores,
    student_log_ratio,
    unit_log_ratio,
)


@dataclass
class Chains:
    """Where b chains are; rows are scaled by root weight."""

    residual: Single
    """(b, q, n) response less all fits."""
    fit: Single
    """(slots, b, q, n) what each slot explains."""
    used: Array
    """(slots, b) coefficients of each effect."""
    size: Array
    """(slots, b) sum of n b^2 / v over the coefficients b of each effect."""
    chosen: IntArray
    """(slots, b) candidate of each slot, or `EMPTY`."""
    powers: tuple[float, ...] = (1.0,)
    """Powers of the likelihood, each of as many chains, one after the other (`tempering`)."""

    @property
    def power(self) -> Array:
        """(b,) power of the likelihood of each chain."""
        return np.repeat(self.powers, self.residual.shape[0] // len(self.powers))

    def take(self, index: IntArray, powers: tuple[float, ...]) -> Chains:
        """Copies of some chains, in this order, at these powers."""
        return Chains(
            residual=self.residual[index],
            fit=self.fit[:, index],
            used=self.used[:, index],
            size=self.size[:, index],
            chosen=self.chosen[:, index],
            powers=powers,
        )


def start_chains(response: Array, fits: Sequence[Array]) -> Chains:
    """Chains for responses (b, q, n), every slot at a fit (b, q, n)."""
    fit = np.stack([np.asarray(f, dtype=np.float32) for f in fits])
    slots, b = fit.shape[:2]
    return Chains(
        residual=(response - fit.sum(axis=0)).astype(np.float32),
        fit=fit,
        used=np.zeros((slots, b)),
        size=np.zeros((slots, b)),
        chosen=np.full((slots, b), EMPTY, dtype=np.intp),
    )


@dataclass(frozen=True)
class Noise:
    """The noise of the response: of unit variance (labels), or of unknown variance (numbers)."""

    unit: bool
    dof: float = 0.0
    """Degrees of freedom of unknown noise: rows, less the coefficients that are always there."""

    def ratios(self, explained: Array, left: Array, dof: Array) -> Array:
        """log likelihood ratios (c, k, b), in place of what effects explain."""
        return (unit_log_ratio if self.unit else student_log_ratio)(explained, left, dof)

    def draw(self, left: Array, dof: Array, rng: np.random.Generator) -> Array:
        """Noise standard deviations (b,), given what is left of the response."""
        if self.unit:
            return np.ones(len(left))
        return np.sqrt(np.maximum(left, 0.0) / rng.chisquare(dof))


@dataclass(frozen=True)
class SlotPosterior:
    """A slot given the others, in each of b chains."""

    look: Look
    """The k candidates that it is drawn from, in every chain its own one included."""
    weights: Single
    """(k, b) probability of every candidate."""
    settings: Single
    """(c, k, b) the same by prior setting, up to a factor of each chain."""
    scores: Single
    """(features, k, b, q)"""
    left: Array
    """(b,) squared residual times the power of the likelihood, and what the size of the other
    coefficients tells about the noise.
    """
    dof: Array
    evidence: Array
    """(b,) odds that the slot is not empty."""


def slot_posterior(
    look: Look,
    noise: Noise,
    R: Single,
    used: Array,
    size: Array,
    powers: tuple[float, ...] = (1.0,),
) -> SlotPosterior:
    """The slot given residuals R (b, q, n) of the others, which use so many coefficients of such
    a size; `powers` of the likelihood as in `Chains`.
    """
    candidates, U = look.whole, look.scores(R)
    squares = squared_scores(U)
    each = len(R) // len(powers)
    power = np.repeat(powers, each)
    flat = R.reshape(len(R), -1)
    left = power * np.einsum("bi,bi->b", flat, flat, dtype=np.float64) + size
    dof = power * noise.dof + used
    levels = [(one, slice(i * each, (i + 1) * each)) for i, one in enumerate(powers)]
    w = np.concatenate([candidates.explained(squares[:, :, at], one) for one, at in levels], axis=2)
    w = noise.ratios(w, left, dof)
    for one, at in levels:
        w[:, :, at] += look.cost(one, at)
    top = w.max(axis=(0, 1))
    w -= top
    np.exp(w, out=w)
    weights = w.sum(axis=0)
    total = weights.sum(axis=0, dtype=np.float64)
    top = top.astype(np.float64)
    least = np.maximum(top, 0.0)  # of both, in logarithms, so that nothing overflows
    inside = candidates.odds * total * np.exp(top - least)
    nothing = (1.0 + candidates.odds * candidates.elsewhere) * np.exp(-least)
    weights *= (inside / (inside + nothing) / total).astype(np.float32)
    return SlotPosterior(look, weights, w, U, left, dof, inside / np.maximum(nothing, 1e-300))


def draw_slot(
    chains: Chains, i: int, looks: Looks, noise: Noise, rng: np.random.Generator
) -> SlotPosterior:
    """Draw slot i of every chain anew; what it was drawn from in the chains that count."""
    R = chains.residual + chains.fit[i]
    used = chains.used.sum(axis=0) - chains.used[i]
    size = chains.size.sum(axis=0) - chains.size[i]
    first = None
    for at, powers, look in looks_of(chains, i, looks, rng):
        found = slot_posterior(look, noise, R[at], used[at], size[at], powers)
        b = np.arange(len(R[at]))
        j = drawn(np.cumsum(found.weights, axis=0, dtype=np.float64), rng.random(len(b)))
        some = j < len(found.weights)
        j = np.where(some, j, 0)
        by_setting = np.cumsum(found.settings[:, j, b], axis=0, dtype=np.float64)
        c = np.minimum(drawn(by_setting, rng.random(len(b)) * by_setting[-1]), len(by_setting) - 1)
        fit, number, total = draw_effects(noise, found, j, c, chains.power[at], rng)
        fit[~some] = 0.0
        chains.fit[i, at] = fit
        chains.used[i, at], chains.size[i, at] = np.where(some, [number, total], 0.0)
        chains.chosen[i, at] = np.where(some, look.number(j), EMPTY)
        first = first or found
    chains.residual = R - chains.fit[i]
    assert first is not None
    return first


def looks_of(
    chains: Chains, i: int, looks: Looks, rng: np.random.Generator
) -> list[tuple[slice, tuple[float, ...], Look]]:
    """Which chains, of which powers, look at what: hotter ones at likely candidates only."""
    b, levels = len(chains.residual), len(chains.powers)
    if looks.complete or levels == 1:
        return [(slice(0, b), chains.powers, looks.look(chains.chosen[i], rng))]
    cold, hot = slice(0, b // levels), slice(b // levels, b)
    return [
        (cold, chains.powers[:1], looks.look(chains.chosen[i, cold], rng)),
        (hot, chains.powers[1:], looks.likely_look(b - b // levels)),
    ]


def drawn(cumulated: Array, at: Array) -> IntArray:
    """First places where cumulated probabilities (k, b) exceed `at` (b,); k where none does."""
    return np.asarray((cumulated <= at).sum(axis=0))


def draw_effects(
    noise: Noise,
    found: SlotPosterior,
    j: IntArray,
    c: IntArray,
    power: Array,
    rng: np.random.Generator,
) -> tuple[Single, Array, Array]:
    """Fits (b, q, n), numbers and sizes of coefficients of what is at places j of a look, in
    settings c.
    """
    candidates, chosen = found.look.whole, found.look.candidate(j)
    n, b = candidates.total, np.arange(len(j))
    v = candidates.prior.variance[c][:, candidates.part]  # (b, features)
    v = np.where(candidates.present[:, chosen].T, v, 0.0)
    k = power[:, None] * v / (1.0 + power[:, None] * v)
    U = found.scores[:, j, b].transpose(1, 0, 2).astype(np.float64)  # (b, features, q)
    explained = power * np.einsum("bf,bfq->b", k, U * U) / n
    s = noise.draw(found.left - explained, found.dof, rng)
    spread = np.sqrt(k / n) * (s / np.sqrt(power))[:, None]
    B = (k / n)[:, :, None] * U + spread[:, :, None] * rng.standard_normal(U.shape)
    size = n * np.einsum("bf,bfq->b", 1.0 / np.where(v > 0, v, np.inf), B * B)
    fit = B.transpose(0, 2, 1).astype(np.float32) @ candidates.Z[:, chosen].transpose(1, 0, 2)
    return fit, np.asarray((v > 0).sum(axis=1) * U.shape[2], dtype=float), size
