"""Each option of the paper's estimators and their relatives changes the fit, or is refused."""

import numpy as np
import pytest
from sklearn.base import is_classifier

import gradsift
from gradsift import (
    Adaptive,
    AlphaGrid,
    NearestNeighbors,
    Penalties,
    SolverSettings,
    TheoryRate,
)

KINDS = (
    "SparseGradientRegressor",
    "SparseGradientClassifier",
    "SparseGradientRegressorCV",
    "SparseGradientClassifierCV",
    "RidgeGradientRegressor",
    "RidgeGradientClassifier",
    "OuterProductGradient",
    "MinimumAverageVariance",
    "SlicedInverseRegression",
    "SlicedAverageVariance",
    "PrincipalHessianDirections",
)
RUNNING = {"n_jobs", "missing"}
"""How the work runs, and what is done with values that this table does not miss."""
P = 6


OTHERS = {
    "alpha": [1e-3, "theory", TheoryRate(2)],
    "alpha_0": [1.0],
    "alphas": [[1e-2, 1e-3], 3, AlphaGrid(eps=0.3), AlphaGrid(max_features=1)],
    "class_weight": ["balanced"],
    "cv": [4, "loo"],
    "fit_intercept": [True],
    "kernel": ["gaussian", "linear"],
    "n_components": [1, 2],
    "n_slices": [3],
    "penalties": [
        Penalties(penalty_factor=np.arange(1.0, P + 1)),
        Penalties(smoothness=0.5),
    ],
    "refined": [True],
    "selection": ["1se"],
    "solver": [
        SolverSettings(method="fbs"),
        SolverSettings(tol=1e-9),
        SolverSettings(max_iter=1),
    ],
    "standardize": [False],
    "weights": ["uniform", "nearest", "adaptive", Adaptive(NearestNeighbors(8))],
}
"""Values other than the default."""


def others(name, labels):
    """The values to try: some depend on what is predicted."""
    both = {
        "predict_with": ["directions" if labels else "taylor"],
    }
    if name == "penalties" and labels:
        return [*OTHERS[name], Penalties(alpha_0=1.0)]
    return OTHERS[name] if name in OTHERS else both[name]


def table(labels):
    rng = np.random.default_rng(4 if labels else 3)
    X = rng.normal(size=(40, P)) * [1.0, 2.0, 1.0, 3.0, 1.0, 1.0]
    noise = rng.normal(size=40)
    if labels:  # of unequal frequency
        y = X[:, 0] + 0.5 * X[:, 1] + 0.5 * noise
        return X, y > np.quantile(y, 0.7)
    return X, 1.5 * X[:, 0] + 0.5 * X[:, 1] ** 2 + 3.0 * noise


def base(kind):
    """Settings under which every option has something to decide."""
    few = {"alphas": AlphaGrid(12, 0.02), "cv": 3} if kind.startswith("Sparse") else {"cv": 3}
    return few if kind.endswith("CV") else {}


def fingerprint(model, X):
    """All numbers that a fit shows."""
    shown = {
        name: np.asarray(value, dtype=float)
        for name, value in vars(model).items()
        if name.endswith("_") and isinstance(value, (int, float, np.ndarray))
    }
    for call in ("predict", "transform", "decision_function", "gradient"):
        if hasattr(model, call):
            shown[call] = np.asarray(getattr(model, call)(X), dtype=float)
    return shown


def differs(a, b):
    return a.keys() != b.keys() or any(
        a[k].shape != b[k].shape or not np.array_equal(a[k], b[k], equal_nan=True) for k in a
    )


def options():
    for kind in KINDS:
        model = getattr(gradsift, kind)()
        for name in sorted(set(model.get_params()) - RUNNING):
            yield pytest.param(kind, name, id=f"{kind}-{name}")


def refused(model, X, y, name):
    """Whether the fit says that the option cannot be had."""
    try:
        model.fit(X, y)
    except ValueError as error:
        return f"{name}=" in str(error)
    return False


@pytest.fixture(scope="module")
def plain():
    """The fits with no option set, each made once."""
    made = {}

    def fit(kind, **more):
        key = (kind, *sorted(more))
        if key not in made:
            model = getattr(gradsift, kind)(**base(kind), **more)
            X, y = table(is_classifier(model))
            made[key] = fingerprint(model.fit(X, y), X)
        return made[key]

    return fit


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("kind", "name"), list(options()))
def test_no_option_is_silent(kind, name, plain):
    labels = is_classifier(getattr(gradsift, kind)())
    X, y = table(labels)
    heard = []
    for value in others(name, labels):
        if isinstance(value, AlphaGrid) and kind.startswith("Ridge"):
            continue
        model = getattr(gradsift, kind)(**{**base(kind), name: value})
        if refused(model, X, y, name):
            heard.append(True)
        else:
            heard.append(differs(fingerprint(model, X), plain(kind)))
    # one of two numbers of directions may be the one that was found
    assert any(heard) if name == "n_components" else all(heard)
