"""One meaning of missing, and one way to read text, whatever the source and the command."""

import warnings
from decimal import Decimal

import anndata
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zarr
from bed_reader import to_bed
from stored_tables import write_pgen

from gradsift import GradientSiftClassifier, GradientSiftRegressor, SparseGradientClassifier
from gradsift.data import convert, open_source, read_target
from gradsift.data.formats.registry import read_ids
from gradsift.data.missing import MISSING, as_response, is_missing, known, to_number
from gradsift.exceptions import MissingTargetWarning
from gradsift.tables import Choices, open_table, read_frame

N = 40
RNG = np.random.default_rng(3)
X = RNG.normal(size=(N, 5))
LABELS = np.where(X[:, 2] > 0, "case", "control").astype(object)
HOLES = [1, 7, 30]


def holed(values, mark):
    out = np.array(values, dtype=object)
    out[HOLES] = mark
    return out


@pytest.mark.parametrize(
    "value", [None, np.nan, pd.NA, pd.NaT, np.datetime64("NaT"), *sorted(MISSING)]
)
def test_every_kind_of_hole_is_missing(value):
    assert is_missing(value)
    assert not known(np.array([value, "a"], dtype=object))[0]


@pytest.mark.parametrize("value", ["none", "0", 0, False, "x", Decimal(1), "-1", "a.", np.ones(2)])
def test_what_is_there_is_not_missing(value):
    assert not is_missing(value)


def test_numbers_are_told_from_text():
    assert to_number("1_01") is None
    assert to_number(Decimal("1.5")) == 1.5
    assert to_number(" -3e2 ") == -300.0
    assert np.isnan(to_number(pd.NA))


def test_a_whole_response_is_left_as_it_is():
    for values in (np.array([1, 2]), np.array([True, False]), np.array(["a", "b"], dtype=object)):
        assert as_response(values) is values
    assert as_response(np.array([1, 2], dtype=object)).dtype.kind == "i"
    assert as_response([Decimal("1.5"), None])[0] == 1.5


@pytest.mark.parametrize("token", sorted(MISSING))
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_select_and_convert_read_the_same_text(tmp_path, token, separator):
    """The same tokens, separators, quotes and numbers in both."""
    rows = [
        ["id", '"a, ""b"" ; c"', "x", "y"],
        ["r1", "1", token, "u"],
        ["r2", '"2"', "5", f'"{token}"'],
        ["r3", "3", " 7 ", "v"],
    ]
    path = tmp_path / "t.txt"
    path.write_text("\n".join(separator.join(row) for row in rows) + "\n")
    name = 'a, "b" ; c'
    frame = read_frame(path)
    assert frame.order == ("id", name, "x", "y")
    np.testing.assert_array_equal(frame.numbers, [[1, np.nan], [2, 5], [3, 7]])
    for out in (tmp_path / "t.zarr", tmp_path / "t.parquet"):
        done = convert(path, out, target="y", drop=["id"])
        assert done.names == (name, "x")
        columns = ["y"] if out.suffix == ".parquet" else []
        got = open_source(out, exclude=columns).columns(np.arange(2))
        np.testing.assert_array_equal(got, frame.numbers)
        assert read_target(out, "y").tolist() == frame.texts["y"].tolist() == ["u", None, "v"]


