"""`fit(groups=...)`: rows that belong together."""

import warnings

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVR

from gradsift import (
    GradientSelector,
    GradientSiftClassifier,
    GradientSiftRegressor,
    SiftOptions,
    SparseGradientClassifierCV,
    SparseGradientRegressorCV,
    aggregate,
    findings,
    significance,
)
from gradsift.estimators.sample import column_correlation
from gradsift.exceptions import DependentRowsWarning, FewGroupsWarning, NothingSelectedWarning

VISITS = np.repeat([f"subject {k}" for k in range(24)], 5)


@pytest.fixture(scope="module")
def visits():
    """24 subjects with 5 visits: a subject's level in the response and in every column."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(24, 12)).repeat(5, axis=0) + rng.normal(size=(120, 12))
    noise = rng.normal(size=24).repeat(5) + rng.normal(size=120)
    return X, 1.5 * X[:, 3] + noise


@pytest.fixture(scope="module")
def donors():
    """24 donors with 5 cells and a label of their own."""
    rng = np.random.default_rng(1)
    y = np.where(np.arange(24) % 2, "case", "control").repeat(5)
    X = rng.normal(size=(24, 12)).repeat(5, axis=0) + rng.normal(size=(120, 12))
    X[:, 3] += 6.0 * (y == "case")
    return X, y


def test_the_groups_are_counted(visits):
    model = GradientSiftRegressor().fit(*visits, groups=VISITS)
    assert model.n_groups_ == 24
    assert model.get_support(indices=True).tolist() == [3]
    assert 0.3 < model.sift_.correlation < 0.7
    assert model.predictor_.members == ()
    with pytest.warns(DependentRowsWarning):  # visits of a subject follow each other
        assert GradientSiftRegressor().fit(*visits).n_groups_ is None


@pytest.mark.filterwarnings("ignore::gradsift.exceptions.DependentRowsWarning")
def test_groups_of_one_row_are_no_groups(visits):
    plain = GradientSiftRegressor().fit(*visits)
    alone = GradientSiftRegressor().fit(*visits, groups=np.arange(120))
    assert alone.n_groups_ is None
    assert np.array_equal(plain.predict(visits[0]), alone.predict(visits[0]))


@pytest.mark.filterwarnings("ignore::gradsift.exceptions.CountedRowsWarning")
def test_groups_of_one_row_that_counts_twice_are_groups_of_two_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 8))
    y = X[:, 2] + 0.5 * rng.normal(size=60)
    donors, twice = np.arange(60), np.repeat(np.arange(60), 2)
    counted = GradientSiftRegressor().fit(X, y, groups=donors, sample_weight=np.full(60, 2.0))
    repeated = GradientSiftRegressor().fit(X[twice], y[twice], groups=twice)
    assert counted.n_groups_ == repeated.n_groups_ == 60
    np.testing.assert_array_equal(counted.ranking_, repeated.ranking_)
    np.testing.assert_allclose(counted.predict(X), repeated.predict(X), atol=1e-6)
    model = GradientSiftRegressor(options=SiftOptions(weight_kind="importance"))
    assert model.fit(X, y, groups=donors, sample_weight=rng.uniform(1, 3, 60)).n_groups_ is None


def test_a_response_of_the_groups_is_explained_by_their_means(donors):
    X, y = donors
    model = GradientSiftClassifier().fit(X, y, groups=VISITS)
    table = aggregate(X, y, VISITS)
    expected = GradientSiftClassifier().fit(table.X, table.y)
    assert np.array_equal(model.ranking_, expected.ranking_)
    assert model.get_support(indices=True).tolist() == [3]
    assert model.score(X, y) > 0.9  # cells are predicted all the same


def test_few_groups_are_said_to_be_few(visits):
    X, y = visits
    with pytest.warns(FewGroupsWarning, match="24 groups, as good as 6 of equal size"):
        GradientSiftRegressor().fit(X, y, groups=unequal())


@pytest.mark.filterwarnings("ignore::gradsift.exceptions.CountedRowsWarning")
def test_few_groups_are_counted_by_the_weights_of_their_rows(visits):
    X, y = visits
    copies = np.where(unequal() < 20, 25, 1)  # as many rows of each of the first 20 as of the last
    twice = np.repeat(np.arange(120), copies)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = GradientSiftRegressor(options=SiftOptions(weight_kind="frequency"))
        model.fit(X, y, sample_weight=copies, groups=unequal())
        GradientSiftRegressor().fit(X[twice], y[twice], groups=unequal()[twice])
    assert not [w for w in caught if w.category is FewGroupsWarning]
    alone = np.where(unequal() == 23, 25, 1)
    with pytest.warns(FewGroupsWarning, match="24 groups, as good as 1 of equal size"):
        model.fit(X, y, sample_weight=alone, groups=unequal())


@pytest.mark.parametrize("labels", [False, True])
def test_a_group_without_weight_is_no_group(visits, labels):
    X, y = visits
    y = np.arange(24).repeat(5) % 2 if labels else y
    weight = np.where(np.arange(120) < 10 * 5, 0.0, 1.0)
    model = GradientSiftClassifier() if labels else GradientSiftRegressor()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NothingSelectedWarning)
        with pytest.warns(FewGroupsWarning, match="14 groups, as good as 14 of equal size"):
            model.fit(X, y, sample_weight=weight, groups=VISITS)


def unequal():
    """24 groups, a few of which are large."""
    return np.concatenate([np.arange(20), np.repeat([20, 21, 22, 23], 25)])


def test_two_groups_are_refused_with_advice(visits):
    with pytest.raises(ValueError, match=r"2 group\(s\): at least 3.*covariates"):
        GradientSiftRegressor().fit(*visits, groups=np.arange(120) % 2)


def test_what_takes_rows_for_independent_is_refused(visits, donors):
    for options in ({"false_discovery_rate": 0.1}, {"inference": True}):
        with pytest.raises(ValueError, match=r"assumes independent rows.*aggregate"):
            GradientSiftRegressor(**options).fit(*visits, groups=VISITS)
    model = GradientSiftClassifier().fit(*donors, groups=VISITS)
    for ask in (findings, significance):
        with pytest.raises(ValueError, match="assumes independent rows"):
            ask(model, *donors)
    assert len(findings(model, *donors, groups=VISITS)) > 0  # one class to each donor


def test_rows_without_weight_do_not_count(visits):
    X, y = visits
    weight = np.ones(120)
    weight[::5] = 0.0
    some = GradientSiftRegressor().fit(X, y, sample_weight=weight, groups=VISITS)
    left = weight > 0
    same = GradientSiftRegressor().fit(X[left], y[left], groups=VISITS[left])
    assert np.array_equal(some.ranking_, same.ranking_)


@pytest.mark.parametrize("labels", [False, True])
def test_the_penalty_is_chosen_on_whole_groups(visits, labels):
    X, y, subjects = visits[0][:40], visits[1][:40], VISITS[:40]  # eight of them
    y = y > 0 if labels else y
    kind = SparseGradientClassifierCV if labels else SparseGradientRegressorCV
    model = kind(alphas=3, cv=GroupKFold(4)).fit(X, y, groups=subjects)
    folds = list(GroupKFold(4).split(X, y, subjects))
    by_hand = kind(alphas=3, cv=folds).fit(X, y)
    assert np.array_equal(model.cv_scores_, by_hand.cv_scores_)
    left_out = kind(alphas=2, cv="loo").fit(X, y, groups=subjects)
    assert left_out.cv_scores_.shape[1] == 8  # a group at a time, not a row


def test_a_selector_passes_groups_on(donors):
    X, y = donors
    selector = GradientSelector(GradientSiftClassifier()).fit(X, y, groups=VISITS)
    assert selector.estimator_.n_groups_ == 24


def test_groups_are_routed(visits):
    X, y = visits
    with sklearn.config_context(enable_metadata_routing=True):
        sift = GradientSiftRegressor(interactions=False).set_fit_request(groups=True)
        pipe = make_pipeline(GradientSelector(sift), SVR())
        fitted = pipe.fit(X, y, groups=VISITS)
    assert fitted[0].estimator_.n_groups_ == 24


def test_nothing_selected_is_said_with_groups_too(visits):
    X, _ = visits
    noise = np.random.default_rng(5).normal(size=24).repeat(5) + np.arange(120) % 2
    with pytest.warns(NothingSelectedWarning):
        GradientSiftRegressor(1e-4).fit(X, noise, groups=VISITS)


def some_visits(rng, subjects, each):
    """Columns that change between visits as much as between subjects, one of them with a curve."""
    subject = np.repeat(np.arange(subjects), each)
    X = rng.normal(size=(subjects, 6))[subject] + rng.normal(size=(len(subject), 6))
    signal = 1.2 * X[:, 1] + X[:, 4] ** 2 / 2
    own = 1.5 * rng.normal(size=subjects)[subject]
    return X, signal, signal + own + rng.normal(size=len(subject)), subject


def test_curves_are_learnt_from_what_changes_inside_groups():
    """The refit took rows for so little that it found them flat."""
    reached = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X, _, y, subject = some_visits(rng, 30, 5)
        new, signal, _, _ = some_visits(rng, 300, 1)
        model = GradientSiftRegressor().fit(X, y, groups=subject)
        reached.append(1 - np.mean((signal - model.predict(new)) ** 2) / signal.var())
        assert model.get_support(indices=True).tolist() == [1, 4]
    assert np.mean(reached) > 0.8


@pytest.mark.parametrize("alike", [0.0, 0.5, 0.9])
def test_likeness_is_the_intraclass_correlation(alike):
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(400), rng.integers(1, 6, size=400))
    shared, own = rng.normal(size=(400, 3))[groups], rng.normal(size=(len(groups), 3))
    found = column_correlation(np.sqrt(alike) * shared + np.sqrt(1 - alike) * own, groups)
    assert found == pytest.approx(alike, abs=0.05)


def test_likeness_counts_rows_and_the_groups_that_are_there():
    rng = np.random.default_rng(0)
    Z, groups, counts = rng.normal(size=(60, 2)), np.arange(60) // 4, rng.integers(1, 4, size=60)
    Z += rng.normal(size=(15, 2))[groups]
    each = np.repeat(np.arange(60), counts)
    assert column_correlation(Z, groups, counts) == pytest.approx(
        column_correlation(Z[each], groups[each]), rel=1e-12
    )
    assert column_correlation(Z, 7 * groups + 3) == column_correlation(Z, groups) > 0.2


@pytest.mark.filterwarnings("ignore::gradsift.exceptions.CountedRowsWarning")
@pytest.mark.parametrize("labels", [False, True])
def test_a_row_of_weight_two_is_the_row_twice(visits, labels):
    X, y = visits
    weight = np.random.default_rng(1).integers(0, 4, size=len(y))
    each = np.repeat(np.arange(len(y)), weight)
    model = GradientSiftClassifier() if labels else GradientSiftRegressor()
    y = (y > np.median(y)).astype(int) if labels else y
    weighted = clone(model).fit(X, y, sample_weight=weight, groups=VISITS)
    repeated = clone(model).fit(X[each], y[each], groups=VISITS[each])
    np.testing.assert_allclose(weighted.sift_.scores, repeated.sift_.scores, atol=1e-5)
    np.testing.assert_allclose(weighted.gradient(X), repeated.gradient(X), rtol=1e-6, atol=1e-8)
    ask = "decision_function" if labels else "predict"
    found, expected = getattr(weighted, ask)(X), getattr(repeated, ask)(X)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)
