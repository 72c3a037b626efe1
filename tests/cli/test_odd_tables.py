"""Names that would drive a terminal, cells that a spreadsheet would run, samples far out."""

import csv
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gradsift import GradientSiftClassifier, GradientSiftRegressor, SparseGradientRegressor
from gradsift._run.printable import printable
from gradsift.cli._exit import run
from gradsift.data import open_source
from gradsift.exceptions import ExtrapolationWarning
from gradsift.pipeline._files import harmless, write_rows

QUICK = ["--cv", "0"]
N = 80


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_table(path, X, y, names, **texts):
    with open(path, "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow([*texts, *names, "y"])
        for i, row in enumerate(X):
            out.writerow([*(values[i] for values in texts.values()), *row, y[i]])


BAD = ["\x1b", "\x07", "\x9b", "\u202e", "\u2066", "\x00", "\x7f"]


def test_control_characters_are_shown_as_escapes():
    assert printable("a\x1b[2Jb") == r"a\x1b[2Jb"
    assert printable("a\u202eb") == r"a\u202eb"
    assert printable("two\r\nlines") == "two lines"
    assert printable("größe µ 变量") == "größe µ 变量"
    for text in BAD:
        assert printable(text).isprintable()


@pytest.mark.parametrize("bad", ["\x1b[31m\u202e\x07", "[red]\x9b2J"])
def test_control_characters_in_names_never_reach_the_terminal(folder, rng, bad, capsys):
    """Selected names, targets, categories, labels, notes and errors."""
    X = rng.normal(size=(N, 4))
    sex = rng.choice([f"f{bad}", "m"], size=N)
    y = 2 * X[:, 1] + 2 * (sex == "m") + 0.1 * rng.normal(size=N)
    names = [f"g{k}{bad}" for k in range(4)]
    path = folder / "t.tsv"
    lines = ["\t".join([*names, f"sex{bad}", f"y{bad}"])]
    lines += ["\t".join([*map(str, X[i]), sex[i], str(y[i])]) for i in range(N)]
    path.write_text("\n".join(lines), encoding="utf-8")
    assert run(["select", "t.tsv", "--target", f"y{bad}", *QUICK]) == 0
    labels = np.where(X[:, 0] > 0, f"a{bad}", "b")
    lines = [lines[0], *("\t".join([*map(str, X[i]), sex[i], labels[i]]) for i in range(N))]
    path.write_text("\n".join(lines), encoding="utf-8")
    assert run(["select", "t.tsv", "--target", f"y{bad}", *QUICK, "--out", "labels"]) == 0
    assert run(["select", "t.tsv", "--target", f"z{bad}", *QUICK, "--out", "z"]) == 2
    assert run(["select", f"none{bad}.csv", "--target", "y"]) == 2
    new = Path("new.tsv")
    new.write_text(path.read_text(encoding="utf-8").replace(f"f{bad}", f"q{bad}"), encoding="utf-8")
    assert run(["predict", "labels", "new.tsv"]) == 0
    printed = capsys.readouterr()
    for text in (printed.out, printed.err):
        assert not any(character in text for character in BAD)
        assert all(line.isprintable() for line in text.splitlines())
    assert "g1" in printed.out
    if "[red]" in bad:
        assert "g1[red]" in printed.out


def test_formulas_are_neutralised_and_numbers_stay_numbers():
    for text in ("=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", np.str_("=x")):
        assert harmless(text) == "'" + text
    for text in ("\t=1", "\r=1", "\n=1", "\x1b=1"):
        assert harmless(text).strip()[0] not in "=+-@"
    for cell in (
        "-1.5",
        "+3",
        "-1e-05",
        "-inf",
        "-",
        "+",
        "gene=1",
        "",
        -1.5,
        None,
        np.float64(-2),
    ):
        assert harmless(cell) == cell


def test_no_cell_we_write_is_a_formula(folder, rng):
    X = rng.normal(size=(N, 5))
    y = np.where(X[:, 1] + X[:, 2] > 0, "=HYPERLINK(1)", "@b")
    names = ["a", "=cmd|' /C calc'!A0", "+b", "-c", "@d"]
    write_table("t.csv", X, y, names, who=[f"=row{i}" for i in range(N)])
    assert run(["select", "t.csv", "--target", "y", *QUICK, "--out", "o"]) == 0
    assert run(["predict", "o", "t.csv"]) == 0
    seen = set()
    for path in ("o/selected.csv", "o/directions.csv", "o/projection.csv", "predictions.csv"):
        for row in rows_of(path):
            for cell in row:
                if cell and cell[0] in "=+-@\t\r" and cell not in ("+", "-"):
                    float(cell)  # a number
                seen.add(cell)
    assert {"'=cmd|' /C calc'!A0", "'=HYPERLINK(1)", "'=row0"} <= seen


def test_header_and_rows_are_written_as_they_are_otherwise(tmp_path):
    write_rows(tmp_path / "t.csv", ["name", "-x"], [["a", -1.5], ["-b", "-2"]])
    assert rows_of(tmp_path / "t.csv") == [["name", "'-x"], ["a", "-1.5"], ["'-b", "-2"]]


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(N, 6)), columns=list("abcdef"))
    y = X["b"] + X["d"] ** 2
    return X, [
        GradientSiftRegressor().fit(X, y),
        GradientSiftClassifier().fit(X, y > 1),
        SparseGradientRegressor().fit(X, y),
    ]


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("value", [1e300, -1e300, 1e9, 1.7e308])
def test_values_far_beyond_the_fit_get_a_warning_that_names_them(fitted, value):
    X, models = fitted
    new = X.copy()
    new.loc[3:4, "b"] = value
    for model in models:
        for data in (new, new.to_numpy(), open_source(new.to_numpy())):
            name = "'b'" if data is new else "column 1"
            said = pytest.warns(ExtrapolationWarning, match=f"2 of 80 rows are far.*in {name}")
            with np.errstate(all="ignore"), said:
                model.predict(data)


