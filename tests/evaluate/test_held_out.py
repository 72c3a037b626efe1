"""Held-out scores: of what, on which rows, equal to those of an independent computation."""

import sys
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.metrics import average_precision_score, balanced_accuracy_score, log_loss
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_info, threadpool_limits

from gradsift import GradientSiftClassifier, GradientSiftRegressor, SparseGradientRegressor
from gradsift.evaluate import Scores, held_out, score_model
from gradsift.evaluate.baselines import ALPHAS, STRENGTHS, baseline_model
from gradsift.evaluate.scores import LABELS, NUMBERS, fresh_variance, score_labels, score_numbers


def fitted_baseline(X, y, labels=True, groups=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # names of attributes that will change
        return baseline_model(X, y, labels, groups).fit(X, y)


def test_the_baseline_runs_on_one_thread_so_that_its_scores_are_the_same_bits(rng, monkeypatch):
    seen = []

    class Watched(DummyRegressor):
        def fit(self, X, y):
            seen.extend(
                lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"
            )
            return super().fit(X, y)

    module = sys.modules["gradsift.evaluate.truth"]
    monkeypatch.setattr(module, "baseline_model", lambda *args: Watched())
    X = rng.normal(size=(40, 4))
    with threadpool_limits(2, user_api="blas"):
        held_out(GradientSiftRegressor(), X, X[:, 0], cv=2)
    assert set(seen) == {1}


@pytest.mark.parametrize("labels", [False, True])
def test_a_fold_predicts_as_a_whole_fit_does_and_leaves_out_what_only_a_reader_needs(rng, labels):
    X = rng.normal(size=(120, 12))
    y = X[:, 1] + X[:, 2] * X[:, 3]
    model, y = (GradientSiftClassifier, y > 0) if labels else (GradientSiftRegressor, y)
    whole = model(inference=True, always_keep=[7]).fit(X, y)
    fold = model(inference=True, always_keep=[7]).fit_for("predictions", X, y)
    assert fold.get_support(indices=True).tolist() == whole.get_support(indices=True).tolist()
    assert fold.interactions_ == whole.interactions_
    predict = "predict_proba" if labels else "predict"
    np.testing.assert_array_equal(getattr(fold, predict)(X), getattr(whole, predict)(X))
    selected = whole.get_support()
    np.testing.assert_array_equal(fold.ranking_[selected], whole.ranking_[selected])
    assert fold.association_ is None
    assert not hasattr(fold, "findings_")


def test_the_selection_is_repeated_in_every_fold(rng):
    # 400 columns of noise and random labels: a score with selection outside the folds would be high
    X, y = rng.normal(size=(60, 400)), rng.permutation(np.repeat([0, 1], 30))
    found = held_out(GradientSiftClassifier(), X, y, cv=3)
    assert found.metric == "accuracy"
    assert found.baseline.mean("accuracy") == 0.5
    assert len(found.selected.values["accuracy"]) == found.n_folds == 3
    assert found.mean < 0.7
    assert set(found.selected.values) == set(LABELS)


@pytest.fixture(scope="module")
def numbers():
    """Many small effects, so that the ridge has a part in predictions."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 150))
    y = X[:, 0] + X[:, 1:101] @ rng.normal(size=100) / 8
    return X, y, held_out(GradientSiftRegressor(), X, y, cv=3)


def test_both_ways_to_predict_numbers(numbers):
    X, y, found = numbers
    folds = KFold(3, shuffle=True, random_state=0)
    for way, scores in (("selected", found.selected), ("auto", found.together)):
        model = GradientSiftRegressor(predict_with=way)
        expected = -cross_val_score(model, X, y, cv=folds, scoring="neg_mean_squared_error")
        np.testing.assert_allclose(scores.values["R²"], 1 - expected / y.var(ddof=1), rtol=1e-12)
    assert 0 < found.ensemble_share < 1
    tool = make_pipeline(StandardScaler(), RidgeCV(ALPHAS))
    expected = cross_val_score(tool, X, y, cv=folds, scoring="neg_root_mean_squared_error")
    np.testing.assert_allclose(found.simple.values["RMSE"], -expected, rtol=1e-9)
    expected = cross_val_score(DummyRegressor(), X, y, cv=folds, scoring="neg_mean_absolute_error")
    np.testing.assert_allclose(found.baseline.values["MAE"], -expected)
    assert set(found.selected.values) == set(NUMBERS)
    assert found.together.spread("R²") == pytest.approx(found.together.values["R²"].std(ddof=1))


def test_both_ways_to_predict_labels(rng):
    X = rng.normal(size=(60, 80))
    y = np.where(2 * X[:, 0] + X[:, 1:41] @ rng.normal(size=40) / 8 > 0.5, "high", "low")
    found = held_out(GradientSiftClassifier(), X, y, cv=3)
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    alone = GradientSiftClassifier(predict_with="selected")
    for k, (train, test) in enumerate(folds.split(X, y)):
        P = clone(alone).fit(X[train], y[train]).predict_proba(X[test])
        mine = {name: values[k] for name, values in found.selected.values.items()}
        named = np.array(["high", "low"])[P.argmax(axis=1)]
        assert mine["log loss"] == pytest.approx(log_loss(y[test], P))
        assert mine["balanced accuracy"] == pytest.approx(balanced_accuracy_score(y[test], named))
        rare = ["high", "low"].index(found.positive)
        expected = average_precision_score(y[test] == found.positive, P[:, rare])
        assert mine["average precision"] == pytest.approx(expected)
    assert found.positive == ("high" if (y == "high").sum() < 30 else "low")
    inner = StratifiedKFold(5, shuffle=True, random_state=0)
    # on all columns, without the turn of the axes that makes it fast
    search = GridSearchCV(
        LogisticRegression(max_iter=5000, tol=1e-8), {"C": STRENGTHS}, scoring="neg_log_loss",
        cv=inner,
    )  # fmt: skip
    tool = make_pipeline(StandardScaler(), search)
    expected = -cross_val_score(tool, X, y, cv=folds, scoring="neg_log_loss")
    np.testing.assert_allclose(found.simple.values["log loss"], expected, rtol=1e-3)
    shares = -cross_val_score(
        DummyClassifier(strategy="prior"), X, y, cv=folds, scoring="neg_log_loss"
    )
    np.testing.assert_allclose(found.baseline.values["log loss"], shares)


@pytest.mark.parametrize(("n", "p", "n_classes"), [(60, 8, 2), (60, 8, 3), (50, 200, 3)])
def test_logistic_regression_is_tuned_as_by_a_grid_search(rng, n, p, n_classes):
    """Two classes and more, and more columns than rows."""
    X = rng.normal(size=(n, p))
    scores = X[:, :n_classes] + rng.gumbel(size=(n, n_classes))
    y = np.array(["a", "b", "c"])[scores.argmax(axis=1)]
    tool = fitted_baseline(X, y)
    search = GridSearchCV(
        LogisticRegression(solver="newton-cg", max_iter=1000, tol=1e-6), {"C": STRENGTHS},
        scoring="neg_log_loss", cv=StratifiedKFold(5, shuffle=True, random_state=0),
    )  # fmt: skip
    expected = make_pipeline(*clone(tool)[:-1], search).fit(X, y)
    assert expected[-1].best_params_["C"] == np.ravel(tool[-1].C_)[0]
    np.testing.assert_allclose(tool.predict_proba(X), expected.predict_proba(X), atol=1e-3)
    assert (tool.predict(X) == expected.predict(X)).mean() > 0.99


def test_a_class_with_one_row_still_has_a_baseline(rng):
    X, y = rng.normal(size=(20, 4)), np.array(["a"] * 10 + ["b"] * 9 + ["c"])
    tool = fitted_baseline(X, y)
    expected = make_pipeline(StandardScaler(), LogisticRegression(C=0.25, tol=1e-8)).fit(X, y)
    np.testing.assert_allclose(tool.predict_proba(X), expected.predict_proba(X), atol=1e-3)


@pytest.mark.parametrize("labels", [False, True])
def test_baselines_are_tuned_on_whole_groups(rng, labels):
    """Numbers that say which group a row belongs to predict nothing of other groups: the penalty
    that is best for them is the largest."""
    groups = np.repeat(np.arange(20), 8)
    X = 3.0 * rng.normal(size=(20, 30))[groups] + 0.1 * rng.normal(size=(160, 30))
    y = rng.permutation(np.arange(20) % 2)[groups]
    plain, grouped = fitted_baseline(X, y, labels), fitted_baseline(X, y, labels, groups)
    if labels:
        assert np.ravel(grouped[-1].C_)[0] < np.ravel(plain[-1].C_)[0] / 50
    else:
        assert grouped[-1].alpha_ > 50 * plain[-1].alpha_


def test_folds_of_groups_may_hold_out_all_rows_of_a_class(rng):
    groups = np.repeat(np.arange(6), 10)
    y, X = np.array(["a", "a", "a", "a", "b", "b"])[groups], rng.normal(size=(60, 3))
    assert np.isfinite(fitted_baseline(X, y, groups=groups).predict_proba(X)).all()


def test_a_model_with_one_way_to_predict(rng):
    X = rng.normal(size=(40, 3))
    found = held_out(SparseGradientRegressor(), X, X[:, 0], cv=2, simple=False)
    assert found.together is found.simple is None
    assert found.better_than_nothing


def test_missing_values_do_not_stop_the_baseline(rng):
    X = rng.normal(size=(60, 4))
    y = X[:, 0] + 0.1 * rng.normal(size=60)
    X[rng.random(size=X.shape) < 0.05] = np.nan
    found = held_out(GradientSiftRegressor(missing="mean"), X, y, cv=3)
    assert found.simple.mean("R²") > 0.5


def test_a_class_that_a_fold_lacks(rng):
    X = rng.normal(size=(40, 3))
    y = np.array(["a"] * 20 + ["b"] * 18 + ["c"] * 2)
    y[:20][X[:20, 0] > 0.8] = "b"
    with pytest.warns(UserWarning, match="least populated class in y has only 2 members"):
        found = held_out(GradientSiftClassifier(), X, y, cv=3)
    assert np.isfinite(found.selected.mean("log loss"))


def test_scores_without_a_meaning_are_left_out_of_the_mean():
    P = np.array([[0.7, 0.3], [0.6, 0.4]])
    one_class = score_labels(np.zeros(2, dtype=int), P, positive=1)
    assert np.isnan(one_class["ROC AUC"])
    assert np.isnan(one_class["average precision"])
    assert one_class["accuracy"] == 1.0
    for same in (1.0, 0.1):  # the variance of three times .1 is rounding, and not zero
        assert np.isnan(score_numbers(np.full(3, same), np.ones(3))["R²"])
    scores = Scores({"R²": np.array([0.5, np.nan, 0.7])})
    assert scores.mean("R²") == pytest.approx(0.6)
    weighted = Scores({"R²": np.array([0.5, np.nan, 0.7])}, rows=np.array([3, 5, 1]))
    assert weighted.mean("R²") == pytest.approx(0.55)


def test_a_fitted_model_on_new_rows(rng):
    X = rng.normal(size=(100, 3))
    y = np.where(X[:, 1] > 0, "yes", "no")
    model = GradientSiftClassifier().fit(X[:60], y[:60])
    found = score_model(model, X[60:], y[60:])
    assert found.mean("accuracy") == model.score(X[60:], y[60:])
    strange = np.append(y[60:-1], "maybe")  # a class that the model does not know is never right
    assert score_model(model, X[60:], strange).mean("accuracy") <= found.mean("accuracy")


def test_later_rows_are_held_out_in_the_order_of_time():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 5))
    y = X[:, 1] + 0.3 * rng.normal(size=120)
    model = GradientSiftRegressor(interactions=False, predict_with="selected")
    found = held_out(model, X, y, cv=TimeSeriesSplit(3), simple=False)
    assert found.n_folds == 3
    byhand = [
        np.square(clone(model).fit(X[train], y[train]).predict(X[test]) - y[test]).mean()
        for train, test in TimeSeriesSplit(3).split(X)  # the first 30 rows are never predicted
    ]
    expected = 1 - np.array(byhand) / y[30:].var(ddof=1)
    np.testing.assert_allclose(found.selected.values["R²"], expected)


def test_a_class_that_comes_later_counts_as_wrong_and_one_class_is_refused():
    rng = np.random.default_rng(0)
    y = np.r_[np.tile(["a", "b"], 40), np.repeat("c", 20)]
    X = rng.normal(size=(100, 4)) + (y == "b")[:, None]
    model = GradientSiftClassifier(interactions=False, predict_with="selected")
    found = held_out(model, X, y, cv=TimeSeriesSplit(4), simple=False)
    assert found.selected.values["accuracy"][-1] == 0.0
    with pytest.raises(ValueError, match=r"fold 0 learns from 50 rows of one class only.*fewer"):
        held_out(model, X, np.repeat(["a", "b"], 50), cv=[(np.arange(50), np.arange(50, 100))])


def test_the_variance_of_fresh_rows_is_that_of_pairs_in_different_groups():
    rng = np.random.default_rng(0)
    y, groups = rng.normal(size=15), rng.integers(5, size=15)
    pairs = [(i, j) for i in range(15) for j in range(i) if groups[i] != groups[j]]
    byhand = np.mean([(y[i] - y[j]) ** 2 / 2 for i, j in pairs])
    assert fresh_variance(y, groups) == pytest.approx(byhand)
    assert fresh_variance(y) == pytest.approx(y.var(ddof=1))
    assert np.isnan(fresh_variance(y, np.zeros(15, dtype=int)))


def visits(rng, count):
    """Subjects with 4 visits; the level of a subject is half of the variance."""
    who = np.repeat(np.arange(count), 4)
    X = rng.normal(size=(count, 3))[who] + rng.normal(size=(4 * count, 3))
    return X, X[:, 0] + rng.normal(size=count)[who] + rng.normal(size=4 * count), who


def test_held_out_scores_are_those_of_fresh_groups():
    found, fresh = [], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, y, who = visits(rng, 20)
        model = GradientSiftRegressor(always_keep=[0], interactions=False, predict_with="selected")
        found.append(held_out(model, X, y, groups=who, simple=False).mean)
        new, truth, _ = visits(rng, 400)
        fresh.append(model.fit(X, y, groups=who).score(new, truth))
    gap = np.subtract(found, fresh)
    error = gap.std(ddof=1) / np.sqrt(len(gap))
    assert error < 0.04
    assert abs(gap.mean()) < 0.05  # about the mean of each fold it would be -.2


def test_it_is_shown_as_a_table_in_a_terminal_and_in_a_notebook():
    X = np.random.default_rng(0).normal(size=(60, 4))
    numbers = held_out(GradientSiftRegressor(), X, X[:, 1] + X[:, 2] ** 2, cv=3)
    head, names, *lines = str(numbers).splitlines()
    assert head.startswith("held-out rows, 3 folds")
    assert names.split() == ["R²", "RMSE", "MAE"]
    assert lines[0].startswith("selected variables")
    assert lines[-1].startswith("mean of y")
    assert numbers.selected.cell("RMSE") in lines[0]
    assert len({len(line) for line in [names, *lines]}) == 1  # columns stand below each other
    assert repr(numbers) == str(numbers)

    labels = held_out(GradientSiftClassifier(), X, np.where(X[:, 1] > 0, "<b>", "no"), cv=3)
    html = labels._repr_html_()
    assert "<th>log loss</th>" in html
    assert "<td>most frequent class</td>" in html
    assert html.count("<tr>") == 1 + len(labels.ways())
