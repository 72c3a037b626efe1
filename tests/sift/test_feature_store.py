"""Features of one byte, and exact ones made on demand."""

import numpy as np
import pytest
from helpers import assert_same_sums

from gradsift.data import ArraySource, Source
from gradsift.sift import features, sift
from gradsift.sift.features import Columns, DenseFeatures, QuantisedFeatures
from gradsift.sift.rows import make_rows


def columns_of_every_kind(n, seed=0):
    rng = np.random.default_rng(seed)
    X = np.concatenate(
        [
            rng.normal(size=(n, 60)),
            rng.lognormal(size=(n, 20)),
            rng.standard_t(3, size=(n, 20)),
            rng.binomial(2, 0.2, size=(n, 20)).astype(float),
            (rng.random((n, 20)) < 0.05).astype(float),
            rng.poisson(1.0, size=(n, 10)).astype(float),
        ],
        axis=1,
    )
    scale = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(scale > 0, scale, 1.0)


def both(X, rows, monkeypatch):
    """The same columns coded, and kept as they are."""
    where = np.arange(X.shape[1])
    coded = Columns(ArraySource(X), rows).stored(where)
    with monkeypatch.context() as patch:
        patch.setattr(features, "KEPT_COLUMNS", 10**6)
        kept = Columns(ArraySource(X), rows).stored(where)
    assert isinstance(coded, QuantisedFeatures)
    assert isinstance(kept, DenseFeatures)
    return coded, kept


@pytest.mark.parametrize("n", [40, 150, 2_000])
@pytest.mark.parametrize("q", [1, 3])
def test_rounding_moves_a_statistic_by_a_hundredth_of_its_noise(n, q, monkeypatch):
    coded, kept = both(columns_of_every_kind(n), make_rows(n, None), monkeypatch)
    rng = np.random.default_rng(1)
    R, mix = rng.normal(size=(n, 4 * q)), np.eye(4 * q).reshape(4 * q, 4, q).transpose(1, 0, 2)
    rough, exact = coded.squares(R, mix), kept.squares(R, mix)
    few = slice(100, 140)  # columns of three values keep no local features
    exact[:, 2, few] = rough[:, 2, few]
    error = np.sqrt(rough / n) - np.sqrt(exact / n)  # a chi: its noise is about 1
    assert rough.shape == (4, 3, 150)
    assert 0 < np.sqrt(np.mean(error**2)) < 0.02
    assert np.abs(error).max() < 0.2


def test_mixtures_of_columns_are_residuals_like_others(monkeypatch):
    rng = np.random.default_rng(2)
    R, mix = rng.normal(size=(90, 5)), rng.normal(size=(3, 5, 2))
    for store in both(columns_of_every_kind(90), make_rows(90, None), monkeypatch):
        one_by_one = [store.squares(R @ one, np.eye(2)[None])[0] for one in mix]
        np.testing.assert_allclose(store.squares(R, mix), one_by_one, rtol=1e-4, atol=1e-4)


def test_fits_get_exact_features(monkeypatch):
    coded, kept = both(columns_of_every_kind(120), make_rows(120, None), monkeypatch)
    wanted = [(3, 0), (3, 2), (140, 1), (70, 2), (3, 0)]
    for _ in range(2):  # made, then remembered
        for a, b in zip(coded.stack(wanted), kept.stack(wanted), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)
    assert set(coded.cache) == set(wanted)


def test_what_was_used_last_is_forgotten_last(monkeypatch):
    coded, _ = both(columns_of_every_kind(60), make_rows(60, None), monkeypatch)
    monkeypatch.setattr(features, "REMEMBERED", 17)
    coded.stack([(0, 2), (1, 2)])
    coded.stack([(0, 2)])
    coded.stack([(5, 2)])
    assert list(coded.cache) == [(0, 2), (5, 2)]
    assert len(coded.stack([(j, 2) for j in range(8)])) == 8  # more than are remembered


