"""Large pools: every draw of a slot looks at the likely candidates and, by chance, at a few others.

A slot of a chain is drawn from a set T: nothing, every candidate j with a probability s_j (one for
the likely ones), and what the slot holds. What is held is in T anyway, so that T comes 1 / s_j
times as often from j as by chance alone. So j counts 1 / s_j times as much in T, and the draws are
those of the posterior over all candidates, at the price of a part of them. Hotter chains
(`tempering`) look at the likely candidates only, and chains that hold others do not swap with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from gradsift._typing import Array, IntArray
from gradsift.trust.single_effects import Candidates, Single

EMPTY = -1
"""What a slot holds that holds no candidate."""


@dataclass(frozen=True)
class Look:
    """What a slot is drawn from in b chains: some candidates, and in each chain its own."""

    whole: Candidates
    index: IntArray
    """(k,) candidates that all chains are drawn from."""
    rise: Single | None
    """(all candidates,) - log of the probability of each to come; None: all came, in order."""
    held: IntArray
    """(b,) what the slot holds, where it is none of them; `EMPTY` elsewhere."""
    numbers: IntArray | None = None
    """(all candidates,) their numbers in a larger set, where they are a part of one."""

    def scores(self, R: Single) -> Single:
        """Z r for residuals R (b, q, n): (features, k + 1, b, q), the last of what is held; without
        it where all came.
        """
        if self.rise is None:
            return self.whole.scores(R)
        (b, q, n), Z = R.shape, self.whole.Z
        along = Z[:, self.index].reshape(-1, n) @ R.reshape(-1, n).T
        own = np.einsum("fbn,bqn->fbq", Z[:, np.maximum(self.held, 0)], R)
        return np.concatenate([along.reshape(len(Z), -1, b, q), own[:, None]], axis=1)

    def cost(self, power: float, chains: slice) -> Single:
        """(c, k + 1, b) what `Candidates.cost` says, in some chains at one power of the likelihood;
        (c, k, 1) where all came.
        """
        cost = self.whole.cost(power)
        if self.rise is None:
            return cost[:, :, None]
        cost = cost + self.rise
        shared, held = cost[:, self.index], self.held[chains]
        out = np.empty((len(cost), shared.shape[1] + 1, len(held)), dtype=np.float32)
        out[:, :-1] = shared[:, :, None]
        out[:, -1] = np.where(held == EMPTY, -np.inf, cost[:, held])
        return out

    def candidate(self, place: IntArray) -> IntArray:
        """(b,) candidates at places (b,) of what was drawn from; `EMPTY` beyond the last."""
        known = np.append(self.index, EMPTY)[np.minimum(place, len(self.index))]
        return np.where(place == len(self.index), self.held, known)

    def number(self, place: IntArray) -> IntArray:
        """(b,) the same by their numbers in the larger set."""
        found = self.candidate(place)
        return found if self.numbers is None else self.numbers[found]

    def spread(self, weights: Array, b: int) -> Single:
        """(b, all candidates) of weights (k or k + 1, b or more) of the first b chains."""
        out = np.zeros((b, len(self.whole)), dtype=np.float32)
        out[:, self.index] = weights[: len(self.index), :b].T
        some = np.flatnonzero(self.held[:b] != EMPTY)
        if len(some):
            out[some, self.held[some]] = weights[-1, some]
        return out

    def spread_settings(self, weights: Array) -> Array:
        """(c, all candidates) of weights (c, k or k + 1), what is held left out."""
        out = np.zeros((len(weights), len(self.whole)))
        out[:, self.index] = weights[:, : len(self.index)]
        return out


@dataclass(frozen=True)
class Looks:
    """Candidates of which some are likely, and how often the others are looked at."""

    whole: Candidates
    likely: IntArray
    """(l,) numbers of the likely candidates, sorted."""
    chance: Array
    """(all candidates,) probability of each to be looked at: one for the likely ones."""

    @property
    def complete(self) -> bool:
        """Whether all candidates are likely."""
        return len(self.likely) == len(self.whole)

    @cached_property
    def others(self) -> IntArray:
        return np.delete(np.arange(len(self.whole)), self.likely)

    @cached_property
    def rise(self) -> Single:
        """(all candidates,) how much more each counts where it is looked at, as a logarithm."""
        return np.asarray(-np.log(self.chance), dtype=np.float32)

    @cached_property
    def place(self) -> IntArray:
        """(all candidates,) their place among the likely ones, or `EMPTY`."""
        place = np.full(len(self.whole), EMPTY, dtype=np.intp)
        place[self.likely] = np.arange(len(self.likely))
        return place

    @cached_property
    def likely_ones(self) -> Candidates:
        """The likely candidates by themselves."""
        if self.complete:
            return self.whole
        return self.whole.take(self.likely, self.whole.elsewhere)

    def look(self, chosen: IntArray, rng: np.random.Generator) -> Look:
        """What a slot that holds the candidates `chosen` (b,) is drawn from."""
        if self.complete:
            return self.likely_look(len(chosen))
        some = self.others[rng.random(len(self.others)) < self.chance[self.others]]
        index = np.concatenate([self.likely, some])
        inside = np.zeros(len(self.whole) + 1, dtype=bool)
        inside[index], inside[EMPTY] = True, True
        held = np.where(inside[chosen], EMPTY, chosen)
        return Look(self.whole, index, self.rise, held)

    def likely_look(self, b: int) -> Look:
        """The likely candidates only, in b chains."""
        some, nothing = np.arange(len(self.likely)), np.full(b, EMPTY, dtype=np.intp)
        return Look(self.likely_ones, some, None, nothing, self.likely)


def outside(chosen: IntArray, slots: Sequence[Looks]) -> NDArray[np.bool_]:
    """(b,) whether some slot of a chain holds an unlikely candidate, of `chosen` (slots, b)."""
    found = np.zeros(chosen.shape[1], dtype=bool)
    for held, looks in zip(chosen, slots, strict=True):
        found |= (held != EMPTY) & (looks.place[held] == EMPTY)
    return found


def look_at_all(candidates: Candidates) -> Looks:
    """Every candidate in every draw."""
    return Looks(candidates, np.arange(len(candidates)), np.ones(len(candidates)))


def look_at_likely(
    candidates: Candidates, likely: IntArray, probability: Array, others: int
) -> Looks:
    """Likely candidates, and about so many `others` at a time, half of them by the probability
    (all candidates,) that they seem to have; all where there are no more.
    """
    rest = np.delete(probability, likely)
    if len(rest) <= others:
        return look_at_all(candidates)
    chance = np.ones(len(candidates))
    by_weight = rest / max(float(rest.sum()), 1e-300)
    some = np.minimum(0.5 * others * (by_weight + 1.0 / len(rest)), 1.0)
    chance[np.delete(np.arange(len(candidates)), likely)] = some
    return Looks(candidates, likely, chance)
