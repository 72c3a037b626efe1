import os

import numpy as np
import pytest

from experiments import EXPERIMENTS, Settings, run
from experiments.__main__ import main
from experiments.tools import canvas, save_figure, spread, table, write_text


def test_unknown_names_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"no experiment 'table2'\..*table1, figure1"):
        run(["table2"], tmp_path)


def test_every_experiment_computes_and_writes():
    assert list(EXPERIMENTS) == ["table1", "figure1", "circles", "leukemia", "convergence"]
    for experiment in EXPERIMENTS.values():
        assert callable(experiment.compute)
        assert callable(experiment.write)


def test_run_from_python(tmp_path, seen):
    progress, calls = seen
    paths = run(["table1"], tmp_path / "new", progress, Settings(repeats=1, n_jobs=1))
    assert sorted(os.listdir(tmp_path / "new")) == sorted(p.name for p in paths)
    assert calls[0] == (0, 2, "table1")


def test_command(tmp_path, capsys):
    assert main(["table1", "--out", str(tmp_path), "--repeats", "1"]) == 0
    assert "table1: 2 of 2" in capsys.readouterr().out
    assert (tmp_path / "table1.md").exists()


def test_command_without_data_says_how_to_get_it(tmp_path, capsys):
    assert main(["leukemia", "--data", str(tmp_path / "none.npz")]) == 1
    assert "Two ways to get the data" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["table9"], ["table1", "--repeats", "0"]])
def test_command_refuses_nonsense(arguments):
    with pytest.raises(SystemExit, match="2"):
        main(arguments)


def _square(x):
    return x * x


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_spread_keeps_order_and_counts(n_jobs, seen):
    progress, calls = seen
    jobs = [(k,) for k in range(5)]
    assert spread(_square, jobs, Settings(n_jobs=n_jobs), progress, "w") == [0, 1, 4, 9, 16]
    assert calls == [(k, 5, "w") for k in range(6)]


def test_files_are_whole_or_absent(tmp_path):
    class Broken:
        def savefig(self, path, **options):
            path.write_bytes(b"half")
            raise RuntimeError("out of paper")

    with pytest.raises(RuntimeError, match="out of paper"):
        save_figure(tmp_path / "a.png", Broken())
    assert os.listdir(tmp_path) == []
    write_text(tmp_path / "a.md", table(["", "n"], [["x", 1]]))
    assert (tmp_path / "a.md").read_text() == "|  | n |\n|:--|--:|\n| x | 1 |\n"


def test_the_same_figure_is_the_same_file(tmp_path):
    for name in ("a.png", "b.png"):
        figure, axes = canvas(1, 1, (2, 2))
        axes[0, 0].plot(np.arange(3))
        save_figure(tmp_path / name, figure)
    for kind in ("png", "pdf"):
        assert (tmp_path / f"a.{kind}").read_bytes() == (tmp_path / f"b.{kind}").read_bytes()