def test_numbers_with_underscores_are_text_for_both(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b_c\n1_01,2\n1_02,3\n")
    assert read_frame(path).texts["a"].tolist() == ["1_01", "1_02"]
    with pytest.raises(ValueError, match=r"line 2: column 'a' holds text \('1_01'\)"):
        convert(path, tmp_path / "t.zarr")


def test_a_converted_response_of_numbers_stays_one_of_numbers(tmp_path):
    text = "a,y\n" + "".join(f"{x},{y if i else 'NA'}\n" for i, (x, y) in enumerate(X[:, :2]))
    (tmp_path / "t.csv").write_text(text)
    for out in (tmp_path / "t.zarr", tmp_path / "t.parquet"):
        convert(tmp_path / "t.csv", out, target="y", dtype="float64")
        np.testing.assert_array_equal(read_target(out, "y")[1:], X[1:, 1])
        table = open_table(out, Choices("y"))
        assert table.recipe.task == "regression"
        np.testing.assert_array_equal(table.y, X[1:, 1])
        assert "1 row without 'y'" in [note.text for note in table.notes]


def adata(labels):
    obs = pd.DataFrame({"label": labels}, index=[f"c{i}" for i in range(N)])
    return anndata.AnnData(X, obs=obs, var=pd.DataFrame(index=list("abcde")))


def h5ad(labels):
    def write(folder):
        adata(labels).write_h5ad(folder / "x.h5ad")
        return folder / "x.h5ad"

    return write


def arrow(labels):
    return lambda _: pa.table({**dict(zip("abcde", X.T)), "label": pa.array(labels, pa.string())})


def stored_zarr(folder):
    stored = zarr.create_array(str(folder / "x.zarr"), shape=X.shape, dtype="float64")
    stored[:] = X
    stored.attrs["target"] = {"label": holed(LABELS, None).tolist()}
    return folder / "x.zarr"


SOURCES = {
    "categories with holes": h5ad(pd.Categorical(holed(LABELS, None))),
    "texts with holes": h5ad(pd.array(holed(LABELS, pd.NA), dtype="string")),
    "the text NA": h5ad(holed(LABELS, "NA")),
    "in memory, pd.NA": lambda _: adata(holed(LABELS, pd.NA)),
    "in memory, nan": lambda _: adata(holed(LABELS, np.nan)),
    "arrow nulls": arrow(holed(LABELS, None).tolist()),
    "arrow texts": arrow(holed(LABELS, "?").tolist()),
    "zarr": stored_zarr,
}


@pytest.mark.filterwarnings("ignore:.*nullable strings.*")
@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("model", [GradientSiftClassifier(), SparseGradientClassifier()])
def test_rows_without_a_label_are_left_out_and_counted(name, model, tmp_path):
    with anndata.settings.override(allow_write_nullable_strings=True):
        data = SOURCES[name](tmp_path)
    with pytest.warns(MissingTargetWarning, match="3 of 40 rows have no 'label'"):
        model.fit(data, "label")
    there = np.setdiff1d(np.arange(N), HOLES)
    expected = type(model)().fit(X[there], LABELS[there])
    assert model.classes_.tolist() == ["case", "control"]
    np.testing.assert_allclose(model.feature_importances_, expected.feature_importances_)


def test_weights_may_cover_the_rows_left_out(tmp_path):
    data = SOURCES["categories with holes"](tmp_path)
    weight = RNG.uniform(0.5, 1.5, N)
    there = np.setdiff1d(np.arange(N), HOLES)
    expected = SparseGradientClassifier().fit(X[there], LABELS[there], weight[there])
    for given in (weight, weight[there]):
        with pytest.warns(MissingTargetWarning):
            model = SparseGradientClassifier().fit(data, "label", given)
        np.testing.assert_allclose(model.feature_importances_, expected.feature_importances_)


@pytest.mark.parametrize("mark", [None, np.nan, pd.NA])
@pytest.mark.parametrize(
    "wrap", [np.array, list, pd.Series, lambda y: pd.Series(y, dtype="category")]
)
def test_missing_labels_in_arrays_are_refused_with_their_count(mark, wrap):
    y = wrap(holed(LABELS, mark))
    for data in (X, open_source(X), adata(LABELS)):
        with pytest.raises(ValueError, match=r"3 of the 40 values of y are missing.*row 1\b"):
            GradientSiftClassifier().fit(data, y)
    numbers = pd.Series(holed(X[:, 0], mark), dtype="Float64")
    with pytest.raises(ValueError, match="3 of the 40 values of y are missing"):
        GradientSiftRegressor().fit(X, numbers)


def test_labels_that_read_like_holes_are_labels_in_arrays():
    y = np.where(X[:, 2] > 0, "-", "NA")
    assert GradientSiftClassifier().fit(X, y).classes_.tolist() == ["-", "NA"]


@pytest.mark.parametrize(
    ("phenotype", "missing"),
    [("-9", HOLES), ("NA", HOLES), ("0", HOLES)],
)
def test_a_phenotype_without_a_value_is_missing(tmp_path, phenotype, missing):
    path = tmp_path / "x.bed"
    to_bed(path, RNG.binomial(2, 0.5, size=(N, 6)).astype(float))
    status = ["2" if x > 0 else "1" for x in X[:, 0]]
    rows = [phenotype if i in missing else status[i] for i in range(N)]
    fam = "".join(f"f{i} s{i} 0 0 1 {value}\n" for i, value in enumerate(rows))
    path.with_suffix(".fam").write_text(fam)
    assert np.flatnonzero(np.isnan(read_target(path, "phenotype"))).tolist() == missing
    table = open_table(path, Choices("phenotype"))
    assert "3 rows without 'phenotype'" in [note.text for note in table.notes]
    assert set(table.y) == {1, 2}
    assert table.X.shape == (N - 3, 6)


def test_zero_is_a_value_of_a_measured_phenotype(tmp_path):
    path = tmp_path / "x.bed"
    to_bed(path, np.zeros((3, 2)))
    path.with_suffix(".fam").write_text("".join(f"f s{v} 0 0 1 {v}\n" for v in (0, 1.5, 2)))
    assert read_target(path, "phenotype").tolist() == [0, 1.5, 2]


def test_a_fam_file_is_read_alike_beside_bed_and_pgen(tmp_path):
    """Texts are categories, and letters say the sex, in both."""
    to_bed(tmp_path / "x.bed", np.zeros((4, 2)))
    pgen, bed = write_pgen(tmp_path, np.zeros((4, 2)), ["a", "b"]), tmp_path / "x.bed"
    pgen.with_suffix(".psam").unlink()
    lines = ["f a 0 0 M case", "f b 0 0 F control", "g c 0 0 0 NA", "g d 0 0 2 -9"]
    pgen.with_suffix(".fam").write_text("\n".join(lines))
    assert read_target(bed, "phenotype").tolist() == ["case", "control", None, None]
    for ours, theirs in (("phenotype", "PHENO1"), ("sex", "SEX"), ("FID", "FID")):
        np.testing.assert_array_equal(read_target(bed, ours), read_target(pgen, theirs))
    np.testing.assert_array_equal(read_target(bed, "sex"), [1.0, 2.0, np.nan, 2.0])
    assert read_ids(bed) == read_ids(pgen) == (list("abcd"), list("ffgg"))
    pgen.with_suffix(".fam").write_text("f a 0 0 1\n" * 4)
    for path in (bed, pgen):
        with pytest.raises(ValueError, match=r"x\.fam, line 1 has 5 columns: expected 6 \(FID,"):
            read_ids(path)


def test_other_files_have_the_same_holes(tmp_path):
    table = pd.DataFrame({"x": X[:, 0], "label": holed(LABELS, "n/a")})
    table.to_excel(tmp_path / "t.xlsx", index=False)
    table.to_parquet(tmp_path / "t.parquet")
    np.savez(tmp_path / "t.npz", X=X, label=holed(LABELS, "n/a").astype(str))
    for path in sorted(tmp_path.iterdir()):
        found = open_table(path, Choices("label"))
        assert len(found.y) == N - 3, path
        assert "3 rows without 'label'" in [note.text for note in found.notes]


def test_a_target_without_any_value_is_refused(tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n1,NA\n2,\n")
    with pytest.raises(ValueError, match="'y' is missing in all 2 rows"):
        open_table(tmp_path / "t.csv", Choices("y"))


def test_decimals_are_numbers(tmp_path):
    values = [Decimal("1.5"), None, Decimal("3.25")]
    table = pa.table({"d": pa.array(values, pa.decimal128(10, 2)), "y": [1.0, 2.0, 4.0]})
    pq.write_table(table, tmp_path / "t.parquet")
    column = read_frame(tmp_path / "t.parquet").column("d")
    np.testing.assert_array_equal(column, [1.5, np.nan, 3.25])
    source = open_source(tmp_path / "t.parquet")
    np.testing.assert_array_equal(source.columns(np.array([0])).ravel(), [1.5, np.nan, 3.25])
    got = read_target(tmp_path / "t.parquet", "d")
    np.testing.assert_array_equal(got, [1.5, np.nan, 3.25])


def test_sparse_frames_stay_sparse():
    Z = np.where(RNG.uniform(size=(60, 8)) < 0.8, 0.0, RNG.normal(size=(60, 8)))
    y = Z[:, 1] + Z[:, 4] + 0.1 * RNG.normal(size=60)
    frame = pd.DataFrame(Z, columns=list("abcdefgh"))
    expected = GradientSiftRegressor().fit(frame, y)
    for fill in (0.0, np.nan):
        stored = frame.astype(pd.SparseDtype(float, fill))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model = GradientSiftRegressor().fit(stored, y)
            assert model.feature_names_in_.tolist() == list("abcdefgh")
            np.testing.assert_allclose(model.predict(stored), expected.predict(frame), atol=1e-6)


TABLE = {"a": ["1", "NA", "3", "4"], "b": ["5", "6", "7", "8.5"], "y": ["1.5", "2.5", "4", "?"]}


def test_files_and_frames_agree_on_what_is_missing(tmp_path):
    """The same holes in text, a workbook, Parquet and a frame."""
    text = ",".join(TABLE) + "\n" + "".join(",".join(row) + "\n" for row in zip(*TABLE.values()))
    (tmp_path / "t.csv").write_text(text)
    frame = pd.read_csv(tmp_path / "t.csv", na_values=sorted(MISSING))
    frame.to_excel(tmp_path / "t.xlsx", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    holes = np.isnan(frame.to_numpy())
    for path in sorted(tmp_path.iterdir()):
        np.testing.assert_array_equal(np.isnan(read_frame(path).numbers), holes)
    with pytest.raises(ValueError, match=r"missing"):
        GradientSiftRegressor(missing="error").fit(frame[["a", "b"]], frame["y"])


def test_frames_with_columns_that_share_a_name_are_refused():
    frame = pd.DataFrame(X[:, :2], columns=["a", "a"])
    with pytest.raises(ValueError, match=r"names are not unique: 'a'"):
        GradientSiftRegressor().fit(frame, X[:, 2])


def test_files_and_frames_agree_on_what_is_text(tmp_path):
    cells = ["low", *map(str, X[1:, 0])]
    (tmp_path / "t.csv").write_text("a,y\n" + "".join(f"{a},{y}\n" for a, y in zip(cells, X[:, 1])))
    table = open_table(tmp_path / "t.csv", Choices("y"))
    assert any("'low'" in note.text and note.columns == ("a",) for note in table.notes)
    with pytest.raises(ValueError, match=r"line 2: column 'a' holds text \('low'\)"):
        convert(tmp_path / "t.csv", tmp_path / "t.zarr", target="y")
    model = GradientSiftRegressor().fit(pd.DataFrame({"a": cells}), X[:, 0])
    np.testing.assert_allclose(model.mean_, [np.nanmean(table.X)])
