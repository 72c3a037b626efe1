"""Sums by genotype from stored calls: the same statistics as from numbers read one by one."""

from dataclasses import replace

import numpy as np
import pytest
from stored_tables import write_pgen

from gradsift.data import ScaledSource, checked, measure_scaling, open_source, take_rows
from gradsift.data.formats.bed import packed_sums
from gradsift.data.formats.pgen import RECORD_BLOCK
from gradsift.data.plink_samples import PART, TOGETHER
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


def write_bed(folder, X):
    from bed_reader import to_bed

    to_bed(folder / "calls.bed", X)
    return folder / "calls.bed"


def write_calls(folder, X):
    return write_pgen(folder, X, [f"g{k}" for k in range(X.shape[1])], dosage_present=False)


WRITE = {"bed": write_bed, "pgen": write_calls}


@pytest.fixture(scope="module", params=WRITE)
def source(request, genotypes, tmp_path_factory):
    return open_source(WRITE[request.param](tmp_path_factory.mktemp("calls"), genotypes))


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


@pytest.mark.parametrize("called", [True, False])
def test_hard_calls_of_plink_2_in_parts(called, tmp_path):
    """More samples and variants than are unpacked at a time; parts have the bits of the whole."""
    rng = np.random.default_rng(6)
    n, p = PART + 1, 3 * TOGETHER + 5
    calls = rng.binomial(2, 0.3, (n, p)).astype(float)
    if not called:
        calls[rng.random((n, p)) < 0.01] = np.nan
    D = np.column_stack([np.ones(n), rng.normal(size=n)])
    source = open_source(write_calls(tmp_path, calls))
    ((_, found),) = source.genotype_sums(D)
    wanted = np.stack([(calls == copies).T @ D for copies in range(3)])
    assert np.array_equal(found[:, :, 0], wanted[:, :, 0])
    assert np.abs(found - wanted).max() < 1e-5 * np.abs(D).sum(axis=0).max()
    where = slice(TOGETHER, 2 * TOGETHER)
    assert np.array_equal(next(source.genotype_sums(D, where))[1], found[:, where])


def test_files_with_a_dosage_are_read_as_dosages(tmp_path):
    p = RECORD_BLOCK + 3  # types of records in two places of the header
    X = np.ones((4, p))
    names = [f"g{k}" for k in range(p)]
    D = np.ones((4, 1))
    path = write_pgen(tmp_path, X, names)
    assert open_source(path).genotype_sums(D) is not None  # room for dosages, none there
    for place in (5, p - 1):
        X[1, place] = 0.4
        path = write_pgen(tmp_path, X, names)
        assert open_source(path).genotype_sums(D) is None
        X[1, place] = 1.0


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
