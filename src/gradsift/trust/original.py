"""Findings on encoded columns, told of the columns of the table that they were made from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from gradsift._typing import Array, IntArray
from gradsift.trust.association import Association
from gradsift.trust.families import CredibleFamilies, Family
from gradsift.trust.tested import ColumnTest, ProductTest, Rival, Significance


def unique_origins(columns: IntArray | tuple[int, ...], origins: IntArray) -> tuple[int, ...]:
    """The columns of the table behind some encoded ones, each once, in their order."""
    return tuple(dict.fromkeys(origins[np.asarray(columns, dtype=np.intp)].tolist()))


def family_of_table(family: Family, origins: IntArray) -> Family:
    """A family of encoded columns as one of columns of the table; probabilities of the levels of a
    category add up.
    """
    columns = unique_origins(family.columns, origins)
    behind = origins[family.columns]
    most = family.probability if family.partners is None else 1.0
    weights = [min(float(family.weights[behind == k].sum()), most) for k in columns]
    partners = family.partners
    if partners is not None:
        partners = np.array(unique_origins(partners, origins), dtype=np.intp)
    return replace(
        family,
        columns=np.array(columns, dtype=np.intp),
        weights=np.array(weights),
        partners=partners,
    )


def each_family(families: Iterable[Family], origins: IntArray) -> list[Family]:
    """Families of columns of the table, each once: those of two levels of a category are one."""
    out: dict[tuple[frozenset[int], frozenset[int]], Family] = {}
    for family in families:  # most probable first
        one = family_of_table(family, origins)
        partners = () if one.partners is None else one.partners.tolist()
        out.setdefault((frozenset(one.columns.tolist()), frozenset(partners)), one)
    return list(out.values())


def inclusion_of_table(
    probabilities: Array, origins: IntArray, families: Iterable[Family]
) -> Array:
    """Probability of every column of the table to act, by any of its encoded columns.

    Levels of a category take each other's place, so that their probabilities add up; but never to
    more than that of the family they are in, where both of two levels may act at once.
    """
    total = np.bincount(origins, probabilities)
    for family in families:
        if family.partners is None:
            own = np.bincount(origins[family.columns], family.weights, len(total))
            total -= np.maximum(own - family.probability, 0.0)
    return np.minimum(total, 1.0)


def families_of_table(found: CredibleFamilies, origins: IntArray) -> CredibleFamilies:
    """Families and probabilities of the columns of the table."""
    return replace(
        found,
        families=tuple(each_family(found.families, origins)),
        inclusion_probabilities=inclusion_of_table(
            found.inclusion_probabilities, origins, found.families
        ),
    )


def association_of_table(found: Association, origins: IntArray) -> Association:
    """The same of the columns of the table. The encoded columns of one have one p-value."""
    first = np.unique(origins, return_index=True)[1]
    return Association(found.p_values[first], found.q_values[first])


def significance_of_table(found: Significance, origins: IntArray) -> Significance:
    """Tests of the columns of the table. The encoded columns of one column have one p-value."""
    first = np.unique(origins, return_index=True)[1]

    def rival(one: Rival) -> Rival:
        return replace(one, columns=unique_origins(one.columns, origins))

    tests: dict[int, ColumnTest] = {}
    for test in found.tests:  # most certain first
        column = int(origins[test.column])
        family = tuple(sorted(unique_origins(test.family, origins)))
        tests.setdefault(
            column, ColumnTest(column, family, rival(test.alone), rival(test.as_family))
        )
    pairs: dict[tuple[int, int], ProductTest] = {}
    for pair in found.products:
        a, b = sorted((int(origins[pair.first]), int(origins[pair.second])))
        if a != b:
            pairs.setdefault((a, b), replace(pair, first=a, second=b))
    return Significance(
        p_values=found.p_values[first],
        q_values=found.q_values[first],
        family_p_values=found.family_p_values[first],
        family_q_values=found.family_q_values[first],
        tests=tuple(tests.values()),
        products=tuple(pairs.values()),
    )
