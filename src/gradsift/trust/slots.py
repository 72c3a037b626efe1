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
from gradsift.trust.single_effects import (
    Candidates,
    Single,
    squared_scores,
    student_log_ratio,
    unit_log_ratio,
)

EMPTY = -1


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
    candidates: Candidates,
    noise: Noise,
    R: Single,
    used: Array,
    size: Array,
    powers: tuple[float, ...] = (1.0,),
) -> SlotPosterior:
    """The slot given residuals R (b, q, n) of the others, which use so many coefficients of such
    a size; `powers` of the likelihood as in `Chains`.
    """
    U = candidates.scores(R)
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
        w[:, :, at] += candidates.cost(one)[:, :, None]
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
    return SlotPosterior(weights, w, U, left, dof, inside / np.maximum(nothing, 1e-300))


def draw_slot(
    chains: Chains, i: int, candidates: Candidates, noise: Noise, rng: np.random.Generator
) -> SlotPosterior:
    """Draw slot i of every chain anew; what it was drawn from."""
    R = chains.residual + chains.fit[i]
    used = chains.used.sum(axis=0) - chains.used[i]
    size = chains.size.sum(axis=0) - chains.size[i]
    found = slot_posterior(candidates, noise, R, used, size, chains.powers)
    b = np.arange(len(R))
    j = drawn(np.cumsum(found.weights, axis=0, dtype=np.float64), rng.random(len(R)))
    some = j < len(candidates)
    chosen = np.where(some, j, 0)
    by_setting = np.cumsum(found.settings[:, chosen, b], axis=0, dtype=np.float64)
    c = np.minimum(drawn(by_setting, rng.random(len(R)) * by_setting[-1]), len(by_setting) - 1)
    fit, used, size = draw_effects(candidates, noise, found, chosen, c, chains.power, rng)
    fit[~some] = 0.0
    chains.fit[i], chains.residual = fit, R - fit
    chains.used[i], chains.size[i] = np.where(some, used, 0.0), np.where(some, size, 0.0)
    chains.chosen[i] = np.where(some, j, EMPTY)
    return found


def drawn(cumulated: Array, at: Array) -> IntArray:
    """First places where cumulated probabilities (k, b) exceed `at` (b,); k where none does."""
    return np.asarray((cumulated <= at).sum(axis=0))


def draw_effects(
    candidates: Candidates,
    noise: Noise,
    found: SlotPosterior,
    j: IntArray,
    c: IntArray,
    power: Array,
    rng: np.random.Generator,
) -> tuple[Single, Array, Array]:
    """Fits (b, q, n), numbers and sizes of coefficients of candidates j in settings c."""
    n, b = candidates.total, np.arange(len(j))
    v = candidates.prior.variance[c][:, candidates.part]  # (b, features)
    v = np.where(candidates.present[:, j].T, v, 0.0)
    k = power[:, None] * v / (1.0 + power[:, None] * v)
    U = found.scores[:, j, b].transpose(1, 0, 2).astype(np.float64)  # (b, features, q)
    explained = power * np.einsum("bf,bfq->b", k, U * U) / n
    s = noise.draw(found.left - explained, found.dof, rng)
    spread = np.sqrt(k / n) * (s / np.sqrt(power))[:, None]
    B = (k / n)[:, :, None] * U + spread[:, :, None] * rng.standard_normal(U.shape)
    size = n * np.einsum("bf,bfq->b", 1.0 / np.where(v > 0, v, np.inf), B * B)
    fit = B.transpose(0, 2, 1).astype(np.float32) @ candidates.Z[:, j].transpose(1, 0, 2)
    return fit, np.asarray((v > 0).sum(axis=1) * U.shape[2], dtype=float), size
