"""Sums by genotype from packed bytes: the same statistics as from numbers read one by one."""

from dataclasses import replace

import numpy as np
import pytest

from gradsift.data import ScaledSource, checked, measure_scaling, open_source, take_rows
from gradsift.data.formats.bed import TOGETHER, packed_sums
from gradsift.data.source import ColumnsSource, NamedSource
from gradsift.exceptions import ImputedWarning
from gradsift.protocols import Source
from gradsift.sift.features import Columns
from gradsift.sift.rows import make_rows

pytest.importorskip("bed_reader")
pytestmark = pytest.mark.filterwarnings("ignore::gradsift.exceptions.ImputedWarning")

N, P = 503, 300


@pytest.fixture(scope="module")
def genotypes():
    rng = np.random.default_rng(0)
    calls = rng.binomial(2, rng.uniform(0.002, 0.9, P), (N, P)).astype(float)
    calls[rng.random((N, P)) < 0.03] = np.nan
    calls[:, 7], calls[:, 8] = 1.0, np.nan  # no change; no call
    return calls


@pytest.fixture(scope="module")
def source(genotypes, tmp_path_factory):
    from bed_reader import to_bed

    path = tmp_path_factory.mktemp("bed") / "calls.bed"
    to_bed(path, genotypes)
    return open_source(path)


class Slow(Source):
    """The same table without the fast way."""

    def __init__(self, base):
        self.base = base

    shape = property(lambda self: self.base.shape)
    expects_missing = property(lambda self: True)

    def columns(self, index):
        return self.base.columns(index)

    def blocks(self):
        return self.base.blocks()


def test_sums_are_those_of_the_calls_one_by_one(source, genotypes):
    D = np.column_stack([np.ones(N), np.random.default_rng(1).normal(size=(N, 2))])
    parts = list(source.genotype_sums(D))
    found = np.concatenate([sums for _, sums in parts], axis=1)
    wanted = np.stack([(genotypes == copies).T @ D for copies in range(3)])
    assert np.array_equal(found[:, :, 0], wanted[:, :, 0])  # counts are exact
    assert np.abs(found - wanted).max() < 1e-5 * np.abs(D).sum(axis=0).max()


@pytest.mark.parametrize("n", [1, 4, 503, 4_001])
@pytest.mark.parametrize("called", [True, False])
def test_sums_of_packed_calls_of_any_length(n, called):
    """The last byte of a variant has room for more samples than there are."""
    rng = np.random.default_rng(n)
    codes = rng.choice([0, 2, 3] if called else 4, size=(150, -(-n // 4) * 4))
    codes[:, n:], codes[3, :n] = 0, 3
    codes[4, :n] = 0 if called else 1
    packed = (codes.reshape(150, -1, 4) << np.array([0, 2, 4, 6])).sum(axis=2).astype(np.uint8)
    D = np.zeros((codes.shape[1], 2))
    D[:n] = np.column_stack([np.ones(n), rng.normal(size=n)])
    wanted = np.stack([(codes == code) @ D for code in (3, 2, 0)])
    found = packed_sums(D, packed)
    assert np.array_equal(found[:, :, 0], wanted[:, :, 0])
    assert np.abs(found - wanted).max() <= 1e-5 * np.abs(D).sum(axis=0).max()
    some = packed_sums(D, packed[TOGETHER:])  # another part of the same table
    assert np.array_equal(some, found[:, TOGETHER:])


@pytest.mark.parametrize("weighted", [False, True])
def test_statistics_and_scales_are_those_of_any_table(source, weighted):
    rng = np.random.default_rng(2)
    weight = rng.integers(0, 3, N).astype(float) if weighted else None
    rows = make_rows(N, weight)
    R = rng.normal(size=(rows.count, 2))
    share = np.full(N, 1.0 / N) if weight is None else weight / weight.sum()
    found = []
    for table in (source, Slow(source)):
        scaling = measure_scaling(table, share)
        standard = ScaledSource(table, replace(scaling, fill=None))
        found.append((scaling.mean, scaling.scale, Columns(standard, rows).statistics(R)[:2]))
    for fast, slow in zip(*found, strict=True):
        np.testing.assert_allclose(fast, slow, rtol=1e-5, atol=1e-5)


def test_missing_calls_are_counted(source, genotypes):
    holes = int(np.isnan(genotypes).sum())
    with pytest.warns(ImputedWarning, match=f"^{holes} of"):
        measure_scaling(source, np.full(N, 1.0 / N))


def test_views_of_rows_columns_and_names_pass_it_on(source, genotypes):
    rows, columns = np.arange(5, N, 3), np.array([0, 3, 299])
    some = checked(ColumnsSource(take_rows(source, rows), columns), "error")
    view = NamedSource(some, [f"v{k}" for k in range(P)])
    D = np.random.default_rng(3).normal(size=(len(rows), 1))
    ((where, sums),) = view.genotype_sums(D)
    wanted = np.stack([(genotypes[np.ix_(rows, columns)] == k).T @ D for k in range(3)])
    assert where == slice(0, 3)
    np.testing.assert_allclose(sums, wanted, atol=1e-4)
