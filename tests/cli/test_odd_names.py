"""Names and labels with control characters, and tables all of whose columns are kept."""

import csv
import os
from pathlib import Path

import numpy as np
import pytest

from gradsift.cli._exit import run


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def write(path, header, columns):
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(zip(*columns))


LETTERS = ["\x1b[31mred", "bell\x07", "ris\u202eing", "two\nlines", "del\x7f", "c1\x9b2J", "a\tb"]


def test_no_control_character_reaches_a_file_or_the_terminal(rng, capfd):
    n = 84
    X = rng.normal(size=(n, 3))
    names = ["\x1b[2Jclear", "b\x07ell", "plain"]
    ids = [f"{LETTERS[k % len(LETTERS)]}{k}" for k in range(n)]
    y = np.where(X[:, 0] + X[:, 1] > 0, "\x1b]0;owned\x07yes", "no")
    write("x.csv", ["id", *names, "y\x1bz"], [ids, *X.T, y])
    asked = ["--target", "y\x1bz", "--id", "id", "--cv", "0"]
    assert run(["select", "x.csv", *asked, "--out", "o"]) == 0
    assert run(["predict", "o", "x.csv", "--out", "p.csv"]) == 0
    files = [f"o/{name}" for name in os.listdir("o") if name.endswith((".csv", ".json", ".html"))]
    assert len(files) > 5
    for file in [*files, "p.csv"]:
        text = Path(file).read_bytes().decode()
        odd = {c for c in text if not c.isprintable()} - set("\r\n \u00a0\t")
        assert odd == set(), file
        assert len(text.splitlines()) == len(text.split("\n")) - text.endswith("\n"), file
    with open("p.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == n
    assert rows[0]["row"] == "\\x1b[31mred0"
    said = "".join(capfd.readouterr())
    assert {c for c in said if not c.isprintable()} <= set("\n \u00a0")


@pytest.mark.parametrize("more", [(), ("--fdr", "0.1")])
@pytest.mark.parametrize("labels", [False, True])
def test_every_column_may_be_kept(labels, more, rng, capsys):
    X = rng.normal(size=(60, 3))
    y = X[:, 0] + 0.5 * rng.normal(size=60)
    sex = np.where(rng.random(60) > 0.5, "f", "m")
    write("k.csv", [*"abc", "sex", "y"], [*X.T, sex, np.where(y > 0, "hi", "lo") if labels else y])
    kept = [word for name in [*"abc", "sex"] for word in ("--keep", name)]
    asked = ["--target", "y", *kept, "--cv", "3", *more]
    assert run(["select", "k.csv", *asked, "--out", "o"]) == 0
    assert "There was no variable to choose for y" in capsys.readouterr().out
    assert run(["predict", "o", "k.csv", "--out", "p.csv"]) == 0
    assert run(["report", "o", "k.csv", "--out", "r.html"]) == 0
