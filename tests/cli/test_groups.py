"""`gradsift select --group`: rows that belong together, from a file."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from gradsift.cli._exit import run
from gradsift.pipeline import load_model

QUICK = ["--cv", "0", "--no-interactions"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(columns):
    names = list(columns)
    with open("t.csv", "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(names)
        out.writerows(zip(*columns.values(), strict=True))


@pytest.fixture
def cells(rng):
    """24 donors with 6 cells; the label is the donor's."""
    donor = np.repeat(np.arange(24), 6)
    ill = donor % 2 == 1
    X = rng.normal(size=(24, 8))[donor] + rng.normal(size=(144, 8))
    X[:, 2] += 4.0 * ill
    write(
        {"donor": donor}
        | {f"g{k}": X[:, k] for k in range(8)}
        | {"state": np.where(ill, "ill", "well")}
    )


def summary():
    return json.loads(Path("gradsift-out/summary.json").read_text())


def test_the_column_of_groups_is_no_variable(cells, capsys):
    assert run(["select", "t.csv", "--target", "state", "--group", "donor", *QUICK]) == 0
    printed = capsys.readouterr().out
    assert "is the same in all rows" not in printed
    model = load_model(Path("gradsift-out")).model
    assert model.n_groups_ == 24
    assert summary()["selected"] == ["g2"]
    assert "144 rows belong to 24 groups (donor)" in " ".join(
        note["text"] for note in summary()["notes"]
    )


def test_folds_and_half_samples_are_of_groups(cells):
    asked = ["--target", "state", "--group", "donor", "--cv", "3"]
    assert run(["select", "t.csv", *asked, "--no-interactions"]) == 0
    assert summary()["selected"][0] == "g2"


@pytest.mark.parametrize("how", ["mean", "sum"])
def test_one_row_for_each_group(cells, how, capsys):
    asked = ["--target", "state", "--group", "donor", "--aggregate", how, "--log"]
    Path("t.csv").write_text(Path("t.csv").read_text().replace("-", ""))  # no negative numbers
    assert run(["select", "t.csv", *asked, *QUICK, "--details"]) == 0
    assert "144 rows became 24" in capsys.readouterr().out.replace("\n", " ")
    found = load_model(Path("gradsift-out"))
    assert found.model.n_groups_ is None
    assert len(found.model.sift_.residual) == 24


def test_aggregate_needs_a_column_of_groups(cells, capsys):
    assert run(["select", "t.csv", "--target", "state", "--aggregate", "mean", *QUICK]) != 0
    assert "name the column of the groups. [--group]" in capsys.readouterr().err


def test_without_the_option_the_column_and_the_flag_are_named(cells, capsys):
    assert run(["select", "t.csv", "--target", "state", *QUICK]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert (
        "'donor' (group of rows: the target is the same in all rows with one value of it)"
        in printed
    )
    assert "--group donor" in printed
