"""The runner of the benchmarks: what is stored is not measured again."""

import re
import time
from argparse import Namespace
from pathlib import Path

import numpy as np
import pytest
import run
import tables

ROOT = Path(__file__).parents[2]
SHOWN = sorted(
    {
        name
        for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
        for name in re.findall(r'tables\.(?:show|means|pivot|totals)\("([^"]+)"', page.read_text())
    }
)


def asked(**given):
    usual = {"cases": [], "methods": [], "seeds": None, "processes": 1}
    return Namespace(**(usual | given))


@pytest.fixture
def measured(monkeypatch):
    """A measurement of numbers, and the calls that it gets."""
    calls = []

    def measure(case, method, seed):
        calls.append((case, method, seed))
        return [len(case), seed]

    what = run.Measurement(
        measure, lambda found: iter(()), lambda: ["a", "ab", "c"], ("m", "n"), range(2),
        lambda case, method, seed: (case, method) != ("c", "n"),
    )  # fmt: skip
    monkeypatch.setattr(run, "measurements", lambda: {"x": what})
    return calls


def test_what_is_stored_is_not_measured_again(measured, tmp_path):
    store = tmp_path / "x.jsonl"
    run.run("x", asked(cases=["a"]), store)
    assert measured == [("a", "m", 0), ("a", "n", 0), ("a", "m", 1), ("a", "n", 1)]
    measured.clear()
    run.run("x", asked(), store)  # seeds first; nothing of what is stored, or does not apply
    pairs = (("ab", "m"), ("ab", "n"), ("c", "m"))
    assert measured == [(*pair, seed) for seed in (0, 1) for pair in pairs]
    found = run.found("x", asked(seeds=(1, 2)), store)
    assert (found.cases, found.methods) == (["a", "ab", "c"], ["m", "n"])
    assert found.of("ab", "n") == [[2, 1]]
    assert found.by_seed("c") == []


def test_a_word_names_the_cases_that_contain_it():
    assert run.chosen(["a", "ab", "c"], ["a"]) == ["a"]
    assert run.chosen(["ab", "b", "c"], ["a", "c"]) == ["ab", "c"]
    assert run.chosen(["a", "b"], []) == ["a", "b"]


def test_a_value_that_takes_too_long_is_given_up(monkeypatch):
    class Pipe:
        def poll(self, seconds=0.0):
            return False

    worker = object.__new__(run.Worker)
    worker.name, worker.pipe, worker.key = "x", Pipe(), ("a", "m", 0)
    worker.deadline = time.monotonic() + 60
    assert worker.take() is None
    stopped = []
    worker.process = Namespace(kill=lambda: stopped.append(True))
    monkeypatch.setattr(worker, "start", lambda: None)
    worker.deadline = time.monotonic() - 1
    assert worker.take() == (("a", "m", 0), None)
    assert stopped == [True]
    assert worker.key is None


def test_means_are_bold_above_a_bar():
    assert run.mean_error([1.0, np.nan, 3.0]) == "2.00 (1.00)"
    assert run.mean_error([]) == ""
    assert run.bold_above(np.array([5.0, 5.1, 4.9]), 4.0) == "**5.00 (0.06)**"
    assert run.bold_above(np.array([5.0, 1.0]), 4.0) == "3.00 (2.00)"


@pytest.mark.parametrize("name", SHOWN)
def test_the_command_of_a_record_on_a_page_is_there(name):
    """Commands of the runner are those of measurements that it knows, under their own names."""
    command = tables.load(name)["command"].split()
    if command[:3] == ["python", "-m", "run"]:
        assert command[3] == name
        assert name in run.measurements()
    elif command[0] == "python":
        module = command[2] if command[1] == "-m" else command[1].removesuffix(".py")
        file = module.removeprefix("benchmarks/").replace(".", "/")
        assert (ROOT / "benchmarks" / f"{file}.py").exists()
