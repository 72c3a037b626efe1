"""Survival times, counts and ordered answers from a table to predictions and a report."""

import csv

import numpy as np
import pytest

from gradsift.cli._exit import run
from gradsift.pipeline import load_model

QUICK = ["--stability", "0", "--cv", "3"]


def write(path, X, columns, rows):
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow([*(f"g{j}" for j in range(X.shape[1])), *columns])
        out.writerows([*X[i], *(values[i] for values in columns.values())] for i in rows)


def survival(rng, X):
    death, end = rng.exponential(np.exp(-2.0 * X[:, 3])), rng.exponential(2.0, size=len(X))
    return {"months": np.minimum(death, end), "died": (death <= end).astype(int)}


def counts(rng, X):
    years = rng.uniform(0.5, 4.0, len(X))
    return {"cases": rng.poisson(years * np.exp(0.8 * X[:, 3])), "years": years}


def ordinal(rng, X):
    place = np.searchsorted([-1.5, 0.0, 1.5], 2.0 * X[:, 3] + rng.logistic(size=len(X)))
    return {"answer": np.array(["never", "sometimes", "often", "always"])[place]}


RESPONSES = {
    "survival": (survival, ["--time", "months", "--event", "died"], "concordance"),
    "counts": (
        counts,
        ["--target", "cases", "--task", "counts", "--exposure", "years"],
        "deviance explained",
    ),
    "ordinal": (ordinal, ["--target", "answer", "--task", "ordinal"], "accuracy"),
}


@pytest.mark.parametrize("name", RESPONSES)
def test_a_response_goes_from_the_table_to_predictions_and_a_report(
    name, tmp_path, monkeypatch, rng, capsys
):
    monkeypatch.chdir(tmp_path)
    make, options, metric = RESPONSES[name]
    X = rng.normal(size=(160, 8)).round(3)
    columns = make(rng, X)
    write(tmp_path / "t.csv", X, columns, range(120))
    write(tmp_path / "new.csv", X, columns, range(120, 160))
    run(["select", "t.csv", *options, "--out", "out", *QUICK])
    said = capsys.readouterr().out
    assert "g3" in said.splitlines()[0]
    assert metric in " ".join(said.split())
    model, recipe, training = load_model(tmp_path / "out" / "model.gradsift")
    assert recipe.task == name
    assert len(training.digests) == 120
    run(["predict", "out/model.gradsift", "new.csv", "--out", "p.csv"])
    with open("p.csv") as file:
        rows = list(csv.DictReader(file))
    exposure = {"exposure": columns["years"][120:]} if name == "counts" else {}
    expected = model.predict(X[120:], **exposure)
    found = [row["predicted"] for row in rows]
    if name == "ordinal":
        assert found == expected.tolist()
        assert "probability of often" in rows[0]
    else:
        np.testing.assert_allclose(np.array(found, dtype=float), expected)
    run(["report", "out/model.gradsift", "new.csv", "--out", "r.html"])
    assert metric in (tmp_path / "r.html").read_text(encoding="utf-8")
    run(["transform", "out/model.gradsift", "new.csv", "--out", "d.csv"])


def test_row_groups_and_the_papers_estimator_are_refused(tmp_path, monkeypatch, rng, capsys):
    monkeypatch.chdir(tmp_path)
    X = rng.normal(size=(60, 4)).round(3)
    columns = survival(rng, X) | {"clinic": np.repeat(np.arange(12), 5)}
    write(tmp_path / "t.csv", X, columns, range(60))
    options = ["--time", "months", "--event", "died"]
    for more, words in [
        (["--method", "sparse-gradient"], "--method sift only"),
        (["--group", "clinic"], "row groups do not go with them"),
    ]:
        assert run(["select", "t.csv", *options, *more, "--out", "out"]) != 0
        assert words in " ".join(capsys.readouterr().err.split())
