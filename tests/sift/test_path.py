"""The group lasso and the search do what they claim."""

import numpy as np
import pytest

from gradsift.data import ArraySource
from gradsift.sift.criterion import (
    after_move,
    complexities,
    complexity,
    criterion,
    make_response,
    normal_equations,
    robust_fit,
)
from gradsift.sift.features import Columns
from gradsift.sift.groups import (
    least_squares,
    pool,
    relaxed_levels,
    squared_level,
    univariate_levels,
    with_products,
)
from gradsift.sift.rows import make_rows
from gradsift.sift.search import REMEMBERED_FITS, Fits, Search, group_lasso, path, solve
from gradsift.sift.settings import DEFAULT


@pytest.fixture
def problem():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 20))
    X = (X - X.mean(0)) / X.std(0)
    y = X[:, 0] - X[:, 1] ** 2 + 0.5 * rng.normal(size=120)
    rows = make_rows(120, None)
    levels = univariate_levels(0.3, 2000, 1, True)
    groups = pool(Columns(ArraySource(X), rows), np.arange(20), levels)
    return groups, make_response(y[:, None], rows, robust=True)


def test_group_lasso_satisfies_the_optimality_conditions(problem):
    groups, response = problem
    Y = response.start
    penalty = 0.08 * np.sqrt(groups.size)
    active, R = solve(groups, Y, penalty, {})
    corr = np.sqrt(groups.squared_norms(R) / 120)
    idle = np.setdiff1d(np.arange(60), list(active))
    assert (corr[idle] <= penalty[idle] * 1.002).all()
    for g, B in active.items():
        gradient = groups.stack((g,)) @ R / 120
        np.testing.assert_allclose(gradient, penalty[g] * B / np.linalg.norm(B), atol=3e-3)


def test_group_lasso_on_an_orthonormal_design_is_soft_thresholding():
    corr = np.array([[3.0], [4.0], [0.1]])
    B = group_lasso(
        np.eye(3), corr, np.array([0, 0, 1]), np.array([1.0, 1.0]), np.zeros((3, 1)), tol=1e-10
    )
    np.testing.assert_allclose(B, [[3 * 0.8], [4 * 0.8], [0.0]], atol=1e-8)


def test_path_starts_empty_and_meets_the_truth(problem):
    groups, response = problem
    supports = path(groups, response, ())
    assert supports[0] == ()
    assert any({0, 21} <= set(s) for s in supports)


def test_bench_agrees_with_the_rows(problem):
    groups, response = problem
    Y = response.start
    bench = normal_equations(groups, [0, 21, 45], Y)
    B, cov = bench.fit((0, 45))
    Z = groups.stack((0, 45))
    np.testing.assert_allclose(B, least_squares(Z, Y, 120.0, DEFAULT.ridge))
    R = Y - Z.T @ B
    np.testing.assert_allclose(cov, R.T @ R / 120)


def test_the_order_in_which_groups_are_named_does_not_matter(problem):
    """Products have the last numbers, whether they enter after univariate groups or before."""
    groups, response = problem
    x = groups.stack((0, 1))
    groups = with_products(groups, {0: x[0], 1: x[1]}, {(0, 1): 9.0})
    product = len(groups.size) - 1
    Y = response.start
    a = normal_equations(groups, [product, 21, 0], Y)
    Z = groups.stack((0, 21, product))
    ends = a.where[product], a.where[0]
    np.testing.assert_allclose(a.gram[ends], [[Z[-1] @ Z[0] / 120]], atol=1e-12)
    np.testing.assert_allclose(a.gram[ends[0], ends[0]], 1.0)


def test_the_last_fits_are_remembered(problem):
    groups, response = problem
    fits = Fits(groups, response)
    first = fits[0, 21]
    assert fits[0, 21][0] is first[0]
    np.testing.assert_array_equal(first[0], robust_fit(groups, (0, 21), response)[0])
    for g in range(2 * REMEMBERED_FITS):
        fits[(g % len(groups.size),)]
    assert len(fits.last) == REMEMBERED_FITS


def test_search_never_raises_the_criterion_and_finds_the_truth(problem):
    groups, response = problem
    for start in ((), (5, 47), (0, 21, 13)):
        end = Search(groups, response, (), Fits(groups, response)).search(start)
        assert criterion(groups, end, response) <= criterion(groups, start, response)
        assert groups.variables(end) == [0, 1]


def test_of_supports_in_a_circle_the_best_is_taken(problem, monkeypatch):
    groups, response = problem
    following = {(5,): (0,), (0,): (0, 21), (0, 21): (0, 21, 13), (0, 21, 13): (0,)}
    asked = []

    def turning(self, support):
        asked.append(support)
        return following[support]

    monkeypatch.setattr(Search, "better", turning)
    assert Search(groups, response, (), Fits(groups, response)).search((5,)) == (0, 21)
    assert len(asked) == 4


def test_a_second_search_does_not_go_the_same_way_again(problem, monkeypatch):
    groups, response = problem
    ends = {}
    end = Search(groups, response, (), Fits(groups, response)).search((5, 47), ends)
    assert ends[5, 47] == ends[end] == end
    monkeypatch.setattr(Search, "better", None)
    assert Search(groups, response, (), Fits(groups, response)).search((5, 47), ends) == end


def test_a_further_group_of_a_known_variable_is_cheaper(problem):
    groups, _ = problem
    alone = complexity(groups, (0,), 1) + complexity(groups, (25,), 1)
    together = complexity(groups, (0, 20), 1)
    assert groups.variables((0, 20)) == [0]
    assert together < alone


def test_the_cost_counts_coefficients_and_half_a_one_for_every_choice(problem):
    groups, _ = problem
    n, k = groups.rows.total, len(groups.columns)
    further, rise = groups.levels.further, groups.levels.new - groups.levels.further
    for df, variables in ((1, [[0]]), (2, [[0], [1]]), (10, [[0, k, 2 * k]])):
        support = tuple(g for used in variables for g in used)
        total = further[list(support)].sum() + sum(rise[used].min() for used in variables)
        left = n - df - len(variables) / 2 - 1
        assert complexity(groups, support, 1) == pytest.approx(total * n / left)


def test_the_cost_after_a_move_is_that_of_the_support_it_leads_to(problem):
    groups, response = problem
    k = len(groups.columns)
    values = dict(enumerate(groups.stack(tuple(range(6)))))
    pairs = {(0, 1): 20.0, (1, 5): 21.0, (2, 3): 22.0}
    groups = with_products(groups, values, pairs)
    first = groups.index.first_product
    support = (0, 1, k, k + 2, 2 * k + 4, first, first + 2)
    moves = [(out, new) for out in (None, *support) for new in (None, 2, 2 * k, 5, first + 1)]
    moves += [(first, first + 1), (0, k + 5), (k + 2, 2)]
    q = response.Y.shape[1]
    wanted = [complexity(groups, after_move(support, move), q) for move in moves]
    np.testing.assert_allclose(complexities(groups, support, moves, q), wanted, rtol=1e-12)
    assert complexity(groups, (), q) == 0.0


def test_levels():
    from scipy.stats import chi2

    assert chi2.sf(squared_level(0.3, 100, 8), 8) == pytest.approx(0.003)
    level, df = np.array([0.0, 12.0, 30.0, 12.0, 30.0]), np.array([1, 1, 8, 8, 8])
    loose = relaxed_levels(level, df, 5.0)
    assert loose[0] == 0
    passes = np.minimum(5 * chi2.sf(level[1:], df[1:]), 0.5)
    np.testing.assert_allclose(chi2.sf(loose[1:], df[1:]), passes)
