"""Exchange moves: an effect goes from its column to a similar one, whatever the latent response is.

A latent response remembers the effects it was drawn from, so that slots given it seldom change
between columns that explain the labels equally well. An exchange is judged by the likelihood of the
labels themselves. The features of both columns are turned to fit each other (the polar factor of
their inner products), and the effect keeps its coefficients: so its prior density stays, and the
way back is as wide as the way there.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gradsift._typing import Array, IntArray
from gradsift.trust.single_effects import Candidates
from gradsift.trust.slots import EMPTY, Chains, drawn


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
    log_likelihood: Callable[[Array], Array],
    now: Array,
    rng: np.random.Generator,
) -> Array:
    """Propose another candidate for slot i of every chain. `log_likelihood` (b,) of all effects
    (b, q, n), whatever the latent response, which must be drawn anew afterwards; `now` is its value
    before, and what is returned its value after.
    """
    chosen = chains.chosen[i]
    at = rng.random((2, len(chosen)))
    some = np.flatnonzero(chosen != EMPTY)
    if len(some) == 0 or len(candidates) == 1:
        return now
    log_T = candidates.log_proposals
    old = chosen[some]
    new = drawn(np.cumsum(np.exp(log_T[old]), axis=1).T, at[0, some])
    new = np.minimum(new, len(candidates) - 1)
    fit = chains.fit[i, some].astype(np.float64)
    moved, alike = turned(candidates, old, new, fit)
    effects = chains.fit.sum(axis=0, dtype=np.float64)
    effects[some] += moved - fit
    then = log_likelihood(effects)
    gain = (then - now)[some]
    gain += log_T[new, old] - log_T[old, new]
    gain += candidates.log_prior[new] - candidates.log_prior[old]
    taken = np.flatnonzero(alike & (new != old) & (np.log(1.0 - at[1, some]) < gain))
    chains.fit[i, some[taken]] = moved[taken]
    chains.chosen[i, some[taken]] = new[taken]
    now = now.copy()
    now[some[taken]] = then[some[taken]]
    return now
