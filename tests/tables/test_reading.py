import gzip

import numpy as np
import pytest

from gradsift.data import cells
from gradsift.tables import read_frame

TEXT = "id,age,sex,dose\na,31,f,0.5\nb,NA,m,1e-3\nc,40,f,\n"


def check(frame):
    assert frame.order == ("id", "age", "sex", "dose")
    assert frame.names == ("age", "dose")
    np.testing.assert_array_equal(frame.numbers, [[31, 0.5], [np.nan, 1e-3], [40, np.nan]])
    assert frame.texts["sex"].tolist() == ["f", "m", "f"]


def test_delimited_text_in_all_its_forms(tmp_path):
    (tmp_path / "t.csv").write_text(TEXT)
    (tmp_path / "semicolon.csv").write_text(TEXT.replace(",", ";"))
    (tmp_path / "t.tsv").write_text(TEXT.replace(",", "\t"))
    (tmp_path / "bom.csv").write_text(TEXT, encoding="utf-8-sig")
    (tmp_path / "windows.csv").write_bytes(TEXT.replace("\n", "\r\n").encode())
    with gzip.open(tmp_path / "t.csv.gz", "wt") as file:
        file.write(TEXT)
    for path in sorted(tmp_path.iterdir()):
        check(read_frame(path))


def test_other_formats_hold_the_same_table(tmp_path):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("openpyxl")
    pytest.importorskip("pyarrow")
    table = pd.DataFrame(
        {
            "id": ["a", "b", "c"],
            "age": [31, np.nan, 40],
            "sex": pd.Categorical(["f", "m", "f"]),
            "dose": [0.5, 1e-3, None],
        }
    )
    table.to_excel(tmp_path / "t.xlsx", index=False)
    table.to_parquet(tmp_path / "t.parquet")
    table.to_feather(tmp_path / "t.feather")
    for path in sorted(tmp_path.iterdir()):
        check(read_frame(path))


def test_row_names_of_r_get_a_name(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('"","x"\n"a",1\n"b",2\n')
    assert read_frame(path).order == ("row", "x")


def test_text_far_down_turns_the_column_into_text(tmp_path, monkeypatch):
    monkeypatch.setattr(cells, "HEAD_CELLS", 1)
    path = tmp_path / "t.csv"
    path.write_text("x,y\n" + "1,2\n" * 150 + "one,2\n")
    frame = read_frame(path)
    assert frame.names == ("y",)
    assert frame.texts["x"][0] == "1"
    assert frame.texts["x"][-1] == "one"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("a,b\n", "a header but no rows"),
        ("a,b,a\n1,2,3\n", "names 'a' more than once"),
        ("a,b\n1,2\n3\n", "line 3 has 1 cells but the header names 2"),
        ("1.5,2\n3,4\n", "holds numbers"),
        ("a,,c\n1,2,3\n", "column 2 of t.csv has no name"),
    ],
)
def test_bad_text_tables_say_where(text, message, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        read_frame(path)


def test_unknown_suffix(tmp_path):
    with pytest.raises(ValueError, match=r"cannot tell the format of 't.doc'"):
        read_frame(tmp_path / "t.doc")


def test_archives_bring_names_classes_and_ids(tmp_path, rng):
    X = rng.normal(size=(6, 3))
    path = tmp_path / "t.npz"
    names, classes = np.array(["g1", "g2", "g2"]), np.array(["healthy", "ill"])
    np.savez(path, X=X, y=np.array([1, -1, 1, -1, 1, 1]), feature_names=names, class_names=classes)
    frame = read_frame(path)
    assert frame.order == ("g1", "g2", "g2.2", "y")
    assert frame.class_names == {"y": ("healthy", "ill")}
    np.savez(path, X_train=X, y_train=np.arange(6), X_test=X, sample_id_train=np.arange(6))
    frame = read_frame(path)
    assert frame.order == ("x1", "x2", "x3", "y_train", "sample_id_train")
    assert list(frame.texts) == ["sample_id_train"]
    np.savez(path, a=X, b=X)
    with pytest.raises(ValueError, match=r"holds a, b: expected a matrix X"):
        read_frame(path)
