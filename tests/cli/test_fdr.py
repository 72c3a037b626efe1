"""`gradsift select --fdr`: what is selected by tests, and what is said about it."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from gradsift.cli._exit import run

QUICK = ["--cv", "0", "--fdr", "0.05"]


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
    with open("o/selected.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["name"] for row in rows} == {"g4", "g9"}
    with open("o/tests.csv", newline="") as file:
        tests = {row["variable"]: row for row in csv.DictReader(file)}
    assert all(float(tests[name]["q"]) <= 0.05 for name in ("g4", "g9"))
    assert "best model that does without it" in Path("o/report.html").read_text()
    assert " q " not in capsys.readouterr().out


def test_nothing_that_is_needed_for_certain(rng, capsys):
    hidden = rng.normal(size=(60, 1))
    X = hidden + 0.01 * rng.normal(size=(60, 8))
    write("t.csv", X, hidden[:, 0] + 0.5 * rng.normal(size=60))
    assert run(["select", "t.csv", "--target", "y", "--out", "o", *QUICK]) == 0
    summary = json.loads(Path("o/summary.json").read_text())
    assert summary["selected"] == []
    (finding,) = summary["findings"]
    assert {member["name"] for member in finding["members"]} == {f"g{k}" for k in range(8)}
    assert "(or 7 others)" in capsys.readouterr().out


def test_a_category_of_two_levels_can_be_a_discovery(rng):
    """Its two columns say the same: neither may explain the response in place of the other."""
    X = rng.normal(size=(120, 10))
    sex = rng.integers(2, size=120)
    with open("t.csv", "w", newline="") as file:
        out = csv.writer(file)
        out.writerow([*(f"g{k}" for k in range(10)), "sex", "y"])
        y = X[:, 4] + 2.0 * sex + 0.5 * rng.normal(size=120)
        out.writerows([*row, "fm"[s], v] for row, s, v in zip(X, sex, y))
    assert run(["select", "t.csv", "--target", "y", "--out", "o", *QUICK]) == 0
    summary = json.loads(Path("o/summary.json").read_text())
    assert set(summary["selected"]) == {"sex", "g4"}
    row = next(row for row in summary["findings"] if row["members"][0]["name"] == "sex")
    assert row["confidence"] > 0.99


def test_findings_are_the_same_with_and_without_a_false_discovery_rate(rng):
    X = rng.normal(size=(100, 20))
    X[:, 7] = X[:, 3] + 0.05 * rng.normal(size=100)
    write("t.csv", X, X[:, 3] + X[:, 5] + rng.normal(size=100))
    command = ["select", "t.csv", "--target", "y", "--cv", "0"]
    said = {}
    for name, more in (("a", []), ("b", ["--fdr", "0.05"])):
        assert run([*command, "--out", name, *more]) == 0
        found = json.loads(Path(name, "summary.json").read_text())["findings"]
        said[name] = [(row["confidence"], row["members"][0]["name"]) for row in found]
    assert said["a"] == said["b"]


def test_a_rate_that_is_no_share_is_refused(capsys):
    write("t.csv", np.random.default_rng(0).normal(size=(30, 4)), np.arange(30.0))
    assert run(["select", "t.csv", "--target", "y", "--out", "o", "--fdr", "1.5"]) == 2
    assert "--fdr=1.5" in capsys.readouterr().err
