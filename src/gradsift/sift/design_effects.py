"""Levels of groups of features where rows belong together: robust variances (Liang and Zeger 1986).

The squared length of m features along q residuals is chi-square(m q) if rows are independent. Rows
of one cluster are not, even after their common correlation was removed (`rows`). The sums of scores
over clusters,

    s_c = sum_{i in c} z_i r_i,    less the share of the cluster in the sum over all,

are independent. V = sum_c s_c s_c' / n is the covariance of the scores, and v = tr V / (m q), the
design effect, is 1 for independent rows. A statistic is then v m q times an F variable with
(tr V)^2 / tr V^2 degrees of freedom above and nu below, and the squared level t^2 becomes

    t'^2 = v m q F.isf(P(chi2(m q) > t^2)).

With few clusters v is a noisy estimate, and nu is small. The design effects of all columns depend
on the same residuals and are therefore similar, so that v is shrunk towards their mean (empirical
Bayes): the less they differ beyond their sampling error, the more, which makes nu large. A design
effect below 1 counts as 1 (Smyth 2004 shrinks variances of genes in this way).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.special import betainccinv
from scipy.stats import chi2

from gradsift.protocols import Array
from gradsift.sift.groups import Groups, Inflation, Prior
from gradsift.sift.rows import Clusters
from gradsift.sift.settings import DEFAULT, SiftSettings

MOST_DF = 1e6
"""Rounding: degrees of freedom that are as good as infinite."""
TINY = 1e-12
"""Rounding: least variance that is divided by."""


class Scores(NamedTuple):
    """Design effects of some groups of features, before shrinkage."""

    effect: Array
    """v, (k,)"""
    variance: Array
    """Sampling variance of v, (k,)."""
    df: Array
    """(tr V)^2 / tr V^2, less what chance adds, (k,)."""


def group_scores(Z: Array, R: Array, clusters: Clusters) -> Scores:
    """Design effects of groups of features Z (k, m, n) against residuals R (n, q), rows scaled."""
    share = clusters.size / clusters.size.sum()
    left = 1.0 - float(share @ share)
    S = np.concatenate([clusters.sums(Z * r) for r in R.T], axis=1)  # (k, m q, G)
    S -= S.sum(axis=2, keepdims=True) * share
    S /= np.sqrt(left * clusters.size.sum())
    dims, count = S.shape[1], S.shape[2]
    each = np.square(S).sum(axis=1)  # (k, G)
    trace = each.sum(axis=1)
    variance = np.maximum(np.square(each).sum(axis=1) - trace**2 / count, 0.0) / dims**2
    V = S @ S.transpose(0, 2, 1)
    squared = np.square(V).sum(axis=(1, 2))
    chance = 1.0 / clusters.effective
    squared = np.maximum((squared - trace**2 * chance) / (1.0 - chance), trace**2 / dims)
    df = np.clip(trace**2 / np.maximum(squared, TINY), 1.0, dims)
    return Scores(trace / dims, variance, df)


def common_prior(found: Scores, settings: SiftSettings = DEFAULT) -> Prior:
    """Mean and spread of the design effects of columns that are not constant."""
    use = found.effect > 1e-9
    if use.sum() < settings.n_known:
        return Prior(1.0, np.inf)
    v = found.effect[use]
    beyond = float(np.var(v) - np.mean(found.variance[use]))
    return Prior(max(float(np.mean(v)), 1.0), max(beyond, 0.0))


def shrunk(found: Scores, prior: Prior, clusters: Clusters) -> tuple[Array, Array]:
    """Shrunk design effects, at least 1, and the degrees of freedom of each."""
    if np.isinf(prior.spread):
        return np.maximum(found.effect, 1.0), np.maximum(clusters.effective - 1.0, 1.0) * found.df
    own = prior.spread / (prior.spread + found.variance + TINY)
    effect = np.maximum(prior.mean + own * (found.effect - prior.mean), 1.0)
    nu = 2.0 * effect**2 / np.maximum(own * found.variance, TINY)
    return effect, np.clip(nu, 2.0, MOST_DF)


def inflation(level: Array, dims: int, effect: Array, df: Array | float, nu: Array) -> Array:
    """t'^2 / t^2 of groups of `dims` scores; 1 where the level is 0."""
    tail = np.clip(chi2.sf(level, dims), 1e-300, 1.0)
    # the quantile of F by that of a beta variable: f.isf of scipy 1.12 fails far in the tail
    beta = betainccinv(np.asarray(df) / 2, nu / 2, tail)
    wanted = effect * dims * nu / df * beta / (1.0 - beta)
    return np.where(level > 0.0, wanted / np.maximum(level, TINY), 1.0)


def penalty_after_inflation(level: Array, ratio: Array, n: float) -> Array:
    """The cost of a group in the criterion with which it enters if its statistic exceeds `ratio`
    times its squared level.

    A statistic Q lowers n log det by -n log(1 - Q / n). At a ratio of 1, the cost is the squared
    level itself.
    """

    def bend(x: Array) -> Array:
        x = np.clip(x, TINY, 0.95)
        return np.asarray(-np.log1p(-x) / x)

    return np.where(level > 0.0, level * ratio * bend(level * ratio / n) / bend(level / n), 0.0)


def scores_from(groups: Groups, R: Array, first: int) -> Iterator[tuple[slice, Scores]]:
    """Groups of equally many features from number `first` on, and their design effects against
    noise R (n, q): the linear, quadratic and local ones, each joint group, and all products.
    """
    clusters, index, settings = groups.rows.clusters, groups.index, groups.table.settings
    assert clusters is not None
    if first == 0:
        found = [
            [group_scores(Z[:, part], R, clusters) for part in settings.parts]
            for _, Z in groups.table.features(groups.columns)
        ]
        for part, pieces in enumerate(zip(*found, strict=True)):
            where = slice(part * len(groups.columns), (part + 1) * len(groups.columns))
            yield where, Scores(*map(np.concatenate, zip(*pieces, strict=True)))
    for g in range(max(first, index.first_joint), index.first_product):
        yield slice(g, g + 1), group_scores(groups.joint_features(g)[None], R, clusters)
    if len(groups.products):
        where = slice(index.first_product, len(groups.size))
        yield where, group_scores(groups.products[:, None, :], R, clusters)


def inflated(groups: Groups, R: Array, first: int = 0) -> Groups:
    """The same groups, with levels from number `first` on inflated for noise R (n, q); those before
    are inflated already. Joint groups and products are like linear groups.
    """
    clusters, n = groups.rows.clusters, groups.rows.total
    assert clusters is not None
    ratio, levels = np.ones(len(groups.size)), groups.levels
    common: Prior | None = None
    if groups.inflation is not None:
        ratio[:first], common = groups.inflation.ratio[:first], groups.inflation.prior
    for where, found in scores_from(groups, R, first):
        prior, df = common, found.df
        if prior is None or where.start < groups.index.first_joint:
            prior = common_prior(found, groups.table.settings)
            if not np.isinf(prior.spread):
                df = np.full(len(df), float(np.mean(df)))
        common = common or prior
        effect, nu = shrunk(found, prior, clusters)
        dims = int(groups.size[where.start]) * R.shape[1]
        more = ratio[where] = inflation(levels.new[where], dims, effect, df, nu)

        def paid(level: Array, where: slice = where, more: Array = more) -> Array:
            level = level.copy()
            level[where] = penalty_after_inflation(level[where], more, n)
            return level

        levels = levels.map(paid)
    made = None if common is None else Inflation(ratio, common)
    return replace(groups, levels=levels, inflation=made)
