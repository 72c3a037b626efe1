"""Rivals: the best explanation of the response that does without some columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from gradsift._run.passes import each_block
from gradsift._typing import Array, IntArray
from gradsift.sift.columns import (
    Single,
    clipped_columns,
    known_columns,
    pool_size,
    promising,
    single_columns,
)
from gradsift.sift.criterion import robust_fit
from gradsift.sift.feature_store import feature_pieces
from gradsift.sift.features import clipped
from gradsift.sift.groups import Groups, Support
from gradsift.sift.procedure import Sifted, Sifter, renumbered
from gradsift.trust.background import Relationship, relationship, without_columns


class Explanation(NamedTuple):
    """A support, and the groups it is numbered in."""

    groups: Groups
    support: Support

    @property
    def columns(self) -> list[int]:
        return self.groups.variables(self.support)

    def terms(self, without: frozenset[int] = frozenset()) -> Array:
        """Features (n, df), rows unscaled, of the groups that use none of some columns."""
        kept = [g for g in self.support if without.isdisjoint(self.groups.parents_of(g))]
        root = np.reshape(self.groups.rows.root, (-1, 1))
        return np.asarray(self.groups.stack(tuple(kept)).T / root)


@dataclass(frozen=True)
class Rivals:
    """A sifted table, asked again and again what it would say without some columns.

    Attributes
    ----------
    sifter : Sifter
    whole : Sifted
        What it finds with all columns.
    pool : Groups
        The columns that are searched, without products.
    proposals : list of supports
        Those of the path of the whole table; stripped of what is barred they are starts.
    X : (n, k) array
        Clipped values of the pooled columns, for products.
    K : Relationship or None
        Relationship of the rows over all columns.
    found, columns : dict
        Explanations and columns that were asked for before.
    """

    sifter: Sifter
    whole: Sifted
    pool: Groups
    proposals: list[Support]
    X: Single
    K: Relationship | None
    found: dict[frozenset[int], Explanation] = field(default_factory=dict, repr=False)
    columns: dict[int, tuple[Array, Array]] = field(default_factory=dict, repr=False)

    @property
    def selected(self) -> list[int]:
        return self.whole.groups.variables(self.whole.support)

    def without(self, barred: frozenset[int]) -> Explanation:
        """The sift in which these columns may not enter."""
        if barred.isdisjoint(self.selected):
            return self.as_selected
        if barred not in self.found:
            self.found[barred] = self._without(barred)
        return self.found[barred]

    @property
    def as_selected(self) -> Explanation:
        return Explanation(self.whole.groups, self.whole.support)

    def _without(self, barred: frozenset[int]) -> Explanation:
        sifter = self.sifter.without(barred)
        groups = sifter.bar(self.pool)
        starts = [self._own_support(), *self.proposals]
        stripped = dict.fromkeys(
            tuple(g for g in T if barred.isdisjoint(groups.parents_of(g))) for T in starts
        )
        support = sifter.best_of(groups, list(stripped))
        if sifter.interactions:
            groups, support, _ = sifter.add_pairs(groups, support, support, propose=True)
        return Explanation(groups, support)

    def _own_support(self) -> Support:
        """The selected support without its products, in the numbers of the pool."""
        whole = self.whole.groups
        own = tuple(g for g in self.whole.support if g < whole.first_product)
        return renumbered(own, whole.columns, self.pool.columns)

    def residual_response(self, explanation: Explanation) -> Array:
        """The stand-in response of a robust fit on an explanation, (n, q), rows unscaled."""
        response = self.sifter.response
        stand_in = robust_fit(explanation.groups, explanation.support, response)[1]
        return np.asarray(stand_in / response.root)

    def relationship_without(self, barred: frozenset[int]) -> Relationship | None:
        sifter = self.sifter
        rows = sifter.response.rows
        return without_columns(self.K, sifter.source, sorted(barred), rows, sifter.settings)

    def column(self, k: int) -> tuple[Array, Array]:
        """Clipped values (n,), NaN where missing, and own features (2 + J, n), rows unscaled."""
        if k not in self.columns:
            rows, settings = self.sifter.response.rows, self.sifter.settings
            x = known_columns(self.sifter.source, np.array([k]), rows, settings)
            made = feature_pieces(self.sifter.source, np.array([k]), rows, settings, weighted=False)
            self.columns[k] = x[:, 0], next(made)[1][0]
        return self.columns[k]


def make_rivals(sifter: Sifter, whole: Sifted) -> Rivals:
    """Pool the columns once more, with all that were selected among them."""
    rows, settings, p = sifter.response.rows, sifter.settings, sifter.source.shape[1]
    used = whole.groups.variables((*whole.support, *whole.relaxed))
    count = pool_size(sifter.source, settings)
    columns = promising(whole.marginal, sifter.levels[0], min(count, p), [*used, *sifter.always])
    pool = sifter.pooled(columns)
    return Rivals(
        sifter=sifter,
        whole=whole,
        pool=pool,
        proposals=sifter.proposed(pool),
        X=single_columns(sifter.source, columns, rows, settings),
        K=relationship(sifter.source, rows, settings),
    )


def correlated(sifter: Sifter, columns: IntArray, least: float) -> dict[int, frozenset[int]]:
    """For each of some columns, those correlated with it by `least` or more, itself included."""
    rows, settings, source = sifter.response.rows, sifter.settings, sifter.source
    A = clipped_columns(source, columns, rows, settings)
    weight = np.ones(len(A)) if rows.weight is None else rows.weight
    lever = (A * weight[:, None]).T / rows.total
    near: dict[int, set[int]] = {int(k): {int(k)} for k in columns}

    def correlations(X: Array) -> Array:
        return np.asarray(np.abs(lever @ clipped(X, rows, settings)) >= least)

    for where, close in each_block(source, lambda _: correlations):
        for k, row in zip(columns.tolist(), close, strict=True):
            near[k].update((where.start + np.flatnonzero(row)).tolist())
    return {k: frozenset(v) for k, v in near.items()}
