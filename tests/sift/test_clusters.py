"""Rows that belong together: the map that makes them independent, and levels that allow for the
rest."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2

from gradsift.data import ArraySource
from gradsift.sift import make_sift, sift
from gradsift.sift.design_effects import group_scores, inflation, penalty_after_inflation
from gradsift.sift.products import ClusterProducts
from gradsift.sift.rows import make_rows, within_correlation

LABELS = np.array(list("abacbbcaddd"))
WEIGHT = np.array([1.0, 2.0, 1.0, 3.0, 1.0, 1.0, 2.0, 1.0, 1.0, 2.0, 1.0])


def clustered(correlation=0.4, weight=None, labels=LABELS):
    rows = make_rows(len(labels), weight, labels)
    return replace(rows, clusters=replace(rows.clusters, correlation=correlation))


def noise_covariance(labels, correlation):
    """Of rows that share a random intercept."""
    same = labels[:, None] == labels[None, :]
    return np.where(same, correlation, 0.0) + (1.0 - correlation) * np.eye(len(labels))


def random_intercepts(rng, groups, each, columns):
    codes = np.repeat(np.arange(groups), each)
    between = rng.normal(size=(groups, columns))[codes]
    return codes, (between + rng.normal(size=(len(codes), columns))) / np.sqrt(2.0)


def standard(X):
    return ArraySource((X - X.mean(axis=0)) / X.std(axis=0))


def test_rows_of_a_cluster_are_neighbours_and_short_clusters_come_first():
    rows = make_rows(len(LABELS), None, LABELS)
    assert "".join(LABELS[rows.kept]) == "ccaaabbbddd"
    assert rows.clusters.length.tolist() == [2, 3, 3, 3]
    assert [(g, m) for _, g, m in rows.clusters.runs] == [(1, 2), (3, 3)]


def test_the_map_makes_noise_with_a_random_intercept_independent():
    rows = clustered(0.4)
    W = rows.clusters.mapped(np.eye(len(LABELS)))  # rows of the identity, mapped: W transposed
    covariance = W.T @ noise_covariance(LABELS[rows.kept], 0.4) @ W
    np.testing.assert_allclose(covariance, 0.6 * np.eye(len(LABELS)), atol=1e-12)


def test_the_map_can_be_undone():
    rows = clustered(0.7, WEIGHT)
    A = np.random.default_rng(0).normal(size=(2, len(LABELS)))
    np.testing.assert_allclose(rows.clusters.unmapped(rows.clusters.mapped(A)), A, atol=1e-12)


def test_centred_rows_are_generalised_least_squares():
    rng = np.random.default_rng(1)
    rows = clustered(0.4)
    x, y = rng.normal(size=(2, len(LABELS)))
    inverse = np.linalg.inv(noise_covariance(LABELS, 0.4))
    D = np.column_stack([np.ones(len(LABELS)), x])
    expected = np.linalg.solve(D.T @ inverse @ D, D.T @ inverse @ y)[1]
    a, b = rows.centred(rows.take(x)), rows.centred(rows.take(y))
    assert a @ b / (a @ a) == pytest.approx(expected)


def test_a_weight_is_a_number_of_copies():
    rng = np.random.default_rng(2)
    x = rng.normal(size=len(LABELS))
    copies = np.repeat(np.arange(len(LABELS)), WEIGHT.astype(int))
    weighted, plain = clustered(0.4, WEIGHT), clustered(0.4, labels=LABELS[copies])
    one = weighted.in_order(weighted.centred(weighted.take(x)))
    two = plain.in_order(plain.centred(plain.take(x[copies])))
    np.testing.assert_allclose(one[copies], two, atol=1e-12)


def test_the_correlation_of_a_random_intercept_is_found():
    codes, Y = random_intercepts(np.random.default_rng(3), 2000, 3, 1)
    rows = make_rows(len(codes), None, codes)
    assert within_correlation(rows.take(Y).T, rows.clusters) == pytest.approx(0.5, abs=0.04)
    assert (
        within_correlation(np.random.default_rng(0).normal(size=(1, len(codes))), rows.clusters)
        < 0.05
    )


def test_design_effects_are_the_variance_of_scores():
    """Over many draws of the residual, the variance of a score is its design effect."""
    rng = np.random.default_rng(4)
    codes, Z = random_intercepts(rng, 60, 5, 1)
    rows = make_rows(len(codes), None, codes)
    z = rows.take(Z[:, 0])
    z = (z - z.mean()) / z.std()
    draws = [rows.take(random_intercepts(rng, 60, 5, 1)[1]) for _ in range(400)]
    scores = np.array([z @ R[:, 0] for R in draws]) / np.sqrt(len(z))
    found = [group_scores(z[None, None], R, rows.clusters).effect[0] for R in draws]
    assert np.mean(found) == pytest.approx(scores.var(), rel=0.15)
    assert np.mean(found) > 1.5


def test_without_design_effect_levels_are_those_of_independent_rows():
    level = np.array([10.0, 25.0])
    ratio = inflation(level, 1, np.ones(2), 1.0, np.full(2, 1e6))
    np.testing.assert_allclose(ratio, 1.0, rtol=1e-4)
    np.testing.assert_allclose(penalty_after_inflation(level, np.ones(2), 100.0), level)


def test_levels_hold_the_tail_they_ask_for():
    """An F variable passes the inflated level as often as a chi-square passes the plain one."""
    rng = np.random.default_rng(5)
    level = chi2.isf(0.01, 8)
    wanted = level * inflation(np.array([level]), 8, np.array([2.0]), 5.0, np.array([12.0]))
    F = (rng.chisquare(5, 200_000) / 5) / (rng.chisquare(12, 200_000) / 12)
    assert np.mean(wanted < 2.0 * 8 * F) == pytest.approx(0.01, abs=0.001)


def test_the_penalty_is_what_a_statistic_has_to_gain():
    n, level, ratio = 100.0, np.array([20.0]), np.array([2.0])
    passes = lambda Q: -n * np.log(1 - Q / n) / (-n * np.log(1 - level / n) / level)  # noqa: E731
    assert passes(39.0) < penalty_after_inflation(level, ratio, n) < passes(41.0)


@pytest.mark.parametrize("weighted", [False, True])
def test_products_against_a_plain_double_loop(weighted):
    rng = np.random.default_rng(6)
    rows = clustered(0.5, WEIGHT if weighted else None)
    c, n = rows.clusters, len(LABELS)
    A, B = (rng.normal(size=(n, k)).astype(np.float32) for k in (2, 3))
    R = c.centred(rng.normal(size=(1, n))).T
    z = ClusterProducts(R, c, A).squares(B)
    v, f = np.empty((2, 3)), {}
    for k in range(2):
        for m in range(3):
            f[k, m] = c.mapped((A[:, k] * B[:, m]).astype(float))
            s = c.sums(c.weight * f[k, m] * R[:, 0])
            v[k, m] = s @ s / (c.weight @ f[k, m] ** 2)
    assert z.shape == (2, 3)
    least = np.array([[(c.weight @ (f[k, m] * R[:, 0])) ** 2 for m in range(3)] for k in range(2)])
    lengths = np.array([[c.weight @ f[k, m] ** 2 for m in range(3)] for k in range(2)])
    effect = least / lengths / z  # what the statistic was divided by
    assert (effect >= 1.0 - 1e-5).all()
    assert (effect <= np.maximum(v.max(), 1.0) + 1e-4).all()


def test_groups_of_one_row_change_nothing_but_rounding():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(80, 30))
    y = X[:, 3] + X[:, 5] ** 2 + rng.normal(size=80)
    alone = sift(standard(X), y[:, None], groups=np.arange(80))
    plain = sift(standard(X), y[:, None])
    assert alone.selected.tolist() == plain.selected.tolist() == [3, 5]
    np.testing.assert_allclose(alone.residual, plain.residual, atol=1e-6)


def test_the_order_of_rows_does_not_matter():
    rng = np.random.default_rng(8)
    codes, X = random_intercepts(rng, 25, 4, 30)
    y = X[:, 3] + random_intercepts(rng, 25, 4, 1)[1][:, 0] / 2
    order = rng.permutation(100)
    one = sift(standard(X), y[:, None], groups=codes)
    two = sift(standard(X[order]), y[order, None], groups=codes[order])
    assert one.selected.tolist() == two.selected.tolist() == [3]
    assert one.correlation == pytest.approx(two.correlation)
    np.testing.assert_allclose(one.residual[order], two.residual, atol=1e-6)


def test_shared_noise_is_not_taken_for_evidence():
    """The columns are like the subjects, the response too, and one has nothing to do with the
    other."""
    false = {"told": 0, "not told": 0}
    for seed in range(4):
        rng = np.random.default_rng(seed)
        codes, X = random_intercepts(rng, 25, 12, 60)
        y = random_intercepts(rng, 25, 12, 1)[1]
        told = {"told": codes, "not told": None}
        for how, groups in told.items():
            found = make_sift(standard(X), y, groups=groups, interactions=False).run().selected
            false[how] += len(found)
    assert false["not told"] >= 10
    assert false["told"] <= 3


def test_effects_inside_of_groups_are_found():
    rng = np.random.default_rng(9)
    codes, X = random_intercepts(rng, 30, 6, 50)
    y = 0.4 * (X[:, 0] + X[:, 1]) + random_intercepts(rng, 30, 6, 1)[1][:, 0]
    found = make_sift(standard(X), y[:, None], groups=codes, interactions=False).run().selected
    assert {0, 1} <= set(found.tolist())
    assert len(found) <= 3


def test_the_fit_tells_how_much_rows_of_a_group_share():
    """Not what the response shares, part of which is the effect of a column that groups share."""
    rng = np.random.default_rng(10)
    codes = np.repeat(np.arange(50), 4)
    X = rng.normal(size=(200, 20))
    X[:, 0] = rng.normal(size=50)[codes]
    y = 2.0 * X[:, 0] + rng.normal(size=200)
    problem = make_sift(standard(X), y[:, None], groups=codes, interactions=False)
    found = problem.run().problem
    assert problem.response.rows.clusters.correlation > 0.6
    assert found.response.rows.clusters.correlation < 0.2
