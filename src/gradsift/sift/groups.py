"""The groups of features that may enter a support, each with its squared level.

The squared level of a group is the chi-square statistic that it needs to be selected.
`false_positives` (alpha) is the expected number of selected variables if none has an effect. It is
divided among the kinds of groups: linear, quadratic, local and product. If a kind has the share a
and T groups, each is tested at level a alpha / T. For a group of m features and q responses, whose
statistic is chi2(m q) under the null, this gives the squared level

    t^2 = chi2.isf(a alpha / T, m q),

Bonferroni's correction within each kind. Levels and statistics are arrays (G,) over groups, or
(3, p) over the linear, quadratic and local groups of all columns.

A pool of k columns has 3 k univariate groups, `part * k + j` for part 0 (linear), 1 (quadratic) or
2 (local) of its j-th column. The joint groups of variables of several columns follow, then the
products (`GroupIndex`). A support is a sorted tuple of such numbers, and its features are the rows
of a matrix (df, n).

Several columns can form one variable: the levels of a category, the probes of a gene, a pathway.
Each of G variables is tested at level alpha / G, whatever the number m of its columns. The share
`joint_share` of this level goes to the joint group of all its columns, and 1 / m of the rest to the
univariate groups of each column. A category is then found both if it shifts the response a little
at every level, and if it does so at a single level. The joint group is the
leading principal components of the columns, whitened: r features, as many as there are directions
in which the columns differ (L - 1 for the 0/1 columns of L levels). Its statistic is chi2(r q)
under the null, like that of any other group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import betainc, chdtrc, gammaln
from scipy.stats import chi2

from gradsift.protocols import Array, IntArray
from gradsift.sift.features import Columns, FeatureStore, product_feature
from gradsift.sift.rows import Rows
from gradsift.sift.settings import DEFAULT, SiftSettings

# ------------------------------------------------ levels

NEVER = 1e6
"""Theory: a squared level that nothing reaches, and that can be added up."""
AT_A_TIME = 1 << 16
"""Memory: columns whose tails are computed at a time; they take many temporaries."""


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
    out = np.empty(len(level))
    for m in np.unique(df).tolist():
        these = np.flatnonzero(df == m)
        # many groups have few different levels: each is computed once
        values, place = np.unique(level[these], return_inverse=True)
        out[these] = chi2.isf(np.minimum(chi2.sf(values, m) * factor, 0.5), m)[place]
    return np.where(level > 0, np.minimum(out, level), 0.0)


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


Support = tuple[int, ...]
PARTS = ("linear", "quadratic", "local", "joint", "product")
JOINT, PRODUCT = 3, 4
"""Format: places of the last two kinds of groups in `PARTS`."""


@dataclass(frozen=True)
class GroupIndex:
    """What the numbers of groups stand for."""

    columns: IntArray
    """(k,) columns of the source that are pooled, increasing."""
    joint: tuple[tuple[int, ...], ...] = ()
    """Source columns of each joint group."""
    products: tuple[tuple[int, int], ...] = ()
    """Source columns of each product."""

    def part(self, group: int) -> int:
        """The kind of a group, as in `PARTS`."""
        if group < self.first_joint:
            return group // len(self.columns)
        return JOINT if group < self.first_product else PRODUCT

    def parents(self, group: int) -> tuple[int, ...]:
        """Source columns of a group."""
        if group < self.first_joint:
            return (int(self.columns[group % len(self.columns)]),)
        if group < self.first_product:
            return self.joint[group - self.first_joint]
        return self.products[group - self.first_product]

    def number(self, part: int, parents: tuple[int, ...]) -> int | None:
        """The number of the group of a kind and its columns; None where there is none."""
        if part < JOINT:
            j = int(np.searchsorted(self.columns, parents[0]))
            here = j < len(self.columns) and self.columns[j] == parents[0]
            return part * len(self.columns) + j if here else None
        joint = part == JOINT
        known: Sequence[tuple[int, ...]] = self.joint if joint else self.products
        first = self.first_joint if joint else self.first_product
        return first + known.index(parents) if parents in known else None

    @cached_property
    def first_joint(self) -> int:
        """Number of the first joint group, and of univariate groups."""
        return 3 * len(self.columns)

    @cached_property
    def first_product(self) -> int:
        return self.first_joint + len(self.joint)

    def renumbered(self, support: Support, new: GroupIndex) -> Support:
        """A support in the numbers of another pool that holds its groups too."""
        found = [new.number(self.part(g), self.parents(g)) for g in support]
        return tuple(sorted(g for g in found if g is not None))


@dataclass(frozen=True)
class JointGroups:
    """The variables of a table, and the joint groups of those with several columns.

    Attributes
    ----------
    labels : (p,) int array
        The variable of each column, 0 to `count` - 1.
    count : int
        Number of variables that vary.
    divided : (p,) int array
        Columns that a variable's part of the level is divided among.
    members : tuple of tuples of int
        Columns of each joint group.
    features : (f, n) array
        Their features, one group after the other, rows scaled.
    size : (J,) int array
        Features of each joint group.
    """

    labels: IntArray
    count: int
    divided: IntArray
    members: tuple[tuple[int, ...], ...]
    features: Array
    size: IntArray

    def squares(self, R: Array, mix: Array) -> Array:
        """||Z_g R_i||_F^2, (b, J), for residuals R_i = R mix_i: R (n, w), mix (b, w, q)."""
        along = np.square(self.features @ R @ mix).sum(axis=2)
        starts = np.cumsum(self.size) - self.size
        return np.add.reduceat(along, starts, axis=1) if len(starts) else along

    def log_evidence(
        self, univariate: Array, R: Array, total: float, interactions: bool, settings: SiftSettings
    ) -> Array:
        """Log tails (p,) of the univariate groups of columns, and of their joint group against
        unit-variance residuals R where that says more, each corrected for its part of the level.
        """
        together = np.log(self.divided) - np.log1p(-settings.joint_share)
        out = univariate + np.where(self.divided > 1, together, 0.0)
        if len(self.size):
            share = settings.joint_share * sum(shares(interactions, settings)[:3])
            squares = self.squares(R, np.eye(R.shape[1])[None])[0]
            tails = chi2_log_sf(squares / total, self.size * R.shape[1])
            for columns, tail in zip(self.members, tails - np.log(share), strict=True):
                out[list(columns)] = np.minimum(out[list(columns)], tail)
        return out

    def univariate_levels(
        self, columns: IntArray, alpha: float, q: int, interactions: bool, settings: SiftSettings
    ) -> Levels:
        """Levels (3 k,) of the univariate groups of some columns."""
        divided = self.divided[columns]
        new, further = np.empty((3, len(columns))), np.empty((3, len(columns)))
        for m in np.unique(divided).tolist():
            part = alpha if m == 1 else alpha * (1.0 - settings.joint_share) / m
            levels = univariate_levels(part, self.count, q, interactions, settings)
            these = divided == m
            new[:, these], further[:, these] = levels.new[:, None], levels.further[:, None]
        return Levels(new.ravel(), further.ravel())

    def joint_levels(
        self, alpha: float, q: int, interactions: bool, settings: SiftSettings
    ) -> Levels:
        """Levels (J,) of the joint groups."""
        part = alpha * settings.joint_share * sum(shares(interactions, settings)[:3])

        def at(tests: int) -> Array:
            return np.array([squared_level(part, tests, r * q) for r in self.size.tolist()])

        return Levels(at(self.count), at(min(self.count, settings.n_known)))


def joint_features(X: Array, rows: Rows, settings: SiftSettings = DEFAULT) -> Array:
    """Leading principal components (r, n) of clipped columns X (n, m), whitened, root-weighted.

    Components with next to no variance are rounding, or near-copies of the others; more than
    half of `most_df` n of them would fit anything.
    """
    Z = rows.centred(X) * rows.column_root
    wide = Z.shape[1] > len(Z)
    values, vectors = np.linalg.eigh((Z @ Z.T if wide else Z.T @ Z) / rows.total)
    most = max(1, int(settings.most_df / 2 * rows.total))
    order = np.argsort(-values, kind="stable")[:most]
    order = order[values[order] > settings.ridge]
    if wide:
        return np.asarray(vectors[:, order].T * np.sqrt(rows.total))
    return np.asarray((vectors[:, order] / np.sqrt(values[order])).T @ Z.T)


def make_joint(table: Columns, labels: IntArray, varying: IntArray, R: Array) -> JointGroups:
    """The joint groups of a table, of columns that vary. Of those that would take more memory than
    the features of the columns may, the most promising against unit-variance residuals R (n, q) are
    kept.
    """
    labels = np.unique(labels, return_inverse=True)[1].astype(np.intp)
    divided = np.ones(len(labels), dtype=np.intp)
    found: list[tuple[float, tuple[int, ...], Array]] = []
    rows, settings = table.rows, table.settings
    held, most = 0, settings.limits.most_values // 8
    order = np.argsort(labels[varying], kind="stable")
    ends = np.cumsum(np.bincount(labels[varying]))
    for columns in np.split(varying[order], ends[:-1]):
        if len(columns) < 2:
            continue
        Z = joint_features(table.clipped(columns), rows, settings)
        if len(Z) < 2:  # one direction, such as two levels: each column is the whole variable
            continue
        divided[columns] = len(columns)
        statistic = float(np.square(Z @ R).sum() / rows.total)
        tail = float(chi2_log_sf(np.array(statistic), len(Z) * R.shape[1]))
        found.append((tail, tuple(columns.tolist()), Z))
        held += Z.size
        while held > most and len(found) > 1:
            held -= found.pop(max(range(len(found)), key=lambda i: found[i][0]))[2].size
    features = np.concatenate([np.zeros((0, rows.count)), *(Z for *_, Z in found)])
    size = np.array([len(Z) for *_, Z in found], dtype=np.intp)
    members = tuple(columns for _, columns, _ in found)
    count = len(np.unique(labels[varying]))
    return JointGroups(labels, count, divided, members, features, size)


@dataclass(frozen=True)
class Prior:
    """Mean and variance of the design effects of all columns (`design_effects`)."""

    mean: float
    spread: float
    """Variance over columns beyond sampling error; infinite = no shrinkage."""


@dataclass(frozen=True)
class Inflation:
    """Factors by which clusters of rows increase squared levels (`design_effects`)."""

    ratio: Array
    """(G,)"""
    prior: Prior
    """Of the linear groups."""


@dataclass(frozen=True)
class Groups:
    index: GroupIndex
    univariate: FeatureStore
    """Whitened features of the pooled columns."""
    products: Array
    """(s, n) whitened products."""
    levels: Levels
    """(G,) squared levels."""
    size: IntArray
    """(G,) number of features."""
    table: Columns
    """The columns of the source, with rows and settings."""
    inflation: Inflation | None = None
    """Part of the levels that clusters of rows make up; None = rows are independent."""
    joint: JointGroups | None = None
    """Which columns are one variable; None = each column is one variable."""

    @property
    def rows(self) -> Rows:
        return self.table.rows

    @property
    def columns(self) -> IntArray:
        """(k,) column of the source behind each pooled column."""
        return self.index.columns

    @property
    def ratio(self) -> Array:
        """(G,) by how much clusters of rows inflate the levels."""
        return np.ones(len(self.size)) if self.inflation is None else self.inflation.ratio

    def stack(self, support: Support) -> Array:
        """Features of a support, (df, n)."""
        part, k = self.index.part, len(self.columns)
        own = [g for g in support if part(g) < JOINT]
        made = self.univariate.stack([(g % k, part(g)) for g in own])
        for g in support[len(own) :]:
            at = g - self.index.first_product
            made.append(self.joint_features(g) if part(g) == JOINT else self.products[at : at + 1])
        return np.concatenate([self.products[:0], *made])

    def joint_features(self, group: int) -> Array:
        """Features of a joint group, (r, n)."""
        assert self.joint is not None
        number = group - self.index.first_joint
        start = int(self.joint.size[:number].sum())
        return self.joint.features[start : start + int(self.joint.size[number])]

    def owners_of(self, group: int) -> tuple[int, ...]:
        """Variables a group belongs to: its columns, unless several are one variable."""
        parents = self.index.parents(group)
        if self.joint is None:
            return parents
        return tuple(sorted(set(self.joint.labels[list(parents)].tolist())))

    def variables(self, support: Support) -> list[int]:
        """Source columns a support uses, sorted."""
        return sorted({v for g in support for v in self.index.parents(g)})

    def only(self, supports: list[Support]) -> tuple[Groups, list[Support]]:
        """The groups of the columns some supports use, and the supports in their numbers."""
        old, k = self.index, len(self.columns)
        used = sorted({g % k for T in supports for g in T if old.part(g) < JOINT})
        new = replace(old, columns=self.columns[used])
        kept = np.array([part * k + j for part in range(3) for j in used], dtype=np.intp)
        kept = np.concatenate([kept, np.arange(old.first_joint, len(self.size))])
        groups = replace(
            self,
            index=new,
            univariate=self.univariate.only(used),
            levels=self.levels.take(kept),
            size=self.size[kept],
            inflation=self.inflation and replace(self.inflation, ratio=self.ratio[kept]),
        )
        return groups, [old.renumbered(T, new) for T in supports]

    def excluding(self, out: Iterable[int]) -> Groups:
        """The same groups, some of them with levels that no statistic reaches."""
        which = np.array(sorted(out), dtype=np.intp)
        return replace(self, levels=self.levels.with_value(which, NEVER))

    def excluding_columns(self, columns: frozenset[int]) -> Groups:
        """The same groups, without a chance for those that use one of these columns."""
        if not columns:
            return self
        every = range(len(self.size))
        used = [g for g in every if not columns.isdisjoint(self.index.parents(g))]
        return self.excluding(used)

    def squared_norms(self, R: Array, mix: Array | None = None) -> Array:
        """||Z_g R||_F^2 / n for a residual R (n, q): (G,). For many residuals R_i = R mix_i, from R
        (n, w) and mix (b, w, q): (b, G).
        """
        many = np.eye(R.shape[1])[None] if mix is None else mix
        pairs = np.square(self.products @ R @ many).sum(axis=2)
        own = self.univariate.squares(R, many).reshape(len(many), -1)
        together = [] if self.joint is None else [self.joint.squares(R, many)]
        out = np.concatenate([own, *together, pairs], axis=1)
        out /= self.rows.total
        return out[0] if mix is None else out


def pool(table: Columns, columns: IntArray, levels: Levels) -> Groups:
    """Univariate groups of some columns, of which all have the same `levels` (3,)."""
    k, settings = len(columns), table.settings
    return Groups(
        index=GroupIndex(columns),
        univariate=table.stored(columns),
        products=np.zeros((0, table.rows.count)),
        levels=levels.map(lambda level: np.repeat(level, k)),
        size=np.repeat(np.array(settings.part_sizes, dtype=np.intp), k),
        table=table,
    )


def with_products(
    groups: Groups, X: dict[int, Array], pairs: dict[tuple[int, int], float]
) -> Groups:
    """The same groups with these products (pair -> squared level) in place of any earlier ones."""
    before = slice(0, groups.index.first_product)
    made = [product_feature(np.stack([X[a], X[b]], axis=1), groups.rows) for a, b in pairs]
    level = np.array(list(pairs.values()))
    return replace(
        groups,
        index=replace(groups.index, products=tuple(pairs)),
        products=np.array(made).reshape(len(made), groups.products.shape[1]),
        levels=groups.levels.take(before).followed_by(Levels(level, level)),
        size=np.concatenate([groups.size[before], np.ones(len(pairs), dtype=np.intp)]),
    )


def least_squares(Z: Array, Y: Array, total: float, ridge: float) -> Array:
    """Coefficients (df, q) of min ||Y - Z' B||^2 / n + ridge ||B||^2."""
    gram = Z @ Z.T / total
    gram[np.diag_indices_from(gram)] += ridge
    return np.asarray(np.linalg.solve(gram, Z @ Y / total))
