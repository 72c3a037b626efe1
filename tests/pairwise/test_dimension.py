"""The number of directions: right on known designs, the same for copies, honest where unsure."""

import numpy as np
import pytest

from gradsift import OuterProductGradient, RidgeGradientRegressor, SparseGradientRegressor
from gradsift.pairwise.dimension import choose_dimension, settle


def indices(rng, n=200, p=8):
    X = rng.normal(size=(n, p))
    return X, (X[:, 0] + X[:, 1]) / np.sqrt(2.0), (X[:, 2] - X[:, 3]) / np.sqrt(2.0)


def about(rng, X):
    """Coordinates that begin near the true directions, as those of a fit do."""
    truth = np.zeros((X.shape[1], 2))
    truth[:2, 0], truth[2:4, 1] = 1.0, [1.0, -1.0]
    rest = rng.normal(size=(X.shape[1], X.shape[1] - 2))
    off = 0.2 * rng.normal(size=truth.shape)
    return X @ np.linalg.qr(np.hstack([truth + off, rest]))[0]


LINKS = {
    "line": (lambda u, v: u, 1),
    "oscillation": (lambda u, v: np.sin(2.0 * u), 1),
    "product": (lambda u, v: u * v, 2),
    "ratio": (lambda u, v: u / (0.5 + (v + 1.5) ** 2), 2),
}


@pytest.mark.parametrize("name", LINKS)
def test_the_number_of_directions_is_found(rng, name):
    X, u, v = indices(rng)
    link, truth = LINKS[name]
    y = link(u, v)
    y = y / y.std() + 0.2 * rng.normal(size=len(y))
    found = choose_dimension(about(rng, X), y[:, None], np.full(len(y), 1 / len(y)))
    assert found.chosen == truth
    assert found.errors[0] == 1.0
    assert found.errors[truth] < 0.5


def test_noise_says_so(rng):
    """One direction is kept, but that none is needed is what the samples say."""
    X, y = rng.normal(size=(100, 5)), rng.normal(size=(100, 1))
    found = choose_dimension(X, y, np.full(100, 0.01))
    assert found.chosen == 1
    assert found.errors[1] > found.errors[0] - found.standard_errors[0]


def test_weights_are_copies_and_order_is_nothing(rng):
    X, u, v = indices(rng, n=60, p=4)
    y, times = (u * v)[:, None], rng.integers(1, 3, 60)
    weighted = choose_dimension(X, y, times / times.sum())
    rows = rng.permutation(np.repeat(np.arange(60), times))
    copied = choose_dimension(X[rows], y[rows], np.full(len(rows), 1 / len(rows)))
    np.testing.assert_allclose(weighted.errors, copied.errors, rtol=1e-6)
    assert weighted.chosen == copied.chosen


def test_too_few_samples_to_tell(rng):
    found = choose_dimension(rng.normal(size=(15, 3)), rng.normal(size=(15, 1)), np.ones(15) / 15)
    assert found.chosen == 1
    assert np.isnan(found.errors).all()
    assert choose_dimension(np.zeros((30, 0)), np.zeros((30, 1)), np.ones(30) / 30).chosen == 0


@pytest.mark.parametrize("seed", range(4))
def test_the_sign_of_the_response_and_the_order_of_rows_do_not_matter(seed):
    rng = np.random.default_rng(seed)
    X, share = rng.normal(size=(60, 4)), np.full(60, 1 / 60)
    y = (X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.3 * rng.normal(size=60))[:, None]
    found, order = choose_dimension(X, y, share), rng.permutation(60)
    for other in (choose_dimension(X, -y, share), choose_dimension(X[order], y[order], share)):
        np.testing.assert_allclose(other.errors, found.errors, rtol=1e-6)
        np.testing.assert_allclose(other.standard_errors, found.standard_errors, rtol=1e-6)
        assert other.chosen == found.chosen


def test_the_fewest_within_one_standard_error(rng):
    n = 400
    base = rng.chisquare(1, size=n)
    worse, better = base + 1.0 + 0.1 * rng.normal(size=n), base - 0.01 + rng.normal(size=n)
    found = settle(np.array([worse, base, better]), np.full(n, 1 / n))
    assert found.chosen == 1
    assert found.standard_errors[1:].min() >= 0.0


@pytest.mark.parametrize("kind", [SparseGradientRegressor, RidgeGradientRegressor])
def test_estimators_report_what_they_counted(rng, kind):
    X, u, v = indices(rng)
    model = kind().fit(X, u + u * v)
    assert model.n_components_ == model.dimension_.chosen == 2
    assert kind(n_components=3).fit(X, u).dimension_ is None


def test_opg_counts_too(rng):
    X, u, _ = indices(rng, n=100, p=4)
    assert OuterProductGradient().fit(X, np.tanh(u)).n_components_ == 1
