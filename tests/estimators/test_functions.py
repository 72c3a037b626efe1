"""gradient_path, alpha_max: the problem without an estimator."""

import numpy as np
import pandas as pd
import pytest
from helpers import make_data

from gradsift import (
    SolverSettings,
    SparseGradientClassifier,
    SparseGradientRegressor,
    alpha_max,
    gradient_path,
)

CASES = [
    ("regression", "regression", SparseGradientRegressor),
    ("classification", "binary", SparseGradientClassifier),
    ("classification", "multiclass", SparseGradientClassifier),
]


@pytest.mark.parametrize(("task", "data", "estimator"), CASES)
def test_path_agrees_with_estimators(task, data, estimator):
    X, y = make_data(data, n=24, p=5)
    top = alpha_max(X, y, task=task)
    assert top == estimator().fit(X, y).alpha_max_
    grid = np.geomspace(top, 0.2 * top, 4)
    path = gradient_path(X, y, task=task, n_alphas=4, eps=0.2, tol=1e-7)
    np.testing.assert_allclose(path.alphas, grid)
    assert len(path.supports[0]) == 0
    assert len(path.supports[1]) > 0
    for alpha, row in zip(grid[1:], path.importances[1:]):
        one = estimator(alpha, solver=SolverSettings(tol=1e-7)).fit(X, y).feature_importances_
        np.testing.assert_allclose(row, one, rtol=1e-2, atol=1e-3 * row.max())
    assert (path.dual_gaps <= 1e-7).all()


def test_settings_reach_the_problem():
    X, y = make_data("regression", n=24, p=5)
    base = alpha_max(X, y)
    w = np.random.default_rng(0).uniform(size=24)
    for change in (
        {"kernel": "gaussian"},
        {"weights": "uniform"},
        {"standardize": False},
        {"penalty_factor": [1, 3, 1, 1, 1]},
        {"sample_weight": w},
    ):
        path = gradient_path(X, y, n_alphas=2, eps=0.5, **change)
        assert alpha_max(X, y, **change) == path.alpha_max != base
    labels = make_data("binary", n=24, p=5)[1]
    tops = [alpha_max(X, labels, task="classification", alpha_0=a) for a in (1e-3, 1.0)]
    assert tops[0] != tops[1]


def test_solver_names():
    X, y = make_data("regression", n=24, p=5)
    a, b = (gradient_path(X, y, n_alphas=3, eps=0.3, tol=1e-7, solver=s) for s in ("auto", "fbs"))
    np.testing.assert_allclose(a.importances, b.importances, atol=1e-3)


def test_frames_and_labels():
    X, y = make_data("binary", n=24, p=5)
    frame = pd.DataFrame(X, columns=list("abcde"))
    named = alpha_max(frame, np.array(["n", "y"])[y], task="classification")
    assert named == alpha_max(X, y, task="classification")


@pytest.mark.parametrize("function", [alpha_max, gradient_path])
def test_the_same_door(function):
    """Functions refuse what estimators refuse, in the same words."""
    X, y = make_data("regression", n=12, p=3)
    bad = X.copy()
    bad[4, 1] = np.inf
    for args, settings, message in (
        ((bad, y), {}, "column 1; the first in row 4"),
        ((X, np.ones(12)), {}, "y is constant"),
        ((X, np.ones(12)), {"task": "classification"}, "one class only"),
        ((X, y), {"task": "survival"}, "task='survival': use 'regression' or 'classification'"),
        ((X, y[:5]), {}, "inconsistent numbers of samples"),
        ((X[:2], y[:2]), {}, "minimum of 3"),
        ((X, y), {"sample_weight": np.zeros(12)}, "all sample weights are zero"),
        ((X, y), {"kernel": "rbf"}, "is not a kernel"),
    ):
        with pytest.raises(ValueError, match=message):
            function(*args, **settings)
