"""Rows that belong together: their labels, their means, one row for each group."""

import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest
import stored_tables

from gradsift import aggregate
from gradsift._run.threads import one_blas_thread
from gradsift.data import ArraySource, NamedSource, Source
from gradsift.data.row_groups import (
    GroupMeans,
    constant_in_groups,
    group_codes,
    groups_in_memory,
    mean_rows,
)

CODES = np.array([2, 0, 1, 0, 2, 2])


@pytest.fixture
def X(rng):
    return rng.normal(size=(6, 4))


@pytest.mark.parametrize(
    "labels", [[3, 7, 3], ["a", "x", "a"], np.array([1, "x", 1], dtype=object)]
)
def test_labels_of_any_type_are_numbered_in_order(labels):
    assert group_codes(labels, 3).tolist() == [0, 1, 0]


@pytest.mark.parametrize("hole", [None, np.nan, pd.NA])
def test_a_missing_label_is_refused(hole):
    with pytest.raises(ValueError, match="missing for 1 of 3 rows, the first in row 1"):
        group_codes(np.array(["a", hole, "a"], dtype=object), 3)


@pytest.mark.parametrize("labels", [np.zeros((3, 1)), np.zeros(2), 5])
def test_one_label_for_each_row(labels):
    with pytest.raises(ValueError, match=r"X has 3 rows|groups is of type int"):
        group_codes(labels, 3)


def test_means_are_the_same_in_memory_and_elsewhere(X):
    expected = np.array([X[k == CODES].mean(axis=0) for k in range(3)])
    np.testing.assert_allclose(mean_rows(ArraySource(X), CODES).array, expected)
    view = mean_rows(NamedSource(ArraySource(X), list("abcd")), CODES)
    assert isinstance(view, GroupMeans)
    assert view.shape == (3, 4)
    np.testing.assert_allclose(view.columns(np.array([3, 1])), expected[:, [3, 1]])
    np.testing.assert_allclose(np.hstack([block for _, block in view.blocks()]), expected)


def test_means_are_of_what_is_known(X):
    X[0, 0] = X[2, 1] = np.nan
    means = mean_rows(ArraySource(X), CODES).array
    assert means[2, 0] == pytest.approx(X[[4, 5], 0].mean())
    assert np.isnan(means[1, 1])  # its only row


def test_weighted_means(X):
    weight = np.array([1.0, 2.0, 1.0, 0.5, 3.0, 1.0])
    means = mean_rows(ArraySource(X), CODES, weight).array
    np.testing.assert_allclose(
        means[2], np.average(X[CODES == 2], axis=0, weights=weight[CODES == 2])
    )


def test_constant_in_groups():
    assert constant_in_groups(CODES * 2.0, CODES)
    assert not constant_in_groups(np.arange(6), CODES)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_stay_frames(X, frame):
    table = aggregate(frame({name: X[:, k] for k, name in enumerate("abcd")}), CODES, CODES)
    assert isinstance(table.X, frame)
    assert list(table.X.columns) == list("abcd")
    assert table.groups.tolist() == table.y.tolist() == [0, 1, 2]


def test_sums_of_counts_and_means_of_numbers(X):
    table = aggregate(np.round(X), np.arange(6.0), CODES, how="sum")
    np.testing.assert_allclose(table.X[2], np.round(X)[CODES == 2].sum(axis=0))
    assert table.y.tolist() == [2.0, 2.0, 3.0]


def test_labels_that_change_inside_a_group_are_refused(X):
    with pytest.raises(ValueError, match="row 4 has 'b', row 0 of the same group has 'a'"):
        aggregate(X, list("axyxba"), CODES)


def test_other_ways_to_aggregate_are_refused(X):
    with pytest.raises(ValueError, match="use 'mean' or 'sum'"):
        aggregate(X, CODES, CODES, how="median")


@pytest.mark.parametrize("how", ["mean", "sum"])
@pytest.mark.parametrize("kind", stored_tables.FORMATS)
def test_every_format_is_read_in_blocks(kind, how, tmp_path):
    labels = np.arange(stored_tables.N) % 7
    stored = stored_tables.FORMATS[kind](tmp_path)
    expected = aggregate(stored_tables.X, labels, labels, how)
    table = aggregate(stored, labels, labels, how)
    np.testing.assert_allclose(table.X, expected.X)
    assert table.groups.tolist() == table.y.tolist() == list(range(7))


@pytest.mark.parametrize("how", ["mean", "sum"])
def test_missing_values_count_as_in_memory(X, how):
    X[0, 0] = X[2, 1] = np.nan
    found = groups_in_memory(ArraySource(X, width=3), CODES, how)
    np.testing.assert_array_equal(found, groups_in_memory(ArraySource(X), CODES, how))
    np.testing.assert_allclose(found[2, 0], getattr(np, how)(X[4:, 0]))


class Wide(Source):
    """Columns that are made as they are asked for: 800 MB of numbers."""

    shape = (2_000, 50_000)

    def columns(self, index):
        return np.repeat(np.asarray(index, dtype=np.float64)[None], self.shape[0], axis=0)

    def blocks(self):
        for start in range(0, self.shape[1], 2_000):
            yield slice(start, start + 2_000), self.columns(np.arange(start, start + 2_000))


@pytest.mark.parametrize("how", ["mean", "sum"])
def test_only_a_few_blocks_are_held(how):
    """Blocks of 32 MB, two at a time, and 16 MB for the groups."""
    codes = np.arange(2_000) % 40
    tracemalloc.start()
    with one_blas_thread(workers=1):  # every thread more holds a block more
        found = groups_in_memory(Wide(), codes, how)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_array_equal(found[:, 9], np.full(40, 9.0 if how == "mean" else 450.0))
    assert peak < 110e6
