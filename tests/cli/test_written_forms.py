"""`select --format tsv` and `--checklist tripod`: other forms of the same answer."""

import csv

import numpy as np
import pytest
from typer.testing import CliRunner

from gradsift.answer.checklist import ITEMS
from gradsift.cli._app import app


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Results of a table with two classes, as TSV and with the checklist."""
    place = tmp_path_factory.mktemp("forms")
    rng = np.random.default_rng(4)
    X = rng.normal(size=(90, 6))
    label = np.where(X[:, 1] + 0.5 * rng.normal(size=90) > 0.4, "case", "control")
    table = place / "cohort.csv"
    with table.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["status", *"abcdef"])
        writer.writerows([label[i], *X[i]] for i in range(90))
    options = ["--target", "status", "--format", "tsv", "--checklist", "tripod"]
    out = place / "out"
    run = CliRunner().invoke(app, ["select", str(table), *options, "--out", str(out)])
    assert run.exit_code == 0, run.output
    return out, label


def test_tables_are_separated_by_tabs(folder):
    out, _ = folder
    assert not list(out.glob("*.csv"))
    for name in ("findings", "selected", "directions", "projection"):
        rows = list(csv.reader((out / f"{name}.tsv").read_text().splitlines(), delimiter="\t"))
        assert len({len(row) for row in rows}) == 1
        assert len(rows[0]) > 1


def test_the_checklist_holds_every_item_and_what_is_known(folder):
    out, label = folder
    text = (out / "checklist.md").read_text()
    rows = {
        line.split(" | ")[0].strip("| "): line for line in text.splitlines() if line[:2] == "| "
    }
    assert set(ITEMS) <= set(rows)
    assert f"case: {(label == 'case').sum()}" in rows["21"]
    assert "6 candidate variables" in rows["9a"]
    assert "5-fold cross-validation" in rows["12c"]
    assert "b" in rows["22"]
    assert "±" in rows["23a"]
    assert "cohort.csv" in rows["5a"]
    assert "gradsift 0" in rows["18f"]


def test_what_only_authors_know_stays_blank(folder):
    text = (folder[0] / "checklist.md").read_text()
    for item in ("1", "3c", "6b", "14", "17", "18a", "19", "25"):
        line = next(line for line in text.splitlines() if line.startswith(f"| {item} |"))
        assert line.endswith("|  |")
