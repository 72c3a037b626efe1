"""Data frames as columns of numbers: one encoder for frames, files and covariates."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

from gradsift.estimators.covariates import read_column
from gradsift.tables.columns import MISSING, OTHER
from gradsift.tables.frame import as_frame
from gradsift.tables.prepare import encode_frame

TABLE = {
    "age": [30.0, None, 41.0, 28.0],
    "sex": ["f", "m", None, "f"],
    "ill": [True, False, True, True],
}


def encoder_of(table, missing="mean", y=None):
    frame = as_frame(table)
    return encode_frame(frame, np.arange(float(frame.n_rows)) if y is None else y, missing)[0]


def frames():
    typed = pd.DataFrame(TABLE).assign(
        sex=pd.Categorical(TABLE["sex"], categories=["m", "f", "x"]),
        ill=pd.array(TABLE["ill"], dtype="boolean"),
        age=pd.array(TABLE["age"], dtype="Float64"),
    )
    return {
        "pandas": pd.DataFrame(TABLE),
        "pandas types": typed,
        "polars": pl.DataFrame(TABLE),
        "polars categorical": pl.DataFrame(TABLE).cast({"sex": pl.Categorical}),
        "polars enum": pl.DataFrame(TABLE).cast({"sex": pl.Enum(["m", "f", "x"])}),
    }


@pytest.mark.parametrize("kind", frames())
def test_every_kind_of_frame_gives_the_same_columns(kind):
    table = frames()[kind]
    encoder = encoder_of(table)
    assert encoder.names == ("age", "sex=f", "sex=m", f"sex={MISSING}", "ill")
    assert encoder.origins.tolist() == [0, 1, 1, 1, 2]
    expected = [[30, 1, 0, 0, 1], [np.nan, 0, 1, 0, 0], [41, 0, 0, 1, 1], [28, 1, 0, 0, 1]]
    np.testing.assert_array_equal(encoder.encode(table), expected)


@pytest.mark.parametrize("kind", frames())
def test_indicators_of_what_is_missing(kind):
    table = frames()[kind]
    encoder = encoder_of(table, "indicator")
    assert encoder.names[:2] == ("age", "age is missing")
    assert encoder.encode(table)[:, 1].tolist() == [0, 1, 0, 0]


def test_whole_numbers_as_categories_stay_the_same_when_some_are_missing():
    """pandas hands them out as floats then."""
    whole = pd.DataFrame({"stage": pd.Categorical([1, 2, 10, 1])})
    holed = pd.DataFrame({"stage": pd.Categorical([1, 2, None, 1])})
    encoder = encoder_of(whole)
    assert encoder.columns[0].levels == ("1", "2", "10")
    assert encoder.encode(holed).tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 0], [1, 0, 0]]


def test_a_text_for_missing_is_no_category_unless_it_is_declared():
    texts = pd.DataFrame({"grade": ["lo", "NA", "hi", "?"]})
    assert encoder_of(texts).columns[0].levels == ("hi", "lo", MISSING)
    declared = texts.astype({"grade": "category"})
    assert "NA" in encoder_of(declared).columns[0].levels


def objects(*values):
    return pd.Series(values, dtype=object)


COLUMNS = {
    "texts of numbers": (objects("1", "2", "2", "10"), True, 0),
    "texts of numbers and holes": (objects("1", None, "2", "NA"), True, 2),
    "numbers and texts of them": (objects(1, "2", 2.0, "10"), True, 0),
    "numbers as objects": (objects(1, None, 2.5, True), False, 1),
    "decimals": (objects(Decimal("1.5"), None, Decimal("2"), Decimal("3")), False, 1),
    "numbers and a text for missing": (objects(1.0, "NA", 2.0, 3.0), False, 1),
    "numbers": (pd.Series([1.0, np.nan, 2.0, 3.0]), False, 1),
    "numbers with a unit": (objects("1 mg", "2 mg", None, "2 mg"), False, 1),
    "dates": (
        pd.Series(pd.to_datetime(["2020-01-01", None, "2020-01-03", "2020-02-01"])),
        False,
        1,
    ),
    "categories": (pd.Series(pd.Categorical([1, 2, None, 2])), True, 1),
    "the type of texts": (pd.Series(["1", "2", None, "1"], dtype="string"), True, 1),
    "polars": (pl.Series(["1", "2", None, "1"]), True, 1),
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_what_is_a_category_is_one_as_a_column_and_as_a_covariate(kind):
    """Whoever writes the number of a batch as text means categories."""
    values, category, holes = COLUMNS[kind]
    encoder = encoder_of({"batch": values})
    column, (read, covariate) = encoder.columns[0], read_column("batch", values)
    assert (column.role == "category") == category == (read.role == "category")
    assert (covariate.dtype.kind == "O") == category
    if category:
        assert set(column.levels) == set(covariate)
    missing = covariate == MISSING if category else np.isnan(covariate)
    assert missing.sum() == holes


def test_categories_that_are_not_known_are_said():
    encoder = encoder_of(pd.DataFrame({"c": ["a", "b", "a"]}))
    X, notes = encoder.read(as_frame(pd.DataFrame({"c": ["b", "z", None]})))
    assert X.tolist() == [[0, 1], [0, 0], [0, 0]]
    assert [note.text for note in notes] == [
        "1 of 3 rows hold categories of 'c' that the model has not seen ('z'): they count as none "
        "of the known categories"
    ]


def test_new_rows_in_another_order_and_without_a_column_are_read():
    table = pd.DataFrame({"c": ["a", "b", "a"], "x": [1.0, 2.0, 3.0], "z": [1.0, 0.0, 1.0]})
    X, notes = encoder_of(table).read(as_frame(table[["z", "c"]]))
    np.testing.assert_array_equal(X[:, [0, 1, 3]], [[1, 0, 1], [0, 1, 0], [1, 0, 1]])
    assert np.isnan(X[:, 2]).all()
    assert [note.text for note in notes] == ["the table lacks 'x', filled as missing values are"]


def test_rare_categories_are_joined_and_unknown_ones_with_them():
    rng = np.random.default_rng(0)
    town = np.where(rng.random(300) < 0.6, "A", [f"village {k % 60}" for k in range(300)])
    encoder = encoder_of({"town": town.astype(object)})
    assert OTHER in encoder.columns[0].levels
    assert len(encoder.names) <= 31
    new = encoder.encode({"town": np.array(["unknown"], dtype=object)})
    assert encoder.names[int(new.argmax())] == f"town={OTHER}"


DAYS = [dt.date(2020, 1, 1), dt.date(2021, 1, 1), None]


@pytest.mark.parametrize(
    "values",
    [
        DAYS,
        ["2020-01-01", "2021-01-01", None],
        pd.to_datetime(DAYS),
        pd.PeriodIndex(DAYS, freq="D").to_series(),
        pl.Series(DAYS),
    ],
)
def test_dates_are_days_since_the_first(values):
    encoder = encoder_of({"t": values})
    assert encoder.names == ("t: days",)
    np.testing.assert_array_equal(encoder.encode({"t": values}), [[0], [366], [np.nan]])


def test_durations_are_days():
    frame = as_frame({"t": pd.to_timedelta([1.0, 2.5], "D")})
    assert frame.numbers.tolist() == [[1.0], [2.5]]


def test_ordered_categories_are_ranks():
    kinds = pd.Categorical(["b", "a", None], categories=["a", "x", "b"], ordered=True)
    encoder = encoder_of({"t": pd.Series(kinds)})
    assert encoder.columns[0].levels == ("a", "b")
    np.testing.assert_array_equal(encoder.encode({"t": pd.Series(kinds)}), [[1], [0], [np.nan]])


def test_what_is_no_column_of_numbers_dates_or_texts_is_refused():
    with pytest.raises(ValueError, match="'t' holds list: a column is one of numbers"):
        as_frame({"t": pd.Series([[1], [2]])})
