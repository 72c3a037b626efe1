"""Missing values: refused by name, or filled with the mean of the column."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from helpers import REFIT_TOL, assert_same_answer, assert_same_sums
from scipy import sparse
from sklearn.impute import SimpleImputer

from gradsift import (
    GradientSiftClassifier,
    GradientSiftRegressor,
    OuterProductGradient,
    SolverSettings,
    SparseGradientClassifier,
    SparseGradientRegressor,
    SparseGradientRegressorCV,
    gradient_path,
)
from gradsift.data import ArraySource, measure_scaling, open_source

RNG = np.random.default_rng(1)
X = RNG.normal(2.0, 3.0, size=(60, 8))
Y = np.sin(X[:, 1]) + X[:, 4]
HOLED = np.where(RNG.uniform(size=X.shape) < 0.1, np.nan, X)
TOL = 1e-9
NAMES = list("abcdefgh")
MODELS = [
    GradientSiftRegressor(missing="mean"),
    GradientSiftClassifier(missing="mean"),
    SparseGradientRegressor(missing="mean", solver=SolverSettings(tol=TOL)),
    SparseGradientRegressor(
        missing="mean", standardize=False, kernel="gaussian", solver=SolverSettings(tol=TOL)
    ),
    SparseGradientClassifier(missing="mean", solver=SolverSettings(tol=TOL)),
    SparseGradientRegressorCV(missing="mean", cv=3, alphas=3, solver=SolverSettings(tol=TOL)),
]


@pytest.mark.parametrize("weighted", [False, True])
def test_moments_are_those_of_the_imputed_table(weighted):
    weight = RNG.uniform(0.5, 2.0, 60) if weighted else np.ones(60)
    share = weight / weight.sum()
    got = measure_scaling(ArraySource(HOLED), share, missing="mean")
    known = ~np.isnan(HOLED)
    mean = np.array([np.average(c[k], weights=weight[k]) for c, k in zip(HOLED.T, known.T)])
    filled = np.where(known, HOLED, mean)
    np.testing.assert_allclose(got.mean, mean)
    np.testing.assert_allclose(got.scale, np.sqrt(share @ (filled - mean) ** 2))
    np.testing.assert_allclose(got.apply(HOLED), (filled - mean) / got.scale, atol=1e-12)
    assert np.isnan(HOLED).any()  # the user's array is left alone


def test_a_column_without_values_is_a_constant():
    empty = X.copy()
    empty[:, 3] = np.nan
    scaling = measure_scaling(ArraySource(empty), np.full(60, 1 / 60), missing="mean")
    assert (scaling.apply(empty)[:, 3] == 0.0).all()
    model = GradientSiftRegressor(missing="mean").fit(empty, Y)
    assert model.feature_importances_[3] == 0.0


@pytest.mark.parametrize("stored", [np.asarray, sparse.csc_array], ids=["array", "source"])
@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
def test_the_model_is_that_of_the_imputed_table(model, stored):
    """New samples are filled with the means of the training samples."""
    y = Y > 2 if "Classifier" in type(model).__name__ else Y
    if isinstance(model, GradientSiftRegressor):  # selects from what is known: a clear effect
        y = X[:, 1] + X[:, 4]
    imputer = SimpleImputer().fit(HOLED)
    expected = type(model)(**model.get_params()).fit(imputer.transform(HOLED), y)
    model.fit(stored(HOLED), y)
    tol = REFIT_TOL if "Sift" in type(model).__name__ else TOL
    assert_same_answer(model.feature_importances_, expected.feature_importances_, tol)
    new = np.where(RNG.uniform(size=X.shape) < 0.2, np.nan, X)
    full = imputer.transform(new)
    for method in ("predict", "transform", "gradient"):
        got, want = (getattr(m, method)(x) for m, x in ((model, stored(new)), (expected, full)))
        assert_same_answer(got, want, tol)


STORED = {
    "sparse": (sparse.csc_array(HOLED), "column 0, column 1"),
    "arrow": (pa.table(dict(zip(NAMES, HOLED.T))), "'a', 'b'"),
    "frame": (pd.DataFrame(HOLED, columns=NAMES), "'a', 'b'"),
}


@pytest.mark.parametrize("name", STORED)
@pytest.mark.parametrize(
    "fit",
    [
        GradientSiftRegressor(missing="error").fit,
        gradient_path,
        SparseGradientRegressor().fit,
        OuterProductGradient().fit,
    ],
)
def test_holes_are_refused_by_name(name, fit):
    data, columns = STORED[name]
    count = int(np.isnan(HOLED).sum())
    row = int(np.flatnonzero(np.isnan(HOLED[:, 0]))[0])
    message = rf"contains NaN: {count} bad .* in 8 column\(s\): {columns}, .*, \.\.\.; the first "
    with pytest.raises(ValueError, match=message + rf"in row {row}\. .*missing='mean'"):
        fit(data, Y)


@pytest.mark.parametrize("missing", ["error", "mean"])
def test_infinity_is_always_refused(missing):
    bad = X.copy()
    bad[4, 6] = -np.inf
    bad[5, 6] = np.nan
    for data in (bad, sparse.csc_array(bad)):
        with pytest.raises(ValueError, match=r"contains infinity \(inf\).*column 6.*row 4"):
            GradientSiftRegressor(missing=missing).fit(data, Y)
    with pytest.raises(ValueError, match=r"missing='drop': use 'error'"):
        GradientSiftRegressor(missing="drop").fit(X, Y)


def test_of_new_data_only_what_is_read_is_looked_at():
    """A million columns are not scanned to predict from two; a hole in those two is refused."""
    model = GradientSiftRegressor(missing="error").fit(X, Y)
    selected = model.get_support(indices=True)
    unread = X.copy()
    unread[:, np.setdiff1d(np.arange(8), selected)] = np.nan
    assert_same_sums(model.predict(sparse.csc_array(unread)), model.predict(X))
    unread[3, selected[0]] = np.nan
    with pytest.raises(ValueError, match=f"column {selected[0]}; the first in row 3"):
        model.predict(sparse.csc_array(unread))


def test_wrong_columns_at_prediction():
    model = GradientSiftRegressor().fit(pa.table(dict(zip(NAMES, X.T))), Y)
    with pytest.raises(ValueError, match=r"X has 3 features, but .* is expecting 8"):
        model.predict(sparse.csc_array(X[:, :3]))
    with pytest.raises(ValueError, match=r"column 0 is 'b' but was 'a' \(2 differ\)"):
        model.predict(pa.table(dict(zip("bacdefgh", X.T))))
    assert model.predict(open_source(sparse.csc_array(X))).shape == (60,)  # no names: by place


def test_shapes_are_checked_before_anything_is_read():
    with pytest.raises(ValueError, match=r"2 sample\(s\).*minimum of 3 is required"):
        GradientSiftRegressor().fit(sparse.csc_array(X[:2]), Y[:2])
    with pytest.raises(ValueError, match=r"0 feature\(s\)"):
        GradientSiftRegressor().fit(sparse.csc_array(X[:, :0]), Y)
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[60, 59\]"):
        GradientSiftRegressor().fit(sparse.csc_array(X), Y[:-1])
