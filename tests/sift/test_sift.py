"""The sift as a whole."""

from dataclasses import dataclass

import numpy as np
import pytest

import gradsift.sift.features as source_module
import gradsift.sift.groups as levels
from gradsift.data import ArraySource, Source
from gradsift.sift import Limits, SiftSettings, sift


def standardised(X):
    sd = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(sd > 1e-12, sd, np.inf)


def run(X, y, labels=False, **settings):
    Y = np.asarray(y, float).reshape(len(X), -1)
    return sift(ArraySource(standardised(np.asarray(X, float))), Y, robust=not labels, **settings)


@pytest.fixture
def data():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(150, 40))
    y = (
        X[:, 3]
        + X[:, 7] ** 2
        + np.sin(3 * X[:, 11])
        + X[:, 20] * X[:, 21]
        + 0.3 * rng.normal(size=150)
    )
    return X, y


def test_finds_linear_quadratic_wave_and_product(data):
    X, y = data
    result = run(X, y)
    assert {3, 7, 11, 20, 21} <= set(result.selected.tolist())
    assert len(result.selected) <= 7
    assert result.interactions[0][:2] == (20, 21)
    assert sorted(result.ranking.tolist()) == list(range(1, 41))
    assert set(np.flatnonzero(result.ranking <= len(result.selected))) == set(
        result.selected.tolist()
    )
    assert (result.chi_square_tails < 0.01).all()


def test_same_bits_every_time(data):
    a, b = run(*data), run(*data)
    assert np.array_equal(a.scores, b.scores)
    assert a.groups == b.groups


def test_permuting_columns_permutes_the_answer(data):
    X, y = data
    order = np.random.default_rng(0).permutation(40)
    a, b = run(X, y), run(X[:, order], y)
    assert sorted(order[b.selected].tolist()) == a.selected.tolist()
    np.testing.assert_allclose(b.scores, a.scores[order], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("width", [1, 7, 40])
def test_blocks_equal_one_block(data, width, monkeypatch):
    """With a pool that cannot hold all columns, whatever the width of the blocks."""
    X, y = data
    whole = run(X, y)
    few = SiftSettings(limits=Limits(most_values=12 * 10 * 150))
    monkeypatch.setattr(source_module, "BLOCK_VALUES", 5 * 10 * 150)
    blocked = sift(ArraySource(standardised(X), width), y[:, None], settings=few)
    assert blocked.selected.tolist() == whole.selected.tolist()


def test_zero_weight_is_a_removed_row(data):
    X, y = data
    keep = np.arange(150) % 5 != 0
    Z = standardised(X)
    a = sift(ArraySource(Z), y[:, None], sample_weight=keep.astype(float))
    b = sift(ArraySource(Z[keep]), y[keep, None])
    assert a.selected.tolist() == b.selected.tolist()
    np.testing.assert_allclose(a.scores, b.scores, rtol=1e-6, atol=1e-8)


def test_counts_are_copies(data):
    X, y = data
    Z = standardised(X)[:60]
    weight = np.tile([1.0, 2.0, 3.0], 20)
    copies = np.repeat(np.arange(60), weight.astype(int))
    a = sift(ArraySource(Z), y[:60, None], sample_weight=weight)
    b = sift(ArraySource(Z[copies]), y[copies, None])
    assert a.selected.tolist() == b.selected.tolist()
    np.testing.assert_allclose(a.scores, b.scores, rtol=1e-3, atol=1e-5)


def test_weights_are_continuous(data):
    """Numbers of samples, whole or not. Every tenth row counts twice: where weights say 300 samples
    and there are 150, any set fits perfectly, and none is more right than another.
    """
    X, y = data
    w = 1.0 + (np.arange(150) % 10 == 0)
    a, b = run(X, y, sample_weight=w), run(X, y, sample_weight=w + 0.001)
    assert a.selected.tolist() == b.selected.tolist()
    np.testing.assert_allclose(a.scores, b.scores, atol=0.01)


def test_always_keep(data):
    X, y = data
    result = run(X, y, always_keep=[0, 30])
    assert {0, 30, 3, 7} <= set(result.selected.tolist())


def test_xor_labels():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 50))
    result = run(X, np.sign(X[:, 0] * X[:, 1]), labels=True)
    assert {0, 1} <= set(result.selected.tolist())
    assert result.interactions[0][:2] == (0, 1)
    assert not run(X, np.sign(X[:, 0] * X[:, 1]), labels=True, interactions=False).interactions


def contrasts(label):
    """Orthonormal class contrasts, (n, C - 1)."""
    indicator = np.eye(label.max() + 1)[label]
    U, _, _ = np.linalg.svd(indicator - indicator.mean(0), full_matrices=False)
    return U[:, : label.max()]


