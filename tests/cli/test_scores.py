"""What the commands say about scores, and on which rows."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from gradsift.cli._exit import run

QUICK = ["--cv", "0"]


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def write(name, X, y, target="y"):
    with open(name, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow([*(f"g{k}" for k in range(X.shape[1])), target])
        out.writerows([*row, value] for row, value in zip(X, y))


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def wide(rng):
    """Many small effects: predictions with all columns differ from those of the selected."""
    X = rng.normal(size=(80, 150))
    y = X[:, 0] + X[:, 1:101] @ rng.normal(size=100) / 8
    write("t.csv", X[:60], y[:60])
    write("new.csv", X[60:], y[60:])
    return X, y


def test_both_scores_in_terminal_and_summary_and_a_flag_for_predict(wide, capsys):
    command = ["select", "t.csv", "--target", "y", "--cv", "3", "--out"]
    assert run([*command, "o"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "On 3 held-out folds" in printed
    prediction = json.loads(Path("o/summary.json").read_text())["prediction"]
    names = {score["name"] for score in prediction["others"]}
    assert "averaged with predictors on all columns" in names
    assert "ridge regression on all columns" in names
    assert run(["predict", "o", "new.csv", "--out", "alone.csv"]) == 0
    assert "with the selected variables alone" in capsys.readouterr().out
    assert run(["predict", "o", "new.csv", "--out", "both.csv", "--predict-with", "all"]) == 0
    assert "averaged with ridge" in capsys.readouterr().out
    assert [r["predicted"] for r in read("alone.csv")] != [r["predicted"] for r in read("both.csv")]
    assert run([*command, "all", "--predict-with", "all"]) == 0
    assert run(["predict", "all", "new.csv", "--out", "again.csv"]) == 0
    assert Path("again.csv").read_text() == Path("both.csv").read_text()


def test_scores_of_labels_fit_eighty_columns(wide, capsys):
    X, y = wide
    write("t.csv", X, np.where(y > 0, "high", "low"), "a rather long name of a target")
    command = ["select", "t.csv", "--target", "a rather long name of a target"]
    assert run([*command, "--cv", "3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert any("accuracy" in line for line in lines)


def test_report_knows_the_rows_of_the_fit(wide):
    assert run(["select", "t.csv", "--target", "y", *QUICK, "--out", "o"]) == 0
    assert run(["report", "o", "new.csv", "--out", "new.html"]) == 0
    page = Path("new.html").read_text()
    assert "On 20 rows that the fit has not seen" in page
    assert run(["report", "o", "t.csv", "--out", "old.html"]) == 0
    page = Path("old.html").read_text()
    assert "No score is given" in page or "no score is given" in page
    assert "has not seen" not in page
    X, y = wide
    write("mixed.csv", X[50:], y[50:])
    assert run(["report", "o", "mixed.csv", "--out", "mixed.html"]) == 0
    page = Path("mixed.html").read_text()
    assert "On 20 rows that the fit has not seen" in page
    assert "10 rows of the fit, which do not count in the score" in page


def test_report_on_columns_that_stay_on_disk(rng):
    anndata = pytest.importorskip("anndata")
    X = rng.normal(size=(90, 12)).astype(np.float32)
    y = np.where(X[:, 4] + 0.2 * rng.normal(size=90) > 0, "ill", "well")
    for name, rows in (("t", slice(60)), ("new", slice(60, None))):
        data = anndata.AnnData(X[rows])
        data.obs["y"] = y[rows]
        data.write_h5ad(f"{name}.h5ad")
    assert run(["select", "t.h5ad", "--target", "y", "--out", "o"]) == 0
    assert run(["report", "o", "new.h5ad", "--out", "new.html"]) == 0
    assert "On 30 rows that the fit has not seen" in Path("new.html").read_text()
    assert run(["report", "o", "t.h5ad", "--out", "old.html"]) == 0
    assert "no score is given" in Path("old.html").read_text()


def test_report_on_genotypes_with_the_phenotype_beside(rng):
    bed = pytest.importorskip("bed_reader")
    G = rng.binomial(2, 0.4, size=(120, 20)).astype(float)
    y = G[:, 3] + 0.3 * rng.normal(size=120)
    ids = [f"i{k}" for k in range(120)]
    bed.to_bed("t.bed", G, properties={"iid": ids, "fid": ids})
    with open("p.csv", "w") as file:
        file.write("IID,y\n" + "".join(f"{i},{v}\n" for i, v in zip(ids, y)))
    pheno = ["--target-from", "p.csv"]
    assert run(["select", "t.bed", "--target", "y", *pheno, "--out", "o"]) == 0
    assert run(["report", "o", "t.bed", *pheno, "--out", "r.html"]) == 0
    assert "no score is given" in Path("r.html").read_text()


def test_a_leak_is_said_loudly(rng, capsys):
    X = rng.normal(size=(80, 4))
    write("t.csv", X, 2 * X[:, 1] + 1e-2 * rng.normal(size=80))
    assert run(["select", "t.csv", "--target", "y", "--cv", "3"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert (
        "is rarely true. Check whether a column, such as g1, is a copy or a consequence of y"
        in printed
    )


def test_a_new_row_is_not_called_a_row_of_the_fit(rng):
    """One row has no variance to explain: its error is said, not the score of other rows."""
    X = rng.normal(size=(60, 5))
    write("t.csv", X, 3 * X[:, 1] + rng.normal(size=60))
    write("new.csv", rng.normal(size=(1, 5)), np.array([0.5]))
    assert run(["select", "t.csv", "--target", "y", *QUICK]) == 0
    assert run(["report", "gradsift-out", "new.csv", "--out", "new.html"]) == 0
    page = Path("new.html").read_text()
    assert "On 1 row that the fit has not seen it predicts with RMSE" in page
