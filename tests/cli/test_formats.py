"""Every option of `select` on every format: what a table is too large for is a matter of size."""

import csv
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from select_formats import (
    FORMATS,
    NAMES,
    STORED,
    WHO,
    N,
    counts,
    opened,
    set_aside,
    write_bed,
    write_covariates,
    write_h5ad,
)

from gradsift.cli._exit import run
from gradsift.tables import Choices, open_new, open_table

each_format = pytest.mark.parametrize("kind", FORMATS)


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@each_format
def test_plain(kind):
    table, names, X, y = opened(kind)
    assert list(table.names) == names
    np.testing.assert_array_equal(table.X, X)
    np.testing.assert_allclose(table.y, y, atol=1e-4)
    assert (table.ids is None) == (FORMATS[kind][1] is None)


@each_format
def test_keep_and_drop(kind):
    table, names, X, _ = opened(kind, keep=(3,), drop=(0, 4))
    assert list(table.names) == names[1:4]
    assert table.keep.tolist() == [2]
    np.testing.assert_array_equal(table.X, X[:, 1:4])


@each_format
def test_log(kind):
    table, _, X, _ = opened(kind, transform="log")
    np.testing.assert_array_equal(table.X, np.log2(1.0 + X))


@each_format
def test_categorical(kind):
    table, names, X, _ = opened(kind, categorical=(3,))
    assert list(table.names)[3:6] == [f"{names[3]}={level}" for level in "012"]
    np.testing.assert_array_equal(table.X[:, 3:6], X[:, [3]] == [0.0, 1.0, 2.0])


@each_format
def test_id(kind):
    column = FORMATS[kind][1]
    if column is None:  # its target lies apart, and is found by the same column
        with pytest.raises(ValueError, match=r"y\.csv has no column 'x4'"):
            opened(kind, id="x4")
    else:
        table, *_ = opened(kind, id=column)
        assert table.ids.tolist() == WHO


@each_format
def test_missing(kind):
    table, _, X, y = opened(kind, holes=True, missing="mean")
    np.testing.assert_array_equal(table.X, X)
    assert any("missing values: 4.2% of" in note.text for note in table.notes)
    assert table.recipe.missing == "mean"
    set_aside()
    table, _, X, y = opened(kind, holes=True, missing="drop")
    whole = ~np.isnan(X).any(axis=1)
    np.testing.assert_array_equal(table.X, X[whole])
    np.testing.assert_allclose(table.y, y[whole], atol=1e-4)
    assert any(f"2 of {N} rows, left out because of missing" in note.text for note in table.notes)


@each_format
def test_a_recipe_gives_the_same_columns_again(kind):
    table, _, _, y = opened(kind, drop=(0,), categorical=(3,), transform="log")
    X, ids, found, *_ = open_new(table_of(kind), table.recipe)
    np.testing.assert_array_equal(X, table.X)
    assert (ids is None) == (table.ids is None)
    if kind != "npy":
        np.testing.assert_allclose(found, y, atol=1e-4)


@each_format
def test_scores_report_and_predictions(kind):
    command = FORMATS[kind][0](*counts())
    assert run(["select", *command, "--cv", "3", "--out", "o"]) == 0
    summary = json.loads(Path("o/summary.json").read_text())
    assert summary["selected"] == ["x2" if kind == "npy" else "g2"]
    assert summary["prediction"]["score"]["mean"] > 0.9
    assert run(["predict", "o", command[0], "--out", "p.csv"]) == 0
    with open("p.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["row"] for row in rows] == (
        [str(i + 1) for i in range(N)] if kind == "npy" else WHO
    )
    assert np.corrcoef([float(row["predicted"]) for row in rows], counts()[1])[0, 1] > 0.9
    assert run(["report", "o", command[0], *command[3:], "--out", "r.html"]) == 0
    assert "no score is given" in Path("r.html").read_text()


@each_format
def test_covariates(kind):
    given = write_covariates(kind)
    table, names, X, y = opened(
        kind, covariates=Path("c.csv"), covariate_names=("age", "batch"), group="block"
    )
    assert list(table.names) == names
    np.testing.assert_array_equal(table.X, X[: len(given)])
    np.testing.assert_allclose(table.y, y[: len(given)], atol=1e-4)
    assert list(table.covariates) == ["age", "batch"]
    np.testing.assert_allclose(table.covariates["age"], given["age"])
    assert table.covariates["batch"].tolist() == given["batch"].tolist()
    assert table.groups.labels.tolist() == given["block"].tolist()
    if kind != "npy":
        assert any(
            "1 sample left out for want of covariates in c.csv" in n.text for n in table.notes
        )