def test_values_far_out_in_columns_that_are_not_used_are_no_matter(fitted):
    X, models = fitted
    new = X.copy()
    new["f"] = 1e6
    for model in models:
        if model.feature_importances_[5] == 0 and not getattr(model.predictor_, "members", ()):
            model.predict(new)


def test_samples_like_those_of_the_fit_get_no_warning(fitted):
    X, models = fitted
    for model in models:
        model.predict(X * 2)


def test_rare_indicators_are_not_far_out(rng):
    X = rng.normal(size=(3000, 3))
    X[:, 2] = 0.0
    X[5, 2] = 1.0
    model = GradientSiftRegressor(always_keep=[2], interactions=False).fit(X, X[:, 0])
    model.predict(X)


def test_columns_that_are_not_standardised_have_ranges_too(rng):
    X = rng.normal(5e4, 1e4, size=(N, 3))
    model = SparseGradientRegressor(standardize=False).fit(X, X[:, 0])
    model.predict(X)
    with np.errstate(all="ignore"), pytest.warns(ExtrapolationWarning):
        model.predict(np.full((2, 3), 3e5))


def test_predict_tells_of_absurd_values_and_new_categories_once(folder, rng, capsys):
    X = rng.normal(size=(N, 4))
    sex = rng.choice(["f", "m"], size=N)
    y = np.where(2 * X[:, 1] + 2 * (sex == "m") > 1, "hi", "lo")
    write_table("t.csv", X, y, list("abcd"), sex=sex)
    assert run(["select", "t.csv", "--target", "y", *QUICK, "--out", "o"]) == 0
    X[[2, 5], 1] = 1e300
    sex[[0, 1, 2]] = ["x", "x", "w"]
    write_table("new.csv", X, y, list("abcd"), sex=sex)
    capsys.readouterr()
    assert run(["predict", "o", "new.csv"]) == 0
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 2
    assert said[0].startswith("beware: 3 of 80 rows hold categories of 'sex' that the model")
    assert "('w', 'x')" in said[0]
    assert said[1].startswith("beware: 2 of 80 rows are far outside the rows that the model")
    assert "in 'b' (fitted to" in said[1]
    assert run(["predict", "o", "t.csv", "--force"]) == 0
    assert capsys.readouterr().err == ""


def test_rows_far_outside_the_fit_are_said_once_by_every_command(folder, rng, capsys):
    X = rng.normal(size=(N, 4))
    y = X[:, 1] + 0.1 * rng.normal(size=N)
    write_table("t.csv", X, y, list("abcd"))
    assert run(["select", "t.csv", "--target", "y", *QUICK, "--out", "o"]) == 0
    X[:8, 1] = 40.0
    write_table("new.csv", X, y, list("abcd"))
    for command in ("predict", "report"):
        capsys.readouterr()
        assert run([command, "o", "new.csv"]) == 0
        said = [line for line in capsys.readouterr().err.splitlines() if "outside" in line]
        assert len(said) == 1
        assert "8 of 80 rows are far outside the rows" in said[0]
        assert "in 'b' (fitted to" in said[0]


def test_new_tables_may_lack_some_targets(folder, rng, capsys):
    X = rng.normal(size=(N, 3))
    y = np.where(X[:, 1] > 0, "hi", "lo")
    write_table("t.csv", X, y, list("abc"))
    assert run(["select", "t.csv", "--target", "y", *QUICK, "--out", "o"]) == 0
    y = y.astype(object)
    y[:4] = "NA"
    write_table("new.csv", X, y, list("abc"))
    assert run(["predict", "o", "new.csv"]) == 0
    table = rows_of("predictions.csv")
    observed = [row[table[0].index("observed")] for row in table[1:]]
    assert observed[:4] == [""] * 4
    assert set(observed[4:]) == {"hi", "lo"}
    capsys.readouterr()
    assert run(["report", "o", "new.csv"]) == 0
    assert "beware: 4 rows without 'y' left out." in capsys.readouterr().err
