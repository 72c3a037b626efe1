"""One table, stored in every format: the same columns, the same answers."""

import pickle

import dask.array as da
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from bed_reader import to_bed
from helpers import REFIT_TOL, assert_same_answer, assert_same_sums
from scipy import sparse
from sklearn.base import clone
from stored_tables import FORMATS, NAMED, NAMES, N, P, X, Y, annotated, write_bed

from gradsift import (
    GradientSelector,
    GradientSiftRegressor,
    SolverSettings,
    SparseGradientRegressor,
    gradient_path,
)
from gradsift.data import Source, annotate, open_source, read_target
from gradsift.exceptions import ImputedWarning, SkippedColumnsWarning

TOL = 1e-9


@pytest.fixture(params=FORMATS)
def stored(request, tmp_path):
    return request.param, FORMATS[request.param](tmp_path)


@pytest.mark.parametrize("width", [1, 4, 100])
def test_blocks_and_columns(stored, width, monkeypatch):
    formats = ("memmap", "sparse", "arrow", "zarr", "anndata", "dask")
    # the source last: a module that is imported here must not keep its changed function for good
    for module in (*(f"formats.{name}" for name in formats), "plink_samples", "source"):
        monkeypatch.setattr(f"gradsift.data.{module}.block_width", lambda n: width)
    name, data = stored
    source = open_source(data)
    assert isinstance(source, Source)
    assert source.shape == (N, P)
    at = 0
    for where, block in source.blocks():
        assert where.start == at
        assert block.dtype == np.float64
        np.testing.assert_array_equal(block, X[:, where])
        at = where.stop
    assert at == P
    index = np.array([7, 0, 29, 3, 7])
    np.testing.assert_array_equal(source.columns(index), X[:, index])
    assert source.columns(np.array([], dtype=int)).shape == (N, 0)
    if name.startswith(NAMED):
        assert source.names() == NAMES
        assert source.names(index) == [NAMES[k] for k in index]
    else:
        assert source.names() is None


@pytest.fixture(scope="module")
def answers():
    """What each method finds in the plain array."""
    sift = GradientSiftRegressor().fit(X, Y)
    assert sift.get_support(indices=True).tolist() == [3, 7]
    return {
        "sift": sift,
        "sparse": SparseGradientRegressor(solver=SolverSettings(tol=TOL)).fit(X, Y),
        "path": gradient_path(X, Y, n_alphas=4, tol=TOL),
    }


@pytest.mark.parametrize("family", ["sift", "sparse"])
def test_the_same_model_from_every_format(stored, family, answers):
    name, data = stored
    expected = answers[family]
    model = clone(expected).fit(data, Y)
    tol = REFIT_TOL if family == "sift" else TOL
    np.testing.assert_array_equal(model.get_support(), expected.get_support())
    np.testing.assert_array_equal(model.ranking_, expected.ranking_)
    for attribute in ("mean_", "scale_"):
        assert_same_sums(getattr(model, attribute), getattr(expected, attribute))
    for attribute in ("feature_importances_", "components_"):
        assert_same_answer(getattr(model, attribute), getattr(expected, attribute), tol)
    if family == "sift":
        assert_same_answer(model.sift_.scores, expected.sift_.scores, TOL)
    # any format of the same columns will do afterwards
    for new in (data, pd.DataFrame(X, columns=NAMES) if name.startswith(NAMED) else X):
        for method in ("predict", "transform", "gradient"):
            assert_same_answer(getattr(model, method)(new), getattr(expected, method)(X), tol)
    if name.startswith(NAMED):
        assert model.feature_names_in_.tolist() == NAMES
    assert model.n_features_in_ == P


def test_the_same_path_from_every_format(stored, answers):
    path, expected = gradient_path(stored[1], Y, n_alphas=4, tol=TOL), answers["path"]
    for a, b in zip(path.supports, expected.supports):
        np.testing.assert_array_equal(a, b)
    assert_same_answer(path.importances, expected.importances, TOL)


