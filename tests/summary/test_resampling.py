"""Half samples and held-out scores."""

import numpy as np
import pytest

from gradsift import GradientSiftClassifier, GradientSiftRegressor, SparseGradientRegressor
from gradsift.summary import held_out, stability
from gradsift.summary.resampling import half_samples


@pytest.fixture
def curved(rng):
    X = rng.normal(size=(120, 12))
    return X, X[:, 2] ** 2 + X[:, 5] + 0.2 * rng.normal(size=120)


def test_signal_comes_back_and_noise_does_not(curved):
    found = stability(GradientSiftRegressor(), *curved, n_subsamples=8, random_state=0)
    assert found.frequencies[[2, 5]].tolist() == [1.0, 1.0]
    assert np.delete(found.frequencies, [2, 5]).max() <= 0.5
    assert found.n_rows == 60
    assert found.sizes.sum() == pytest.approx(8 * found.frequencies.sum())


def test_the_number_of_jobs_changes_nothing(curved):
    X, y = curved
    one = stability(SparseGradientRegressor(), X, y, 4, random_state=3)
    two = stability(SparseGradientRegressor(), X, y, 4, random_state=3, n_jobs=2)
    assert np.array_equal(one.frequencies, two.frequencies)


def test_halves_keep_every_class():
    y = np.array(["rare"] * 3 + ["common"] * 17)
    for rows in half_samples(y, True, 10, 0):
        assert (y[rows] == "rare").sum() == 2
        assert len(rows) == 11
        assert len(np.unique(rows)) == len(rows)


def test_nothing_selected_counts_as_nothing(rng):
    X, y = rng.normal(size=(40, 3)), rng.normal(size=40)
    model = GradientSiftRegressor(false_positives=1e-6)
    assert stability(model, X, y, 3, random_state=0).sizes.tolist() == [0, 0, 0]


def test_data_frames(curved):
    pd = pytest.importorskip("pandas")
    X, y = curved
    frame = pd.DataFrame(X).add_prefix("v")
    found = stability(GradientSiftRegressor(), frame, y, 2, random_state=0)
    assert found.frequencies[2] == 1.0


def test_no_subsamples_is_refused(curved):
    with pytest.raises(ValueError, match="at least one half sample"):
        stability(GradientSiftRegressor(), *curved, n_subsamples=0)


def test_held_out_scores_include_the_selection(rng):
    # 400 columns of noise and random labels: a score with selection outside the folds would be high
    X, y = rng.normal(size=(60, 400)), rng.permutation(np.repeat([0, 1], 30))
    found = held_out(GradientSiftClassifier(), X, y, cv=3)
    assert found.metric == "accuracy"
    assert found.baseline == 0.5
    assert len(found.scores) == 3
    assert found.mean < 0.7


def test_held_out_score_of_numbers(curved):
    found = held_out(GradientSiftRegressor(), *curved, cv=3)
    assert found.metric == "R²"
    assert found.mean > 0.9
