"""What every source and every view of a source promises."""

import importlib
import pkgutil
from dataclasses import dataclass

import dask.array as da
import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse
from stored_tables import FORMATS, NAMED, NAMES, N, P, X

import gradsift.data
from gradsift._run.passes import each_block
from gradsift.data import (
    ArraySource,
    CheckedSource,
    CutSource,
    NamedSource,
    RowsSource,
    ScaledSource,
    Scaling,
    Source,
    identity_scaling,
    open_source,
    stack_rows,
    take_rows,
)
from gradsift.data.plink_samples import GenotypeFile
from gradsift.data.row_groups import GroupMeans
from gradsift.data.source import (
    BesideSource,
    ColumnsSource,
    LabelledRows,
    SourceView,
    StackedSource,
)
from gradsift.data.stored_passes import StoredPasses
from gradsift.solver import Problem

HALF = np.arange(0, N, 2)
PAIRS = np.arange(N) // 2
SOME = np.sort(np.r_[np.arange(8, P), np.arange(20, 28)])
"""Columns of a view: none of the first, some twice, and again P of them."""
SCALING = Scaling(X.mean(axis=0), X.std(axis=0))
FILLING = Scaling(X.mean(axis=0), X.std(axis=0), fill=X.mean(axis=0))


class Small(Source):
    """The least a user has to write."""

    shape = (N, P)

    def columns(self, index):
        return X[:, index]

    def blocks(self):
        for start in range(0, P, 8):
            yield slice(start, min(start + 8, P)), X[:, start : start + 8]


@dataclass(frozen=True)
class Promise:
    """What a source should say of itself."""

    source: Source
    values: np.ndarray
    names: list | None = None
    array: bool = False
    remote: bool = False
    bytes: int | None = None  # None = 8 for each value
    missing: bool = False


def plain(name, folder):
    """A source that is no view, opened from every kind of storage."""
    if name == "array":
        return Promise(ArraySource(X), X, array=True)
    if name == "array of float32":
        return Promise(ArraySource(X.astype(np.float32), 7), X, array=True)
    if name == "a user's own":
        return Promise(Small(), X)
    data = FORMATS[name](folder)
    source = open_source(data)
    in_sparse = name in ("csc", "csr", "coo", "anndata csr", "h5ad csr")
    return Promise(
        source,
        X,
        names=NAMES if name.startswith(NAMED) else None,
        array=name == "anndata",
        remote=name.startswith("dask"),
        bytes=bytes_of(sparse.csc_array(X)) if in_sparse else None,
        missing=name in ("bed", "pgen", "bgen"),
    )


def bytes_of(matrix):
    """What a matrix takes: two arrays with an entry each for what is not zero, one for columns."""
    return matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes


def half(number):
    return None if number is None else number // 2


VIEWS = {
    "named": lambda b: Promise(
        NamedSource(b.source, [f"own{k}" for k in range(P)]), b.values,
        [f"own{k}" for k in range(P)], b.array, b.remote, b.bytes, b.missing,
    ),
    "rows": lambda b: Promise(
        RowsSource(b.source, HALF), b.values[HALF],
        b.names, False, b.remote, half(b.bytes), b.missing,
    ),
    "labelled rows": lambda b: Promise(
        LabelledRows(b.source, HALF), b.values[HALF],
        b.names, False, b.remote, half(b.bytes), b.missing,
    ),
    "some columns": lambda b: Promise(
        ColumnsSource(b.source, SOME), b.values[:, SOME],
        [f"x{k}" if b.names is None else b.names[k] for k in SOME],
        False, b.remote, b.bytes, b.missing,
    ),
    "stacked": lambda b: Promise(
        StackedSource(b.source, ArraySource(X[:5])), np.vstack([b.values, X[:5]]),
        b.names, False, False, None if b.bytes is None else b.bytes + 8 * 5 * P, b.missing,
    ),
    "beside": lambda b: Promise(
        BesideSource(b.source, X[:, :2] + 1.0), np.hstack([b.values, X[:, :2] + 1.0]),
        None, False, b.remote, None if b.bytes is None else b.bytes + 8 * 2 * N, b.missing,
    ),
    "scaled": lambda b: Promise(
        ScaledSource(b.source, SCALING), SCALING.apply(b.values),
        b.names, False, b.remote, b.bytes, b.missing,
    ),
    "scaled and filled": lambda b: Promise(
        ScaledSource(b.source, FILLING), SCALING.apply(b.values),
        b.names, False, b.remote, b.bytes, False,
    ),
    "filled": lambda b: Promise(
        ScaledSource(b.source, identity_scaling(P, X.mean(axis=0))), b.values,
        b.names, False, b.remote, b.bytes, False,
    ),
    "cut": lambda b: Promise(
        CutSource(b.source, 0.5), np.clip(b.values, -0.5, 0.5),
        b.names, False, b.remote, b.bytes, b.missing,
    ),
    "means of groups": lambda b: Promise(
        GroupMeans(b.source, PAIRS), (b.values[::2] + b.values[1::2]) / 2,
        b.names, False, b.remote, half(b.bytes), b.missing,
    ),
    "checked": lambda b: Promise(
        CheckedSource(b.source, True), b.values, b.names, False, b.remote, b.bytes, b.missing,
    ),
}  # fmt: skip
PLAIN = ["array", "array of float32", "a user's own", *FORMATS]
CASES = [
    *((name, None) for name in PLAIN),
    *((name, view) for name in ("array", "csc", "parquet", "bed", "dask") for view in VIEWS),
]


def case_id(case):
    return case[0] if case[1] is None else f"{case[1]} {case[0]}"


