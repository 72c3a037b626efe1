"""Counts: the negative binomial likelihood, and regression on it."""

import numpy as np
import pytest

from gradsift import GradientSiftRegressor
from gradsift.responses import Counts


def table(rng, n=300, p=30, dispersion=0.3):
    X = rng.normal(size=(n, p))
    eta = 0.7 * X[:, min(3, p - 1)] + 0.5 * (X[:, min(7, p - 2)] ** 2 - 1)
    exposure = rng.uniform(0.5, 3.0, n)
    noise = rng.gamma(1 / dispersion, dispersion, n)
    return X, rng.poisson(2.0 * exposure * np.exp(eta) * noise), exposure, eta


def test_coefficients_and_dispersion_are_those_of_statsmodels(rng):
    discrete = pytest.importorskip("statsmodels.discrete.discrete_model")
    X, y, exposure, _ = table(rng, p=3)
    offset = np.log(exposure)[:, None]
    response = Counts.of(y).given(offset)
    beta = response.fit(X, np.ones(300), penalty=0.0)
    design = np.column_stack([np.ones(300), X])
    start = [0.5, *beta[:, 0], 0.5]  # its own start overflows
    model = discrete.NegativeBinomial(y, design, offset=offset[:, 0])
    other = model.fit(start_params=start, disp=0, maxiter=500)
    np.testing.assert_allclose(beta[:, 0], other.params[1:4], atol=1e-3)
    law = response.law(X @ beta, np.ones(300))
    np.testing.assert_allclose(law.dispersion, other.params[4], rtol=1e-2)
    np.testing.assert_allclose(law.constant, other.params[0], atol=1e-3)


def test_the_law_is_where_the_likelihood_is_flat(rng):
    X, y, _, _ = table(rng, n=80, p=2)
    response, weight = Counts.of(y), rng.uniform(0.5, 2.0, 80)
    eta = 0.3 * X[:, [0]]
    law = response.law(eta, weight)
    assert abs(response.slope(np.log(law.dispersion), law.mean, weight)[0]) < 1e-4
    np.testing.assert_allclose(weight @ response.score(eta, weight), 0.0, atol=1e-6)


@pytest.mark.parametrize("family", ["poisson", "negative-binomial"])
def test_rates_are_found_and_predicted(rng, family):
    X, y, exposure, eta = table(rng)
    model = GradientSiftRegressor(family=family).fit(X, y, exposure=exposure)
    assert {3, 7} <= set(model.get_support(indices=True).tolist())
    rate = model.predict(X, exposure=1.0)
    np.testing.assert_allclose(model.predict(X, exposure=exposure), rate * exposure)
    assert np.corrcoef(np.log(rate), eta)[0, 1] > 0.9
    assert model.score(X, y, exposure=exposure) > 0.4


def test_counts_find_more_than_numbers_do(rng):
    found = {"gaussian": 0, "negative-binomial": 0}
    for _ in range(6):
        X, y, exposure, _ = table(rng, n=150, p=60, dispersion=1.0)
        for family in found:
            extra = {} if family == "gaussian" else {"exposure": exposure}
            target = y / exposure if family == "gaussian" else y
            model = GradientSiftRegressor(family=family).fit(X, target, **extra)
            found[family] += np.isin([3, 7], model.get_support(indices=True)).sum()
    assert found["negative-binomial"] >= found["gaussian"] + 2


@pytest.mark.parametrize(
    ("y", "words"),
    [([1.0, 2.5, 0.0], "2.5, which is no count"), ([1, -2, 0], "-2"), ([3, 3, 3], "all 3 counts")],
)
def test_what_is_no_count_is_refused(y, words):
    with pytest.raises(ValueError, match=words):
        GradientSiftRegressor(family="poisson").fit(np.eye(3), y)


def test_an_exposure_is_for_counts_and_positive(rng):
    X, y, exposure, _ = table(rng, n=30)
    with pytest.raises(ValueError, match="exposure is for counts"):
        GradientSiftRegressor().fit(X, y, exposure=exposure)
    with pytest.raises(ValueError, match="positive number"):
        GradientSiftRegressor(family="poisson").fit(X, y, exposure=-exposure)
    for wrong, words in ((exposure[:-1], "exposure has 29 rows but X has 30"), (["a"] * 30, "'a'")):
        with pytest.raises(ValueError, match=words):
            GradientSiftRegressor(family="poisson").fit(X, y, exposure=wrong)
    model = GradientSiftRegressor(family="poisson").fit(X, y, exposure=exposure)
    with pytest.raises(ValueError, match="exposure has 2 rows but X has 3"):
        model.predict(X[:3], exposure=[1.0, 2.0])
    with pytest.raises(ValueError, match="family='counts'"):
        GradientSiftRegressor(family="counts").fit(X, y)
