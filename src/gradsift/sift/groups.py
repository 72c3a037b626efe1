"""The groups in play: three per pooled column, one per variable of several columns, one per
product, each with its squared level.

Groups are numbered: with k pooled columns, group `part * k + j` is part 0 (linear), 1 (quadratic)
or 2 (local) of pooled column j. The joint groups of variables of several columns follow
(`feature_groups`), then the products, from `first_product` on. A support is a sorted tuple of such
numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from gradsift._typing import Array, IntArray, Source
from gradsift.sift.feature_groups import JointGroups
from gradsift.sift.feature_store import FeatureStore, pooled_features
from gradsift.sift.features import product_feature
from gradsift.sift.levels import NEVER
from gradsift.sift.response import Response
from gradsift.sift.rows import Rows
from gradsift.sift.settings import DEFAULT, SiftSettings

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
