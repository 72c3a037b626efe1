"""Some rows of many, distinct and fairly spread; an order of rows that is that of no table."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradsift.numerics.sampling import (
    canonical_order,
    drawn_rows,
    evenly_spaced,
    folds_along,
    gram_products,
    spread_along,
)

SIZES = {"n": st.integers(1, 50), "count": st.integers(1, 60), "seed": st.integers(0, 99)}


def assert_some_rows(rows, n, count):
    assert len(rows) == min(n, count)
    assert (np.diff(rows) > 0).all()
    assert rows.min() >= 0
    assert rows.max() < n


@given(**SIZES)
def test_rows_are_distinct_and_ascending(n, count, seed):
    """A repeated landmark would make K(R, R) singular for no reason."""
    rng = np.random.default_rng(seed)
    assert_some_rows(evenly_spaced(n, count), n, count)
    assert_some_rows(spread_along(rng.permutation(n), count), n, count)
    assert_some_rows(drawn_rows(n, count), n, count)


def test_evenly_spaced_from_the_first_to_the_last():
    gaps = np.diff(evenly_spaced(1_000, 30))
    assert evenly_spaced(1_000, 30)[[0, -1]].tolist() == [0, 999]
    assert np.ptp(gaps) <= 1


def test_rows_along_an_order_cover_its_range():
    y = np.random.default_rng(0).normal(size=500)
    rows = spread_along(np.argsort(y), 5)
    np.testing.assert_allclose(np.sort(y[rows]), np.quantile(y, [0, 0.25, 0.5, 0.75, 1]), atol=0.05)


def test_drawn_rows_are_always_the_same():
    np.testing.assert_array_equal(drawn_rows(100, 10), drawn_rows(100, 10))


# ------------------------------------------------ the canonical order
def order_of(X, Y, weights):
    return canonical_order(Y, weights, gram_products(X, Y, weights))


def responses(kind, rng, n):
    """Numbers, numbers with ties, two and three classes; of equal size, and not."""
    if kind in ("numbers", "ties"):
        y = rng.normal(size=n)
        return (y if kind == "numbers" else np.round(y))[:, None]
    k = 2 if "two" in kind else 3
    codes = np.arange(n) % k if "equal" in kind else rng.integers(0, k, size=n)
    one_hot = (codes[:, None] == np.arange(k)).astype(float)
    return 2.0 * (one_hot[:, 1:] if k == 2 else one_hot) - 1.0


KINDS = ["numbers", "ties", "two", "two equal", "three", "three equal"]


@pytest.mark.parametrize("kind", KINDS)
@given(seed=st.integers(0, 9999), n=st.integers(12, 40))
def test_the_canonical_order_is_that_of_what_the_rows_hold(kind, seed, n):
    rng = np.random.default_rng(seed)
    X, Y, weights = rng.normal(size=(n, 4)), responses(kind, rng, n), rng.integers(1, 4, size=n)
    order = order_of(X, Y, weights)
    rows, columns = rng.permutation(n), rng.permutation(4)
    np.testing.assert_array_equal(rows[order_of(X[rows], Y[rows], weights[rows])], order)
    signs, classes = rng.choice([-1.0, 1.0], size=4), rng.permutation(Y.shape[1])
    turned = -Y if Y.shape[1] == 1 else Y[:, classes]
    changed = np.column_stack([signs * X[:, columns], np.zeros(n)])
    np.testing.assert_array_equal(order_of(changed, turned, weights), order)


def test_the_canonical_order_goes_along_numbers_and_class_by_class():
    rng = np.random.default_rng(0)
    X, y, codes = rng.normal(size=(30, 2)), rng.exponential(size=(30, 1)), np.arange(30) % 3
    assert (np.diff(y[order_of(X, y, np.ones(30)), 0]) > 0).all()
    T = (codes[:, None] == np.arange(3)).astype(float)
    assert np.count_nonzero(np.diff(codes[order_of(X, T, np.ones(30))])) == 2


@pytest.mark.parametrize("count", [3, 43, 60])
def test_each_few_rows_in_a_row_are_in_different_folds(count):
    folds = folds_along(count, 5, rounds=3)
    assert folds.shape == (3, count)
    for start in range(0, count, 5):
        for fold in folds[:, start : start + 5]:
            assert len(set(fold)) == len(fold)
    assert len({tuple(fold) for fold in folds}) == 3
