"""Runs that are killed go on from their last answer, to the same bits."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
from helpers import TASKS, make_assembly, make_data

import gradsift.solver.path
from gradsift import (
    AlphaGrid,
    SolverSettings,
    SparseGradientClassifierCV,
    SparseGradientRegressorCV,
    gradient_path,
)
from gradsift.solver import Solver, null_solution
from gradsift.solver.checkpoint import claim_folder, load_arrays, open_checkpoint, save_arrays
from gradsift.solver.path import fit_path, geometric_grid

KINDS = {"regression": "regression", "binary": "classification", "multiclass": "classification"}


@pytest.fixture
def solves(monkeypatch):
    """Alphas that are solved for, in order."""
    seen, solve = [], gradsift.solver.path.solve

    def counted(problem, alpha, **settings):
        seen.append(alpha)
        return solve(problem, alpha, **settings)

    monkeypatch.setattr(gradsift.solver.path, "solve", counted)
    return seen


@pytest.fixture(params=TASKS)
def call(request):
    X, y = make_data(request.param, n=30, p=40)
    return {"X": X, "y": y, "task": KINDS[request.param], "n_alphas": 8, "eps": 0.05}


def assert_same_bits(a, b):
    np.testing.assert_array_equal(a.alphas, b.alphas)
    for one, two in zip(a.solutions, b.solutions, strict=True):
        assert one.certificate == two.certificate
        assert (one.alpha, one.status, one.n_iter) == (two.alpha, two.status, two.n_iter)
        for x, z in [
            (one.rows.index, two.rows.index),
            (one.rows.values, two.rows.values),
            (one.v, two.v),
            (one.norms, two.norms),
        ]:
            assert x.dtype == z.dtype
            np.testing.assert_array_equal(x, z)


@pytest.mark.parametrize("left", [0, 1, 2, 5, 8])
@pytest.mark.parametrize("wide", [False, True])
def test_a_run_goes_on_from_any_alpha(call, tmp_path, solves, left, wide, monkeypatch):
    if wide:  # as in wide tables: norms of most columns in single precision
        monkeypatch.setattr("gradsift.solver.problem.LEAST_COLUMNS", 1)
    whole = gradient_path(**call)
    gradient_path(**call, checkpoint=tmp_path / "run")
    for file in sorted((tmp_path / "run").glob("alpha-*.npz"))[left:]:
        file.unlink()
    solves.clear()
    again = gradient_path(**call, checkpoint=tmp_path / "run")
    assert_same_bits(again, whole)
    assert solves == whole.alphas[left:].tolist()


def test_damaged_files_are_as_good_as_none(call, tmp_path, solves):
    whole = gradient_path(**call, checkpoint=tmp_path)
    for step, keep in [(2, 0.5), (4, 0.0)]:
        file = tmp_path / f"alpha-{step:04d}.npz"
        data = file.read_bytes()
        file.write_bytes(data[: int(keep * len(data))])
    flipped = tmp_path / "alpha-0006.npz"
    data = bytearray(flipped.read_bytes())
    at = data.index(np.ascontiguousarray(whole.solutions[6].norms).tobytes())
    data[at] ^= 1
    flipped.write_bytes(data)
    unfinished = tmp_path / ".alpha-0007.npz.partial"
    unfinished.mkdir()
    (unfinished / "in-use").write_text("123\n")
    (unfinished / "alpha-0007.npz").write_bytes(b"PK")
    solves.clear()
    assert_same_bits(gradient_path(**call, checkpoint=tmp_path), whole)
    assert solves == whole.alphas[[2, 4, 6]].tolist()
    assert not list(tmp_path.glob(".*.partial"))


def test_files_never_run_code(tmp_path):
    np.savez(tmp_path / "a.npz", x=np.array([{}], dtype=object))
    assert load_arrays(tmp_path / "a.npz") is None


CHANGES = {
    "values of X": lambda c: c["X"].__setitem__((3, 4), c["X"][3, 4] + 1e-3),
    "values of X, or": lambda c: c["X"].__setitem__((slice(None), 2), -c["X"][:, 2]),
    "values of X,": lambda c: c.__setitem__("X", c["X"][:, ::-1].copy()),
    "number of samples": lambda c: c.__setitem__("X", c["X"][:, :-1]),
    "y, sample_weight": lambda c: c.__setitem__("sample_weight", np.linspace(1, 2, 30)),
    "kernel": lambda c: c.__setitem__("kernel", "gaussian"),
    "weights": lambda c: c.__setitem__("weights", "uniform"),
    "penalty_factor": lambda c: c.__setitem__("penalty_factor", np.r_[0.5, np.ones(39)]),
    "alphas": lambda c: c.__setitem__("n_alphas", 9),
    "solver, tol": lambda c: c.__setitem__("tol", 1e-5),
}


@pytest.mark.parametrize("what", CHANGES)
def test_another_run_is_refused(tmp_path, what):
    X, y = make_data("regression", n=30, p=40)
    call = {"X": X, "y": y, "n_alphas": 3}
    gradient_path(**call, checkpoint=tmp_path)
    before = sorted(file.name for file in tmp_path.iterdir())
    CHANGES[what](call)
    with pytest.raises(ValueError, match=rf"holds another run\. What differs: .*{what}") as error:
        gradient_path(**call, checkpoint=tmp_path)
    assert "Repeat the call that began it" in str(error.value)
    assert sorted(file.name for file in tmp_path.iterdir()) == before


def test_terms_that_vanish_at_zero_tell_runs_apart(tmp_path):
    X, y = make_data("regression", n=20, p=5)
    for curl in (0.0, 0.1, 0.2):
        problem = make_assembly("regression", X, y, curl=curl).problem
        open_checkpoint(tmp_path / str(curl), problem, np.ones(1), Solver())
        for other in {"0.0", "0.1"} - {str(curl)}:
            if (tmp_path / other).exists():
                with pytest.raises(ValueError, match="curl"):
                    open_checkpoint(tmp_path / other, problem, np.ones(1), Solver())


def test_folders_of_others_are_left_alone(tmp_path):
    X, y = make_data("regression", n=20, p=5)
    (tmp_path / "thesis.part").write_text("mine")
    with pytest.raises(ValueError, match=r"holds files but no run.*new or empty folder"):
        gradient_path(X, y, checkpoint=tmp_path)
    with pytest.raises(ValueError, match="is a file: give a folder"):
        gradient_path(X, y, checkpoint=tmp_path / "thesis.part")
    assert (tmp_path / "thesis.part").read_text() == "mine"
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "run.json").write_text("{")
    with pytest.raises(ValueError, match="another version"):
        gradient_path(X, y, checkpoint=tmp_path / "new")


def test_a_failed_write_leaves_what_was_there(tmp_path, monkeypatch):
    save_arrays(tmp_path / "a.npz", {"x": np.arange(3)})

    def full(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="disk full"):
        save_arrays(tmp_path / "a.npz", {"x": np.arange(4)})
    assert load_arrays(tmp_path / "a.npz")["x"].tolist() == [0, 1, 2]


def test_any_storage_goes_on_with_the_run(tmp_path, solves):
    """The run is known by its columns, not by where they lie or how they are cut."""
    da = pytest.importorskip("dask.array")
    X, y = make_data("regression", n=30, p=40)
    np.save(tmp_path / "X.npy", X)
    whole = gradient_path(X, y, n_alphas=4, checkpoint=tmp_path / "run")
    for storage in (tmp_path / "X.npy", da.from_array(X, chunks=(30, 7))):
        solves.clear()
        again = gradient_path(storage, y, n_alphas=4, checkpoint=tmp_path / "run")
        assert solves == []
        np.testing.assert_array_equal(again.importances, whole.importances)


def test_a_path_on_the_way_calls_progress_for_what_it_loads(tmp_path):
    X, y = make_data("regression", n=20, p=8)
    problem = make_assembly("regression", X, y).problem
    null, solver, seen = null_solution(problem), Solver(), []

    def note(found, fresh):
        seen.append((found.alpha, fresh))

    grid = geometric_grid(null.alpha, 4, 0.1)
    for _ in range(2):
        kept = open_checkpoint(tmp_path, problem, grid, solver)
        fit_path(problem, grid, solver, null=null, progress=note, checkpoint=kept)
    assert seen == [*((a, True) for a in grid), *((a, False) for a in grid)]


@pytest.mark.parametrize("task", ["regression", "binary"])
def test_folds_are_kept_too(tmp_path, solves, task):
    X, y = make_data(task, n=36, p=12)
    kind = SparseGradientRegressorCV if task == "regression" else SparseGradientClassifierCV
    grid = AlphaGrid(n_alphas=4, eps=0.1)
    whole = kind(alphas=grid, cv=3).fit(X, y)
    model = kind(alphas=grid, cv=3, solver=SolverSettings(checkpoint=tmp_path / "run"))
    model.fit(X, y)
    run = tmp_path / "run"
    assert not list(run.glob("fold-*/alpha-*"))  # scores are what is wanted of a fold
    (run / "alpha-0003.npz").unlink()
    (run / "fold-001" / "scores.npz").unlink()
    solves.clear()
    model.fit(X, y)
    assert len(solves) == 4 + 1
    for name in ("cv_scores_", "feature_importances_", "alphas_", "components_"):
        np.testing.assert_array_equal(getattr(model, name), getattr(whole, name))
    np.testing.assert_array_equal(model.predict(X), whole.predict(X))
    solves.clear()
    model.fit(X, y)
    assert solves == []
    with pytest.raises(ValueError, match="a splitter that shuffles needs a random_state"):
        model.set_params(cv=4).fit(X, y)


SCRIPT = """
    import sys
    import time
    import numpy as np
    from gradsift import AlphaGrid, SolverSettings, SparseGradientRegressorCV, gradient_path
    from gradsift.solver.checkpoint import Checkpoint

    if sys.argv[3].endswith("never.npz"):  # leave time for the kill
        save = Checkpoint.save
        Checkpoint.save = lambda *args: (save(*args), time.sleep(0.1))
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 400))
    y = X[:, 0] ** 2 + X[:, 1] + 0.1 * rng.normal(size=60)
    kind, folder, out = sys.argv[1:]
    folder = None if folder == "-" else folder
    if kind == "path":
        path = gradient_path(X, y, n_alphas=25, eps=0.05, tol=1e-6, checkpoint=folder)
        found = {"importances": path.importances, "gaps": path.dual_gaps}
    else:
        model = SparseGradientRegressorCV(
            alphas=AlphaGrid(n_alphas=12, eps=0.05),
            cv=3,
            solver=SolverSettings(tol=1e-6, checkpoint=folder),
        ).fit(X, y)
        found = {"importances": model.feature_importances_, "scores": model.cv_scores_}
    np.savez(out, **found)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL here")
