"""Rows that repeat others are found, and rows that are only near others are not."""

import numpy as np
import pytest

from gradsift.numerics.sampling import MOST_ROWS, repeat_words, repeated_rows


def again(S, rng, r, times=2):
    """Rows of S measured several times, one measurement correlated with another by r."""
    X = np.repeat(S, times, axis=0)
    return np.sqrt(r) * X + np.sqrt(1.0 - r) * S.std(axis=0) * rng.normal(size=X.shape)


def spectra(rng, n, p=150):
    """Smooth curves: rows differ in six ways, and every row is near another."""
    place = np.linspace(0.0, 1.0, p)
    peaks = np.exp(-np.square((place - np.linspace(0.0, 1.0, 6)[:, None]) / 0.2))
    return rng.normal(size=(n, 6)) @ peaks + 0.01 * rng.normal(size=(n, p))


def share(X):
    return sum(map(len, repeated_rows(X))) / len(X)


@pytest.mark.parametrize("p", [60, 300])
@pytest.mark.parametrize(("r", "times"), [(0.8, 2), (0.92, 2), (0.92, 3), (0.99, 2)])
def test_repeated_measurements_are_found(rng, p, r, times):
    X = again(rng.normal(size=(40, p)), rng, r, times)
    assert share(X) > 0.8
    for one in repeated_rows(X):
        assert len({k // times for k in one}) == 1


def test_repeated_measurements_of_some_samples_are_found(rng):
    X = again(rng.normal(size=(90, 100)), rng, 0.92)
    found = repeated_rows(np.delete(X, np.arange(20, 180, 2), axis=0))
    assert {k for one in found for k in one} == set(range(20))


def test_repeated_spectra_are_found_and_others_are_not(rng):
    assert all(repeated_rows(spectra(rng, n)) == [] for n in (30, 60, 200, 500))
    assert share(again(spectra(rng, 60), rng, 0.99)) > 0.2


def test_copies_are_found_among_numbers_and_among_many_genotypes(rng):
    X = rng.normal(size=(60, 3))
    assert repeated_rows(X[[*range(60), 5, 9]]) == [(5, 60), (9, 61)]
    for n in (40, 100):
        G = rng.binomial(2, 0.3, size=(n, 200)).astype(float)
        assert repeated_rows(G[[*range(n), 5]]) == [(5, n)]


def test_repeated_genotypes_with_some_errors_are_found(rng):
    G = np.repeat(rng.binomial(2, 0.3, size=(30, 100)), 2, axis=0)
    X = np.where(rng.uniform(size=G.shape) < 0.05, rng.binomial(2, 0.3, size=G.shape), G)
    assert repeated_rows(X.astype(float)) == [(k, k + 1) for k in range(0, 60, 2)]


def partly_missing(rng, missing):
    return np.where(missing, np.nan, rng.normal(size=missing.shape))


def rows_with_few_values(rng, n):
    return partly_missing(rng, (np.arange(30) > 2) & (rng.uniform(size=(n, 1)) < 0.1))


def three_clusters(rng, n):
    return rng.normal(size=(n, 40)) + rng.normal(size=(3, 40))[np.arange(n) % 3]


def series(rng, n, p):
    X = rng.normal(size=(n, p))
    for i in range(1, n):
        X[i] = 0.9 * X[i - 1] + np.sqrt(0.19) * X[i]
    return X


NULLS = {
    "numbers": lambda rng, n: rng.normal(size=(n, 50)),
    "few numbers": lambda rng, n: rng.normal(size=(n, 3)),
    "rounded numbers": lambda rng, n: rng.normal(size=(n, 4)).round(1),
    "small whole numbers": lambda rng, n: rng.integers(0, 4, size=(n, 4)).astype(float),
    "genotypes": lambda rng, n: rng.binomial(2, 0.3, size=(n, 100)).astype(float),
    "heavy tails": lambda rng, n: rng.standard_t(2, size=(n, 30)),
    "a series": lambda rng, n: series(rng, n, 30),
    "clusters": three_clusters,
    "mostly zero": lambda rng, n: rng.normal(size=(n, 30)) * (rng.uniform(size=(n, 30)) < 0.1),
    "mostly missing": lambda rng, n: partly_missing(rng, rng.uniform(size=(n, 30)) < 0.9),
    "rows with few values": rows_with_few_values,
    "whole numbers in one column": lambda rng, n: rng.integers(0, 1000, size=(n, 1)).astype(float),
    "one column": lambda rng, n: rng.normal(size=(n, 1)),
}  # fmt: skip


@pytest.mark.parametrize("kind", NULLS)
def test_independent_rows_are_no_repetitions(kind):
    rng = np.random.default_rng(5)
    alarms = [repeated_rows(NULLS[kind](rng, n)) for n in (20, 60, 200) for _ in range(10)]
    assert sum(map(bool, alarms)) <= 1


def test_missing_and_constant_values_are_no_trouble(rng):
    X = rng.normal(size=(50, 60))
    X[:, 3], X[:, 4], X[rng.uniform(size=X.shape) < 0.1] = 1.0, np.nan, np.nan
    assert repeated_rows(X) == []
    assert repeated_rows(X[[*range(50), 8]]) == [(8, 50)]
    assert repeated_rows(np.ones((30, 2))) == repeated_rows(X[:, :0]) == repeated_rows(X[:9]) == []


def test_huge_tiny_and_stretched_values_are_compared_as_others_are(rng):
    X = rng.normal(size=(50, 8))
    again = X[[*range(50), 8]]
    for one in (1e300 * X, 1e-300 * X, np.exp(20.0 * X), X + 1e9):
        assert repeated_rows(one) == []
    for one in (1e300 * again, 1e-300 * again, np.exp(20.0 * again)):
        assert repeated_rows(one) == [(8, 50)]


def test_many_rows_are_sampled(rng):
    X = again(rng.normal(size=(3 * MOST_ROWS, 20)), rng, 0.999)
    found = repeated_rows(X)
    assert 100 < len(found) < MOST_ROWS
    assert all(b == a + 1 for a, b in found)
    assert f"of {MOST_ROWS:,} rows that were compared" in repeat_words(found, (0, 1), len(X))
