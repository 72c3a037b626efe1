"""Warnings and errors speak of options, each once."""

import re

import numpy as np
import pandas as pd
import pytest

from gradsift.cli._exit import run
from gradsift.pipeline import in_options

PYTHON = re.compile(r"\b[a-z]+_[a-z_]+\b|\b\w+=|\bgradsift\.\w+\(")


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(90, 4)), columns=list("abcd"))
    frame["kind"] = np.where(frame["a"] > 0, "up", "down")
    frame.loc[:3, "kind"] = "odd"
    frame.to_csv("table.csv", index=False)
    return frame


def test_a_rare_class_is_a_caution_in_words_of_the_command_line(table, capsys):
    assert run(["select", "table.csv", "--target", "kind", "--cv", "2"]) == 0
    out = capsys.readouterr().out.replace("\n", " ")
    assert out.count("Caution: Class odd has 4 rows") == 1
    assert not PYTHON.search(out.partition("Caution")[2].partition("report.html")[0])


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("pass missing='mean' to fill them", "pass --missing mean to fill them"),
        ("set family='poisson'", "set --task counts"),
        ("one with gradsift.aggregate(X, y, groups) (on the command line, --aggregate mean)",
         "one with --aggregate mean"),
        ("false_discovery_rate, always_keep and max_features", "--fdr, --keep and --max-features"),
        ("Give fit(groups=...) or covariates=...", "Give --group or --covariates"),
    ],
)  # fmt: skip
def test_parameters_are_called_as_options(said, wanted):
    assert in_options(said) == wanted


def test_an_error_speaks_of_options(table, capsys):
    code = run(["select", "table.csv", "--target", "kind", "--false-positives", "9"])
    said = capsys.readouterr().err
    assert code == 2
    assert "--false-positives" in said
    assert "false_positives" not in said
