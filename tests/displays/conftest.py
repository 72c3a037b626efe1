"""Fitted models to draw, and no window for anybody."""

import matplotlib as mpl
import numpy as np
import pytest

from gradsift import GradientSiftClassifier, GradientSiftRegressor, SparseGradientRegressorCV

mpl.use("Agg")


@pytest.fixture(autouse=True)
def close_figures():
    from matplotlib import pyplot as plt

    yield
    plt.close("all")


@pytest.fixture(scope="session")
def numbers():
    """(model, X, y): x0 linear, x1 squared, x2 x3 a product, 12 columns of noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 16))
    y = 2 * X[:, 0] + X[:, 1] ** 2 + 2 * X[:, 2] * X[:, 3] + 0.3 * rng.normal(size=150)
    return GradientSiftRegressor().fit(X, y), X, y


@pytest.fixture(scope="session")
def labels():
    """(model, X, y) with three classes along x0 and x1."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 8))
    y = np.array(["low", "mid", "high"])[np.digitize(X[:, 0] + X[:, 1] ** 2, [0, 1.5])]
    return GradientSiftClassifier().fit(X, y), X, y


@pytest.fixture(scope="session")
def path_model():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 20))
    y = X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=50)
    return SparseGradientRegressorCV(cv=3, alphas=12).fit(X, y)
