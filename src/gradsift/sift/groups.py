"""The groups in play: three per pooled column, one per variable of several columns, one per
product, each with its squared level.

Groups are numbered: with k pooled columns, group `part * k + j` is part 0 (linear), 1 (quadratic)
or 2 (local) of pooled column j. The joint groups of variables of several columns follow
(`feature_groups`), then the products, from `first_product` on. A support is a sorted tuple of such
numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from gradsift.protocols import Array, IntArray, Source
from gradsift.sift.feature_store import FeatureStore, pooled_features
from gradsift.sift.features import clipped_columns, product_feature
from gradsift.sift.levels import NEVER, chi2_log_sf, own_levels, shares, squared_level
from gradsift.sift.response import Response
from gradsift.sift.rows import Rows
from gradsift.sift.settings import DEFAULT, SiftSettings

# Columns that are one variable: the levels of a category, the probes of a gene, a pathway.
#
# Of G variables each may spend alpha / G, whatever the number of its columns. A variable of m
# columns divides its part: `joint_share` of it is for the joint group, all columns together, and
# the rest is for the own groups of the columns, an m-th each. So a category is found that shifts
# the response a little at every level, and one that does at a single level.
#
# The joint group is the leading principal components of the columns, whitened: r features, as
# many as there are directions in which the columns differ (L - 1 for the 0/1 columns of L
# levels). Its statistic is chi2(r q) under the null, like that of any other group.


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
        self, own: Array, R: Array, total: float, interactions: bool, settings: SiftSettings
    ) -> Array:
        """Log tails (p,) of the own groups of columns, and of their joint group against
        unit-variance residuals R where that says more, each corrected for its part of the level.
        """
        together = np.log(self.divided) - np.log1p(-settings.joint_share)
        out = own + np.where(self.divided > 1, together, 0.0)
        if len(self.size):
            share = settings.joint_share * sum(shares(interactions, settings)[:3])
            squares = self.squares(R, np.eye(R.shape[1])[None])[0]
            tails = chi2_log_sf(squares / total, self.size * R.shape[1])
            for columns, tail in zip(self.members, tails - np.log(share), strict=True):
                out[list(columns)] = np.minimum(out[list(columns)], tail)
        return out

    def own_levels(
        self, columns: IntArray, alpha: float, q: int, interactions: bool, settings: SiftSettings
    ) -> tuple[Array, Array]:
        """Squared levels (3 k,) of the own groups of some columns, of a new variable and of one
        already in the support.
        """
        divided = self.divided[columns]
        new, known = np.empty((3, len(columns))), np.empty((3, len(columns)))
        for m in np.unique(divided).tolist():
            part = alpha if m == 1 else alpha * (1.0 - settings.joint_share) / m
            levels = own_levels(part, self.count, q, interactions, settings)
            these = divided == m
            new[:, these], known[:, these] = levels[0][:, None], levels[1][:, None]
        return new.ravel(), known.ravel()

    def joint_levels(
        self, alpha: float, q: int, interactions: bool, settings: SiftSettings
    ) -> tuple[Array, Array]:
        """Squared levels (J,) of the joint groups, as in `own_levels`."""
        part = alpha * settings.joint_share * sum(shares(interactions, settings)[:3])
        known = min(self.count, settings.n_known)
        level = {
            r: (squared_level(part, self.count, r * q), squared_level(part, known, r * q))
            for r in np.unique(self.size).tolist()
        }
        both = np.array([level[r] for r in self.size.tolist()]).reshape(-1, 2)
        return both[:, 0], both[:, 1]


def joint_features(X: Array, rows: Rows, settings: SiftSettings = DEFAULT) -> Array:
    """Leading principal components (r, n) of clipped columns X (n, m), whitened, root-weighted.

    Components with next to no variance are rounding, or near-copies of the others; more than
    half of `most_df` n of them would fit anything.
    """
    Z = rows.centred(X) * np.reshape(rows.root, (-1, 1))
    wide = Z.shape[1] > len(Z)
    values, vectors = np.linalg.eigh((Z @ Z.T if wide else Z.T @ Z) / rows.total)
    most = max(1, int(settings.most_df / 2 * rows.total))
    order = np.argsort(-values, kind="stable")[:most]
    order = order[values[order] > settings.ridge]
    if wide:
        return np.asarray(vectors[:, order].T * np.sqrt(rows.total))
    return np.asarray((vectors[:, order] / np.sqrt(values[order])).T @ Z.T)


def columns_of_each(labels: IntArray) -> Iterator[IntArray]:
    """The columns of each variable that has several."""
    order = np.argsort(labels, kind="stable")
    ends = np.cumsum(np.bincount(labels))
    yield from (part for part in np.split(order, ends[:-1]) if len(part) > 1)


def make_joint(
    source: Source,
    labels: IntArray,
    varying: IntArray,
    R: Array,
    rows: Rows,
    settings: SiftSettings = DEFAULT,
) -> JointGroups:
    """The joint groups of a table, of columns that vary. Of those that would take more memory than
    the features of the columns may, the most promising against unit-variance residuals R (n, q) are
    kept.
    """
    labels = np.unique(labels, return_inverse=True)[1].astype(np.intp)
    divided = np.ones(len(labels), dtype=np.intp)
    found: list[tuple[float, tuple[int, ...], Array]] = []
    held, most = 0, settings.limits.most_values // 8
    for places in columns_of_each(labels[varying]):
        columns = varying[places]
        Z = joint_features(clipped_columns(source, columns, rows, settings), rows, settings)
        if len(Z) < 2:  # one direction, such as two levels: each column is the whole variable
            continue
        divided[columns] = len(columns)
        statistic = float(np.square(Z @ R).sum() / rows.total)
        tail = float(chi2_log_sf(np.array(statistic), len(Z) * R.shape[1]))
        found.append((tail, tuple(columns.tolist()), Z))
        held += Z.size
        while held > most and len(found) > 1:
            held -= found.pop(max(range(len(found)), key=lambda i: found[i][0]))[2].size
    n = rows.count(source.shape[0])
    features = np.concatenate([np.zeros((0, n)), *(Z for *_, Z in found)])
    size = np.array([len(Z) for *_, Z in found], dtype=np.intp)
    members = tuple(columns for _, columns, _ in found)
    count = len(np.unique(labels[varying]))
    return JointGroups(labels, count, divided, members, features, size)


Support = tuple[int, ...]


@dataclass(frozen=True)
class Inflation:
    """How much larger squared levels are because rows belong together (`design_effects`)."""

    ratio: Array
    """(3 k + s,)"""
    mean: float
    """Design effect of a typical linear group."""
    spread: float
    """Variance of that over columns."""


@dataclass(frozen=True)
class Groups:
    columns: IntArray
    """(k,) column of the source behind each pooled column."""
    own: FeatureStore
    """Their whitened features."""
    products: Array
    """(s, n) whitened products."""
    parents: tuple[tuple[int, int], ...]
    """Source columns of each product."""
    level: Array
    """(3 k + s,) squared levels t_g^2."""
    level_if_selected: Array
    """(3 k + s,) squared levels of groups whose variable is in the support already."""
    size: IntArray
    """(3 k + s,) number of features."""
    rows: Rows
    settings: SiftSettings = DEFAULT
    fits: dict[Support, tuple[Response, Array, Array]] = field(default_factory=dict, repr=False)
    """Fits on some of these features, whatever their levels (`search.robust_fit`)."""
    inflation: Inflation | None = None
    """Part of the levels that clusters of rows make up; None = rows are independent."""
    joint: JointGroups | None = None
    """Which columns are one variable; None = each is its own."""

    @property
    def first_product(self) -> int:
        """Number of the first product."""
        return 3 * len(self.columns) + (0 if self.joint is None else len(self.joint.members))

    @property
    def ratio(self) -> Array:
        """(3 k + s,) by how much clusters of rows inflate the levels."""
        return np.ones(len(self.level)) if self.inflation is None else self.inflation.ratio

    def stack(self, support: Support) -> Array:
        """Features of a support, (df, n)."""
        k = len(self.columns)
        own = self.own.stack([(g % k, g // k) for g in support if g < 3 * k])
        first = self.first_product
        together = [self.joint_features(g - 3 * k) for g in support if 3 * k <= g < first]
        made = [self.products[g - first : g - first + 1] for g in support if g >= first]
        return np.concatenate([self.products[:0], *own, *together, *made])

    def joint_features(self, number: int) -> Array:
        """Features of a joint group, (r, n)."""
        assert self.joint is not None
        start = int(self.joint.size[:number].sum())
        return self.joint.features[start : start + int(self.joint.size[number])]

    def parents_of(self, group: int) -> tuple[int, ...]:
        """Source columns a group belongs to."""
        k, first = len(self.columns), self.first_product
        if group >= first:
            return self.parents[group - first]
        if self.joint is not None and group >= 3 * k:
            return self.joint.members[group - 3 * k]
        return (int(self.columns[group % k]),)

    def owners_of(self, group: int) -> tuple[int, ...]:
        """Variables a group belongs to: its columns, unless several are one variable."""
        parents = self.parents_of(group)
        if self.joint is None:
            return parents
        return tuple(sorted(set(self.joint.labels[list(parents)].tolist())))

    def place_of(self, column: int) -> int | None:
        """Number of a source column in the pool; None where it is not pooled."""
        j = int(np.searchsorted(self.columns, column))
        return j if j < len(self.columns) and self.columns[j] == column else None

    def variables(self, support: Support) -> list[int]:
        """Source columns a support uses, sorted."""
        return sorted({v for g in support for v in self.parents_of(g)})

    def only(self, supports: list[Support]) -> tuple[Groups, list[Support]]:
        """The groups of the columns some supports use, and the supports in their numbers."""
        k = len(self.columns)
        used = sorted({g % k for support in supports for g in support if g < 3 * k})
        place = {j: i for i, j in enumerate(used)}

        def number(g: int) -> int:
            return g // k * len(used) + place[g % k] if g < 3 * k else g - 3 * (k - len(used))

        kept = [part * k + j for part in range(3) for j in used]
        kept += range(3 * k, len(self.level))
        groups = replace(
            self,
            columns=self.columns[used],
            own=self.own.only(used),
            level=self.level[kept],
            level_if_selected=self.level_if_selected[kept],
            size=self.size[kept],
            inflation=self.inflation and replace(self.inflation, ratio=self.ratio[kept]),
            fits={},
        )
        return groups, [tuple(sorted(map(number, support))) for support in supports]

    def without(self, out: set[int]) -> Groups:
        """The same groups, some of them out of reach."""
        level, selected = self.level.copy(), self.level_if_selected.copy()
        level[list(out)] = selected[list(out)] = NEVER
        return replace(self, level=level, level_if_selected=selected)

    def squared_norms(self, R: Array, mix: Array | None = None) -> Array:
        """||Z_g R||_F^2 / n for a residual R (n, q): (G,). For many residuals R_i = R mix_i, from R
        (n, w) and mix (b, w, q): (b, G).
        """
        many = np.eye(R.shape[1])[None] if mix is None else mix
        pairs = np.square(self.products @ R @ many).sum(axis=2)
        own = self.own.squares(R, many).reshape(len(many), -1)
        together = [] if self.joint is None else [self.joint.squares(R, many)]
        out = np.concatenate([own, *together, pairs], axis=1)
        out /= self.rows.total
        return out[0] if mix is None else out


def pool(
    source: Source,
    columns: IntArray,
    rows: Rows,
    levels: Array,
    level_if_selected: Array,
    settings: SiftSettings = DEFAULT,
) -> Groups:
    """Groups of some columns without products; `levels` as from `own_levels`."""
    k = len(columns)
    return Groups(
        columns=columns,
        own=pooled_features(source, columns, rows, settings),
        products=np.zeros((0, rows.count(source.shape[0]))),
        parents=(),
        level=np.repeat(levels, k),
        level_if_selected=np.repeat(level_if_selected, k),
        size=np.repeat(np.array(settings.part_sizes, dtype=np.intp), k),
        rows=rows,
        settings=settings,
    )


def with_products(
    groups: Groups, X: dict[int, Array], pairs: dict[tuple[int, int], float]
) -> Groups:
    """The same groups with these products (pair -> squared level) in place of any earlier ones."""
    first = groups.first_product
    made = [product_feature(np.stack([X[a], X[b]], axis=1), groups.rows) for a, b in pairs]
    return replace(
        groups,
        products=np.array(made).reshape(len(made), groups.products.shape[1]),
        parents=tuple(pairs),
        level=np.concatenate([groups.level[:first], np.array(list(pairs.values()))]),
        level_if_selected=np.concatenate(
            [groups.level_if_selected[:first], np.array(list(pairs.values()))]
        ),
        size=np.concatenate([groups.size[:first], np.ones(len(pairs), dtype=np.intp)]),
        fits={},
    )


def with_joint(groups: Groups, joint: JointGroups, level: Array, if_selected: Array) -> Groups:
    """Groups of some columns without products, and the joint groups with their squared levels."""
    return replace(
        groups,
        joint=joint,
        level=np.concatenate([groups.level, level]),
        level_if_selected=np.concatenate([groups.level_if_selected, if_selected]),
        size=np.concatenate([groups.size, joint.size]),
        fits={},
    )


def least_squares(Z: Array, Y: Array, total: float, ridge: float) -> Array:
    """Coefficients (df, q) of min ||Y - Z' B||^2 / n + ridge ||B||^2."""
    gram = Z @ Z.T / total
    gram[np.diag_indices_from(gram)] += ridge
    return np.asarray(np.linalg.solve(gram, Z @ Y / total))