def test_three_classes_one_decision_per_variable():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(240, 60))
    score = np.stack([2 * X[:, 0], 2 * X[:, 1], 1.5 * (X[:, 2] ** 2 - 1)], axis=1)
    label = (score + rng.gumbel(size=score.shape)).argmax(axis=1)
    result = run(X, contrasts(label), labels=True)
    assert set(result.selected.tolist()) >= {0, 1, 2}
    assert len(result.selected) <= 5
    # a rotation of the contrasts changes nothing
    turned = contrasts(label) @ np.array([[0.6, -0.8], [0.8, 0.6]])
    assert run(X, turned, labels=True).selected.tolist() == result.selected.tolist()


@pytest.mark.parametrize("labels", [False, True])
def test_false_positives_are_close_to_nominal(labels):
    false = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        y = rng.normal(size=80)
        X = rng.normal(size=(80, 60))
        false.append(len(run(X, np.sign(y) if labels else y, labels=labels).selected))
    assert 0.05 <= np.mean(false) <= 0.6  # nominal .3; three standard errors are about .25


def test_spiky_columns_neither_bar_nor_are_barred():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(80, 300))
    X[:, 100:] = X[:, 100:] > 2.0
    X[:, 50] = 1.0
    X[:, 60] = rng.binomial(1, 0.5, 80)
    X[:, 70] = rng.binomial(2, 0.3, 80)
    y = X[:, 0] - X[:, 1] + 2 * X[:, 60] + 1.5 * X[:, 70] + 0.5 * rng.normal(size=80)
    result = run(X, y)
    assert {0, 1, 60, 70} <= set(result.selected.tolist())
    assert len(result.selected) <= 6
    assert result.scores[50] <= np.median(result.scores)


def test_outliers_in_the_response():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(150, 80))
    y = X[:, 0] + np.abs(X[:, 1]) + 0.3 * rng.normal(size=150)
    y[:7] += 50 * rng.standard_cauchy(7)
    assert set(run(X, y).selected.tolist()) >= {0, 1}


@pytest.mark.parametrize("n", [3, 5, 12])
def test_very_few_rows(n):
    rng = np.random.default_rng(n)
    result = run(rng.normal(size=(n, 6)), rng.normal(size=n))
    assert np.isfinite(result.scores).all()


def test_constant_response_and_single_column():
    rng = np.random.default_rng(0)
    assert len(run(rng.normal(size=(30, 4)), np.ones(30)).selected) == 0
    x = rng.normal(size=(30, 1))
    assert run(x, x).selected.tolist() == [0]


@dataclass(frozen=True)
class Counting(Source):
    """A source that counts its passes."""

    inner: ArraySource
    passes: list

    @property
    def shape(self):
        return self.inner.shape

    def columns(self, index):
        return self.inner.columns(index)

    def blocks(self):
        self.passes.append(1)
        return self.inner.blocks()


def test_wide_tables_need_few_passes():
    rng = np.random.default_rng(0)
    X = standardised(rng.normal(size=(60, 3000)))
    y = X[:, 5] - X[:, 17] + 0.3 * rng.normal(size=60)
    few = SiftSettings(limits=Limits(most_values=200 * 10 * 60))
    source = Counting(ArraySource(X, 500), [])
    result = sift(source, y[:, None], interactions=False, settings=few)
    assert {5, 17} <= set(result.selected.tolist())
    assert len(source.passes) <= 6


@pytest.mark.parametrize(
    ("settings", "words"),
    [({"false_positives": 0}, "false_positives"), ({"always_keep": [99]}, "always_keep")],
)
def test_bad_settings_are_named(data, settings, words):
    with pytest.raises(ValueError, match=words):
        run(*data, **settings)


def test_all_zero_weights_are_refused(data):
    with pytest.raises(ValueError, match="zero for every row"):
        run(*data, sample_weight=np.zeros(150))


@pytest.mark.parametrize("count", [1, 5, 20, 99, 100])
def test_largest_is_the_head_of_a_stable_sort(count):
    """Ties included: the first of equals are taken."""
    best = np.random.default_rng(0).integers(0, 8, 100).astype(np.float32)
    expected = np.sort(np.argsort(-best, kind="stable")[:count])
    np.testing.assert_array_equal(source_module.largest(best, count), expected)


def test_tails_in_pieces(monkeypatch):
    statistics = np.random.default_rng(0).chisquare(3, size=(3, 50))
    whole = levels.univariate_log_p(statistics, 2, True)
    monkeypatch.setattr(levels, "AT_A_TIME", 7)
    np.testing.assert_array_equal(levels.univariate_log_p(statistics, 2, True), whole)
