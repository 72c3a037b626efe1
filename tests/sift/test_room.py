"""What a sift may take of memory beside the table."""

import tracemalloc
import weakref

import numpy as np
import pytest
from helpers import assert_same_sums
from scipy import sparse

from gradsift import GradientSiftRegressor
from gradsift.data import ArraySource, open_source
from gradsift.sift import features, groups, sift
from gradsift.sift.features import Columns
from gradsift.sift.groups import univariate_levels
from gradsift.sift.rows import make_rows
from gradsift.sift.settings import DEFAULT, Limits, SiftSettings


def pool_size(source):
    return Columns(source, make_rows(source.shape[0], None)).pool_size()


def peak_bytes(call):
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("n", "p"), [(100, 1_000), (100, 10_000), (100, 10**6), (1_000, 5_000), (50_000, 100)]
)
def test_features_take_the_room_of_the_table_or_what_is_free(n, p):
    table = ArraySource(np.broadcast_to(0.0, (n, p)))
    values = 10 * n * pool_size(table)
    fair = 8 * n * p / 4
    assert values <= max(fair, DEFAULT.limits.free_values, 10 * n * DEFAULT.limits.least_columns)
    assert values <= DEFAULT.limits.most_values


def test_a_compressed_table_counts_as_what_it_takes():
    """Two values per column: the features of 260 columns take more than all of it."""
    n, p = 2_000, 100_000
    ones = np.ones(2 * p)
    at = np.tile([3, 1_500], p)
    S = sparse.csc_array((ones, at, np.arange(0, 2 * p + 1, 2)), shape=(n, p))
    assert pool_size(open_source(S)) == DEFAULT.limits.free_values // (10 * n)
    assert pool_size(ArraySource(np.broadcast_to(0.0, (n, p)))) == DEFAULT.limits.most_columns


@pytest.mark.parametrize("p", [1_000, 10_000])
def test_a_fit_takes_three_tables_and_a_few_small_arrays(p, monkeypatch):
    monkeypatch.setattr(features, "in_own_pages", np.zeros)  # which tracemalloc sees
    rng = np.random.default_rng(0)
    n = 100
    X = rng.normal(size=(n, p))
    y = X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.normal(size=n)
    GradientSiftRegressor().fit(X[:50, :20], y[:50])  # imports
    peak = peak_bytes(lambda: GradientSiftRegressor().fit(X, y))
    # the small ones: features and inner products of the path's working set, some n coefficients
    assert peak <= 3 * X.nbytes + 20 * 8 * n * n


@pytest.fixture
def masked():
    """A strong column hides a weak one whose marginal statistic is small."""
    rng = np.random.default_rng(2)
    Z = rng.normal(size=(300, 400))
    y = 5.0 * Z[:, 5] + 0.4 * Z[:, 300] + 0.5 * rng.normal(size=300)
    return (Z - Z.mean(axis=0)) / Z.std(axis=0), y


def test_a_refilled_pool_is_the_only_one(masked, monkeypatch):
    """The first pool is gone before the second is made."""
    X, y = masked
    few = SiftSettings(limits=Limits(most_values=8 * 10 * 300))
    alive, most = [], []
    make = Columns.stored

    def watched(*args):
        most.append(sum(ref() is not None for ref in alive))
        own = make(*args)
        alive.append(weakref.ref(own))
        return own

    monkeypatch.setattr(Columns, "stored", watched)
    found = sift(ArraySource(X), y[:, None], interactions=False, settings=few)
    assert found.selected.tolist() == [5, 300]
    assert len(most) > 1, "the pool was never refilled: the test shows nothing"
    assert set(most) == {0}


def test_a_pool_of_some_columns_selects_the_same(masked):
    X, y = masked
    whole = sift(ArraySource(X), y[:, None], interactions=False)
    few = SiftSettings(limits=Limits(most_values=100 * 10 * 300))
    part = sift(ArraySource(X), y[:, None], interactions=False, settings=few)
    assert part.selected.tolist() == whole.selected.tolist() == [5, 300]
    np.testing.assert_allclose(part.residual, whole.residual, atol=1e-5)


def test_only_the_columns_in_play_are_left(masked):
    """Same features, levels and variables under new numbers, products included."""
    X = masked[0]
    rows = make_rows(300, None)
    whole = groups.pool(
        Columns(ArraySource(X), rows), np.arange(0, 400, 5), univariate_levels(0.3, 400, 1, True)
    )
    values = {c: X[:, c] for c in (1, 5, 7)}
    whole = groups.with_products(whole, values, {(1, 5): 9.0, (5, 7): 8.0})
    k = len(whole.columns)
    supports = [(1, k + 60, 3 * k + 1), (2 * k + 1, 2 * k + 70), (3 * k,), ()]
    few, renamed = whole.only(supports)
    assert few.columns.tolist() == [5, 300, 350]
    for old, new in zip(supports, renamed, strict=True):
        assert_same_sums(whole.stack(old), few.stack(new))
        assert whole.variables(old) == few.variables(new)
        for of in (lambda g: g.levels.new, lambda g: g.levels.further, lambda g: g.size):
            assert of(whole)[list(old)].tolist() == of(few)[list(new)].tolist()


def test_products_alone_need_no_pooled_column():
    """No column of the pool is in play: all its features go."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 60))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    few = SiftSettings(limits=Limits(most_values=5 * 10 * 400))
    found = sift(ArraySource(X), (X[:, 10] * X[:, 20])[:, None], settings=few)
    assert [term.part for term in found.groups] == ["product"]
    assert found.selected.tolist() == [10, 20]
