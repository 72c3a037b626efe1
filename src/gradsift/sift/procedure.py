"""The sift, step by step."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from math import isqrt

import numpy as np

from gradsift._run.progress import Say, silent
from gradsift.protocols import Array, IntArray, Source
from gradsift.sift.criterion import criterion, robust_fit, whiten_residual
from gradsift.sift.design_effects import inflated_joint, inflated_own, inflated_products
from gradsift.sift.features import (
    known_columns,
    largest,
    pool_size,
    promising,
    single_columns,
    strongest,
    wide_statistics,
)
from gradsift.sift.groups import (
    Groups,
    JointGroups,
    Support,
    make_joint,
    pool,
    with_joint,
    with_products,
)
from gradsift.sift.levels import NEVER, own_levels, relaxed_levels
from gradsift.sift.products import Screen, screen
from gradsift.sift.response import Response, beside_noise
from gradsift.sift.search import TOL, best_supports, choose, choose_supports, path
from gradsift.sift.settings import DEFAULT, SiftSettings

CLUSTERS_TAKE = 10
"""Times as long as others that products take to test where rows belong together."""


@dataclass(frozen=True)
class Sifted:
    """A support, and what it was chosen from."""

    groups: Groups
    support: Support
    relaxed: Support
    marginal: Array
    """(3, p) own statistics against the response."""


def own_statistics(source: Source, groups: Groups, R: Array) -> Array:
    """Statistics (3, p) of the own groups of all columns against unit-variance residuals R (n, q),
    rows scaled.
    """
    p = source.shape[1]
    if len(groups.columns) == p:
        return groups.squared_norms(R)[: 3 * p].reshape(3, p)
    return wide_statistics(source, R, groups.rows, groups.settings)


def renumbered(support: Support, old: IntArray, new: IntArray) -> Support:
    """A support without products over pooled columns `old` in the numbers of the pool `new`."""
    where, k = np.searchsorted(new, old), len(old)
    own = [int(g // k * len(new) + where[g % k]) for g in support if g < 3 * k]
    joint = [g - 3 * k + 3 * len(new) for g in support if g >= 3 * k]
    return tuple(sorted([*own, *joint]))


@dataclass(frozen=True)
class Sifter:
    """The settings and data of one sift; its methods are the steps."""

    source: Source
    response: Response
    alpha: float
    interactions: bool
    always: tuple[int, ...] = ()
    tol: float = TOL
    say: Say = silent
    settings: SiftSettings = DEFAULT
    barred: frozenset[int] = frozenset()
    """Columns that may not be selected, by themselves or in products."""
    labels: IntArray | None = None
    """(p,) the variable of each column; None = each is its own."""
    constant: tuple[int, ...] = ()
    """Columns that never change, and are no rivals of any other."""
    noise: Array | None = None
    """(n, q) residual of an earlier fit, not mapped, that says how much the rows of a cluster have
    in common; None = the response.
    """
    memo: dict[bytes, Array] = field(default_factory=dict, repr=False)
    """Own statistics of the last residual: a pass over a wide table is not made twice."""
    screens: dict[tuple[bytes, tuple[int, ...]], Screen] = field(default_factory=dict, repr=False)
    """The last screen of products, by the residual and the selected columns it was made for."""

    @property
    def n_columns(self) -> int:
        """Columns that compete: those that change."""
        return self.source.shape[1] - len(self.constant)

    @property
    def varying(self) -> IntArray:
        """The numbers of these columns."""
        return np.delete(np.arange(self.source.shape[1]), list(self.constant))

    @property
    def n_variables(self) -> int:
        """Variables that compete: columns, unless several are one."""
        return len(np.unique(self.varying if self.labels is None else self.labels[self.varying]))

    @cached_property
    def joint(self) -> JointGroups | None:
        """The joint groups of variables of several columns."""
        if self.labels is None:
            return None
        rows = self.response.rows
        Y = whiten_residual(self.response.start, rows.total)
        return make_joint(self.source, self.labels, self.varying, Y, rows, self.settings)

    @property
    def levels(self) -> tuple[Array, Array]:
        """Squared levels of the own groups of a new variable, and of one already in the support."""
        p, q = self.n_variables, self.response.Y.shape[1]
        return own_levels(self.alpha, p, q, self.interactions, self.settings)

    def first_pool(self) -> tuple[Groups, Array]:
        """Features of all columns, or of the most promising ones, and the statistics of all against
        the response.
        """
        p, rows = self.source.shape[1], self.response.rows
        Y = whiten_residual(self.response.start, rows.total)
        count = pool_size(self.source, self.settings)
        if p <= count:
            groups = self.pooled(np.arange(p))
            return groups, own_statistics(self.source, groups, Y)
        statistics = wide_statistics(self.source, Y, rows, self.settings)
        columns = promising(statistics, self.levels[0], count, list(self.always))
        return self.pooled(columns), statistics

    def pooled(self, columns: IntArray) -> Groups:
        """Groups of some columns; the linear ones of columns that are always kept cost nothing."""
        rows = self.response.rows
        groups = pool(self.source, columns, rows, *self.levels, self.settings)
        how = self.alpha, self.response.Y.shape[1], self.interactions, self.settings
        if self.joint is not None:
            own = self.joint.own_levels(columns, *how)
            groups = replace(groups, level=own[0], level_if_selected=own[1])
        free = list(self.fixed(groups))
        if rows.clusters is not None:
            groups = inflated_own(self.source, groups, self.unit_noise)
        level, selected = groups.level.copy(), groups.level_if_selected.copy()
        level[free] = selected[free] = 0.0
        groups = replace(groups, level=level, level_if_selected=selected)
        if self.joint is not None:
            groups = with_joint(groups, self.joint, *self.joint.joint_levels(*how))
            groups = inflated_joint(groups, self.unit_noise)
        return self.bar(groups)

    def without(self, barred: frozenset[int]) -> Sifter:
        """The same sift in which some columns may not be selected."""
        return replace(self, barred=barred, memo={}, screens={})

    def bar(self, groups: Groups) -> Groups:
        """The same groups, those of barred columns and their products out of reach."""
        if not self.barred:
            return groups
        own = np.tile(np.isin(groups.columns, list(self.barred)), 3)
        joint = () if groups.joint is None else groups.joint.members
        used = [not self.barred.isdisjoint(columns) for columns in (*joint, *groups.parents)]
        out = np.r_[own, used] > 0
        level, selected = groups.level.copy(), groups.level_if_selected.copy()
        level[out] = selected[out] = NEVER
        return replace(groups, level=level, level_if_selected=selected)

    def fixed(self, groups: Groups) -> Support:
        """Linear groups of the columns that are always kept."""
        return tuple(int(j) for j in np.searchsorted(groups.columns, sorted(self.always)))

    @property
    def relaxation(self) -> float:
        """How much more often a null group passes at relaxed levels."""
        return max(self.settings.relaxed / self.alpha, 1.0)

    def choose_supports(self, groups: Groups, starts: list[Support]) -> tuple[Support, Support]:
        """Support at the true and at relaxed levels, from the path and any further starts."""
        return self.choose_among(groups, [*self.proposed(groups), *starts])

    def proposed(self, groups: Groups) -> list[Support]:
        """The supports of the path."""
        return path(groups, self.response, self.fixed(groups), self.tol)

    def choose_among(self, groups: Groups, supports: list[Support]) -> tuple[Support, Support]:
        """Support at the true and at relaxed levels, from these starts."""
        fixed = self.fixed(groups)
        df, factor = groups.size * self.response.Y.shape[1], self.relaxation
        ratio = groups.ratio
        loose = replace(
            groups,
            level=relaxed_levels(groups.level / ratio, df, factor) * ratio,
            level_if_selected=relaxed_levels(groups.level_if_selected / ratio, df, factor) * ratio,
        )
        return choose_supports(groups, loose, supports, self.response, fixed)

    def best_of(self, groups: Groups, supports: list[Support]) -> Support:
        """The end of the searches from the first and from the best of some supports, as chi-square
        levels judge it.
        """
        fitted: dict[Support, float] = {}
        starts = [supports[0], *best_supports(groups, supports, self.response, 1, fitted)]
        return choose(groups, starts, self.response, self.fixed(groups), fitted)

    def residual(self, groups: Groups, support: Support) -> Array:
        """What a fit on the support leaves of the (stand-in) response, rows scaled."""
        return robust_fit(groups, support, self.response)[0]

    def unit_residual(self, groups: Groups, support: Support) -> Array:
        """The residual with unit covariance."""
        return whiten_residual(self.residual(groups, support), groups.rows.total)

    @property
    def unit_noise(self) -> Array:
        """Noise of unit covariance, rows of a cluster made independent, rows scaled."""
        rows = self.response.rows
        R = self.response.start
        if self.noise is not None:
            R = rows.centred(self.noise) * self.response.root
        return whiten_residual(R, rows.total)

    def settled(self) -> tuple[Sifter, Sifted]:
        """The sift with its answer. With groups of rows, the residual of a first sift gives the
        intraclass correlation of the noise, and the sift is run again with it.
        """
        sifter, sifted = self.with_tails()
        clusters = self.response.rows.clusters
        if clusters is None or not sifted.support:
            return sifter, sifted
        R = sifter.residual(sifted.groups, sifted.support) / self.response.root
        noise = clusters.unmapped(R.T).T
        response = beside_noise(self.response, noise)
        return replace(self, response=response, noise=noise, memo={}, screens={}).with_tails()

    def with_tails(self) -> tuple[Sifter, Sifted]:
        """The sift of columns that are cut off; or the one with linear features as they are, if its
        criterion is less by what a column costs: the best of two searches would otherwise select
        more that is false than one.
        """
        sifted = self.run()
        settings = replace(self.settings, clip_lines=False)
        other = replace(self, settings=settings, memo={}, screens={})
        if not other.explains_more(sifted):
            return self, sifted
        self.say("search again, with linear features as they are")
        found = other.run()
        before, after = (criterion(s.groups, s.support, self.response) for s in (sifted, found))
        if before - after < self.levels[0][0]:
            return self, sifted
        # columns that are not selected are ranked by what they say without their wild values
        return other, replace(found, marginal=sifted.marginal)

    def explains_more(self, sifted: Sifted) -> bool:
        """Whether the own groups of a support have a smaller criterion by the features of this
        sift than by those it was found with.
        """
        groups, k = sifted.groups, len(sifted.groups.columns)
        own = tuple(g for g in sifted.support if g < 3 * k)
        columns = np.unique(groups.columns[[g % k for g in own]])
        if not len(columns):
            return False
        here = self.pooled(columns)
        support = renumbered(own, groups.columns, columns)
        known = criterion(groups, own, self.response)
        return criterion(here, support, self.response) < known

    def screened(self, groups: Groups, R: Array, own: Array, selected: list[int]) -> Screen:
        """Products of two columns against unit-variance residuals R, of a table with more than
        `n_paired` columns those of the most promising; the same question is answered once.
        """
        key = R.tobytes(), tuple(selected)
        if key not in self.screens:
            columns = promising(own, self.levels[0], self.n_paired, selected)
            self.screens.clear()
            self.screens[key] = screen(
                partial(single_columns, self.source, rows=groups.rows, settings=self.settings),
                columns[~np.isin(columns, [*self.barred, *self.constant])],
                R / self.response.root,
                groups.rows,
                selected,
                self.alpha * self.settings.shares[3],
                self.settings,
            )
        return self.screens[key]

    @property
    def n_paired(self) -> int:
        """Columns of which all products of two are tested; 0 without interactions."""
        if not self.interactions:
            return 0
        limits, (n, q) = self.settings.limits, self.response.Y.shape
        slower = 1 if self.response.rows.clusters is None else CLUSTERS_TAKE
        affordable = isqrt(int(limits.most_products / (n * q * slower)))
        return min(max(affordable, limits.most_columns), self.n_columns)

    def add_pairs(
        self, groups: Groups, support: Support, loose: Support, *, propose: bool = False
    ) -> tuple[Groups, Support, Support]:
        """Screen products against the residual, admit what passes, and search again: from the
        supports so far, or, where these come from one search only, from those that a path over own
        groups and products proposes.
        """
        products: dict[tuple[int, int], float] = {}
        for _ in range(self.settings.rounds):
            selected = groups.variables(support)
            R = self.unit_residual(groups, support)
            rows = groups.rows
            found = self.screened(groups, R, self.own(groups, R), selected)
            new = {v: t for v, t in found.passed.items() if v not in products}
            if not new:
                break
            products |= new
            need = np.array(sorted({c for pair in products for c in pair}))
            values = dict(
                zip(
                    need.tolist(),
                    known_columns(self.source, need, rows, self.settings).T,
                    strict=True,
                )
            )
            groups = inflated_products(with_products(groups, values, products), R)
            known = [*self.proposed(groups), support] if propose else [support, loose]
            support, loose = self.choose_among(groups, known)
        return groups, support, loose

    def own(self, groups: Groups, R: Array) -> Array:
        """Own statistics (3, p) of all columns against unit-variance residuals R."""
        key = R.tobytes()
        if key not in self.memo:
            self.memo.clear()
            self.memo[key] = own_statistics(self.source, groups, R)
        return self.memo[key]

    def refill(self, groups: Groups, supports: list[Support], marginal: Array) -> IntArray | None:
        """The columns of a new pool; None where the old one will do.

        A new pool is needed if a column outside of it passes its level against the residual of the
        first support. Such columns, and those of the supports, are in the new pool. The rest of it
        are the columns with the largest statistics against the residual or the response.
        """
        p, k = self.source.shape[1], len(groups.columns)
        if k == p:
            return None
        level = self.levels[0]
        own = self.own(groups, self.unit_residual(groups, supports[0]))
        best = strongest(own, level)
        best[groups.columns] = 0.0
        if not best.max() > 1:
            return None
        used = [v for support in supports for v in groups.variables(support)]
        best[used] = np.inf
        new = np.flatnonzero(best > 1)
        if len(new) >= k:
            return largest(best, k)
        best = strongest(own, level)
        np.maximum(best, strongest(marginal, level), out=best)
        best[new] = np.inf
        return largest(best, k)

    def run(self) -> Sifted:
        """Choose a support of own groups, then of own groups and products."""
        self.say(f"screening {self.source.shape[1]:,} columns")
        groups, marginal = self.first_pool()
        self.say(f"path and search over {len(groups.columns):,} columns")
        support, loose = self.choose_supports(groups, [])
        for _ in range(self.settings.rounds):
            columns = self.refill(groups, [support, loose], marginal)
            if columns is None:
                break
            self.say(f"search again, over {len(columns):,} columns")
            support = renumbered(support, groups.columns, columns)
            del groups  # two pools at a time would be the most memory a fit takes
            groups = self.pooled(columns)
            support, loose = self.choose_supports(groups, [support])
        if self.interactions:
            self.say("products of two variables")
            groups, support, loose = self.add_pairs(groups, support, loose)
        if len(groups.columns) < self.source.shape[1]:
            groups, (support, loose) = groups.only([support, loose])
        return Sifted(groups, support, loose, marginal)
