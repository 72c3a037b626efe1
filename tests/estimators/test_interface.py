"""The public surface: attributes, shapes, data frames, pickling, pipelines."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from helpers import make_data
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import gradsift
from gradsift import (
    GradientSiftClassifier,
    GradientSiftRegressor,
    OuterProductGradient,
    Penalties,
    RidgeGradientClassifier,
    RidgeGradientRegressor,
    SolverSettings,
    SparseGradientClassifier,
    SparseGradientClassifierCV,
    SparseGradientRegressor,
    SparseGradientRegressorCV,
)
from gradsift.exceptions import NothingSelectedWarning

REGRESSORS = [
    GradientSiftRegressor(),
    SparseGradientRegressor(),
    SparseGradientRegressorCV(cv=3, alphas=4),
    RidgeGradientRegressor(),
    OuterProductGradient(),
]
CLASSIFIERS = [
    GradientSiftClassifier(),
    SparseGradientClassifier(),
    SparseGradientClassifierCV(cv=3, alphas=4),
    RidgeGradientClassifier(),
]
NAMES = ["age", "bmi", "dose", "site", "time", "noise"]


def name_of(model):
    return type(model).__name__


@pytest.fixture(params=REGRESSORS + CLASSIFIERS, ids=name_of)
def fitted(request):
    task = "binary" if request.param in CLASSIFIERS else "regression"
    X, y = make_data(task, n=40, p=6)
    return clone(request.param).fit(X, y), X, y


def test_every_estimator_answers_the_three_questions(fitted):
    model, X, y = fitted
    p = X.shape[1]
    mask = model.get_support()
    assert mask.shape == (p,)
    assert mask.tolist() == (model.feature_importances_ > 0).tolist()
    assert model.get_support(indices=True).tolist() == np.flatnonzero(mask).tolist()
    assert mask[1]  # column 1 acts linearly: nobody may miss it
    assert sorted(model.ranking_) == list(range(1, p + 1))
    assert mask[model.ranking_.argmin()]  # the best ranked is among the selected
    assert model.components_.shape == (model.n_components_, p)
    np.testing.assert_allclose(
        model.components_ @ model.components_.T, np.eye(model.n_components_), atol=1e-9
    )
    by_hand = (X - model.mean_) / model.scale_ @ model.components_.T
    np.testing.assert_allclose(model.transform(X), by_hand)
    gradient = model.gradient(X[:7])
    assert gradient.shape == (7, p)  # two classes too: one field, of the log odds
    assert (gradient[:, ~mask] == 0.0).all()
    assert model.score(X, y) > 0.6


def test_sparse_gradient_equals_dense(fitted):
    model, X, _ = fitted
    csc = model.gradient(X, sparse=True)
    assert csc.format == "csc"
    assert csc.nnz <= len(X) * model.get_support().sum()
    np.testing.assert_array_equal(csc.toarray(), model.gradient(X))


def test_pickle_and_clone(fitted):
    model, X, _ = fitted
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(again.gradient(X), model.gradient(X))
    fresh = clone(model)
    assert fresh.get_params() == model.get_params()
    assert not hasattr(fresh, "feature_importances_")


def test_n_components(fitted):
    model, X, y = fitted
    two = clone(model).set_params(n_components=2).fit(X, y)
    assert two.transform(X).shape == (40, min(2, model.get_support().sum()))
    np.testing.assert_array_equal(two.feature_importances_, model.feature_importances_)


def test_constructors_are_short():
    """Rare parameters are fields of settings objects."""
    for name in gradsift.__all__:
        if name.startswith(("Sparse", "Ridge", "Outer", "Minimum", "Sliced", "Principal")):
            most = 14 if name.endswith("CV") else 12
            assert len(getattr(gradsift, name)().get_params()) <= most, name


def test_settings_are_searched_as_any_parameter(table):
    X, y = table
    loose, tight = SolverSettings(tol=1e-2), SolverSettings(tol=1e-8)
    search = GridSearchCV(SparseGradientRegressor(), {"solver": [loose, tight]}, cv=2).fit(X, y)
    assert search.best_params_["solver"].tol in (1e-2, 1e-8)
    again = pickle.loads(pickle.dumps(clone(search.best_estimator_).fit(X, y)))
    np.testing.assert_array_equal(again.predict(X), search.predict(X))


@pytest.mark.parametrize("name", ["solver", "penalties"])
def test_settings_of_another_kind_are_refused(name, table):
    with pytest.raises(ValueError, match=rf"{name}='fbs': use None or \w+\(\.\.\.\)"):
        SparseGradientRegressor(**{name: "fbs"}).fit(*table)


@pytest.mark.parametrize(
    "model", [SparseGradientRegressor(), SparseGradientClassifier()], ids=name_of
)
def test_certificate_attributes(model):
    X, y = make_data("binary", n=40, p=6)
    model = clone(model).fit(X, y.astype(float) if model in REGRESSORS else y)
    assert model.alpha_ == pytest.approx(0.1 * model.alpha_max_)  # the documented default
    assert 0.0 <= model.dual_gap_ <= (model.solver or SolverSettings()).tol
    assert 0.0 <= model.kkt_violation_ < 0.5
    assert model.n_iter_ >= 1
    assert np.isfinite(model.objective_)
    tight = clone(model).set_params(solver=SolverSettings(tol=1e-10)).fit(X, y)
    assert tight.kkt_violation_ < 1e-4
    assert tight.objective_ <= model.objective_


# ------------------------------------------------------------------ labels


@pytest.mark.parametrize("model", CLASSIFIERS, ids=name_of)
@pytest.mark.parametrize(
    "labels",
    [
        np.array(["no", "yes"]),
        np.array(["no", "yes"], dtype=object),
        np.array([False, True]),
        np.array([-1, 1]),
        np.array([3.0, 7.0]),
    ],
    ids=lambda a: str(a.dtype),
)
def test_labels_of_any_type(model, labels):
    X, codes = make_data("binary", n=40, p=6)
    plain = clone(model).fit(X, codes)
    named = clone(model).fit(X, labels[codes])
    assert named.classes_.tolist() == labels.tolist()
    np.testing.assert_array_equal(named.feature_importances_, plain.feature_importances_)
    np.testing.assert_array_equal(named.predict(X), labels[plain.predict(X)])


def test_two_classes_are_log_odds():
    X, y = make_data("binary", n=40, p=6)
    model = SparseGradientClassifier().fit(X, y)
    scores, proba = model.decision_function(X), model.predict_proba(X)
    assert scores.shape == (40,)
    np.testing.assert_allclose(np.log(proba[:, 1] / proba[:, 0]), scores, atol=1e-9)
    np.testing.assert_array_equal(model.predict(X), (scores > 0).astype(int))
    # swapping the classes turns every sign around, and leaves the selection
    swapped = SparseGradientClassifier().fit(X, 1 - y)
    np.testing.assert_allclose(swapped.decision_function(X), -scores, atol=1e-6)
    np.testing.assert_allclose(swapped.gradient(X), -model.gradient(X), atol=1e-6)


@pytest.mark.parametrize("model", CLASSIFIERS, ids=name_of)
def test_three_classes(model):
    X, y = make_data("multiclass", n=60, p=6)
    model = clone(model).fit(X, np.array(["a", "b", "c"])[y])
    assert model.gradient(X).shape == (3, 60, 6)
    assert model.decision_function(X).shape == (60, 3)
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.predict(X), model.classes_[proba.argmax(axis=1)])
    parts = model.gradient(X, sparse=True)
    np.testing.assert_array_equal([part.toarray() for part in parts], model.gradient(X))
    # one decision per variable: out for one class, out for all
    assert (model.gradient(X)[:, :, ~model.get_support()] == 0.0).all()
    assert model.score(X, np.array(["a", "b", "c"])[y]) > 0.5


# ------------------------------------------------------------------ data frames


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("model", [*REGRESSORS, *CLASSIFIERS], ids=name_of)
def test_frames_in_and_out(model, library):
    X, y = make_data("binary", n=40, p=6)
    make = pd.DataFrame if library == "pandas" else pl.DataFrame
    frame = make(dict(zip(NAMES, X.T)))
    kind = pd.Series if library == "pandas" else pl.Series
    named = clone(model).set_output(transform=library).fit(frame, kind(y))
    assert named.feature_names_in_.tolist() == NAMES
    np.testing.assert_array_equal(
        named.feature_importances_, clone(model).fit(X, y).feature_importances_
    )
    out = named.transform(frame)
    assert isinstance(out, make)
    stem = type(model).__name__.lower()
    expected = [f"{stem}{k}" for k in range(named.n_components_)]
    assert list(out.columns) == expected == list(named.get_feature_names_out())
    assert len(named.predict(frame)) == 40
    with pytest.raises(ValueError, match="feature names"):
        named.predict(frame.rename(columns={"age": "old"}) if library == "pandas"
                      else frame.rename({"age": "old"}))  # fmt: skip


# ------------------------------------------------------------------ model selection


def test_grid_search_over_alpha_in_a_pipeline(table):
    X, y = table
    pipe = make_pipeline(StandardScaler(), SparseGradientRegressor(standardize=False))
    grid = {"sparsegradientregressor__alpha": [0.01, 0.1]}
    search = GridSearchCV(pipe, grid, cv=3).fit(X, y)
    assert search.best_params_["sparsegradientregressor__alpha"] in (0.01, 0.1)
    assert search.score(X, y) > 0.5


def test_transform_feeds_the_next_step(table):
    X, y = table
    pipe = make_pipeline(SparseGradientRegressor(n_components=2), LinearRegression()).fit(X, y)
    assert pipe[-1].coef_.shape == (2,)


# ------------------------------------------------------------------ kernels, warnings


def test_callable_kernel_equals_its_name(table):
    X, y = table
    named = SparseGradientRegressor(kernel="affine", solver=SolverSettings(tol=1e-8)).fit(X, y)
    called = SparseGradientRegressor(
        kernel=lambda products: 1 + products.inner, solver=SolverSettings(tol=1e-8)
    ).fit(X, y)
    np.testing.assert_allclose(called.gradient(X), named.gradient(X), atol=1e-4)


def test_free_variable_is_always_kept(table):
    X, y = table
    factor = np.ones(6)
    factor[5] = 0.0
    model = SparseGradientRegressor(penalties=Penalties(penalty_factor=factor)).fit(X, y)
    model.set_params(alpha=2 * model.alpha_max_).fit(X, y)
    assert model.get_support(indices=True).tolist() == [5]


@pytest.mark.parametrize("share", [1.0, 3.0])
def test_nothing_selected_warns_and_falls_back(table, share):
    X, y = table
    top = SparseGradientRegressor().fit(X, y).alpha_max_
    model = SparseGradientRegressor(share * top)
    with pytest.warns(NothingSelectedWarning, match="fall back to the mean of y.*smaller alpha"):
        model.fit(X, y)
    assert model.get_support().sum() == 0
    assert model.transform(X).shape == (40, 0)
    assert sorted(model.ranking_) == [1, 2, 3, 4, 5, 6]  # still ranked, by who would come first
    np.testing.assert_allclose(model.predict(X), y.mean())
    assert (model.gradient(X) == 0.0).all()
    codes = (y > np.median(y)).astype(int)
    labels = SparseGradientClassifier().fit(X, codes)
    labels.set_params(alpha=share * labels.alpha_max_).fit(X, codes)
    assert labels.get_support().sum() == 0


def test_unconverged_fit_warns(table):
    X, y = table
    model = SparseGradientRegressor(solver=SolverSettings(tol=1e-12, max_iter=3))
    with pytest.warns(ConvergenceWarning, match=r"stopped at max_iter.*max_iter=3, relative duali"):
        model.fit(X, y)
    assert 3 <= model.n_iter_ <= 3 * 3  # three at each penalty on the way down, at most