@each_format
def test_covariates_from_selection_to_prediction(kind, capsys):
    write_covariates(kind)
    X, y = counts()
    age = pd.read_csv("c.csv").set_index(FORMATS[kind][1] or "age", drop=False)
    shift = age["age"].to_numpy() if kind == "npy" else age["age"].reindex(WHO).fillna(50.0)
    y = (y + 0.2 * np.asarray(shift)).round(4)
    command = FORMATS[kind][0](X, y)
    beside = ["--covariates", "c.csv"]
    asked = [*beside, "--covariate-names", "age,batch", "--false-positives", "0.05"]
    scored = ["--cv", "3"]
    assert run(["select", *command, *asked, *scored, "--out", "o"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "Adjusted for age and batch." in printed
    assert "covariates" in printed
    summary = json.loads(Path("o/summary.json").read_text())
    assert summary["selected"] == ["x2" if kind == "npy" else "g2"]
    assert summary["adjusted_for"] == ["age", "batch"]
    others = {score["name"]: score["mean"] for score in summary["prediction"]["others"]}
    assert summary["prediction"]["score"]["mean"] > 0.9 > others["covariates alone"]
    assert "Adjusted for age and batch" in Path("o/report.html").read_text()
    assert run(["predict", "o", command[0], "--out", "p.csv"]) == 2
    assert "give --covariates FILE" in " ".join(capsys.readouterr().err.split())
    assert run(["predict", "o", command[0], *beside, "--out", "p.csv"]) == 0
    with open("p.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    found = np.array([float(row["predicted"]) for row in rows])
    assert np.corrcoef(found[:-1], y[:-1])[0, 1] > 0.9
    assert run(["report", "o", command[0], *command[3:], *beside, "--out", "r.html"]) == 0


def test_columns_beside_the_table_have_a_role_where_it_is_given():
    command = write_h5ad(*counts())
    table = open_table(Path(command[0]), Choices("y", keep=("batch",)))
    assert list(table.names) == [*NAMES, "batch"]
    assert table.keep.tolist() == [len(NAMES)]
    command = write_bed(*counts())
    table = open_table(Path(command[0]), Choices("phenotype", keep=("sex",)))
    np.testing.assert_array_equal(table.X[:, -1], [1.0, 2.0] * (N // 2))
    with pytest.raises(ValueError, match="no column 'age'"):
        open_table(Path("t.h5ad"), Choices("y", keep=("age",)))
    with pytest.raises(ValueError, match="obs has no such column"):
        open_table(Path("t.h5ad"), Choices("age"))


@pytest.mark.parametrize("kind", STORED)
def test_what_is_too_large_says_so(kind, monkeypatch, capsys):
    command = FORMATS[kind][0](*counts())
    monkeypatch.setattr("gradsift.tables.out_of_core.IN_MEMORY", 8 * N * len(NAMES) - 1)
    if kind in ("parquet", "folder of parquet"):
        command += ["--id", "who"]
    assert run(["select", *command, "--out", "o"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "Caution: The table does not fit into memory" in printed
    summary = json.loads(Path("o/summary.json").read_text())
    assert summary["prediction"] is None
    assert summary["selected"] == ["x2" if kind == "npy" else "g2"]
    for option in (["--log"], ["--categorical", "g1"], ["--missing", "drop"]):
        assert run(["select", *command, *option, "--out", "p"]) == 2
        assert "is too large to be taken into memory" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("kind", STORED)
def test_covariates_and_groups_of_what_is_too_large(kind, monkeypatch):
    write_covariates(kind)
    command = FORMATS[kind][0](*counts())
    monkeypatch.setattr("gradsift.tables.out_of_core.IN_MEMORY", 8 * N * len(NAMES) - 1)
    if kind in ("parquet", "folder of parquet"):
        command += ["--id", "who"]
    beside = ["--covariates", "c.csv"]
    assert run(["select", *command, *beside, "--group", "block", "--out", "o"]) == 0
    summary = json.loads(Path("o/summary.json").read_text())
    assert summary["selected"] == ["x2" if kind == "npy" else "g2"]
    assert summary["adjusted_for"] == ["age", "batch"]
    assert any("24 groups (block)" in note["text"] for note in summary["notes"])
    assert run(["predict", "o", command[0], *beside, "--out", "p.csv"]) == 0
    with open("p.csv", newline="") as file:
        rows = [row["row"] for row in csv.DictReader(file)]
    assert rows == ([str(i + 1) for i in range(N)] if kind == "npy" else WHO)
    told = [*command[3:], *beside] if kind == "npy" else beside
    assert run(["report", "o", command[0], *told, "--out", "r.html"]) == 0


@pytest.mark.parametrize("size", ["small", "large"])
@each_format
def test_the_target_is_no_covariate(kind, size, monkeypatch):
    """A table on the samples often holds the target too."""
    if size == "large":
        monkeypatch.setattr("gradsift.tables.out_of_core.IN_MEMORY", 8 * N * len(NAMES) - 1)
    target = "phenotype" if kind == "bed" else "y"
    write_covariates(kind).assign(**{target: 1.5}).to_csv("c.csv", index=False)
    own = {"id": "who"} if size == "large" and "parquet" in kind else {}
    table, *_ = opened(kind, covariates=Path("c.csv"), **own)
    assert list(table.covariates)[:2] == ["age", "batch"]
    assert target not in table.covariates
    assert f"{target!r} of c.csv is the target, so it is not used as a covariate" in [
        note.text for note in table.notes
    ]
    asked = Choices(target, covariates=Path("c.csv"), covariate_names=(target,), **own)
    apart = [Path("y.csv")] if kind == "npy" else []
    with pytest.raises(ValueError, match=f"{target!r} is the target, which cannot be adjusted"):
        open_table(table_of(kind), asked, *apart)


def table_of(kind):
    """The file that was written."""
    return next(Path().glob("t" if kind == "folder of parquet" else f"[tx].{kind}"))


@pytest.mark.parametrize("kind", STORED)
def test_a_group_that_is_not_there_is_told_as_such(kind, monkeypatch, capsys):
    command = FORMATS[kind][0](*counts())
    monkeypatch.setattr("gradsift.tables.out_of_core.IN_MEMORY", 8 * N * len(NAMES) - 1)
    assert run(["select", *command, "--group", "donor", "--out", "o"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "the table has no column 'donor'" in said
    assert "[--group, --covariates, --covariate-names]" in said


def test_a_column_of_a_large_table_can_be_the_group(monkeypatch):
    command = write_h5ad(*counts())
    monkeypatch.setattr("gradsift.tables.out_of_core.IN_MEMORY", 8 * N * len(NAMES) - 1)
    table = open_table(Path(command[0]), Choices("y", group="batch"))
    assert table.groups.count == 3
