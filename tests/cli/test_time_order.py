"""`gradsift select --time-order`: held-out rows are later than those that were learnt from."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import TimeSeriesSplit

from gradsift import GradientSiftRegressor
from gradsift.cli._exit import run
from gradsift.evaluate import held_out

QUICK = ["--no-interactions", "--cv", "3"]


@pytest.fixture
def drifting(tmp_path, monkeypatch):
    """A response whose relation to x0 turns round half way: the past says nothing of the future."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    y = np.where(np.arange(120) < 60, 1.0, -1.0) * X[:, 0] + 2.0 * X[:, 1] + rng.normal(size=120)
    table = pd.DataFrame(X, columns=[f"x{k}" for k in range(4)]).assign(y=y)
    table.to_csv("t.csv", index=False)
    return table


def scores(*options):
    assert run(["select", "t.csv", "--target", "y", *QUICK, *options, "--out", "o", "--force"]) == 0
    return json.loads(Path("o/summary.json").read_text())["prediction"]["score"]["mean"]


def test_scores_are_those_of_later_rows(drifting):
    found = scores("--time-order")
    X, y = drifting.drop(columns="y"), drifting["y"]
    model = GradientSiftRegressor(interactions=False, missing="mean")
    later = held_out(model, X, y, cv=TimeSeriesSplit(3), simple=False)
    assert found == pytest.approx(later.mean, rel=1e-6)
    assert found != pytest.approx(scores())  # shuffled folds


def test_groups_in_the_order_of_time_must_not_be_divided(drifting, capsys):
    drifting.assign(week=np.arange(120) // 7).to_csv("t.csv", index=False)
    command = ["select", "t.csv", "--target", "y", *QUICK, "--group", "week", "--time-order"]
    assert run([*command, "--out", "o"]) == 2
    assert "on both sides of fold" in " ".join(capsys.readouterr().err.split())
