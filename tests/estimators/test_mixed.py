"""Mixed data frames in fit and predict: categories, truth values, missing values, groups."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags

from gradsift import (
    GradientSelector,
    GradientSiftClassifier,
    GradientSiftRegressor,
    explain,
    findings,
    significance,
)
from gradsift.data import ArraySource
from gradsift.evaluate import held_out, stability
from gradsift.exceptions import ExtrapolationWarning, SkippedColumnsWarning
from gradsift.pipeline import load_model, save_model
from gradsift.tables import Recipe, ResponseColumns

N = 150
EFFECT = {"red": 1.5, "green": 0.0, "blue": -1.5, "teal": 0.0}


def messy(n=N, seed=0, missing=True):
    """Five numbers, three categories and a truth value; 'dose', 'colour' and 'smoker' act."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({f"x{k}": rng.normal(size=n) for k in range(4)})
    table["dose"] = rng.normal(size=n)
    table["colour"] = rng.choice(list(EFFECT), n)
    table["site"] = pd.Categorical(rng.choice(["a", "b", "c"], n))
    table["sex"] = rng.choice(["f", "m"], n)
    table["smoker"] = rng.random(n) < 0.4
    y = table.dose + table.colour.map(EFFECT) + 1.2 * table.smoker + 0.5 * rng.normal(size=n)
    if missing:
        table.loc[rng.random(n) < 0.15, "dose"] = np.nan
        table.loc[rng.random(n) < 0.1, "colour"] = None
    return table, y.to_numpy()


def model(**settings):
    return GradientSiftRegressor(
        interactions=False, predict_with="selected", **({"missing": "mean"} | settings)
    )


@pytest.fixture(scope="module")
def fitted():
    table, y = messy()
    return model().fit(table, y), table, y


def test_the_columns_of_the_table_are_selected_as_a_whole(fitted):
    found, table, y = fitted
    assert found.n_features_in_ == 9
    assert found.feature_names_in_.tolist() == list(table.columns)
    assert set(table.columns[found.get_support()]) == {"dose", "colour", "smoker"}
    assert sorted(found.ranking_) == list(range(1, 10))
    assert set(table.columns[found.ranking_ <= 3]) == {"dose", "colour", "smoker"}
    assert (found.feature_importances_ > 0).tolist() == found.get_support().tolist()
    assert found.score(table, y) > 0.7
    assert found.get_support().sum() == 3
    assert "colour" in found._repr_html_()


def test_encoded_columns_are_named(fitted):
    found, table, _ = fitted
    encoder = found.encoder_
    levels = ("blue", "green", "red", "teal", "(missing)")
    assert encoder.names[5:10] == tuple(f"colour={level}" for level in levels)
    assert found.components_.shape[1] == len(encoder.names)
    encoded = encoder.encode(table)
    same = found.predictor_.eta(ArraySource(encoded))[:, 0]
    np.testing.assert_array_equal(found.predict(table), same)


def test_polars_gives_the_same_model(fitted):
    found, table, y = fitted
    other = model().fit(pl.from_pandas(table), y)
    np.testing.assert_array_equal(other.predict(pl.from_pandas(table)), found.predict(table))


def test_a_gradient_of_a_category_is_a_difference(fitted):
    found, table, _ = fitted
    G = found.gradient(table)
    assert G.shape == (N, 9)
    column = table.columns.get_loc("colour")
    most = table.colour.value_counts().idxmax()
    assert (G[table.colour == most, column] == 0).all()
    switched = found.predict(table.assign(colour=most))
    np.testing.assert_allclose(G[:, column], found.predict(table) - switched, atol=1e-8)
    dose = table.columns.get_loc("dose")
    step = table.assign(dose=table.dose + 1e-5)
    known = table.dose.notna()
    slope = ((found.predict(step) - found.predict(table)) / 1e-5)[known]
    np.testing.assert_allclose(G[known, dose], slope, rtol=1e-3, atol=1e-4)
    assert not G[:, ~found.get_support()].any()
    np.testing.assert_array_equal(found.gradient(table, sparse=True).toarray(), G)


