"""Small tables of every kind, fitted by both families: what a redesign must not change.

Each case is a function without arguments that returns named answers (`answers.model_answers`). The
parts: *tables* (fits), *inference* (findings, p- and q-values), *evaluation* (held-out scores, half
samples), *relatives* (cross-validated and dense estimators), *storage* (the same table in other
forms, on several threads), *saved* (model files), *errors* (what is refused, and how).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd
from golden.answers import Answers, model_answers, significance_answers

import gradsift
from gradsift import GradientSiftClassifier, GradientSiftRegressor, SiftOptions, significance
from gradsift.evaluate import held_out, stability

Case = Callable[[], Answers]
N, P = 90, 12


@cache
def numbers(n: int = N, p: int = P) -> tuple[np.ndarray, np.ndarray]:
    """A square, a product, a line, and columns without effect."""
    rng = np.random.default_rng(20)
    X = rng.normal(size=(n, p))
    noise = 0.3 * rng.normal(size=n)
    return X, X[:, 0] ** 2 + X[:, 1] * X[:, 2] + 2.0 * X[:, 3] + noise


def labels(y: np.ndarray, count: int = 2) -> np.ndarray:
    """Classes of about equal size, in the order of y."""
    cuts = np.quantile(y, np.arange(1, count) / count)
    return np.array([f"class {k}" for k in range(count)])[np.digitize(y, cuts)]


def mixed_frame() -> pd.DataFrame:
    """Numbers and categories; `plan` acts on the response of `with_plan`."""
    rng = np.random.default_rng(21)
    X, _ = numbers()
    frame = pd.DataFrame(X[:, :8], columns=[f"x{k}" for k in range(8)])
    frame["plan"] = np.array(["free", "basic", "full"])[rng.integers(3, size=N)]
    frame["site"] = np.array(["a", "b"])[rng.integers(2, size=N)]
    return frame


def plan_response() -> np.ndarray:
    frame = mixed_frame()
    return numbers()[1] + frame["plan"].map({"free": 0.0, "basic": 3.0, "full": -3.0}).to_numpy()


def with_missing() -> np.ndarray:
    X = numbers()[0].copy()
    X[np.random.default_rng(22).uniform(size=X.shape) < 0.06] = np.nan
    return X


def covariate_frame() -> pd.DataFrame:
    rng = np.random.default_rng(23)
    age = rng.normal(size=N)
    age[::17] = np.nan
    return pd.DataFrame({"age": age, "batch": np.array(["u", "v", "w"])[rng.integers(3, size=N)]})


def adjusted_response() -> np.ndarray:
    frame = covariate_frame()
    return numbers()[1] + 2.0 * frame["age"].fillna(0.0).to_numpy() + 3.0 * (frame["batch"] == "u")


def cluster_labels() -> np.ndarray:
    return np.repeat(np.arange(N // 3), 3)


def cluster_response(constant: bool) -> tuple[np.ndarray, np.ndarray]:
    """A response that shares a part in each group, or never changes inside one."""
    groups = cluster_labels()
    X, y = numbers()
    if not constant:
        return X, y + np.random.default_rng(24).normal(size=N // 3)[groups]
    X = X + 2.0 * np.random.default_rng(25).normal(size=(N // 3, P))[groups]
    means = X.reshape(N // 3, 3, P).mean(axis=1)
    return X, (2.0 * means[:, 0] + means[:, 3])[groups]


def weights() -> np.ndarray:
    return np.random.default_rng(26).integers(0, 4, size=N).astype(float)


# ------------------------------------------------ fits
def fit_sift(
    X: Any, y: Any, count: int | None = None, at_predict: tuple[str, ...] = (), **given: Any
) -> Answers:
    """A default model of numbers, or of `count` classes; `given` holds parameters and fit data."""
    kind = GradientSiftRegressor if count is None else GradientSiftClassifier
    known = {field.name for field in fields(kind)}
    params = {name: value for name, value in given.items() if name in known}
    data = {name: value for name, value in given.items() if name not in known}
    target = y if count is None else labels(y, count)
    model = kind(**params).fit(X, target, **data)
    if not at_predict:
        return model_answers(model, X)
    return adjusted_answers(model, X, {name: data[name] for name in at_predict})


def adjusted_answers(model: Any, X: Any, given: dict[str, Any]) -> Answers:
    """Answers with covariates or an offset, which predictions need too."""
    found = model_answers(GradientsOnly(model), X)
    found["predictions"] = model.predict(X, **given)
    if hasattr(model, "predict_proba"):
        found["probabilities"] = model.predict_proba(X, **given)
    return found


class GradientsOnly:
    """A model without `predict`, whose covariates would have to be cut to the same rows."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def __getattr__(self, name: str) -> Any:
        if name in ("predict", "predict_proba"):
            raise AttributeError(name)
        return getattr(self.model, name)


