"""Families: columns that could each be the one that acts, and how sure it is that one of them does.

Data of few rows cannot tell near-copies apart, so a selected column often stands for others. A
family is the smallest set of columns, each in the place of the others, of which one acts in 95 % of
the draws (`draws`), or as often as the data allows. It rests on what the response says, and not on
correlations alone, as stand-ins do (`discoveries`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from gradsift._typing import Array, IntArray
from gradsift.trust.draws import Draws, Tally, set_probability, standard_error
from gradsift.trust.family_settings import FamilySettings
from gradsift.trust.roughness import Roughness, largest, roughness_of
from gradsift.trust.single_effects import PRODUCT, EffectPrior

CHOSEN_VIEWS = 3000
"""Views that the members of families are chosen by; all views tell their probability."""
LEAST_FIRST = 0.02
"""Families begin with columns of at least this probability."""
MOST_FAMILIES = 20


@dataclass(frozen=True)
class Family:
    """Columns of which one acts, with a stated probability.

    Attributes
    ----------
    columns : int array
        Column numbers, the most probable first.
    probability : float
        Probability that at least one of them acts on the response.
    shape : str
        Most probable form of the effect: parts among "linear", "quadratic" and "local", or
        "product".
    weights : array
        Probability of each column to act.
    purity : float
        Smallest absolute correlation between two of the columns (of the first 100).
    partners : int array or None
        Columns of the other side of a product.
    standard_error : float
        Monte Carlo error of the probability.
    """

    columns: IntArray
    probability: float
    shape: str
    weights: Array
    purity: float
    partners: IntArray | None = None
    standard_error: float = 0.0

    @property
    def representative(self) -> int:
        """The most probable column."""
        return int(self.columns[0])

    def among(self, p: int) -> Family | None:
        """The same without columns from number p on; None where one side of it is empty then."""
        own, partners = self.columns < p, self.partners
        if partners is not None:
            partners = partners[partners < p]
        if not own.any() or (partners is not None and len(partners) == 0):
            return None
        return replace(
            self, columns=self.columns[own], weights=self.weights[own], partners=partners
        )


@dataclass(frozen=True)
class CredibleFamilies:
    """Families and the probability of every column, from draws of the posterior.

    Attributes
    ----------
    families : tuple of Family
        The most probable first; those with a probability of one half or more.
    inclusion_probabilities : (p,) array
        Probability of every column to act on the response.
    n_sweeps : int
        Sweeps that were kept of each chain.
    disagreement : float
        Largest difference of a probability between chains that started from the sift's answer and
        chains that started from nothing.
    standard_error : float
        Largest Monte Carlo standard error of an inclusion probability, from the spread of the
        chains.
    shown : Roughness
        The same two numbers among the probabilities that are shown: those of the families, of their
        members and of the selected columns.
    """

    families: tuple[Family, ...]
    inclusion_probabilities: Array
    n_sweeps: int
    disagreement: float
    standard_error: float
    shown: Roughness = field(default_factory=Roughness)

    @property
    def roughness(self) -> float:
        """By how much some probability may be off, for want of draws: two standard errors, or half
        of the disagreement if that is more.
        """
        return Roughness(self.standard_error, self.disagreement).value

    def among(self, p: int) -> CredibleFamilies:
        """What is said of the first p columns: those that follow are covariates."""
        if len(self.inclusion_probabilities) == p:
            return self
        own = [family.among(p) for family in self.families]
        return replace(
            self,
            families=tuple(family for family in own if family is not None),
            inclusion_probabilities=self.inclusion_probabilities[:p],
        )

    def __len__(self) -> int:
        return len(self.families)

    def __iter__(self) -> Iterator[Family]:
        return iter(self.families)

    def __getitem__(self, i: int) -> Family:
        return self.families[i]


def cover(views: Array, linear: Array, settings: FamilySettings) -> list[IntArray]:
    """Disjoint sets of columns that take each other's place.

    The most probable column begins a family; then, again and again, comes the column that adds most
    to the probability that some member acts, if it takes the others' place instead of acting beside
    them.

    Parameters
    ----------
    views : (v, k) array
    linear : (k, n) array
        Linear features, for correlations.
    """
    V = np.array(views, dtype=np.float32)
    total = np.maximum(np.sqrt(np.einsum("kn,kn->k", linear, linear)), 1e-30)
    found = []
    for _ in range(MOST_FAMILIES):
        alone = V.mean(axis=0, dtype=np.float64)
        first = int(alone.argmax())
        if alone[first] < LEAST_FIRST:
            break
        near = np.abs(linear @ linear[first]) / (total * total[first]) >= settings.related
        near[first] = False
        members = grow(V, first, np.flatnonzero(near & (alone > settings.least_gain / 2)), settings)
        found.append(members)
        V[:, members] = 0.0
    return found


def grow(V: Array, first: int, rest: IntArray, settings: FamilySettings) -> IntArray:
    """The members of the family of a column, from the columns that may join it."""
    members, some = [first], V[:, first].copy()
    alone = V[:, rest].mean(axis=0, dtype=np.float64)
    probability = float(some.mean(dtype=np.float64))
    while probability < settings.level and len(members) < settings.most_members and len(rest):
        both = np.minimum(some[:, None] + V[:, rest], np.float32(1.0))
        gain = both.mean(axis=0, dtype=np.float64) - probability
        gain[gain < settings.takes_place * alone] = 0.0
        best = int(gain.argmax())
        if gain[best] < settings.least_gain:
            break
        members.append(int(rest[best]))
        some, probability = both[:, best], probability + float(gain[best])
        rest, alone = np.delete(rest, best), np.delete(alone, best)
    return np.array(members, dtype=np.intp)


@dataclass(frozen=True)
class Members:
    """Candidates that form a family, the most probable first, and how probable they are."""

    index: IntArray
    weights: Array
    probability: float
    standard_error: float
    chains: Array
    """(b,) probability of the family in each chain."""


class FoundFamily(NamedTuple):
    """A family, and how rough the probabilities are that are shown of it."""

    family: Family
    roughness: Roughness


def found_families(
    tally: Tally, likely: IntArray, linear: Array, settings: FamilySettings
) -> list[Members]:
    """Families of `likely` candidates of a tally, if they are probable enough; `linear` as in
    `cover`.
    """
    views = tally.views_of(likely)  # (v, b, s)
    flat = views.reshape(-1, views.shape[2])
    step = max(1, len(flat) // CHOSEN_VIEWS)
    alone = tally.means.mean(axis=0)[likely]
    found = []
    for index in cover(flat[::step], linear, settings):
        chains = set_probability(views[:, :, index]).mean(axis=0, dtype=np.float64)
        index = index[np.argsort(-alone[index], kind="stable")]
        probability, error = float(chains.mean()), float(standard_error(chains))
        if probability >= settings.least_probability:
            found.append(Members(likely[index], alone[index], probability, error, chains))
    return found


def own_families(
    draws: Draws,
    linear_of: Callable[[IntArray], Array],
    prior: EffectPrior,
    settings: FamilySettings,
) -> list[FoundFamily]:
    """Families of columns, whose linear features `linear_of` gives."""
    likely = draws.own.likely(settings)
    linear, found = linear_of(draws.columns[likely]), []
    for members in found_families(draws.own, likely, linear, settings):
        family = Family(
            columns=draws.columns[members.index],
            probability=members.probability,
            shape=likely_shape(draws.own, members.index, prior),
            weights=members.weights,
            purity=purity(linear_of(draws.columns[members.index])),
            standard_error=members.standard_error,
        )
        each = draws.own.means[:, members.index]
        rough = largest([roughness_of(members.chains), roughness_of(each)])
        found.append(FoundFamily(family, rough))
    return found


def product_families(
    draws: Draws,
    feature_of: Callable[[IntArray], Array],
    linear_of: Callable[[IntArray], Array],
    settings: FamilySettings,
) -> list[FoundFamily]:
    """Families of products: columns of either side. `feature_of` gives the features (m, n) of
    pairs (m, 2), and `linear_of` those of columns.
    """
    if draws.products is None:
        return []
    likely = draws.products.likely(settings)
    products, found = feature_of(draws.pairs[likely]), []
    for members in found_families(draws.products, likely, products, settings):
        pairs = draws.pairs[members.index]
        columns, weights = heaviest_first(pairs[:, 0], members.weights)
        family = Family(
            columns=columns,
            probability=members.probability,
            shape=PRODUCT,
            weights=weights,
            purity=purity(linear_of(columns)),
            partners=heaviest_first(pairs[:, 1], members.weights)[0],
            standard_error=members.standard_error,
        )
        each = draws.products.means[:, members.index] @ (pairs[:, :1] == columns)
        rough = largest([roughness_of(members.chains), roughness_of(each)])
        found.append(FoundFamily(family, rough))
    return found


def heaviest_first(labels: IntArray, weight: Array) -> tuple[IntArray, Array]:
    """Distinct labels and the sums of their weights, the heaviest first."""
    names, place = np.unique(labels, return_inverse=True)
    total: Array = np.bincount(place, weight).astype(np.float64)
    order = np.argsort(-total, kind="stable")
    return names[order], total[order]


def likely_shape(tally: Tally, members: IntArray, prior: EffectPrior) -> str:
    """The shape that most of the weight of some candidates has."""
    weight = np.asarray(tally.settings)[:, members].sum(axis=1)
    return prior.shapes[int(np.bincount(prior.shape, weight).argmax())]


def purity(linear: Array) -> float:
    """Smallest absolute correlation among rows (of the first 100)."""
    rows = np.asarray(linear[:100], dtype=np.float64)
    rows = rows / np.maximum(np.linalg.norm(rows, axis=1), 1e-30)[:, None]
    return float(min(np.abs(rows @ rows.T).min(), 1.0))


def inclusion_probabilities(draws: Draws, p: int) -> Array:
    """Probability (p,) of every column to act by itself or in a product."""
    found = np.zeros(p)
    found[draws.columns] = draws.own.means.mean(axis=0)
    if draws.products is not None:
        for column in np.unique(draws.pairs):
            pairs = np.flatnonzero((draws.pairs == column).any(axis=1))
            views = draws.products.views_of(pairs)
            some = set_probability(views).mean(dtype=np.float64)
            found[column] = 1.0 - (1.0 - found[column]) * (1.0 - some)
    return np.clip(found, 0.0, 1.0)
