"""GradientSift as a user meets it: selection, gradients, weights, classes, nothing found."""

import numpy as np
import pandas as pd
import pytest
from designs.selection import DESIGNS
from sklearn.base import clone

from gradsift import (
    GradientSiftClassifier,
    GradientSiftRegressor,
    SiftOptions,
    SparseGradientRegressor,
)
from gradsift.data.simulate import two_index
from gradsift.exceptions import NothingSelectedWarning, RareClassWarning
from gradsift.numerics.directions import subspace_distance


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 30)) * rng.uniform(0.1, 10, size=30) + 5
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    return X, np.sin(2 * Z[:, 4]) + Z[:, 9] * Z[:, 21] + 0.1 * rng.normal(size=200)


def test_finds_nonlinear_and_interacting_variables(table):
    model = GradientSiftRegressor(false_positives=0.05).fit(*table)
    assert model.get_support(indices=True).tolist() == [4, 9, 21]
    strongest = model.interactions_[0]
    assert (strongest.first, strongest.second) == (9, 21)
    assert strongest.strength > 0
    assert sorted(np.argsort(model.ranking_)[:3]) == [4, 9, 21]
    assert (model.feature_importances_ > 0).sum() == 3
    assert model.score(*table) > 0.95


def test_gradient_is_the_derivative_of_the_prediction(table):
    """f = grad g exactly, in the units of the table."""
    X, y = table
    model = GradientSiftRegressor().fit(X, y)
    G = model.gradient(X[:5])
    for k in (4, 9, 21):
        step = 1e-4 * X[:, k].std() * np.eye(30)[k]
        slope = (model.predict(X[:5] + step) - model.predict(X[:5] - step)) / (2 * step[k])
        np.testing.assert_allclose(G[:, k], slope, rtol=1e-3, atol=1e-3 * np.abs(G[:, k]).max())
    assert not np.delete(G, [4, 9, 21], axis=1).any()


@pytest.mark.parametrize("n_rows", [200, 400])
@pytest.mark.parametrize("kind", [GradientSiftRegressor, GradientSiftClassifier])
def test_selection_and_predictions_do_not_depend_on_the_seed(kind, n_rows):
    """Above 300 rows some of them tune the refit: always the same ones."""
    X, y, _ = two_index(n_rows, 20, random_state=0)
    y = y if kind is GradientSiftRegressor else (y > np.median(y)).astype(int)
    first = kind(options=SiftOptions(seed=0)).fit(X, y)
    answer = first.predict if kind is GradientSiftRegressor else first.predict_proba
    for seed in (1, 2**31):
        other = kind(options=SiftOptions(seed=seed)).fit(X, y)
        again = other.predict if kind is GradientSiftRegressor else other.predict_proba
        np.testing.assert_array_equal(other.ranking_, first.ranking_)
        np.testing.assert_array_equal(again(X), answer(X))


def test_kept_columns_by_number_or_name(table):
    X, y = table
    frame = pd.DataFrame(X, columns=[f"g{k}" for k in range(30)])
    by_name = GradientSiftRegressor(always_keep=["g0", "g4"]).fit(frame, y)
    by_number = GradientSiftRegressor(always_keep=[0, 4]).fit(X, y)
    assert by_name.get_support(indices=True).tolist() == [0, 4, 9, 21]
    np.testing.assert_array_equal(by_name.ranking_, by_number.ranking_)
    with pytest.raises(ValueError, match="always_keep names 'age', but no column has that name"):
        GradientSiftRegressor(always_keep=["age"]).fit(frame, y)
    with pytest.raises(
        ValueError, match="always_keep holds column 30, but the columns are 0 to 29"
    ):
        GradientSiftRegressor(always_keep=[30]).fit(X, y)