def fit_paper(X: Any, y: Any, count: int | None = None, **data: Any) -> Answers:
    name = "SparseGradientRegressor" if count is None else "SparseGradientClassifier"
    smoothness = 0.1 if "X_unlabeled" in data else 0.0
    model = getattr(gradsift, name)(alpha=0.1, penalties=gradsift.Penalties(smoothness=smoothness))
    return model_answers(model.fit(X, y if count is None else labels(y, count), **data), X)


def both_tasks(name: str, X: Any, y: Any, **given: Any) -> dict[str, Case]:
    return {
        f"{name}, numbers": partial(fit_sift, X, y, **given),
        f"{name}, labels": partial(fit_sift, X, y, 2, **given),
    }


def table_cases() -> dict[str, Case]:
    X, y = numbers()
    few = np.where(np.arange(N) < 5, "rare", labels(y, 2))
    zeros = np.where(y < np.quantile(y, 0.6), 0.0, y - np.quantile(y, 0.6))
    covariates, offset = covariate_frame(), 1.5 * X[:, 9]
    groups, (Xc, yc), (Xk, yk) = cluster_labels(), cluster_response(False), cluster_response(True)
    pairs = {f"block {k}": [2 * k, 2 * k + 1] for k in range(P // 2)}
    named = pd.DataFrame(X, columns=[f"x{k}" for k in range(P)])
    return {
        **both_tasks("plain", X, y),
        "three classes": partial(fit_sift, X, y, 3),
        "ten classes": partial(fit_sift, *numbers(200, 8), 10),
        **both_tasks("counted rows", X, y, sample_weight=weights()),
        **both_tasks(
            "weighted rows",
            X,
            y,
            sample_weight=weights() + 0.5,
            options=SiftOptions(weight_kind="importance"),
        ),
        **both_tasks("row groups", Xc, yc, groups=groups),
        **both_tasks("row groups of one response", Xk, yk, groups=groups),
        **both_tasks(
            "covariates", X, adjusted_response(), covariates=covariates, at_predict=("covariates",)
        ),
        **both_tasks("offset", X, y + offset, offset=offset, at_predict=("offset",)),
        **both_tasks("categories", mixed_frame(), plan_response()),
        **both_tasks("missing as mean", with_missing(), y, missing="mean"),
        **both_tasks("missing as indicator", with_missing(), y, missing="indicator"),
        **both_tasks("feature groups", named, y, feature_groups=pairs),
        **both_tasks("always kept", X, y, always_keep=[7]),
        **both_tasks("at most two", X, y, options=SiftOptions(max_features=2)),
        **both_tasks("false discovery rate", X, y, false_discovery_rate=0.1),
        "rare class": lambda: model_answers(GradientSiftClassifier().fit(X, few), X),
        "zeros": partial(fit_sift, X, zeros),
        **paper_cases(),
    }


def paper_cases() -> dict[str, Case]:
    X, y = numbers()
    return {
        "paper, numbers": partial(fit_paper, X, y),
        "paper, two classes": partial(fit_paper, X, y, 2),
        "paper, three classes": partial(fit_paper, X, y, 3),
        "paper, ten classes": partial(fit_paper, *numbers(100, 8), 10),
        "paper, counted rows": partial(fit_paper, X, y, sample_weight=weights()),
        "paper, unlabelled rows": partial(fit_paper, X[:60], y[:60], X_unlabeled=X[60:]),
    }


# ------------------------------------------------ how sure
def inference(X: Any, y: Any, count: int | None = None, **given: Any) -> Answers:
    """Findings of a fit with a fixed seed, and p- and q-values given these."""
    kind = GradientSiftRegressor if count is None else GradientSiftClassifier
    model = kind(inference=True, options=SiftOptions(seed=7))
    y = y if count is None else labels(y, count)
    model.fit(X, y, **given)
    found = significance_answers(significance(model, X, y, findings=model.findings_, **given))
    found["confidence"] = model.confidence_
    found["findings"] = [str(sorted(one.columns.tolist())) for one in model.findings_]
    found["confidence of findings"] = np.array([one.confidence for one in model.findings_])
    return found


def inference_cases() -> dict[str, Case]:
    X, y = numbers()
    copies = np.column_stack([X, X[:, 3] + 0.1 * np.random.default_rng(27).normal(size=N)])
    adjusted = {"covariates": covariate_frame()}
    return {
        "inference, numbers": partial(inference, X, y),
        "inference, two classes": partial(inference, X, y, 2),
        "inference, three classes": partial(inference, X, y, 3),
        "inference, near-copies": partial(inference, copies, y),
        "inference, categories": partial(inference, mixed_frame(), plan_response()),
        "inference, covariates": partial(inference, X, adjusted_response(), **adjusted),
        "inference, counted rows": partial(inference, X, y, sample_weight=weights()),
        "inference, nothing acts": partial(inference, X, X[::-1, 5] + 0.0),
    }


def evaluation(estimator: Any, X: Any, y: Any, **given: Any) -> Answers:
    """Held-out scores of every kind, and selections of half samples."""
    scores = held_out(estimator, X, y, cv=3, **given)
    found: Answers = {
        f"{way} {metric}": np.array(values)
        for way, _, one in scores.ways()
        for metric, values in one.values.items()
    }
    halves = stability(estimator, X, y, n_subsamples=4, random_state=0, **given)
    return {**found, "frequencies": halves.frequencies}


def evaluation_cases() -> dict[str, Case]:
    X, y = numbers()
    number, label = GradientSiftRegressor(), GradientSiftClassifier()
    Xc, yc = cluster_response(False)
    return {
        "evaluation, numbers": partial(evaluation, number, X, y),
        "evaluation, two classes": partial(evaluation, label, X, labels(y)),
        "evaluation, row groups": partial(evaluation, number, Xc, yc, groups=cluster_labels()),
    }


# ------------------------------------------------ relatives
def relative(name: str, count: int | None = None, **params: Any) -> Answers:
    X, y = numbers(60, 6)
    model = getattr(gradsift, name)(**params).fit(X, y if count is None else labels(y, count))
    return model_answers(model, X)


def relative_cases() -> dict[str, Case]:
    short = {"cv": 3, "alphas": 6}
    return {
        "SparseGradientRegressorCV": partial(relative, "SparseGradientRegressorCV", **short),
        "SparseGradientClassifierCV": partial(relative, "SparseGradientClassifierCV", 2, **short),
        "RidgeGradientRegressor": partial(relative, "RidgeGradientRegressor"),
        "RidgeGradientClassifier": partial(relative, "RidgeGradientClassifier", 2),
        "OuterProductGradient": partial(relative, "OuterProductGradient"),
        "MinimumAverageVariance": partial(relative, "MinimumAverageVariance"),
        "SlicedInverseRegression": partial(relative, "SlicedInverseRegression"),
        "SlicedAverageVariance": partial(relative, "SlicedAverageVariance"),
        "PrincipalHessianDirections": partial(relative, "PrincipalHessianDirections"),
    }
