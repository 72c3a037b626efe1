"""Rows far outside those of the fit get one warning a call, with their share and the columns."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import gradsift
from gradsift import (
    GradientSiftClassifier,
    GradientSiftRegressor,
    Penalties,
    SparseGradientRegressor,
)
from gradsift.answer import explain
from gradsift.data import open_source
from gradsift.evaluate import held_out, stability
from gradsift.exceptions import ExtrapolationWarning
from gradsift.pipeline import load_model, save_model
from gradsift.tables import Choices, prepare
from gradsift.tables.frame import make_frame

NUMBERS = ["GradientSiftRegressor", "SparseGradientRegressor", "SparseGradientRegressorCV"]
DENSE = ["RidgeGradientRegressor", "OuterProductGradient", "MinimumAverageVariance"]
LABELS = ["GradientSiftClassifier", "SparseGradientClassifier", "SparseGradientClassifierCV"]
N = 60


def table(kind=""):
    rng = np.random.default_rng(0)
    X = rng.uniform(10.0, 20.0, size=(N, 5))
    y = X[:, 1] + (X[:, 3] - 15) ** 2 / 5 + 0.1 * rng.normal(size=N)
    return X, np.where(y > np.median(y), "hi", "lo") if "Classifier" in kind else y


def fitted(kind):
    X, y = table(kind)
    params = {"alphas": 5} if kind.endswith("CV") else {}
    return getattr(gradsift, kind)(**params).fit(X, y), X


def notes(call, *args):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call(*args)
    return [str(w.message) for w in caught if w.category is ExtrapolationWarning]


@pytest.mark.parametrize("kind", NUMBERS + DENSE + LABELS)
def test_rows_far_outside_get_one_warning_a_call(kind):
    model, X = fitted(kind)
    new = X.copy()
    new[[4, 7, 9], 1] = [200.0, -50.0, 31.0]
    calls = [model.predict, model.transform]
    calls += [model.predict_proba, model.decision_function] if kind in LABELS else []
    for call in calls:
        for data in (new, open_source(new), sparse.csc_array(new)):
            (note,) = notes(call, data)
            assert note.startswith("3 of 60 rows are far outside the rows")
            assert "in column 1 (fitted to 10." in note
    assert notes(model.predict, X) == []


@pytest.mark.parametrize("kind", NUMBERS + LABELS)
def test_far_is_further_outside_than_the_range_is_wide(kind):
    model, X = fitted(kind)
    low, high = X[:, 1].min(), X[:, 1].max()
    for value, far in ((2 * high - low - 1e-6, 0), (2 * high - low + 1e-6, 1)):
        new = X[:10].copy()
        new[0, 1] = value
        assert len(notes(model.predict, new)) == far
        new[0, 1] = low + high - value
        assert len(notes(model.predict, new)) == far


def test_columns_that_are_not_used_and_missing_values_are_no_matter():
    X, y = table()
    model = GradientSiftRegressor(missing="mean", predict_with="selected").fit(X, y)
    assert model.get_support(indices=True).tolist() == [1, 3]
    new = X.copy()
    new[:, 0], new[3, 1] = 1e9, np.nan
    assert notes(model.predict, new) == []


def test_a_kept_column_that_never_changed_has_no_say():
    X, y = table()
    X[:, 0] = 1.0
    model = GradientSiftRegressor(always_keep=[0]).fit(X, y)
    assert notes(model.predict, X + np.eye(5)[0]) == []


def test_genotypes_and_indicators_that_the_fit_has_not_seen_are_not_far():
    rng = np.random.default_rng(0)
    X = (rng.random(size=(N, 5)) < 0.1).astype(float)
    model = GradientSiftRegressor(always_keep=[2]).fit(X, X[:, 1] + rng.normal(size=N))
    assert notes(model.predict, 2.0 * np.ones((3, 5))) == []


def test_columns_of_a_frame_are_named_and_categories_are_no_numbers():
    X, y = table()
    frame = pd.DataFrame(X, columns=list("abcde"))
    frame["batch"] = np.where(np.arange(N) % 3, "x", "z")
    model = GradientSiftRegressor(always_keep=["batch"]).fit(frame, y)
    assert model.encoder_ is not None
    assert notes(model.predict, frame) == []
    frame.loc[:5, "d"] = 1e4
    (note,) = notes(model.predict, frame)
    assert "6 of 60 rows" in note
    assert "in 'd' (fitted to" in note


def test_predictions_of_our_own_do_not_warn():
    rng = np.random.default_rng(0)
    X = rng.standard_cauchy(size=(N, 5))  # held-out rows are far outside again and again
    y = np.tanh(X[:, 1]) + 0.1 * rng.normal(size=N)
    for kind, response in ((GradientSiftRegressor, y), (GradientSiftClassifier, y > 0)):
        model = kind(inference=True)
        assert notes(held_out, model, X, response) == []
        assert notes(stability, kind(), X, response, 3, 0) == []
        assert notes(model.fit, X, response) == []
        assert notes(explain, model, X, response) == []


def test_a_saved_model_knows_the_ranges(tmp_path):
    X, y = table()
    names = list("abcde")
    recipe = prepare(make_frame([*names, "y"], [*X.T, y]), Choices("y")).recipe
    model, _ = fitted("GradientSiftRegressor")
    save_model(tmp_path / "m.gradsift", model, recipe)
    again = load_model(tmp_path / "m.gradsift").model
    assert notes(again.predict, 9 * X) == notes(model.predict, 9 * X) != []


def test_held_out_rows_of_long_tails_seldom_warn():
    """Log-normal, exponential and t columns: a share of folds, not most of them."""
    rng, said = np.random.default_rng(0), []
    for _ in range(60):
        n = int(rng.integers(40, 200))
        X = np.column_stack(
            [rng.lognormal(size=n), rng.exponential(size=n), rng.standard_t(4, size=n)]
        )
        model = GradientSiftRegressor(always_keep=[0, 1, 2], interactions=False)
        model.fit(X[n // 5 :], rng.normal(size=n)[n // 5 :])
        said.append(len(notes(model.predict, X[: n // 5])))
    assert np.mean(said) < 0.1


def test_ranges_are_those_of_the_rows_of_the_fit(rng):
    """A row of weight zero is not there, one without a response is."""
    X = rng.normal(size=(60, 3))
    y = X[:, 0] + 0.1 * rng.normal(size=60)
    X[0] = 50.0
    weighted = GradientSiftRegressor().fit(X, y, sample_weight=np.arange(60) > 0)
    assert weighted.ranges_.max() < 10.0
    penalties = Penalties(smoothness=0.1)
    model = SparseGradientRegressor(penalties=penalties).fit(X[1:], y[1:], X_unlabeled=X[:1])
    assert model.ranges_.max() == 50.0