def test_kept_columns_by_a_mask(table):
    """Truth values are a mask, never the columns 0 and 1."""
    X, y = table
    mask = np.isin(np.arange(30), [2, 7])
    by_number = GradientSiftRegressor(always_keep=[2, 7]).fit(X, y)
    for given in (mask, mask.tolist(), pd.Series(mask)):
        by_mask = GradientSiftRegressor(always_keep=given).fit(X, y)
        np.testing.assert_array_equal(by_mask.get_support(), by_number.get_support())
    with pytest.raises(ValueError, match="always_keep holds 29 truth values for 30 columns"):
        GradientSiftRegressor(always_keep=mask[1:]).fit(X, y)
    for odd in (1.5, None, True):
        with pytest.raises(ValueError, match=f"always_keep holds {odd}, which is neither"):
            GradientSiftRegressor(always_keep=[3, odd]).fit(X, y)


@pytest.mark.parametrize("bad", [0.0, -1.0, 31.0, np.nan])
def test_expected_number_of_false_variables_must_make_sense(table, bad):
    with pytest.raises(ValueError, match="false_positives="):
        GradientSiftRegressor(false_positives=bad).fit(*table)


def test_nothing_to_find():
    """The mean, the class shares, zero gradients, and a word about it; ranks all the same.

    In one or two tables of noise in a hundred a predictor on all columns has a share; not in these.
    """
    rng = np.random.default_rng(12)
    X, y = rng.normal(size=(60, 8)), rng.normal(size=60)
    with pytest.warns(NothingSelectedWarning, match="mean of y"):
        model = GradientSiftRegressor(false_positives=0.01).fit(X, y)
    np.testing.assert_allclose(model.predict(X[:3]), y.mean())
    assert model.transform(X).shape == (60, 0)
    assert not model.gradient(X).any()
    assert sorted(model.ranking_) == list(range(1, 9))
    with pytest.warns(NothingSelectedWarning, match="class shares"):
        labels = GradientSiftClassifier(false_positives=0.01).fit(X, rng.permutation(60) < 20)
    np.testing.assert_allclose(labels.predict_proba(X[:1]), [[2 / 3, 1 / 3]], rtol=1e-6)


@pytest.fixture(scope="module")
def many_effects():
    """40 rows to learn from and 200 to predict; two hidden factors seen through 300 columns."""
    rng = np.random.default_rng(8)
    hidden = rng.normal(size=(240, 2))
    X = 7 + 3 * (hidden @ rng.normal(size=(2, 300)) + 2 * rng.normal(size=(240, 300)))
    return X, hidden @ [1.0, 1.0] + 0.2 * rng.normal(size=240)


def test_many_small_effects_join_the_prediction_and_nothing_else(many_effects):
    X, y = many_effects
    auto = GradientSiftRegressor().fit(X[:40], y[:40])
    sparse = GradientSiftRegressor(predict_with="selected").fit(X[:40], y[:40])
    assert sparse.predictor_.members == ()
    assert 0 < sum(auto.predictor_.shares) <= 1
    assert auto.score(X[40:], y[40:]) > sparse.score(X[40:], y[40:]) + 0.1
    np.testing.assert_array_equal(auto.ranking_, sparse.ranking_)
    np.testing.assert_array_equal(auto.feature_importances_, sparse.feature_importances_)
    np.testing.assert_array_equal(auto.gradient(X[:5]), sparse.gradient(X[:5]))


def test_many_small_effects_of_classes(many_effects):
    X, y = many_effects
    labels = np.digitize(y, [-0.7, 0.7])
    auto = GradientSiftClassifier().fit(X[:40], labels[:40])
    sparse = GradientSiftClassifier(predict_with="selected").fit(X[:40], labels[:40])
    assert auto.predictor_.members
    assert auto.score(X[40:], labels[40:]) > sparse.score(X[40:], labels[40:])
    np.testing.assert_allclose(auto.predict_proba(X[40:]).sum(axis=1), 1)


def test_what_predicts_must_have_a_known_name(table):
    with pytest.raises(ValueError, match="predict_with='all'"):
        GradientSiftRegressor(predict_with="all").fit(*table)


