"""Whole groups in or out: folds, half samples, and what is fitted inside of them."""

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, KFold, LeaveOneGroupOut, TimeSeriesSplit

from gradsift import GradientSiftClassifier, GradientSiftRegressor, SparseGradientRegressor
from gradsift.estimators.splits import half_samples, row_splits
from gradsift.evaluate import held_out, stability

GROUPS = np.repeat(np.arange(12), 5)
Y = np.arange(60.0)
LABELS = (np.arange(60) // 5) % 2


def whole(groups, rows):
    """Whether rows are all rows of some groups."""
    return np.array_equal(rows, np.flatnonzero(np.isin(groups, groups[rows])))


@pytest.mark.parametrize("cv", [None, 3, 20, "loo", GroupKFold(4), LeaveOneGroupOut()])
@pytest.mark.parametrize("labels", [False, True])
@pytest.mark.parametrize("shuffle", [False, True])
def test_folds_hold_out_whole_groups(cv, labels, shuffle):
    splits = list(row_splits(cv, LABELS if labels else Y, labels, GROUPS, shuffle=shuffle))
    assert len(splits) == {3: 3, None: 5}.get(cv if cv in (3, None) else 0, len(splits))
    assert all(whole(GROUPS, train) and whole(GROUPS, test) for train, test in splits)
    assert sorted(np.concatenate([test for _, test in splits])) == list(range(60))


def test_a_splitter_that_divides_groups_is_refused():
    with pytest.raises(ValueError, match=r"on both sides of fold 0.*GroupKFold"):
        list(row_splits(KFold(5, shuffle=True, random_state=0), Y, False, GROUPS))


def test_rows_in_the_order_of_time_are_held_out_after_those_learnt_from():
    for train, test in row_splits(TimeSeriesSplit(4), Y, False):
        assert train.max() < test.min()


@pytest.mark.parametrize("labels", [False, True])
def test_half_samples_are_half_of_the_groups(labels):
    for rows in half_samples(LABELS, labels, 5, 0, GROUPS):
        assert whole(GROUPS, rows)
        assert len(np.unique(GROUPS[rows])) == 6
        if labels:
            assert LABELS[rows].mean() == 0.5


def donors(rng, effect=0.0, count=40, cells=4):
    """Donors with some cells: the label is the donor's, and so is most of every column."""
    groups = np.repeat(np.arange(count), cells)
    y = np.where(groups % 2, "case", "control")
    X = 2.0 * rng.normal(size=(count, 30))[groups] + rng.normal(size=(len(groups), 30))
    X[:, 0] += effect * (y == "case")
    return X, y, groups


def test_scores_of_whole_groups_do_not_know_the_donors(rng):
    X, y, groups = donors(rng, count=16, cells=10)
    model = GradientSiftClassifier(interactions=False)
    # cells of all donors are on both sides of a fold of cells
    assert held_out(model, X, y, cv=4).simple.mean("accuracy") > 0.9
    by_donor = held_out(model, X, y, cv=GroupKFold(4), groups=groups)
    assert by_donor.simple.mean("accuracy") < 0.75
    assert by_donor.selected.mean("accuracy") < 0.75


def test_groups_reach_the_estimator_and_half_samples(rng):
    X, y, groups = donors(rng, effect=9.0)
    found = stability(GradientSiftClassifier(), X, y, 3, 0, groups=groups)
    assert found.frequencies[0] == 1.0
    assert found.n_rows == 80


def test_estimators_that_take_no_groups_are_split_by_them_all_the_same(rng):
    X = rng.normal(size=(60, 5))
    found = held_out(SparseGradientRegressor(), X, X[:, 1], cv=GroupKFold(3), groups=GROUPS)
    assert found.n_folds == 3
    assert found.mean > 0.8


def test_groups_of_another_length_are_refused(rng):
    X = rng.normal(size=(60, 3))
    with pytest.raises(ValueError, match=r"groups has shape \(59,\) but X has 60 rows"):
        held_out(GradientSiftRegressor(), X, X[:, 0], groups=GROUPS[:-1])
