"""What must not matter does not matter: order, shifts, units, copies, threads, precision."""

import numpy as np
import pytest
from helpers import assert_same_answer, make_data
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from gradsift import (
    NearestNeighbors,
    OuterProductGradient,
    RidgeGradientClassifier,
    RidgeGradientRegressor,
    SparseGradientClassifier,
    SparseGradientRegressor,
)

SHARP = {"tol": 1e-9}
MODELS = {
    "sparse": (SparseGradientRegressor(**SHARP), "regression"),
    "sparse-gaussian": (SparseGradientRegressor(kernel="gaussian", **SHARP), "regression"),
    "sparse-nearest": (SparseGradientRegressor(weights="nearest", **SHARP), "regression"),
    "labels": (SparseGradientClassifier(tol=1e-8), "binary"),
    "labels-3": (SparseGradientClassifier(tol=1e-7), "multiclass"),
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


@settings(max_examples=3)
@given(seed=st.integers(0, 999))
def test_permuting_variables_permutes_the_answer(case, seed):
    model, X, y = case
    order = np.random.default_rng(seed).permutation(P)
    same(importances(model, X[:, order], y), importances(model, X, y)[order])


@settings(max_examples=3)
@given(seed=st.integers(0, 999))
def test_permuting_samples_changes_nothing(case, seed):
    model, X, y = case
    order = np.random.default_rng(seed).permutation(N)
    same(importances(model, X[order], y[order]), importances(model, X, y))


@settings(max_examples=3)
@given(shift=st.floats(-50, 50), rise=st.floats(-1e3, 1e3))
def test_shifting_changes_nothing(case, shift, rise):
    model, X, y = case
    X_shifted = X + shift * np.arange(1, P + 1)
    numbers = y.dtype.kind == "f"
    expected = importances(model, X, y)
    same(importances(model, X_shifted, y + rise if numbers else y), expected)
    if numbers:  # a prediction rises with y; a gradient does not
        plain = model.fit(X, y)
        before, slope = plain.predict(X), plain.gradient(X)
        after = model.fit(X_shifted, y + rise)
        np.testing.assert_allclose(after.predict(X_shifted), before + rise, atol=1e-2)
        np.testing.assert_allclose(after.gradient(X_shifted), slope, atol=1e-2)


@pytest.mark.parametrize("shift", [100.0, 1e6])
@pytest.mark.parametrize("kernel", ["gaussian", "constant", "delta"])
def test_shift_without_standardising(kernel, shift):
    """These kernels know differences only, so even the raw columns may be anywhere."""
    X, y = make_data("regression", n=N, p=P)
    model = SparseGradientRegressor(kernel=kernel, standardize=False, tol=1e-6, max_iter=2000)
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


@pytest.mark.parametrize("name", [name for name in MODELS if "nearest" not in name])
def test_integer_weights_are_repetitions(name):
    """Not with k nearest: a copy is one of the k, so repeating rows changes the graph."""
    model, task = MODELS[name]
    X, y = make_data(task, n=N, p=P, seed=6)
    times = np.random.default_rng(0).integers(0, 3, N)
    times[:4] = 1
    repeated = np.repeat(np.arange(N), times)
    got = importances(model, X, y, times)
    here = model.gradient(X)
    same(got, importances(model, X[repeated], y[repeated]))
    same(here, model.gradient(X))


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


@pytest.mark.parametrize("solver", ["fista", "fbs"])
def test_solvers_agree(solver, table):
    X, y = table
    model = SparseGradientRegressor(weights=NearestNeighbors(10), tol=1e-7, max_iter=200_000)
    expected = importances(model, X, y)
    same(importances(model.set_params(solver=solver), X, y), expected)
