"""What must not matter does not matter: order, shifts, units, copies, threads, precision."""

from dataclasses import replace
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import pytest
from helpers import assert_same_answer, make_data
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from gradsift import (
    GradientSelector,
    GradientSiftClassifier,
    GradientSiftRegressor,
    MinimumAverageVariance,
    NearestNeighbors,
    OuterProductGradient,
    PrincipalHessianDirections,
    RidgeGradientClassifier,
    RidgeGradientRegressor,
    SlicedAverageVariance,
    SlicedInverseRegression,
    SolverSettings,
    SparseGradientClassifier,
    SparseGradientClassifierCV,
    SparseGradientRegressor,
    SparseGradientRegressorCV,
    significance,
)

SHARP = {"solver": SolverSettings(tol=1e-9)}
MODELS = {
    "sparse": (SparseGradientRegressor(**SHARP), "regression"),
    "sparse-gaussian": (SparseGradientRegressor(kernel="gaussian", **SHARP), "regression"),
    "sparse-nearest": (SparseGradientRegressor(weights="nearest", **SHARP), "regression"),
    "labels": (SparseGradientClassifier(solver=SolverSettings(tol=1e-8)), "binary"),
    "labels-3": (SparseGradientClassifier(solver=SolverSettings(tol=1e-7)), "multiclass"),
    "ridge": (RidgeGradientRegressor(), "regression"),
    "ridge-labels": (RidgeGradientClassifier(), "binary"),
    "opg": (OuterProductGradient(), "regression"),
}
N, P = 20, 5


@pytest.fixture(params=MODELS)
def case(request):
    model, task = MODELS[request.param]
    return model, *make_data(task, n=N, p=P, seed=6)


def importances(model, X, y, weight=None):
    return model.fit(X, y, sample_weight=weight).feature_importances_.copy()


def same(a, b, tol=1e-8):
    """Equal as answers of a solver with a gap of 1e-8 or so can be."""
    assert_same_answer(a, b, tol)


@pytest.mark.parametrize("shift", [100.0, 1e6])
@pytest.mark.parametrize("kernel", ["gaussian", "constant", "delta"])
def test_shift_without_standardising(kernel, shift):
    """These kernels know differences only, so even the raw columns may be anywhere."""
    X, y = make_data("regression", n=N, p=P)
    model = SparseGradientRegressor(
        kernel=kernel, standardize=False, solver=SolverSettings(tol=1e-6, max_iter=2000)
    )
    same(importances(model, X + shift, y + 5.0), importances(model, X, y))


def test_units_of_columns_do_not_matter(case):
    """Standardised: metres or millimetres give the same importances, and gradients per unit."""
    model, X, y = case
    units = np.array([1e-3, 1.0, 1e4, 7.0, 0.3])
    before = model.fit(X, y).gradient(X)
    a = importances(model, X * units, y)
    after = model.gradient(X * units)
    same(after * units, before)
    same(a, importances(model, X, y))


@pytest.mark.parametrize("constant", [0.0, 3.3, 1e8])
def test_constant_column_scores_exactly_zero(case, constant):
    model, X, y = case
    with_constant = np.insert(X, 2, constant, axis=1)
    got = importances(model, with_constant, y)
    assert got[2] == 0.0
    assert (model.components_[:, 2] == 0.0).all()
    assert (model.gradient(with_constant + 1.0)[..., 2] == 0.0).all()
    same(np.delete(got, 2), importances(model, X, y))


def test_scale_of_weights_does_not_matter(case):
    model, X, y = case
    w = np.random.default_rng(0).uniform(0.5, 2, N)
    same(importances(model, X, y, 10 * w), importances(model, X, y, w))
    same(importances(model, X, y, np.full(N, 3.0)), importances(model, X, y))


def test_same_bits_twice_and_with_any_threads(case):
    model, X, y = case
    wide = np.hstack([X, np.random.default_rng(1).normal(size=(N, 200))])
    answers = []
    for threads in (1, 2, 2):
        with threadpool_limits(threads):
            model.fit(wide, y)
            answers.append((model.feature_importances_, model.components_, model.gradient(wide)))
    for other in answers[1:]:
        for a, b in zip(answers[0], other):
            assert (a == b).all()


def test_float32_is_close_to_float64(case):
    model, X, y = case
    same(importances(model, X.astype(np.float32), y), importances(model, X, y), tol=1e-7)


def test_storage_order_does_not_matter(case):
    model, X, y = case
    expected = importances(model, X, y)
    np.testing.assert_array_equal(importances(model, np.asfortranarray(X), y), expected)
    np.testing.assert_array_equal(importances(model, X.tolist(), y.tolist()), expected)


