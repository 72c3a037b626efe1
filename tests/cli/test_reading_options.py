"""Reading options from the command line: for select and convert, and kept for predict."""

import csv
import io

import numpy as np
import openpyxl
import pytest

from gradsift.cli._exit import run

QUICK = ["--cv", "0", "--target", "y"]
N = 80
RNG = np.random.default_rng(5)
X = RNG.normal(size=(N, 4)).round(4)
Y = (2 * X[:, 1] + 0.05 * RNG.normal(size=N)).round(4)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path, columns, y=None, mark=","):
    """A table with semicolons and this decimal mark."""
    header = ["who", *("abcd"[k] for k in columns), *([] if y is None else ["y"])]
    rows = [[f"s{i}", *X[i, columns], *([] if y is None else [y[i]])] for i in range(N)]
    lines = [";".join(str(cell).replace(".", mark) for cell in row) for row in [header, *rows]]
    path.write_text("\n".join(lines) + "\n")


def predictions(path="predictions.csv"):
    with open(path, newline="") as file:
        return {row["row"]: float(row["predicted"]) for row in csv.DictReader(file)}


def test_predict_reads_as_the_fit_did_and_needs_only_the_columns_in_use(folder, capsys):
    write(folder / "t.csv", [0, 1, 2, 3], Y)
    assert run(["select", "t.csv", *QUICK, "--out", "o", "--details"]) == 0
    assert "decimal commas" in capsys.readouterr().out
    assert run(["predict", "o", "t.csv"]) == 0
    whole = predictions()
    assert np.corrcoef(list(whole.values()), Y)[0, 1] > 0.99
    write(folder / "new.csv", [1])
    assert run(["predict", "o", "new.csv", "--out", "few.csv"]) == 0
    assert predictions("few.csv") == whole
    write(folder / "points.csv", [1], mark=".")
    assert run(["predict", "o", "points.csv", "--out", "p.csv"]) == 0
    assert predictions("p.csv") == whole
    write(folder / "others.csv", [0, 2])
    capsys.readouterr()
    assert run(["predict", "o", "others.csv", "--out", "q.csv"]) == 2
    assert "the table lacks 'b', which the model uses" in capsys.readouterr().err


def test_missing_values_of_a_new_table_are_counted(folder, capsys):
    holed = X.astype(object)
    holed[2, 1] = ""
    rows = "".join(f"{','.join(map(str, row))},{y}\n" for row, y in zip(holed, Y))
    (folder / "t.csv").write_text("a,b,c,d,y\n" + rows)
    assert run(["select", "t.csv", *QUICK, "--out", "o", "--missing", "mean", "--details"]) == 0
    assert "missing values: 1.2% of 'b'" in " ".join(capsys.readouterr().out.split())
    assert run(["predict", "o", "t.csv"]) == 0
    assert "1 missing value is filled with the mean" in capsys.readouterr().err


def test_sheets_are_chosen_by_name_or_number(folder, capsys):
    book = openpyxl.Workbook()
    book.active.append(["remarks"])
    sheet = book.create_sheet("data")
    for row in [["a", "b", "y"], *([*X[i, :2], Y[i]] for i in range(N))]:
        sheet.append(list(row))
    book.save(folder / "t.xlsx")
    assert run(["select", "t.xlsx", *QUICK, "--out", "o", "--details"]) == 0
    assert "sheet 'data' of 'Sheet', 'data' [--sheet]" in capsys.readouterr().out
    for k, sheet in enumerate(["data", "2"]):
        assert run(["select", "t.xlsx", *QUICK, "--out", f"o{k}", "--sheet", sheet]) == 0
    assert run(["select", "t.xlsx", *QUICK, "--out", "p", "--sheet", "none"]) == 2
    assert "t.xlsx has no sheet 'none': it has 'Sheet', 'data'" in capsys.readouterr().err


def test_genes_in_rows_for_select_predict_and_convert(folder, capsys):
    names = [f"s{i}" for i in range(N)]
    rows = [[label, *values] for label, values in zip([*"abcd", "y"], [*X.T, Y])]
    lines = [",".join(map(str, row)) for row in [["gene", *names], *rows]]
    (folder / "t.csv").write_text("\n".join(lines) + "\n")
    assert run(["select", "t.csv", *QUICK, "--out", "o", "--transpose"]) == 0
    assert "80 rows" in capsys.readouterr().out
    assert run(["predict", "o", "t.csv"]) == 0
    whole = predictions()
    assert list(whole) == names
    call = ["convert", "t.csv", "t.zarr", "--target", "y", "--transpose"]
    assert run(call) == 0
    assert run(["select", "t.zarr", *QUICK, "--out", "z"]) == 0
    with open(folder / "z" / "projection.csv", newline="") as file:
        assert [row["row"] for row in csv.DictReader(file)] == names


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--decimal", "x", "use . or ,"),
        ("--delimiter", "ab", "use one character"),
        ("--encoding", "klingon", "is not known"),
        ("--encoding", "rot13", "is not known"),
    ],
)
def test_options_that_mean_nothing_are_refused(folder, capsys, option, value, message):
    write(folder / "t.csv", [0, 1], Y)
    assert run(["select", "t.csv", *QUICK, option, value]) == 2
    assert message in capsys.readouterr().err


def test_a_table_is_read_from_standard_input(folder, monkeypatch, capsys):
    write(folder / "t.csv", [0, 1], Y)
    with (folder / "t.csv").open("rb") as file:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(file))
        assert run(["select", "-", *QUICK, "--out", "o"]) == 0
    assert "80 rows" in capsys.readouterr().out
