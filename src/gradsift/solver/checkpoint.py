"""A run that may be killed: its answers in a folder, one file per alpha, and what run they are of.

A file is written under a temporary name, forced to disk and renamed, so it is there whole or not
at all. What one run saved is what the next one of the same call goes on from, to the same bits.

The run is known by what its functions answer at fixed points, as a few numbers: no setting can be
forgotten, the columns cost one pass, and a rounding difference between two machines is no other
run. Answers live in the coordinates of the kernel's factor; so do these numbers, so a factor with
other coordinates counts as another run too.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from gradsift._run.atomic import LOCK, Claim, InUseError, atomic_write, claim
from gradsift._run.passes import each_block
from gradsift.protocols import Array, IntArray, Source
from gradsift.solver.problem import Certificate, Problem, Rows, Solution, Status
from gradsift.solver.working_set import Solver

FORMAT = 1
"""Format: of the folder."""
CLOSE = 1e-8
"""Rounding: relative, far above rounding, far below the change of one value of the data."""
GOLDEN, SILVER = 0.6180339887498949, 0.41421356237309515
"""Format: steps of the fixed patterns by which a run is known."""
DIFFERS = {
    "format": "it was written by another version of gradsift",
    "shape": "number of samples or columns",
    "columns": "values of X, or how they are standardised",
    "response": "y, sample_weight, kernel, weights, curl or smoothness",
    "penalty": "penalty_factor",
    "alphas": "alphas",
    "solver": "solver, tol or max_iter",
    "folds": "folds (a splitter that shuffles needs a random_state)",
}


@dataclass(frozen=True)
class Checkpoint:
    """The folder of one run; made by `open_checkpoint`, which checks that it is of this run."""

    folder: Path
    lock: Claim | None = field(default=None, repr=False, compare=False)
    """Open as long as this run is at work."""

    def load(self, step: int) -> Solution | None:
        """The answer at one alpha, None where it is not there or not whole."""
        got = load_arrays(self._file(step))
        if got is None:
            return None
        return Solution(
            float(got["alpha"]),
            Rows(got["index"], got["values"]),
            got["v"],
            got["norms"],
            Certificate(*map(float, got["certificate"])),
            Status[str(got["status"])],
            int(got["n_iter"]),
        )

    def save(self, step: int, found: Solution) -> None:
        """Keep the answer at one alpha."""
        proof = found.certificate
        arrays = {
            "alpha": np.array(found.alpha),
            "index": found.rows.index,
            "values": found.rows.values,
            "v": found.v,
            "norms": found.norms,
            "certificate": np.array([proof.primal, proof.dual, proof.gap, proof.violation]),
            "status": np.array(found.status.name),
            "n_iter": np.array(found.n_iter),
        }
        save_arrays(self._file(step), arrays)

    def clear(self) -> None:
        """Drop the answers, once what is wanted from them is kept."""
        for file in self.folder.glob("alpha-*.npz"):
            file.unlink(missing_ok=True)

    def _file(self, step: int) -> Path:
        return self.folder / f"alpha-{step:04d}.npz"


def open_checkpoint(
    folder: str | Path, problem: Problem, alphas: Array, solver: Solver, folds: str = ""
) -> Checkpoint:
    """The folder of a run: a new one, or that of the same run before it was killed.

    Parameters
    ----------
    folder : path
        Made where it does not exist.
    folds : str
        `digest` of the folds of a cross-validated run.
    """
    folder = Path(folder)
    this = identify(problem, alphas, solver) | {"folds": folds}
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"checkpoint={str(folder)!r} is a file: give a folder for this run.")
    folder.mkdir(parents=True, exist_ok=True)
    unfinished = [*folder.glob(".*.json.partial"), *folder.glob(".*.npz.partial")]
    if _read_identity(folder) is None and not {*folder.iterdir()} <= {*unfinished, folder / LOCK}:
        raise ValueError(
            f"checkpoint={str(folder)!r} holds files but no run (no run.json): give a new or "
            "empty folder."
        )
    lock = claim_folder(folder)
    for left in unfinished:
        shutil.rmtree(left, ignore_errors=True)  # what a kill interrupted
    there = _read_identity(folder)
    if there is None:
        with atomic_write(folder / "run.json") as part:
            part.write_text(json.dumps(this, indent=1))
    elif differing := [what for key, what in DIFFERS.items() if not _same(this, there, key)]:
        raise ValueError(
            f"checkpoint={str(folder)!r} holds another run. What differs: "
            f"{'; '.join(differing)}. Repeat the call that began it to go on with it, or give "
            "this run a folder of its own."
        )
    return Checkpoint(folder, lock)


def claim_folder(folder: Path) -> Claim | None:
    """Keep other processes out of a folder for as long as the object that is returned lives.

    None where this process has the folder already: a notebook may keep a call that failed alive.
    """
    try:
        return claim(folder / LOCK)
    except InUseError as error:
        if error.holder == str(os.getpid()):
            return None
        raise ValueError(
            f"checkpoint={str(folder)!r} is in use by process {error.holder or '(unknown)'}. Wait "
            "until it ends or stop it, or give this run a folder of its own."
        ) from None


def identify(problem: Problem, alphas: Array, solver: Solver) -> dict[str, Any]:
    """What tells one run from another, as plain numbers."""
    return {
        "format": FORMAT,
        "shape": list(problem.source.shape),
        "columns": _look_at_columns(problem.source),
        "response": _look_at_datafit(problem),
        "penalty": [float(_pattern(problem.n_features, GOLDEN) @ problem.penalty.limits(1.0))],
        "alphas": alphas.tolist(),
        "solver": asdict(solver),
    }


def _pattern(count: int, step: float, first: int = 0) -> Array:
    """Fixed numbers in (-1/2, 1/2) that look random, the same however they are cut."""
    return np.asarray(np.modf(np.arange(1 + first, 1 + first + count) * step)[0] - 0.5)


def _look_at_columns(source: Source) -> list[float]:
    """a' X b and c' X d: any change of a value, a sign or an order shows."""
    rows = np.column_stack([_pattern(source.shape[0], step) for step in (SILVER, np.e)])
    total = np.zeros(2)
    for _, found in each_block(source, lambda where: partial(_weigh, rows, where.start)):
        total += found
    return list(map(float, total))


def _weigh(rows: Array, first: int, block: Array) -> Array:
    products = block.T @ rows
    columns = [_pattern(len(products), step, first) for step in (GOLDEN, np.pi)]
    return np.array([column @ products[:, i] for i, column in enumerate(columns)])


def _look_at_datafit(problem: Problem) -> list[float]:
    """Values and slopes at a fixed point away from zero."""
    datafit, n = problem.datafit, problem.source.shape[0]
    U = _pattern(n * datafit.n_tasks, GOLDEN).reshape(n, datafit.n_tasks)
    B = _pattern(3 * datafit.n_tasks, SILVER).reshape(3, datafit.n_tasks)
    v = _pattern(datafit.start().size, SILVER).reshape(datafit.start().shape)
    E = datafit.predict(U, v)
    M, g = datafit.gradient(E, v)
    found = [datafit.value(E, v), *map(_sum, (M, g))]
    if (term := datafit.term(U, B)) is not None:
        found += [float(term[0]), *map(_sum, term[1:])]
    return found


def _sum(values: Array) -> float:
    flat = np.ravel(values)
    return float(_pattern(len(flat), np.pi) @ flat)


def _same(this: Mapping[str, Any], there: Mapping[str, Any], key: str) -> bool:
    mine, other = this[key], there.get(key)
    if key not in ("columns", "response", "penalty", "alphas"):
        return bool(mine == other)
    if not isinstance(other, list) or len(mine) != len(other):
        return False
    return bool(np.allclose(mine, other, rtol=CLOSE, atol=0.0, equal_nan=True))


def _read_identity(folder: Path) -> dict[str, Any] | None:
    file = folder / "run.json"
    if not file.exists():
        return None
    try:
        found = json.loads(file.read_text())
        return found if isinstance(found, dict) else {}
    except ValueError:
        return {}  # not ours: everything differs


def digest(arrays: Iterable[IntArray]) -> str:
    """A short name of arrays of whole numbers."""
    state = hashlib.sha256()
    for values in arrays:
        state.update(f"{len(values)}:".encode() + np.ascontiguousarray(values, "<i8").tobytes())
    return state.hexdigest()[:16]


def save_arrays(file: Path, arrays: Mapping[str, Any]) -> None:
    """Arrays in one file, there whole or not at all."""
    with atomic_write(file) as part, part.open("wb") as out:
        np.savez(out, **arrays)


def load_arrays(file: Path) -> dict[str, Any] | None:
    """What `save_arrays` wrote, None where there is no such file or it is damaged."""
    try:
        with file.open("rb") as data, np.load(data, allow_pickle=False) as found:
            return {name: found[name] for name in found.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile):
        return None
