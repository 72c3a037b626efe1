"""Job arrays: begin, parts in any order, merge; exit code 3 asks for another round."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gradsift.cli._exit import run

N, P = 140, 300


@pytest.fixture(autouse=True)
def calls(tmp_path, monkeypatch):
    bed_reader = pytest.importorskip("bed_reader")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("gradsift.data.stored_passes.VARIANTS", 64)
    rng = np.random.default_rng(0)
    X = rng.binomial(2, 0.4, (N, P)).astype(float)
    y = 2.0 * X[:, 7] + rng.normal(size=N)
    bed_reader.to_bed("g.bed", X, properties={"pheno": [f"{v:.4f}" for v in y]})


def scanned(state, parts):
    """The selected columns after all rounds."""
    assert run(["scan", "g.bed", "--init", "--state", state]) == 3
    for _ in range(9):
        for part in reversed(range(1, parts + 1)):
            assert run(["scan", "--state", state, "--part", f"{part}/{parts}"]) == 0
        code = run(["merge", "--state", state, "--out", f"{state}-out"])
        if code == 0:
            return Path(f"{state}-out/selected.csv").read_text()
        assert code == 3
    raise AssertionError("a few rounds are enough")


def test_parts_and_merge_select_the_same_for_any_number_of_parts():
    one = scanned("one", 1)
    assert "sid8" in one or "7" in one
    assert scanned("three", 3) == one


def test_status_says_what_is_missing(capsys):
    run(["scan", "g.bed", "--init", "--state", "s"])
    run(["scan", "--state", "s", "--part", "2/3"])
    capsys.readouterr()
    assert run(["merge", "--state", "s", "--status"]) == 0
    said = capsys.readouterr().out
    assert "of 5 blocks are done" in said
    assert "are missing" in said
    assert run(["merge", "--state", "s"]) == 3


def test_mistakes_get_a_sentence(capsys):
    assert run(["scan", "--part", "1/2", "--state", "none"]) == 2
    assert run(["scan", "g.bed"]) == 1
    run(["scan", "g.bed", "--init", "--state", "s"])
    assert run(["scan", "--part", "3/2", "--state", "s"]) == 1
    assert run(["scan", "g.bed", "--init", "--state", "s"]) == 2
    with Path("g.bim").open("a") as file:
        file.write("1 more 0 1 A C\n")
    with Path("g.bed").open("ab") as file:
        file.write(bytes(30))
    assert run(["scan", "--part", "1/2", "--state", "s"]) == 2
    assert "has changed since the scan began" in capsys.readouterr().err


@pytest.mark.skipif(shutil.which("snakemake") is None, reason="snakemake is not installed")
def test_the_snakemake_workflow_runs_all_rounds(tmp_path):
    commands = tmp_path / "bin"
    commands.mkdir()
    (commands / "gradsift").write_text(f'#!/bin/sh\nexec {sys.executable} -m gradsift "$@"\n')
    (commands / "gradsift").chmod(0o755)
    workflow = Path(__file__).parents[2] / "workflows" / "Snakefile"
    subprocess.run(
        ["snakemake", "--cores", "1", "-s", workflow, "--config", "table=g.bed", "parts=2"],
        check=True,
        env={**os.environ, "PATH": f"{commands}{os.pathsep}{os.environ['PATH']}"},
    )
    assert Path("gradsift-out/selected.csv").exists()
