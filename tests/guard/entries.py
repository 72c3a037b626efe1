"""The public entries, how each is called in a case, and what its answer must satisfy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from guard.forms import FORMS
from guard.sound import (
    check_certificate,
    check_outputs,
    check_path,
    check_refusal,
    check_shapes,
    only_expected_warnings,
)
from guard.strategies import Case, Choice
from helpers import sparse_params

from gradsift import (
    Gaussian,
    GradientSelector,
    GradientSiftClassifier,
    GradientSiftRegressor,
    GradientSiftSurvival,
    Landmarks,
    MinimumAverageVariance,
    NearestNeighbors,
    OuterProductGradient,
    PrincipalHessianDirections,
    RidgeGradientClassifier,
    RidgeGradientRegressor,
    SiftOptions,
    SlicedAverageVariance,
    SlicedInverseRegression,
    SparseGradientClassifier,
    SparseGradientClassifierCV,
    SparseGradientRegressor,
    SparseGradientRegressorCV,
    aggregate,
    alpha_max,
    explain,
    findings,
    gradient_path,
    significance,
)

Params = dict[str, Choice]
YES_OR_NO = Choice([True, False])

TESTS: Params = {"strict": YES_OR_NO}
DRAWS: Params = {"seed": Choice([0, 7], [-1])}
COMMON: Params = {
    "standardize": YES_OR_NO,
    "n_components": Choice(["auto", 1, 2, 40], [0, -1, 1.5, "all", True]),
}
MISSING: Params = {"missing": Choice(["mean", "error"], ["drop", None])}
PAIRS: Params = {
    "kernel": Choice(
        ["affine", "linear", "gaussian", "constant", "delta", Gaussian(scale=1.0), Landmarks(5),
         Landmarks(500)],
        ["rbf", None, np.ones((2, 2))],
    ),
    "weights": Choice(
        ["gaussian", "uniform", "nearest", "adaptive", NearestNeighbors(2), NearestNeighbors(500),
         NearestNeighbors(3, form="paper"), Gaussian(scale=1e5)],
        [Gaussian(scale=1e-5), NearestNeighbors(0), "knn"],
    ),
}  # fmt: skip
PENALTY: Params = {
    "alpha": Choice([None, 0.0, 1e-12, 1e-3, 1.0, 1e6, 1e300], [-1.0, np.nan, np.inf, "small"])
}
SPARSE: Params = {
    **COMMON,
    **MISSING,
    **PAIRS,
    "penalty_factor": Choice([None, "ones", "zeros", "first free"], [0.0, "negative", "short"]),
    "smoothness": Choice([0.0, 0.1, 1e6], [-1.0, np.nan]),
    "solver": Choice(["auto", "fbs"], ["sgd"]),
    "tol": Choice([1e-4, 1e-2], [0.0, -1.0, np.nan]),
    "max_iter": Choice([300, 1], [0, -3]),
}
GRID: Params = {
    "n_alphas": Choice([1, 3], [0, -1]),
    "eps": Choice([1e-3, 0.5, 1.0], [0.0, 2.0, np.nan]),
}
CROSS: Params = {
    **GRID,
    "alphas": Choice([None, [1.0, 0.1], [1e-3]], [[], [np.nan], [-1.0], "all"]),
    "cv": Choice([2, 3], [1, 0, 200, "five"]),
    "selection": Choice(["min", "1se"], ["best"]),
}
SIFT: Params = {
    **MISSING,
    "n_components": COMMON["n_components"],
    "false_positives": Choice([0.3, 1e-6, 0.9], [0.0, -1.0, np.nan, 1e9]),
    "interactions": YES_OR_NO,
    "always_keep": Choice([None, [0], [0, 0], []], [[-1], [99], ["x99"], "x99", [0.5], 0]),
    "predict_with": Choice(["auto", "selected"], ["all"]),
    "options": Choice(
        [
            None,
            SiftOptions(max_features=1),
            SiftOptions(max_features=99),
            SiftOptions(weight_kind="importance", seed=2**31),
            SiftOptions(n_jobs=2),
        ],
        [
            "few",
            SiftOptions(max_features=0),
            SiftOptions(max_features=1.5),
            SiftOptions(weight_kind="survey"),
            SiftOptions(seed=-1),
            SiftOptions(seed="seed"),
        ],
    ),
}
SELECTOR: Params = {"max_features": Choice([None, 1, 3, 99], [0, -1, 1.5, "few"])}


def own_size(params: dict[str, Any], p: int) -> dict[str, Any]:
    """Settings of one entry per column, which only the table gives a length."""
    factors = {"ones": np.ones(p), "zeros": np.zeros(p), "first free": np.arange(p) > 0,
               "negative": -np.ones(p), "short": np.ones(p + 1)}  # fmt: skip
    asked = params.get("penalty_factor")
    if isinstance(asked, str):
        return {**params, "penalty_factor": factors[asked]}
    return params


@dataclass(frozen=True)
class Entry:
    """A public name, its settings, and one call of it with a check of what comes out."""

    labels: bool
    params: Params
    call: Callable[..., None]


def estimator(kind: type, **fixed: Any) -> Callable[..., None]:
    def call(X: Any, y: Any, weight: Any, shape: tuple[int, int], params: dict[str, Any]) -> None:
        params = {**fixed, **params}
        if kind.__name__.startswith("SparseGradient"):
            if "solver" in params:
                params["method"] = params.pop("solver")
            params = sparse_params(**params)
        model = kind(**params)
        with only_expected_warnings() as met:
            model.fit(X, y, sample_weight=weight)
            check_shapes(model, shape[1])
            check_outputs(model, X, *shape)
            check_certificate(model, met)

    return call


def directions(kind: type) -> Callable[..., None]:
    def call(X: Any, y: Any, weight: Any, shape: tuple[int, int], params: dict[str, Any]) -> None:
        model = kind(**params)
        with only_expected_warnings():
            model.fit(X, y, sample_weight=weight)
            assert model.components_.shape == (model.n_components_, shape[1])
            assert np.isfinite(model.components_).all()
            assert np.isfinite(model.eigenvalues_).all()
            projected = model.transform(X)
            assert projected.shape == (shape[0], model.n_components_)
            assert np.isfinite(projected).all()

    return call


def selector(inside: Any) -> Callable[..., None]:
    def call(X: Any, y: Any, weight: Any, shape: tuple[int, int], params: dict[str, Any]) -> None:
        model = GradientSelector(inside, **params)
        with only_expected_warnings():
            model.fit(X, y, sample_weight=weight)
            support = model.get_support()
            assert support.shape == (shape[1],)
            if params.get("max_features") is not None:
                assert support.sum() <= params["max_features"]
            np.testing.assert_array_equal(np.sort(model.ranking_), np.arange(1, shape[1] + 1))

    return call


def path_call(task: str) -> Callable[..., None]:
    def call(X: Any, y: Any, weight: Any, shape: tuple[int, int], params: dict[str, Any]) -> None:
        params = {"n_alphas": 4, "max_iter": 500, **params}
        with only_expected_warnings():
            path = gradient_path(X, y, task=task, sample_weight=weight, **params)
        check_path(path, shape[1], params.get("tol", 1e-4))

    return call


def top_call(task: str) -> Callable[..., None]:
    def call(X: Any, y: Any, weight: Any, shape: tuple[int, int], params: dict[str, Any]) -> None:
        with only_expected_warnings():
            top = alpha_max(X, y, task=task, sample_weight=weight, **params)
        assert 0 <= top < np.inf

    return call


def significance_call(kind: type) -> Callable[..., None]:
    def call(X: Any, y: Any, weight: Any, shape: tuple[int, int], params: dict[str, Any]) -> None:
        with only_expected_warnings():
            found = significance(kind(), X, y, sample_weight=weight, **params)
        for values in (found.p_values, found.q_values, found.finding_q_values):
            assert values.shape == (shape[1],)
            assert ((values >= 0) & (values <= 1)).all()

    return call


def findings_call(kind: type) -> Callable[..., None]:
    def call(X: Any, y: Any, weight: Any, shape: tuple[int, int], params: dict[str, Any]) -> None:
        with only_expected_warnings():
            fitted = kind().fit(X, y, sample_weight=weight)
            found = findings(fitted, X, y, sample_weight=weight, **params)
        sure = found.confidence
        assert sure.shape == (shape[1],)
        assert ((sure >= 0) & (sure <= 1 + 1e-9)).all()

    return call


def survival_call(
    X: Any, y: Any, weight: Any, shape: tuple[int, int], params: dict[str, Any]
) -> None:
    """Times that rise with y, every third row censored."""
    y = np.asarray(y, dtype=float)
    time = np.exp((y - y.min()) / max(np.ptp(y), 1e-300))
    event = np.arange(len(y)) % 3 > 0
    model = GradientSiftSurvival(**params)
    with only_expected_warnings():
        model.fit(X, time, event=event, sample_weight=weight)
        check_shapes(model, shape[1])
        survival = model.predict_survival_function(X, [1.0, 2.0])
    assert survival.shape == (shape[0], 2)
    assert ((survival >= 0) & (survival <= 1)).all()


def explain_call(kind: type) -> Callable[..., None]:
    def call(X: Any, y: Any, weight: Any, shape: tuple[int, int], params: dict[str, Any]) -> None:
        with only_expected_warnings():
            answer = explain(kind(**params).fit(X, y, sample_weight=weight), X, y)
        assert answer.headline
        assert len(answer.to_frame()) >= len(answer.findings)
        assert answer.to_html().startswith("<!doctype html>")

    return call


def aggregate_call(
    X: Any, y: Any, weight: Any, shape: tuple[int, int], params: dict[str, Any]
) -> None:
    groups = np.arange(shape[0]) // 2
    found = aggregate(X, y, groups, **params)
    assert np.shape(found.X) == (len(np.unique(groups)), shape[1])
    assert len(found.y) == len(found.groups) == len(found.X)


def run(entry: Entry, case: Case) -> bool:
    """Whether the call was answered; False if it was refused, an error if it was neither."""
    X, y, weight = case.build()
    stored = FORMS[case.form](X)
    try:
        entry.call(stored, y, weight, X.shape, own_size(case.params, X.shape[1]))
    except (AssertionError, Warning):
        raise
    except Exception as error:
        check_refusal(error)
        return False
    return True


FEW = {"max_iter": 500}
"""Steps of a solver: an answer that is not there by then comes with a warning."""
FOLDS = {**FEW, "n_alphas": 4, "cv": 2, "eps": 0.1}
TOP = {k: v for k, v in {**SPARSE, **PENALTY}.items() if k in (
    "kernel", "weights", "standardize", "penalty_factor", "missing")}  # fmt: skip
WALK = {**TOP, **GRID, "solver": SPARSE["solver"], "tol": SPARSE["tol"], "alphas": CROSS["alphas"]}
ALPHA_0: Params = {"alpha_0": Choice([None, 1e-4, 1.0, 1e9], [0.0, -1.0, np.nan])}
RIDGE = {**COMMON, **PAIRS, **PENALTY}
OPG = {**COMMON, "weights": PAIRS["weights"], "fit_intercept": YES_OR_NO, "refined": YES_OR_NO}
SLICES: Params = {**COMMON, "n_slices": Choice([2, 5, 500], [1, 0, 2.5, "ten", True])}

ENTRIES: dict[str, Entry] = {
    "GradientSiftRegressor": Entry(False, SIFT, estimator(GradientSiftRegressor)),
    "GradientSiftClassifier": Entry(True, SIFT, estimator(GradientSiftClassifier)),
    "GradientSiftSurvival": Entry(False, SIFT, survival_call),
    "SparseGradientRegressor": Entry(
        False, {**SPARSE, **PENALTY}, estimator(SparseGradientRegressor, **FEW)
    ),
    "SparseGradientClassifier": Entry(
        True, {**SPARSE, **PENALTY, **ALPHA_0}, estimator(SparseGradientClassifier, **FEW)
    ),
    "SparseGradientRegressorCV": Entry(
        False, {**SPARSE, **CROSS}, estimator(SparseGradientRegressorCV, **FOLDS)
    ),
    "SparseGradientClassifierCV": Entry(
        True, {**SPARSE, **CROSS, **ALPHA_0}, estimator(SparseGradientClassifierCV, **FOLDS)
    ),
    "RidgeGradientRegressor": Entry(False, RIDGE, estimator(RidgeGradientRegressor)),
    "RidgeGradientClassifier": Entry(True, RIDGE, estimator(RidgeGradientClassifier)),
    "OuterProductGradient": Entry(False, OPG, estimator(OuterProductGradient)),
    "MinimumAverageVariance": Entry(False, COMMON, estimator(MinimumAverageVariance)),
    "SlicedInverseRegression": Entry(False, SLICES, directions(SlicedInverseRegression)),
    "SlicedAverageVariance": Entry(False, SLICES, directions(SlicedAverageVariance)),
    "PrincipalHessianDirections": Entry(False, COMMON, directions(PrincipalHessianDirections)),
    "GradientSelector of numbers": Entry(
        False, SELECTOR, selector(SparseGradientRegressor(**sparse_params(**FEW)))
    ),
    "GradientSelector of labels": Entry(
        True, SELECTOR, selector(SparseGradientClassifier(**sparse_params(**FEW)))
    ),
    "gradient_path of numbers": Entry(False, WALK, path_call("regression")),
    "gradient_path of labels": Entry(True, {**WALK, **ALPHA_0}, path_call("classification")),
    "alpha_max of numbers": Entry(False, TOP, top_call("regression")),
    "alpha_max of labels": Entry(True, {**TOP, **ALPHA_0}, top_call("classification")),
    "significance of numbers": Entry(False, TESTS, significance_call(GradientSiftRegressor)),
    "significance of labels": Entry(True, TESTS, significance_call(GradientSiftClassifier)),
    "findings of numbers": Entry(False, DRAWS, findings_call(GradientSiftRegressor)),
    "findings of labels": Entry(True, DRAWS, findings_call(GradientSiftClassifier)),
    "explain of numbers": Entry(
        False, {"interactions": YES_OR_NO}, explain_call(GradientSiftRegressor)
    ),
    "explain of labels": Entry(
        True, {"interactions": YES_OR_NO}, explain_call(GradientSiftClassifier)
    ),
    "aggregate": Entry(False, {"how": Choice(["mean", "sum"], ["median", None])}, aggregate_call),
}