def test_solvers_agree(table):
    X, y = table
    model = SparseGradientRegressor(
        weights=NearestNeighbors(10), solver=SolverSettings(tol=1e-7, max_iter=200_000)
    )
    expected = importances(model, X, y)
    same(importances(model.set_params(solver=replace(model.solver, method="fbs")), X, y), expected)


# ------------------------------------------------ every estimator, every transformation
class Table(NamedTuple):
    """A table, new rows, and how answers for it are turned into those for the table before."""

    X: np.ndarray
    y: np.ndarray
    new: np.ndarray
    columns: np.ndarray
    """Places of the columns of the table before."""
    signs: np.ndarray = np.ones(6)
    """Signs of these columns."""
    fit_params: dict = MappingProxyType({})
    """Keywords of `fit`."""
    level: float = 0.0
    unit: float = 1.0
    classes: tuple = ()
    """Places of the classes of the table before."""


def rows_in_another_order(t, rng):
    order = rng.permutation(len(t.y))
    return t._replace(X=t.X[order], y=t.y[order])


def columns_in_another_order(t, rng):
    order = rng.permutation(t.X.shape[1])
    return t._replace(X=t.X[:, order], new=t.new[:, order], columns=np.argsort(order))


def columns_in_other_units(t, rng):
    p = t.X.shape[1]
    unit, start = rng.choice([-1.0, 1.0], p) * np.exp(rng.normal(size=p)), rng.normal(size=p)
    return t._replace(X=unit * t.X + start, new=unit * t.new + start, signs=np.sign(unit))


def a_constant_column_more(t, rng):
    at = int(rng.integers(t.X.shape[1] + 1))
    columns = np.delete(np.arange(t.X.shape[1] + 1), at)
    return t._replace(
        X=np.insert(t.X, at, 3.3, axis=1), new=np.insert(t.new, at, 3.3, axis=1), columns=columns
    )


def a_constant_covariate(t, rng):
    return t._replace(fit_params={"covariates": {"batch": np.full(len(t.y), 7.0)}})


def the_other_sign_of_y(t, rng):
    return t._replace(y=-t.y, unit=-1.0)


def y_in_other_units(t, rng):
    level, unit = rng.normal(), float(np.exp(rng.normal()))
    return t._replace(y=level + unit * t.y, level=level, unit=unit)


def other_names_of_classes(t, rng):
    place = rng.permutation(t.y.max() + 1)
    names = np.array(["ash", "birch", "cedar"])
    return t._replace(y=names[place[t.y]], classes=tuple(place))


NUMBERS_ONLY = (the_other_sign_of_y, y_in_other_units)
TRANSFORMATIONS = (
    rows_in_another_order,
    columns_in_another_order,
    columns_in_other_units,
    a_constant_column_more,
    a_constant_covariate,
    other_names_of_classes,
    *NUMBERS_ONLY,
)
ITERATIVE = {"solver": SolverSettings(tol=1e-8)}
NUMBERS = {
    "sift": (GradientSiftRegressor(), 1e-6),
    "sparse": (SparseGradientRegressor(**ITERATIVE), 1e-3),
    "sparse, adaptive": (SparseGradientRegressor(weights="adaptive", **ITERATIVE), 1e-3),
    "sparse, CV": (SparseGradientRegressorCV(cv=3, alphas=4), 1e-2),
    "ridge": (RidgeGradientRegressor(), 1e-6),
    "selector": (GradientSelector(GradientSiftRegressor()), 1e-6),
    "MAVE": (MinimumAverageVariance(), 1e-5),
    "OPG": (OuterProductGradient(), 1e-6),
    "SIR": (SlicedInverseRegression(n_slices=8), 1e-6),
    "SAVE": (SlicedAverageVariance(), 1e-6),
    "pHd": (PrincipalHessianDirections(), 1e-6),
}
LABELS = {
    "sift": (GradientSiftClassifier(), 1e-6),
    "sparse": (SparseGradientClassifier(**ITERATIVE), 1e-3),
    "sparse, CV": (SparseGradientClassifierCV(cv=3, alphas=4), 1e-2),
    "ridge": (RidgeGradientClassifier(), 1e-6),
}