def test_labels(fitted):
    _, table, y = fitted
    labels = np.select([y < np.quantile(y, 0.33), y < np.quantile(y, 0.66)], ["lo", "mid"], "hi")
    sift = GradientSiftClassifier(interactions=False, predict_with="selected", missing="mean")
    found = sift.fit(table, labels)
    assert {"dose", "colour"} <= set(table.columns[found.get_support()])
    assert found.predict_proba(table).shape == (N, 3)
    assert found.gradient(table).shape == (3, N, 9)
    column = table.columns.get_loc("colour")
    most = table.colour.value_counts().idxmax()
    change = found.decision_function(table) - found.decision_function(table.assign(colour=most))
    np.testing.assert_allclose(found.gradient(table)[:, :, column].T, change, atol=1e-8)


def test_new_tables_are_checked(fitted):
    found, table, _ = fitted
    with pytest.raises(ValueError, match="yet now missing:\n- smoker"):
        found.predict(table.drop(columns="smoker"))
    with pytest.raises(ValueError, match="same order as they were in fit"):
        found.predict(table.iloc[:, ::-1])
    with pytest.warns(ExtrapolationWarning, match="150 cells of 'dose' cannot be read as numbers"):
        found.predict(table.astype({"dose": object}).assign(dose="much"))
    with pytest.warns(ExtrapolationWarning, match=r"of 'colour' that the model has not seen \('p"):
        new = found.predict(table.iloc[:2].assign(colour="pink"))
    assert np.isfinite(new).all()


def test_missing_values_are_refused_unless_asked_for():
    table, y = messy()
    with pytest.raises(ValueError, match="contains NaN: column 'colour' has no category in row"):
        model(missing="error").fit(table, y)
    whole = table.assign(colour=table.colour.fillna("red"))
    with pytest.raises(ValueError, match=r"contains NaN.* 'dose'"):
        model(missing="error").fit(whole, y)
    with pytest.raises(ValueError, match=r"missing='drop': use 'error'.*'indicator'"):
        model(missing="drop").fit(table, y)
    assert not get_tags(model(missing="error")).input_tags.allow_nan
    assert get_tags(model(missing="indicator")).input_tags.allow_nan
    assert get_tags(GradientSiftRegressor()).input_tags.allow_nan


@pytest.mark.parametrize("kind", ["frame", "array"])
@pytest.mark.parametrize("missing", ["auto", "indicator"])
def test_missingness_that_matters_is_found_by_an_indicator(kind, missing):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 12))
    holes = rng.random(X.shape) < 0.3
    y = 1.2 * holes[:, 4] + rng.normal(size=200)
    X = np.where(holes, np.nan, X)
    if kind == "frame":
        X = pd.DataFrame(X, columns=list("abcdefghijkl"))
    found = model(missing=missing).fit(X, y)
    assert found.get_support(indices=True).tolist() == [4]
    known = ~holes[:, 4]
    assert found.predict(X)[~known].mean() - found.predict(X)[known].mean() > 0.8


def test_an_indicator_needs_a_table_in_memory(tmp_path):
    np.save(tmp_path / "X.npy", np.random.default_rng(0).normal(size=(30, 4)))
    with pytest.raises(ValueError, match="needs a table in memory"):
        model(missing="indicator").fit(tmp_path / "X.npy", np.arange(30.0))


def probes(n=120):
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.normal(size=(n, 12)), columns=[f"p{k}" for k in range(12)])
    y = X[["p3", "p4", "p5"]].sum(axis=1) / 2 + 0.7 * rng.normal(size=n)
    return X, y.to_numpy()


def test_feature_groups_by_name_and_by_label():
    X, y = probes()
    groups = {"g0": ["p0", "p1", "p2"], "g1": ["p3", "p4", "p5"]}
    found = model(feature_groups=groups).fit(X, y)
    assert found.get_support(indices=True).tolist() == [3, 4, 5]
    assert found.feature_groups_ == ("g0",) * 3 + ("g1",) * 3 + tuple(X.columns[6:])
    labels = ["g0"] * 3 + ["g1"] * 3 + [None] * 6
    same = model(feature_groups=labels).fit(X, y)
    assert same.feature_groups_ == found.feature_groups_
    np.testing.assert_array_equal(same.ranking_, found.ranking_)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ({"g": ["p0"], "h": ["p0"]}, "'p0' is in the groups 'g' and 'h'"),
        ({"g": ["q"]}, r"feature_groups\['g'\] names 'q', but no column has that name"),
        ({"p1": ["p0"]}, "names a group 'p1', as a column outside of it"),
        (["a", "b"], r"feature_groups has shape \(2,\): give one label for each of the 12"),
    ],
)
def test_bad_feature_groups(groups, message):
    X, y = probes()
    with pytest.raises(ValueError, match=message):
        model(feature_groups=groups).fit(X, y)


