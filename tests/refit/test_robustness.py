"""Awkward tables: nothing warns (warnings are errors here) or fails, answers stay sensible."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import classes
from scipy.special import expit

from gradsift.numerics import statistics
from gradsift.refit import refit_classification, refit_regression


def correlated(rng, n=120):
    return rng.normal(size=(n, 1)) + 0.3 * rng.normal(size=(n, 4))


def duplicated(rng, n=120):
    X = rng.normal(size=(n, 2))
    return np.hstack([X, X, X[:, :1]])


def genotypes(rng, n=120):
    return (
        np.column_stack([rng.integers(0, 2, n), rng.integers(0, 3, n), rng.integers(0, 3, n)]) - 1.0
    )


def tied_rows(rng, n=120):
    return np.repeat(rng.normal(size=(n // 10, 3)), 10, axis=0)


def ten_rows(rng):
    return rng.normal(size=(10, 2))


def wide(rng):
    return rng.normal(size=(25, 40))


def many_variables(rng):
    return rng.normal(size=(150, 40))


def heavy_tails(rng, n=120):
    return rng.standard_t(2, size=(n, 3))


def constant_column(rng, n=120):
    return np.column_stack([rng.normal(size=n), np.zeros(n)])


TABLES = [
    correlated,
    duplicated,
    genotypes,
    tied_rows,
    ten_rows,
    wide,
    many_variables,
    heavy_tails,
    constant_column,
]


def check_finite(*arrays):
    assert all(np.isfinite(a).all() for a in arrays)


@pytest.mark.parametrize("table", TABLES, ids=lambda t: t.__name__)
def test_regression(table, rng):
    X = table(rng)
    f = X[:, 0] + X[:, 1] ** 2
    y = f + 0.2 * rng.normal(size=len(X))
    fit = refit_regression(X, y)
    check_finite(fit.value(X)[:, 0], fit.gradient(X), fit.noise)
    if table not in (wide, heavy_tails, ten_rows):
        assert 1 - np.mean((fit.value(X)[:, 0] - f) ** 2) / f.var() > 0.8


@pytest.mark.parametrize("table", TABLES, ids=lambda t: t.__name__)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_labels(table, n_classes, rng):
    X = table(rng)
    z = X[:, 0] + 0.2 * rng.normal(size=len(X))
    labels = np.searchsorted(np.quantile(z, np.arange(1, n_classes) / n_classes), z)
    fit = refit_classification(X, labels, n_classes=n_classes)
    check_finite(fit.value(X), fit.gradient(X))
    if table not in (wide, genotypes):
        assert (classes(fit.value(X)) == labels).mean() > 0.7


def test_duplicates_share_the_gradient(rng):
    """Two copies of a variable are exchangeable, so they get the same slope."""
    x = rng.normal(size=(100, 1))
    fit = refit_regression(np.hstack([x, x]), np.sin(2 * x[:, 0]) + 0.1 * rng.normal(size=100))
    (G,) = fit.gradient(np.hstack([x, x]))
    assert np.sqrt(np.mean((G.sum(1) - 2 * np.cos(2 * x[:, 0])) ** 2)) < 0.3


@pytest.mark.parametrize("kind", ["cauchy", "shift"])
def test_outliers_in_y(rng, kind):
    X = rng.normal(size=(200, 3))
    f = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 / 2
    y = f + 0.2 * rng.normal(size=200)
    bad = rng.choice(200, 10, replace=False)
    clean = refit_regression(X, y)
    y[bad] += 5 * rng.standard_cauchy(10) if kind == "cauchy" else 6.0
    fit = refit_regression(X, y)

    def error(model):
        return np.sqrt(np.mean((model.value(X)[:, 0] - f) ** 2))

    assert error(fit) < 2 * error(clean)
    assert np.array_equal(clean.robust_weight, np.ones(200))
    good = np.delete(np.arange(200), bad)
    assert np.median(fit.robust_weight[bad]) < 0.5
    assert np.mean(fit.robust_weight[good] == 1.0) > 0.95


def test_outliers_among_many_rows(rng):
    X = rng.normal(size=(1_500, 2))
    f = np.sin(2 * X[:, 0]) + X[:, 1]
    y = f + 0.2 * rng.normal(size=1_500)
    bad = rng.choice(1_500, 75, replace=False)
    y[bad] += 20 * rng.standard_cauchy(75)
    fit = refit_regression(X, y)
    assert np.sqrt(np.mean((fit.value(X)[:, 0] - f) ** 2)) < 0.1


def test_response_without_noise(rng):
    """Errors of approximation are not outliers."""
    X = rng.normal(size=(150, 3))
    y = X[:, 0] * X[:, 1] + np.exp(X[:, 2])
    fit = refit_regression(X, y)
    assert np.array_equal(fit.robust_weight, np.ones(150))
    assert 1 - np.mean((fit.value(X)[:, 0] - y) ** 2) / y.var() > 0.999


@pytest.mark.parametrize("n", [2, 3, 5])
def test_hardly_any_rows(rng, n):
    X = rng.normal(size=(n, 2))
    fit = refit_regression(X, np.arange(n, dtype=float))
    check_finite(fit.value(X)[:, 0], fit.gradient(X))
    fit = refit_classification(X, np.arange(n) % 2, n_classes=2)
    check_finite(fit.value(X), fit.gradient(X))


def test_perfectly_separable_classes(rng):
    X = rng.normal(size=(100, 2))
    X[:, 0] += np.where(X[:, 0] > 0, 3.0, -3.0)
    labels = (X[:, 0] > 0).astype(int)
    fit = refit_classification(X, labels, n_classes=2)
    check_finite(fit.value(X), fit.gradient(X))
    assert np.array_equal(classes(fit.value(X)), labels)


def test_rare_class(rng):
    X = rng.normal(size=(300, 3))
    odds = -4.0 + 3.0 * X[:, 0]
    labels = (rng.random(300) < 1 / (1 + np.exp(-odds))).astype(int)
    fit = refit_classification(X, labels, n_classes=2)
    P = expit(fit.value(X)[:, 0])
    assert abs(P.mean() - labels.mean()) < 0.01
    assert np.corrcoef(fit.value(X)[:, 0], odds)[0, 1] > 0.85


def test_many_rows(rng):
    X = rng.normal(size=(20_000, 3))
    f = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]
    fit = refit_regression(X, f + 0.3 * rng.normal(size=20_000))
    assert 1 - np.mean((fit.value(X)[:, 0] - f) ** 2) / f.var() > 0.99
    labels = (rng.random(20_000) < 1 / (1 + np.exp(-3 * f))).astype(int)
    odds = refit_classification(X, labels, n_classes=2).value(X)[:, 0]
    assert 1 - np.mean((odds - 3 * f) ** 2) / np.var(3 * f) > 0.9


@pytest.mark.parametrize("counted", [False, True])
def test_the_many_zeros_of_counts_make_no_outliers_of_the_others(counted, monkeypatch):
    """Three rows of four are zero: a fit to the zeros alone has hardly any error in the middle."""
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.normal(size=400), rng.integers(0, 4, 400) - 1.5])
    some = rng.uniform(size=400) < 0.05 + 0.13 * (X[:, 1] + 1.5)
    y = np.where(some, rng.choice([1, 2, 3, 7, 12], 400), 0).astype(float)
    weight = np.full(400, 2.0) if counted else None
    refit = refit_regression(X, y, sample_weight=weight)
    assert (refit.robust_weight == 1.0).all()
    assert refit.value(X)[:, 0].mean() == pytest.approx(y.mean(), rel=0.05)
    if not counted:  # which is what would happen otherwise
        monkeypatch.setattr(statistics, "MOST_TIED", 1.0)
        assert refit_regression(X, y).value(X)[:, 0].mean() < 0.1 * y.mean()
