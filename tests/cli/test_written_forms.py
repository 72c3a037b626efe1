"""`select --format tsv`: another form of the same tables."""

import csv

import numpy as np
import pytest
from typer.testing import CliRunner

from gradsift.cli._app import app


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Results of a table with two classes, as TSV."""
    place = tmp_path_factory.mktemp("forms")
    rng = np.random.default_rng(4)
    X = rng.normal(size=(90, 6))
    label = np.where(X[:, 1] + 0.5 * rng.normal(size=90) > 0.4, "case", "control")
    table = place / "cohort.csv"
    with table.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["status", *"abcdef"])
        writer.writerows([label[i], *X[i]] for i in range(90))
    options = ["--target", "status", "--format", "tsv"]
    out = place / "out"
    run = CliRunner().invoke(app, ["select", str(table), *options, "--out", str(out)])
    assert run.exit_code == 0, run.output
    return out


def test_tables_are_separated_by_tabs(folder):
    assert not list(folder.glob("*.csv"))
    for name in ("findings", "selected", "directions", "projection"):
        rows = list(csv.reader((folder / f"{name}.tsv").read_text().splitlines(), delimiter="\t"))
        assert len({len(row) for row in rows}) == 1
        assert len(rows[0]) > 1
