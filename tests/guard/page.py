"""Write docs/reliability.md from what the guard measured: python tests/guard/page.py

The figures are those of the last `make fuzz` in this folder (build/guard.json, build/atheris.json).
The table of promises names the tests that hold them; a test compares it with the suite.
"""

from __future__ import annotations

import json
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reliability.md"
PROMISES: list[tuple[str, str, str]] = [
    (
        "A model file never runs code: 50 hostile files, 460 cut or flipped ones, all refused",
        "tests/pipeline/test_hostile_model_file.py",
        "test_a_hostile_model_is_refused_and_nothing_runs",
    ),
    (
        "`--force` replaces results of ours that nobody touched, and nothing else",
        "tests/pipeline/test_folder.py",
        "test_what_the_user_added_is_never_removed",
    ),
    (
        "Sums in another order (processor, blocks, storage) change rounding, not what is selected",
        "tests/data/test_distributed.py",
        "test_a_killed_worker_costs_time_not_the_answer",
    ),
    (
        "Missing labels mean the same in every source: left out and counted, or refused",
        "tests/data/test_one_missing.py",
        "test_",
    ),
    (
        "The target is never among the variables, nor is a copy of it",
        "tests/tables/test_leakage.py",
        "test_",
    ),
    (
        "Fits at once in one process give the same bits, and leave BLAS as it was",
        "tests/_run/test_threads.py",
        "test_",
    ),
    (
        "`sample_weight` reaches the selector through pipelines, on the oldest scikit-learn too",
        "tests/estimators/test_selector.py",
        "test_",
    ),
    (
        "Equal weights of any size change nothing; no weight gives NaN",
        "tests/estimators/test_weights.py",
        "test_",
    ),
    (
        "Damaged files get one sentence and exit code 2",
        "tests/cli/test_damaged_files.py",
        "test_",
    ),
    (
        "A signal leaves whole results or none; the next run clears up after a kill",
        "tests/cli/test_stopping.py",
        "test_kills_at_random_moments_never_lose_the_results",
    ),
    (
        "A full disk leaves the old results",
        "tests/pipeline/test_folder.py",
        "test_a_full_disk_leaves_the_old_results",
    ),
    (
        "An interrupted fit leaves the estimator as it was",
        "tests/estimators/test_interrupted.py",
        "test_",
    ),
    (
        "Hundreds of fits in one process leave no memory, threads or files behind",
        "tests/guard/test_soak.py",
        "test_",
    ),
    (
        "Order, units, signs, names and storage do not change what is found",
        "tests/guard/test_metamorphic.py",
        "test_",
    ),
]
"""(what is promised, where its tests are, how a test there is called)."""

HEAD = """# Reliability: what was tried, and what happened

After this page you know which failures were looked for, how, and which were found.

This page is written by `python tests/guard/page.py` from the figures of `make fuzz`.

## What is promised, and the tests that hold it

`make test` runs all of them.

| promise | tests |
|---|---|
"""
CASES = """
## Generated cases

`make fuzz` calls every public entry with tables, responses, weights and parameters that nobody
would write by hand: constant and repeated columns, values from 1e-200 to 1e200, missing values,
rare classes, wrong types. A call must end in a sound answer (finite, exact zeros outside the
selected set, a certificate that holds) or in a refusal in clear words. Anything else is a failure.
`make test` tries a fixed few of them.

| entry | cases | answered | refused | failures | seconds |
|---|---|---|---|---|---|
"""
FILES = """
## Files changed byte by byte

A coverage-guided fuzzer (atheris) changes small good files. Each must be read, or refused by an
error that the command line turns into one sentence and exit code 2.

| format | inputs |
|---|---|
"""


def page() -> str:
    """The whole page as Markdown."""
    lines = [HEAD.rstrip("\n")]
    lines += [f"| {what} | [{file}](../{file}) |" for what, file, _ in PROMISES]
    lines.append(CASES.rstrip("\n"))
    entries = read("guard.json").get("entries", {})
    for name, count in sorted(entries.items()):
        figures = [f"{count[key]:,}" for key in ("cases", "answered", "refused", "failures")]
        lines.append(f"| {name} | {' | '.join(figures)} | {count['seconds']:.0f} |")
    lines.append(FILES.rstrip("\n"))
    lines += [f"| {name} | {tried:,} |" for name, tried in read("atheris.json").items()]
    return "\n".join(lines) + "\n"


def read(name: str) -> dict:
    path = ROOT / "build" / name
    if not path.exists():
        raise SystemExit(f"{path.name} is not there: run `make fuzz` first.")
    return json.loads(path.read_text())


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"{PAGE.relative_to(ROOT)} written")
