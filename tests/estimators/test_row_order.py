"""A warning where rows depend on the rows before them, and not where they were merely sorted."""

import warnings

import numpy as np
import pytest

from gradsift import GradientSiftClassifier, GradientSiftRegressor, GradientSiftSurvival
from gradsift.estimators.serial_dependence import row_order
from gradsift.exceptions import DependentRowsWarning, NothingSelectedWarning, RepeatedRowsWarning
from gradsift.numerics.statistics import autocorrelations, rank_classes

FAST = {"interactions": False, "predict_with": "selected"}


def series(rng, n, p, rho):
    X = rng.normal(size=(n, p))
    for t in range(1, n):
        X[t] = rho * X[t - 1] + np.sqrt(1 - rho**2) * X[t]
    return X


def fit(X, y, kind=GradientSiftRegressor, **fit_params):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NothingSelectedWarning)
        return kind(**FAST).fit(X, y, **fit_params)


def test_autocorrelations_are_those_of_the_formula():
    X = series(np.random.default_rng(0), 300, 2, 0.7)
    Z = X - X.mean(axis=0)
    byhand = [[z[k:] @ z[:-k] / (z @ z) for z in Z.T] for k in (1, 2, 3)]
    np.testing.assert_allclose(autocorrelations(X, 3), byhand)
    assert autocorrelations(np.ones((10, 1)), 2).tolist() == [[0.0], [0.0]]


def test_equal_responses_are_of_one_class():
    assert rank_classes(np.array([0.0, 0, 0, 5, 6, 7]), 2).tolist() == [0, 0, 0, 1, 1, 1]


def test_a_series_is_said():
    rng = np.random.default_rng(1)
    X = series(rng, 150, 20, 0.8)
    y = X[:, 3] + series(rng, 150, 1, 0.8)[:, 0]
    with pytest.warns(DependentRowsWarning, match=r"autocorrelation of 0\..*groups=.*TimeSeries"):
        fit(X, y)
    with pytest.warns(DependentRowsWarning):
        fit(X, np.where(y > 0, "a", "b"), GradientSiftClassifier)
    fit(X, y, groups=np.arange(150) // 5)  # it was said what belongs together
    order = rng.permutation(150)
    fit(X[order], y[order])


@pytest.mark.parametrize("by", ["response", "class", "column", "class of many columns"])
def test_sorted_rows_are_no_series(by):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 15))
    y = X[:, 0] + X[:, 1] + rng.normal(size=120)
    labels = y > 0
    if by == "class of many columns":
        X = X + 1.5 * labels[:, None]
    order = np.argsort({"response": y, "column": X[:, 0]}.get(by, labels), kind="stable")
    if "class" in by:
        fit(X[order], labels[order], GradientSiftClassifier)
    else:
        fit(X[order], y[order])


@pytest.mark.parametrize("kind", ["numbers", "survival", "counts"])
def test_rows_sorted_by_the_response_inside_of_blocks_are_no_series(kind):
    """Such as patients by stage, then by time: columns that go with the stage, and the residual,
    both look like series.
    """
    rng = np.random.default_rng(0)
    stage = np.repeat([0, 1, 2], 50)
    X = rng.normal(size=(150, 4)) + 2.0 * np.eye(3, 4)[stage]
    time, event = rng.exponential(np.exp(-X[:, 3]), size=150).round(3), rng.random(150) < 0.6
    y = {"numbers": np.log(time + 0.01), "counts": np.floor(5 * time)}.get(kind, time)
    order = np.lexsort([y, stage])
    with warnings.catch_warnings():
        warnings.simplefilter("error", DependentRowsWarning)
        if kind == "survival":
            fit(X[order], y[order], GradientSiftSurvival, event=event[order])
        else:
            family = "poisson" if kind == "counts" else "gaussian"
            GradientSiftRegressor(family=family, **FAST).fit(X[order], y[order])


