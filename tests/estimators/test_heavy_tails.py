"""Tables with heavy tails, from the columns to predictions of new rows."""

import numpy as np
import pytest

from gradsift import GradientSiftRegressor


def taxi(seed, n=1000):
    """Total, fare, toll, tax, distance, by card or not, and noise; y is the tip."""
    rng = np.random.default_rng(seed)
    distance = rng.lognormal(0.6, 0.8, n)
    distance[rng.random(n) < 0.04] += 12.0
    fare = np.round(2.5 + 2.5 * distance + rng.exponential(1.5, n), 1)
    toll = np.where((distance > 12.0) & (rng.random(n) < 0.6), 6.12, 0.0)
    tax = rng.choice([0.0, 0.5, 1.0, 2.5, 3.3], n)
    card = rng.random(n) < 0.7
    rest = fare + toll + tax
    tip = np.where(card, np.round(rng.choice([0.15, 0.2, 0.25, 0.3], n) * rest, 2), 0.0)
    noise = rng.normal(size=(n, 6))
    return np.column_stack([rest + tip, fare, toll, tax, distance, card, noise]), tip


@pytest.mark.parametrize("seed", range(3))
def test_a_tip_is_the_total_less_its_other_parts(seed):
    X, y = taxi(seed)
    model = GradientSiftRegressor().fit(X[:500], y[:500])
    assert model.get_support(indices=True).tolist() == [0, 1, 2, 3]
    assert model.score(X[500:], y[500:]) > 0.9999


def test_gross_errors_in_cells_do_not_spoil_predictions():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 15))
    y = X[:, :4] @ [1.0, -1.0, -1.0, 0.5] + 0.3 * rng.normal(size=400)
    wrong = (rng.random(X.shape) < 0.01) & (np.arange(400) < 200)[:, None]
    X[wrong] = rng.choice([-1.0, 1.0], wrong.sum()) * rng.uniform(20.0, 100.0, wrong.sum())
    model = GradientSiftRegressor().fit(X[:200], y[:200])
    assert set(model.get_support(indices=True)) >= {0, 1, 2, 3}
    assert model.score(X[200:], y[200:]) > 0.85
