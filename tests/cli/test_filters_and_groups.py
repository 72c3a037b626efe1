"""`--maf`, `--max-missing` and `--aggregate` on every format, in memory or not."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from select_formats import FORMATS, NAMES, STORED, N, counts, opened, set_aside, write_covariates

from gradsift.cli._exit import run
from gradsift.protocols import Source

STRICT = ["--false-positives", "0.05"]
FILTERS = {"maf": 0.05, "max_missing": 0.2, "missing": "mean"}
GROUPED = {"covariates": Path("c.csv"), "covariate_names": ("age",), "group": "block"}
sizes = pytest.mark.parametrize(
    ("kind", "size"),
    [*((kind, "small") for kind in FORMATS), *((kind, "large") for kind in STORED)],
)


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def limit(monkeypatch):
    """Sets the numbers that a table may have to be taken into memory."""
    return lambda count: monkeypatch.setattr("gradsift.tables.out_of_core.IN_MEMORY", 8 * count)


def genotypes():
    """A rare variant, and one that is missing in 20 of 48 samples."""
    X, y = counts()
    X[:, 0] = 0.0
    X[3, 0] = 1.0
    X[:20, 4] = np.nan
    return X, y


def values(table):
    """The columns of a table, wherever they lie."""
    return table.X.columns(np.arange(table.X.shape[1])) if isinstance(table.X, Source) else table.X


def texts(table):
    return [note.text for note in table.notes]


def names(table):
    return list(table.X.names() if table.names is None else table.names)


@sizes
def test_filters(kind, size, limit):
    if size == "large":
        limit(N * len(NAMES) - 1)
    table, given, X, y = opened(kind, given=genotypes(), **FILTERS)
    assert isinstance(table.X, Source) == (size == "large")
    np.testing.assert_array_equal(values(table), X[:, 1:4])
    np.testing.assert_allclose(table.y, y, atol=1e-4)
    assert names(table) == given[1:4]  # without names: by their number in the file
    assert "1 of 5 columns: missing in more than 0.2 of the samples" in texts(table)
    assert "1 of 5 columns: their rarer allele is less frequent than 0.05" in texts(table)


@sizes
def test_columns_by_name(kind, size, limit):
    """What is kept, or left out anyway, is not filtered, and counts in no note."""
    if size == "large":
        limit(N * len(NAMES) - 1)
    table, given, X, _ = opened(kind, given=genotypes(), keep=(4,), drop=(0, 1), **FILTERS)
    np.testing.assert_array_equal(values(table), X[:, 2:])
    assert names(table) == given[2:]
    assert table.keep.tolist() == [2]
    assert "0 of 2 columns: missing in more than 0.2 of the samples" in texts(table)
    assert "0 of 2 columns: their rarer allele is less frequent than 0.05" in texts(table)


@sizes
@pytest.mark.parametrize("how", ["mean", "sum"])
def test_one_row_for_each_group(kind, size, how, limit):
    if size == "large":
        limit(N * len(NAMES) - 1)
    given = write_covariates(kind)
    id_column = {"id": "who"} if "parquet" in kind else {}
    table, every, X, y = opened(kind, **GROUPED, **id_column, aggregate=how)
    n = len(given)
    pairs = [slice(i, min(i + 2, n)) for i in range(0, n, 2)]
    order = np.argsort([f"b{k}" for k in range(len(pairs))])
    expected = np.array([getattr(X[rows], how)(axis=0) for rows in pairs])[order]
    assert isinstance(table.X, np.ndarray)  # so few rows fit, whatever the file
    np.testing.assert_allclose(table.X, expected)
    np.testing.assert_allclose(table.y, np.array([y[rows].mean() for rows in pairs])[order], 1e-4)
    age = given["age"].to_numpy()
    np.testing.assert_allclose(
        table.covariates["age"], np.array([age[rows].mean() for rows in pairs])[order]
    )
    assert table.ids.tolist() == [f"b{k}" for k in order]
    assert names(table) == every
    assert any(text.startswith(f"{n} rows became 24, one for each") for text in texts(table))


@pytest.mark.parametrize("kind", STORED)
def test_filters_and_groups_together(kind, limit):
    write_covariates(kind)
    id_column = {"id": "who"} if "parquet" in kind else {}
    asked = {**FILTERS, **GROUPED, **id_column, "aggregate": "sum", "keep": (3,)}
    asked["transform"] = "log"
    small, *_ = opened(kind, given=genotypes(), **asked)
    set_aside()
    write_covariates(kind)
    limit(N * len(NAMES) - 1)
    large, *_ = opened(kind, given=genotypes(), **asked)
    np.testing.assert_allclose(large.X, small.X)
    np.testing.assert_array_equal(large.y, small.y)
    assert (large.names, large.keep.tolist()) == (small.names, small.keep.tolist())
    assert large.recipe.transform == "log"


@pytest.mark.parametrize("kind", STORED)
def test_filtered_from_selection_to_prediction(kind, limit, capsys):
    limit(N * len(NAMES) - 1)
    command = FORMATS[kind][0](*genotypes())
    own = ["--id", "who"] if "parquet" in kind else []
    filters = ["--maf", "0.05", "--max-missing", "0.2", "--missing", "mean"]
    assert run(["select", *command, *own, *filters, *STRICT, "--out", "o"]) == 0
    assert "selecting among 3 columns" in capsys.readouterr().err
    summary = json.loads(Path("o/summary.json").read_text())
    assert summary["selected"] == [name_of_answer(kind)]
    assert run(["predict", "o", command[0], "--out", "p.csv"]) == 0
    with open("p.csv", newline="") as file:
        found = [float(row["predicted"]) for row in csv.DictReader(file)]
    assert np.corrcoef(found, genotypes()[1])[0, 1] > 0.9
    assert run(["report", "o", command[0], *command[3:], "--out", "r.html"]) == 0


def name_of_answer(kind):
    """Columns of a file without names are called by their number in it."""
    return "x2" if kind == "npy" else "g2"


@pytest.mark.parametrize("kind", STORED)
def test_groups_of_what_is_too_large_from_selection_to_scores(kind, limit, capsys):
    write_covariates(kind)
    limit(N * len(NAMES) - 1)
    command = FORMATS[kind][0](*counts())
    own = ["--id", "who"] if "parquet" in kind else []
    beside = ["--covariates", "c.csv", "--covariate-names", "age", "--group", "block"]
    asked = ["--aggregate", "mean", "--cv", "3", *STRICT]
    assert run(["select", *command, *own, *beside, *asked, "--out", "o"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "does not fit" not in printed
    summary = json.loads(Path("o/summary.json").read_text())
    assert summary["selected"] == [name_of_answer(kind)]
    assert summary["prediction"]["score"]["mean"] > 0.5
