"""The relatives of gradient learning: what each finds, and what it is known to miss."""

import numpy as np
import pytest

from gradsift import (
    MinimumAverageVariance,
    OuterProductGradient,
    PrincipalHessianDirections,
    SlicedAverageVariance,
    SlicedInverseRegression,
)
from gradsift.numerics.directions import subspace_distance

U = np.array([[1.0, 1.0, 1.0, 0.0, 0.0, 0.0]]) / np.sqrt(3.0)


def draw(link, n=300, noise=0.1, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    return X, link(X @ U[0]) + noise * rng.normal(size=n)


def distance(model, link, **kwargs):
    X, y = draw(link, **kwargs)
    found = model.set_params(standardize=False).fit(X, y)
    assert found.n_components_ == 1
    return subspace_distance(found.components_, U)


def sine(u):
    return np.sin(2.0 * u)


@pytest.mark.parametrize("seed", range(3))
def test_mave_and_refined_opg_follow_an_oscillation(seed):
    assert distance(MinimumAverageVariance(), sine, seed=seed) < 0.07
    refined = OuterProductGradient(refined=True, n_components=1)
    plain = OuterProductGradient(fit_intercept=True, n_components=1)
    assert distance(refined, sine, seed=seed) < 0.07
    assert distance(plain, sine, seed=seed) > 0.07


def test_slice_means_see_slopes_and_slice_covariances_see_bends():
    assert distance(SlicedInverseRegression(n_components=1), np.tanh) < 0.15
    assert distance(SlicedInverseRegression(n_components=1), np.square) > 0.5
    assert distance(SlicedAverageVariance(n_components=1), np.square, n=600) < 0.25
    assert distance(PrincipalHessianDirections(n_components=1), np.square, n=600) < 0.25
    assert distance(PrincipalHessianDirections(n_components=1), lambda u: u) > 0.5


def test_mave_predicts_and_its_gradient_is_that_of_its_predictions():
    X, y = draw(sine)
    X = 3.0 + X * np.arange(1, 7)  # units of their own
    model = MinimumAverageVariance(n_components=1).fit(X, y)
    new, truth = draw(sine, seed=9)
    assert model.score(3.0 + new * np.arange(1, 7), truth) > 0.9
    at = 3.0 + new[:40] * 0.5 * np.arange(1, 7)
    slopes = model.gradient(at)
    exact = 2.0 * np.cos(2.0 * 0.5 * new[:40] @ U[0])[:, None] * U / np.arange(1, 7)
    assert np.linalg.norm(slopes - exact) < 0.2 * np.linalg.norm(exact)


@pytest.mark.parametrize(
    "model",
    [
        MinimumAverageVariance(n_components=1),
        OuterProductGradient(refined=True, n_components=1, fit_intercept=True),
        SlicedInverseRegression(n_components=2),
    ],
)
def test_the_unit_of_the_response_does_not_matter(model):
    X, y = draw(np.tanh, n=80)
    first = model.fit(X, y).components_
    again = model.fit(X, 1e6 + 1e3 * y).components_
    assert subspace_distance(first, again) < 1e-3


def test_bad_slices():
    X, y = draw(np.tanh, n=30)
    for bad in (1, 2.5, True):
        with pytest.raises(ValueError, match=f"n_slices={bad}: use a whole number >= 2"):
            SlicedInverseRegression(n_slices=bad).fit(X, y)


@pytest.mark.parametrize("value", [0.0, 1.0, 0.1])
@pytest.mark.parametrize("n_components", ["auto", 2])
@pytest.mark.parametrize("kind", [MinimumAverageVariance, OuterProductGradient])
def test_where_no_column_varies_the_mean_is_predicted(kind, n_components, value):
    X, y = draw(np.tanh, n=50)
    same = np.full_like(X, value)
    model = kind(n_components=n_components).fit(same, y)
    np.testing.assert_allclose(model.predict(same[:2]), y.mean())
    assert not model.gradient(same[:2]).any()
    assert not model.get_support().any()