def test_one_without_the_other_does_no_harm():
    rng = np.random.default_rng(0)
    classes = np.zeros(300, dtype=int)
    smooth, rough = series(rng, 300, 20, 0.9), rng.normal(size=(300, 20))
    assert row_order(smooth, smooth[:, :1], classes).dependent
    assert not row_order(smooth, rough[:, :1], classes).dependent
    assert not row_order(rough, smooth[:, :1], classes).dependent


def test_level_of_the_warning():
    """Independent rows: at most one in a hundred is warned of."""
    rng = np.random.default_rng(0)
    said = 0
    for _ in range(300):
        shared = rng.normal(size=(60, 1))
        X = 0.9 * shared + 0.4 * rng.normal(size=(60, 5))
        y = rng.normal(size=60)
        said += row_order(X, y[:, None], rank_classes(y, 6)).dependent
    assert said <= 3


@pytest.mark.filterwarnings("ignore::gradsift.exceptions.RepeatedRowsWarning")
def test_rows_that_are_written_several_times_are_no_series(rng):
    """A row three times is a weight of three."""
    X = rng.normal(size=(80, 6))
    y = X[:, 0] + rng.normal(size=80)
    times = rng.integers(1, 5, size=80)
    GradientSiftRegressor().fit(np.repeat(X, times, axis=0), np.repeat(y, times))


def test_classes_that_were_measured_one_after_the_other_get_other_advice():
    """Rows sorted by class whose columns drift in the course of measuring: shuffling hides it."""
    rng = np.random.default_rng(2)
    y = np.repeat(["a", "b", "c"], 60)
    X = series(rng, 180, 13, 0.6) + rng.normal(size=(3, 13)).repeat(60, axis=0)
    with pytest.warns(DependentRowsWarning, match=r"of the same class\. .*sorted by class") as said:
        fit(X, y, GradientSiftClassifier)
    assert "TimeSeriesSplit" not in str(said[0].message)
    order = np.r_[rng.permutation(60), 60 + rng.permutation(60), 120 + rng.permutation(60)]
    fit(X[order], y[order], GradientSiftClassifier)  # their order inside classes is what was seen


# ------------------------------------------------------------------ repeated measurements


def measured_twice(rng, n=40, p=60, r=0.92):
    """Measurements of n samples, one after all others, and a response of the sample."""
    S = rng.normal(size=(n, p))
    X = np.sqrt(r) * np.vstack([S, S]) + np.sqrt(1.0 - r) * rng.normal(size=(2 * n, p))
    return X, np.tile(S[:, 0] + rng.normal(size=n), 2)


def repeats_said(X, y, kind=GradientSiftRegressor, **fit_params):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        kind(**FAST).fit(X, y, **fit_params)
    return [str(w.message) for w in caught if w.category is RepeatedRowsWarning]


@pytest.mark.parametrize("kind", [GradientSiftRegressor, GradientSiftClassifier])
def test_a_fit_warns_once_of_samples_measured_twice(rng, kind):
    X, y = measured_twice(rng)
    y = y if kind is GradientSiftRegressor else y > 0
    (said,) = repeats_said(X, y, kind)
    assert said.startswith("80 of 80 rows are repeated measurements of a sample, or copies")
    assert "(such as row 0 and row 40)" in said
    assert "Pass groups= with one label for all rows of a sample" in said
    assert repeats_said(X, y, kind, groups=np.tile(np.arange(40), 2)) == []


def test_a_fit_warns_of_copied_rows_and_not_of_others(rng):
    X = rng.normal(size=(80, 20))
    y = X[:, 0] + rng.normal(size=80)
    assert repeats_said(X, y) == []
    rows = [*range(80), 3, 17, 40, 55]
    (said,) = repeats_said(X[rows], y[rows])
    assert said.startswith("8 of 84 rows")


def test_a_fit_does_not_warn_of_spectra(rng):
    place = np.linspace(0.0, 1.0, 100)
    peaks = np.exp(-np.square((place - np.linspace(0.0, 1.0, 5)[:, None]) / 0.2))
    X = rng.normal(size=(80, 5)) @ peaks + 0.002 * rng.normal(size=(80, 100))
    assert repeats_said(X, X[:, 10] + rng.normal(size=80)) == []
