"""Columns that are one variable: one penalty, the right degrees of freedom."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2

from gradsift.data import ArraySource
from gradsift.sift import make_sift, sift
from gradsift.sift.features import Columns
from gradsift.sift.groups import joint_features, make_joint
from gradsift.sift.rows import make_rows
from gradsift.sift.settings import DEFAULT


def standardised(X):
    sd = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(sd > 1e-12, sd, np.inf)


def levels_table(rng, n, counts):
    """0/1 columns of categories with so many levels each, and the category of each column."""
    codes = [rng.integers(count, size=n) for count in counts]
    blocks = [(c[:, None] == np.arange(count)) for c, count in zip(codes, counts)]
    labels = np.repeat(np.arange(len(counts)), counts)
    return standardised(np.hstack(blocks).astype(float)), labels, codes


@pytest.mark.parametrize("weighted", [False, True])
def test_joint_features_are_whitened_and_span_the_columns(weighted):
    rng = np.random.default_rng(0)
    X, _, _ = levels_table(rng, 120, [5])
    weight = rng.integers(1, 4, size=120).astype(float) if weighted else None
    rows = make_rows(120, weight)
    Z = joint_features(X, rows)
    assert Z.shape == (4, 120)  # five levels, four directions
    np.testing.assert_allclose(Z @ Z.T / rows.total, np.eye(4), atol=1e-9)
    flat = (X - rows.mean(X)) * np.reshape(rows.root, (-1, 1))
    np.testing.assert_allclose(Z.T @ (Z @ flat) / rows.total, flat, atol=1e-8)


def test_more_columns_than_rows_are_their_leading_components():
    X = standardised(np.random.default_rng(0).normal(size=(40, 60)))
    Z = joint_features(X, make_rows(40, None))
    assert Z.shape == (10, 40)
    np.testing.assert_allclose(Z @ Z.T / 40, np.eye(10), atol=1e-9)


def test_levels_of_a_variable_add_up_to_its_part():
    """The chances of all groups of a variable add up to alpha / G, however many columns it has."""
    rng = np.random.default_rng(0)
    X, labels, _ = levels_table(rng, 100, [2, 3, 7])
    source, Y = ArraySource(X), rng.normal(size=(100, 1))
    joint = make_joint(Columns(source, make_rows(100, None)), labels, np.arange(len(labels)), Y)
    assert joint.size.tolist() == [2, 6]
    assert joint.divided.tolist() == [1] * 2 + [3] * 3 + [7] * 7
    how = 0.3, 1, False, DEFAULT
    own = joint.univariate_levels(np.arange(12), *how).new.reshape(3, 12)
    chance = sum(chi2.sf(own[part], m) for part, m in enumerate(DEFAULT.part_sizes))
    together = chi2.sf(joint.joint_levels(*how).new, joint.size)
    assert chance[0] == pytest.approx(0.1)  # two levels: each column is the whole variable
    assert chance[labels == 1].sum() + together[0] == pytest.approx(0.1)
    assert chance[labels == 2].sum() + together[1] == pytest.approx(0.1)


def test_an_effect_spread_over_levels_is_found_as_a_whole():
    rng = np.random.default_rng(5)
    X, labels, codes = levels_table(rng, 200, [12] * 8)
    y = 0.45 * rng.permutation(np.linspace(-1.7, 1.7, 12))[codes[3]] + rng.normal(size=200)
    found = sift(ArraySource(X), y[:, None], feature_groups=labels)
    assert [term.part for term in found.groups] == ["joint"]
    assert set(labels[found.selected]) == {3}
    assert len(found.selected) == 12
    assert set(labels[np.argsort(found.ranking)[:12]]) == {3}


def test_an_effect_of_one_column_is_found_in_a_large_group():
    rng = np.random.default_rng(1)
    X = standardised(rng.normal(size=(150, 90)))
    y = 0.7 * X[:, 17] ** 2 + 0.7 * rng.normal(size=150)
    found = sift(ArraySource(X), y[:, None], feature_groups=np.arange(90) // 30)
    assert found.selected.tolist() == [17]


def test_each_column_its_own_group_changes_nothing():
    rng = np.random.default_rng(2)
    X = standardised(rng.normal(size=(100, 20)))
    y = X[:, 3] + X[:, 5] * X[:, 6] + 0.5 * rng.normal(size=100)
    plain = sift(ArraySource(X), y[:, None])
    same = sift(ArraySource(X), y[:, None], feature_groups=np.arange(20)[::-1])
    assert plain.selected.tolist() == same.selected.tolist()
    np.testing.assert_array_equal(plain.ranking, same.ranking)


def test_excluding_a_column_excludes_its_joint_group():
    rng = np.random.default_rng(5)
    X, labels, codes = levels_table(rng, 200, [6] * 4)
    y = np.linspace(-1, 1, 6)[codes[1]] + 0.5 * rng.normal(size=200)
    problem = make_sift(ArraySource(X), y[:, None], feature_groups=labels)
    excluded = frozenset(np.flatnonzero(labels == 1).tolist())
    assert excluded.isdisjoint(replace(problem, excluded=excluded).run().selected.tolist())
    whole = problem.run()
    assert not excluded.isdisjoint(whole.selected.tolist())
    reduced = whole.without(excluded)
    assert excluded.isdisjoint(reduced.selected.tolist())
    assert whole.without(excluded) is reduced  # remembered
    assert whole.without(frozenset()) is whole


def test_clusters_of_rows_raise_the_level_of_joint_groups():
    rng = np.random.default_rng(0)
    subject = np.repeat(np.arange(30), 5)
    X = standardised(rng.normal(size=(30, 24))[subject] + 0.3 * rng.normal(size=(150, 24)))
    y = rng.normal(size=30)[subject] + 0.3 * rng.normal(size=150)
    labels = np.arange(24) // 3
    free = make_sift(ArraySource(X), y[:, None], feature_groups=labels)
    given = make_sift(ArraySource(X), y[:, None], feature_groups=labels, groups=subject)
    plain, aware = (s.pooled(np.arange(24)) for s in (free, given))
    assert (aware.levels.new[72:] > plain.levels.new[72:]).mean() > 0.5
    assert len(aware.ratio) == len(aware.levels.new) == 72 + 8
