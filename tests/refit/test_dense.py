"""The dense rival: its evidence against a written-out likelihood, its ridge against scikit-learn's,
its share where it should have one and where it should not.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.linear_model import LogisticRegression, Ridge

from gradsift.data import ArraySource
from gradsift.refit import (
    dense_classification,
    dense_regression,
    refit_classification,
    refit_regression,
)
from gradsift.refit.classification import PENALTIES
from gradsift.refit.dense import log_choices, principal_coordinates, restricted_loss


def standard(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


@pytest.fixture
def many_effects():
    """60 rows, 300 columns, three hidden factors seen through all of them."""
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(60, 3))
    Z = standard(hidden @ rng.normal(size=(3, 300)) + rng.normal(size=(60, 300)))
    return Z, hidden @ [1.0, 0.7, -0.5] + 0.3 * rng.normal(size=60)


def test_restricted_loss_is_the_likelihood_of_contrasts():
    rng = np.random.default_rng(1)
    n = 7
    X, y = rng.normal(size=(n, 3)), rng.normal(size=(n, 1))
    K = X @ X.T
    loss, eta = restricted_loss(K, y, np.ones(n))
    contrasts = np.linalg.svd(np.eye(n) - 1 / n)[0][:, : n - 1]
    z, S = contrasts.T @ y[:, 0], contrasts.T @ (K + eta * np.eye(n)) @ contrasts
    scale = z @ np.linalg.solve(S, z) / (n - 1)
    density = multivariate_normal.logpdf(z, cov=scale * S)
    # what the mean alone reaches has the same constants, so differences are exact
    null = multivariate_normal.logpdf(z, cov=z @ z / (n - 1) * np.eye(n - 1))
    assert restricted_loss(None, y, np.ones(n))[0] - loss == pytest.approx(density - null)
    for other in (eta * 1.5, eta / 1.5):
        S = contrasts.T @ (K + other * np.eye(n)) @ contrasts
        scale = z @ np.linalg.solve(S, z) / (n - 1)
        assert multivariate_normal.logpdf(z, cov=scale * S) < density


def test_restricted_loss_does_not_see_a_constant_in_the_kernel():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(9, 4)), rng.normal(size=(9, 2))
    plain, shifted = (restricted_loss(X @ X.T + c, y, np.ones(9))[0] for c in (0.0, 5.0))
    assert shifted == pytest.approx(plain, abs=1e-6)


def test_a_row_counted_twice_is_the_row_twice():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(8, 4)), rng.normal(size=(8, 1))
    counts = np.array([1, 2, 1, 1, 3, 1, 1, 1])
    Xr, yr = np.repeat(X, counts, axis=0), np.repeat(y, counts, axis=0)
    once = [restricted_loss(K, y, counts.astype(float))[0] for K in (X @ X.T, None)]
    written_out = [restricted_loss(K, yr, np.ones(len(yr)))[0] for K in (Xr @ Xr.T, None)]
    assert once[1] - once[0] == pytest.approx(written_out[1] - written_out[0], abs=1e-6)


def test_coordinates_keep_the_gram_matrix_and_know_the_way_back():
    Z = standard(np.random.default_rng(4).normal(size=(10, 40)))
    where = principal_coordinates(ArraySource(Z), np.ones(10))
    K = where.kernel(where.C, where.C)
    assert np.trace(K) == pytest.approx(10)
    np.testing.assert_allclose(K / K[0, 0], (Z @ Z.T) / (Z @ Z.T)[0, 0], atol=1e-12)
    v = np.random.default_rng(5).normal(size=where.C.shape[1])
    np.testing.assert_allclose(Z @ (Z.T @ (where.back @ v)), where.C @ v, atol=1e-10)


def test_regression_weights_are_those_of_ridge(many_effects):
    Z, y = many_effects
    dense = dense_regression(ArraySource(Z), Z[:, :0], y, refit_regression(Z[:, :0], y))
    assert dense is not None
    eta = restricted_loss(Z @ Z.T / Z.shape[1], (y - y.mean())[:, None], np.ones(60))[1]
    ridge = Ridge(alpha=eta * Z.shape[1]).fit(Z, y)
    np.testing.assert_allclose(
        dense.weights[:, 0], ridge.coef_, atol=1e-4 * np.abs(ridge.coef_).max()
    )
    np.testing.assert_allclose(dense.scores(ArraySource(Z))[:, 0], ridge.predict(Z), atol=1e-3)


def test_label_weights_are_those_of_ridge_logistic_regression(many_effects):
    Z, y = many_effects
    labels = (y > 0).astype(int)
    refit = refit_classification(Z[:, :0], labels, n_classes=2)
    dense = dense_classification(ArraySource(Z), Z[:, :0], labels, refit)
    assert dense is not None
    fits = [
        LogisticRegression(C=Z.shape[1] ** -1 / penalty, tol=1e-8, max_iter=10_000).fit(Z, labels)
        for penalty in PENALTIES
    ]
    errors = [
        np.abs(f.decision_function(Z) - dense.scores(ArraySource(Z))[:, 0]).max() for f in fits
    ]
    assert min(errors) < 1e-2


def test_many_classes_have_one_score_each(many_effects):
    Z, y = many_effects
    labels = np.digitize(y, np.quantile(y, [1 / 3, 2 / 3]))
    refit = refit_classification(Z[:, :0], labels, n_classes=3)
    dense = dense_classification(ArraySource(Z), Z[:, :0], labels, refit)
    assert dense is not None
    assert dense.weights.shape == (300, 3)
    assert (dense.scores(ArraySource(Z)).argmax(axis=1) == labels).mean() > 0.8
    blended = dense.blend(refit.decision_function(Z[:, :0]), ArraySource(Z))
    assert blended.shape == (60, 3)


def test_few_strong_effects_leave_it_no_share():
    rng = np.random.default_rng(6)
    Z = standard(rng.normal(size=(80, 400)))
    y = 2 * Z[:, 0] - Z[:, 1] + 0.3 * rng.normal(size=80)
    refit = refit_regression(Z[:, :2], y)
    assert dense_regression(ArraySource(Z), Z[:, :2], y, refit) is None


@pytest.mark.parametrize("seed", range(8))
def test_noise_leaves_it_no_share(seed):
    rng = np.random.default_rng(seed)
    Z, y = standard(rng.normal(size=(40, 300))), rng.normal(size=40)
    assert dense_regression(ArraySource(Z), Z[:, :0], y, refit_regression(Z[:, :0], y)) is None


def test_it_stays_away_from_tall_tables(many_effects):
    Z, y = many_effects
    few = Z[:, :30]
    assert dense_regression(ArraySource(few), Z[:, :0], y, refit_regression(Z[:, :0], y)) is None


def test_log_choices():
    assert log_choices(10, 3) == pytest.approx(np.log(120))
    assert log_choices(1_000_000, 0) == 0.0
