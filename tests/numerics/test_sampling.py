"""Some rows of many: distinct, ascending, no more than asked for, and fairly spread."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradsift.numerics.sampling import drawn_rows, evenly_spaced, spread_along, stratified_rows

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
    assert_some_rows(stratified_rows(n, count, rng), n, count)


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


@pytest.mark.parametrize("count", [10, 33])
def test_every_stratum_keeps_its_share(count):
    strata = np.repeat([0, 1, 2], [50, 30, 20])
    rows = stratified_rows(100, count, np.random.default_rng(1), strata)
    shares = np.bincount(strata[rows]) / count
    np.testing.assert_allclose(shares, [0.5, 0.3, 0.2], atol=1.0 / count)