@cache
def plain_table(kind, seed):
    """60 to 90 rows of 6 columns; values of y are rounded, so that some are equal."""
    rng = np.random.default_rng(100 + seed)
    n = 60 + 15 * seed
    X, new = rng.normal(size=(n, 6)), rng.normal(size=(20, 6))
    a, b = X[:, 0], X[:, 1]
    y = np.round([2 * a + b, np.sin(2 * a) + b**2, 2 * a * b][seed] + 0.5 * rng.normal(size=n), 1)
    if kind == "labels":
        y = np.searchsorted(np.quantile(y, [0.5] if seed else [0.3, 0.6]), y)
    return Table(X, y, new, np.arange(6), classes=tuple(range(int(y.max()) + 1)))


def answer(model, t, q_values):
    """What a user reads off a fit, in the terms of the table before."""
    model, numbers = clone(model).fit(t.X, t.y, **t.fit_params), t.y.dtype.kind == "f"
    out = {}
    if hasattr(model, "components_"):
        out["directions"] = len(model.components_)
    if out.get("directions"):
        C = np.linalg.qr((t.signs * model.components_[:, t.columns]).T)[0]
        out["span"] = C @ C.T
    if hasattr(model, "feature_importances_"):
        size = abs(t.unit) if numbers else 1.0
        out["importances"] = model.feature_importances_[t.columns] / size
    if hasattr(model, "get_support"):
        out["selected"] = model.get_support()[t.columns]
    beside = {k: {"batch": np.full(len(t.new), 7.0)} for k in t.fit_params if k == "covariates"}
    if not numbers:
        out["probabilities"] = model.predict_proba(t.new, **beside)[:, list(t.classes)]
    elif hasattr(model, "predict"):
        out["predictions"] = (model.predict(t.new, **beside) - t.level) / t.unit
    if q_values:
        found = significance(clone(model), t.X, t.y, **t.fit_params)
        out["q-values"] = found.q_values[t.columns]
    return out


@cache
def answer_before(kind, name, seed):
    model, _ = (NUMBERS if kind == "numbers" else LABELS)[name]
    return answer(model, plain_table(kind, seed), name == "sift")


def assert_same(found, expected, tol):
    assert found.keys() == expected.keys()
    for what, value in expected.items():
        if what in ("directions", "selected"):
            np.testing.assert_array_equal(found[what], value, err_msg=what)
        else:
            size = 1.0 if what in ("probabilities", "q-values") else np.abs(value).max() + 1e-12
            np.testing.assert_allclose(found[what], value, rtol=0, atol=tol * size, err_msg=what)


def cases():
    for kind, models in (("numbers", NUMBERS), ("labels", LABELS)):
        for change in TRANSFORMATIONS:
            for name in models:
                only = {"labels": NUMBERS_ONLY, "numbers": (other_names_of_classes,)}[kind]
                # folds of a user's `cv` are those of the rows as they are
                by_place = change is rows_in_another_order and "CV" in name
                no_covariates = change is a_constant_covariate and name != "sift"
                if change in only or by_place or no_covariates:
                    continue
                yield pytest.param(kind, name, change, id=f"{change.__name__}-{kind}-{name}")


@pytest.mark.parametrize(("kind", "name", "change"), list(cases()))
@settings(max_examples=2, deadline=None)
@given(seed=st.integers(0, 2), draw=st.integers(0, 999))
def test_what_says_the_same_gets_the_same_answer(kind, name, change, seed, draw):
    model, tol = (NUMBERS if kind == "numbers" else LABELS)[name]
    changed = change(plain_table(kind, seed), np.random.default_rng(draw))
    assert_same(answer(model, changed, name == "sift"), answer_before(kind, name, seed), tol)


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (kind, name)
        for kind, models in (("numbers", NUMBERS), ("labels", LABELS))
        for name in models
        if "CV" not in name
    ],
)
@pytest.mark.filterwarnings("ignore::gradsift.exceptions.CountedRowsWarning")
@pytest.mark.filterwarnings("ignore::gradsift.exceptions.RepeatedRowsWarning")
@settings(max_examples=2, deadline=None)
@given(seed=st.integers(0, 2), draw=st.integers(0, 999))
def test_a_row_of_weight_two_is_the_row_twice(kind, name, seed, draw):
    """Not in cross-validation, where one of two copies can be held out."""
    model, tol = (NUMBERS if kind == "numbers" else LABELS)[name]
    t = plain_table(kind, seed)
    times = np.random.default_rng(draw).integers(0, 3, len(t.y))
    copies = np.repeat(np.arange(len(t.y)), times)
    expected = answer(model, t._replace(X=t.X[copies], y=t.y[copies]), name == "sift")
    weighted = t._replace(fit_params={"sample_weight": times})
    assert_same(answer(model, weighted, name == "sift"), expected, tol)
