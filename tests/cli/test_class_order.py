"""Classes that are whole numbers are used and shown in the order of the numbers."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from gradsift.cli._exit import run
from gradsift.pipeline import load_model, record_training, save_model
from gradsift.tables import Choices, open_table

CLASSES = [1, 2, 10]
LARGE = [200_000, 1_000_000, 3_000_000]


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def write(name, X, y):
    with open(name, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow([*(f"g{k}" for k in range(X.shape[1])), "y"])
        out.writerows([*row, value] for row, value in zip(X, y))


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def grades(rng):
    X = rng.normal(size=(120, 5))
    place = np.digitize(X[:, 2] + 0.1 * rng.normal(size=120), [-0.4, 0.4])
    y = np.array(CLASSES)[place].astype(object)
    write("t.csv", X[:90], y[:90])
    write("new.csv", X[90:], y[90:])
    return X, y


def select(*more):
    command = ["select", "t.csv", "--target", "y", "--cv", "3"]
    assert run([*command, "--out", "o", *more]) == 0


def test_predictions_report_and_summary_have_numeric_order(grades):
    select()
    assert json.loads(Path("o/summary.json").read_text())["classes"] == ["1", "2", "10"]
    assert "y (1 or 2 or 10)" in Path("o/report.html").read_text()
    assert {row["observed"] for row in read("o/projection.csv")} == {"1", "2", "10"}
    assert run(["predict", "o", "new.csv", "--out", "p.csv"]) == 0
    rows = read("p.csv")
    probabilities = [f"probability of {c}" for c in CLASSES]
    assert list(rows[0]) == ["row", "observed", "predicted", *probabilities, "direction1"]
    assert np.mean([row["predicted"] == str(y) for row, y in zip(rows, grades[1][90:])]) > 0.8


def test_a_model_that_was_saved_with_texts_for_classes_still_serves(grades):
    X, y = grades
    select()
    model, recipe, _ = load_model(Path("o"))
    texts = y[:90].astype(str)
    model.fit(X[:90], texts)
    save_model(Path("old.gradsift"), model, recipe, record_training(model, X[:90], texts))
    assert run(["predict", "old.gradsift", "new.csv", "--out", "p.csv"]) == 0
    found = [name for name in read("p.csv")[0] if name.startswith("probability")]
    assert found == [f"probability of {c}" for c in (1, 10, 2)]
    for table in ("t.csv", "new.csv"):
        assert run(["report", "old.gradsift", table, "--out", "r.html", "--force"]) == 0
        assert run(["report", "o", table, "--out", "s.html", "--force"]) == 0
        page = Path("r.html").read_text()
        said = "rows that the fit has not seen"
        assert (said in page) == (said in Path("s.html").read_text()) == (table == "new.csv")


@pytest.mark.parametrize("odd", ["", "other"])
def test_a_new_table_may_lack_labels_or_have_others(grades, odd):
    X, y = grades
    select()
    y[-3:] = odd
    write("new.csv", X[90:], y[90:])
    assert run(["report", "o", "new.csv", "--out", "r.html"]) == 0
    page = Path("r.html").read_text()
    right = page.partition("it predicts with accuracy ")[2][:4]
    assert float(right) > 0.7


def test_numbers_of_classes_are_no_amounts_when_groups_become_rows(grades, capsys):
    X, y = grades
    write("t.csv", np.column_stack([X, np.arange(120) // 4]), y)
    command = ["select", "t.csv", "--target", "y", "--group", "g5", "--aggregate", "mean"]
    assert run(command) == 2
    assert "the label changes inside a group" in " ".join(capsys.readouterr().err.split())
    write("t.csv", np.column_stack([X, np.arange(120) // 4]), np.repeat(y[::4], 4))
    assert run([*command, "--cv", "0", "--out", "o"]) == 0
    assert load_model(Path("o")).model.classes_.tolist() == CLASSES


def test_groups_and_categories_have_numeric_order(grades):
    X, y = grades
    donor, site = np.arange(120) // 4 + 1, np.arange(120) % 12
    write("t.csv", np.column_stack([X, donor, site, site % 3]), np.repeat(y[::4], 4))
    command = ["select", "t.csv", "--target", "y", "--group", "g5", "--aggregate", "mean"]
    more = ["--categorical", "g6", "--cv", "0", "--out", "o"]
    assert run([*command, *more]) == 0
    assert load_model(Path("o")).recipe.encoder.special["g6"].levels == tuple(map(str, range(12)))
    rows = read("o/projection.csv")
    assert [row["row"] for row in rows] == [str(k + 1) for k in range(30)]
    assert [row["observed"] for row in rows] == y[::4].astype(str).tolist()


def test_what_is_known_of_groups_stays_with_them(grades):
    """The table of covariates is in another order than the groups."""
    X, y = grades
    donor = np.arange(120) // 4 + 1
    write("t.csv", np.column_stack([X, donor]), np.repeat(y[::4], 4))
    age = np.arange(120.0) // 4
    choices = Choices("y", group="g5", aggregate="mean", covariates=Path("c.csv"), id="name")
    with open("t.csv") as file:
        lines = file.read().splitlines()
    with open("t.csv", "w") as file:
        file.writelines(f"{'name' if k == 0 else f's{k}'},{line}\n" for k, line in enumerate(lines))
    order = np.random.default_rng(0).permutation(120)
    Path("c.csv").write_text("name,age\n" + "".join(f"s{k + 1},{age[k]}\n" for k in order))
    table = open_table(Path("t.csv"), choices)
    assert table.ids.tolist() == [str(k + 1) for k in range(30)]
    np.testing.assert_array_equal(table.covariates["age"], np.arange(30.0))
    np.testing.assert_array_equal(table.y, y[::4].astype(int))


def test_large_whole_numbers_are_written_whole_and_in_order(rng):
    X = rng.normal(size=(90, 4))
    write("t.csv", X, np.array(LARGE)[np.digitize(X[:, 2], [-0.4, 0.4])])
    select("--task", "classification")
    found = json.loads(Path("o/summary.json").read_text())["classes"]
    assert found == [str(value) for value in LARGE]
