"""Exchange moves: an effect goes from its column to a similar one, whatever the latent response is.

A latent response remembers the effects it was drawn from, so that slots given it seldom change
between columns that explain the labels equally well. An exchange is judged by the likelihood of the
labels themselves, and the effect keeps its coefficients, so that its prior density stays.

Two classes have a likelihood that is cheap: `exchange_any` weighs the column beside many others at
once, with features that all point to the same class (`oriented`). For several classes, `exchange`
proposes one other column, whose features are turned to fit those of the old one (the polar factor
of their inner products): so the way back is as wide as the way there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gradsift._typing import Array, IntArray
from gradsift.trust.looks import EMPTY, Looks
from gradsift.trust.single_effects import Candidates
from gradsift.trust.slots import Chains, drawn

LEAST_COEFFICIENT = 1e-6
"""Coefficients of features that an effect does not use are smaller, by rounding."""
OTHERS = 32
"""Columns that a column is weighed beside."""


def oriented(candidates: Candidates, response: Array) -> Candidates:
    """The same with every feature turned to point where a response (n,) goes."""
    along = candidates.Z @ response.astype(np.float32)
    sign = np.where(along < 0, np.float32(-1.0), np.float32(1.0))
    return replace(candidates, Z=candidates.Z * sign[:, :, None])


def among_likely(chains: Chains, i: int, looks: Looks, move: Callable[[Candidates], None]) -> None:
    """Let a move change slot i where it holds a likely candidate: the move sees the likely ones by
    themselves, in their own numbers, and other chains as empty.
    """
    before = chains.chosen[i].copy()
    chains.chosen[i] = np.where(before == EMPTY, EMPTY, looks.place[before])
    move(looks.likely_ones)
    after = chains.chosen[i]
    chains.chosen[i] = np.where(after == EMPTY, before, looks.likely[after])


def exchange_any(
    chains: Chains,
    i: int,
    candidates: Candidates,
    log_likelihood: Callable[[IntArray, Array], Array],
    rng: np.random.Generator,
) -> None:
    """Draw the candidate of slot i of every chain from its own and others, the same for all chains,
    which keep the coefficients. `log_likelihood` (s, m) of effects (s, m, n) of some chains (s,).

    The others are drawn without regard to where the chains are, so that each set of candidates is
    met as often from any of its members: a Gibbs step.
    """
    others = rng.permutation(len(candidates))[:OTHERS]
    at = np.asarray(rng.random(chains.chosen.shape[1]))
    some = np.flatnonzero(chains.chosen[i] != EMPTY)
    if len(some) == 0:
        return
    old, fit = chains.chosen[i, some], chains.fit[i, some, 0]
    B = np.einsum("fbn,bn->bf", candidates.Z[:, old], fit) / np.float32(candidates.total)
    B[np.abs(B) < LEAST_COEFFICIENT] = 0.0
    moved = (B @ candidates.Z[:, others].reshape(len(candidates.Z), -1)).reshape(
        len(some), len(others), -1
    )
    rest = np.asarray(chains.fit[:, some, 0].sum(axis=0) - fit)
    fits = np.concatenate([fit[:, None], moved], axis=1)
    weight = log_likelihood(some, fits + rest[:, None])
    weight += candidates.log_prior[np.column_stack([old, np.tile(others, (len(old), 1))])]
    weight[:, 1:][~interchangeable(candidates, B, old, others)] = -np.inf
    weight = np.asarray(np.exp(weight - weight.max(axis=1, keepdims=True)))
    total = np.cumsum(weight, axis=1).T
    chosen = drawn(total, at[some] * total[-1])
    chosen = np.minimum(chosen, len(others))
    chains.fit[i, some, 0] = fits[np.arange(len(some)), chosen]
    chains.chosen[i, some] = np.where(chosen > 0, others[chosen - 1], old)


def interchangeable(
    candidates: Candidates, B: Array, old: IntArray, new: IntArray
) -> NDArray[np.bool_]:
    """(b, m) whether the parts that coefficients B (b, features) of candidates `old` (b,) use have
    the same features in the candidates `new` (m,); a candidate is not exchanged for itself.
    """
    alike = np.asarray(old[:, None] != new)
    same = np.asarray(candidates.present[:, old, None] == candidates.present[:, None, new])
    for g in range(len(candidates.starts)):
        part = candidates.part == g
        idle = np.asarray(~B[:, part].any(axis=1))
        alike &= same[part].all(axis=0) | idle[:, None]
    return alike


def turned(candidates: Candidates, old: IntArray, new: IntArray, fit: Array) -> tuple[Array, Array]:
    """Effects `fit` (b, q, n) of candidates `old` as effects of the candidates `new`, and whether
    (b,) the features of both that an effect uses are as many.
    """
    n = candidates.total
    from_Z, to_Z = (candidates.Z[:, j].transpose(1, 0, 2).astype(np.float64) for j in (old, new))
    B = from_Z @ fit.transpose(0, 2, 1) / n  # (b, features, q)
    out, alike = np.zeros_like(fit), np.ones(len(fit), dtype=bool)
    same = (candidates.present[:, old] == candidates.present[:, new]).T
    ends = [*candidates.starts[1:], len(candidates.part)]
    for start, end in zip(candidates.starts, ends, strict=True):
        part = slice(start, end)
        left, _, right = np.linalg.svd(to_Z[:, part] @ from_Z[:, part].transpose(0, 2, 1) / n)
        out += (left @ right @ B[:, part]).transpose(0, 2, 1) @ to_Z[:, part]
        used = np.square(B[:, part]).sum(axis=(1, 2)) > 1e-9
        alike &= same[:, part].all(axis=1) | ~used
    return out, alike


def exchange(
    chains: Chains,
    i: int,
    candidates: Candidates,
    log_likelihood: Callable[[IntArray, Array], Array],
    now: Array,
    rng: np.random.Generator,
) -> None:
    """Propose another candidate for slot i of every chain. `log_likelihood` (s,) of all effects
    (s, q, n) of some chains (s,), whatever the latent response, which must be drawn anew
    afterwards; `now` (b,) is its value, which is kept up to date.
    """
    chosen = chains.chosen[i]
    at = rng.random((2, len(chosen)))
    some = np.flatnonzero(chosen != EMPTY)
    if len(some) == 0 or len(candidates) == 1:
        return
    log_T = candidates.log_proposals
    old = chosen[some]
    new = drawn(np.cumsum(np.exp(log_T[old]), axis=1).T, at[0, some])
    new = np.minimum(new, len(candidates) - 1)
    fit = chains.fit[i, some].astype(np.float64)
    moved, alike = turned(candidates, old, new, fit)
    effects = chains.fit[:, some].sum(axis=0, dtype=np.float64) + (moved - fit)
    then = log_likelihood(some, effects)
    gain = then - now[some]
    gain += log_T[new, old] - log_T[old, new]
    gain += candidates.log_prior[new] - candidates.log_prior[old]
    taken = np.flatnonzero(alike & (new != old) & (np.log(1.0 - at[1, some]) < gain))
    chains.fit[i, some[taken]] = moved[taken]
    chains.chosen[i, some[taken]] = new[taken]
    now[some[taken]] = then[taken]