def test_groups_of_categories_and_numbers():
    table, y = messy()
    found = model(feature_groups={"life": ["dose", "smoker"]}).fit(table, y)
    chosen = set(table.columns[found.get_support()])
    assert chosen == {"dose", "smoker", "colour"}
    kept = model(always_keep=["site"]).fit(table, y)
    assert "site" in table.columns[kept.get_support()]


def test_how_sure_is_said_of_the_columns_of_the_table(fitted):
    found, table, y = fitted
    tested = significance(found, table, y)
    assert tested.q_values.shape == (9,)
    assert set(table.columns[tested.q_values < 0.05]) == {"dose", "colour", "smoker"}
    said = findings(found, table, y)
    assert said.confidence.shape == (9,)
    acting = [set(table.columns[f.columns]) for f in said]
    assert {"colour"} in acting
    assert {"dose"} in acting
    assert len(acting) == len({frozenset(one) for one in acting})


def test_folds_half_samples_pipelines_and_pickles(fitted):
    found, table, y = fitted
    scores = held_out(model(), table, y, cv=3)
    assert scores.mean > 0.6
    assert scores.simple.mean("R²") > 0.6
    again = stability(model(), table, y, n_subsamples=2, random_state=0)
    assert again.frequencies[table.columns.get_loc("colour")] == 1.0
    selector = GradientSelector(model()).set_output(transform="pandas")
    kept = selector.fit(table, y).transform(table)
    assert list(kept.columns) == ["dose", "colour", "smoker"]
    pipe = make_pipeline(model()).fit(table, y)
    np.testing.assert_array_equal(pipe.predict(table), found.predict(table))
    copy = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(copy.predict(table), found.predict(table))
    assert clone(found).get_params() == found.get_params()


def test_model_files_keep_the_encoder(fitted, tmp_path):
    found, table, _ = fitted
    save_model(tmp_path / "m.gradsift", found, Recipe(ResponseColumns("y"), "regression"))
    back = load_model(tmp_path / "m.gradsift").model
    np.testing.assert_array_equal(back.predict(table), found.predict(table))
    assert back.encoder_ == found.encoder_


def test_an_answer_names_the_columns_of_the_table(fitted):
    found, table, y = fitted
    answer = explain(found, table, y)
    assert set(answer.selected) == {"dose", "colour", "smoker"}
    colour = next(f for f in answer.findings if f.name == "colour")
    assert {level.label for level in colour.effect.levels} >= {"red", "blue"}
    assert (colour.effect.comparisons[0].start, colour.effect.comparisons[0].end) == ("blue", "red")


def test_numbers_in_odd_types_give_the_same_model():
    table, y = messy(missing=False)
    numbers = table[["x0", "dose", "x1", "smoker"]]
    odd = numbers.assign(
        dose=numbers.dose.astype("Float64"),
        x1=numbers.x1.astype(object),
        smoker=numbers.smoker.astype("boolean"),
    )
    one, two = (model(missing="error").fit(X, y) for X in (numbers, odd))
    assert one.encoder_ is None
    np.testing.assert_array_equal(one.ranking_, two.ranking_)
    np.testing.assert_allclose(one.predict(numbers), two.predict(odd))