def test_counts_are_copies_to_the_last_code(monkeypatch):
    X = columns_of_every_kind(50)
    weight = np.tile([1.0, 3.0], 25)
    copies = np.repeat(np.arange(50), weight.astype(int))
    a, _ = both(X, make_rows(50, weight), monkeypatch)
    b, _ = both(X[copies], make_rows(100, None), monkeypatch)
    for one, other in ((a.plain, b.plain), (a.local, b.local)):
        assert (
            one.codes[:, :, copies] == other.codes
        ).mean() > 0.9999  # but for rounding at an edge
    r, one = np.random.default_rng(0).normal(size=(50, 1)), np.ones((1, 1, 1))
    scaled = r * np.sqrt(weight)[:, None]
    np.testing.assert_allclose(
        a.squares(scaled, one), b.squares(r[copies], one), rtol=1e-2, atol=1e-2
    )


def test_columns_of_three_values_keep_no_local_features(monkeypatch):
    X = columns_of_every_kind(400)
    X[::50, 105] = np.nan  # a no call is no value
    coded, kept = both(X, make_rows(400, None), monkeypatch)
    assert coded.curved.tolist() == [*range(100), *range(140, 150)]
    R, one = np.random.default_rng(0).normal(size=(400, 1)), np.ones((1, 1, 1))
    found, exact = coded.squares(R, one)[0], kept.squares(R, one)[0]
    assert not found[2, 100:140].any()
    np.testing.assert_allclose(found[2], exact[2], atol=0.05 * exact[2].max())
    np.testing.assert_allclose(found[:2], exact[:2], rtol=0.1, atol=0.01 * exact[:2].max())


def test_some_columns_of_a_pool(monkeypatch):
    coded, _ = both(columns_of_every_kind(60), make_rows(60, None), monkeypatch)
    few = coded.only([7, 100])
    R, one = np.random.default_rng(0).normal(size=(60, 1)), np.ones((1, 1, 1))
    # products of single precision, over two columns and over all
    every = coded.squares(R, one)[:, :, [7, 100]]
    np.testing.assert_allclose(few.squares(R, one), every, rtol=1e-4, atol=1e-5 * every.max())
    assert_same_sums(few.stack([(1, 2)])[0], coded.stack([(100, 2)])[0])


def test_long_tables_keep_single_precision(monkeypatch):
    X = columns_of_every_kind(300)[:, :100]
    y = X[:, 0] + X[:, 1] ** 2 + 0.3 * np.random.default_rng(0).normal(size=300)
    double = sift(ArraySource(X), y[:, None])
    monkeypatch.setattr(features, "DOUBLE_VALUES", 100)
    assert Columns(ArraySource(X), make_rows(300, None)).stored(np.arange(9)).Z.dtype == np.float32
    single = sift(ArraySource(X), y[:, None])
    assert single.selected.tolist() == double.selected.tolist()
    np.testing.assert_allclose(single.residual, double.residual, atol=1e-5)


class Elsewhere(Source):
    """A table that is not in memory, and counts how often it is read."""

    def __init__(self, X):
        self.inner, self.reads = ArraySource(X), 0

    @property
    def shape(self):
        return self.inner.shape

    def columns(self, index):
        self.reads += 1
        return self.inner.columns(index)

    def blocks(self):
        return self.inner.blocks()


def test_columns_on_disk_are_read_once():
    source = Elsewhere(columns_of_every_kind(60))
    pool = Columns(source, make_rows(60, None)).stored(np.arange(0, 140))
    reads = source.reads
    pool.stack([(j, 2) for j in range(100)])
    assert reads == source.reads == 1


@pytest.mark.parametrize("seed", range(5))
def test_coded_features_select_the_same(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    X = columns_of_every_kind(200, seed)
    y = X[:, 0] + X[:, 1] ** 2 + np.sin(2 * X[:, 2]) + X[:, 3] * X[:, 105] + 0.5 * X[:, 65]
    y = y + 0.5 * rng.normal(size=200)
    coded = sift(ArraySource(X), y[:, None])
    monkeypatch.setattr(features, "KEPT_COLUMNS", 10**6)
    kept = sift(ArraySource(X), y[:, None])
    assert coded.selected.tolist() == kept.selected.tolist()
    np.testing.assert_allclose(coded.chi_square_tails, kept.chi_square_tails, rtol=1e-6)
    np.testing.assert_allclose(coded.residual, kept.residual, atol=1e-8)
