"""The search for a support: which moves it makes, and from where."""

from dataclasses import replace

import numpy as np
import pytest

from gradsift.data import ArraySource
from gradsift.sift import search
from gradsift.sift.criterion import after_move, criterion, make_response, normal_equations
from gradsift.sift.features import Columns
from gradsift.sift.groups import pool, univariate_levels
from gradsift.sift.rows import make_rows
from gradsift.sift.search import Fits, Search, best_moves
from gradsift.sift.settings import DEFAULT


@pytest.fixture
def stand_in():
    """Column 1 stands in for column 0, which acts; column 2 acts by itself."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 6))
    X[:, 1] = X[:, 0] + 0.6 * rng.normal(size=120)
    y = 2 * X[:, 0] + 0.6 * X[:, 2] + rng.normal(size=120)
    rows = make_rows(120, None)
    settings = replace(DEFAULT, breadth=3 * 6)
    source = ArraySource((X - X.mean(0)) / X.std(0))
    levels = univariate_levels(0.3, 6, 1, False, settings)
    groups = pool(Columns(source, rows, settings), np.arange(6), levels)
    return groups, make_response(y[:, None], rows, robust=False, settings=settings)


def one_move(groups, support):
    """All supports that add, drop or replace one group."""
    others = [g for g in range(len(groups.size)) if g not in support]
    shorter = [tuple(h for h in support if h != g) for g in support]
    longer = [(*T, g) for T in [support, *shorter] for g in others]
    return [tuple(sorted(T)) for T in [*shorter, *longer]]


def moved(groups, response, support):
    """The support after the best of all moves, or several."""
    every = range(len(groups.size))
    equations = normal_equations(groups, every, response.start)
    moves = [(out, new) for out in (None, *support) for new in (None, *every) if new not in support]
    return best_moves(groups, support, moves[1:], equations, 1)


@pytest.mark.parametrize("support", [(1,), (1, 2), (0, 2), (0, 3, 5)])
def test_the_best_of_all_moves_is_made(stand_in, support):
    groups, response = stand_in
    best = min(one_move(groups, support), key=lambda T: criterion(groups, T, response))
    lower = criterion(groups, best, response) < criterion(groups, support, response)
    found = moved(groups, response, support)
    assert (found is not None) == lower
    if lower and found != best:  # several moves, which lower it by more than the best of them
        assert criterion(groups, found, response) < criterion(groups, best, response)


def test_moves_are_made_together_where_their_gains_add_up(stand_in):
    """Columns 0 and 2 act, column 1 stands in for the first: the gains of 0 and 1 do not add up."""
    groups, response = stand_in
    assert moved(groups, response, ()) == (0,)
    separate = groups.excluding_columns(frozenset({1}))
    assert moved(separate, response, ()) == (0, 2)


@pytest.mark.parametrize("support", [(), (1,), (1, 2), (0, 3, 5)])
def test_no_single_move_lowers_the_criterion_of_what_is_found(stand_in, support):
    groups, response = stand_in
    found = Search(groups, response, (), Fits(groups, response)).search(support)
    least = min(criterion(groups, T, response) for T in one_move(groups, found))
    assert criterion(groups, found, response) <= least


def test_no_group_is_tried_twice_in_a_support(stand_in, monkeypatch):
    """Where all groups are asked for, `entering` returns those of the support too."""
    groups, response = stand_in
    tried = []

    def noted(groups, support, moves, equations, q):
        tried.extend(after_move(support, move) for move in moves)

    monkeypatch.setattr(search, "best_moves", noted)
    Search(groups, response, (), Fits(groups, response)).better((0, 3, 5))
    assert sorted(tried) == sorted(one_move(groups, (0, 3, 5)))


def test_a_stand_in_is_replaced_before_anything_is_added(stand_in):
    groups, response = stand_in
    now = criterion(groups, (1,), response)
    assert criterion(groups, (1, 2), response) < now  # an addition that would do
    assert 0 in moved(groups, response, (1,))
    assert 1 not in moved(groups, response, (1,))


def test_the_empty_support_is_no_start(stand_in, monkeypatch):
    """The search starts from proposals that hold several groups together: from nothing it stops at
    the few that pay one by one.
    """
    groups, response = stand_in
    seen, choose = [], Search.choose

    def noted(self, starts):
        seen.extend(starts)
        return choose(self, starts)

    monkeypatch.setattr(Search, "choose", noted)
    search.choose_supports(groups, [(0, 2)], response, (), 0.3)
    assert seen
    assert () not in seen


def test_large_proposals_that_cost_more_than_they_explain_are_no_starts(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 60))
    rows, source = make_rows(400, None), ArraySource((X - X.mean(0)) / X.std(0))
    levels = univariate_levels(0.3, 60, 1, False, DEFAULT)
    groups = pool(Columns(source, rows), np.arange(60), levels)
    begun, search_from = [], Search.search

    def noted(self, support, ends=None):
        begun.append(support)
        return search_from(self, support, ends)

    monkeypatch.setattr(Search, "search", noted)
    proposals, effects = [(), tuple(range(20)), tuple(range(40))], (X @ np.ones(60), 0.0)
    for y, starts in zip(effects, (3, 2), strict=True):
        begun.clear()
        response = make_response((y + rng.normal(size=400))[:, None], rows, robust=False)
        search.choose_supports(groups, proposals, response, (), 0.3)
        assert len(set(proposals) & set(begun)) == starts
