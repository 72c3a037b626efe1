"""A loss or a penalty of the user's own: solved, certified, and refused where it makes no sense."""

import doctest
import pickle
from dataclasses import dataclass
from pathlib import Path

import cvxpy as cp
import numpy as np
import pytest
from helpers import affine_features, make_data, plain_weights
from sklearn.base import clone

from gradsift import (
    SparseGradientClassifier,
    SparseGradientClassifierCV,
    SparseGradientRegressor,
    SparseGradientRegressorCV,
    gradient_path,
)

PAGE = Path(__file__).parents[2] / "docs" / "tutorials" / "own_loss.md"


def tutorial():
    """The names that the tutorial defines."""
    found = {}
    text = PAGE.read_text(encoding="utf-8")
    for example in doctest.DocTestParser().get_examples(text):
        if example.source.lstrip().startswith(("@dataclass", "from", "import")):
            exec(example.source, found)
    return found


PseudoHuber, LogSum, Wrong = (tutorial()[name] for name in ("PseudoHuber", "LogSum", "Wrong"))


@dataclass(frozen=True)
class SquaredHinge:
    """max(0, 1 - t e)^2 for labels of -1 and 1."""

    def value(self, e, t):
        return (np.maximum(0, 1 - t * e) ** 2).sum(axis=0)

    def slope(self, e, t):
        return -2 * t * np.maximum(0, 1 - t * e)

    def curvature(self, e, t, step):
        return (2 * step**2).sum(axis=0)

    def conjugate(self, g, t):
        q = np.minimum(t * g, 0)  # slopes of a falling loss
        return (q + q**2 / 4).sum(axis=0)

    def hessian(self, e, t):
        bend = 2.0 * (t * e < 1)
        return lambda step: bend * step

    def mean_bend(self, e, t):
        return None


def test_the_tutorial_is_true():
    failed, tried = doctest.testfile(
        str(PAGE), module_relative=False, optionflags=doctest.ELLIPSIS, encoding="utf-8"
    )
    assert tried > 10
    assert failed == 0


def test_a_robust_loss_reaches_the_optimum_of_an_independent_solver():
    X, y = make_data("regression", n=10, p=4, seed=3)
    y[0] += 8.0
    d, alpha = 0.5, 0.02
    model = SparseGradientRegressor(
        alpha, loss=PseudoHuber(d), standardize=False, tol=1e-9, max_iter=200_000
    ).fit(X, y)
    C, phi, W = cp.Variable((4, 5)), affine_features(X), plain_weights(X) / 100
    loss = 0.0
    for i in range(10):
        r = y[i] - y + (X - X[i]) @ (C @ phi[i])
        rows = cp.vstack([np.full(10, d), r])  # sqrt(d^2 + r^2) is a norm
        loss += 2 * d * (W[i] @ cp.norm(rows, 2, axis=0)) - 2 * d**2 * W[i].sum()
    problem = cp.Problem(cp.Minimize(loss + alpha * cp.sum(cp.norm(C, 2, axis=1))))
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    assert model.objective_ == pytest.approx(problem.value, rel=1e-6)
    np.testing.assert_allclose(model.gradient(X), phi @ C.value.T, atol=1e-3)


def test_labels_with_a_loss_of_their_own():
    X, y = make_data("binary", n=60, p=8)
    model = SparseGradientClassifier(loss=SquaredHinge(), tol=1e-6).fit(X, y)
    assert model.dual_gap_ <= 1e-6
    assert model.score(X, y) > 0.8
    assert model.decision_function(X).shape == (60,)
    with pytest.raises(AttributeError, match="predict_proba") as error:
        model.predict_proba(X)
    assert "no probabilities with a loss of your own" in str(error.value.__cause__)
    assert not hasattr(model, "predict_proba")