@pytest.fixture(params=CASES, ids=case_id)
def promise(request, tmp_path):
    name, view = request.param
    found = plain(name, tmp_path)
    return found if view is None else VIEWS[view](found)


def total_of(block):
    return block.sum(axis=0)


def test_blocks_tile_the_columns_and_equal_them(promise):
    source, values = promise.source, promise.values
    assert isinstance(source, Source)
    assert source.shape == values.shape
    at = 0
    for where, block in source.blocks():
        assert where.start == at  # in order, no gap, no overlap
        assert block.dtype == np.float64
        assert block.shape == (len(values), where.stop - where.start)
        np.testing.assert_array_equal(block, source.columns(np.arange(where.start, where.stop)))
        np.testing.assert_allclose(block, values[:, where], rtol=1e-12)
        at = where.stop
    assert at == values.shape[1]


def test_columns_in_any_order_and_more_than_once(promise):
    index = np.array([7, 0, 29, 3, 7])
    found = promise.source.columns(index)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, promise.values[:, index], rtol=1e-12)
    assert promise.source.columns(np.array([], dtype=int)).shape == (len(promise.values), 0)


def test_the_same_bits_twice(promise):
    first, second = list(promise.source.blocks()), list(promise.source.blocks())
    assert [where for where, _ in first] == [where for where, _ in second]
    for (_, a), (_, b) in zip(first, second, strict=True):
        assert a.tobytes() == b.tobytes()


def test_names(promise):
    index = np.array([7, 0, 29, 3, 7])
    assert promise.source.names() == promise.names
    some = promise.names and [promise.names[k] for k in index]
    assert promise.source.names(index) == some


def test_in_memory_or_not(promise):
    array = promise.source.array
    assert (array is not None) == promise.array
    if array is not None:
        np.testing.assert_array_equal(array, promise.values)


def test_passes_run_where_the_blocks_lie(promise):
    assert (promise.source.runner is not None) == promise.remote
    for width in (None, 4):
        at = 0
        for where, total in each_block(promise.source, lambda _: total_of, width=width):
            assert where.start == at
            np.testing.assert_allclose(total, promise.values[:, where].sum(axis=0), atol=1e-10)
            at = where.stop
        assert at == promise.values.shape[1]


def test_bytes_held(promise):
    n, p = promise.values.shape
    assert promise.source.held_bytes == (8 * n * p if promise.bytes is None else promise.bytes)


def test_missing_values_expected_or_not(promise):
    assert promise.source.expects_missing is promise.missing


def test_row_subsets(promise):
    rows = np.array([9, 1, 4])
    taken = take_rows(promise.source, rows)
    np.testing.assert_allclose(
        taken.columns(np.arange(taken.shape[1])), promise.values[rows], rtol=1e-12
    )
    assert taken.names() == promise.names
    assert taken.expects_missing is promise.missing
    assert take_rows(promise.source, np.arange(len(promise.values))) is promise.source
    both = stack_rows(promise.source, taken)
    assert both.shape == (len(promise.values) + 3, promise.values.shape[1])
    assert both.names() == promise.names


def test_values_for_rows_of_the_file(promise):
    """Weights given for all rows follow the rows that have a response, and no others."""
    source = promise.source
    values = np.arange(float(N))
    expected = values[HALF] if isinstance(source, LabelledRows) else values
    np.testing.assert_array_equal(source.align_rows(values), expected)
    np.testing.assert_array_equal(CheckedSource(source).align_rows(values), expected)


def test_a_problem_can_be_made_of_it(promise, monkeypatch):
    monkeypatch.setattr("gradsift.solver.problem.LEAST_COLUMNS", 1)
    screen = Problem(promise.source, None, None).screen
    assert (screen is not None) == promise.array


def subclasses(kind):
    return {kind}.union(*(subclasses(c) for c in kind.__subclasses__()))


def test_every_source_of_the_package_is_in_the_list(tmp_path):
    for module in pkgutil.walk_packages(gradsift.data.__path__, "gradsift.data."):
        importlib.import_module(module.name)
    ours = {kind for kind in subclasses(Source) if kind.__module__.startswith("gradsift.")}
    tried = set()
    for name in PLAIN:
        folder = tmp_path / name
        folder.mkdir()
        source = plain(name, folder).source
        tried.add(type(source.base if isinstance(source, SourceView) else source))
    tried |= {type(view(Promise(ArraySource(X), X)).source) for view in VIEWS.values()}
    # others inherit from three of them, and stored passes have tests of their own
    assert ours - tried == {Source, SourceView, GenotypeFile, StoredPasses}


def test_what_has_the_methods_but_not_the_class_gets_advice():
    class Alike:
        shape, columns, blocks = Small.shape, Small.columns, Small.blocks

    with pytest.raises(TypeError, match=r"inherits gradsift\.data\.Source"):
        open_source(Alike())


def test_filled_views_of_dask_run_where_the_chunks_are():
    holed = np.where(X == 2.0, np.nan, X)
    base = open_source(da.from_array(holed, chunks=(20, 7)))
    source = ScaledSource(base, identity_scaling(P, np.full(P, 5.0)))
    assert source.runner is not None
    found = np.concatenate([total for _, total in each_block(source, lambda _: total_of)])
    np.testing.assert_allclose(found, np.where(X == 2.0, 5.0, X).sum(axis=0))


def test_problem_of_an_arrow_table():
    """It crashed once: `table` of this source was not the table in memory."""
    wide = open_source(pa.table({f"c{k}": np.arange(4.0) for k in range(2_100)}))
    assert Problem(wide, None, None).screen is None
