"""Arrow tables in memory are used as the same data frames are: text columns are categories."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from gradsift import GradientSiftClassifier, GradientSiftRegressor
from gradsift.exceptions import MissingTargetWarning

N = 120
RNG = np.random.default_rng(0)
COLOUR = RNG.choice(["red", "green", "blue"], N)
FRAME = pd.DataFrame(RNG.normal(size=(N, 4)), columns=list("abcd")).assign(
    colour=COLOUR, site=pd.Categorical(RNG.choice(["u", "v"], N)), count=RNG.integers(0, 9, N)
)
Y = FRAME["a"].to_numpy() + 2.0 * (COLOUR == "red") + 0.3 * RNG.normal(size=N)
TABLE = pa.Table.from_pandas(FRAME)


@pytest.mark.parametrize("kind", [GradientSiftRegressor, GradientSiftClassifier])
@pytest.mark.parametrize("table", [TABLE, TABLE.to_batches()[0]], ids=["table", "batch"])
def test_text_columns_of_an_arrow_table_are_categories(kind, table):
    y = np.where(np.median(Y) < Y, "high", "low") if kind is GradientSiftClassifier else Y
    one, other = kind().fit(table, y), kind().fit(FRAME, y)
    assert one.feature_names_in_.tolist() == list(FRAME.columns)
    assert "colour" in one.feature_names_in_[one.get_support()]
    np.testing.assert_array_equal(one.feature_importances_, other.feature_importances_)
    for method in ("predict", "transform", "gradient"):
        found, expected = getattr(one, method)(table), getattr(other, method)(FRAME)
        np.testing.assert_array_equal(found, expected)


def test_the_response_may_be_a_column_of_the_table():
    """Rows without one are left out, with what belongs to them."""
    holes = np.where(np.arange(N) % 10 == 0, np.nan, Y)
    table = TABLE.append_column("y", pa.array(holes, from_pandas=True))
    weight, there = RNG.permutation(np.repeat([0.8, 1.2], N // 2)), ~np.isnan(holes)
    with pytest.warns(MissingTargetWarning, match="12 of 120 rows have no 'y'") as said:
        named = GradientSiftRegressor().fit(table, "y", sample_weight=weight)
    assert said[0].filename == __file__
    other = GradientSiftRegressor().fit(FRAME[there], Y[there], sample_weight=weight[there])
    np.testing.assert_allclose(named.feature_importances_, other.feature_importances_)
    np.testing.assert_allclose(named.predict(TABLE), other.predict(FRAME))
    with pytest.raises(ValueError, match="y='z': the table has no such column"):
        GradientSiftRegressor().fit(table, "z")


def test_columns_are_compared_by_name():
    model = GradientSiftRegressor().fit(TABLE, Y)
    with pytest.raises(ValueError, match="is expecting 7 features"):
        model.predict(TABLE.drop_columns(["a"]))
    with pytest.raises(ValueError, match="column 0 is 'b' but was 'a'"):
        model.predict(TABLE.select(list("bacd") + TABLE.column_names[4:]))


def test_missing_cells_of_an_arrow_table():
    frame = FRAME.assign(
        a=FRAME["a"].mask(FRAME["a"] > 1), colour=FRAME["colour"].mask(COLOUR == "blue")
    )
    table = pa.Table.from_pandas(frame)
    with pytest.raises(ValueError, match="contains NaN"):
        GradientSiftRegressor(missing="error").fit(table, Y)
    for setting in ("auto", "mean", "indicator"):
        one, other = (GradientSiftRegressor(missing=setting).fit(X, Y) for X in (table, frame))
        np.testing.assert_array_equal(one.predict(table), other.predict(frame))


def test_dates_of_an_arrow_table_are_numbers():
    days = pd.date_range("2026-01-01", periods=N)
    dated = TABLE.append_column("day", pa.array(days))
    model = GradientSiftRegressor().fit(dated, Y + 0.1 * np.arange(N))
    assert "day" in model.feature_names_in_[model.get_support()]
    same = model.predict(FRAME.assign(day=days))
    np.testing.assert_array_equal(model.predict(dated), same)
