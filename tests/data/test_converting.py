"""A wide CSV becomes a file that is read by columns; half-made results never appear."""

import gzip

import numpy as np
import pytest

from gradsift import GradientSiftClassifier, GradientSiftRegressor
from gradsift.data import convert, open_source, read_target
from gradsift.data.read_options import ReadOptions

RNG = np.random.default_rng(0)
X = RNG.normal(size=(50, 37)).astype(np.float32)
Y = np.sin(2 * X[:, 3]) + X[:, 20]
NAMES = [f"probe.{k}" for k in range(37)]  # dots are part of a name, not a path


def write(path, separator=",", response=None, holes=()):
    opener = gzip.open if str(path).endswith(".gz") else open
    with opener(path, "wt") as file:
        file.write(separator.join(["id", *NAMES[:5], "y", *NAMES[5:]]) + "\n")
        for i, row in enumerate(X):
            cells = [repr(float(v)) for v in row]
            for hole, text in holes:
                if hole[0] == i:
                    cells[hole[1]] = text
            label = (response if response is not None else Y)[i]
            file.write(separator.join([f"p{i}", *cells[:5], str(label), *cells[5:]]) + "\n")
    return path


@pytest.fixture(params=["zarr", "parquet"])
def out(request, tmp_path):
    return tmp_path / f"x.{request.param}"


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.csv.gz"])
@pytest.mark.parametrize("chunk", [1, 37 * 4 * 7, 1 << 24])
def test_values_names_and_response(tmp_path, out, name, chunk, monkeypatch):
    """Whatever the size of the pieces."""
    monkeypatch.setattr("gradsift.data.converting.CHUNK_BYTES", chunk)
    csv = write(tmp_path / name, "\t" if "tsv" in name else ",")
    done = convert(csv, out, target="y", drop=["id"])
    assert (done.n_rows, list(done.names), done.path) == (50, NAMES, str(out))
    source = open_source(out, exclude=["y"] if out.suffix == ".parquet" else [])
    assert source.names() == NAMES
    np.testing.assert_array_equal(source.columns(np.arange(37)), X)
    np.testing.assert_allclose(read_target(out, "y").astype(float), Y, rtol=1e-6)
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([name, out.name])


def test_fit_from_the_converted_file(tmp_path, out):
    convert(write(tmp_path / "t.csv"), out, target="y", drop=["id"])
    model = GradientSiftRegressor().fit(out, "y")
    assert model.feature_names_in_[model.get_support()].tolist() == ["probe.3", "probe.20"]
    labels = np.where(X[:, 3] > 0, "case", "control")
    again = out.with_name("labels" + out.suffix)
    convert(write(tmp_path / "u.csv", response=labels), again, target="y", drop=["id"])
    assert GradientSiftClassifier().fit(again, "y").classes_.tolist() == ["case", "control"]


def test_holes_become_missing_values(tmp_path, out):
    holes = [((0, 3), ""), ((1, 9), "NA"), ((2, 36), '"nan"'), ((3, 0), ' "1.5" ')]
    convert(write(tmp_path / "t.csv", holes=holes), out, drop=["id", "y"], dtype="float64")
    got = open_source(out).columns(np.arange(37))
    assert np.argwhere(np.isnan(got)).tolist() == [[0, 3], [1, 9], [2, 36]]
    assert got[3, 0] == 1.5


def test_failures_say_where_and_leave_nothing(tmp_path, out):
    bad = write(tmp_path / "t.csv", holes=[((40, 11), "low")])
    with pytest.raises(ValueError, match=r"line 42: column 'probe\.11' .*'low'.* \(na\)"):
        convert(bad, out, drop=["id", "y"])
    short = tmp_path / "short.csv"
    short.write_text("a,b\n1,2\n3\n")
    with pytest.raises(ValueError, match="line 3 has 1 cells but the header names 2"):
        convert(short, out)
    short.write_text("a,b\n")
    with pytest.raises(ValueError, match="a header but no rows"):
        convert(short, out)
    with pytest.raises(ValueError, match="has no column 'age'"):
        convert(bad, out, target="age")
    assert {p.name for p in tmp_path.iterdir()} == {"t.csv", "short.csv"}
    out.write_text("precious")
    with pytest.raises(FileExistsError, match="exists already"):
        convert(bad, out)
    assert out.read_text() == "precious"
    with pytest.raises(ValueError, match=r"ending in \.zarr or \.parquet"):
        convert(bad, tmp_path / "x.npy")


@pytest.mark.parametrize(
    ("table", "options", "line", "cell"),
    [
        ("a;b\n1,5;1.5\n2,5;2.5\n3,5;3.0\n", ReadOptions(decimal=","), 2, "1.5"),
        ("id,s,t\na,1,x\nb,2,3\n", ReadOptions(transpose=True), 2, "x"),
    ],
)
def test_a_cell_of_text_is_named_as_the_table_is_read(tmp_path, out, table, options, line, cell):
    """With its decimal mark, and its variables in rows."""
    (tmp_path / "t.csv").write_text(table)
    with pytest.raises(ValueError, match=rf"line {line}: column '.' holds text \('{cell}'\)"):
        convert(tmp_path / "t.csv", out, options=options)


@pytest.mark.parametrize(("encoding", "notes"), [("utf-8", 0), ("utf-16", 1), ("latin-1", 1)])
def test_other_encodings(tmp_path, out, encoding, notes):
    (tmp_path / "t.csv").write_text("größe,y\n1,é\n2,ü\n", encoding=encoding)
    done = convert(tmp_path / "t.csv", out, target="y")
    assert done.names == ("größe",)
    assert len(done.notes) == notes
    assert read_target(out, "y").tolist() == ["é", "ü"]


def test_the_target_is_not_dropped(tmp_path, out):
    with pytest.raises(ValueError, match="'y' is the target and among the columns to drop"):
        convert(write(tmp_path / "t.csv"), out, target="y", drop=["id", "y"])


def test_from_the_command_line(tmp_path, out):
    from typer.testing import CliRunner

    from gradsift.cli._app import app

    call = ["convert", str(write(tmp_path / "t.csv")), str(out), "--target", "y", "--drop", "id"]
    result = CliRunner().invoke(app, call)
    assert result.exit_code == 0, result.output
    np.testing.assert_allclose(read_target(out, "y").astype(float), Y, rtol=1e-6)
    assert CliRunner().invoke(app, call).exit_code != 0  # it exists already