@pytest.mark.parametrize(("kind", "wait_for"), [("path", "alpha-0003.npz"),
                                                ("cv", "fold-001/alpha-0004.npz")])  # fmt: skip
def test_kill_minus_nine_costs_nothing_but_time(tmp_path, kind, wait_for):
    script = tmp_path / "run.py"
    script.write_text(textwrap.dedent(SCRIPT))

    def start(folder, out):
        return subprocess.Popen([sys.executable, script, kind, folder, tmp_path / out])

    assert start("-", "whole.npz").wait(300) == 0
    run = tmp_path / "run"
    killed = start(run, "never.npz")
    deadline = time.monotonic() + 300
    while not (run / wait_for).exists():
        assert killed.poll() is None, "it finished before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.001)
    killed.kill()
    assert killed.wait(60) == -signal.SIGKILL
    assert not (tmp_path / "never.npz").exists()
    done = {file: file.stat().st_mtime_ns for file in run.rglob("*.npz")}
    assert len(list(run.glob("alpha-*"))) < 25
    assert start(run, "resumed.npz").wait(300) == 0
    whole, resumed = (load_arrays(tmp_path / f"{name}.npz") for name in ("whole", "resumed"))
    for name, values in whole.items():
        np.testing.assert_array_equal(values, resumed[name])
    for file, when in done.items():  # nothing that was done was done again
        assert not file.exists() or file.stat().st_mtime_ns == when