def test_a_refit_on_numbers_forgets_the_encoder(fitted):
    _, table, y = fitted
    sift = model().fit(table, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sift.fit(table[["x0", "x1", "dose"]], y)
    assert sift.encoder_ is None


def test_the_importance_of_a_category_is_the_spread_of_its_effects():
    """However it is coded: as text, as two 0/1 columns of one variable, or as one."""
    rng = np.random.default_rng(0)
    n = 300
    sex, kind = rng.choice(["f", "m"], n), rng.choice(list("abc"), n, p=[0.5, 0.3, 0.2])
    effect = 20.0 * (sex == "f") + np.select([kind == "b", kind == "c"], [6.0, -6.0], 0.0)
    X = pd.DataFrame({"sex": sex, "kind": kind}).join(pd.DataFrame(rng.normal(size=(n, 8))))
    X.columns = X.columns.astype(str)
    y = effect + rng.normal(size=n)
    spread = [20 * np.std(sex == "f"), np.std(effect - 20.0 * (sex == "f"))]
    found = GradientSiftRegressor().fit(X, y)
    np.testing.assert_allclose(found.feature_importances_[:2], spread, rtol=0.05)
    np.testing.assert_array_equal(found.variable_importances_, found.feature_importances_)

    coded = pd.get_dummies(X, dtype=float)
    labels = [name.split("_")[0] for name in coded]
    grouped = GradientSiftRegressor(feature_groups=labels).fit(coded, y)
    same = dict(zip(labels, grouped.variable_importances_, strict=True))
    np.testing.assert_allclose([same["sex"], same["kind"]], spread, rtol=0.05)
    one = GradientSiftRegressor().fit(coded.drop(columns=["sex_m"]), y)
    place = coded.columns.drop("sex_m").get_loc("sex_f")
    assert one.feature_importances_[place] == pytest.approx(spread[0], rel=0.05)


def test_importances_of_columns_and_of_groups_of_them():
    """Of a group of columns, what they change together; each column keeps its own."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, 6)), columns=list("pqrstu"))
    X["site"] = rng.choice(list("abc"), 300)
    effect = X["site"].map({"a": 0.0, "b": 5.0, "c": 9.0}).to_numpy()
    y = 3 * X["p"] + X["q"] + effect + 0.3 * rng.normal(size=300)
    groups = {"pq": ["p", "q"]}
    model = GradientSiftRegressor(feature_groups=groups).fit(X, y)
    own = dict(zip(X.columns, model.feature_importances_, strict=True))
    joint = dict(zip(X.columns, model.variable_importances_, strict=True))
    assert own["p"] == pytest.approx(3.0, rel=0.1)
    assert own["q"] == pytest.approx(1.0, rel=0.15)
    assert own["site"] == pytest.approx(effect.std(), rel=0.05)
    assert joint["p"] == joint["q"] == pytest.approx((3 * X["p"] + X["q"]).std(), rel=0.05)
    assert joint["site"] == own["site"]


def test_a_frame_is_treated_as_a_file_is():
    """Identifiers and free text are left out with a warning; dates, units and ranks are numbers."""
    rng = np.random.default_rng(0)
    n = 120
    day = np.datetime64("2024-01-01") + rng.integers(0, 300, n)
    grade = rng.choice(["low", "medium", "high"], n)
    dose = rng.normal(5.0, 1.0, n).round(3)
    X = pd.DataFrame(
        {
            "patient": [f"P{k:03d}" for k in range(n)],
            "dose": [f"{v} mg" for v in dose],
            "seen": day,
            "grade": grade,
            "noise": rng.normal(size=n),
        }
    )
    rank = pd.Series(grade).map({"low": 0, "medium": 1, "high": 2})
    y = dose + rank + (day - day.min()).astype(float) / 100 + 0.3 * rng.normal(size=n)
    with pytest.warns(SkippedColumnsWarning, match=r"'patient' \(identifier: another text in ever"):
        found = GradientSiftRegressor().fit(X, y.to_numpy())
    assert set(X.columns[found.get_support()]) == {"dose", "seen", "grade"}
    assert {"dose", "seen: days", "grade"} <= set(found.encoder_.names)
    assert found.ranking_[0] == 5
    assert found.gradient(X[:3]).shape == (3, 5)
    tested = significance(found, X, y.to_numpy())
    assert tested.p_values[0] == 1.0
    assert set(explain(found, X, y.to_numpy()).selected) == {"dose", "seen", "grade"}
    assert held_out(GradientSiftRegressor(), X, y.to_numpy(), cv=3).mean > 0.6