def test_relative_weights_keep_the_false_positive_rate():
    """Random weights on noise: unscaled they would pass for more data than there are."""
    false = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(100, 50)), rng.normal(size=100)
        weight = rng.exponential(size=100)
        model = GradientSiftRegressor(options=SiftOptions(weight_kind="importance"))
        try:
            model.fit(X, y, sample_weight=weight)
        except NothingSelectedWarning:
            continue
        false.append(model.get_support().sum())
    assert sum(false) / 30 < 0.9


def test_three_classes_one_decision_per_variable():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(240, 25))
    y = np.array(["low", "mid", "high"])[np.digitize(X[:, 2] ** 2 + X[:, 8] ** 2, [0.8, 2.2])]
    model = GradientSiftClassifier(false_positives=0.05).fit(X, y)
    assert model.get_support(indices=True).tolist() == [2, 8]
    assert model.gradient(X[:4]).shape == (3, 4, 25)
    assert model.decision_function(X[:4]).shape == (4, 3)
    np.testing.assert_allclose(model.predict_proba(X[:4]).sum(axis=1), 1.0)
    assert model.score(X, y) > 0.85


def test_directions_of_a_two_index_model():
    """The whole pipeline: sift, refit, eigenvectors; both directions, nothing else."""
    X, y, support = two_index(300, 30, random_state=2)
    model = GradientSiftRegressor(false_positives=0.05).fit(X, y)
    assert model.get_support(indices=True).tolist() == support.tolist()
    true = np.zeros((2, 30))
    true[0, :2], true[1, 2], true[1, 3] = 1, 1, -1
    assert model.n_components_ == 2
    assert subspace_distance(model.components_, true) < 0.15


@pytest.mark.parametrize(
    ("name", "precision"),
    [("turl200", 0.97), ("circ40", 0.9), ("fried", 0.97), ("xor", 0.97), ("block", 0.9),
     ("cadd", 0.95), ("snp", 0.95), ("lin1000", 0.75), ("clus", 0.8)],
)  # fmt: skip
def test_quality_guard(name, precision):
    """A seeded subset of the selection benchmark, with slack: fails when the method breaks."""
    found = []
    for seed in (41, 42, 43):
        case = DESIGNS[name](seed)
        kind = GradientSiftRegressor if case.task == "regression" else GradientSiftClassifier
        rank = np.sort(kind().fit(case.X, case.y).ranking_[case.support])
        found.append(np.mean(np.arange(1, len(rank) + 1) / rank))  # average precision
    assert np.mean(found) >= precision