HOLDER = """
import sys
from pathlib import Path
from gradsift.solver.checkpoint import claim_folder
held = claim_folder(Path(sys.argv[1]))
print("held" if held else "free", flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no such locks there")
def test_two_processes_do_not_share_a_folder(tmp_path):
    """The second one is told who has it; a holder that was killed leaves nothing behind."""
    X = np.random.default_rng(0).normal(size=(30, 5))

    def call():
        return gradient_path(X, X[:, 0], n_alphas=3, checkpoint=tmp_path / "run")

    first = call()
    other = subprocess.Popen(
        [sys.executable, "-c", HOLDER, tmp_path / "run"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert other.stdout.readline() == "held\n"
        with pytest.raises(ValueError, match=f"in use by process {other.pid}"):
            call()
    finally:
        other.kill()
        other.wait(60)
        other.stdin.close()
        other.stdout.close()
    np.testing.assert_array_equal(call().importances, first.importances)


def test_a_process_may_open_its_own_folder_again(tmp_path):
    first = claim_folder(tmp_path)
    assert sys.platform == "win32" or claim_folder(tmp_path) is None
    del first
    assert claim_folder(tmp_path) is not None


def test_a_folder_that_was_only_claimed_is_empty(tmp_path):
    """A run killed before it wrote anything."""
    (tmp_path / "in-use").write_text("123\n")
    (tmp_path / ".run.json.partial").mkdir()
    (tmp_path / ".run.json.partial" / "run.json").write_text("{")
    X = np.random.default_rng(0).normal(size=(30, 5))
    gradient_path(X, X[:, 0], n_alphas=2, checkpoint=tmp_path)
    assert sorted(f.name for f in tmp_path.iterdir()) == [
        "alpha-0000.npz", "alpha-0001.npz", "in-use", "run.json",
    ]  # fmt: skip
