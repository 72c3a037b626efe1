"""Mixed tables as columns of numbers."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

from gradsift.data.mixed import is_mixed, make_column, make_encoder
from gradsift.estimators.covariates import MISSING_LEVEL, read_column

TABLE = {
    "age": [30.0, None, 41.0, 28.0],
    "sex": ["f", "m", None, "f"],
    "ill": [True, False, True, True],
}


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
    encoder = make_encoder(table, "mean")
    assert encoder.names == ["age", "sex=f", "sex=m", "ill"]
    assert encoder.origins.tolist() == [0, 1, 1, 2]
    expected = [[30, 1, 0, 1], [np.nan, 0, 1, 0], [41, 0, 0, 1], [28, 1, 0, 1]]
    np.testing.assert_array_equal(encoder.encode(table), expected)


@pytest.mark.parametrize("kind", frames())
def test_indicators_of_what_is_missing(kind):
    table = frames()[kind]
    encoder = make_encoder(table, "indicator")
    assert encoder.names == ["age", "age is missing", "sex=f", "sex=m", "sex is missing", "ill"]
    encoded = encoder.encode(table)
    assert encoded[:, 1].tolist() == [0, 1, 0, 0]
    assert encoded[:, 4].tolist() == [0, 0, 1, 0]


def test_numbers_need_no_encoding():
    assert make_encoder(pd.DataFrame({"a": [1, 2], "b": [True, False]}), "mean") is None
    assert make_encoder(np.ones((3, 2)), "indicator") is None
    assert not is_mixed(pl.DataFrame({"a": [1.0, None]}))


def test_whole_numbers_as_categories_stay_the_same_when_some_are_missing():
    """pandas hands them out as floats then."""
    whole = pd.DataFrame({"stage": pd.Categorical([1, 2, 10, 1])})
    holed = pd.DataFrame({"stage": pd.Categorical([1, 2, None, 1])})
    encoder = make_encoder(whole, "mean")
    assert encoder.columns[0].levels == ("1", "2", "10")
    assert encoder.encode(holed).tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 0], [1, 0, 0]]


def test_a_text_for_missing_is_no_category_unless_it_is_declared():
    texts = pd.DataFrame({"grade": ["low", "NA", "high", "?"]})
    assert make_encoder(texts, "mean").columns[0].levels == ("high", "low")
    declared = texts.astype({"grade": "category"})
    assert "NA" in make_encoder(declared, "mean").columns[0].levels


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
    "categories": (pd.Series(pd.Categorical([1, 2, None, 2])), True, 1),
    "the type of texts": (pd.Series(["1", "2", None, "1"], dtype="string"), True, 1),
    "polars": (pl.Series(["1", "2", None, "1"]), True, 1),
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_what_is_a_category_is_one_as_a_column_and_as_a_covariate(kind):
    """Whoever writes the number of a batch as text means categories."""
    values, category, holes = COLUMNS[kind]
    column, covariate = make_column("batch", values, True), read_column("batch", values)
    assert bool(column.levels) == category
    assert column.indicator == (holes > 0)
    assert (covariate.dtype.kind == "O") == category
    if category:
        assert set(column.levels) == set(covariate) - {MISSING_LEVEL}
    missing = covariate == MISSING_LEVEL if category else np.isnan(covariate)
    assert missing.sum() == holes


def test_many_numbers_written_as_text_are_refused_with_advice():
    table = pd.DataFrame({"dose": [f"{k}.5" for k in range(40)]})
    with pytest.raises(
        ValueError, match=r"'dose' holds 40 different numbers written as text.*to_n"
    ):
        make_encoder(table, "mean")
    encoder = make_encoder(pd.DataFrame({"dose": [1.5, 2.5], "ward": ["a", "b"]}), "mean")
    with pytest.raises(ValueError, match=r"'dose' should hold numbers but holds '1\.5'"):
        encoder.encode(pd.DataFrame({"dose": ["1.5", "2.5"], "ward": ["a", "b"]}))


def test_unseen_categories_are_said_and_count_as_none():
    encoder = make_encoder(pd.DataFrame({"c": ["a", "b"]}), "mean")
    new = pd.DataFrame({"c": ["b", "z", None]})
    assert encoder.encode(new).tolist() == [[0, 1], [0, 0], [0, 0]]
    assert encoder.unseen(new) == [
        "1 of 3 rows hold categories of 'c' that the model has not seen ('z'): they count as none "
        "of those known"
    ]


DAYS = [dt.date(2020, 1, 1), dt.date(2021, 1, 1)]
REFUSED = {
    "days": ({"t": DAYS}, "'t' holds dates or times. Drop it, or turn it into numbers"),
    "texts of days": ({"t": ["2020-01-01", "2021-12-31"]}, "holds dates or times"),
    "times": ({"t": pd.to_datetime(DAYS)}, "holds dates or times"),
    "periods": ({"t": pd.period_range("2020", periods=2)}, "holds dates or times"),
    "durations": ({"t": pd.to_timedelta([1, 2], "D")}, "holds dates or times"),
    "odd numbers": ({"t": ["1.5", "<2"]}, r"'t' holds numbers, but 1 of its 2 cells.*'<2' \(row 1"),
    "lists": ({"t": [[1], [2]]}, "'t' holds list: a column is one of numbers"),
    "names": ({"t": [f"row {k}" for k in range(40)]}, "40 different texts in 40 rows.*astype"),
    "declared names": (
        {"t": pd.Categorical([f"row {k}" for k in range(40)])},
        "40 different texts in 40 rows",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_columns_of_no_use_are_refused_with_advice(what):
    columns, message = REFUSED[what]
    with pytest.raises(ValueError, match=message):
        make_encoder(pd.DataFrame(columns), "mean")


def test_dates_of_polars_are_refused():
    with pytest.raises(ValueError, match="holds dates or times"):
        make_encoder(pl.DataFrame({"t": DAYS}), "mean")
