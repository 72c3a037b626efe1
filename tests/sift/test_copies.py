"""Of columns that are copies of each other the first is selected, whatever rounding says.

Copies fit equally well. Left to itself, the last digit of a sum would choose between them, and it
is another one on another processor: `make test-processors` runs this file on several.
"""

import numpy as np
import pytest

from gradsift import GradientSiftClassifier, GradientSiftRegressor, SparseGradientRegressor
from gradsift.data import ArraySource
from gradsift.pairwise.fit import rank_variables
from gradsift.sift.features import Columns
from gradsift.sift.groups import pool, univariate_levels
from gradsift.sift.rows import make_rows
from gradsift.sift.search import earlier_copies


def table_with_copies(seed, n=90):
    """(X, y, the column each column is the first copy of); some copies are mirrored."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 12))
    y = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + X[:, 3] + 0.5 * rng.normal(size=n)
    origin = np.r_[np.arange(12), 2, 3, 0, 5, 2, 3, 1]
    X = X[:, origin] * np.r_[np.ones(17), -1.0, -1.0]
    order = rng.permutation(len(origin))
    return X[:, order], y, origin[order]


def first_of_exact_copies(X, column):
    return int(np.flatnonzero((X[:, [column]] == X).all(axis=0))[0])


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("estimator", [GradientSiftRegressor, GradientSiftClassifier])
def test_the_first_of_several_copies_is_selected(estimator, seed):
    X, y, origin = table_with_copies(seed)
    model = estimator().fit(X, y > 0 if estimator is GradientSiftClassifier else y)
    selected = model.get_support(indices=True)
    assert len(selected)
    assert selected.tolist() == [first_of_exact_copies(X, v) for v in selected]
    assert len(set(origin[selected])) == len(selected)  # never a variable twice


def test_a_column_that_is_always_kept_stays():
    X, y, _ = table_with_copies(0)
    first, copy = np.flatnonzero((X[:, [X.shape[1] - 1]] == X).all(axis=0))[[0, -1]]
    model = GradientSiftRegressor(always_keep=[int(copy)]).fit(X, y)
    assert copy in model.get_support(indices=True)
    assert first == copy or first not in model.get_support(indices=True)


def test_copies_are_found_among_near_copies(rng):
    X = rng.normal(size=(60, 6))
    X[:, 2] = 3.0 * X[:, 0] + 7.0
    X[:, 3] = -X[:, 0]
    X[:, 4] = X[:, 0] + 1e-3 * X[:, 5]
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    table = Columns(ArraySource(Z), make_rows(60, None))
    groups = pool(table, np.arange(6), univariate_levels(0.3, 6, 1, True))
    found = earlier_copies(groups, [2, 3, 4, 5])
    assert found == {2: [0], 3: [0, 2], 4: [], 5: []}


def test_ranks_of_copies_follow_the_columns():
    sizes = np.array([0.3, 0.5, 0.3 * (1 + 1e-14), 0.0, 0.5 * (1 + 1e-14), 0.0])
    closeness = np.array([1.0, 1.0, 1.0, 0.2, 1.0, 0.2 * (1 + 1e-14)])
    assert rank_variables(sizes, closeness).tolist() == [3, 1, 4, 5, 2, 6]
    X, y, _ = table_with_copies(1)
    assert sorted(SparseGradientRegressor().fit(X, y).ranking_) == list(range(1, X.shape[1] + 1))
