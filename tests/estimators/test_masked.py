"""Masked cells are missing values, and arrays of dates are no numbers, wherever data enter."""

from functools import partial

import numpy as np
import pytest

import gradsift
from gradsift import GradientSelector, GradientSiftClassifier, GradientSiftRegressor, aggregate
from gradsift.data import open_source
from gradsift.evaluate import held_out, score_model, stability

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 5))
Y = X[:, 0] + 0.3 * RNG.normal(size=60)
LABELS = np.where(Y > 0, "ill", "well")
ROWS = [3, 11, 40]
FUNCTIONS = ["gradient_path", "alpha_max"]
ESTIMATORS = [
    name
    for name in gradsift.__all__
    if name.startswith(("Gradient", "Sparse", "Ridge", "Outer", "Minimum", "Sliced", "Principal"))
    and name != "GradientSelector"
]
SPOILED = np.where(np.isin(np.arange(60), ROWS), -9999.0, X[:, 0])
MASKED_X = np.ma.masked_equal(np.column_stack([SPOILED, X[:, 1:]]), -9999.0)
NAN_X = np.where(MASKED_X.mask, np.nan, X)
MASKED_Y = np.ma.masked_where(np.isin(np.arange(60), ROWS), np.where(SPOILED < -999, -9999, Y))


def fit(name, table, y, **more):
    """A fit, or a call, of a public name."""
    made = getattr(gradsift, name)
    if name in FUNCTIONS:
        return made(table, y, **({"n_alphas": 3} if name != "alpha_max" else {}), **more)
    if "Survival" in name:
        more = {"event": np.ones(60, dtype=bool), **more}
    if name.startswith("GradientSift"):
        made = partial(made, missing="error")
    return made().fit(table, y, **more)


def response(name):
    return LABELS if "Classifier" in name else np.exp(Y) if "Survival" in name else Y


@pytest.mark.parametrize("name", [*ESTIMATORS, *FUNCTIONS])
class TestEveryEntry:
    def test_masked_cells_of_X_are_missing(self, name):
        with pytest.raises(ValueError, match="contains NaN"):
            fit(name, MASKED_X, response(name))

    def test_a_masked_response_is_missing(self, name):
        y = np.ma.masked_array(response(name), MASKED_Y.mask)
        with pytest.raises(ValueError, match=r"Input y contains NaN: 3 of the 60 .* row 3"):
            fit(name, X, y)

    def test_dates_are_no_numbers(self, name):
        days = np.datetime64("2026-01-01") + np.arange(300).reshape(60, 5)
        for table in (days, days - days[0, 0], days.astype(object)):
            with pytest.raises(ValueError, match="X holds dates or times"):
                fit(name, table, response(name))

    def test_a_mask_that_hides_nothing_changes_nothing(self, name):
        if name in FUNCTIONS:
            return
        plain, masked = (fit(name, table, response(name)) for table in (X, np.ma.masked_array(X)))
        np.testing.assert_array_equal(plain.components_, masked.components_)


@pytest.mark.parametrize("setting", ["auto", "mean", "indicator"])
def test_masked_cells_are_filled_as_nan_is(setting):
    masked, plain = (
        GradientSiftRegressor(missing=setting).fit(table, Y) for table in (MASKED_X, NAN_X)
    )
    np.testing.assert_array_equal(masked.feature_importances_, plain.feature_importances_)
    np.testing.assert_array_equal(masked.predict(MASKED_X), plain.predict(NAN_X))
    np.testing.assert_array_equal(masked.transform(MASKED_X), plain.transform(NAN_X))
    np.testing.assert_array_equal(masked.gradient(MASKED_X), plain.gradient(NAN_X))


