"""The features are what the mathematics says they are."""

import numpy as np
import pytest
from helpers import assert_same_sums
from scipy.integrate import quad
from scipy.stats import chi2, kstest

from gradsift.sift.features import (
    antiderivatives,
    binned_scores,
    clipped,
    clipped_known,
    derivatives,
    exact_scores,
    knots,
    product_feature,
    summed_squares,
    univariate_features,
    whitening,
)
from gradsift.sift.groups import chi2_log_sf
from gradsift.sift.rows import make_rows
from gradsift.sift.settings import DEFAULT


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_derivatives_match_finite_differences(rng):
    X = rng.normal(size=(30, 4))
    q = knots(X, make_rows(30, None))
    h = 1e-6
    slope = (antiderivatives(X + h, q) - antiderivatives(X - h, q)) / (2 * h)
    np.testing.assert_allclose(derivatives(X, q), slope, atol=1e-7)


def _field_and_potential(rng, p=3):
    """A random f = own parts + symmetric b x, and the potential G with grad G = f."""
    train = rng.normal(size=(40, p))
    q = knots(train, make_rows(40, None))
    B = rng.normal(size=(p, 10))
    b = rng.normal(size=(p, p))
    b = b + b.T
    np.fill_diagonal(b, 0.0)

    def field(x):
        return np.einsum("kjn,kj->nk", derivatives(x, q), B) + x @ b

    def potential(x):
        own = np.einsum("kjn,kj->n", antiderivatives(x, q), B)
        return own + np.einsum("nk,kl,nl->n", x, b, x) / 2

    return train, field, potential


def test_line_integral_is_a_difference_of_the_potential(rng):
    X, field, potential = _field_and_potential(rng)
    for i, j in ((0, 1), (5, 9), (12, 3)):
        step = X[j] - X[i]
        integral, _ = quad(lambda t, i=i, s=step: float(field((X[i] + t * s)[None])[0] @ s), 0, 1)
        assert integral == pytest.approx(
            float(potential(X[[j]])[0] - potential(X[[i]])[0]), abs=1e-7
        )


def test_pair_loss_is_twice_the_variance(rng):
    X, _, potential = _field_and_potential(rng)
    y = rng.normal(size=len(X))
    e = y - potential(X)
    pairs = np.mean([(e[j] - e[i]) ** 2 for i in range(len(X)) for j in range(len(X))])
    assert pairs == pytest.approx(2 * e.var())


def test_whitening_is_orthonormal_up_to_the_ridge_and_ordered(rng):
    X = clipped(rng.normal(size=(200, 3)), make_rows(200, None))
    rows = make_rows(200, None)
    P = antiderivatives(X, knots(X, rows))
    _, T = whitening(P, rows)
    assert np.allclose(np.triu(T, 1), 0)
    Z = univariate_features(X, rows)
    gram = Z @ Z.transpose(0, 2, 1) / 200
    # the ridge only shrinks: never above one, close to one in the leading features
    assert np.linalg.eigvalsh(gram).max() <= 1 + 1e-9
    np.testing.assert_allclose(gram[:, 0, 0], 1 / (1 + DEFAULT.ridge))
    np.testing.assert_allclose(gram[:, :2, :2], np.broadcast_to(np.eye(2), (3, 2, 2)), atol=5e-3)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_first_two_features_do_not_depend_on_the_others(rng, weighted):
    weight = rng.uniform(0.5, 2.0, 90) if weighted else None
    rows = make_rows(90, weight)
    X = clipped_known(np.where(rng.random((90, 4)) < 0.1, np.nan, rng.normal(size=(90, 4))), rows)
    assert_same_sums(univariate_features(X, rows, local=False), univariate_features(X, rows)[:, :2])


@pytest.mark.parametrize("kind", ["normal", "lognormal", "uniform"])
def test_group_statistics_have_chi_nulls(rng, kind):
    n = 150
    x = {
        "normal": rng.normal(size=n),
        "lognormal": np.exp(rng.normal(size=n)),
        "uniform": rng.uniform(size=n),
    }[kind]
    x = (x - x.mean()) / x.std()
    rows = make_rows(n, None)
    Z = univariate_features(clipped(x[:, None], rows), rows)[0]
    U = Z @ rng.normal(size=(n, 4000)) / np.sqrt(n)
    for part, size in zip(DEFAULT.parts, (1, 1, 8), strict=True):
        rank = np.linalg.eigvalsh(Z[part] @ Z[part].T / n)
        statistic = (U[part] ** 2).sum(axis=0)
        assert statistic.mean() == pytest.approx(rank.sum(), rel=0.06)  # exact mean: the trace
        assert statistic.mean() <= size * 1.06  # never above nominal
    assert kstest((U[:1] ** 2).sum(axis=0), "chi2", args=(1,)).pvalue > 1e-3


