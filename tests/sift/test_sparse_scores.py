"""Scores of mostly zero columns of clustered rows, from the rows that are not zero."""

from dataclasses import replace

import numpy as np
import pytest

from gradsift.data import ArraySource
from gradsift.sift.features import (
    EQUAL_ROWS,
    Columns,
    antiderivatives,
    clipped_known,
    exact_scores,
    univariate_features,
)
from gradsift.sift.rows import make_rows

N = 3 * EQUAL_ROWS


@pytest.fixture(params=[0.0, 0.3])
def correlation(request):
    return request.param


def clustered(weighted, correlation):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((N, 5)) < 0.1, rng.gamma(2.0, size=(N, 5)), 0.0)
    X[:, 1] *= -1.0
    X[:, 2] = np.arange(N) < 4  # all of it in few clusters
    X[:, 3] = rng.normal(size=N)  # dense
    X[:, 4] = 7.0  # constant
    sd = X.std(axis=0)
    X = (X - X.mean(axis=0)) / np.where(sd > 0, sd, 1.0)
    weight = rng.integers(0, 3, N).astype(float) if weighted else None
    groups = np.where(np.arange(N) < 5, np.arange(N), rng.integers(9, 60, N))
    rows = make_rows(N, weight, groups)
    rows = replace(rows, clusters=replace(rows.clusters, correlation=correlation))
    return X, rows, rng.normal(size=(rows.count, 2))


@pytest.mark.parametrize("weighted", [False, True])
def test_scores_are_those_of_all_rows(weighted, correlation):
    X, rows, R = clustered(weighted, correlation)
    X = clipped_known(X, rows)
    wanted = univariate_features(X, rows) @ R
    found = exact_scores(X, R, rows)
    assert np.abs(wanted[:3]).max() > 1.0
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-9 * np.abs(wanted).max())


def test_features_are_made_of_the_other_rows_alone(correlation, monkeypatch):
    X, rows, R = clustered(False, correlation)
    made = []

    def counted(X, *args):
        made.append(X.size)
        return antiderivatives(X, *args)

    monkeypatch.setattr("gradsift.sift.features.antiderivatives", counted)
    exact_scores(clipped_known(X[:, :3], rows), R, rows)
    assert sum(made) < 0.3 * N  # 10 %, 10 % and 4 rows of three columns


def test_statistics_have_the_same_bits_alone_and_among_others(correlation):
    X, rows, R = clustered(False, correlation)
    every = Columns(ArraySource(X), rows).statistics(R)
    for j in range(X.shape[1]):
        alone = Columns(ArraySource(X[:, [j]]), rows).statistics(R)
        if j != 3:  # the dense one
            assert np.array_equal(alone[:, 0], every[:, j])