@pytest.mark.parametrize("weighted", [False, True])
def test_the_refit_of_very_many_rows_learns_from_some(weighted, monkeypatch):
    """The variables are those of all rows; gradients and predictions nearly so."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 10))
    y = np.sin(X[:, 2]) + X[:, 5] + 0.1 * rng.normal(size=900)
    weight = rng.uniform(0.5, 1.5, size=900) if weighted else None
    model = GradientSiftRegressor(options=SiftOptions(weight_kind="importance"))
    every = clone(model).fit(X, y, sample_weight=weight)
    monkeypatch.setattr("gradsift.estimators.sift_fit.REFIT_ROWS", 400)
    some = clone(model).fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(some.ranking_, every.ranking_)
    assert len(some.predictor_.refit.robust_weight) <= 401  # the first row is one of its class
    np.testing.assert_allclose(some.feature_importances_, every.feature_importances_, rtol=0.1)
    assert some.score(X, y) > every.score(X, y) - 0.01


def test_no_class_is_lost_among_very_many_rows(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4))
    labels = (X[:, 1] > 0).astype(int)
    labels[77] = 2
    monkeypatch.setattr("gradsift.estimators.sift_fit.REFIT_ROWS", 100)
    with pytest.warns(RareClassWarning, match="class 2 has 1 row\\..*no promise"):
        model = GradientSiftClassifier().fit(X, labels)
    assert model.predict_proba(X).shape == (600, 3)
    assert model.score(X, labels) > 0.9


# ------------------------------------------------------------------ whole groups, at most so many


def with_categories(rng, n=150):
    """Four columns of numbers and one variable of three categories (columns 4 to 6)."""
    X = rng.normal(size=(n, 7))
    kind = rng.integers(3, size=n)
    X[:, 4:] = kind[:, None] == np.arange(3)
    y = 3 * X[:, 0] + 2 * X[:, 1] + X[:, 2] + 2.0 * (kind == 1) + 0.3 * rng.normal(size=n)
    return X, y, ["a", "b", "c", "d", "kind", "kind", "kind"]


def test_columns_of_a_group_are_selected_together(rng):
    X, y, groups = with_categories(rng)
    loose = GradientSiftRegressor().fit(X, y)
    assert loose.get_support()[4:].sum() < 3
    model = GradientSiftRegressor(feature_groups=groups).fit(X, y)
    assert model.get_support()[4:].all()
    assert not model.get_support()[3]
    alone = clone(model).fit_for("support", X, y)
    np.testing.assert_array_equal(alone.get_support(), model.get_support())


@pytest.mark.parametrize("most", [1, 2, 3])
def test_at_most_so_many_groups_are_selected(rng, most):
    X, y, groups = with_categories(rng)
    model = GradientSiftRegressor(
        feature_groups=groups, always_keep=[3], options=SiftOptions(max_features=most)
    )
    model.fit(X, y)
    chosen = {groups[k] for k in model.get_support(indices=True)}
    assert "d" in chosen
    assert len(chosen - {"d"}) == most
    free = GradientSiftRegressor(feature_groups=groups, always_keep=[3]).fit(X, y)
    order = [groups[k] for k in np.argsort(free.ranking_) if groups[k] != "d"]
    assert chosen - {"d"} == set(list(dict.fromkeys(order))[:most])
    alone = clone(model).fit_for("support", X, y)
    np.testing.assert_array_equal(alone.get_support(), model.get_support())
    assert {k for pair in model.interactions_ for k in pair[:2]} <= set(
        model.get_support(indices=True)
    )


def test_a_fit_for_a_goal_does_what_the_goal_needs(table):
    X, y = table
    whole = GradientSiftRegressor().fit(X, y)
    for goal in ("all", "predictions", "support"):
        model = GradientSiftRegressor().fit_for(goal, X, y)
        np.testing.assert_array_equal(model.get_support(), whole.get_support())
        assert model.n_features_in_ == 30
        assert hasattr(model, "association_") == hasattr(model, "predictor_") == (goal != "support")
    model.fit(X, y)  # forgets that it knew the support alone
    np.testing.assert_array_equal(model.predict(X), whole.predict(X))
    with pytest.raises(ValueError, match="goal='speed': use one of 'all', 'predictions'"):
        GradientSiftRegressor().fit_for("speed", X, y)
    with pytest.raises(ValueError, match="goal='speed'"):
        SparseGradientRegressor().fit_for("speed", X, y)


def test_bad_groups_and_limits_are_refused(table):
    X, y = table
    for wrong in (0, -1, 1.5, True, "few"):
        with pytest.raises(ValueError, match="max_features"):
            GradientSiftRegressor(options=SiftOptions(max_features=wrong)).fit(X, y)
    with pytest.raises(ValueError, match="one label for each of the 30 columns"):
        GradientSiftRegressor(feature_groups=["a"]).fit(X, y)


def test_what_predictions_are_made_with(rng):
    """Many small effects: others have a part, and a fitted model predicts either way."""
    X = rng.normal(size=(80, 200))
    y = X[:, 0] + X[:, 1:101] @ rng.normal(size=100) / 8
    model = GradientSiftRegressor().fit(X[:60], y[:60])
    assert 0.0 < sum(model.predictor_.shares) <= 1.0
    both = model.predict(X[60:])
    alone = GradientSiftRegressor(predict_with="selected").fit(X[:60], y[:60]).predict(X[60:])
    assert np.array_equal(model.set_params(predict_with="selected").predict(X[60:]), alone)
    assert np.array_equal(model.set_params(predict_with="auto").predict(X[60:]), both)
    assert not np.array_equal(alone, both)
