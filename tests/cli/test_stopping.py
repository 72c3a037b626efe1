"""Signals, kills at any moment, and two runs at once: results are whole or not there."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from gradsift.pipeline._folder import check_replaceable

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
SCRIPT = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in jobs in the background
from gradsift.cli import main
main()
"""
LONG = ("--cv", "60", "--threads", "1")


@pytest.fixture
def folder(tmp_path, monkeypatch, rng):
    monkeypatch.chdir(tmp_path)
    X = rng.normal(size=(60, 10))
    names = [f"g{k}" for k in range(10)]
    rows = np.column_stack([X, X[:, 2] ** 2 + X[:, 3]])
    np.savetxt("t.csv", rows, delimiter=",", header=",".join([*names, "y"]), comments="")
    return tmp_path


def start(*arguments):
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def select(*more):
    return start("select", "t.csv", "--target", "y", *more)


def wait_for(job, words):
    for line in job.stdout:
        if words in line:
            return
    raise AssertionError(f"{words!r} was never printed")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_whole_results_and_nothing_else(number, folder):
    job = select(*LONG, "--out", "o")
    wait_for(job, "held-out folds")
    job.send_signal(number)
    rest = job.communicate(timeout=120)[0]
    assert job.returncode == 128 + number
    assert "nothing unfinished was written" in rest
    assert "Traceback" not in rest
    assert sorted(os.listdir()) == ["o", "t.csv"]
    assert check_replaceable(Path("o"), force=True) is None


def test_a_signal_during_the_fit_leaves_nothing_behind(folder):
    job = select(*LONG)
    wait_for(job, "selecting among")
    job.send_signal(signal.SIGTERM)
    assert "nothing unfinished was written" in job.communicate(timeout=120)[0]
    assert os.listdir() == ["t.csv"]


def test_what_a_kill_leaves_goes_with_the_next_run(folder):
    job = select(*LONG, "--out", "o")
    wait_for(job, "held-out folds")
    job.kill()
    job.communicate(timeout=120)
    assert sorted(os.listdir()) == [".o.partial", "o", "t.csv"]
    assert "model.gradsift" in os.listdir("o")  # of the fit, which was finished
    again = select("--cv", "0", "--out", "o", "--force")
    assert again.communicate(timeout=120)[0]
    assert again.returncode == 0
    assert sorted(os.listdir()) == ["o", "t.csv"]


def test_of_two_runs_with_one_folder_one_wins_and_the_other_says_so(folder):
    first = select(*LONG, "--out", "o")
    wait_for(first, "held-out folds")
    second = select("--cv", "0", "--out", "o", "--force")
    said = second.communicate(timeout=120)[0]
    assert second.returncode == 2
    assert f"being written by process {first.pid}" in said
    first.send_signal(signal.SIGTERM)
    first.communicate(timeout=120)
    assert sorted(os.listdir()) == ["o", "t.csv"]


REPLACER = """
import os, sys, warnings
from pathlib import Path
from gradsift.pipeline import results_place

def replace_again_and_again():
    count = 0
    while True:
        count += 1
        with results_place(Path("o"), force=True) as place, place.version() as new:
            for name in ("a", "b", "c"):
                (new / name).write_text(str(count) * 1000)

warnings.simplefilter("ignore")  # of forks beside threads
for _ in sys.stdin:
    child = os.fork()
    if child == 0:
        replace_again_and_again()
    print(child, flush=True)
    os.wait()
"""


def test_kills_at_random_moments_never_lose_the_results(folder):
    """Sixty kills while a folder is replaced again and again: it is always there, and whole."""
    rng = np.random.default_rng(0)
    job = subprocess.Popen(
        [sys.executable, "-c", REPLACER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with job:
        for wait in rng.uniform(0.0, 0.05, size=60):
            job.stdin.write("next\n")
            job.stdin.flush()
            child = int(job.stdout.readline())
            time.sleep(wait)
            os.kill(child, signal.SIGKILL)
            wait_until_gone(child)
            check_whole()
        job.stdin.close()
    assert job.returncode == 0
    assert whole_after_recovery()


def wait_until_gone(child):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            os.kill(child, 0)
        except ProcessLookupError:
            return
        time.sleep(0.001)
    raise AssertionError("the process did not end")


def check_whole():
    """What a reader finds at any time: one complete version, or the old one beside its place."""
    place = Path("o") if Path("o").exists() else Path(".o.partial/old")
    if not place.exists():
        return  # killed before the first version was complete
    texts = {(place / name).read_text() for name in ("a", "b", "c")}
    assert len(texts) == 1
    assert (place / "manifest.json").exists()


def whole_after_recovery():
    from gradsift.pipeline import results_place

    with results_place(Path("o"), force=True) as place, place.version() as new:
        (new / "a").write_text("last")
    return sorted(os.listdir()) == ["o", "t.csv"] and Path("o/a").read_text() == "last"


def test_kills_of_convert_leave_nothing_half_written(folder):
    pytest.importorskip("zarr")
    whole = start("convert", "t.csv", "whole.zarr", "--target", "y")
    assert whole.wait(120) == 0
    whole.stdout.close()
    for wait in (0.0, 0.3, 0.6, 0.9, 1.2):
        job = start("convert", "t.csv", "t.zarr", "--target", "y")
        time.sleep(wait)
        job.kill()
        job.communicate(timeout=60)
        if Path("t.zarr").exists():
            break
    if not Path("t.zarr").exists():
        last = start("convert", "t.csv", "t.zarr", "--target", "y")
        assert last.communicate(timeout=120) is not None
        assert last.returncode == 0

    def content(name):
        files = sorted(p for p in Path(name).rglob("*") if p.is_file())
        return [(str(p.relative_to(name)), p.read_bytes()) for p in files]

    assert content("t.zarr") == content("whole.zarr")
    assert [name for name in os.listdir() if name.startswith(".")] == []
