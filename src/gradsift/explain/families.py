"""One row per family: sets of variables of which one acts, as a page or a terminal shows them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradsift._typing import Array, IntArray
from gradsift.data.slices import take_columns
from gradsift.explain.variables import came_back
from gradsift.trust import Significance, Stability
from gradsift.trust.families import Family
from gradsift.trust.tested import ColumnTest

MOST_CORRELATED = 100
"""Members whose correlations with the first are looked at."""


@dataclass(frozen=True)
class Member:
    """A variable of a family.

    Attributes
    ----------
    name : str
    column : int
        Its most probable column.
    probability : float
        How sure it is that this variable acts.
    correlation : float
        With the first member; nan beyond the first hundred.
    selected : bool
    """

    name: str
    column: int
    probability: float
    correlation: float
    selected: bool


@dataclass(frozen=True)
class FamilyTest:
    """What tests say about a family.

    Attributes
    ----------
    p_value, q_value : float
    rival : tuple of str or None
        What explains the response best without the family; None for a product, which is tested
        beyond all that its two sides do alone.
    rival_unexplained : float
        Share of the variance that this leaves.
    """

    p_value: float
    q_value: float
    rival: tuple[str, ...] | None
    rival_unexplained: float


@dataclass(frozen=True)
class FamilySummary:
    """What is known about one family.

    Attributes
    ----------
    probability : float
        How sure it is that at least one member acts.
    standard_error : float
        How much that would move with other random numbers.
    shape : str
        "straight", "curved" or "product"; reports also say "category".
    members : tuple of Member
        The most probable first.
    partners : tuple of str
        Variables of the other side of a product.
    test : FamilyTest or None
        None where families were not tested.
    came_back : float or None
        Share of the half samples that selected some member; None where there were none, and of
        products.
    by_chance : float or None
        The same for as many columns drawn at random.
    """

    probability: float
    standard_error: float
    shape: str
    members: tuple[Member, ...]
    partners: tuple[str, ...]
    test: FamilyTest | None
    came_back: float | None
    by_chance: float | None

    @property
    def names(self) -> list[str]:
        return [member.name for member in self.members]

    @property
    def is_named(self) -> bool:
        """Whether it is a single variable, which acts by itself."""
        return len(self.members) == 1 and self.shape != "product"


def summarise_families(
    model: Any,
    families: Sequence[Family],
    X: Any,
    name_of: Callable[[int], str],
    *,
    significance: Significance | None = None,
    stability: Stability | None = None,
) -> list[FamilySummary]:
    """Everything that is shown of families, the most probable first.

    Parameters
    ----------
    model : fitted estimator
    families : sequence of Family
    X : (n, p) array, data frame or source
        Samples to compute correlations from.
    name_of : function
        The name of the variable that a column belongs to. Columns of one variable, such as the 0/1
        columns of a category, are one member.
    significance : Significance, optional
        With tests of these families.
    stability : Stability, optional
        Selections on half samples.

    Returns
    -------
    rows : list of FamilySummary

    Examples
    --------
    >>> from gradsift import GradientSiftRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 30))
    >>> X[:, 8] = X[:, 3] + 0.1 * rng.normal(size=100)      # nearly a copy
    >>> y = X[:, 3] ** 2 + X[:, 5] + rng.normal(size=100)
    >>> model = GradientSiftRegressor(inference=True).fit(X, y)
    >>> rows = summarise_families(model, model.families_, X, "x{}".format)
    >>> sorted((row.names, row.shape) for row in rows)
    [(['x3', 'x8'], 'curved'), (['x5'], 'straight')]
    """
    selected = model.get_support()
    return [
        FamilySummary(
            probability=family.probability,
            standard_error=family.standard_error,
            shape=plain_shape(family.shape),
            members=family_members(family, X, name_of, selected),
            partners=distinct(family.partners, name_of),
            test=None if significance is None else family_test(family, significance, name_of),
            came_back=again[0],
            by_chance=again[1],
        )
        for family in families
        for again in [came_back(None if family.partners is not None else stability, family.columns)]
    ]


def plain_shape(shape: str) -> str:
    """The form of an effect in one word."""
    return {"linear": "straight", "product": "product"}.get(shape, "curved")


def distinct(columns: IntArray | None, name_of: Callable[[int], str]) -> tuple[str, ...]:
    """The variables of some columns, each once."""
    return () if columns is None else tuple(dict.fromkeys(map(name_of, columns.tolist())))


def family_members(
    family: Family, X: Any, name_of: Callable[[int], str], selected: Array
) -> tuple[Member, ...]:
    """Variables of a family; probabilities of columns of one variable add up."""
    correlations = with_first(take_columns(X, family.columns[:MOST_CORRELATED]))
    found: dict[str, Member] = {}
    for j, (k, weight) in enumerate(zip(family.columns.tolist(), family.weights.tolist())):
        name = name_of(k)
        if name in found:
            old = found[name]
            found[name] = Member(
                name,
                old.column,
                min(old.probability + weight, family.probability),
                old.correlation,
                old.selected or bool(selected[k]),
            )
        else:
            r = float(correlations[j]) if j < len(correlations) else float("nan")
            found[name] = Member(name, k, weight, r, bool(selected[k]))
    return tuple(sorted(found.values(), key=lambda member: -member.probability))


def with_first(values: Array) -> Array:
    """Correlations of columns with the first of them; 0 for constant ones."""
    Z = np.asarray(values, dtype=float)
    Z = Z - Z.mean(axis=0)
    length = np.linalg.norm(Z, axis=0)
    return np.asarray(Z.T @ Z[:, 0] / np.maximum(length * length[0], 1e-300))


def family_test(
    family: Family, significance: Significance, name_of: Callable[[int], str]
) -> FamilyTest | None:
    """The most certain test of a family; None where it was not tested."""
    if family.partners is not None:
        return product_test(family, significance)
    columns = tuple(sorted(family.columns.tolist()))
    tests: list[ColumnTest] = [t for t in significance.tests if t.family == columns]
    if not tests:
        return None
    best = min(tests, key=lambda t: (t.as_family.log_p, t.column))
    return FamilyTest(
        float(significance.family_p_values[best.column]),
        float(significance.family_q_values[best.column]),
        distinct(np.array(best.as_family.columns, dtype=np.intp), name_of),
        best.as_family.unexplained,
    )


def product_test(family: Family, significance: Significance) -> FamilyTest | None:
    """The most certain product of one column of each side."""
    one, other = set(family.columns.tolist()), set(np.asarray(family.partners).tolist())
    found = [
        t
        for t in significance.products
        if (t.first in one and t.second in other) or (t.first in other and t.second in one)
    ]
    if not found:
        return None
    return FamilyTest(found[0].p_value, found[0].q_value, None, float("nan"))
