"""A Gibbs sampler of the effects in a response: which candidates act, with which shape and size.

Problem: a response (n, q) is a sum of a few effects and noise; how probable is each of K columns
and P products of columns to be one of the effects? A *slot* holds one effect, or nothing. Given the
other slots, its posterior over all candidates is closed form (`gradsift.inference.settings`), so
that slots are drawn in turn (blocked Gibbs sampling; Geman and Geman 1984). The model is the sum of
single effects of SuSiE (Wang et al. 2020), with draws in place of a variational approximation. b
chains run at the same time, half of them from the terms that the sift selected, half from empty
slots. They use the rows only through the inner products G (M, M) and U (q, M) of `candidates`.

The likelihood is raised to a power t below one, because the model is never exactly right
(fractional posterior; Gruenwald 2012). With U the scores of the residual r, a = t ||r||^2 + sum
b^2 / v over the coefficients b of the other slots and nu = t (n - 1) q + their number,

    log BF = log w_c - q / 2 sum_g m_g log(1 + t v_g) + L(e),
    e = t^2 sum_g v_g / (1 + t v_g) U_g^2

and L(e) = -nu / 2 log(1 - e / a), or e / (2 s^2) where the variance s^2 of the noise is known.
Labels are whitened contrasts: their log likelihood ratio is bounded by their entropy (`at_most`),
and the scores of rare classes are corrected for their skewness (`Chains.squares`).

References
----------
:cite:`geman-1984`, :cite:`grunwald-2012`, :cite:`wang-2020`
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gradsift.inference.candidates import Candidates, Single
from gradsift.inference.settings import SHAPES, FindingSettings, effect_sizes, univariate_prior
from gradsift.protocols import Array, IntArray


@dataclass(frozen=True)
class Draws:
    """The draws of all chains after their burn-in."""

    views: Single
    """(v, K + P) a row for each slot, chain and sweep: the probability that the slot holds each
    candidate given the other slots, and one for the candidates that those hold.
    """
    shapes: Array
    """(len(SHAPES), K) how often each column was drawn in each shape."""


class Chains:
    """b chains, and the effect that each slot of each chain holds."""

    def __init__(
        self,
        candidates: Candidates,
        part_sizes: tuple[int, ...],
        rng: np.random.Generator,
        settings: FindingSettings,
    ) -> None:
        self.candidates, self.rng, self.settings = candidates, rng, settings
        q, f = len(candidates.scores), len(candidates.part)
        slots = len(candidates.start) + settings.spare_slots
        sweeps = settings.burn_in + settings.sweeps
        fits = settings.most_draws // (slots * sweeps * max(1, q // 2))
        b = self.count = int(np.clip(fits, settings.least_chains, settings.chains)) // 2 * 2
        self.nothing = len(candidates.index) - 1
        self.held = np.full((slots, b), self.nothing)
        self.coefficients = np.zeros((slots, b, q, f), dtype=np.float32)
        self.used = np.zeros((slots, b))
        """Coefficients of each slot."""
        self.penalty = np.zeros((slots, b))
        """sum b^2 / v of each slot."""
        self.scores = np.repeat(candidates.scores[None], b, axis=0)  # (b, q, M) of the residual
        self.left = np.full(b, candidates.total)  # its squared length
        for slot, B in enumerate(start_coefficients(candidates, settings.start_ridge)):
            self.held[slot, : b // 2] = candidates.start[slot]
            self.coefficients[slot, : b // 2] = B
            self.add(slot, -1.0)
        self.set_prior(part_sizes)

    def set_prior(self, part_sizes: tuple[int, ...]) -> None:
        """Prior variances of all shapes and sizes, and their log prior probabilities less half of
        the log determinants in the Bayes factors.
        """
        known, settings = self.candidates, self.settings
        q, t = len(known.scores), settings.power
        prior = univariate_prior(known.n, part_sizes, settings)
        self.shape, self.variance = prior.shape, prior.variance
        self.sizes = effect_sizes(known.n, settings)
        share = settings.product * (len(known.pairs) > 0)
        column = np.log((1.0 - share) / known.p)
        pair = np.log(max(share, 1e-300) / max(known.p * (known.p - 1) / 2, 1) / len(self.sizes))
        complexity = q / 2 * np.log1p(t * self.variance) @ known.counts
        self.cost = single(prior.log_weight[:, None] + column - complexity)  # (c, K)
        self.pair_cost = single(pair - q / 2 * np.log1p(t * self.sizes))  # (sizes,)
        most = known.p * settings.most_odds
        self.odds = min(settings.further_odds, most), min(settings.first_odds, 0.4 * most)

    def at(self, slot: int) -> tuple[IntArray, Single]:
        """Features (b, f) that a slot uses, and their scores (b, q, f)."""
        at, M = self.candidates.index[self.held[slot]], self.scores.shape[2]
        here = np.take_along_axis(self.scores, np.minimum(at, M - 1)[:, None, :], axis=2)
        return at, here * (at < M)[:, None, :]

    def add(self, slot: int, sign: float) -> None:
        """Add the effect of a slot to the residual (1), or take it away (-1)."""
        at, here = self.at(slot)
        B = self.coefficients[slot]
        self.left += (2.0 * sign * B * here + B**2).sum(axis=(1, 2))
        self.scores += (sign * B) @ self.candidates.gram[at]

    def squares(self) -> Single:
        """Squared scores (b, M), summed over contrasts.

        Scores of rare classes and skewed columns have long tails: a score of z standard errors with
        skewness g counts as z^2 / (1 + g z / 3), which is .8 to .95 of twice its log likelihood
        ratio, while z^2 is 1.2 to 1.6 of it.
        """
        known = self.candidates
        out = np.square(self.scores)
        if known.skewness is not None:
            noise = np.maximum(self.left, 1e-9) / (known.n * len(known.scores))
            tail = self.scores * known.skewness
            tail *= single(1.0 / np.sqrt(noise))[:, None, None]
            out /= 1 + np.maximum(tail, 0)
        return np.asarray(out.sum(axis=1))

    def log_ratios(self, explained: Single, a: Array, nu: Array, empty: Array) -> Single:
        """log likelihood ratios of effects that explain (c, b, k) of the squared length a (b,),
        computed in place; `empty` (b,) is that length if all slots were empty.
        """
        known = self.candidates
        if known.noise is not None:
            explained *= np.float32(0.5 / known.noise)
            return explained
        explained *= single(-1.0 / a)[:, None]
        explained += 1
        np.maximum(explained, np.float32(1e-6), out=explained)
        np.log(explained, out=explained)
        explained *= single(-nu / 2)[:, None]
        if known.entropy is None:
            return explained
        before = single(np.maximum(nu / 2 * np.log(empty / a), 0.0))[:, None]
        explained += before
        most = np.float32(self.settings.power * known.entropy)
        return at_most(explained, most) - at_most(before, most)

    def draw_slot(self, slot: int) -> Single:
        """Draw a slot anew; the probability (b, K + P) of every candidate given the others."""
        known, b, t = self.candidates, self.count, self.settings.power
        K, f, q = len(known.columns), len(known.part), len(known.scores)
        self.add(slot, 1.0)
        self.used[slot] = self.penalty[slot] = 0.0
        penalty = self.penalty.sum(axis=0)
        a = t * np.maximum(self.left, 1e-9 * known.total) + penalty
        nu = t * (known.n - 1) * q + self.used.sum(axis=0)
        empty = t * known.total + penalty
        squares = self.squares()
        by_column = squares[:, : K * f].reshape(b, K, f)
        S = np.stack([by_column[:, :, known.part == g].sum(axis=2) for g in range(3)])
        believed = single(t * t * self.variance / (1 + t * self.variance))
        w = self.log_ratios((believed @ S.reshape(3, -1)).reshape(-1, b, K), a, nu, empty)
        w += self.cost[:, None, :]
        believed = single(t * t * self.sizes / (1 + t * self.sizes))
        wp = self.log_ratios(believed[:, None, None] * squares[None, :, K * f :], a, nu, empty)
        wp += self.pair_cost[:, None, None]
        top = np.maximum(w.max(axis=(0, 2)), wp.max(axis=(0, 2), initial=-np.inf))
        for each in (w, wp):
            each -= top[:, None]
            np.exp(each, out=each)
        W = np.concatenate([w.sum(axis=0), wp.sum(axis=0)], axis=1)
        W *= single(self.filled(slot, W, top) / W.sum(axis=1, dtype=np.float64))[:, None]
        self.held[slot] = drawn(W, self.rng.random(b))  # K + P is nothing
        self.draw_effect(slot, w, wp, a, nu)
        self.add(slot, -1.0)
        return W

    def filled(self, slot: int, W: Single, top: Array) -> Array:
        """Probability (b,) that a slot is filled, from Bayes factors W e^top of its candidates."""
        others = np.delete(self.held, slot, axis=0) != self.nothing
        odds = np.where(others.any(axis=0), *self.odds)
        top = top.astype(np.float64)
        least = np.maximum(top, 0.0)
        inside = odds * W.sum(axis=1, dtype=np.float64) * np.exp(top - least)
        outside = (1.0 + odds * self.candidates.elsewhere) * np.exp(-least)
        return np.asarray(inside / (inside + outside))

    def draw_effect(self, slot: int, w: Single, wp: Single, a: Array, nu: Array) -> None:
        """Draw shape, size and coefficients of what a slot holds, from weights (c, b, K) of columns
        and (sizes, b, P) of products.
        """
        known, rng, b, j = self.candidates, self.rng, self.count, self.held[slot]
        K, M, t = len(known.columns), self.scores.shape[2], self.settings.power
        column, pair = j < K, (j >= K) & (j < self.nothing)
        each = np.zeros((b, len(self.variance)))
        each[column] = w[:, column, j[column]].T
        each[pair, : len(self.sizes)] = wp[:, pair, j[pair] - K].T
        self.setting = drawn(each, rng.random(b) * each.sum(axis=1))
        at, here = self.at(slot)
        v = np.zeros(at.shape)
        setting = np.minimum(self.setting[column], len(self.variance) - 1)
        v[column] = self.variance[setting][:, known.part]
        v[pair, 0] = self.sizes[np.minimum(self.setting[pair], len(self.sizes) - 1)]
        present = np.diagonal(known.gram)[np.minimum(at, M - 1)] > self.settings.least_length
        v = np.where((at < M) & present, v, 0.0)
        k = t * v / (1.0 + t * v)
        if known.noise is None:
            rest = a - t * (k[:, None, :] * here**2).sum(axis=(1, 2))
            noise = np.sqrt(np.maximum(rest, 1e-9 * known.total) / rng.chisquare(nu))
        else:
            noise = np.full(b, np.sqrt(known.noise))
        spread = (np.sqrt(k / t) * noise[:, None])[:, None, :]
        B = k[:, None, :] * here + spread * rng.standard_normal(here.shape)
        self.penalty[slot] = (B**2 / np.where(v > 0, v, np.inf)[:, None, :]).sum(axis=(1, 2))
        self.used[slot] = (v > 0).sum(axis=1) * here.shape[1]
        self.coefficients[slot] = B


def start_coefficients(candidates: Candidates, ridge: float) -> list[Single]:
    """Coefficients (q, f) of a least-squares fit of the terms that the sift selected."""
    at = candidates.index[candidates.start]
    M = candidates.gram.shape[1]
    used = at[at < M]
    if len(used) == 0:
        return []
    G = candidates.gram[np.ix_(used, used)].astype(np.float64)
    G[np.diag_indices(len(G))] += ridge
    B = np.zeros((len(candidates.scores), *at.shape), dtype=np.float32)
    B[:, at < M] = np.linalg.solve(G, candidates.scores[:, used].T.astype(np.float64)).T
    return [*B.transpose(1, 0, 2)]


def single(x: Array) -> Single:
    return np.asarray(x, dtype=np.float32)


def at_most(g: Single, most: np.float32) -> Single:
    """A smooth minimum of log likelihood ratios g and their bound: g / (1 + (g / most)^4)^(1/4).
    For two normal classes this is the mutual information with the label, within 2 %.
    """
    r = g / most
    r *= r
    r *= r
    r += 1
    return np.asarray(g / np.sqrt(np.sqrt(r)))


def drawn(weight: Array, u: Array) -> IntArray:
    """(b,) first places where the cumulated weights (b, k) exceed u (b,)."""
    return np.asarray((np.cumsum(weight, axis=1, dtype=np.float64) <= u[:, None]).sum(axis=1))


def draw(
    candidates: Candidates, part_sizes: tuple[int, ...], seed: int, settings: FindingSettings
) -> Draws:
    """Run the chains. The same seed gives the same bits."""
    chains = Chains(candidates, part_sizes, np.random.default_rng(seed), settings)
    K, views = len(candidates.columns), []
    shapes = np.zeros((len(SHAPES), K))
    for sweep in range(settings.burn_in + settings.sweeps):
        for slot in range(len(chains.held)):
            view = chains.draw_slot(slot)
            if sweep < settings.burn_in:
                continue
            held = chains.held[slot]
            np.add.at(shapes, (chains.shape[chains.setting[held < K]], held[held < K]), 1.0)
            for other in np.delete(chains.held, slot, axis=0):
                filled = np.flatnonzero(other != chains.nothing)
                view[filled, other[filled]] = 1.0
            views.append(view)
    return Draws(np.concatenate(views), shapes)
