"""The draws that families rest on: short chains over a pool, then long ones over what they chose.

A *view* is one slot of one chain in one sweep: the probability of every column to be the effect of
that slot, given the other slots, and one for the columns those hold. The probability that some
column of a set acts is the mean over views of min(1, sum over the set), which is unbiased.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from gradsift._typing import Array, IntArray
from gradsift.trust.direction_draws import State
from gradsift.trust.family_settings import FamilySettings
from gradsift.trust.pool import Pool
from gradsift.trust.single_effects import Candidates
from gradsift.trust.slots import EMPTY, Chains, Noise, SlotPosterior, draw_slot, slot_posterior
from gradsift.trust.tempering import at_powers, log_density, swapped

STATE_STEP = 10
"""Sweeps between draws that directions are looked at in."""
LEAST_ACTIVE = 8
"""Candidates that the long chains choose from at least."""


class DrawnResponse(Protocol):
    """The response that effects explain: fixed (numbers), or drawn anew in every sweep (labels)."""

    @property
    def noise(self) -> Noise:
        """What the effects leave of it."""
        ...

    def redraw(
        self, chains: Chains, slots: Sequence[Candidates], turn: int, rng: np.random.Generator
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
        self, chains: Chains, slots: Sequence[Candidates], turn: int, rng: np.random.Generator
    ) -> Chains:
        if len(chains.powers) == 1:
            return chains
        u = rng.random(len(chains.residual))
        order = swapped(log_density(self.noise, chains), chains.powers, turn, u)
        return chains.take(order, chains.powers)


@dataclass
class Tally:
    """What the slots of one kind did in kept sweeps, in each of the first b chains."""

    b: int
    views: list[NDArray[np.float32]] = field(default_factory=list)
    """(b, k) each."""
    sums: Array | float = 0.0
    """(b, k) sum of views."""
    settings: Array | float = 0.0
    """(c, k) sum over views of the probability of each setting."""

    def add(self, found: SlotPosterior, others: IntArray) -> None:
        """A slot of all chains; `others` (slots, b): the candidates that the other slots hold."""
        view = np.ascontiguousarray(found.weights[:, : self.b].T)
        each = found.settings[:, :, : self.b]
        total = np.maximum(each.sum(axis=(0, 1)), np.float32(1e-30))
        self.settings = self.settings + each @ (view.sum(axis=1) / total)
        for held in others[:, : self.b]:
            some = np.flatnonzero(held != EMPTY)
            view[some, held[some]] = 1.0
        self.views.append(view)
        self.sums = self.sums + view.astype(np.float64)

    @property
    def means(self) -> Array:
        """(b, k) probability of each candidate."""
        return np.asarray(self.sums) / len(self.views)


@dataclass(frozen=True)
class Draws:
    """What the kept sweeps say."""

    columns: IntArray
    """(k,) columns that own effects were drawn from."""
    own: Tally
    pairs: IntArray
    """(m, 2) pairs of columns that products were drawn from."""
    products: Tally | None
    states: tuple[State, ...] = ()
    """Where the chains that count were, every `STATE_STEP` sweeps."""


def standard_error(means: Array) -> Array:
    """Monte Carlo standard error of the mean of independent chains (chains, ...)."""
    return np.asarray(means.std(axis=0, ddof=1) / np.sqrt(len(means)))


def one_sweep(
    chains: Chains,
    slots: Sequence[Candidates],
    kinds: IntArray,
    response: DrawnResponse,
    rng: np.random.Generator,
    tallies: Sequence[Tally] = (),
    turn: int = 0,
) -> Chains:
    """Draw every slot once; slots of one kind share candidates and a tally."""
    chains = response.redraw(chains, slots, turn, rng)
    for i, candidates in enumerate(slots):
        same = np.flatnonzero((kinds == kinds[i]) & (np.arange(len(slots)) != i))
        others = chains.chosen[same].copy()
        found = draw_slot(chains, i, candidates, response.noise, rng)
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
    pool, chains = explore(pool, chains, kinds, response, rng, settings)
    kind_of = candidates_of(pool)
    slots = [kind_of[kind] for kind in kinds]
    tallies = [Tally(len(chains.residual)) for _ in kind_of]
    fits = max(1, settings.level_rows // chains.residual.shape[2])
    chains = at_powers(chains, settings.powers[:fits])
    states = []
    for turn in range(settings.burn_in + settings.most_sweeps):
        kept = turn + 1 - settings.burn_in
        counts = tallies if kept > 0 else ()
        chains = one_sweep(chains, slots, kinds, response, rng, counts, turn)
        if kept > 0 and kept % STATE_STEP == 0:
            states.append(state_of(chains, slots, tallies[0].b))
        if kept > 0 and kept % settings.least_sweeps == 0 and accurate(tallies, settings):
            break
    products = tallies[1] if len(tallies) > 1 else None
    return Draws(pool.columns, tallies[0], pool.pairs, products, tuple(states))


def state_of(chains: Chains, slots: Sequence[Candidates], b: int) -> State:
    """What the slots of the first b chains hold."""
    chosen = chains.chosen[:, :b].copy()
    coefficients = [
        np.einsum("fbn,bqn->bfq", candidates.Z[:, j], fit[:b]) / candidates.total
        for candidates, j, fit in zip(slots, np.maximum(chosen, 0), chains.fit, strict=True)
    ]
    return State(chosen, coefficients)


def accurate(tallies: Sequence[Tally], settings: FamilySettings) -> bool:
    """Whether the probabilities of all candidates have a small standard error."""
    errors = [float(standard_error(tally.means).max()) for tally in tallies]
    return max(errors) <= settings.standard_error


def explore(
    pool: Pool,
    chains: Chains,
    kinds: IntArray,
    response: DrawnResponse,
    rng: np.random.Generator,
    settings: FamilySettings,
) -> tuple[Pool, Chains]:
    """First draws over the whole pool: the candidates they chose, and where the chains are."""
    kind_of = candidates_of(pool)
    slots = [kind_of[kind] for kind in kinds]
    tallies = [Tally(len(chains.residual)) for _ in kind_of]
    for i in range(settings.first_sweeps):
        late = i >= settings.first_sweeps // 3
        chains = one_sweep(chains, slots, kinds, response, rng, tallies if late else ())
    kept = [promising(tally.means.mean(axis=0), settings) for tally in tallies]
    fewer = [
        restricted(candidates, some, response.noise, chains)
        for candidates, some in zip(kind_of, kept, strict=True)
    ]
    for i, kind in enumerate(kinds):
        chains.chosen[i] = renumbered(chains.chosen[i], kept[kind])
    pool = replace(pool, columns=pool.columns[kept[0]], own=fewer[0])
    if len(fewer) > 1:
        pool = replace(pool, pairs=pool.pairs[kept[1]], products=fewer[1])
    return pool, chains


def promising(mean: Array, settings: FamilySettings) -> IntArray:
    """Candidates (k,) that are probable enough, sorted."""
    order = np.argsort(-mean, kind="stable")[: settings.active]
    enough = mean[order] >= settings.least_active
    enough[:LEAST_ACTIVE] = True
    return np.sort(order[enough])


def restricted(candidates: Candidates, kept: IntArray, noise: Noise, chains: Chains) -> Candidates:
    """Some of the candidates; the others become what the effect could be elsewhere, with the Bayes
    factors they have against the residuals of the chains, which is what an empty slot sees.
    """
    if len(kept) == len(candidates):
        return candidates
    others = candidates.take(np.delete(np.arange(len(candidates)), kept), 0.0)
    used, size = chains.used.sum(axis=0), chains.size.sum(axis=0)
    evidence = slot_posterior(others, noise, chains.residual, used, size).evidence
    more = float(np.median(evidence)) / candidates.odds
    return candidates.take(kept, candidates.elsewhere + more)


def renumbered(chosen: IntArray, kept: IntArray) -> IntArray:
    """Candidates in the numbers of those that are kept; `EMPTY` for the others."""
    place = np.minimum(np.searchsorted(kept, chosen), len(kept) - 1)
    return np.where(kept[place] == chosen, place, EMPTY)
