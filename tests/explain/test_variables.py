"""The table of selected variables."""

from pathlib import Path

import numpy as np
import pytest
from matplotlib import pyplot as plt
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

from gradsift import (
    GradientSiftClassifier,
    GradientSiftRegressor,
    RidgeGradientRegressor,
    SparseGradientRegressor,
)
from gradsift.evaluate import Stability
from gradsift.exceptions import NothingSelectedWarning
from gradsift.explain import summarise_variables, variable_names
from gradsift.explain.displays import EffectDisplay

LEUKEMIA = Path(__file__).parents[3] / "shared" / "data" / "leukemia.npz"


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
    rows = summarise_variables(model, X, y, names=names, stability=sure)
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
    assert by_name["x1"].came_back == 1.0  # itself or its near-copy
    assert by_name["x2"].came_back == 0.25
    assert 0.0 < by_name["x2"].by_chance < by_name["x1"].by_chance < 1.0
    assert by_name["x3"].partner_columns == (3,)
    assert by_name["x1"].importance == model.feature_importances_[0]


def test_effects_of_labels_name_their_class(rng):
    X = rng.normal(size=(240, 6))
    y = np.array(["a", "b", "c"])[np.digitize(X[:, 1] + 0.1 * rng.normal(size=240), [-0.5, 0.5])]
    (row,) = summarise_variables(GradientSiftClassifier().fit(X, y), X, y)
    assert row.name == "x1"
    shapes = {output: effect.shape for output, effect in row.effects}
    assert shapes == {"a": "decreasing", "b": "inverted U", "c": "increasing"}
    assert row.effect.shape == shapes[row.output]
    for part in ("a: decreasing", "b: inverted U", "c: increasing"):
        assert part in row.words
    assert row.words.startswith("odds of ")
    likely = X[:, 1] + 0.7 * rng.normal(size=240) > 0
    two = summarise_variables(GradientSiftClassifier().fit(X, likely), X, likely)
    assert (two[0].output, two[0].effect.sign) == ("True", "+")
    assert two[0].words.startswith("odds of True: increasing")


def test_straight_effects_of_separated_classes_have_no_partners(rng):
    """Labels saturate: far from the boundary, fitted log odds bend though the truth does not."""
    X = rng.normal(size=(150, 10))
    for classes in (2, 3):
        score = 8 * (X[:, 0] - X[:, 1] + X[:, 2]) + rng.logistic(size=150)
        y = np.digitize(score, np.quantile(score, np.arange(1, classes) / classes))
        for row in summarise_variables(GradientSiftClassifier().fit(X, y), X, y):
            assert row.partners == ()
            assert not any(effect.mixed for _, effect in row.effects)


def leukemia():
    data = np.load(LEUKEMIA)
    X = np.vstack([data["X_train"], data["X_test"]]).astype(float)
    y = np.where(np.append(data["y_train"], data["y_test"]) > 0, "ALL", "AML")
    return X, y, [str(name) for name in data["gene_accession"]]


def tables():
    wine, tumours, diabetes = load_wine(), load_breast_cancer(), load_diabetes(scaled=False)
    if LEUKEMIA.exists():
        yield "leukemia", *leukemia()
    yield "wine", wine.data, wine.target, list(wine.feature_names)
    yield "tumours", tumours.data, tumours.target, list(tumours.feature_names)
    yield "diabetes", diabetes.data, diabetes.target, list(diabetes.feature_names)


def fitted_rows(table, X, y, names):
    kind = GradientSiftRegressor if table == "diabetes" else GradientSiftClassifier
    return summarise_variables(kind(predict_with="selected").fit(X, y), X, y, names=names)


@pytest.mark.filterwarnings("ignore::gradsift.exceptions.DependentRowsWarning")  # wine
@pytest.mark.parametrize("table", list(tables()), ids=lambda table: table[0])
def test_words_sign_figure_and_plot_agree_on_real_tables(table):
    rows = fitted_rows(*table)
    assert rows
    for row in rows:
        shown = EffectDisplay(effects=row.effects, name=row.name).plot()
        for (_, effect), line in zip(row.effects, shown.lines_):
            x, drawn = line.get_data()
            change = effect.change[0]
            low, high = np.interp(effect.span, x, drawn)
            assert change == pytest.approx(high - low)
            assert np.sign(effect.per_unit) == np.sign(effect.per_sd) == np.sign(change)
            if effect.sign in "+-":
                assert np.sign(change) == (1 if effect.sign == "+" else -1)
                assert ("increasing" if effect.sign == "+" else "decreasing") in effect.words
                begin = x[0] if effect.above is None else effect.above
                end = x[-1] if effect.below is None else effect.below
                there = drawn[(x >= begin) & (x <= end)]
                against = np.minimum(np.diff(there) * np.sign(change), 0)
                assert -against.sum() <= 0.25 * np.ptp(drawn), (row.name, effect.words)
        plt.close(shown.figure_)


@pytest.mark.shared
@pytest.mark.skipif(not LEUKEMIA.exists(), reason="the leukemia data is not beside the repository")
def test_the_first_gene_of_leukemia_is_drawn_as_the_words_say():
    """Fitted log odds once fell at 62 % of the samples while the words said 'increasing'."""
    effect = fitted_rows("leukemia", *leukemia())[0].effect
    sign = np.sign(effect.change[1])
    assert effect.words.startswith("increasing" if sign > 0 else "decreasing")
    assert (sign * np.diff(effect.curve.effect) > 0).mean() > 0.95


@pytest.mark.filterwarnings("ignore::gradsift.exceptions.DependentRowsWarning")
def test_wine_has_no_invented_partners():
    wine = load_wine()
    model = GradientSiftClassifier().fit(wine.data, wine.target)
    rows = summarise_variables(model, wine.data, wine.target)
    assert len(rows) >= 5
    for row in rows:
        assert row.partners == ()
        assert "depends on others" not in row.words
        assert "interactions" not in row.words


def test_nothing_selected_is_an_empty_table(rng):
    X, y = rng.normal(size=(40, 3)), rng.normal(size=40)
    with pytest.warns(NothingSelectedWarning):
        model = GradientSiftRegressor(1e-6).fit(X, y)
    assert summarise_variables(model, X, y) == []


def test_dense_estimators_are_described_by_their_best(rng):
    X = rng.normal(size=(30, 4))
    rows = summarise_variables(RidgeGradientRegressor().fit(X, X[:, 0]), X, X[:, 0])
    assert len(rows) == 4
    assert rows[0].name == "x0"


def test_names(table):
    X, y, names = table
    model = SparseGradientRegressor().fit(X, y)
    assert variable_names(model)[:2] == ["x0", "x1"]
    with pytest.raises(ValueError, match="11 names were given for 12 columns"):
        variable_names(model, names[1:])