def test_constant_column_has_no_features(rng):
    rows = make_rows(20, None)
    Z = univariate_features(clipped(np.zeros((20, 1)), rows), rows)
    assert np.isfinite(Z).all()
    assert not Z.any()


@pytest.mark.parametrize("column", ["binary", "spike", "genotype"])
def test_tied_columns_keep_nominal_size(rng, column):
    n = 100
    x = {
        "binary": rng.binomial(1, 0.3, n),
        "spike": np.arange(n) == 7,
        "genotype": rng.binomial(2, 0.2, n),
    }[column].astype(float)
    rows = make_rows(n, None)
    Z = univariate_features(clipped(((x - x.mean()) / x.std())[:, None], rows), rows)[0]
    assert np.isfinite(Z).all()
    assert np.linalg.eigvalsh(Z @ Z.T / n).max() <= 1 + 1e-9


def test_product_is_orthogonal_to_its_parents(rng):
    X = rng.normal(size=(80, 2))
    z = product_feature(X, make_rows(80, None))
    assert z @ z / 80 == pytest.approx(1)
    for own in (X, X * X):
        assert np.abs((own - own.mean(0)).T @ z).max() < 1e-8


def test_counts_are_copies(rng):
    """Integer weights give the features (and quantiles) of repeated rows."""
    X = rng.normal(size=(30, 2))
    weight = rng.integers(1, 4, 30).astype(float)
    copies = np.repeat(np.arange(30), weight.astype(int))
    rows, plain = make_rows(30, weight), make_rows(len(copies), None)
    np.testing.assert_allclose(knots(X, rows), knots(X[copies], plain))
    Z = univariate_features(clipped(X, rows), rows)
    Z2 = univariate_features(clipped(X[copies], plain), plain)
    r = rng.normal(size=30)
    np.testing.assert_allclose((Z * rows.root) @ r, Z2 @ r[copies], atol=1e-9)


def test_log_tail_of_chi_square_goes_on_where_the_tail_underflows():
    x = np.array([5.0, 100.0, 1400.0])
    np.testing.assert_allclose(chi2_log_sf(x, 3), chi2.logsf(x, 3))
    far = chi2_log_sf(np.array([1e4, 1e6]), 8)
    assert np.isfinite(far).all()
    # the expansion continues the tail: its slope is -1/2, up to logarithms
    assert (far[1] - far[0]) / (1e6 - 1e4) == pytest.approx(-0.5, abs=1e-3)


@pytest.mark.parametrize("kind", ["normal", "heavy", "genotypes", "zeros", "constant"])
@pytest.mark.parametrize("weighted", [False, True])
def test_binned_statistics_are_those_of_every_value(kind, weighted, rng):
    """Exact where a column has few values; elsewhere to the accuracy that ranking needs."""
    n = 600
    X = {
        "normal": rng.normal(size=(n, 12)),
        "heavy": rng.standard_t(2, size=(n, 12)),
        "genotypes": rng.binomial(2, 0.3, size=(n, 12)).astype(float),
        "zeros": rng.normal(2.0, 1.0, size=(n, 12)) * (rng.uniform(size=(n, 12)) < 0.01),
        "constant": np.zeros((n, 12)),
    }[kind]
    rows = make_rows(n, rng.integers(0, 4, n) if weighted else None)
    scale = np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
    X = clipped((X - X.mean(axis=0)) / scale, rows)
    R = rng.normal(size=(len(X), 2)) + np.sin(2 * X[:, :2])
    exact, binned = (
        summed_squares(scores(X, R, rows), rows, DEFAULT)
        for scores in (exact_scores, binned_scores)
    )
    few = kind in ("genotypes", "zeros", "constant")
    np.testing.assert_allclose(binned[:2], exact[:2], rtol=1e-9 if few else 2e-3, atol=2e-3)
    np.testing.assert_allclose(binned[2], exact[2], rtol=1e-6 if few else 0.05, atol=0.5)
