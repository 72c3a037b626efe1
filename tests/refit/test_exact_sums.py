"""Exact sums of nearly dependent columns with heavy tails."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import standard
from numpy.testing import assert_allclose

from gradsift.refit import refit_regression
from gradsift.refit.settings import NUMBERS


def bill(rng, n):
    fare = 3.0 + 4.0 * rng.lognormal(0.5, 1.0, n)
    toll = np.where(rng.random(n) < 0.1, 1.0 + rng.pareto(2.2, n), 0.0)
    tip = rng.uniform(0.0, 0.3, n) * fare
    return standard(np.column_stack([fare + toll + tip, fare, toll])), tip


@pytest.mark.parametrize("n", [100, 300, 2 * NUMBERS.tuning_rows])
@pytest.mark.parametrize("seed", range(3))
def test_an_exact_sum_holds_in_the_tails(n, seed):
    """The rows held out are those with the largest values, where a Gaussian knows nothing."""
    X, y = bill(np.random.default_rng(seed), n)
    far = X[:, 0] > np.quantile(X[:, 0], 0.9)
    fit = refit_regression(standard(X[~far]), y[~far])
    assert fit.kernel.name == "linear"
    centre, spread = X[~far].mean(axis=0), X[~far].std(axis=0)
    assert_allclose(fit.value((X[far] - centre) / spread)[:, 0], y[far], rtol=1e-3)


def test_a_bend_is_not_taken_for_a_line(rng):
    X, _ = bill(rng, 200)
    fit = refit_regression(X, np.tanh(X[:, 0]) + np.cos(2.0 * X[:, 1]))
    assert fit.kernel.name != "linear"