def test_own_objects_work_with_scikit_learn():
    X, y = make_data("regression", n=40, p=6)
    model = SparseGradientRegressor(loss=PseudoHuber(2.0), penalty=LogSum(0.2))
    assert clone(model).get_params()["loss"] == PseudoHuber(2.0)
    assert "PseudoHuber(d=2.0)" in repr(model)
    plain = SparseGradientRegressor(penalty=Smooth()).fit(X, y)
    again = pickle.loads(pickle.dumps(plain))
    np.testing.assert_array_equal(again.predict(X), plain.predict(X))


@dataclass(frozen=True)
class Smooth:
    """Minimax concave: the slope falls in a straight line to zero at `end`."""

    end: float = 0.5

    def factors(self, sizes, alpha):
        return np.maximum(0, 1 - sizes / self.end)


@pytest.mark.parametrize("penalty", [LogSum(0.1), Smooth(0.4)], ids=["log-sum", "minimax"])
def test_a_concave_penalty_ends_where_its_own_conditions_hold(penalty):
    """At a stationary point the group lasso with the factors of the answer gives the answer."""
    X, y = make_data("regression", n=50, p=10)
    model = SparseGradientRegressor(penalty=penalty, tol=1e-8, max_iter=100_000).fit(X, y)
    factors = penalty.factors(model.feature_importances_, model.alpha_)
    same = SparseGradientRegressor(
        model.alpha_, penalty_factor=factors, tol=1e-8, max_iter=100_000
    ).fit(X, y)
    np.testing.assert_allclose(
        model.feature_importances_, same.feature_importances_, rtol=0, atol=2e-3
    )
    plain = SparseGradientRegressor(model.alpha_).fit(X, y)
    assert model.alpha_max_ == pytest.approx(plain.alpha_max_)
    assert model.feature_importances_.max() > plain.feature_importances_.max()  # less shrunken


def test_cross_validation_takes_them_too():
    X, y = make_data("regression", n=40, p=5)
    settings = {"n_alphas": 4, "cv": 3, "eps": 0.1}
    robust = SparseGradientRegressorCV(loss=PseudoHuber(0.3), **settings).fit(X, y)
    concave = SparseGradientRegressorCV(penalty=LogSum(0.1), **settings).fit(X, y)
    plain = SparseGradientRegressorCV(**settings).fit(X, y)
    assert (robust.cv_scores_ > plain.cv_scores_).all()  # a straight line lies below a square
    assert (concave.cv_scores_[1:] != plain.cv_scores_[1:]).any()
    labels = SparseGradientClassifierCV(loss=SquaredHinge(), **settings).fit(X, y > 0)
    assert (labels.cv_scores_ <= 0).all()


@dataclass(frozen=True)
class WrongConjugate(PseudoHuber):
    def conjugate(self, g, t):
        return (g * t).sum(axis=0)


@pytest.mark.parametrize(
    ("loss", "message"),
    [
        (Wrong(), r"slope\(e, t\) is not the derivative of value"),
        (WrongConjugate(), r"value\(e, t\) \+ conjugate\(slope, t\) is not slope"),
        ("huber", "loss='huber' has no method value, slope, curvature"),
    ],
    ids=["slope", "conjugate", "text"],
)
def test_a_loss_that_contradicts_itself_is_refused(loss, message):
    X, y = make_data("regression")
    with pytest.raises(ValueError, match=message):
        SparseGradientRegressor(loss=loss).fit(X, y)


class Rising:
    def factors(self, sizes, alpha):
        return 1 + sizes


class Short:
    def factors(self, sizes, alpha):
        return np.ones(2)


def test_penalties_that_are_not_concave_are_refused():
    X, y = make_data("regression", n=30)
    with pytest.raises(ValueError, match="never rise with the size"):
        SparseGradientRegressor(penalty=Rising()).fit(X, y)
    with pytest.raises(ValueError, match=r"factors has shape \(2,\) for 6 sizes"):
        SparseGradientRegressor(penalty=Short()).fit(X, y)
    with pytest.raises(ValueError, match="has no method factors"):
        SparseGradientRegressor(penalty="mcp").fit(X, y)
    assert gradient_path(X, y, n_alphas=2).alpha_max > 0
