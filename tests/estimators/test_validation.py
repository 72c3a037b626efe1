"""The door: what passes, and what each refusal says."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from gradsift import GradientSiftClassifier, GradientSiftRegressor, SparseGradientRegressor
from gradsift.estimators.sample import check_weights, relative_weights
from gradsift.estimators.validation import (
    check_finite,
    check_labels,
    check_table,
    column_names,
)
from gradsift.responses.numbers import check_numbers


def test_names():
    assert column_names(np.ones((2, 2))) is None
    assert column_names(pd.DataFrame({"a": [1], 3: [2]})) == ["a", "3"]
    assert column_names(pl.DataFrame({"a": [1]})) == ["a"]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_text_is_named_by_column_and_row(frame):
    table = frame({"age": [1.0, 2.0, 3.0], "sex": ["1", "f", "m"]})
    with pytest.raises(ValueError, match=r"column 'sex' holds text \(row 1: 'f'\).*OneHotEncoder"):
        check_table(table)
    check_table(frame({"digits": ["1", "2"], "n": [1, 2]}))  # numbers in quotes can be read


def test_repeated_names():
    table = pd.DataFrame(np.ones((2, 3)), columns=["a", "b", "a"])
    with pytest.raises(ValueError, match=r"not unique: 'a' \(2 times\). Rename the columns"):
        check_table(table)


def test_finite():
    X = np.ones((4, 8))
    check_finite(X)
    check_finite(np.full((4, 2), 1e308))  # the sum overflows, the values do not
    X[2, 5] = np.nan
    with pytest.raises(ValueError, match=r"NaN: 1 bad.* in 1 column\(s\): column 5; .* row 2"):
        check_finite(X)
    with pytest.raises(ValueError, match=r"'f'; the first in row 2\. Drop.*SimpleImputer"):
        check_finite(X, list("abcdefgh"))
    X[1, 5] = -np.inf
    with pytest.raises(ValueError, match=r"contains infinity \(inf\): 2 bad"):
        check_finite(X)
    X[0] = np.nan
    with pytest.raises(ValueError, match=r"8 column\(s\): column 0, .*column 4, \.\.\.;"):
        check_finite(X)


@pytest.mark.parametrize("ordered", [False, True])
def test_several_columns_of_labels_are_refused_with_what_to_do(rng, ordered):
    X = rng.normal(size=(40, 3))
    labels = np.where(X[:, :2] > 0, "high", "low")
    with pytest.raises(ValueError, match="fit one model to each column, as MultiOutputClassifier"):
        GradientSiftClassifier(ordered=ordered).fit(X, labels)


def test_response():
    assert check_numbers([1, 2]).dtype == float
    with pytest.raises(ValueError, match=r"y is constant \(all 3 values are 2\)"):
        check_numbers([2, 2, 2])
    classes, codes = check_labels(np.array(["b", "a", "b"]))
    assert classes.tolist() == ["a", "b"]
    assert codes.tolist() == [1, 0, 1]
    with pytest.raises(ValueError, match=r"one class only \('x', 2 times\)"):
        check_labels(np.array(["x", "x"]))


def test_weights():
    X = np.ones((4, 2))
    rows, weight = check_weights(None, X)
    assert rows.tolist() == [0, 1, 2, 3]
    assert weight is None
    rows, weight = check_weights([1, 0, 2, 3], X)
    assert rows.tolist() == [0, 2, 3]
    assert weight == pytest.approx(np.array([1.0, 2.0, 3.0]) * 6 / 14)  # sum w / sum w^2
    assert check_weights([1, 0, 2.5, 3], X, "frequency")[1].tolist() == [1.0, 2.5, 3.0]
    assert check_weights([1, 0, 1, 1], X, "frequency")[1] is None
    for equal in (3.0, [5, 5, 5, 5], [1e-200, 0.0, 1e-200, 1e-200]):
        assert check_weights(equal, X)[1] is None
    assert check_weights([2, 2, 4, 4], X)[1] == pytest.approx(np.array([0.6, 0.6, 1.2, 1.2]))
    for bad, message in (
        ([1, 1], r"shape \(2,\) but X has 4 rows: need \(4,\)"),
        (np.ones((4, 1)), r"shape \(4, 1\)"),
        ([1, 1, -2, 1], r"sample_weight\[2\] is -2.0: weights are finite and not negative"),
        ([1, np.nan, 1, 1], r"sample_weight\[1\] is nan"),
        ([0, 0, 0, 0], "all sample weights are zero: no row is left"),
        ([1, 0, 2, 0], r"only 2 sample\(s\) have a weight above zero"),
    ):
        for kind in ("importance", "frequency"):
            with pytest.raises(ValueError, match=message):
                check_weights(bad, X, kind)
    for bad in ([0.1, 0.2, 0.1, 0.1], [2e6, 1.0, 1.0, 1.0]):
        with pytest.raises(ValueError, match=r"as counts of rows.*Set weight_kind='importance'"):
            check_weights(bad, X, "frequency")
    with pytest.raises(ValueError, match="weight_kind='survey': use"):
        check_weights([1, 1, 1, 1], X, "survey")


def test_relative_weights_sum_to_the_effective_sample_size():
    """A weighted sum of unit noise has variance sum w^2; levels take sum w: both must be one."""
    weight = np.random.default_rng(0).uniform(0.1, 3.0, size=50)
    counts = relative_weights(weight)
    assert counts.sum() == pytest.approx(weight.sum() ** 2 / (weight**2).sum())
    assert (counts**2).sum() == pytest.approx(counts.sum())
    np.testing.assert_allclose(relative_weights(counts), counts)  # nothing is scaled twice


@pytest.mark.parametrize("dtype", ["M8[D]", "m8[h]"])
@pytest.mark.parametrize("kind", [GradientSiftRegressor, SparseGradientRegressor])
def test_dates_are_no_response(kind, dtype):
    """Columns of them are refused too: as numbers they would be nanoseconds, or days, or hours."""
    X = np.random.default_rng(0).normal(size=(30, 3))
    with pytest.raises(ValueError, match="y holds dates or times: turn it into numbers first"):
        kind().fit(X, np.arange(30).astype(dtype))
