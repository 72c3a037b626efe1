"""The draws that families rest on: short chains over a pool, then long ones that look at what these
chose in every draw, and at the rest of the pool by chance (`looks`).

A *view* is one slot of one chain in one sweep: the probability of every column to be the effect of
that slot, given the other slots, and one for the columns those hold. The probability that some
column of a set acts is the mean over views of min(1, sum over the set), which is unbiased.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from gradsift._typing import Array, IntArray
from gradsift.trust.family_settings import FamilySettings
from gradsift.trust.looks import EMPTY, Looks, look_at_all, look_at_likely, outside
from gradsift.trust.pool import Pool
from gradsift.trust.single_effects import Candidates
from gradsift.trust.slots import Chains, Noise, SlotPosterior, draw_slot
from gradsift.trust.tempering import at_powers, log_density, swapped

LEAST_LIKELY = 8
"""Candidates that the long chains look at in every draw at least."""


class DrawnResponse(Protocol):
    """The response that effects explain: fixed (numbers), or drawn anew in every sweep (labels)."""

    @property
    def noise(self) -> Noise:
        """What the effects leave of it."""
        ...

    def redraw(
        self, chains: Chains, slots: Sequence[Looks], turn: int, rng: np.random.Generator
    ) -> Chains:
        """Let chains of different powers swap, in turns, and draw the response given all
        effects.
        """
        ...


@dataclass(frozen=True)
class FixedResponse:
    """Numbers: nothing to draw."""

    noise: Noise

    def redraw(
        self, chains: Chains, slots: Sequence[Looks], turn: int, rng: np.random.Generator
    ) -> Chains:
        if len(chains.powers) == 1:
            return chains
        u = rng.random(len(chains.residual))
        stays = outside(chains.chosen, slots)
        order = swapped(log_density(self.noise, chains), chains.powers, turn, u, stays)
        return chains.take(order, chains.powers)


@dataclass
class Tally:
    """What the slots of one kind did in kept sweeps, in each of the first b chains."""

    b: int
    views: list[NDArray[np.float16]] = field(default_factory=list)
    """(b, k) each; half precision is enough, as they are averaged."""
    sums: Array | float = 0.0
    """(b, k) sum of views."""
    settings: Array | float = 0.0
    """(c, k) sum over views of the probability of each setting."""

    def add(self, found: SlotPosterior, others: IntArray) -> None:
        """A slot of all chains; `others` (slots, b): the candidates that the other slots hold."""
        view = found.look.spread(found.weights, self.b)
        each = found.settings[:, :, : self.b]
        total = np.maximum(each.sum(axis=(0, 1)), np.float32(1e-30))
        self.settings = self.settings + found.look.spread_settings(
            each @ (view.sum(axis=1) / total)
        )
        for held in others[:, : self.b]:
            some = np.flatnonzero(held != EMPTY)
            view[some, held[some]] = 1.0
        self.views.append(view.astype(np.float16))
        self.sums = self.sums + view.astype(np.float64)

    @property
    def means(self) -> Array:
        """(b, k) probability of each candidate."""
        return np.asarray(self.sums) / len(self.views)

    def likely(self, settings: FamilySettings) -> IntArray:
        """Candidates that are probable enough to be members of a family."""
        return promising(self.means.mean(axis=0), settings)

    def views_of(self, index: IntArray) -> NDArray[np.float32]:
        """(views, b, s) views of some candidates."""
        return np.stack([view[:, index] for view in self.views]).astype(np.float32)


@dataclass(frozen=True)
class Draws:
    """What the kept sweeps say."""

    columns: IntArray
    """(k,) columns that own effects were drawn from, all of the pool."""
    own: Tally
    pairs: IntArray
    """(m, 2) pairs of columns that products were drawn from."""
    products: Tally | None


def set_probability(views: Array) -> Array:
    """Probability that some column of a set acts, from views (..., members): min(1, sum)."""
    return np.minimum(views.sum(axis=-1, dtype=np.float32), np.float32(1.0))


def standard_error(means: Array) -> Array:
    """Monte Carlo standard error of the mean of independent chains (chains, ...)."""
    return np.asarray(means.std(axis=0, ddof=1) / np.sqrt(len(means)))


def one_sweep(
    chains: Chains,
    slots: Sequence[Looks],
    kinds: IntArray,
    response: DrawnResponse,
    rng: np.random.Generator,
    tallies: Sequence[Tally] = (),
    turn: int = 0,
) -> Chains:
    """Draw every slot once; slots of one kind share candidates and a tally."""
    chains = response.redraw(chains, slots, turn, rng)
    for i, looks in enumerate(slots):
        same = np.flatnonzero((kinds == kinds[i]) & (np.arange(len(slots)) != i))
        others = chains.chosen[same].copy()
        found = draw_slot(chains, i, looks, response.noise, rng)
        if tallies:
            tallies[kinds[i]].add(found, others)
    return chains


def candidates_of(pool: Pool) -> list[Candidates]:
    """What each kind of slots can be: own effects, and products if there are any."""
    return [pool.own] if pool.products is None else [pool.own, pool.products]


def draw(
    pool: Pool,
    chains: Chains,
    kinds: IntArray,
    response: DrawnResponse,
    rng: np.random.Generator,
    settings: FamilySettings,
) -> Draws:
    """Draw until the probabilities are accurate; `kinds`: 0 for own slots, 1 for products."""
    kind_of = candidates_of(pool)
    b = len(chains.residual)
    first = [Tally(b) for _ in kind_of]
    slots = [look_at_all(kind_of[kind]) for kind in kinds]
    for i in range(settings.first_sweeps):
        late = i >= settings.first_sweeps // 3
        chains = one_sweep(chains, slots, kinds, response, rng, first if late else ())
    chains = at_powers(chains, levels(chains, settings))
    means = [tally.means.mean(axis=0) for tally in first]
    for turn in range(settings.most_rounds):
        looks, tallies = likely_looks(kind_of, means, settings), [Tally(b) for _ in kind_of]
        slots = [looks[kind] for kind in kinds]
        for k in range(settings.burn_in):
            chains = one_sweep(chains, slots, kinds, response, rng, tallies, k)
        means = [
            (m * (turn + 1) + tally.means.mean(axis=0)) / (turn + 2)
            for m, tally in zip(means, tallies, strict=True)
        ]
        looks = likely_looks(kind_of, means, settings)
        rest = [m[each.others].sum() for m, each in zip(means, looks, strict=True)]
        if max(rest) < settings.most_unlikely:
            break
    return keep_draws(pool, chains, kinds, looks, response, rng, settings)


def keep_draws(
    pool: Pool,
    chains: Chains,
    kinds: IntArray,
    looks: Sequence[Looks],
    response: DrawnResponse,
    rng: np.random.Generator,
    settings: FamilySettings,
) -> Draws:
    """Sweeps that count, until the probabilities are accurate."""
    b = len(chains.residual) // len(chains.powers)
    slots = [looks[kind] for kind in kinds]
    tallies = [Tally(b) for _ in looks]
    for kept in range(1, settings.most_sweeps + 1):
        chains = one_sweep(chains, slots, kinds, response, rng, tallies, kept)
        if kept % settings.least_sweeps == 0 and accurate(tallies, settings):
            break
    products = tallies[1] if len(tallies) > 1 else None
    return Draws(pool.columns, tallies[0], pool.pairs, products)


def levels(chains: Chains, settings: FamilySettings) -> tuple[float, ...]:
    """Powers of the likelihood that chains and hotter ones have: fewer where rows are many."""
    fits = max(1, settings.level_rows // chains.residual.shape[2])
    powers = settings.powers if chains.residual.shape[1] == 1 else settings.class_powers
    return powers[:fits]


def likely_looks(
    kind_of: Sequence[Candidates], means: Sequence[Array], settings: FamilySettings
) -> list[Looks]:
    """What slots of each kind look at, given a probability (k,) of every candidate so far."""
    return [
        look_at_likely(candidates, promising(mean, settings), mean, settings.others)
        for candidates, mean in zip(kind_of, means, strict=True)
    ]


def accurate(tallies: Sequence[Tally], settings: FamilySettings) -> bool:
    """Whether the probabilities of all candidates have a small standard error."""
    errors = [float(standard_error(tally.means).max()) for tally in tallies]
    return max(errors) <= settings.standard_error


def promising(mean: Array, settings: FamilySettings) -> IntArray:
    """Candidates (k,) that are probable enough, sorted."""
    order = np.argsort(-mean, kind="stable")[: settings.active]
    enough = mean[order] >= settings.least_active
    enough[:LEAST_LIKELY] = True
    return np.sort(order[enough])
