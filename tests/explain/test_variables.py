"""The table of selected variables."""

import numpy as np
import pytest

from gradsift import (
    GradientSiftClassifier,
    GradientSiftRegressor,
    RidgeGradientRegressor,
    SparseGradientRegressor,
)
from gradsift.exceptions import NothingSelectedWarning
from gradsift.explain import summarise_variables, variable_names
from gradsift.trust import Stability


@pytest.fixture
def table(rng):
    """x1 linear, x2 U-shaped, x3 x4 a product, x9 a near-copy of x1."""
    X = rng.normal(size=(200, 12))
    X[:, 8] = X[:, 0] + 0.3 * rng.normal(size=200)
    y = 2 * X[:, 0] + X[:, 1] ** 2 + 2 * X[:, 2] * X[:, 3] + 0.1 * rng.normal(size=200)
    return X, y, [f"x{k}" for k in range(1, 13)]


def test_the_table_tells_the_truth(table):
    X, y, names = table
    model = GradientSiftRegressor().fit(X, y)
    # x1 or its near-copy x9 come back in every half, x2 in one of four
    sure = Stability(tuple(map(np.array, [[0, 1], [8], [8], [0]])), 12, 100)
    rows = summarise_variables(model, X, names=names, stability=sure)
    assert [row.rank for row in rows] == [1, 2, 3, 4]
    by_name = {row.name: row for row in rows}
    assert set(by_name) == {"x1", "x2", "x3", "x4"}
    assert by_name["x1"].effect.words == "increasing, straight"
    assert by_name["x2"].effect.shape == "U-shaped"
    assert by_name["x3"].effect.shape == "through interactions"
    assert by_name["x3"].partners == ("x4",)
    assert by_name["x4"].partners == ("x3",)
    assert by_name["x1"].stand_in_names == ("x9",)
    assert by_name["x2"].stand_ins.total == 0
    assert (by_name["x1"].frequency, by_name["x1"].family_frequency) == (0.5, 1.0)
    assert (by_name["x2"].frequency, by_name["x2"].family_frequency) == (0.25, 0.25)
    assert by_name["x3"].partner_columns == (3,)
    assert by_name["x1"].importance == model.feature_importances_[0]


def test_range_of_the_gradient_is_in_the_units_of_the_table(table):
    X, y, names = table
    rows = summarise_variables(GradientSiftRegressor().fit(100 * X, y), 100 * X, names=names)
    low, _, high = next(row for row in rows if row.name == "x1").effect.quantiles
    assert 0.015 < low <= high < 0.025


def test_effects_of_labels_name_their_class(rng):
    X = rng.normal(size=(240, 6))
    y = np.array(["a", "b", "c"])[np.digitize(X[:, 1], [-0.5, 0.5])]
    (row,) = summarise_variables(GradientSiftClassifier().fit(X, y), X)
    assert row.name == "x1"
    assert row.output in {"a", "b", "c"}
    expected = {"a": "decreasing", "b": "inverted U", "c": "increasing"}[row.output]
    assert row.effect.shape == expected
    assert row.effect.own_share == 1.0  # nothing else could take part
    likely = X[:, 1] + 0.7 * rng.normal(size=240) > 0
    two = summarise_variables(GradientSiftClassifier().fit(X, likely), X)
    assert (two[0].output, two[0].effect.sign) == ("True", "+")


def test_partners_hinted_at_by_the_gradients(rng):
    X = rng.normal(size=(150, 3))
    model = SparseGradientRegressor().fit(X, X[:, 0] * X[:, 1])
    rows = {row.name: row for row in summarise_variables(model, X)}
    assert rows["x0"].partners == ("x1",)
    assert rows["x1"].partners == ("x0",)


def test_nothing_selected_is_an_empty_table(rng):
    X = rng.normal(size=(40, 3))
    with pytest.warns(NothingSelectedWarning):
        model = GradientSiftRegressor(1e-6).fit(X, rng.normal(size=40))
    assert summarise_variables(model, X) == []


def test_dense_estimators_are_described_by_their_best(rng):
    X = rng.normal(size=(30, 4))
    rows = summarise_variables(RidgeGradientRegressor().fit(X, X[:, 0]), X)
    assert len(rows) == 4
    assert rows[0].name == "x0"


def test_names(table):
    X, y, names = table
    model = SparseGradientRegressor().fit(X, y)
    assert variable_names(model)[:2] == ["x0", "x1"]
    with pytest.raises(ValueError, match="11 names were given for 12 columns"):
        variable_names(model, names[1:])
