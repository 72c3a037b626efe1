"""Golden answers: what must not change unless a change means it to.

    python -m golden.record write [PART ...]            record the answers of this version
    python -m golden.record check [PART ...]            compare with the recorded ones, to 1e-6
    python -m golden.record bits CHECKOUT [PART ...]    compare with another checkout, bit by bit

Parts: tables, inference, evaluation, relatives, storage, saved, errors (small tables, seconds to a
minute each), sift, paper (every design and data set, minutes). All parts without a name. `write`
and `check` say what differs from the recorded answers; `bits` runs the cases of both checkouts,
each by its own code, in two processes of one job, because bits are only comparable on one processor
and one set of libraries.

Run from `benchmarks/` with the package installed, or by `make golden`, which also asks for the
arithmetic that every recent x86-64 processor has. The real data sets are taken from the folder that
GRADSIFT_DATA names; without it they are left out, and that is said.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from checkout import checkout
from designs.data_sets import REAL, is_there, real
from designs.selection import DESIGNS, HELD_OUT
from golden.answers import (
    Answers,
    answers_of,
    bit_difference,
    differences,
    model_answers,
    stored_difference,
    thumbnail,
)
from golden.cases import Case, evaluation_cases, inference_cases, relative_cases, table_cases
from golden.stored import error_cases, saved_cases, storage_cases
from joblib import Parallel, delayed

import gradsift

FOLDER = Path(__file__).parent / "answers"
SEEDS = (0, 1, 2)
LARGE = ("tall",)  # 20,000 rows: the default method on one seed, the paper's not at all
LIBRARIES = ("numpy", "scipy", "scikit-learn")


def design_fit(family: str, name: str, seed: int) -> Answers:
    case = (DESIGNS | HELD_OUT)[name](seed)
    return family_fit(family, case.X, case.y, case.task)


def data_fit(family: str, name: str) -> Answers:
    case = real(name)
    return family_fit(family, case.X, case.y, case.task)


def family_fit(family: str, X: Any, y: Any, task: str) -> Answers:
    start = "GradientSift" if family == "sift" else "SparseGradient"
    end = "Classifier" if task == "classification" else "Regressor"
    return model_answers(getattr(gradsift, start + end)().fit(X, y), X)


def family_cases(family: str) -> dict[str, Case]:
    found: dict[str, Case] = {}
    for name in {**DESIGNS, **HELD_OUT}:
        if name in LARGE and family == "paper":
            continue
        for seed in SEEDS[:1] if name in LARGE else SEEDS:
            found[f"{family} {name}/{seed}"] = partial(design_fit, family, name, seed)
    for name in filter(is_there, REAL):
        found[f"{family} {name}"] = partial(data_fit, family, name)
    return found


PARTS: dict[str, Callable[[], dict[str, Case]]] = {
    "tables": table_cases,
    "inference": inference_cases,
    "evaluation": evaluation_cases,
    "relatives": relative_cases,
    "storage": storage_cases,
    "saved": saved_cases,
    "errors": error_cases,
    "sift": partial(family_cases, "sift"),
    "paper": partial(family_cases, "paper"),
}
"""What is recorded, quick parts first."""


def run_case(part: str, name: str) -> Answers:
    """One case, in any process."""
    return answers_of(PARTS[part]()[name])


def run_part(part: str, n_jobs: int = 1) -> dict[str, Answers]:
    names = list(PARTS[part]())
    found = Parallel(n_jobs=n_jobs)(delayed(run_case)(part, name) for name in names)
    return dict(zip(names, found, strict=True))


def stored_form(found: dict[str, Answers]) -> dict[str, Answers]:
    return {name: {k: thumbnail(v) for k, v in one.items()} for name, one in found.items()}


def machine() -> dict[str, str]:
    """What the last digits of a sum depend on."""
    libraries = {name: version(name) for name in LIBRARIES}
    return {"machine": platform.machine(), **libraries}


def recorded(part: str) -> tuple[dict[str, str], dict[str, Answers]]:
    """The machine and the answers of a record; empty where there is none."""
    file = FOLDER / f"{part}.json"
    if not file.exists():
        return {}, {}
    content = json.loads(file.read_text())
    return content["machine"], content["answers"]


def write_record(part: str, answers: dict[str, Answers]) -> None:
    FOLDER.mkdir(exist_ok=True)
    lines = [f"{json.dumps(name)}:{json.dumps(one)}" for name, one in answers.items()]
    text = f'{{"machine":{json.dumps(machine())},"answers":{{\n' + ",\n".join(lines) + "\n}}\n"
    (FOLDER / f"{part}.json").write_text(text)


def compare_with_record(parts: list[str], write: bool) -> int:
    changed = 0
    for part in parts:
        found = stored_form(run_part(part, n_jobs=2))
        where, known = recorded(part)
        for name in REAL:
            if not is_there(name) and known.pop(f"{part} {name}", None):
                print(f"{part} {name}: left out, its file is not there (set GRADSIFT_DATA)")
        lines = differences(known, found, stored_difference)
        lines += [f"{name}: new" for name in found if name not in known]
        changed += len(lines)
        print("\n".join([*lines, f"{part}: {len(found)} cases, {len(lines)} differ"]), flush=True)
        if lines and where not in ({}, machine()):
            print(f"recorded with {where}, this is {machine()}: last digits may differ")
        if write:
            write_record(part, found)
    return 0 if write else min(changed, 1)


# ------------------------------------------------ side by side
def dump(path: Path, parts: list[str]) -> int:
    """Whole answers of some parts, for `bits`."""
    path.write_bytes(pickle.dumps({part: run_part(part) for part in parts}))
    return 0


def compare_bits(other: Path, parts: list[str]) -> int:
    here = Path(__file__).resolve().parents[2]
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / name for name in ("parent", "child")]
        jobs = [start_dump(root, file, parts) for root, file in zip((other, here), files)]
        if any(job.wait() != 0 for job in jobs):
            print("one of the two versions could not run all cases")
            return 1
        parent, child = (pickle.loads(file.read_bytes()) for file in files)
    changed = 0
    for part in parts:
        lines = differences(parent[part], child[part], bit_difference)
        changed += len(lines)
        print("\n".join([*lines, f"{part}: {len(child[part])} cases, {len(lines)} differ"]))
    return min(changed, 1)


def start_dump(root: Path, file: Path, parts: list[str]) -> subprocess.Popen[bytes]:
    """The cases of one checkout in a process of its own, with its own code."""
    paths = os.pathsep.join(str(root / name) for name in ("src", "benchmarks"))
    command = [sys.executable, "-m", "golden.record", "dump", str(file), *parts]
    return subprocess.Popen(command, env={**os.environ, "PYTHONPATH": paths}, cwd=root)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("write", "check", "bits", "dump"):
        command = commands.add_parser(name)
        if name in ("bits", "dump"):
            command.add_argument("path", type=checkout if name == "bits" else Path)
        command.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    asked = parser.parse_args()
    unknown = set(asked.parts) - set(PARTS)
    if unknown:
        parser.error(f"no part {sorted(unknown)}; there are {', '.join(PARTS)}")
    parts = asked.parts or list(PARTS)
    if asked.command == "bits":
        return compare_bits(asked.path, parts)
    if asked.command == "dump":
        return dump(asked.path, parts)
    return compare_with_record(parts, asked.command == "write")


if __name__ == "__main__":
    sys.exit(main())
