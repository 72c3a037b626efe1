"""Sums of columns with heavy tails, and cells that are gross errors."""

import numpy as np
import pytest

from gradsift.data import ArraySource
from gradsift.sift import SiftSettings, make_sift
from gradsift.sift.criterion import criterion

N_NOISE = 12


def tails(kind, rng, n):
    return rng.lognormal(0.5, 1.0, n) if kind == "log-normal" else 1.0 + rng.pareto(2.2, n)


def bill(kind, seed, n=500):
    """Columns total, fare, toll, tax, by card or not, and some without effect; the response is the
    tip, total - fare - toll - tax, which the card explains in part.
    """
    rng = np.random.default_rng(seed)
    fare = 3.0 + 4.0 * tails(kind, rng, n)
    card = rng.random(n) < 0.7
    toll = np.where(rng.random(n) < 0.05, rng.choice([6.0, 12.0], n), 0.0)
    tax = rng.choice([0.0, 0.5, 1.0, 2.5, 3.3], n)
    rest = fare + toll + tax
    tip = np.where(card, rng.choice([0.15, 0.2, 0.25, 0.3], n) * rest, 0.0)
    noise = rng.normal(size=(n, N_NOISE))
    return np.column_stack([rest + tip, fare, toll, tax, card, noise]), tip


def gross_errors(seed, n=300):
    """A sum of four normal columns, one cell in a hundred replaced by a number far off."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4 + N_NOISE))
    y = X[:, :4] @ [1.0, -1.0, -1.0, 0.5] + 0.3 * rng.normal(size=n)
    wrong = rng.random(X.shape) < 0.01
    X[wrong] = rng.choice([-1.0, 1.0], wrong.sum()) * rng.uniform(20.0, 100.0, wrong.sum())
    return X, y


def fitted(X, y, **settings):
    source = ArraySource((X - X.mean(axis=0)) / X.std(axis=0))
    return make_sift(source, y[:, None], settings=SiftSettings(**settings)).run()


@pytest.mark.parametrize("kind", ["log-normal", "Pareto"])
@pytest.mark.parametrize("seed", range(4))
def test_an_exact_sum_of_columns_with_heavy_tails_is_found_whole(kind, seed):
    assert fitted(*bill(kind, seed)).selected.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("seed", range(3))
def test_columns_with_gross_errors_are_cut_off(seed):
    X, y = gross_errors(seed)
    fit = fitted(X, y)
    response = fit.problem.response
    assert fit.problem.settings.clip_lines
    assert fit.selected.tolist()[:4] == [0, 1, 2, 3]
    whole = fitted(X, y, clip_lines=False)
    cost, without_cut = (criterion(s.groups, s.support, response) for s in (fit, whole))
    assert cost < without_cut


def test_where_nothing_acts_there_is_one_search():
    X, y = bill("Pareto", 0)
    said = []
    source = ArraySource((X - X.mean(axis=0)) / X.std(axis=0))
    y = np.random.default_rng(1).permutation(y)
    assert not make_sift(source, y[:, None], say=said.append).run().support
    assert not any("again" in line for line in said)


def test_missing_cells_say_nothing_of_the_tails():
    X, y = bill("log-normal", 0)
    X[::40, 1] = np.nan
    X = (X - np.nanmean(X, axis=0)) / np.nanstd(X, axis=0)
    assert {0, 1} <= set(make_sift(ArraySource(X), y[:, None]).run().selected.tolist())
