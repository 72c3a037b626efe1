import gzip
import subprocess
import sys
import time
import tracemalloc
import zipfile

import numpy as np
import pytest

from gradsift.data import cells, text
from gradsift.data.categories import to_text
from gradsift.tables import read_frame
from gradsift.tables.frame import make_frame
from gradsift.tables.roles import parse_columns

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
    pytest.importorskip("python_calamine")
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
    monkeypatch.setattr(text, "BLOCK_CHARACTERS", 100)
    path = tmp_path / "t.csv"
    path.write_text("x,y\n" + "1,2\n" * 150 + "one,2\n")
    frame = read_frame(path)
    assert frame.names == ("y",)
    assert frame.texts["x"][0] == "1"
    assert frame.texts["x"][-1] == "one"


def test_columns_that_share_a_name_are_numbered(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,a\n1,2,3\n")
    frame = read_frame(tmp_path / "t.csv")
    assert frame.names == ("a", "b", "a.2")
    assert [n.text for n in frame.notes] == ["t.csv: columns that share a name are numbered ('a')"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("a,b\n", "a header but no rows"),
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


def test_an_unknown_suffix_is_read_as_text(tmp_path):
    (tmp_path / "t.data").write_text(TEXT)
    check(read_frame(tmp_path / "t.data"))


def test_the_header_is_the_row_that_names_what_is_asked_for(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("blood,blood,result\nHb,CRP,ill\n1,2,yes\n3,4,no\n")
    frame = read_frame(path, wanted=["ill"])
    assert frame.order == ("Hb", "CRP", "ill")
    assert frame.numbers.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert [note.text for note in frame.notes] == [
        "t.csv: 'blood,blood,result' above the header is no part of the table"
    ]
    path.write_text("gene,s1,s2\na,1,2\nill,yes,no\n")  # variables in rows
    assert read_frame(path, wanted=["ill"]).order == ("gene", "s1", "s2")


def test_archives_bring_names_and_ids(tmp_path, rng):
    X = rng.normal(size=(6, 3))
    path = tmp_path / "t.npz"
    names = np.array(["g1", "g2", "g2"])
    np.savez(path, X=X, y=np.array([1, -1, 1, -1, 1, 1]), feature_names=names)
    frame = read_frame(path)
    assert frame.order == ("g1", "g2", "g2.2", "y")
    np.savez(path, X_train=X, y_train=np.arange(6), X_test=X, sample_id_train=np.arange(6))
    frame = read_frame(path)
    assert frame.order == ("x1", "x2", "x3", "y_train", "sample_id_train")
    assert list(frame.texts) == ["sample_id_train"]
    assert frame.id == "sample_id_train"
    np.savez(path, a=X, b=X)
    with pytest.raises(ValueError, match=r"holds a, b: expected a matrix X"):
        read_frame(path)


def test_a_quoted_name_may_hold_a_line_break(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('"dose;\n(mg)";age;"said ""x"""\n1;2;"first\nsecond"\n3;4;b\n')
    frame = read_frame(path)
    assert frame.order == ("dose; (mg)", "age", 'said "x"')
    assert frame.texts['said "x"'].tolist() == ["first\nsecond", "b"]
    path.write_text('\n\n"a\nb",y\n1,2\n\n3\n')
    with pytest.raises(ValueError, match=r"line 7 has 1 cells"):
        read_frame(path)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-8-sig", "utf-8"])
def test_marked_encodings_are_read(tmp_path, encoding):
    (tmp_path / "t.csv").write_text("größe,y\n1,é\n2,ü\n", encoding=encoding)
    frame = read_frame(tmp_path / "t.csv")
    assert frame.order == ("größe", "y")
    assert frame.texts["y"].tolist() == ["é", "ü"]
    told = [] if encoding.startswith("utf-8") else [f"t.csv: encoded as {encoding}"]
    assert [note.text for note in frame.notes] == told


def test_other_text_is_read_as_latin_1_with_a_note(tmp_path):
    text = "größe,y\n" + "1,a\n" * 50_000 + "2,é\n"  # found far beyond the first bytes too
    for where, content in {"head": text, "tail": text.replace("ö", "o").replace("ß", "s")}.items():
        path = tmp_path / f"{where}.csv"
        path.write_text(content, encoding="latin-1")
        frame = read_frame(path)
        assert frame.order[0] == content.split(",")[0]
        assert frame.texts["y"][-1] == "é"
        assert frame.notes[-1].kind == "caution"
        assert f"{where}.csv is not UTF-8: read as Windows-1252" in frame.notes[-1].text
    (tmp_path / "t.csv").write_bytes(b"a\x81,y\n1,2\n")
    assert "read as Latin-1" in read_frame(tmp_path / "t.csv").notes[-1].text


def test_numbers_with_underscores_are_text(tmp_path):
    (tmp_path / "t.csv").write_text("batch_no,x_1\n1_01,1\n1_02,2\n")
    frame = read_frame(tmp_path / "t.csv")
    assert frame.texts["batch_no"].tolist() == ["1_01", "1_02"]
    assert frame.names == ("x_1",)


def test_text_and_numbers_are_told_apart_in_every_chunk(tmp_path, monkeypatch):
    """Blocks of a few rows: what is read does not depend on their size."""
    path = tmp_path / "t.csv"
    rows = [[k, "" if k % 7 == 0 else k / 3, f"n{k % 3}", 5 if k < 250 else "late"]
            for k in range(300)]  # fmt: skip
    path.write_text("a,b,c,d\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    whole = read_frame(path)
    assert list(whole.texts) == ["c", "d"]
    assert whole.texts["d"].tolist() == [str(row[3]) for row in rows]
    monkeypatch.setattr(text, "BLOCK_CHARACTERS", 100)
    again = read_frame(path)
    np.testing.assert_array_equal(again.numbers, whole.numbers)
    np.testing.assert_array_equal(again.numbers[:, 0], np.arange(300))
    assert np.isnan(again.numbers[::7, 1]).all()
    assert again.texts["c"].tolist() == whole.texts["c"].tolist()


def test_a_table_that_does_not_fit_is_refused_while_it_is_read(tmp_path, monkeypatch):
    """A small file that unpacks to a large table."""
    path = tmp_path / "bomb.csv.gz"
    with gzip.open(path, "wt") as file:
        file.write("a,b,c,d\n")
        file.write("0,0,0,0\n" * 200_000)
    assert path.stat().st_size < 10_000
    monkeypatch.setattr(text, "BLOCK_CHARACTERS", 10_000)
    monkeypatch.setattr(cells, "available_memory", lambda: 8e6)
    with pytest.raises(ValueError, match=r"bomb.csv.gz does not fit into memory.*0\.008 GB are"):
        read_frame(path)
    monkeypatch.setattr(cells, "available_memory", lambda: 16e6)
    assert read_frame(path).n_rows == 200_000


def test_a_line_without_end_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "bomb.csv.gz"
    with gzip.open(path, "wt") as file:
        file.write("a,b\n" + "0" * 5_000_000)
    monkeypatch.setattr(text, "available_memory", lambda: 50e6)
    with pytest.raises(ValueError, match="line 2 is longer than 1,000,000 characters"):
        read_frame(path)


def test_whole_numbers_name_columns_of_a_sheet_as_of_a_text_file(tmp_path):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("python_calamine")
    spectra = pd.DataFrame({1100: [0.1, 0.2], 1102.5: [0.3, 0.4], "fat": [1.0, 2.0]})
    spectra.to_excel(tmp_path / "t.xlsx", index=False)
    spectra.to_csv(tmp_path / "t.csv", index=False)
    assert read_frame(tmp_path / "t.xlsx").order == read_frame(tmp_path / "t.csv").order


@pytest.mark.parametrize("name", ["t.npz", "t.xlsx"])
def test_archives_are_asked_how_much_they_hold(tmp_path, monkeypatch, name):
    path = tmp_path / name
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("X.npy", bytes(50_000_000))
    assert path.stat().st_size < 100_000
    monkeypatch.setattr("gradsift._run.memory.available_memory", lambda: 60e6)
    with pytest.raises(ValueError, match=rf"the contents of {name}, 0.1 GB unpacked, need about"):
        read_frame(path)


def test_wide_parquet_is_asked_how_much_it_holds(tmp_path, monkeypatch):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    pq.write_table(
        pa.table({f"x{k}": np.zeros(10_000) for k in range(100)}), tmp_path / "t.parquet"
    )
    monkeypatch.setattr("gradsift._run.memory.available_memory", lambda: 10e6)
    with pytest.raises(ValueError, match=r"10,000 rows and 100 columns of t.parquet need"):
        read_frame(tmp_path / "t.parquet")


@pytest.mark.parametrize("shape", [(50_000, 10), (25, 20_000)], ids=["tall", "wide"])
def test_reading_text_holds_little_more_than_the_numbers(tmp_path, shape):
    """Peak of what Python allocates; the blocks of numbers, 4 MB, come on top."""
    path = tmp_path / "t.csv"
    n, p = shape
    line = ",".join("1.2345678" for _ in range(p)) + "\n"
    path.write_text(",".join(f"g{k}" for k in range(p)) + "\n" + line * n)
    tracemalloc.start()
    frame = read_frame(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert frame.numbers.shape == shape
    # one line, the names and the first rows are held as text; all of it would take 30 MB or more
    assert peak < 20e6


BOMB = """
import gzip, resource, sys
from pathlib import Path
from gradsift.data import cells
from gradsift.tables import ReadOptions, read_frame
path = Path(sys.argv[1])
cells.available_memory = lambda: 60e6
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    read_frame(path, ReadOptions(transpose=len(sys.argv) > 2))
except ValueError as error:
    print(error)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


@pytest.mark.parametrize(
    ("line", "transpose"),
    [("0,0,0,0\n", False), ('"a","b","c","d"\n', False), ("long text,x,y,z\n", True)],
)
def test_a_packed_file_is_refused_before_memory_runs_out(tmp_path, line, transpose):
    """120 MB of text in a small file, where 60 MB are said to be free: memory of the process."""
    path = tmp_path / "bomb.csv.gz"
    with gzip.open(path, "wt", compresslevel=1) as file:
        file.write("a,b,c,d\n")
        for _ in range(120):
            file.write(line * (1_000_000 // len(line)))
    assert path.stat().st_size < 3_000_000
    call = [sys.executable, "-c", BOMB, str(path), *(["transpose"] if transpose else [])]
    done = subprocess.run(call, capture_output=True, text=True, check=True)
    message, megabytes = done.stdout.strip().split("\n")
    assert "bomb.csv.gz does not fit into memory" in message
    assert int(megabytes) < 130  # a block as cells, and what was gathered


def test_texts_in_many_columns_are_judged_by_their_distinct_values():
    """A table of letters: a look at every cell would take minutes."""
    columns = [to_text(["AA", "AG", "GG"] * 100) for _ in range(3000)]
    frame = make_frame([f"g{k}" for k in range(3000)] + ["y"], [*columns, np.arange(300.0) % 7])
    start = time.process_time()
    found, _ = parse_columns(frame)
    assert len(found) == 3000
    assert time.process_time() - start < 3