def test_whole_numbers_and_masks_in_their_place():
    whole = np.ma.masked_array(np.round(X * 10).astype(int), MASKED_X.mask)
    found = open_source(whole).columns(np.arange(5))
    np.testing.assert_array_equal(found, np.where(MASKED_X.mask, np.nan, np.round(X * 10)))
    np.testing.assert_array_equal(
        aggregate(MASKED_X, MASKED_Y, np.arange(60) // 2).X,
        aggregate(NAN_X, Y, np.arange(60) // 2).X,
    )


@pytest.mark.parametrize(
    "model", [GradientSiftRegressor(missing="error"), gradsift.RidgeGradientRegressor()]
)
def test_fitted_models_refuse_masked_cells_and_masked_responses(model):
    selector = GradientSelector(model).fit(X, Y)
    model.fit(X, Y)
    score = partial(model.score, y=Y)
    for call in (model.predict, model.transform, score, selector.transform):
        with pytest.raises(ValueError, match="contains NaN"):
            call(MASKED_X)
    with pytest.raises(ValueError, match="Input y contains NaN"):
        model.score(X, MASKED_Y)


@pytest.mark.parametrize("kind", [GradientSiftRegressor, GradientSiftClassifier])
def test_tools_around_a_model_refuse_a_masked_response(kind):
    y = response(kind.__name__)
    model, hidden = kind().fit(X, y), np.ma.masked_array(y, MASKED_Y.mask)
    for call in (
        lambda: held_out(kind(), X, hidden, cv=2),
        lambda: stability(kind(), X, hidden, n_subsamples=2),
        lambda: score_model(model, X, hidden),
        lambda: gradsift.explain(model, X, hidden),
        lambda: gradsift.significance(model, X, hidden),
        lambda: gradsift.findings(model, X, hidden),
    ):
        with pytest.raises(ValueError, match="Input y contains NaN"):
            call()


def test_what_belongs_to_rows_may_not_be_masked():
    ones = np.ma.masked_array(np.ones(60), MASKED_Y.mask)
    for name, words in {
        "sample_weight": r"sample_weight\[3\] is nan",
        "offset": "offset is missing or infinite in row 3",
        "groups": "groups is missing for 3 of 60 rows, the first in row 3",
    }.items():
        with pytest.raises(ValueError, match=words):
            GradientSiftRegressor().fit(X, Y, **{name: ones})


def test_masked_covariates_are_missing_values():
    age = np.ma.masked_array(np.where(MASKED_Y.mask, -9999.0, X[:, 1]), MASKED_Y.mask)
    known = np.where(MASKED_Y.mask, np.nan, X[:, 1])
    for masked, plain in [(age, known), ({"age": age}, {"age": known})]:
        one, other = (GradientSiftRegressor().fit(X, Y, covariates=c) for c in (masked, plain))
        assert one.covariates_.columns == other.covariates_.columns
        np.testing.assert_array_equal(one.predict(X, masked), other.predict(X, plain))
    table = np.ma.column_stack([age, X[:, 2]])
    assert len(GradientSiftRegressor().fit(X, Y, covariates=table).covariates_.columns) == 3


@pytest.mark.parametrize("name", ["sample_weight", "offset"])
def test_times_are_neither_weights_nor_offsets(name):
    with pytest.raises(ValueError, match=f"{name} holds dates or times"):
        GradientSiftRegressor().fit(X, Y, **{name: np.arange(1, 61).astype("m8[D]")})


@pytest.mark.parametrize("name", [*ESTIMATORS, *FUNCTIONS])
def test_a_response_that_is_none_is_refused_in_our_words(name):
    with pytest.raises(ValueError, match="requires y to be passed, but the target y is None"):
        fit(name, X, None)


@pytest.mark.parametrize("kind", [str, object])
@pytest.mark.parametrize("name", [n for n in ESTIMATORS if "Classifier" not in n])
def test_labels_given_to_a_regressor_are_refused_in_our_words(name, kind):
    with pytest.raises(ValueError, match=r"y holds values that are not numbers.*in row 0"):
        fit(name, X, LABELS.astype(kind))