def test_float32_agrees(tmp_path):
    """Values that float32 cannot hold: the same support, scores to 1e-4."""
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(80, 25))
    y = np.sin(2 * Z[:, 3]) + Z[:, 8] ** 2 + 0.1 * rng.normal(size=80)
    np.save(tmp_path / "z.npy", Z.astype(np.float32))
    full = GradientSiftRegressor().fit(Z, y)
    single = GradientSiftRegressor().fit(tmp_path / "z.npy", y)
    np.testing.assert_array_equal(single.get_support(), full.get_support())
    np.testing.assert_allclose(single.sift_.scores, full.sift_.scores, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", ["parquet", "zarr", "bed", "pgen", "bgen", "npy by rows", "csc"])
def test_sources_and_models_can_be_pickled(name, tmp_path):
    source = open_source(FORMATS[name](tmp_path))
    again = pickle.loads(pickle.dumps(source))
    np.testing.assert_array_equal(again.columns(np.arange(P)), X)


def test_response_by_name(tmp_path):
    frame = pa.table({**dict(zip(NAMES, X.T)), "y": Y, "id": [f"s{i}" for i in range(N)]})
    pq.write_table(frame, tmp_path / "t.parquet")
    with pytest.warns(SkippedColumnsWarning, match=r"left out 1 column\(s\).*'id'"):
        model = GradientSiftRegressor().fit(tmp_path / "t.parquet", "y")
    assert model.get_support(indices=True).tolist() == [3, 7]
    assert "y" not in model.feature_names_in_
    model = GradientSiftRegressor().fit(annotated(), "y")
    assert model.get_support(indices=True).tolist() == [3, 7]
    with pytest.raises(ValueError, match="obs has no such column"):
        read_target(annotated(), "age")
    with pytest.raises(ValueError, match="no such column"):
        read_target(frame, "age")
    with pytest.raises(ValueError, match="holds no response: pass the values of y"):
        GradientSiftRegressor().fit(sparse.csc_array(X), "y")


def test_no_calls_in_genotypes_are_filled_and_said_so(tmp_path):
    holed = X.copy()
    holed[::9, 3] = np.nan
    holed[5, 11] = np.nan
    path = tmp_path / "x.bed"
    to_bed(path, holed, properties={"sid": NAMES})
    with pytest.warns(ImputedWarning, match="8 of 1800 values are missing") as said:
        model = GradientSiftRegressor(missing="error").fit(path, Y)
    assert len(said) == 1
    expected = GradientSiftRegressor(missing="mean").fit(holed, Y)
    assert_same_answer(model.sift_.scores, expected.sift_.scores, TOL)
    assert_same_answer(model.predict(path), expected.predict(holed), REFIT_TOL)


def test_bed_that_does_not_fit_its_samples(tmp_path):
    path = write_bed(tmp_path)
    fam = path.with_suffix(".fam")
    fam.write_text("\n".join(fam.read_text().splitlines()[:41]) + "\n")
    with pytest.raises(ValueError, match=r"does not fit its \.fam file of 41 samples"):
        open_source(path)
    path.with_suffix(".bim").unlink()
    with pytest.raises(FileNotFoundError, match=r"x\.bim.*three files"):
        open_source(path)


@pytest.mark.parametrize(("n", "listed"), [(58, 57), (59, 57), (60, 59), (60, 57), (2, 1)])
def test_bed_whose_fam_file_is_cut_short_by_less_than_a_byte(n, listed, tmp_path):
    path = tmp_path / "x.bed"
    to_bed(path, X[:n], properties={"sid": NAMES})
    assert open_source(path).shape == (n, P)
    fam = path.with_suffix(".fam")
    fam.write_text("\n".join(fam.read_text().splitlines()[:listed]) + "\n")
    with pytest.raises(ValueError, match=rf"more than the {listed} samples of its \.fam file"):
        open_source(path)


@pytest.mark.parametrize("n", range(1, 9))
def test_bed_of_any_number_of_samples(n, tmp_path):
    calls = np.where(X[:n] == 2, np.nan, X[:n])
    to_bed(tmp_path / "x.bed", calls)
    np.testing.assert_array_equal(open_source(tmp_path / "x.bed").columns(np.arange(P)), calls)


def test_a_mapped_file_is_given_back_after_each_block(tmp_path):
    """Pages read from a map count as ours until they are unmapped."""
    resource = pytest.importorskip("resource")
    path = tmp_path / "big.npy"
    np.save(path, np.ones((1000, 20_000), dtype=np.float32))
    source = open_source(path)
    next(source.blocks())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in source.blocks():
        pass
    source.columns(np.arange(0, 20_000, 100))
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 50 * 1024  # kB; the file has 80 MB


def test_unknown_things_are_refused_with_a_way_out(tmp_path):
    with pytest.raises(ValueError, match=r"format of 'x\.csv'.*gradsift.data.convert"):
        open_source("x.csv")
    with pytest.raises(ValueError, match="only Parquet and Arrow tables hold more than X"):
        open_source(sparse.csc_array(X), exclude=["y"])
    np.save(tmp_path / "flat.npy", np.ones(3))
    with pytest.raises(ValueError, match=r"shape \(3,\).*two dimensions"):
        open_source(tmp_path / "flat.npy")
    with pytest.raises(ValueError, match="unknown size"):
        open_source(da.from_array(X, chunks=(20, 7))[da.from_array(X[:, 0], chunks=20) > 0])


@pytest.mark.parametrize("matrix", [X, sparse.csr_matrix(X)], ids=["dense", "csr"])
def test_results_written_back_into_anndata(matrix):
    table = annotated(matrix)
    model = GradientSiftRegressor().fit(table, "y")
    assert annotate(table, model) is table
    assert table.var_names[table.var["gradsift_selected"]].tolist() == ["g3", "g7"]
    np.testing.assert_array_equal(table.var["gradsift_score"], model.feature_importances_)
    np.testing.assert_array_equal(table.varm["gradsift_edr"], model.components_.T)
    np.testing.assert_array_equal(table.obsm["X_gradsift"], model.transform(X_named()))


def X_named():
    return pd.DataFrame(X, columns=NAMES)


def test_selector_keeps_columns_of_any_format(stored, answers):
    selector = GradientSelector(answers["sift"])
    selector.estimator_ = answers["sift"]
    selector.ranking_ = answers["sift"].ranking_
    selector.n_features_in_ = P
    kept = selector.transform(stored[1])
    kept = kept.toarray() if sparse.issparse(kept) else kept
    np.testing.assert_array_equal(kept, X[:, [3, 7]])
