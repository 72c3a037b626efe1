"""Curves, jumps and products of covariates: what is adjusted for beside straight lines."""

import numpy as np
import pytest

from gradsift import GradientSiftRegressor
from gradsift.estimators.sift import make_sample

N, P = 150, 40


def shapes(a, b, batch, site):
    """Effects of covariates that no straight line follows."""
    return {
        "square": a**2,
        "wave": np.sin(3.0 * a),
        "step": 2.0 * (a > 0.5),
        "product of two numbers": a * b,
        "product of two batches": 2.0 * ((batch == "x") ^ (site == "u")),
        "slope in each batch": a * np.where(batch == "x", 1.0, -1.0),
    }


@pytest.mark.parametrize("shape", shapes(*np.zeros((4, 1))))
def test_columns_that_follow_a_nonlinear_effect_of_covariates_are_no_findings(shape):
    false, n = 0, 200
    for seed in range(8):
        rng = np.random.default_rng([seed, 13])
        a, b = rng.normal(size=(2, n))
        batch, site = rng.choice(["x", "y"], n), rng.choice(["u", "v"], n)
        effect = shapes(a, b, batch, site)[shape]
        X = rng.normal(size=(n, P)) + effect[:, None]
        y = effect + X[:, 0] + 0.7 * rng.normal(size=n)
        C = {"a": a, "b": b, "batch": batch, "site": site}
        model = GradientSiftRegressor().fit_for("support", X, y, covariates=C)
        found = model.get_support(indices=True)
        assert 0 in found
        false += len(found) - 1
    assert false <= 6  # 2.4 are expected at most


def test_curves_and_products_of_covariates_are_part_of_predictions():
    rng = np.random.default_rng(4)
    age, batch = rng.normal(size=N), rng.choice(["x", "y"], N)
    X = rng.normal(size=(N, 6))
    y = 2.0 * age**2 + age * (batch == "y") + X[:, 2] + 0.3 * rng.normal(size=N)
    C = {"age": age, "batch": batch}
    model = GradientSiftRegressor(predict_with="selected").fit(X[:100], y[:100], covariates={
        name: values[:100] for name, values in C.items()
    })  # fmt: skip
    names = model.covariates_.columns
    assert {"age", "age (curve 2)"} < set(names)
    assert any(" x " in name for name in names)
    new = {name: values[100:] for name, values in C.items()}
    assert model.score(X[100:], y[100:], covariates=new) > 0.9
    far = {"age": np.full(2, [90.0]), "batch": ["x", "y"]}
    ends = {"age": np.full(2, age[:100].max()), "batch": ["x", "y"]}
    np.testing.assert_array_equal(
        model.covariates_.encode(far), model.covariates_.encode(ends)
    )  # a curve ends where the numbers of the fit do


def test_straight_effects_of_covariates_stay_straight_lines():
    columns = 0
    for seed in range(40):
        rng = np.random.default_rng([seed, 12])
        C = rng.normal(size=(60, 3))
        y = C @ [2.0, 1.0, 0.0] + rng.normal(size=60)
        groups = np.arange(60) // 3 if seed % 2 else None
        if groups is not None:  # rows of a group share its covariates, and more than these explain
            C, y = C[3 * groups], (y + 2.0 * rng.normal(size=60))[3 * groups]
        X = rng.normal(size=(60, 5))
        sample = make_sample(GradientSiftRegressor(), X, y, groups=groups, covariates=C)
        columns += sample.covariates.shape[1] - 3
    assert columns < 40  # about half a term in each table
