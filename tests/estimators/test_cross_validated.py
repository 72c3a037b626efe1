"""The CV estimators: alpha chosen by held-out prediction."""

import numpy as np
import pytest
from helpers import make_data
from sklearn.base import clone
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold, LeaveOneOut, StratifiedKFold

from gradsift import (
    AlphaGrid,
    SolverSettings,
    SparseGradientClassifier,
    SparseGradientClassifierCV,
    SparseGradientRegressor,
    SparseGradientRegressorCV,
    alpha_max,
)

CASES = {
    "numbers": (SparseGradientRegressorCV(cv=3, alphas=5), "regression"),
    "labels": (SparseGradientClassifierCV(cv=3, alphas=5), "binary"),
}


@pytest.fixture(params=CASES)
def case(request):
    model, task = CASES[request.param]
    return clone(model), *make_data(task, n=36, p=5, seed=1)


def test_attributes(case):
    model, X, y = case
    model.fit(X, y)
    assert model.cv_scores_.shape == (5, 3)
    assert (np.diff(model.alphas_) < 0).all()
    assert model.alphas_[0] == model.alpha_max_
    assert model.alphas_[-1] == pytest.approx(0.01 * model.alpha_max_)
    assert model.alpha_min_ == model.alphas_[model.cv_scores_.mean(axis=1).argmax()]
    assert model.alpha_1se_ >= model.alpha_min_
    assert model.alpha_ == model.alpha_min_
    assert model.path_.importances.shape == (5, 5)
    chosen = model.alphas_.tolist().index(model.alpha_)
    np.testing.assert_array_equal(model.path_.importances[chosen], model.feature_importances_)


def test_chosen_model_is_the_plain_one_at_that_alpha(case):
    model, X, y = case
    model.set_params(solver=SolverSettings(tol=1e-8, max_iter=100_000)).fit(X, y)
    plain = SparseGradientRegressor if y.dtype.kind == "f" else SparseGradientClassifier
    same = plain(model.alpha_, solver=SolverSettings(tol=1e-8, max_iter=100_000)).fit(X, y)
    np.testing.assert_allclose(
        model.feature_importances_, same.feature_importances_, rtol=1e-2, atol=1e-3
    )


@pytest.mark.filterwarnings("ignore::gradsift.exceptions.NothingSelectedWarning")
def test_one_standard_error_rule(case):
    model, X, y = case
    model.set_params(selection="1se").fit(X, y)
    assert model.alpha_ == model.alpha_1se_ >= model.alpha_min_


@pytest.mark.filterwarnings("ignore::gradsift.exceptions.NothingSelectedWarning")
def test_loo_is_leave_one_out(case):
    model, X, y = case
    X, y = X[:15], y[:15]
    named = clone(model).set_params(cv="loo", alphas=3).fit(X, y)
    split = clone(model).set_params(cv=LeaveOneOut(), alphas=3).fit(X, y)
    assert named.cv_scores_.shape == (3, 15)
    np.testing.assert_array_equal(named.cv_scores_, split.cv_scores_)


def test_splitters_and_iterables(case):
    model, X, y = case
    kind = KFold if y.dtype.kind == "f" else StratifiedKFold
    splitter = kind(3, shuffle=True, random_state=0)
    a = clone(model).set_params(cv=splitter).fit(X, y)
    b = clone(model).set_params(cv=list(splitter.split(X, y))).fit(X, y)
    np.testing.assert_array_equal(a.cv_scores_, b.cv_scores_)
    plain = clone(model).set_params(cv=kind(3)).fit(X, y)
    np.testing.assert_array_equal(plain.cv_scores_, clone(model).fit(X, y).cv_scores_)


def test_jobs_change_nothing(case):
    model, X, y = case
    one = clone(model).fit(X, y)
    two = clone(model).set_params(n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(one.cv_scores_, two.cv_scores_)
    np.testing.assert_array_equal(one.feature_importances_, two.feature_importances_)


def test_explicit_alphas(case):
    model, X, y = case
    model.set_params(alphas=[0.001, 0.1]).fit(X, y)
    assert model.alphas_.tolist() == [0.1, 0.001]
    model.set_params(alphas=[-1.0])
    with pytest.raises(ValueError, match="finite numbers >= 0"):
        model.fit(X, y)


def test_rows_of_weight_zero_are_not_there(case):
    """The splitter numbers all rows; those without weight neither teach nor test."""
    model, X, y = case
    w = np.ones(36)
    w[[3, 11, 30]] = 0.0
    folds = [(np.arange(18), np.arange(18, 36)), (np.arange(18, 36), np.arange(18))]
    model.set_params(cv=folds, alphas=[0.01, 0.005])
    got = clone(model).fit(X, y, sample_weight=w)
    assert got.get_support().any()
    wild = X.copy()
    wild[w == 0] = 1e3
    same = clone(model).fit(wild, y, sample_weight=w)
    np.testing.assert_array_equal(got.cv_scores_, same.cv_scores_)
    np.testing.assert_array_equal(got.feature_importances_, same.feature_importances_)


def test_bad_choices(case):
    model, X, y = case
    with pytest.raises(ValueError, match="selection='max': use 'min' or '1se'"):
        clone(model).set_params(selection="max").fit(X, y)
    with pytest.raises(ValueError, match="cv='ten': use a number of folds, a splitter or 'loo'"):
        clone(model).set_params(cv="ten").fit(X, y)
    with pytest.raises(ValueError, match="eps=2"):
        clone(model).set_params(alphas=AlphaGrid(eps=2)).fit(X, y)
    with pytest.raises(ValueError, match="n_alphas=0"):
        clone(model).set_params(alphas=0).fit(X, y)


def test_a_fold_without_a_class_is_refused():
    X, y = make_data("binary", n=20, p=3)
    order = np.argsort(y, kind="stable")  # one class per half
    model = SparseGradientClassifierCV(cv=KFold(2), alphas=3)
    with pytest.raises(ValueError, match=r"fold 0 of cv leaves 1 class\(es\) out.*stratified"):
        model.fit(X[order], y[order])


def test_folds_are_aligned_by_their_own_largest_penalty():
    """At alpha_max nothing is selected, in every fold: each score is that of its own mean."""
    X, y = make_data("regression", n=30, p=40, seed=2)
    folds = list(KFold(5).split(X))
    model = SparseGradientRegressorCV(cv=folds, alphas=4).fit(X, y)
    for (train, test), score in zip(folds, model.cv_scores_[0]):
        assert score == pytest.approx(-np.mean((y[test] - y[train].mean()) ** 2))


@pytest.mark.parametrize("way", ["directions", "offset"])
def test_labels_are_scored_by_what_predicts_them(way):
    X, y = make_data("multiclass", n=45, p=4)
    folds = list(StratifiedKFold(3).split(X, y))
    model = SparseGradientClassifierCV(cv=folds, predict_with=way, alphas=3).fit(X, y)
    train, test = folds[0]
    top = alpha_max(X[train], y[train], task="classification")
    inside = SparseGradientClassifier(0.1 * top, predict_with=way).fit(X[train], y[train])
    by_hand = -log_loss(y[test], inside.predict_proba(X[test]))
    assert model.cv_scores_[1, 0] == pytest.approx(by_hand, rel=0.02)
    assert (inside.predictor_ is None) == (way == "offset")
