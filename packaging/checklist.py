"""What communities and journals ask of a package, and which boxes are ticked.

Run with `python packaging/checklist.py`; it looks at files only. Boxes that need a public
repository, people or time stand open, and say what they wait for.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CONTRIB, SCVERSE, PYOPENSCI = "scikit-learn-contrib", "scverse", "pyOpenSci"
JOSS, JMLR = "JOSS", "JMLR open source software"


@dataclass(frozen=True)
class Box:
    """One thing that is asked for, by whom, and how it is looked up."""

    asked: str
    by: tuple[str, ...]
    ticked: Callable[[], bool]
    waits_for: str = ""


def there(*paths: str) -> Callable[[], bool]:
    return lambda: all((ROOT / path).exists() for path in paths)


def says(path: str, pattern: str) -> Callable[[], bool]:
    return lambda: (
        (ROOT / path).exists()
        and bool(re.search(pattern, (ROOT / path).read_text(encoding="utf-8")))
    )


def extra(name: str) -> Callable[[], bool]:
    return lambda: name in PROJECT["optional-dependencies"]


def never() -> bool:
    return False


def real_addresses() -> bool:
    return not any("example.org" in url for url in PROJECT["urls"].values())


COMMUNITIES = (CONTRIB, SCVERSE, PYOPENSCI)
JOURNALS = (JOSS, JMLR)
EVERYBODY = (*COMMUNITIES, *JOURNALS)
BOXES = (
    Box("an open licence, as SPDX", EVERYBODY, lambda: PROJECT["license"] == "BSD-3-Clause"),
    Box("the licence as a file", EVERYBODY, there("LICENSE")),
    Box("tests in the repository, run by one command", EVERYBODY, says("Makefile", r"(?m)^test:")),
    Box("check_estimator on every estimator", (CONTRIB,),
        says("tests/estimators/test_sklearn.py", r"check_estimator|parametrize_with_checks")),
    Box("coverage is measured", (CONTRIB, PYOPENSCI, JMLR), says("Makefile", r"--cov\b")),
    Box("a code style, checked", EVERYBODY, says("Makefile", r"ruff check")),
    Box("types, and py.typed", (PYOPENSCI,), there("src/gradsift/py.typed")),
    Box("a documentation site with an API reference", EVERYBODY,
        there("docs/conf.py", "docs/api/index.rst")),
    Box("examples that are run", EVERYBODY,
        lambda: len(list((ROOT / "examples").glob("plot_*.py"))) >= 20),
    Box("a README that says what, why, how to install and an example", EVERYBODY,
        says("README.md", r"pip install[\s\S]*>>>")),
    Box("how to contribute", EVERYBODY, there("CONTRIBUTING.md")),
    Box("a changelog", EVERYBODY, there("CHANGELOG.md")),
    Box("how to cite, with the DOI of the paper", (SCVERSE, PYOPENSCI, JOSS),
        says("CITATION.cff", r"doi: 10\.1007/s10994-012-5284-9")),
    Box("references with addresses, cited from pages and docstrings", JOURNALS,
        there("docs/references.md", "tests/docs/test_references.py")),
    Box("how to get help and to report problems", (PYOPENSCI, JOSS), there("SUPPORT.md")),
    Box("a comparison with other software on accuracy, calibration and speed", JOURNALS,
        there("docs/benchmarks/accuracy.md", "docs/benchmarks/speed.md")),
    Box("a design that can be extended, described", (JMLR,),
        says("CONTRIBUTING.md", r"## Recipes")),
    Box("systems and versions for checks in public, ready to switch on", (CONTRIB, JOSS, JMLR),
        says("packaging/ci-github.yml", r"windows-latest[\s\S]*3\.14")),
    Box("licences of dependencies that ask for more than a notice", (PYOPENSCI, JOSS),
        says("docs/howto/installing.md", r"pgenlib[^.]*LGPL")),
    Box("a draft of the paper, with the state of the field", (JOSS,),
        says("packaging/paper.md", r"# State of the field")),
    Box("how to report a security problem", (PYOPENSCI,), there("SECURITY.md")),
    Box("AnnData in and out, under tl and pl", (SCVERSE,),
        there("src/gradsift/tl", "src/gradsift/pl.py")),
    Box("optional dependencies as extras", EVERYBODY, extra("genomics")),
    Box("the oldest supported versions are tested", (CONTRIB,), there("tests/oldest.txt")),
    Box("a recipe for conda", (SCVERSE,), there("packaging/conda-forge/meta.yaml")),
    Box("one version, one place", EVERYBODY, lambda: "version" in PROJECT["dynamic"]),
    Box("a code of conduct", (SCVERSE, PYOPENSCI, JOSS), there("CODE_OF_CONDUCT.md")),
    Box("the paper has authors, and says how AI was used", (JOSS,),
        lambda: not says("packaging/paper.md", "TO BE FILLED IN")(), "people"),
    Box("six months of public history", (JOSS,), never, "a public repository, then time"),
    Box("a cover letter with evidence of active users", (JMLR,), never, "people"),
    Box("addresses of repository and documentation", EVERYBODY, real_addresses,
        "a public repository"),
    Box("named people who maintain it", EVERYBODY, never, "people"),
    Box("a release on PyPI", EVERYBODY, never, "an account and a decision"),
    Box("checks that run in public", EVERYBODY, there(".github/workflows"), "a public repository"),
    Box("evidence of use by others", (PYOPENSCI, *JOURNALS), never, "time"),
)  # fmt: skip


def report() -> Iterator[str]:
    """A line for each box, then a count for each community and journal."""
    for box in BOXES:
        ticked = box.ticked()
        waits = f", waits for {box.waits_for}" if not ticked and box.waits_for else ""
        yield f"[{'x' if ticked else ' '}] {box.asked} ({', '.join(box.by)}){waits}"
    for community in EVERYBODY:
        asked = [box for box in BOXES if community in box.by]
        yield f"{community}: {sum(box.ticked() for box in asked)} of {len(asked)}"


if __name__ == "__main__":
    print("\n".join(report()))
