"""What a finished stage found is written before the next one begins, and nothing fails at the end
that could have been known before.
"""

import csv
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gradsift import GradientSiftClassifier, GradientSiftRegressor, SiftOptions
from gradsift.cli._exit import run
from gradsift.data import convert
from gradsift.estimators.inference import with_findings
from gradsift.pipeline import Settings, load_model, select, select_in_stages
from gradsift.tables import Choices, prepare
from gradsift.tables.frame import make_frame

QUICK = ("--cv", "0")
SCRIPT = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in jobs in the background
hidden = {hidden!r}

class Hide:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in hidden:
            raise ModuleNotFoundError(f"No module named {{name!r}}")

sys.meta_path.insert(0, Hide())
from gradsift.cli import main
main()
"""


def write(path, header, columns):
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(zip(*columns))


@pytest.fixture
def folder(tmp_path, monkeypatch, rng):
    monkeypatch.chdir(tmp_path)
    X = rng.normal(size=(80, 12))
    write("t.csv", [*(f"g{k}" for k in range(12)), "y"], [*X.T, X[:, 2] ** 2 + X[:, 3]])
    return tmp_path


def start(*arguments, hidden=()):
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT.format(hidden=tuple(hidden)), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def stop_at(words, job):
    """Ctrl-C when a line with these words is printed; what is printed afterwards."""
    for line in job.stdout:
        if words in line:
            job.send_signal(signal.SIGINT)
            return job.communicate(timeout=120)[0]
    raise AssertionError(f"{words!r} was never printed")


def check_folder(n=80):
    """The results of the fit, whole, and a note on what is missing."""
    names = {"selected.csv", "directions.csv", "projection.csv", "summary.json", "model.gradsift"}
    assert names <= set(os.listdir("o"))
    assert not any(name.endswith(".partial") for name in os.listdir())
    summary = json.loads(Path("o/summary.json").read_text(encoding="utf-8"))
    assert set(summary["selected"]) == {"g2", "g3"}
    assert any("without held-out scores" in note["text"] for note in summary["notes"])
    with open("o/projection.csv", encoding="utf-8") as file:
        assert len(list(csv.DictReader(file))) == n
    assert load_model(Path("o")).model.get_support(indices=True).tolist() == [2, 3]
    assert run(["predict", "o", "t.csv", "--out", "p.csv"]) == 0
    assert run(["report", "o", "t.csv", "--out", "r.html"]) == 0
    return summary


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_ctrl_c_in_a_later_stage_leaves_what_was_finished(folder):
    job = start("select", "t.csv", "--target", "y", "--cv", "40", "--out", "o")
    said = stop_at("held-out folds", job)
    assert job.returncode == 130
    assert "Traceback" not in said
    assert "o holds what was finished before" in said
    assert check_folder()["findings"]
    assert "report.html" in os.listdir("o")


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_ctrl_c_before_the_fit_is_finished_leaves_the_results_of_the_run_before(folder):
    assert run(["select", "t.csv", "--target", "y", *QUICK, "--out", "o"]) == 0
    before = {name: Path("o", name).read_bytes() for name in os.listdir("o")}
    job = start("select", "t.csv", "--target", "y", "--out", "o", "--force")
    said = stop_at("selecting among", job)
    assert job.returncode == 130
    assert "holds what was finished" not in said
    assert {name: Path("o", name).read_bytes() for name in os.listdir("o")} == before


def test_an_error_in_a_later_stage_loses_nothing_either(folder, monkeypatch, capsys):
    def fails(*args, **kwargs):
        raise MemoryError

    monkeypatch.setattr("gradsift.pipeline._select.prediction_of", fails)
    assert run(["select", "t.csv", "--target", "y", "--out", "o"]) == 2
    assert "o holds what was finished before" in capsys.readouterr().err
    assert check_folder()["findings"]


@pytest.mark.parametrize(("suffix", "package"), [("zarr", "zarr"), ("parquet", "pyarrow")])
def test_convert_asks_for_its_package_before_it_reads(suffix, package, folder, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=f"needs {package}"):
        convert("no_such_table.csv", f"t.{suffix}")


def test_the_demo_refuses_its_folder_before_any_work(folder, monkeypatch):
    os.mkdir("o")
    Path("o/mine.txt").touch()
    monkeypatch.setattr("gradsift.cli._select.select_in_stages", begins)
    assert run(["demo", "--out", "o"]) == 2


def begins(*args, **kwargs):
    raise AssertionError("the work began")
    yield


def table(labels=False):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(70, 6))
    X[:, 4] = X[:, 1] + 0.1 * rng.normal(size=70)
    y = X[:, 1] + X[:, 2] ** 2 + 0.5 * rng.normal(size=70)
    return X, (y > np.median(y)).astype(int) if labels else y


@pytest.mark.parametrize("labels", [False, True])
@pytest.mark.parametrize("params", [{}, {"false_discovery_rate": 0.1}, {"most": 1}])
def test_findings_after_the_fit_are_those_of_one_fit(labels, params):
    X, y = table(labels)
    X[3, 0] = np.nan
    kind = GradientSiftClassifier if labels else GradientSiftRegressor
    covariates = np.random.default_rng(1).normal(size=(70, 2))
    for told in ({}, {"covariates": covariates}):
        options = SiftOptions(max_features=params.get("most"), seed=3)
        known = {name: value for name, value in params.items() if name != "most"}
        known |= {"missing": "mean", "options": options}
        whole = kind(inference=True, **known).fit(X, y, **told)
        first = kind(**known).fit(X, y, **told)
        second = with_findings(first, X, y, **told)
        assert not hasattr(first, "findings_")
        assert second.get_params() == whole.get_params()
        assert {*vars(second), "answer_"} == {*vars(whole)}
        assert [(f.columns.tolist(), f.confidence) for f in second.findings_] == [
            (f.columns.tolist(), f.confidence) for f in whole.findings_
        ]
        np.testing.assert_array_equal(second.confidence_, whole.confidence_)
        np.testing.assert_array_equal(second.predict(X, **told), whole.predict(X, **told))


def test_each_stage_adds_to_the_answer():
    X, y = table()
    opened = prepare(make_frame([*"abcdef", "y"], [*X.T, y]), Choices("y"))
    stages = [one.answer for one in select_in_stages(opened, Settings(cv=3))]
    assert [one.prediction is not None for one in stages] == [False, True]
    early = [any("before the run ended" in note.text for note in one.notes) for one in stages]
    assert early == [True, False]
    last = select(opened, Settings(cv=3)).answer
    assert last.selected == stages[-1].selected
