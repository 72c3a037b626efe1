"""Every option has an effect or is refused: none is taken and ignored."""

import numpy as np
import pytest
from helpers import make_data, sparse_params

from gradsift import (
    Adaptive,
    Gaussian,
    OuterProductGradient,
    Penalties,
    RidgeGradientClassifier,
    RidgeGradientRegressor,
    SolverSettings,
    SparseGradientClassifier,
    SparseGradientRegressor,
    SparseGradientRegressorCV,
    TheoryRate,
    alpha_max,
    gradient_path,
)


def datafit_columns(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


@pytest.fixture
def data():
    return make_data("regression", n=40, p=8, seed=1)


@pytest.mark.parametrize(
    "model",
    [
        RidgeGradientRegressor(weights="adaptive"),
        RidgeGradientClassifier(weights=Adaptive(Gaussian())),
        OuterProductGradient(weights="adaptive"),
    ],
    ids=lambda model: type(model).__name__,
)
def test_adaptive_weights_are_refused_where_nothing_is_selected(model, data):
    X, y = data
    with pytest.raises(ValueError, match=r"keeps all of them. Use weights=Gaussian"):
        model.fit(X, y > 0 if "Classifier" in type(model).__name__ else y)


def test_adaptive_weights_reach_paths(data):
    X, y = data
    settings = {"weights": "adaptive", "kernel": "gaussian", "tol": 1e-7}
    path = gradient_path(X, y, n_alphas=3, eps=0.1, **settings)
    plain = gradient_path(X, y, n_alphas=3, eps=0.1, kernel="gaussian", tol=1e-7)
    assert path.alpha_max == plain.alpha_max
    assert path.alpha_max == alpha_max(X, y, weights="adaptive", kernel="gaussian")
    alone = SparseGradientRegressor(**sparse_params(**settings)).fit(X, y)
    np.testing.assert_allclose(path.importances[-1], alone.feature_importances_, rtol=1e-3)
    assert not np.allclose(path.importances[-1], plain.importances[-1], rtol=1e-2)


@pytest.mark.parametrize("part", [0.1, 0.4])
def test_a_path_of_one_alpha_and_an_estimator_with_it_solve_the_same_adaptive_problem(data, part):
    """And so does an estimator that is given the same part of alpha_max in another way."""
    X, y = data
    settings = {"weights": "adaptive", "tol": 1e-9}
    alpha = part * alpha_max(X, y, weights="adaptive")
    path = gradient_path(X, y, alphas=[alpha], **settings)
    model = SparseGradientRegressor(alpha=alpha, **sparse_params(**settings)).fit(X, y)
    np.testing.assert_allclose(path.importances[0], model.feature_importances_, rtol=1e-6)
    assert path.solutions[0].alpha == pytest.approx(model.alpha_)
    assert model.alpha_ / model.alpha_max_ == pytest.approx(part)
    if part == 0.1:
        default = SparseGradientRegressor(**sparse_params(**settings)).fit(X, y)
        np.testing.assert_allclose(
            default.feature_importances_, model.feature_importances_, rtol=1e-6
        )


def test_adaptive_weights_reach_the_path_and_the_folds_of_a_cross_validated_fit(data):
    X, _ = data
    y = 2 * X[:, 0] + X[:, 1]
    kinds = [
        SparseGradientRegressorCV(cv=3, kernel="gaussian", weights=weights, alphas=4).fit(X, y)
        for weights in ("adaptive", "gaussian")
    ]
    assert (kinds[0].cv_scores_ != kinds[1].cv_scores_).any()
    at = kinds[0].alphas_.tolist().index(kinds[0].alpha_min_)
    np.testing.assert_allclose(kinds[0].path_.importances[at], kinds[0].feature_importances_)


def test_a_path_and_an_estimator_with_smoothness_solve_the_same_problem(data):
    X, y = data
    model = SparseGradientRegressor(
        penalties=Penalties(smoothness=0.2), solver=SolverSettings(tol=1e-6)
    ).fit(X, y)
    assert model.dual_gap_ <= 1e-6
    path = gradient_path(X, y, smoothness=0.2, alphas=[model.alpha_], tol=1e-6)
    np.testing.assert_allclose(path.importances[0], model.feature_importances_, atol=1e-3)
    plain = gradient_path(X, y, alphas=[model.alpha_], tol=1e-6)
    assert not np.allclose(path.importances, plain.importances, rtol=1e-2)


def test_smoothness_by_theory_counts_columns_not_rows(data):
    """The bandwidth of the theorems depends on the dimension: the number of columns."""
    X, y = data
    named = SparseGradientRegressor(
        weights=Gaussian(scale="theory"), penalties=Penalties(smoothness=0.5)
    ).fit(X, y)
    number = TheoryRate(8)(40)
    given = SparseGradientRegressor(
        weights=Gaussian(scale=number), penalties=Penalties(smoothness=0.5)
    ).fit(X, y)
    np.testing.assert_array_equal(named.feature_importances_, given.feature_importances_)


def test_alpha_by_theory(data):
    X, y = data
    s = TheoryRate(8)(40)
    model = SparseGradientRegressor("theory").fit(X, y)
    assert model.alpha_ == pytest.approx(TheoryRate(8).alpha(40) * s**10)
    rate = TheoryRate(2, 0.5)
    other = SparseGradientRegressor(rate).fit(X, y)
    assert other.alpha_ == pytest.approx(rate.alpha(40) * rate(40) ** 4)
    with pytest.raises(ValueError, match="alpha='rule': the penalty is a finite number"):
        SparseGradientRegressor("rule").fit(X, y)


def test_iterations_count_the_way_down(data):
    X, y = data
    model = SparseGradientRegressor(alpha=0.01 * alpha_max(X, y)).fit(X, y)
    last = gradient_path(X, y, alphas=[model.alpha_]).n_iter
    cross = SparseGradientRegressorCV(cv=2, alphas=4).fit(X, y)
    assert model.n_iter_ > 1
    assert last.shape == (1,)
    assert cross.n_iter_ == max(1, cross.path_.n_iter.sum())


def test_the_offset_penalty_of_the_ridge(data):
    X, y = data
    loose, tight = (RidgeGradientClassifier(alpha_0=a).fit(X, y > 0) for a in (1e-4, 10.0))
    assert np.abs(tight.decision_function(X)).max() < 0.5 * np.abs(loose.decision_function(X)).max()
    with pytest.raises(ValueError, match="alpha_0=-1 must be positive"):
        RidgeGradientClassifier(alpha_0=-1).fit(X, y > 0)


@pytest.mark.parametrize("labels", [False, True])
def test_covariance_and_coefficients_are_those_of_the_field(data, labels):
    X, y = data
    if labels:
        y = np.digitize(y, np.quantile(y, [0.3, 0.6]))
    kind = SparseGradientClassifier if labels else SparseGradientRegressor
    model = kind(kernel="gaussian", standardize=False, n_components=2).fit(X, y)
    chosen = model.get_support(indices=True)
    field = model.field_
    B = field.B.reshape(len(chosen), -1)
    values, vectors = np.linalg.eigh(B @ B.T)
    np.testing.assert_allclose(values[::-1], model.eigenvalues_[: len(values)], atol=1e-9)
    first = np.abs(vectors[:, -1] @ model.components_[0, chosen])
    assert first == pytest.approx(1.0)
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / (2 * field.kernel.scale**2))
    coefficients = np.einsum("acm,rm->car", field.B, field.factor.T)
    by_hand = np.einsum("nr,car->cna", K[:, field.factor.landmarks], coefficients)
    got = model.gradient(X)
    got = got[..., chosen] if labels else got[None][..., chosen]
    np.testing.assert_allclose(by_hand, got, atol=1e-7)
