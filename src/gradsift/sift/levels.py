"""Levels: the chi-square statistic that a group of features needs to be selected.

`false_positives` (alpha) is the expected number of false variables when nothing is true. It is
divided among the kinds of groups. A kind with share a and T groups that compete tests each at
level a alpha / T: a group of m features against q responses has a chi2(m q) null, hence the squared
level

    t^2 = chi2.isf(a alpha / T, m q),

Bonferroni's correction within each kind. Levels and statistics are arrays (G,) over groups, or
(3, p) over the linear, quadratic and local groups of all columns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import betainc, chdtrc, gammaln
from scipy.stats import chi2

from gradsift.protocols import Array, IntArray
from gradsift.sift.settings import DEFAULT, SiftSettings

NEVER = 1e6
"""A squared level that nothing reaches, and that can be added up."""
AT_A_TIME = 1 << 16
"""Columns whose tails are computed at a time: they take many temporaries."""


@dataclass(frozen=True)
class Levels:
    """Squared levels t_g^2 of some groups, (G,) each.

    A further group of a variable that is in the support already makes no new false variable, so
    that it competes with the groups of a support and not with those of all p columns. Its level is
    lower: a selected variable gets its quadratic or local group before a near-copy of it would.
    """

    new: Array
    """Of a group whose variable is not in the support."""
    further: Array
    """Of a further group of a variable that is."""

    def map(self, change: Callable[[Array], Array]) -> Levels:
        """Both changed in the same way."""
        return Levels(change(self.new), change(self.further))

    def take(self, groups: IntArray | slice) -> Levels:
        return self.map(lambda level: level[groups])

    def followed_by(self, more: Levels) -> Levels:
        new, further = (self.new, more.new), (self.further, more.further)
        return Levels(np.concatenate(new), np.concatenate(further))

    def with_value(self, groups: IntArray, value: float) -> Levels:
        """Some of them replaced by one value."""

        def change(level: Array) -> Array:
            level = level.copy()
            level[groups] = value
            return level

        return self.map(change)


def shares(interactions: bool, settings: SiftSettings = DEFAULT) -> tuple[float, ...]:
    """Share of alpha for linear, quadratic, local groups, and products (zero without these)."""
    if interactions:
        return settings.shares
    own = settings.shares[:3]
    return (*(share / sum(own) for share in own), 0.0)


def squared_level(alpha: float, tests: float, size: int) -> float:
    """t^2 with P(chi2(size) > t^2) = alpha / tests (never more than one half)."""
    return float(chi2.isf(min(alpha / max(tests, 1e-300), 0.5), size))


def univariate_levels(
    alpha: float, p: int, q: int, interactions: bool, settings: SiftSettings = DEFAULT
) -> Levels:
    """Levels (3,) of the linear, quadratic and local group of one column among p variables."""
    parts = list(zip(shares(interactions, settings), settings.part_sizes))

    def at(tests: int) -> Array:
        return np.array([squared_level(alpha * a, tests, m * q) for a, m in parts])

    return Levels(at(p), at(min(p, settings.n_known)))


def relaxed_levels(level: Array, df: Array, factor: float) -> Array:
    """Levels at which each null group passes `factor` times as often; zero levels stay zero."""

    def relaxed(level: Array, df: float) -> Array:
        return np.asarray(chi2.isf(np.minimum(chi2.sf(level, df) * factor, 0.5), df))

    return np.where(level > 0, np.minimum(each_once(relaxed, level, df), level), 0.0)


def each_once(tail: Callable[[Array, float], Array], level: Array, df: Array) -> Array:
    """tail(level, df) of many groups, which have few different levels: each is computed once."""
    out = np.empty(len(level))
    for m in np.unique(df).tolist():
        these = np.flatnonzero(df == m)
        values, place = np.unique(level[these], return_inverse=True)
        out[these] = tail(values, m)[place]
    return out


def chi2_log_sf(x: Array, df: Array | float) -> Array:
    """log P(chi2(df) > x), also where the probability itself underflows.

    There: -x/2 + (df/2 - 1) log(x/2) - log Gamma(df/2), the leading term of the expansion.
    """
    half, k = np.maximum(np.asarray(x, dtype=float), 1e-300) / 2, np.asarray(df, dtype=float) / 2
    far = -half + (k - 1) * np.log(half) - gammaln(k)
    with np.errstate(divide="ignore"):
        near = np.log(chdtrc(df, 2 * half))
    return np.asarray(np.where(np.isfinite(near), near, far))


def univariate_log_p(
    statistic: Array, q: int, interactions: bool, settings: SiftSettings = DEFAULT
) -> Array:
    """Smallest log tail over the three groups, corrected for its share: (p,) from (3, p)."""
    part = shares(interactions, settings)[:3]
    out = np.full(statistic.shape[1], np.inf)
    for start in range(0, len(out), AT_A_TIME):
        where = slice(start, start + AT_A_TIME)
        for s, m, a in zip(statistic, settings.part_sizes, part, strict=True):
            np.minimum(out[where], chi2_log_sf(s[where], m * q) - np.log(a), out=out[where])
    return out


# Is a column associated with the response, whatever the other columns do? Each of its groups is
# tested against the response itself by Pillai's trace: of m features and q responses of unit
# variance, with s = min(m, q), trace / s is
#
#     Beta(d_1 / 2, d_2 / 2),   d_1 = s max(m, q),   d_2 = s (n - 1 - max(m, q)),
#
# exactly for normal responses where s = 1. The smallest p-value over its share is that of the
# column. These tails hold for a response that is cut off at some robust standard deviations. They
# do not for few cases among many rows or for amounts with many zeros: with skewed features such
# p-values are up to 50 times too small. There, `saddlepoint.exchangeable_log_p` approximates how
# often random permutations of the rows give as much.


def association_log_p(
    statistic: Array, n: float, q: int, settings: SiftSettings = DEFAULT
) -> Array:
    """log p-values (p,) from the statistics (3, p) of linear, quadratic and local features against
    q responses of unit variance in n rows.
    """
    out, part = np.zeros(statistic.shape[1]), shares(False, settings)[:3]
    for start in range(0, len(out), AT_A_TIME):
        where = slice(start, start + AT_A_TIME)
        for one, m, share in zip(statistic, settings.part_sizes, part, strict=True):
            log_p = pillai_log_p(one[where].astype(np.float64) / n, n, m, q)
            np.minimum(out[where], log_p - np.log(share), out=out[where])
    return out


def pillai_log_p(trace: Array, n: float, m: int, q: int) -> Array:
    """log P(Pillai's trace of m features and q responses in n rows is this or more)."""
    s, larger = min(m, q), max(m, q)
    second = s * (n - 1 - larger)
    if second <= 0:
        return np.zeros(len(trace))
    tail = betainc(second / 2, s * larger / 2, np.clip(1.0 - trace / s, 0.0, 1.0))
    return np.asarray(np.log(np.maximum(tail, 1e-300)))


def pair_tests(p: int, selected: int) -> Array:
    """Number of pairs with 0, 1, 2 selected parents to correct for, in terms of false variables.

    A false pair of two new variables makes two false variables, so such pairs count twice; pairs
    with one new variable are a second way to spend the same share, so they count twice as well;
    pairs of selected variables make no false variable and only compete with each other.
    """
    every = p * (p - 1) / 2
    some = max(selected, 1)
    return np.maximum(np.minimum([2 * every, 2 * some * p, some * (some - 1) / 2], 2 * every), 1.0)
