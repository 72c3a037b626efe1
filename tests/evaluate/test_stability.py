"""The selection repeated on half samples."""

import numpy as np
import pytest

from gradsift import GradientSiftRegressor, SparseGradientRegressor
from gradsift.estimators.splits import half_samples
from gradsift.evaluate import stability


@pytest.fixture
def curved(rng):
    X = rng.normal(size=(120, 12))
    return X, X[:, 2] ** 2 + X[:, 5] + 0.2 * rng.normal(size=120)


def test_signal_comes_back_and_noise_does_not(curved):
    found = stability(GradientSiftRegressor(), *curved, n_subsamples=8, random_state=0)
    assert found.frequencies[[2, 5]].tolist() == [1.0, 1.0]
    assert np.delete(found.frequencies, [2, 5]).max() <= 0.5
    assert found.n_rows == 60
    assert sum(map(len, found.selections)) == pytest.approx(8 * found.frequencies.sum())
    assert found.n_subsamples == 8


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
    found = stability(model, X, y, 3, random_state=0)
    assert [len(s) for s in found.selections] == [0, 0, 0]
    assert found.frequencies.tolist() == [0, 0, 0]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_data_frames_keep_their_names(curved, library):
    lib = pytest.importorskip(library)
    X, y = curved
    frame = lib.DataFrame({f"v{k}": X[:, k] for k in range(12)})
    model = GradientSiftRegressor(always_keep=["v7"])
    found = stability(model, frame, y, 2, random_state=0)
    assert found.frequencies[[2, 7]].tolist() == [1.0, 1.0]


def test_no_subsamples_is_refused(curved):
    with pytest.raises(ValueError, match="at least one half sample"):
        stability(GradientSiftRegressor(), *curved, n_subsamples=0)


def test_near_copies_take_turns(rng):
    """Each of two near-copies comes back sometimes, one or the other always."""
    X = rng.normal(size=(100, 8))
    X[:, 1] = X[:, 0] + 0.05 * rng.normal(size=100)
    y = X[:, 0] + X[:, 1] + rng.normal(size=100)
    found = stability(GradientSiftRegressor(), X, y, 10, random_state=0)
    assert all({0, 1}.intersection(selected.tolist()) for selected in found.selections)
    assert 0 < found.frequencies[0] < 1
