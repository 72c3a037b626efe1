"""Three to eight rows: a result, or one sentence before any work."""

import warnings

import numpy as np
import pytest

import gradsift
from gradsift import GradientSelector, significance
from gradsift.estimators import sift as _sift_base
from gradsift.estimators.splits import row_splits
from gradsift.evaluate import held_out, stability

NUMBERS = [(n,) for n in range(3, 9)]
CLASSES = [(a, n - a) for n in range(3, 9) for a in range(1, n // 2 + 1)]
CLASSES += [(1, 1, n - 2) for n in range(3, 9)] + [(2, 2, n - 4) for n in range(6, 9)]
SCORED = "no row can be held out|rows of one class only"
pytestmark = pytest.mark.filterwarnings("ignore")


def table(counts):
    """Noise, and numbers (one count) or classes with so many rows each."""
    rng = np.random.default_rng(sum(counts))
    X = rng.normal(size=(sum(counts), 4))
    return X, rng.normal(size=len(X)) if len(counts) == 1 else np.repeat(
        list("abc")[: len(counts)], counts
    )


def estimator(name, counts, **params):
    return getattr(gradsift, f"{name}{'Regressor' if len(counts) == 1 else 'Classifier'}")(**params)


def cross_validated(counts):
    kind = "Regressor" if len(counts) == 1 else "Classifier"
    return getattr(gradsift, f"SparseGradient{kind}CV")(alphas=3)


@pytest.mark.parametrize("counts", NUMBERS + CLASSES, ids=str)
@pytest.mark.parametrize("name", ["GradientSift", "SparseGradient", "RidgeGradient"])
def test_a_few_rows_can_be_fitted(name, counts):
    X, y = table(counts)
    assert estimator(name, counts).fit(X, y).predict(X).shape == y.shape
    assert GradientSelector(estimator(name, counts)).fit(X, y).transform(X).shape[0] == len(y)


@pytest.mark.parametrize("counts", NUMBERS + CLASSES, ids=str)
def test_findings_of_a_few_rows(counts):
    X, y = table(counts)
    model = estimator("GradientSift", counts, inference=True).fit(X, y)
    assert model.confidence_.shape == (4,)
    assert np.isfinite(model.confidence_).all()
    assert significance(model, X, y).p_values.shape == (4,)


@pytest.mark.parametrize("counts", NUMBERS + CLASSES, ids=str)
def test_alpha_is_chosen_on_as_many_folds_as_the_classes_allow(counts):
    X, y = table(counts)
    if max(counts) == 1:
        with pytest.raises(ValueError, match="no row can be held out of 3: every class has one"):
            cross_validated(counts).fit(X, y)
        return
    model = cross_validated(counts).fit(X, y)
    assert 2 <= model.cv_scores_.shape[1] <= min(5, max(counts))
    assert np.isfinite(model.cv_scores_).all()
    assert model.predict(X).shape == y.shape


class FitCounted:
    """How often a sift was begun."""

    def __init__(self, monkeypatch):
        self.count = 0
        fit = _sift_base.fit_sift

        def counted(*args, **kwargs):
            self.count += 1
            return fit(*args, **kwargs)

        monkeypatch.setattr(_sift_base, "fit_sift", counted)


@pytest.mark.parametrize("counts", NUMBERS + CLASSES, ids=str)
def test_held_out_scores_of_a_few_rows_or_a_sentence_before_any_work(counts, monkeypatch):
    (X, y), fits = table(counts), FitCounted(monkeypatch)
    alone = len(counts) == 2 and counts[0] == 1
    if len(y) == 3 or (len(y) == 4 and len(counts) > 1) or alone:
        with pytest.raises(ValueError, match=SCORED):
            held_out(estimator("GradientSift", counts), X, y)
        assert fits.count == 0
    else:
        found = held_out(estimator("GradientSift", counts), X, y)
        assert found.n_folds == min(5, len(y) if len(counts) == 1 else max(counts))
        assert np.isfinite(found.selected.mean(found.metric))


@pytest.mark.parametrize("counts", NUMBERS + CLASSES, ids=str)
def test_half_samples_of_a_few_rows_or_a_sentence_before_any_work(counts):
    X, y = table(counts)
    half = sum((count + 1) // 2 for count in counts)
    if half < 3:
        with pytest.raises(ValueError, match=f"half of {len(y)} rows are {half}, and a fit needs"):
            stability(estimator("GradientSift", counts), X, y, 3, 0)
    else:
        assert stability(estimator("GradientSift", counts), X, y, 3, 0).n_rows == half


def test_the_only_row_of_a_class_is_never_held_out_to_choose_alpha():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 4)), np.repeat(["a", "b"], [1, 29])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for cv in (5, "loo"):
            model = gradsift.SparseGradientClassifierCV(cv=cv, alphas=3).fit(X, y)
            assert model.cv_scores_.shape[1] == (5 if cv == 5 else 29)


def test_a_half_sample_without_a_change_selects_nothing():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 4)), np.eye(12)[3]
    found = stability(gradsift.GradientSiftRegressor(), X, y, 10, 0)
    assert min(map(len, found.selections)) == 0


def test_a_fold_that_learns_from_one_value_is_refused_before_any_work(monkeypatch):
    fits = FitCounted(monkeypatch)
    X = np.random.default_rng(0).normal(size=(12, 4))
    with pytest.raises(ValueError, match="rows of one value only"):
        held_out(gradsift.GradientSiftRegressor(), X, np.eye(12)[3])
    assert fits.count == 0


@pytest.mark.parametrize("cv", [1, 0, -3])
def test_fewer_than_two_folds_are_refused_in_our_words(cv):
    with pytest.raises(ValueError, match=f"cv={cv}: at least 2 folds"):
        row_splits(cv, np.arange(9.0), False)


def test_more_folds_than_rows_are_one_fold_for_each_row():
    assert len(list(row_splits(10, np.arange(6.0), False))) == 6
    assert len(list(row_splits(10, np.repeat(["a", "b"], [3, 4]), True))) == 4
