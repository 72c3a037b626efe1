"""`false_positives` holds where sums of features and residuals are far from normal."""

import numpy as np
import pytest
from helpers import standard
from scipy.special import gammaln
from scipy.stats import chi2

from gradsift.data import ArraySource
from gradsift.sift import make_sift
from gradsift.sift.criterion import make_response
from gradsift.sift.rows import make_rows
from gradsift.sift.saddlepoint import chi_square_of, largest_sum, permutation_ratio, places


def n_false(X, y, true=(), robust=False):
    X = X[:, np.ptp(X, axis=0) > 0]
    found = make_sift(ArraySource(standard(X)), y[:, None], robust=robust).run().selected
    return len(np.setdiff1d(found, true))


def rare_cases(rng):
    return rng.normal(size=(300, 60)), np.where(rng.permutation(300) < 9, 1.0, -1.0), (), False


def rare_cases_and_genotypes(rng):
    X = rng.binomial(2, rng.uniform(0.02, 0.2, 200), (300, 200)).astype(float)
    return X, np.where(rng.permutation(300) < 9, 1.0, -1.0), (), False


def many_zeros_and_sparse_counts(rng):
    y = np.exp(rng.normal(size=200)) * (rng.uniform(size=200) > 0.9)
    return rng.poisson(0.1, size=(200, 60)).astype(float), y, (), True


def nearly_half_zeros_and_rare_events(rng):
    y = np.exp(rng.normal(size=200)) * (rng.uniform(size=200) > 0.48)
    return 1.0 * (rng.uniform(size=(200, 60)) < 0.03), y, (), True


def one_true_beside_floored_columns(rng):
    X = np.maximum(rng.normal(size=(72, 400)), 1.8)
    X[:, 0] = rng.normal(size=72)
    return X, np.where(X[:, 0] + 0.1 * rng.normal(size=72) > 0, 1.0, -1.0), (0,), False


@pytest.mark.parametrize(
    "make",
    [
        rare_cases,
        rare_cases_and_genotypes,
        many_zeros_and_sparse_counts,
        nearly_half_zeros_and_rare_events,
        one_true_beside_floored_columns,
    ],
)
def test_noise_brings_no_more_false_variables_than_promised(make):
    """Six tables with .3 false variables each have 1.8 in all, and more than 5 once in a hundred
    times. Plain chi-square levels give 8 to 37.
    """
    found = 0
    for seed in range(6):
        X, y, true, robust = make(np.random.default_rng(seed))
        found += n_false(X, y, true, robust)
    assert found <= 5


def test_what_is_true_is_kept_where_chance_fills_the_support():
    """Columns that mark a few rows each complete a perfect fit, in which no group is worth much."""
    for seed in range(3):
        X, y, _, _ = one_true_beside_floored_columns(np.random.default_rng(seed))
        assert 0 in make_sift(ArraySource(standard(X)), y[:, None], robust=False).run().selected


def test_a_strong_effect_of_nine_cases_is_still_found():
    rng = np.random.default_rng(0)
    y = np.where(rng.permutation(300) < 9, 1.0, -1.0)
    X = rng.normal(size=(300, 60))
    X[y > 0, 7] += 3.0
    assert 7 in make_sift(ArraySource(standard(X)), y[:, None], robust=False).run().selected


def test_for_normal_rows_a_gain_is_worth_what_the_chi_square_says():
    rng = np.random.default_rng(1)
    a = standard(rng.normal(size=200))
    for rho in (0.25, 0.4, 0.6):
        noise = standard(rng.normal(size=200))
        noise = standard(noise - (noise @ a / 200) * a)
        r = rho * a + np.sqrt(1 - rho**2) * noise
        gain = -200 * np.log1p(-(rho**2))
        assert permutation_ratio(a[:, None], r[:, None], np.ones(200), gain) > 0.85


def test_tails_of_skewed_sums_are_those_of_random_deals():
    """Nine cases of 300 and the square of a normal column: chi-square is far off."""
    rng = np.random.default_rng(2)
    a = standard(rng.normal(size=300) ** 2)
    r = standard(np.where(np.arange(300) < 9, 1.0, 0.0))
    deals = np.array([r[rng.permutation(300)] @ a for _ in range(20_000)])
    u = float(np.quantile(deals, 0.9995))
    exact = float((deals >= u).mean())
    each = np.sort(a)[-9:] * r.max()
    amounts = chi_square_of(a, r, np.ones(300), u, carriers=len(each))
    rho = u / 300
    assert 0.3 < chi2.sf(amounts, 1) / 2 / exact < 3
    assert chi2.sf(-297.5 * np.log1p(-rho * rho), 1) / 2 / exact < 0.3


@pytest.mark.parametrize("k", [1, 2, 3])
def test_a_perfect_dummy_of_k_rows_is_worth_its_number_of_deals(k):
    n = 72
    a = standard((np.arange(n) < k).astype(float))
    r = standard(np.where(np.arange(n) < k, 10.0, 0.0) + np.random.default_rng(3).normal(size=n))
    part = permutation_ratio(a[:, None], r[:, None], np.ones(n), 300.0)
    log_deals = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    assert part * 300.0 < 2 * log_deals + 5


def test_weights_are_copies():
    rng = np.random.default_rng(4)
    a, r = rng.normal(size=(2, 40))
    weight = rng.integers(1, 4, 40).astype(float)
    copies = np.repeat(np.arange(40), weight.astype(int))
    one = np.ones(len(copies))
    many = largest_sum(a[copies], r[copies], one)
    assert many == pytest.approx(np.sort(a[copies]) @ np.sort(r[copies]))
    assert largest_sum(a, r, weight) == pytest.approx(many)
    r = r + a
    part = permutation_ratio(a[:, None], r[:, None], weight, 30.0)
    for enough in (0.0, 0.3 * part, 0.9 * part, 1.5 * part):
        known = permutation_ratio(a[:, None], r[:, None], weight, 30.0, enough)
        assert known <= part + 1e-9
        assert (known >= enough) == (part >= enough)
    assert part == pytest.approx(
        permutation_ratio(a[copies, None], r[copies, None], one, 30.0), rel=1e-6
    )


def test_many_rows_are_gathered_without_losing_any():
    x = np.random.default_rng(5).exponential(size=5_000)
    at, weight = places(x, np.ones(5_000))
    assert len(at) == 256
    assert weight.sum() == 5_000
    assert weight @ at == pytest.approx(x.sum())
    assert at.max() == x.max()


def test_a_response_with_many_equal_values_is_not_winsorised():
    rng = np.random.default_rng(6)
    y = np.exp(rng.normal(size=(100, 1)))
    rows = make_rows(100, None)
    assert make_response(y, rows, robust=True).robust
    y[:40] = 0.0
    assert not make_response(y, rows, robust=True).robust


@pytest.mark.parametrize("seed", [62, 97])
def test_a_perfect_fit_to_few_rows_is_judged_without_an_error(seed):
    """With its ridge, a fit can leave more than the fit without a column does."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(17, 3))
    weight = rng.integers(0, 4, 17).astype(float)
    share = weight / weight.sum()
    Z = (X - share @ X) / np.sqrt(share @ (X - share @ X) ** 2)
    y = X @ [1.0, 2.0, 3.0]
    assert make_sift(ArraySource(Z), y[:, None], sample_weight=weight).run().selected.tolist() == [
        0,
        1,
        2,
    ]
