"""`gradsift select --fdr`: what is selected by tests, and what is said about it."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from gradsift.cli._exit import run

QUICK = ["--cv", "0", "--stability", "0", "--fdr", "0.05"]


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def write(name, X, y):
    with open(name, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow([*(f"g{k}" for k in range(X.shape[1])), "y"])
        out.writerows([*row, value] for row, value in zip(X, y))


def test_tests_select_and_say_what_explains_the_rest(rng, capsys):
    X = rng.normal(size=(120, 30))
    write("t.csv", X, X[:, 4] + X[:, 9] ** 2 + 0.5 * rng.normal(size=120))
    assert run(["select", "t.csv", "--target", "y", "--out", "o", *QUICK]) == 0
    printed = capsys.readouterr().out
    assert " q " in printed
    with open("o/selected.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["name"] for row in rows} == {"g4", "g9"}
    assert all(float(row["q_value"]) <= 0.05 for row in rows)
    assert {row["name"]: row["rival"] for row in rows}["g4"] == "g9"
    summary = json.loads(Path("o/summary.json").read_text())
    said = dict(summary["sure"])
    assert "at most about 5%" in said["False discoveries"]
    assert "False variables" not in said  # those levels did not select
    test = summary["variables"][0]["test"]
    assert 0 < test["p_value"] <= test["q_value"] <= 0.05
    assert Path("o/report.html").read_text().count("best explanation that does without it") == 1


def test_nothing_that_is_needed_for_certain(rng, capsys):
    hidden = rng.normal(size=(60, 1))
    X = hidden + 0.01 * rng.normal(size=(60, 8))
    write("t.csv", X, hidden[:, 0] + 0.5 * rng.normal(size=60))
    assert run(["select", "t.csv", "--target", "y", "--out", "o", *QUICK]) == 0
    summary = json.loads(Path("o/summary.json").read_text())
    assert summary["n_selected"] == 0
    assert summary["found"][0].startswith("No variable is needed for certain")


def test_a_rate_that_is_no_share_is_refused(capsys):
    write("t.csv", np.random.default_rng(0).normal(size=(30, 4)), np.arange(30.0))
    assert run(["select", "t.csv", "--target", "y", "--out", "o", "--fdr", "1.5"]) == 2
    assert "false_discovery_rate=1.5" in capsys.readouterr().err
