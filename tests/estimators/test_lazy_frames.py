"""A polars LazyFrame is refused in plain words, with what to pass in its place."""

import numpy as np
import polars as pl
import pytest

from gradsift import (
    GradientSiftRegressor,
    RidgeGradientRegressor,
    SlicedInverseRegression,
    SparseGradientRegressor,
    aggregate,
    findings,
    significance,
)
from gradsift.answer import explain
from gradsift.data import open_source
from gradsift.evaluate import held_out, stability

RNG = np.random.default_rng(0)
FRAME = pl.DataFrame({name: RNG.normal(size=60) for name in "abcd"})
Y = FRAME["a"].to_numpy() + 0.1 * RNG.normal(size=60)
LAZY = FRAME.lazy()
ESTIMATORS = [
    GradientSiftRegressor,
    SparseGradientRegressor,
    RidgeGradientRegressor,
    SlicedInverseRegression,
]


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_estimators(kind):
    with pytest.raises(TypeError, match=r"^X is a LazyFrame.* pass X.collect\(\)\.$"):
        kind().fit(LAZY, Y)
    kind().fit(LAZY.collect(), Y)


def test_the_other_arguments_are_named():
    with pytest.raises(TypeError, match=r"covariates is a LazyFrame.*covariates.collect\(\)"):
        GradientSiftRegressor().fit(FRAME, Y, covariates=LAZY.select("b"))
    with pytest.raises(TypeError, match=r"y is a LazyFrame.*y.collect\(\)"):
        GradientSiftRegressor().fit(FRAME, LAZY.select("a"))
    for name in ("sample_weight", "groups", "offset"):
        with pytest.raises(TypeError, match=rf"{name} is a LazyFrame.*{name}.collect\(\)"):
            GradientSiftRegressor().fit(FRAME, Y, **{name: LAZY.select("a")})


@pytest.mark.parametrize("mixed", [False, True])
def test_fitted_models(mixed):
    more = FRAME.with_columns(pl.Series("kind", ["x", "y"] * 30)) if mixed else FRAME
    model = GradientSiftRegressor().fit(more, Y)
    calls = [
        model.predict,
        model.transform,
        model.gradient,
        lambda X: model.score(X, Y),
        lambda X: significance(model, X, Y),
        lambda X: findings(model, X, Y),
        lambda X: explain(model, X, Y),
    ]
    for call in calls:
        with pytest.raises(TypeError, match="X is a LazyFrame"):
            call(more.lazy())


def test_functions():
    model = GradientSiftRegressor()
    calls = [
        open_source,
        lambda X: aggregate(X, Y, np.arange(60) // 2),
        lambda X: held_out(model, X, Y, 3),
        lambda X: stability(model, X, Y, 3),
    ]
    for call in calls:
        with pytest.raises(TypeError, match="X is a LazyFrame"):
            call(LAZY)
