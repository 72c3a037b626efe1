"""Survival times, counts and ordered answers from a table to predictions and a report."""

import csv
import json

import numpy as np
import pytest

from gradsift.cli._exit import run
from gradsift.pipeline import load_model

QUICK = ["--cv", "3"]


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


def test_times_that_all_ended_in_an_event_need_no_event(tmp_path, monkeypatch, rng, capsys):
    monkeypatch.chdir(tmp_path)
    X = rng.normal(size=(120, 6)).round(3)
    columns = {"months": rng.exponential(np.exp(-2.0 * X[:, 3]))}
    write(tmp_path / "t.csv", X, columns, range(120))
    assert run(["select", "t.csv", "--time", "months", "--out", "out", *QUICK]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "g3 goes with the event." in said
    assert "Every time in 'months' counts as an event" in said
    assert "[--event COLUMN]" in said
    assert run(["report", "out", "t.csv", "--out", "r.html"]) == 0
    for other in (["--target", "months"], ["--task", "counts"]):
        assert run(["select", "t.csv", "--time", "months", *other]) != 0
        assert f"or {' '.join(other[: 1 + ('--task' in other)])}, not both" in " ".join(
            capsys.readouterr().err.split()
        )


@pytest.fixture
def survival_model(tmp_path, monkeypatch, rng):
    """The table of a fitted model of survival times, and the model."""
    monkeypatch.chdir(tmp_path)
    X = rng.normal(size=(120, 8)).round(3)
    columns = survival(rng, X) | {"site": np.repeat(["a", "b"], 60)}
    write(tmp_path / "t.csv", X, columns, range(120))
    select = ["select", "t.csv", "--time", "months", "--event", "died", "--cv", "0"]
    assert run([*select, "--drop", "site", "--out", "out"]) == 0
    assert run([*select, "--strata", "site", "--out", "by_site"]) == 0
    return X, columns, load_model(tmp_path / "out" / "model.gradsift").model


def predicted(*options):
    assert run(["predict", "out", "t.csv", "--out", "p.csv", "--force", *options]) == 0
    with open("p.csv", newline="") as file:
        return list(csv.DictReader(file))


def test_survival_is_predicted_at_times_and_by_its_median(survival_model, capsys):
    X, columns, model = survival_model
    rows = predicted("--at", "0.5,1")
    found = [[float(row[f"survival at {t}"]) for t in ("0.5", "1")] for row in rows]
    np.testing.assert_allclose(found, model.predict_survival_function(X, [0.5, 1.0]), rtol=1e-5)
    median = np.array([float(row["median survival time"] or "inf") for row in rows])
    np.testing.assert_allclose(median, model.predict_median(X), rtol=1e-5)
    assert np.isinf(median).any()
    assert np.isfinite(median).any()
    events = columns["months"][columns["died"] == 1]
    at = [float(name.split()[-1]) for name in predicted()[0] if name.startswith("survival at")]
    shares = [np.mean(events <= t + 1e-6) for t in at]
    np.testing.assert_allclose(shares, [0.25, 0.5, 0.75], atol=1.0 / len(events))
    capsys.readouterr()
    predicted("--at", "1e6")
    assert "--at 1e+06 is after the last event of the fit" in capsys.readouterr().err


def test_times_that_cannot_be_predicted_at_are_refused(survival_model, capsys):
    for model, at, words in [
        ("out", "1,soon", "--at 1,soon: give times"),
        ("out", "-1", "--at -1: give times"),
        ("by_site", "1", "the model has 2 strata"),
    ]:
        assert run(["predict", model, "t.csv", "--at", at, "--out", "p.csv"]) != 0
        assert words in " ".join(capsys.readouterr().err.split())
    assert run(["predict", "by_site", "t.csv", "--out", "p.csv"]) == 0


def outcomes(rng, X):
    noise = 0.3 * rng.normal(size=(len(X), 2))
    return {"mass": X[:, 3] + noise[:, 0], "height": 50.0 * (X[:, 5] ** 2 - X[:, 3] + noise[:, 1])}


def test_several_targets_go_from_the_table_to_predictions_and_a_report(
    tmp_path, monkeypatch, rng, capsys
):
    monkeypatch.chdir(tmp_path)
    X = rng.normal(size=(160, 8)).round(3)
    columns = outcomes(rng, X)
    write(tmp_path / "t.csv", X, columns, range(120))
    write(tmp_path / "new.csv", X, columns, range(120, 160))
    options = ["--target", "mass", "--target", "height"]
    assert run(["select", "t.csv", *options, "--out", "out", *QUICK]) == 0
    said = capsys.readouterr().out
    assert "go with mass and height." in said.splitlines()[0]
    assert len(said.splitlines()) <= 20
    assert "mean of mass 0." in " ".join(said.split())
    summary = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    assert summary["outcomes"] == ["mass", "height"]
    assert [s["name"] for s in summary["prediction"]["outcomes"]] == ["mass", "height"]
    assert min(s["mean"] for s in summary["prediction"]["outcomes"]) > 0.5
    with open("out/findings.csv", newline="") as file:
        shapes = {(r["finding"], r["outcome"]): r["shape"] for r in csv.DictReader(file)}
    assert shapes["g3", "mass"] == "rises"
    assert shapes["g3", "height"] == "falls"
    assert shapes["g5", "height"] == "U-shaped"
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "<th>mass</th><th>height</th>" in page
    model, _, training = load_model(tmp_path / "out" / "model.gradsift")
    assert len(training.digests) == 120
    run(["predict", "out/model.gradsift", "new.csv", "--out", "p.csv"])
    with open("p.csv") as file:
        rows = list(csv.DictReader(file))
    found = [[float(row[f"predicted {name}"]) for name in columns] for row in rows]
    np.testing.assert_allclose(found, model.predict(X[120:]))
    assert "observed mass,observed height,predicted mass" in (tmp_path / "p.csv").read_text()
    assert run(["report", "out/model.gradsift", "new.csv", "--out", "r.html"]) == 0
    assert "40 rows that the fit has not seen" in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_several_targets_take_groups_and_tests(tmp_path, monkeypatch, rng, capsys):
    monkeypatch.chdir(tmp_path)
    X = rng.normal(size=(90, 6)).round(3)
    columns = outcomes(rng, X) | {"block": np.repeat(np.arange(30), 3)}
    write(tmp_path / "t.csv", X, columns, range(90))
    options = ["--target", "mass", "--target", "height"]
    more = ["--cv", "0", "--fdr", "0.1", "--drop", "block"]
    assert run(["select", "t.csv", *options, *more, "--out", "out"]) == 0
    assert (tmp_path / "out" / "tests.csv").exists()
    assert run(["select", "t.csv", *options, *QUICK, "--group", "block", "--out", "in"]) == 0
    assert "g3" in capsys.readouterr().out


def test_what_several_targets_do_not_go_with_is_refused(tmp_path, monkeypatch, rng, capsys):
    monkeypatch.chdir(tmp_path)
    X = rng.normal(size=(60, 6)).round(3)
    columns = outcomes(rng, X) | {"a": np.repeat(["u", "v"], 30), "b": np.tile(["x", "y"], 30)}
    write(tmp_path / "t.csv", X, columns | {"n": rng.integers(2, size=60)}, range(60))
    numbers, texts = ["--target", "mass", "--target", "height"], ["--target", "a", "--target", "b"]
    known = ["name,part", *(f"{k + 1},{k}" for k in range(60))]
    (tmp_path / "known.csv").write_text("\n".join(known) + "\n")
    for options, words in [
        (texts, "but 'a' holds text: give targets of classes one at a time"),
        (["--target", "mass", "--target", "a"], "several targets must all be numbers"),
        (["--target", "n", "--target", "mass", "--task", "classification"], "cannot be combined"),
        (
            [*numbers, "--covariates", "known.csv", "--by", "position", "--offset", "part"],
            "give it with one --target only",
        ),
    ]:
        assert run(["select", "t.csv", *options, "--out", "out"]) != 0
        assert words in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("name", RESPONSES)
def test_row_groups_are_refused(name, tmp_path, monkeypatch, rng, capsys):
    monkeypatch.chdir(tmp_path)
    X = rng.normal(size=(60, 4)).round(3)
    make, options, _ = RESPONSES[name]
    columns = make(rng, X) | {"clinic": np.repeat(np.arange(12), 5)}
    write(tmp_path / "t.csv", X, columns, range(60))
    assert run(["select", "t.csv", *options, "--group", "clinic", "--out", "out"]) != 0
    assert "assume independent rows and cannot have groups" in " ".join(
        capsys.readouterr().err.split()
    )
