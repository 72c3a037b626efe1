"""Columns of a curve along one sum of columns are found where the sift sees a part of them."""

import numpy as np
import pytest

from gradsift import GradientSiftClassifier, GradientSiftRegressor
from gradsift.numerics.directions import subspace_distance
from gradsift.sift.single_index import bent_columns, pursue, smooth


def table(link, seed, n=200, p=20, width=3):
    """Normal columns and a curve along the sum of the first few."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = link(X[:, :width].sum(axis=1) / np.sqrt(width))
    return X, y / y.std() + 0.2 * rng.normal(size=n)


@pytest.mark.parametrize("width", [3, 6])
@pytest.mark.parametrize("wave", [np.sin, np.cos])
def test_the_direction_of_a_wave_is_found(wave, width):
    errors = []
    for seed in range(40, 45):
        X, y = table(lambda u: wave(2 * u), seed, width=width)
        model = GradientSiftRegressor(n_components=1, predict_with="selected").fit(X, y)
        truth = (np.arange(20) < width)[None].astype(float)
        errors.append(subspace_distance(model.components_, truth))
    assert np.median(errors) < 0.1


def test_a_wave_in_the_odds_of_two_classes_is_found():
    X, y = table(lambda u: np.sin(2 * u), seed=3)
    model = GradientSiftClassifier().fit(X, y > 0)
    assert set(model.get_support(indices=True)) >= {0, 1, 2}


def test_added_columns_rank_right_after_those_of_the_support():
    X, y = table(lambda u: np.cos(2 * u), seed=41, width=6)
    model = GradientSiftRegressor().fit(X, y)
    selected = model.get_support(indices=True)
    assert set(selected) >= set(range(6))
    assert sorted(model.ranking_[selected]) == list(range(1, len(selected) + 1))
    assert len(model.sift_.chi_square_tails) == len(selected)


@pytest.mark.parametrize("link", [np.tanh, np.square, np.exp, np.zeros_like])
def test_what_is_no_wave_adds_nothing(link):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(150, 10))
        y = link(X[:, 0]) + link(X[:, 1]) + 0.2 * rng.normal(size=150)
        left = np.sum((y - y.mean()) ** 2) if link is np.zeros_like else 150 * 0.04
        assert len(bent_columns(X, y, np.ones(150), left, 10)) == 0


def test_weights_are_numbers_of_rows():
    X, y = table(lambda u: np.sin(2 * u), seed=5, n=150)
    w = np.where(np.arange(150) % 3, 1, 2)
    start = np.ones(20)
    once = pursue(X, y, w.astype(float), start)
    written_out = pursue(np.repeat(X, w, axis=0), np.repeat(y, w), np.ones(w.sum()), start)
    np.testing.assert_allclose(once.b, written_out.b, rtol=1e-8)
    np.testing.assert_allclose(once.t, written_out.t, rtol=1e-8)


def test_the_slope_of_a_curve_is_its_derivative():
    rng = np.random.default_rng(0)
    u, y, w = rng.normal(size=80), rng.normal(size=80), rng.uniform(0.5, 2.0, size=80)
    h, slope = smooth(u, y, w)
    order = np.argsort(u)
    fine = np.linspace(-1, 1, 4001)
    values = np.interp(fine, u[order], h[order])
    assert (
        np.corrcoef(np.gradient(values, fine), np.interp(fine, u[order], slope[order]))[0, 1] > 0.9
    )
